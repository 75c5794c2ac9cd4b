"""The sections of a plan, and what follows from them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, model_validator

from croupier.errors import ParameterError
from croupier.model.guarantee import Metric
from croupier.model.participation import Crowd, Participation, SingleRound, participation
from croupier.model.randomizer import Randomizer
from croupier.model.rung import Rung
from croupier.model.shuffler import Shuffler
from croupier.plan.problems import toml_value
from croupier.plan.question import Question
from croupier.plan.sections import (
    AnalyzerSection,
    CollectionSection,
    GuaranteeSection,
    LimitsSection,
    ParticipationSection,
    PopulationSection,
    ProtectionsSection,
    Section,
    ShufflerSection,
    ShufflingSection,
)
from croupier.plan.values import Two, key
from croupier.randomizers import randomizer as named_randomizer
from croupier.shufflers import shuffler as named_shuffler

__all__ = ["Limit", "PlanFacts"]

_EXAMPLE = {"mechanism": "k-rr", "k": 50, "max_epsilon_local": 4.0}
_UPGRADE = "Run: croupier plan upgrade FILE."


@dataclass(frozen=True)
class Limit:
    """One line of a policy.

    Attributes:
        rung: Against whom.
        metric: What is limited.
        value: A ceiling, or for a metric that protects a floor.
    """

    rung: Rung
    metric: Metric
    value: float

    @property
    def key(self) -> str:
        """Its name in the plan."""
        return f"{'min' if self.metric.protects else 'max'}_{self.metric}"


class PlanFacts(Section):
    """What a plan says, section by section, and what that means for people, batches and keys."""

    plan_schema: Two = key(means="version of the format", must="be 2", example=2, alias="schema")
    name: str = key(
        "plan",
        means="for people; the stem of the file if left out",
        must="be letters a-z, digits and hyphens",
        example="emoji",
        pattern="^[a-z0-9]+(-[a-z0-9]+)*$",
        max_length=64,
    )
    questions: tuple[Question, ...] = key(
        min_length=1,
        means="what is asked, one table per question; one alone may be [randomizer]",
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
        max_length=1,
        means="who mixes; one, if left out",
        must="be one table: a plan has one shuffler",
        example=[{"operator": "Example Foundation"}],
    )
    analyzer: AnalyzerSection = AnalyzerSection()
    guarantee: GuaranteeSection = GuaranteeSection()
    policy: dict[Rung, LimitsSection] = Field(
        default_factory=dict,
        description="limits against the rungs that are named; only proof counts",
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
    def randomizers(self) -> tuple[Randomizer, ...]:
        """The mechanism of every question, or the one that all of them use."""
        return tuple(question.randomizer for question in self.questions)

    @property
    def operators(self) -> Literal["separate", "same"]:
        """Whether one operator runs both the shuffler and the analyzer."""
        own = self.analyzer.operator
        mixers = {shuffler.operator for shuffler in self.shufflers}
        return "same" if own is not None and own in mixers else "separate"

    @property
    def shuffler_key(self) -> str | None:
        """The shuffler's public key, in hexadecimal."""
        return self.shufflers[0].key

    @property
    def analyzer_key(self) -> str | None:
        """The analyzer's public key, in hexadecimal."""
        return self.analyzer.key

    @cached_property
    def randomizer(self) -> Randomizer:
        """What a client applies to its value; for parallel questions, all of them together."""
        protocol = self.participation_model
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
        """Who takes part in which round."""
        parameters = self.participation.parameters(len(self.questions))
        if self.participation.model == "subsample":
            parameters["batch"] = self.protections.minimum_batch
        made = participation(self.participation.model, **parameters)
        return made if made.rounds > 1 or made.sampled else SingleRound()

    @property
    def asks_by_query(self) -> bool:
        """Whether a round asks what the analyzer signs for it, after it has seen the rounds before.

        So it is where questions may be adaptive and the plan has one mechanism for all of them; a
        plan that lists a question a round has fixed what it asks.
        """
        protocol = self.participation_model
        return protocol.adaptive and protocol.rounds > 1 and len(self.questions) == 1

    @property
    def people(self) -> int:
        """How many people there are when every batch has its minimum.

        The minimum counts the smallest group, the people of a bin, or the sample; else everybody.
        """
        if self.participation_model.sampled:
            return self.population.enrolled
        return self.protections.minimum_batch * len(self.participation_model.lots)

    @property
    def reports(self) -> int:
        """How many reports one person may send in all, nulls not counted."""
        repeats = self.participation_model.rounds if self.participation_model.sampled else 1
        return self.collection.rounds * repeats

    @property
    def batches(self) -> int:
        """In how many batches a person may be in all, nulls counted."""
        return self.collection.rounds * self.participation_model.batches

    @property
    def mixes_by_group(self) -> bool:
        """Whether the shuffler mixes each group of a public file by itself."""
        return self.shuffling.groups is not None and self.shuffling.order == "uniform"

    @property
    def full_batch(self) -> int | None:
        """How many people the smallest crowd has if all who are enrolled report.

        Groups and bins of a participation model are taken to be equal. None where it is not known:
        a sample does not grow with the people, and how large the groups are that a shuffler mixes
        each by itself stands in their file.
        """
        if self.mixes_by_group or self.participation_model.sampled:
            return None
        return self.population.enrolled // self.equal_parts

    @property
    def equal_parts(self) -> int:
        """Into how many groups or bins a participation model divides the people."""
        return (
            1 if self.participation_model.sampled else self.people // self.protections.minimum_batch
        )

    def worst_crowd(self, *, rounds_seen: bool) -> Crowd:
        """Find the crowd that hides a person least, if the rounds of each are seen, or not."""
        crowds = self.participation_model.crowds(self.people, rounds_seen=rounds_seen)
        return min(crowds, key=lambda crowd: (crowd.share, crowd.people))

    @property
    def corrupt(self) -> int:
        """How many people of one batch may be corrupt."""
        return self.population.corrupt(self.protections.minimum_batch)

    @property
    def honest(self) -> int:
        """How many of the minimum batch are left."""
        return self.protections.minimum_batch - self.corrupt

    @property
    def limits(self) -> Iterator[Limit]:
        """The lines of the policy."""
        for rung, limits in self.policy.items():
            for metric, value in limits.given():
                yield Limit(rung, metric, value)
