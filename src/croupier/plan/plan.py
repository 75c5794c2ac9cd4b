"""The plan: one frozen value that says what a collection does."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from croupier.errors import ParameterError, RenamedError
from croupier.model.guarantee import Metric
from croupier.model.html import facts
from croupier.model.participation import (
    Crowd,
    Participation,
    SingleRound,
    participation,
)
from croupier.model.randomizer import Randomizer
from croupier.model.result import Result
from croupier.model.rung import Rung
from croupier.model.shuffler import Shuffler
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.file import PlanError, line_of, name_of, parse, read
from croupier.plan.problems import described, toml_value
from croupier.plan.question import Question
from croupier.plan.sections import (
    MOST_ROUNDS,
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
from croupier.plan.values import Two, key, spoken
from croupier.randomizers import randomizer as named_randomizer
from croupier.shufflers import shuffler as named_shuffler

if TYPE_CHECKING:
    from croupier.assessment.compare import Comparison
    from croupier.assessment.ladder.ladder import Ladder
    from croupier.assessment.policy import Check
    from croupier.auditing.attacks.attacks import Attacks
    from croupier.documents.explain.page import Explanation
    from croupier.numerics.keystream import Keystream

__all__ = ["Limit", "Plan", "flat_keys", "require_plan"]

_NOT_DEPLOYED = ("name", "population", "policy", "randomizer", "questions")
_EXAMPLE = {"mechanism": "k-rr", "k": 50, "max_epsilon_local": 4.0}
_LEAST_DELTA = 1e-300
"""Below, parts of a delta would not be numbers any more."""

_TABLE_OF = {"questions": "", "rounds": "collection."}
"""Where a key stands that is not one of [participation]."""
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


class Plan(Result, Section, title="croupier plan"):
    """What a collection does: who sends what, who mixes it, what may leak to whom.

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

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        batch, enrolled = self.protections.minimum_batch, self.population.enrolled
        if batch > enrolled:
            raise ParameterError(
                "protections.minimum_batch",
                must=f"be in [2, {enrolled:,}]",
                got=batch,
                hint=f"Try {max(2, enrolled // 5):_}.",
            )
        if self.honest < 2:
            raise ParameterError(
                "population.corrupt_fraction",
                must=f"leave 2 honest people in the minimum batch of {batch:,}",
                got=self.population.corrupt_fraction,
                hint=f"{self.corrupt:,} may be corrupt. Try a larger minimum_batch.",
            )
        self._require_disposal_after_a_round()
        if self.guarantee.delta is None:
            claim = self.guarantee.model_copy(update={"delta": 0.01 / enrolled})
            object.__setattr__(self, "guarantee", claim)
        if (self.guarantee.delta or 0.0) < _LEAST_DELTA:
            raise ParameterError(
                "guarantee.delta",
                must=f"be at least {_LEAST_DELTA:g}",
                got=self.guarantee.delta,
                hint="Try 1e-8.",
            )
        self._require_protocol()
        self._require_room()
        return self

    def _require_disposal_after_a_round(self) -> None:
        every, age = self.collection.every, self.protections.disposal_age
        if age is None:
            kept = self.protections.model_copy(update={"disposal_age": 3 * every})
            object.__setattr__(self, "protections", kept)
        elif age < every:
            raise ParameterError(
                "protections.disposal_age",
                must="be at least collection.every",
                got=spoken(age),
                hint=f'Try "{spoken(3 * every)}".',
            )

    def _require_room(self) -> None:
        try:
            sent = (self.randomizer,) if self.participation_model.one_batch else self.randomizers
            longest = 2 + max(randomizer.report_format.size for randomizer in sent)
        except ParameterError as error:
            raise ParameterError(
                f"questions.{error.parameter}", must=error.must, got=error.got
            ) from None
        fits = f"Try {-(-longest // 16) * 16}." if longest <= 65536 else "Try another mechanism."
        if self.protections.report_size < longest:
            raise ParameterError(
                "protections.report_size",
                must=f"hold the longest report and 2 bytes of its own, {longest:,} bytes",
                got=self.protections.report_size,
                hint=fits,
            )

    def _require_protocol(self) -> None:
        try:
            protocol = self.participation_model
            self._require_questions(protocol)
            if protocol.one_batch:
                _ = self.randomizer
            protocol.crowds(self.people, rounds_seen=True)
        except ParameterError as error:
            table = _TABLE_OF.get(error.parameter, "participation.")
            raise ParameterError(
                table + error.parameter, must=error.must, got=error.got, hint=error.hint
            ) from None

    def _require_questions(self, protocol: Participation) -> None:
        if self.reports > MOST_ROUNDS:
            raise ParameterError(
                "rounds",
                must=f"leave a person {MOST_ROUNDS:,} reports at most, in all samples together",
                got=self.collection.rounds,
                hint="Lower it, or the repeats.",
            )
        if self.participation.noise == "reused" and len(self.questions) > 1:
            raise ParameterError(
                "noise",
                must='be "fresh" where there are several questions',
                got="reused",
                hint='Try "fresh".',
            )
        if self.participation.noise == "reused" and self.asks_by_query:
            raise ParameterError(
                "noise",
                must='be "fresh" where the analyzer decides what each round asks',
                got="reused",
                hint='The report of one round answers no other. Try "fresh".',
            )
        if len(self.questions) not in (1, protocol.rounds):
            raise ParameterError(
                "questions",
                must=f"be 1 or {protocol.rounds}, one per round",
                got=len(self.questions),
                hint="Add some, or change [participation].",
            )

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
            PlanError: Something cannot be; the message names the line and what to write instead.
        """
        document = {"name": name_of(file)} | parse(text, file=file)
        return cls.from_document(document, text=text, file=file)

    @classmethod
    def from_document(
        cls, document: Mapping[str, Any], *, text: str = "", file: str = "plan"
    ) -> Self:
        """The plan of tables, lists, texts and numbers, as `document` returns them.

        Args:
            document: The tables.
            text: The text that they were read from, in which errors find their line.
            file: Where it stands.
        """
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            path, problem = described(cls, error)
            if path[:1] == ("questions",) and "questions" not in document:
                path = ("randomizer", *(part for part in path[1:] if part != 0))
            raise PlanError(problem, file=file, line=line_of(text, path)) from None

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

    @cached_property
    def canonical(self) -> bytes:
        """The one text of everything that is deployed: not name, population and policy.

        Tightening a policy must not give every client a new key.
        """
        document = self.document()
        deployed = {name: value for name, value in document.items() if name not in _NOT_DEPLOYED}
        deployed["questions"] = [question.model_dump(mode="json") for question in self.questions]
        return json.dumps(deployed, sort_keys=True, separators=(",", ":")).encode()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal."""
        return sha256(self.canonical).hexdigest()

    @cached_property
    def policy_digest(self) -> str:
        """SHA-256 of what a policy is judged by beside the deployed plan, in hexadecimal.

        That is population and policy. Whoever changes either has a policy that nobody judged.
        """
        limits = {f"{limit.rung}.{limit.key}": limit.value for limit in self.limits}
        judged = {"policy": limits, "population": self.document()["population"]}
        return sha256(
            json.dumps(judged, sort_keys=True, separators=(",", ":")).encode()
        ).hexdigest()

    def replace(self, **changes: Any) -> Self:
        r"""The plan with other values for some keys, `section__key`, checked as a whole again.

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
        local = max(each.epsilon_local for each in self.randomizers)
        described = {
            "mechanism": ", ".join(dict.fromkeys(each.mechanism for each in self.randomizers)),
            "epsilon_local": ceiling_digits(local),
            "enrolled": f"{self.population.enrolled:,} people",
            "minimum batch": f"{self.protections.minimum_batch:,} people",
            "rounds": f"{self.collection.rounds:,}",
            "delta": f"{self.guarantee.delta:g}",
            "limits": f"{len(list(self.limits)):,}",
            "digest": self.digest,
        }
        return facts(f"Plan: {self.name} {self.digest[:8]}", described)

    if not TYPE_CHECKING:  # whoever checks types hears that there is no such name

        def __getattr__(self, name: str) -> Any:
            renamed = {"having": "plan.replace(...)", "protocol": "plan.participation_model"}
            if name in renamed:
                raise RenamedError(f"plan.{name}", renamed[name])
            return super().__getattr__(name)

    def assess(self) -> "Ladder":
        """Prove what the plan leaks to each kind of adversary, at its minimum batch."""
        from croupier.assessment.ladder.ladder import assess  # noqa: PLC0415 - a verb

        return assess(self)

    def check(self) -> "Check":
        """Return the verdict on every limit, if all are kept and at least one limits something.

        Raises:
            PolicyNotMetError: Some limit is not proved to be kept.
            NoLimitError: No limit is set, or none of them limits anything.
        """
        from croupier.assessment.policy import check  # noqa: PLC0415 - a verb

        return check(self)

    def compare(self, other: "Plan") -> "Comparison":
        """Show what changes from this plan to another: keys, guarantees, limits, error."""
        from croupier.assessment.compare import compare  # noqa: PLC0415 - a verb

        return compare(self, other)

    def explain(
        self, *, file: str = "plan.toml", advance: Callable[[int], None] = lambda _: None
    ) -> "Explanation":
        """Write the page that says what the plan reveals, and to whom.

        Args:
            file: The name of the plan's file in the commands that prove each number again.
            advance: Called as the plots are drawn.

        Raises:
            MissingExtraError: jinja2 or matplotlib is not installed.
        """
        from croupier.documents.explain.page import Explanation  # noqa: PLC0415 - a verb

        return Explanation.of(self, file=file, advance=advance)

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
    """List the keys of nested tables, with dots, and their values.

    >>> dict(flat_keys({"population": {"enrolled": 9}, "name": "pets"}))
    {'population.enrolled': 9, 'name': 'pets'}
    """
    for name, value in table.items():
        entries = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(entries, Mapping):
            yield from flat_keys(entries, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
