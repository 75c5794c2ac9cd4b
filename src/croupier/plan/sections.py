"""The tables of a plan file."""

import math
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from croupier.errors import ParameterError
from croupier.model.metric import Metric
from croupier.numerics.keystream import WORD
from croupier.plan.values import (
    Count,
    Date,
    Duration,
    Line,
    Number,
    One,
    Origin,
    key,
    spoken,
    words,
)
from croupier.shufflers.dummies import DummyTable
from croupier.shufflers.theta import theta_for

__all__ = [
    "MOST_ROUNDS",
    "AdmissionSection",
    "AnalyzerSection",
    "CollectionSection",
    "DummiesSection",
    "GroupsSection",
    "GuaranteeSection",
    "LimitsSection",
    "ParticipationSection",
    "PopulationSection",
    "ProtectionsSection",
    "RecordSection",
    "Section",
    "ShufflerSection",
    "ShufflingSection",
]

MOST_ROUNDS = 100_000


class Section(BaseModel):
    """A table of the plan: frozen, and every key is known."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PopulationSection(Section):
    """[population]: who may take part."""

    enrolled: Count = key(
        means="people; no guarantee assumes that all of them answer",
        must="be a number of people, at least 2",
        example=1_000_000,
        ge=2,
        le=10**18,
    )
    corrupt_fraction: Number = key(
        0.0,
        means="share of the enrolled; all may be in one batch",
        must="be in [0, 1)",
        example=0.05,
        ge=0,
        lt=1,
    )
    corrupt_fraction_of: Literal["enrolled", "batch"] = key(
        "enrolled",
        means='share of whom; "batch" assumes that they are spread',
        must='be "enrolled", or "batch" if corrupt people are spread',
        example="enrolled",
    )

    def corrupt(self, batch: int) -> int:
        """Count the corrupt people that one batch may contain.

        All that are enrolled may be in it, unless the plan assumes a share of each batch.
        """
        share = Fraction(repr(self.corrupt_fraction))  # as written: 0.29 of 100 is 29
        if self.corrupt_fraction_of == "batch":
            return math.ceil(share * batch)
        return math.floor(share * self.enrolled)


class ParticipationSection(Section):
    """[participation]: who takes part in which round, and with what noise."""

    model: Literal[
        "single",
        "divide",
        "subsample",
        "parallel",
        "together",
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
    noise: Literal["fresh", "reused"] = key(
        "fresh",
        means='per round; "reused" resends one report',
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
        means="number of rounds or questions, or how likely each is",
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
        """Return the parameters of the model; by default one round per question, equally likely."""
        if self.model == "together":
            _require_rounds("questions", questions)
            return {"questions": questions}
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


class GroupsSection(Section):
    """[shuffling.groups]: a public file of groups, by its digest."""

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


class ShufflingSection(Section):
    """[shuffling]: the law of the released order."""

    order: Literal["uniform", "mallows"] = key(
        "uniform",
        means='"uniform", or "mallows" around an order of [shuffling.groups]',
        must='be "uniform" or "mallows"',
        example="uniform",
    )
    alpha: Number | None = key(
        None,
        means="how much the order may give away about a group",
        must="be at least 0: how much the order may give away about a group",
        example=4.0,
        ge=0,
    )
    groups: GroupsSection | None = Field(
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

    @property
    def theta(self) -> float | None:
        """The closeness of a Mallows order to its reference; None for a uniform order."""
        if self.alpha is None or self.groups is None or self.groups.sensitivity is None:
            return None
        return theta_for(self.alpha, self.groups.sensitivity)


class ProtectionsSection(Section):
    """[protections]: what the running system enforces."""

    minimum_batch: Count = key(
        means="people; EVERY guarantee is proved at this size",
        must="be a number of people, at least 2",
        example=200_000,
        ge=2,
        le=10**18,
    )
    minimum_crowd: Count | None = key(
        None,
        means="people near each other in a Mallows order; a batch with a smaller crowd is held",
        must="be a number of people, at least 2, up to what `croupier mallows order` prints",
        example=30,
        ge=2,
        le=10**18,
    )
    report_size: Count = key(
        32,
        means="bytes, before it is sealed",
        must="be in [4, 65536] bytes",
        example=32,
        ge=4,
        le=65536,
    )
    messages: One = key(
        1,
        means="per person and round",
        must="be 1: no mechanism of a plan sends more",
        example=1,
    )
    disposal_age: Duration | None = key(
        None,
        means="undersized batches are deleted after this",
        must='be like "72h"',
        example="72h",
    )


class CollectionSection(Section):
    """[collection]: how often people are asked, and for how long."""

    every: Duration = key(
        timedelta(hours=24),
        means="one round: one batch, its own keys",
        must='be like "24h"',
        example="24h",
    )
    rounds: Count = key(
        1,
        means="maximum rounds per person; losses compose",
        must="be how often a person may take part, at least 1",
        example=1,
        ge=1,
        le=MOST_ROUNDS,
    )
    window: Duration | None = key(
        None,
        means="time within which rounds and budgets count; default: for ever",
        must='be like "30d"',
        example="30d",
    )

    @model_validator(mode="after")
    def _lasts(self) -> Self:
        if not timedelta(0) < self.every <= timedelta(days=366):
            raise ParameterError("every", must="be above 0s and at most 366d", hint='Try "24h".')
        if self.window is not None and self.window < self.every:
            raise ParameterError(
                "window",
                must="be at least collection.every",
                got=spoken(self.window),
                hint=f'Try "{spoken(self.every)}" or more.',
            )
        if self.rounds > (self.rounds_of(self.window) or self.rounds):
            raise ParameterError(
                "rounds",
                must=f"be at most {self.rounds_of(self.window):,}, the rounds of collection.window",
                got=self.rounds,
                hint=f"Try {self.rounds_of(self.window)}.",
            )
        return self

    def rounds_of(self, period: timedelta | None) -> int | None:
        """Count the rounds that begin within so long a time; None if it has no end."""
        return None if period is None else -(-period // self.every)

    def answers_within(self, period: timedelta | None) -> int | None:
        """Return the most rounds in which one person may answer within so long a time.

        None if there is no end. With R rounds per window of W rounds, a period of D rounds is cut
        into D div W windows and a rest: (D div W) R + min(D mod W, R).
        """
        own = self.rounds_of(self.window)
        if own is None:
            return self.rounds
        given = self.rounds_of(period)
        return None if given is None else given // own * self.rounds + min(given % own, self.rounds)


def _root_key(signed: str, *, needed: str = "to deploy") -> Any:
    must = "be an Ed25519 public key, 64 hexadecimal digits, as `croupier keys` prints it"
    return Field(  # without an example: whoever copied it would trust a key that nobody holds
        default=None,
        description=f"root key, which signs {signed}; needed {needed}",
        json_schema_extra={"must": must},
        pattern="^[0-9a-f]{64}$",
    )


def _operator(party: str, *, alone: str = "if one operator runs both, only collusion holds") -> Any:
    return words(
        means=f"who runs the {party}; {alone}",
        example="Example Foundation",
        most=200,
    )


class DummiesSection(Section):
    """[shufflers.dummies]: reports that a shuffler makes up, so many of each possible report."""

    epsilon: Number = key(
        means="at most this much follows from one answer, whoever else takes part",
        must="be in [0.01, 20]",
        example=1.0,
        ge=0.01,
        le=20,
    )
    delta: Number = key(
        means="probability that this epsilon fails, per batch",
        must="be in [1e-15, 0.1]",
        example=1e-8,
        ge=1e-15,
        le=0.1,
    )
    weights: tuple[Count, ...] | None = key(
        None,
        means="of 0, 1, 2, … dummies per possible report; default: two-sided geometric",
        must="be 2 to 8,192 whole numbers with a sum of 1 to 2^64",
        example=[1, 2, 1],
        min_length=2,
    )

    @model_validator(mode="after")
    def _suffices(self) -> Self:
        found = self.table.delta(self.epsilon)[1]
        if found > Fraction(self.delta):
            raise ParameterError(
                "weights",
                must=f"give a delta of at most {self.delta:g} at epsilon {self.epsilon:g}",
                got=float(f"{float(found):.3g}"),
                hint="Delete them: the default table suffices.",
            )
        return self

    @cached_property
    def table(self) -> DummyTable:
        """The law of the number of dummies of each possible report."""
        if self.weights is not None:
            return DummyTable(self.weights)
        return DummyTable.two_sided_geometric(epsilon=self.epsilon, delta=self.delta)


_KEEP = key(
    None,
    means="chance that a report is kept; the others are dropped unseen",
    must="be in (0, 1]",
    example=0.5,
    gt=0,
    le=1,
)


class ShufflerSection(Section):
    """[[shufflers]]: who mixes, in the order in which reports pass."""

    operator: str | None = _operator("shuffler")
    key: str | None = _root_key("the list of the shuffler's keys")
    dummies: DummiesSection | None = Field(
        default=None, description="reports that this shuffler makes up; default: none"
    )
    keep: Number | None = _KEEP

    @property
    def kept(self) -> Fraction:
        """The chance that a report is kept, as it is drawn: in units of 2^-64, rounded down."""
        share = Fraction(1 if self.keep is None else self.keep)
        return Fraction(max(1, math.floor(share * WORD)), WORD)


class AnalyzerSection(Section):
    """[analyzer]: who estimates, and what is published."""

    operator: str | None = _operator("analyzer")
    publication: Literal["none", "estimate", "histogram", "sorted", "released-order"] = key(
        "estimate",
        means="what is published; released-order lets the shuffler link every row",
        must='be "none", "estimate", "histogram", "sorted" or "released-order"',
        example="estimate",
    )
    key: str | None = _root_key("the analyzer's keys and questions")


class AdmissionSection(Section):
    """[admission]: how the first shuffler knows that a sender may send."""

    by: Literal["credential", "token"] = key(
        "credential",
        means='"credential": a pseudonym over all rounds; "token": one per round, unlinkable',
        must='be "credential" or "token"',
        example="token",
    )
    origins: tuple[Origin, ...] = key(
        (),
        means="web pages on other origins that may take part; not part of the digest",
        must="be a list of origins: https://, a host, and a port if it is not 443",
        example=["https://www.example"],
        exclude_if=lambda origins: not origins,
    )
    relay: str | None = words(
        means="who runs the relay that all reports must come through; it hides addresses",
        example="Example Relay",
        most=200,
    )
    operator: str | None = _operator("issuer", alone="it enrols people and gives out tokens")
    key: str | None = _root_key("the list of the issuer's keys", needed="for tokens")


class GuaranteeSection(Section):
    """[guarantee]: what kind of promise is made."""

    adjacency: Literal["replace-one"] = key(
        "replace-one",
        means="hides the value, not participation",
        must='be "replace-one"',
        example="replace-one",
    )
    delta: Number | None = key(
        None,
        means="probability that an epsilon fails",
        must="be in (0, 1)",
        example=1e-8,
        gt=0,
        lt=1,
    )
    within: Number | None = key(
        None,
        means="w: a guess of a number is right if it is this near; a twentieth of the range",
        must="be above 0",
        example=50.0,
        gt=0,
    )


class RecordSection(Section):
    """[record]: who is responsible for the collection; not part of the digest."""

    controller: str | None = words(
        means="who decides what is collected and why", example="Example Inc.", most=1000
    )
    processors: tuple[Line, ...] | None = key(
        None,
        means="who handles reports on the controller's behalf",
        must="be a list of texts, each on one line",
        example=["Example Foundation runs the shuffler"],
        min_length=1,
    )
    legal_basis: str | None = words(
        means="what permits the collection", example="Consent, Article 6(1)(a) GDPR", most=1000
    )
    retention: str | None = words(
        means="what is kept, and for how long",
        example="Batches 30 days; estimates without limit.",
        most=1000,
    )
    contact: str | None = words(
        means="whom people can ask", example="privacy@example.org", most=1000
    )
    rights: str | None = words(
        means="what people may ask for, and how",
        example="Switch the collection off in the settings.",
        most=1000,
    )
    date: Date | None = key(
        None,
        means="when the record was last reviewed",
        must="be a date, YYYY-MM-DD",
        example="2026-11-15",
    )


def _limit(metric: Metric, example: float, *, unit: str = "", most: float | None = 1.0) -> Any:
    means, must = metric.meaning + unit, "be at least 0" if most is None else "be in [0, 1]"
    return key(None, means=means, must=must, example=example, ge=0, le=most)


class LimitsSection(Section):
    """[policy.RUNG]: what must be proved against whom."""

    max_epsilon: Number | None = _limit(Metric.EPSILON, 0.1, unit=", in nats", most=None)
    max_epsilon_permanent: Number | None = _limit(
        Metric.EPSILON_PERMANENT, 6.0, unit=", in nats", most=None
    )
    max_reidentification: Number | None = _limit(Metric.REIDENTIFICATION, 5e-4)
    max_guess_of_two: Number | None = _limit(Metric.GUESS_OF_TWO, 0.51)
    max_guess_uninformed: Number | None = _limit(Metric.GUESS_UNINFORMED, 0.03)
    max_guess_informed: Number | None = _limit(Metric.GUESS_INFORMED, 0.03)
    max_within_uninformed: Number | None = _limit(Metric.WITHIN_UNINFORMED, 0.11)
    max_within_informed: Number | None = _limit(Metric.WITHIN_INFORMED, 0.12)
    max_alpha: Number | None = _limit(Metric.ALPHA, 4.0, most=None)
    max_manipulation: Number | None = _limit(Metric.MANIPULATION, 0.05, unit="; for clients")
    min_bayes_security: Number | None = _limit(Metric.BAYES_SECURITY, 0.95)

    def given(self) -> Iterator[tuple[Metric, float]]:
        """The metrics that are limited."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            if value is not None:
                yield Metric(name.partition("_")[2]), value
