"""The plan: one frozen value that says what a collection does."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError, model_validator

from croupier.errors import ParameterError, RenamedAttributeError
from croupier.model.html import facts
from croupier.model.result import Result
from croupier.numerics.rounding import ceiling_digits, delta_text
from croupier.plan.consistency import fit_together
from croupier.plan.facts import PlanFacts
from croupier.plan.file import PlanError, line_of, name_of, parse, read
from croupier.plan.problems import described
from croupier.plan.sections import AdmissionSection

if TYPE_CHECKING:
    from croupier.assessment.compare import Comparison
    from croupier.assessment.ladder.ladder import Ladder
    from croupier.assessment.policy import Check
    from croupier.auditing.attacks.attacks import Attacks
    from croupier.documents.explain.page import Explanation
    from croupier.numerics.keystream import Keystream
    from croupier.plan.policy import Policy

__all__ = ["Plan", "flat_keys", "require_plan"]

_NOT_DEPLOYED = ("name", "population", "policy", "randomizer", "questions", "record")


class Plan(Result, PlanFacts, title="croupier plan"):
    """A whole collection: who sends what, who mixes it, what may leak to whom.

    The same value is proved, deployed and attacked. It holds specifications only; `randomizer`,
    `shuffler` and `participation_model` are built from them.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 2
        ... randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
        ... population.enrolled = 1_000_000
        ... protections.minimum_batch = 200_000
        ... ''')
        >>> plan.randomizer.epsilon_local, plan.guarantee.delta
        (4.0, 1e-08)
        >>> plan.digest[:8]
        '3ca24523'
    """

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        fit_together(self)
        return self

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a plan file; its stem is the name if the file gives none."""
        given: object = path
        if not isinstance(given, str | Path):
            hint = 'Try croupier.Plan.load("plan.toml").'
            raise ParameterError("path", must="be the name of a file", got=given, hint=hint)
        return cls.from_toml(read(Path(path).read_bytes(), file=str(path)), file=str(path))

    @classmethod
    def from_toml(cls, text: str, *, file: str = "plan.toml") -> Self:
        """Read the text of a plan.

        Raises:
            PlanError: The plan is invalid; the message names the line and what to write.
        """
        document = {"name": name_of(file)} | parse(text, file=file)
        return cls.from_document(document, text=text, file=file)

    @classmethod
    def from_document(
        cls, document: Mapping[str, Any], *, text: str = "", file: str = "plan"
    ) -> Self:
        """Make a plan from tables, lists, texts and numbers, as `document` returns them.

        Args:
            document: The tables.
            text: The text that they were read from, in which errors find their line.
            file: The name of the file, for errors.
        """
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            path, problem = described(cls, error)
            if path[:1] == ("questions",) and "questions" not in document:
                path = ("randomizer", *(part for part in path[1:] if part != 0))
            raise PlanError(problem, file=file, line=line_of(text, path)) from None

    @cached_property
    def canonical(self) -> bytes:
        """The canonical text of what is deployed: all but name, population, policy and record.

        Tightening a policy must not give every client a new key, and a page on another origin
        changes nothing for those who take part elsewhere.
        """
        document = self.document()
        deployed = {name: value for name, value in document.items() if name not in _NOT_DEPLOYED}
        admission = self.admission.model_copy(update={"origins": ()})
        deployed.pop("admission", None)
        if admission != AdmissionSection():
            deployed["admission"] = admission.model_dump(exclude={"origins"}, exclude_none=True)
        deployed["questions"] = [question.model_dump(mode="json") for question in self.questions]
        return json.dumps(deployed, sort_keys=True, separators=(",", ":")).encode()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal."""
        return sha256(self.canonical).hexdigest()

    @cached_property
    def policy_digest(self) -> str:
        """SHA-256 of population and policy, in hexadecimal.

        With the deployed plan, they decide whether a policy is met: a change of either needs a new
        verdict.
        """
        limits = {f"{limit.rung}.{limit.key}": limit.value for limit in self.limits}
        judged = {"policy": limits, "population": self.document()["population"]}
        return sha256(
            json.dumps(judged, sort_keys=True, separators=(",", ":")).encode()
        ).hexdigest()

    def replace(self, **changes: Any) -> Self:
        r"""Return the plan with other values for some keys, `section__key`, checked as a whole.

        >>> plan = Plan.from_toml('schema = 2\nrandomizer = {mechanism = "k-rr", k = 2, '
        ...     'max_epsilon_local = 1}\npopulation.enrolled = 9\nprotections.minimum_batch = 5')
        >>> plan.replace(protections__minimum_batch=9).honest
        9
        """
        document = self.document()
        for name, value in changes.items():
            *sections, last = name.split("__")
            table = document
            for section in sections:
                table = table.setdefault(section, {})
                table = table[0] if isinstance(table, list) else table
            table[last] = value
        return self.from_document(document)

    def require_deployable(self) -> None:
        """Refuse a plan whose proof relies on a secret sample of people, which nothing draws.

        Raises:
            ParameterError: The plan is one: it can be assessed and compared, but not run.
        """
        if self.participation_model.sampled:
            raise ParameterError(
                "participation.model",
                must="not be subsample where a plan is run: nobody draws the sample here",
                got="subsample",
                hint='Try "single" with all enrolled people, or "multinomial".',
            )

    def document(self) -> dict[str, Any]:
        """The plan as tables, lists, texts and numbers, every default spelled out."""
        document: dict[str, Any] = {}
        dumped = self.model_dump(by_alias=True, exclude_none=True, mode="json")
        for name, value in dumped.items():
            if name == "questions" and len(value) == 1:
                document["randomizer"] = value[0]
            elif name != "policy" or value:
                document[name] = value
        return document

    def to_toml(self) -> str:
        """The text of the plan, from which `from_toml` reads it again."""
        import tomlkit  # noqa: PLC0415 - only where a plan is written

        return tomlkit.dumps(self.document())

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as tables, lists, texts and numbers; the same as `document`."""
        return self.document()

    @property
    def _summary(self) -> str:
        mechanisms = ", ".join(dict.fromkeys(each.mechanism for each in self.randomizers))
        batch = f"{self.protections.minimum_batch:,} of {self.population.enrolled:,} people"
        return f"{self.name} {self.digest[:8]}, {mechanisms}, {batch}"

    def _records(self) -> list[dict[str, Any]]:
        return [{"key": name, "value": value} for name, value in flat_keys(self.document())]

    def _repr_html_(self) -> str:
        described = {
            "mechanism": ", ".join(dict.fromkeys(each.mechanism for each in self.randomizers)),
            "epsilon_local": ceiling_digits(self.epsilon_local),
            "enrolled": f"{self.population.enrolled:,} people",
            "minimum batch": f"{self.protections.minimum_batch:,} people",
            "rounds": f"{self.collection.rounds:,}",
            "delta": delta_text(self.guarantee.delta),
            "limits": f"{len(list(self.limits)):,}",
            "digest": self.digest,
        }
        return facts(f"Plan: {self.name} {self.digest[:8]}", described)

    if not TYPE_CHECKING:  # type checkers report unknown names

        def __getattr__(self, name: str) -> Any:
            renamed = {"having": "plan.replace(...)", "protocol": "plan.participation_model"}
            if name in renamed:
                raise RenamedAttributeError(f"plan.{name}", renamed[name])
            return super().__getattr__(name)

    def assess(self) -> "Ladder":
        """Prove what the plan leaks to each kind of adversary, at its minimum batch."""
        from croupier.assessment.ladder.ladder import assess  # noqa: PLC0415 - a verb

        return assess(self)

    def check(self, policy: "Policy | str | Path | None" = None) -> "Check":
        """Return the verdict on every limit, if all are kept and the rows that count are limited.

        Args:
            policy: An organisation's policy, or the name of its file; the plan's own limits if
                left out.

        Raises:
            PolicyNotMetError: Some limit is not proved to be kept.
            NoLimitError: The batch, or the most exposed adversary, is not limited.
        """
        from croupier.assessment.policy import check  # noqa: PLC0415 - a verb

        return check(self, policy)

    def compare(self, other: "Plan", policy: "Policy | None" = None) -> "Comparison":
        """Show what changes from this plan to another: keys, guarantees, limits, error.

        Args:
            other: The plan after the change.
            policy: An organisation's policy that both are judged by, beside their own limits.
        """
        from croupier.assessment.compare import compare  # noqa: PLC0415 - a verb

        return compare(self, other, policy)

    def explain(
        self,
        *,
        policy: "Policy | None" = None,
        file: str = "plan.toml",
        advance: Callable[[int], None] = lambda _: None,
    ) -> "Explanation":
        """Write the page that says what the plan reveals, and to whom.

        Args:
            policy: An organisation's policy that the plan is judged by, beside its own limits.
            file: The name of the plan's file in the commands that prove each number again.
            advance: Called as the plots are drawn.

        Raises:
            MissingExtraError: jinja2 or matplotlib is not installed.
        """
        from croupier.documents.explain.page import Explanation  # noqa: PLC0415 - a verb

        return Explanation.of(self, policy=policy, file=file, advance=advance)

    def explore(self) -> Any:
        """Show the plan in a notebook with inputs that can be moved, and what follows at once.

        Returns:
            A widget; its `plan` is the one at which the inputs stand.

        Raises:
            MissingExtraError: anywidget is not installed.
        """
        from croupier.explorer.widget import explore  # noqa: PLC0415 - a verb

        return explore(self)

    def attack(  # noqa: PLR0913 - keyword-only facts about one series of games
        self,
        *,
        games: float | None = None,
        confidence: float = 0.95,
        rng: "Keystream | None" = None,
        insecure_seed: int | None = None,
        resume: Path | None = None,
        advance: Callable[[int], None] = lambda _: None,
    ) -> "Attacks":
        """Play every attack that applies to the plan, at its minimum batch.

        Args:
            games: How often each attack is played, at most; fewer where that takes long. A million
                if left out.
            confidence: The coverage of the intervals that are shown.
            rng: Seeds the games; the operating system if not given.
            insecure_seed: Instead of `rng`: plays the same games again.
            resume: A file that keeps what was played, to go on after an interruption.
            advance: Called with the number of games after each piece of work.
        """
        from croupier.auditing.attacks.attacks import GAMES, attack  # noqa: PLC0415 - a verb

        return attack(
            self,
            games=GAMES if games is None else games,
            confidence=confidence,
            rng=rng,
            insecure_seed=insecure_seed,
            resume=resume,
            advance=advance,
        )


def require_plan(plan: Plan, *, parameter: str = "plan") -> Plan:
    """Return what is a plan, and refuse the name of a file.

    >>> require_plan("plan.toml")
    Traceback (most recent call last):
    croupier.errors.ParameterError: `plan` must be a Plan; got 'str'. Pass a Plan:
    croupier.Plan.load(path).
    """
    given: object = plan
    if not isinstance(given, Plan):
        got, hint = type(given).__name__, "Pass a Plan: croupier.Plan.load(path)."
        raise ParameterError(parameter, must="be a Plan", got=got, hint=hint)
    return plan


def flat_keys(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """List the keys of nested tables, with dots, and their values; several of a name are numbered.

    >>> dict(flat_keys({"population": {"enrolled": 9}, "name": "pets"}))
    {'population.enrolled': 9, 'name': 'pets'}
    >>> dict(flat_keys({"questions": [{"k": 2}, {"k": 3}]}))
    {'questions.1.k': 2, 'questions.2.k': 3}
    """
    for name, value in table.items():
        entries = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(entries, Mapping):
            yield from flat_keys(entries, f"{prefix}{name}.")
        elif isinstance(value, list) and value and all(isinstance(e, Mapping) for e in value):
            numbered = {str(number): entry for number, entry in enumerate(value, start=1)}
            yield from flat_keys(numbered, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
