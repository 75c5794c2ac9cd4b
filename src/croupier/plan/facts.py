"""The sections of a plan, and what follows from them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

from pydantic import Field, model_validator

from croupier.errors import ParameterError
from croupier.model.domain import Categories, Grid
from croupier.model.metric import Metric
from croupier.model.participation import Crowd, Participation, SingleRound, participation
from croupier.model.randomizer import Randomizer
from croupier.model.rung import Rung, rungs_of
from croupier.model.shuffler import Shuffler
from croupier.plan.noise import CountNoise
from croupier.plan.problems import toml_value
from croupier.plan.question import Question
from croupier.plan.sections import (
    AdmissionSection,
    AnalyzerSection,
    CollectionSection,
    GuaranteeSection,
    LimitsSection,
    ParticipationSection,
    PopulationSection,
    ProtectionsSection,
    RecordSection,
    Section,
    ShufflerSection,
    ShufflingSection,
)
from croupier.plan.values import Two, key, words
from croupier.plan.window import Window
from croupier.randomizers import Distribution
from croupier.randomizers import randomizer as named_randomizer
from croupier.shufflers import shuffler as named_shuffler
from croupier.shufflers.dummies import DummyTable

__all__ = ["Cost", "Limit", "PlanFacts", "comparable", "limits_of"]

_EXAMPLE = {"mechanism": "k-rr", "k": 50, "max_epsilon_local": 4.0}
_UPGRADE = "Run: croupier plan upgrade FILE."


@dataclass(frozen=True)
class Limit:
    """One line of a policy.

    Attributes:
        rung: The adversary.
        metric: The metric that is limited.
        value: A ceiling, or for a metric that protects a floor.
    """

    rung: Rung
    metric: Metric
    value: float

    @property
    def key(self) -> str:
        """Its name in the plan."""
        return f"{'min' if self.metric.protects else 'max'}_{self.metric}"


def limits_of(policy: Mapping[Rung, LimitsSection]) -> Iterator[Limit]:
    """List the lines of a policy."""
    for rung, limits in policy.items():
        for metric, value in limits.given():
            yield Limit(rung, metric, value)


class Cost(NamedTuple):
    """The cost of one report: nats, and the chance that they do not hold."""

    epsilon: float
    delta: float


def comparable(operator: str | None) -> str | None:
    """Return a name so that spellings that look alike are equal."""
    return None if operator is None else normalize("NFKC", operator).casefold()


class PlanFacts(Section):
    """The sections of a plan, and what they mean for people, batches and keys."""

    plan_schema: Two = key(means="version of the format", must="be 2", example=2, alias="schema")
    name: str = key(
        "plan",
        means="name of the plan; default: the stem of the file",
        must="be letters a-z, digits and hyphens",
        example="emoji",
        pattern="^[a-z0-9]+(-[a-z0-9]+)*$",
        max_length=64,
    )
    title: str | None = words(
        means="heading that people read; part of the digest, like the texts below",
        example="Which features do you use?",
        most=200,
    )
    purpose: str | None = words(
        means="what the answers are for", example="Decide what version 5 keeps.", most=2000
    )
    questions: tuple[Question, ...] = key(
        min_length=1,
        means="one table per question; a single one may be [randomizer]",
        must="be tables, each of a mechanism and its parameters",
        example=[_EXAMPLE],
    )
    population: PopulationSection = key(
        means="who may take part", must="be a table", example={"enrolled": 1_000_000}
    )
    participation: ParticipationSection = ParticipationSection()
    collection: CollectionSection = CollectionSection()
    shuffling: ShufflingSection = ShufflingSection()
    protections: ProtectionsSection = key(
        means="what the running system enforces",
        must="be a table",
        example={"minimum_batch": 200_000},
    )
    shufflers: tuple[ShufflerSection, ...] = key(
        (ShufflerSection(),),
        min_length=1,
        max_length=2,
        means="who mixes, one after the other; one, if left out",
        must="be one or two tables, one per shuffler",
        example=[{"operator": "Example Foundation"}],
    )
    analyzer: AnalyzerSection = AnalyzerSection()
    admission: AdmissionSection = Field(
        default=AdmissionSection(),
        description="how the first shuffler knows that a sender may send",
        exclude_if=lambda section: section == AdmissionSection(),
    )
    guarantee: GuaranteeSection = GuaranteeSection()
    policy: dict[Rung, LimitsSection] = Field(
        default_factory=dict,
        description="limits per adversary (rung); only proved bounds count",
    )

    record: RecordSection | None = Field(
        default=None, description="who is responsible for the collection; not part of the digest"
    )

    @model_validator(mode="before")
    @classmethod
    def _one_question_is_a_list_of_one(cls, document: Any) -> Any:
        if not isinstance(document, Mapping):
            return document
        if document.get("schema") == 1 and document["schema"] is not True:
            raise ParameterError("schema", must="be 2", got=1, hint=_UPGRADE)
        if "randomizer" not in document:
            return document
        if "questions" in document:
            raise ParameterError("questions", must="be left out where a randomizer is given")
        given = document["randomizer"]
        if not isinstance(given, Mapping | Randomizer):
            must, hint = "be a table of a mechanism and its parameters", toml_value(_EXAMPLE)
            raise ParameterError("randomizer", must=must, got=given, hint=f"Try {hint}.")
        rest = {name: value for name, value in document.items() if name != "randomizer"}
        return rest | {"questions": [given]}

    @property
    def headline(self) -> str:
        """The title, or the name where there is none."""
        return self.title or self.name

    def question_name(self, index: int) -> str:
        """The name of a question in results: as given, or numbered from 1.

        Where one entry stands for several questions, its name and the number.
        """
        given = self.questions[index % len(self.questions)].name
        together = self.participation_model.one_batch
        several = together and self.participation_model.rounds > len(self.questions)
        return given if given and not several else f"{given or 'question'}-{index + 1}"

    @property
    def randomizers(self) -> tuple[Randomizer, ...]:
        """The mechanism of every question, or the one that all of them use."""
        return tuple(question.randomizer for question in self.questions)

    @cached_property
    def reported(self) -> tuple[Randomizer, ...]:
        """The mechanisms whose reports leave a device: questions of one batch share a report."""
        return (self.randomizer,) if self.participation_model.one_batch else self.randomizers

    @property
    def epsilon_local(self) -> float:
        """The epsilon of one report whose sender is known; infinite if devices add no noise."""
        return max(made.epsilon_local for made in self.reported)

    @property
    def operators(self) -> Literal["separate", "same"]:
        """Return "same" if one operator runs both the shuffler and the analyzer."""
        own = {comparable(self.analyzer.operator), self.analyzer.key} - {None}
        mixers = {comparable(each.operator) for each in self.shufflers}
        return "same" if own & (mixers | {each.key for each in self.shufflers}) else "separate"

    @property
    def issuer_mixes(self) -> bool:
        """Tell if the plan names one operator for a shuffler and for whoever admits people."""
        issuer = comparable(self.admission.operator)
        return issuer is not None and issuer in {comparable(s.operator) for s in self.shufflers}

    @property
    def names_operators(self) -> bool:
        """Tell if the plan names who runs the shuffler and who runs the analyzer."""
        return None not in {self.analyzer.operator, *(each.operator for each in self.shufflers)}

    @property
    def shuffler_key(self) -> str | None:
        """The shuffler's public key, in hexadecimal."""
        return self.shufflers[0].key

    @property
    def issuer_key(self) -> str | None:
        """The issuer's public key, in hexadecimal."""
        return self.admission.key

    @property
    def dummies(self) -> tuple[DummyTable | None, ...]:
        """The law of the dummies of each shuffler; None for one that makes none."""
        return tuple(
            None if each.dummies is None else each.dummies.table for each in self.shufflers
        )

    @property
    def cost(self) -> Cost:
        """The cost of sealing one report to a person's budget.

        That is what the mechanism alone guarantees. If every one of two shufflers adds dummies, or
        the mechanism guarantees nothing, it is what the weakest dummies guarantee if that is less:
        nobody knows which shuffler is honest.
        """
        local = max(each.budget_cost for each in self.reported)
        made = [each.dummies for each in self.shufflers]
        weakest = max((each.epsilon for each in made if each is not None), default=math.inf)
        rely_on_one = len(made) == 1 and math.isfinite(local)
        if None in made or rely_on_one or local <= weakest:
            return Cost(local, 0.0)
        return Cost(weakest, max(each.delta for each in made if each is not None))

    @property
    def analyzer_key(self) -> str | None:
        """The analyzer's public key, in hexadecimal."""
        return self.analyzer.key

    @cached_property
    def randomizer(self) -> Randomizer:
        """The randomizer of a client's value; questions of one batch make up one of their own."""
        protocol = self.participation_model
        if protocol.answers_all:
            return named_randomizer("together", queries=self.randomizers)
        if protocol.one_batch and protocol.rounds > 1:
            queries = self.randomizers * (protocol.rounds // len(self.questions))
            weights = protocol.question_weights
            return named_randomizer("parallel", queries=queries, weights=weights)
        if len(self.questions) > 1:
            raise ParameterError("questions", must="be one for a plan to have one randomizer")
        return self.randomizers[0]

    @cached_property
    def shuffler(self) -> Shuffler:
        """The law over orders."""
        return named_shuffler(self.shuffling.order)

    @cached_property
    def participation_model(self) -> Participation:
        """The model of who takes part in which round."""
        parameters = self.participation.parameters(len(self.questions))
        if self.participation.model == "subsample":
            parameters["batch"] = self.protections.minimum_batch
        made = participation(self.participation.model, **parameters)
        return made if made.rounds > 1 or made.sampled else SingleRound()

    @property
    def windows(self) -> tuple[Window, ...]:
        """The guesses of each question about a number that are near enough."""
        grids = [made.domain for made in self.randomizers if isinstance(made.domain, Grid)]
        return tuple(Window.of(grid, within=self.guarantee.within) for grid in grids)

    @property
    def rms_error(self) -> float | None:
        """The root mean square standard error at the minimum batch.

        Questions that share a batch have one together. None where there are several mechanisms, or
        where some questions estimate shares and others means. What shufflers add is part of it.
        """
        together = self.participation_model.one_batch
        kinds = {
            (isinstance(made.domain, Categories), isinstance(made, Distribution))
            for made in self.randomizers
        }
        if len(kinds) > 1 or (len(self.randomizers) > 1 and not together):
            return None
        made = self.randomizer if together else self.randomizers[0]
        if self.count_noise is not None:
            return self.count_noise.rms_error(made, self.answers)
        try:
            return made.rms_error(self.answers)
        except ParameterError:  # a matrix whose rows depend on each other: nothing is estimated
            return None

    @cached_property
    def count_noise(self) -> CountNoise | None:
        """The noise that the shufflers add to each count; None if they add none."""
        return CountNoise.of(self.shufflers) if any(self.dummies) else None

    @cached_property
    def worst_shift(self) -> Fraction | None:
        """The largest shift of an estimate by liars, per share of the smallest batch.

        That of `Randomizer.worst_shift`, by liars who all answer in the least likely round, and of
        whose reports a shuffler that samples happens to keep all. None where nothing is proved.
        """
        shifts = [made.worst_shift for made in self.reported]
        known = [shift for shift in shifts if shift is not None]
        if len(known) < len(shifts):
            return None
        gathered = Fraction(self.protections.minimum_batch, self.answers)
        return max(known) * gathered / CountNoise.of(self.shufflers).kept

    @property
    def manipulation(self) -> Fraction | None:
        """The largest shift of an estimate by the corrupt people of the smallest batch."""
        if self.worst_shift is None:
            return None
        return self.worst_shift * self.corrupt / self.protections.minimum_batch

    @property
    def answers(self) -> int:
        """The number of answers that the minimum batch gives in the least likely round."""
        shares = [Fraction(min(own), sum(own)) for own in self.participation_model.lots]
        return max(1, math.floor(self.protections.minimum_batch * min(shares)))

    @property
    def asks_by_query(self) -> bool:
        """Tell whether a round asks what the analyzer signs, after it has seen earlier rounds.

        It does where questions may be adaptive and the plan has one mechanism for all of them; a
        plan that lists one question per round fixes what it asks.
        """
        protocol = self.participation_model
        return protocol.adaptive and protocol.rounds > 1 and len(self.questions) == 1

    @property
    def people(self) -> int:
        """The number of people when every batch has its minimum.

        The minimum counts the smallest group, the people of a bin, or the sample; else everybody.
        """
        if self.participation_model.sampled:
            return self.population.enrolled
        return self.protections.minimum_batch * len(self.participation_model.lots)

    @property
    def reports(self) -> int:
        """The number of reports that one person may send in all, without nulls."""
        repeats = self.participation_model.rounds if self.participation_model.sampled else 1
        return self.collection.rounds * repeats

    @property
    def keeps_answer(self) -> bool:
        """Tell whether devices keep a permanent answer, from which all their reports come."""
        return any(made.permanent is not None for made in self.randomizers)

    @property
    def draws_anew(self) -> bool:
        """Tell whether every report is drawn from the value, with noise of its own."""
        return self.participation.noise == "fresh" and not self.keeps_answer

    @property
    def batches(self) -> int:
        """The number of batches that a person may be in, with nulls."""
        return self.collection.rounds * self.participation_model.batches

    @property
    def mixes_by_group(self) -> bool:
        """Tell whether the shuffler mixes each group of a public file separately."""
        return self.shuffling.groups is not None and self.shuffling.order == "uniform"

    @property
    def full_batch(self) -> int | None:
        """The number of people in the smallest crowd if all who are enrolled report.

        Groups and bins of a participation model are taken to be equal. None where it is not known:
        a sample does not grow with the people, and the sizes of groups that a shuffler mixes
        separately are in their file.
        """
        if self.mixes_by_group or self.participation_model.sampled:
            return None
        return self.population.enrolled // self.equal_parts

    @property
    def equal_parts(self) -> int:
        """The number of groups or bins into which a participation model divides the people."""
        return (
            1 if self.participation_model.sampled else self.people // self.protections.minimum_batch
        )

    def worst_crowd(self, *, rounds_seen: bool) -> Crowd:
        """Find the crowd that hides a person least, if the rounds of each are seen, or not."""
        crowds = self.participation_model.crowds(self.people, rounds_seen=rounds_seen)
        return min(crowds, key=lambda crowd: (crowd.share, crowd.people))

    @property
    def corrupt(self) -> int:
        """The number of people of one batch who may be corrupt."""
        return self.population.corrupt(self.protections.minimum_batch)

    @property
    def honest(self) -> int:
        """The number of honest people in the minimum batch."""
        return self.protections.minimum_batch - self.corrupt

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The rows of the plan's ladder: one more shuffler, other rows."""
        return rungs_of(len(self.shufflers))

    @property
    def limits(self) -> Iterator[Limit]:
        """The lines of the policy."""
        return limits_of(self.policy)
