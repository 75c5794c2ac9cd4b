"""An organisation's policy: limits that stand in a file of their own, apart from any plan."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError

from croupier.errors import ParameterError
from croupier.model.rung import Rung
from croupier.plan.facts import Limit, limits_of
from croupier.plan.file import PlanError, line_of, parse, read
from croupier.plan.problems import described
from croupier.plan.sections import LimitsSection, Section
from croupier.plan.values import Number, One, key, words

__all__ = ["AssumptionsSection", "Policy"]


class AssumptionsSection(Section):
    """[assumptions]: what a plan must at least assume, so that its proofs count."""

    max_delta: Number | None = key(
        None,
        means="largest delta of a plan",
        must="be in (0, 1)",
        example=1e-8,
        gt=0,
        lt=1,
    )
    min_corrupt_fraction: Number | None = key(
        None,
        means="share of the smallest batch that a plan must take to be corrupt",
        must="be in [0, 1)",
        example=0.05,
        ge=0,
        lt=1,
    )


class Policy(Section):
    """The limits of an organisation, which hold for every plan that is checked against them.

    Example:
        >>> policy = Policy.from_toml('''
        ... schema = 1
        ... owner = "Privacy office, Example Inc."
        ... policy.batch.max_epsilon = 0.1
        ... ''')
        >>> [(limit.rung.value, limit.key, limit.value) for limit in policy.limits]
        [('batch', 'max_epsilon', 0.1)]
    """

    policy_schema: One = key(means="version of the format", must="be 1", example=1, alias="schema")
    owner: str | None = words(
        means="who sets the limits", example="Privacy office, Example Inc.", most=200
    )
    policy: dict[Rung, LimitsSection] = Field(
        default_factory=dict,
        description="limits per adversary (rung); only proved bounds count",
    )
    assumptions: AssumptionsSection = AssumptionsSection()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file."""
        if not Path(path).is_file():
            raise ParameterError("policy", must="be a file", got=str(path))
        return cls.from_toml(read(Path(path).read_bytes(), file=str(path)), file=str(path))

    @classmethod
    def from_toml(cls, text: str, *, file: str = "policy.toml") -> Self:
        """Read the text of a policy.

        Raises:
            PlanError: The policy is invalid; the message names the line and what to write.
        """
        return cls.from_document(parse(text, file=file), text=text, file=file)

    @classmethod
    def from_document(
        cls, document: Mapping[str, Any], *, text: str = "", file: str = "policy"
    ) -> Self:
        """Make a policy from tables, as `document` returns them."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            path, problem = described(cls, error)
            raise PlanError(problem, file=file, line=line_of(text, path)) from None

    @property
    def limits(self) -> Iterator[Limit]:
        """The lines of the policy."""
        return limits_of(self.policy)

    def document(self) -> dict[str, Any]:
        """The policy as tables, texts and numbers."""
        return self.model_dump(by_alias=True, exclude_none=True, mode="json")

    @cached_property
    def canonical(self) -> str:
        """The one spelling of the policy: keys in order, no spaces."""
        return json.dumps(self.document(), sort_keys=True, separators=(",", ":"))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal."""
        return sha256(self.canonical.encode()).hexdigest()
