"""The tables of a plan file."""

import math
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from croupier.errors import ParameterError
from croupier.model.guarantee import Metric
from croupier.plan.values import Count, Duration, Number, One, key, spoken

__all__ = [
    "MOST_ROUNDS",
    "Claim",
    "GroupsFile",
    "Limits",
    "Population",
    "Protections",
    "Rounds",
    "Section",
]
__all__ += ["Shuffling", "Trust"]

MOST_ROUNDS = 100_000


class Section(BaseModel):
    """A table of the plan: frozen, and every key is known."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Population(Section):
    """[population]: who may take part."""

    enrolled: Count = key(
        means="people; no guarantee rests on their all answering",
        must="be a number of people, at least 2",
        example=1_000_000,
        ge=2,
        le=10**18,
    )
    corrupt_fraction: Number = key(
        0.0,
        means="of the enrolled; all may sit in one batch",
        must="be in [0, 1)",
        example=0.05,
        ge=0,
        lt=1,
    )
    corrupt_fraction_of: Literal["enrolled", "batch"] = key(
        "enrolled",
        means='of whom; "batch" assumes that they are spread',
        must='be "enrolled", or "batch" if corrupt people are spread',
        example="enrolled",
    )

    def corrupt(self, batch: int) -> int:
        """How many corrupt people one batch may contain.

        All that are enrolled may sit in it, unless the plan assumes a share of each batch.
        """
        share = Fraction(repr(self.corrupt_fraction))  # as written: 0.29 of 100 is 29
        if self.corrupt_fraction_of == "batch":
            return math.ceil(share * batch)
        return math.floor(share * self.enrolled)


class Rounds(Section):
    """[participation]: who takes part in which round, and how often."""

    model: Literal[
        "single",
        "divide",
        "subsample",
        "parallel",
        "multinomial",
        "bins",
        "rectified-parallel",
        "rectified-multinomial",
        "rectified-bins",
    ] = key(
        "parallel",
        means="who answers which question, in which round",
        must="be a participation model",
        example="parallel",
    )
    rounds: Count = key(
        1,
        means="so often a person may join; composed",
        must="be how often a person may take part, at least 1",
        example=1,
        ge=1,
        le=MOST_ROUNDS,
    )
    noise: Literal["fresh", "reused"] = key(
        "fresh",
        means='each round; "reused" = one report resent',
        must='be "fresh" or "reused"',
        example="fresh",
    )
    groups: Count | None = key(
        None,
        means="public groups of people, for divide",
        must="be the number of public groups",
        example=4,
        ge=1,
        le=MOST_ROUNDS,
    )
    repeats: Count | None = key(
        None,
        means="fresh samples of people, for subsample",
        must="be the number of samples",
        example=30,
        ge=1,
        le=MOST_ROUNDS,
    )
    weights: Count | tuple[Count, ...] | None = key(
        None,
        means="rounds or questions, or how likely each is",
        must="be the number of rounds, or how likely each is",
        example=60,
    )
    bins: tuple[Count | tuple[Count, ...], ...] | None = key(
        None,
        means="rounds of every bin, or how likely each is",
        must="list the rounds of every bin, or how likely each is",
        example=[6, 6],
    )

    @model_validator(mode="after")
    def _fits_the_model(self) -> Self:
        own = {name: value for name in _OWN.values() if (value := getattr(self, name)) is not None}
        for name in own:
            if name != _OWN.get(self.model.removeprefix("rectified-")):
                raise ParameterError(name, must=f"be left out for {self.model}", hint="Delete it.")
        return self

    def parameters(self, questions: int) -> dict[str, Any]:
        """What the model is built from; unless said, one round a question, all equally likely."""
        name = _OWN.get(self.model.removeprefix("rectified-"))
        if name is None:
            return {}
        given = getattr(self, name)
        if name == "bins":
            if given is None:
                raise ParameterError("bins", must="be given", hint="Try [6, 6].")
            _require_rounds(name, sum(1 if isinstance(e, tuple) else e for e in given))
            return {name: tuple(_weights(name, weights) for weights in given)}
        given = max(1, questions) if given is None else given
        return {name: _weights(name, given) if name == "weights" else given}


_OWN = {
    "divide": "groups",
    "subsample": "repeats",
    "parallel": "weights",
    "multinomial": "weights",
    "bins": "bins",
}
"""The key that belongs to each model."""


def _weights(name: str, given: int | tuple[int, ...]) -> tuple[int, ...]:
    _require_rounds(name, len(given) if isinstance(given, tuple) else given)
    return given if isinstance(given, tuple) else (1,) * given


def _require_rounds(name: str, rounds: int) -> None:
    if not 1 <= rounds <= MOST_ROUNDS:
        must = f"be in [1, {MOST_ROUNDS:,}] rounds"
        raise ParameterError(name, must=must, got=rounds, hint="Try 60.")


class GroupsFile(Section):
    """[shuffler.groups]: a public file of groups, by its digest."""

    sha256: str = key(
        means="digest of the public file",
        must="be the SHA-256 digest of the public file, 64 hexadecimal digits",
        example="0" * 64,
        pattern="^[0-9a-f]{64}$",
    )
    sensitivity: Count | None = key(
        None,
        means="how far one group can move the order, exactly",
        must="be what `croupier mallows order` prints",
        example=16,
        ge=1,
    )


class Shuffling(Section):
    """[shuffler]: the law of the released order."""

    order: Literal["uniform", "mallows"] = key(
        "uniform",
        means='"uniform", or "mallows" around an order of [shuffler.groups]',
        must='be "uniform" or "mallows"',
        example="uniform",
    )
    alpha: Number | None = key(
        None,
        means="what the order may betray inside a group",
        must="be at least 0: what the order may betray inside a group",
        example=4.0,
        ge=0,
    )
    groups: GroupsFile | None = Field(
        default=None, description="public groups: of a Mallows order, or each mixed uniformly"
    )

    @model_validator(mode="after")
    def _fits_the_order(self) -> Self:
        if self.order == "uniform" and self.alpha is not None:
            raise ParameterError("alpha", must="be left out for a uniform order", hint="Delete it.")
        if self.order == "mallows":
            if self.alpha is None:
                raise ParameterError("alpha", must="be given for mallows", hint="Try 4.0.")
            if self.groups is None or self.groups.sensitivity is None:
                raise ParameterError(
                    "groups",
                    must="give sha256 and sensitivity",
                    hint="Run: croupier mallows order FILE.",
                )
        return self


class Protections(Section):
    """[protections]: what the running system enforces."""

    minimum_batch: Count = key(
        means="people; EVERY guarantee is proved at this size",
        must="be a number of people, at least 2",
        example=200_000,
        ge=2,
        le=10**18,
    )
    report_size: Count = key(
        32,
        means="bytes; 128 when sealed twice",
        must="be in [4, 65536] bytes",
        example=32,
        ge=4,
        le=65536,
    )
    messages: One = key(
        1,
        means="that a person sends in a round",
        must="be 1: no mechanism of a plan sends more",
        example=1,
    )
    round_length: Duration = key(
        timedelta(hours=24), means="one key epoch, one batch", must='be like "24h"', example="24h"
    )
    disposal_age: Duration | None = key(
        None, means="a batch too small till then is deleted", must='be like "72h"', example="72h"
    )

    @model_validator(mode="after")
    def _keeps_a_round(self) -> Self:
        if not timedelta(0) < self.round_length <= timedelta(days=366):
            must = "be above 0s and at most 366d"
            raise ParameterError("round_length", must=must, hint='Try "24h".')
        if self.disposal_age is None:
            object.__setattr__(self, "disposal_age", 3 * self.round_length)
        elif self.disposal_age < self.round_length:
            raise ParameterError(
                "disposal_age",
                must="be at least round_length",
                got=spoken(self.disposal_age),
                hint=f'Try "{spoken(3 * self.round_length)}".',
            )
        return self


def _signing_key(signed: str) -> Any:
    must = "be an Ed25519 public key, 64 hexadecimal digits, as `croupier keys` prints it"
    return Field(  # without an example: whoever copied it would trust a key that nobody holds
        default=None,
        description=f"that signs {signed}; needed to deploy",
        json_schema_extra={"must": must},
        pattern="^[0-9a-f]{64}$",
    )


class Trust(Section):
    """[trust]: who runs what, and what is shown to the world."""

    operators: Literal["separate", "same"] = key(
        "separate",
        means='of shuffler and analyzer; "same": collusion is the headline',
        must='be "separate", or "same" if one party runs both',
        example="separate",
    )
    publication: Literal["none", "estimate", "histogram", "sorted", "released-order"] = key(
        "estimate",
        means="what the world sees; released-order gives the shuffler all",
        must='be "none", "estimate", "histogram", "sorted" or "released-order"',
        example="estimate",
    )
    shuffler_key: str | None = _signing_key("the shuffler's keys and receipts")
    analyzer_key: str | None = _signing_key("the analyzer's keys")


class Claim(Section):
    """[guarantee]: what kind of promise is made."""

    adjacency: Literal["replace-one"] = key(
        "replace-one",
        means="hides the value, not participation",
        must='be "replace-one"',
        example="replace-one",
    )
    delta: Number | None = key(
        None,
        means="chance at which an epsilon may fail",
        must="be in (0, 1)",
        example=1e-8,
        gt=0,
        lt=1,
    )


def _limit(example: float, means: str, *, most: float | None = 1.0) -> Any:
    must = "be at least 0" if most is None else "be in [0, 1]"
    return key(None, means=means, must=must, example=example, ge=0, le=most)


class Limits(Section):
    """[policy.RUNG]: what must be proved against whom."""

    max_epsilon: Number | None = _limit(
        0.1, "how much likelier any conclusion may become, in nats", most=None
    )
    max_reidentification: Number | None = _limit(5e-4, "how often a report is linked to its sender")
    max_guess_coin: Number | None = _limit(
        0.51, "how often one of two values is guessed, others known"
    )
    max_guess_uniform: Number | None = _limit(0.03, "how often a value is guessed, nobody known")
    max_guess_informed: Number | None = _limit(0.03, "how often a value is guessed, others known")
    max_alpha: Number | None = _limit(4.0, "what the order betrays inside a group", most=None)
    min_bayes_security: Number | None = _limit(0.95, "how much of the chance of error must remain")

    def given(self) -> Iterator[tuple[Metric, float]]:
        """The metrics that are limited."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            if value is not None:
                yield Metric(name.partition("_")[2]), value
