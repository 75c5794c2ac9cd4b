"""Liars: a share of the people sends the reports that move an estimate most."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from croupier.model.domain import Domain, Grid, Product, SignVectors
from croupier.model.randomizer import Randomizer
from croupier.model.result import Result
from croupier.model.texts import Texts
from croupier.numerics.odd_counts import fewest_dishonest, odd_counts, statements
from croupier.plan.noise import CountNoise
from croupier.plan.plan import Plan
from croupier.plan.sections import ShufflerSection
from croupier.randomizers.family_hashing import FamilyHashing
from croupier.randomizers.local_hashing import LocalHashing
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.sampled_sign import SampledSign
from croupier.randomizers.several import SeveralQuestions
from croupier.randomizers.subset_selection import SubsetSelection
from croupier.randomizers.together import TogetherRandomizer

__all__ = ["LIARS_SHARE", "LiarGame", "LiarShift", "honest_reports", "liar_games"]
__all__ += ["worst_lies"]

LIARS_SHARE = 0.01
"""The share of reports that are lies, unless another is asked for."""

FALSE_ALARM = 1e-9
"""The chance that honest people's reports raise an alarm, as in an analysis."""

_MOST_PEOPLE = 200_000
_MOST_CELLS = 5_000_000
_MOST_OUTPUTS = 64
"""Reports of one number that are tried: all of them, or so many at equal distances."""

_MOST_BITS = 4096
_CHUNK = 1 << 20
_ROUNDING = 1e-9

Reports = NDArray[Any]
Points = tuple[NDArray[np.float64], int]
"""Estimates, and the number of people whom they are about."""


@dataclass(frozen=True, kw_only=True, repr=False)
class LiarShift(Result):
    """The shift of an estimate by liars who all tell one kind of lie.

    Nothing in it is left to chance: the same honest people report with and without liars, and the
    limit holds for all reports.

    Attributes:
        question: The name of the question.
        lie: The report that the liars send, in words.
        people: The number of reports.
        liars: The number of lies among them.
        limit: The proved limit of the shift: of a share, or of a mean in units of its range.
        measured: The largest shift of an estimate.
        found: The number of liars that an analysis finds at least; None where it does not look.
    """

    question: str
    lie: str
    people: int
    liars: int
    limit: float
    measured: float
    found: int | None

    @property
    def refuted(self) -> bool:
        """True if the lies moved an estimate by more than is proved."""
        return self.measured > self.limit * (1 + _ROUNDING)

    @property
    def _summary(self) -> str:
        return f"{self.question}, {self.lie}: moved by {self.measured:.4g} of {self.limit:.4g}"

    def _records(self) -> list[dict[str, Any]]:
        names = ("question", "lie", "people", "liars", "limit", "measured", "found", "refuted")
        return [{name: getattr(self, name) for name in names}]

    def to_dict(self) -> dict[str, Any]:
        """Return the shift as in JSON, with its verdict on the proof."""
        return super().to_dict() | {"refuted": self.refuted}


class Lie(NamedTuple):
    """Reports that liars send, and their description."""

    words: str
    reports: Reports


@dataclass(frozen=True, eq=False, kw_only=True)
class LiarGame:
    """Liars among those who answer one question.

    Attributes:
        question: The name of the question.
        randomizer: What everybody applies; it may ask several questions.
        part: The place of the question among those that it asks; None if it asks one.
        people: The number of reports.
        share: The share of lies.
        noisy: The shufflers, if some add dummies.
    """

    question: str
    randomizer: Randomizer
    part: int | None = None
    people: int
    share: float
    noisy: tuple[ShufflerSection, ...] = ()

    @property
    def own(self) -> Randomizer:
        """The mechanism of the question."""
        if self.part is None or not isinstance(self.randomizer, SeveralQuestions):
            return self.randomizer
        return self.randomizer.queries[self.part]

    def play(self, rng: np.random.Generator) -> list[LiarShift]:
        """Return the largest shift by each kind of lie."""
        liars = max(1, round(self.share * self.people))
        honest = honest_reports(self.randomizer, self.people, rng)
        added = self._added(rng)
        before = self._points(honest, added)
        found: dict[str, LiarShift] = {}
        for lie in worst_lies(self.own, liars, rng):
            reports = honest.copy()
            reports[:liars] = self._sent(lie.reports, honest[:liars])
            shift = self._shift(before, self._points(reports, added), liars, lie.words)
            if not self.noisy:
                shift = replace(shift, found=self._found(reports))
            if lie.words not in found or shift.measured > found[lie.words].measured:
                found[lie.words] = shift
        return list(found.values())

    def _sent(self, answers: Reports, honest: Reports) -> Reports:
        """The whole reports of people who give these answers to the question.

        Where all questions are answered in one report, the other answers stay honest.
        """
        made, part = self.randomizer, self.part
        if part is None or not isinstance(made, SeveralQuestions):
            return answers
        answers = answers.reshape(len(answers), -1)
        reports = honest.copy()
        start = sum(len(query.report_format.bounds) for query in made.queries[:part])
        if isinstance(made, ParallelRandomizer):
            start = 1
            reports[...] = 0
            reports[:, 0] = part
        reports[:, start : start + answers.shape[1]] = answers
        return reports

    def _added(self, rng: np.random.Generator) -> Reports:
        """Draw the dummies in each count: the same ones, with liars and without."""
        added = np.zeros(self.randomizer.tally_size, dtype=np.int64)
        for shuffler in self.noisy:
            added = rng.binomial(added, float(shuffler.kept))
            if shuffler.dummies is not None:
                law = shuffler.dummies.table.law
                added += rng.choice(len(law), size=len(added), p=law / law.sum())
        return added

    def _points(self, reports: Reports, added: Reports) -> Points:
        """The estimates of the question, means in units of their range, and who answered it."""
        tally, n = self.randomizer.tally(reports), len(reports)
        if self.noisy:
            noise = CountNoise.of(self.noisy)
            own, other = map(float, self.own.require_answer_chances())
            answers = (tally + added - float(noise.mean)) / (n * float(noise.kept))
            return np.asarray((answers - other) / (own - other), dtype=np.float64), n
        if isinstance(self.randomizer, ParallelRandomizer):
            part = self.randomizer.split(tally)[self.part or 0]
            tally, n = part[1:], int(part[0])
        elif isinstance(self.randomizer, TogetherRandomizer):
            tally = self.randomizer.split(tally)[self.part or 0]
        return self.own.estimate_tally(tally, n).points / _span(self.own), n

    def _shift(self, before: Points, after: Points, liars: int, words: str) -> LiarShift:
        (honest, fewer), (lied, more) = before, after
        proved = self.own.worst_shift
        if proved is None:
            raise NotImplementedError(self.own.mechanism)
        kept = CountNoise.of(self.noisy).kept
        return LiarShift(
            question=self.question,
            lie=words,
            people=self.people,
            liars=liars,
            limit=float(proved * liars / max(fewer, more) / kept),
            measured=float(np.abs(lied - honest).max()),
            found=None,
        )

    def _found(self, reports: Reports) -> int | None:
        made = self.randomizer
        groups = made.honest_chances(made.tally(reports), made.traits(reports), len(reports))
        if not groups:
            return None
        return fewest_dishonest(odd_counts(groups, level=FALSE_ALARM / statements(groups)))


def liar_games(plan: Plan, share: float) -> tuple[list[LiarGame], list[str]]:
    """Return a game per question, and why some are not played.

    Where a report answers one of several questions, all liars answer the same. Of questions that
    are asked in the same way, the first is played.
    """
    one_batch = plan.participation_model.one_batch
    games: dict[str, LiarGame] = {}
    left_out = []
    for index, own in enumerate(plan.randomizers):
        name = plan.question_name(index)
        if isinstance(own, FamilyHashing) or own.mechanism == "distribution":
            left_out.append(f"{name}, liars: {own.mechanism} has no lies here")
            continue
        made = (plan.randomizer if one_batch else own).in_batches((b"",))
        chance = made.chances[index] if isinstance(made, ParallelRandomizer) else 1
        games.setdefault(
            repr((own.specification, chance)),
            LiarGame(
                question=name,
                randomizer=made,
                part=index if isinstance(made, SeveralQuestions) else None,
                people=max(100, min(plan.protections.minimum_batch, _MOST_PEOPLE, _fitting(made))),
                share=share,
                noisy=tuple(plan.shufflers) if any(plan.dummies) else (),
            ),
        )
    return list(games.values()), left_out


def _fitting(randomizer: Randomizer) -> int:
    """The number of people whose reports are made and counted in about a second."""
    hashed = randomizer.size if isinstance(randomizer, LocalHashing) else 0
    return _MOST_CELLS // max(randomizer.cells_a_report, hashed)


def worst_lies(randomizer: Randomizer, liars: int, rng: np.random.Generator) -> Iterator[Lie]:
    """Yield reports for so many liars, which move some estimate as far as possible.

    Where several kinds of reports move it equally far, those come first that are found most easily.
    """
    form = randomizer.report_format
    if len(form.bounds) == 1:
        size = form.bounds[0]
        for output in np.unique(np.linspace(0, size - 1, min(size, _MOST_OUTPUTS)).astype(int)):
            yield Lie("one report", np.full(liars, output, dtype=form.dtype))
    elif isinstance(randomizer, SampledSign):
        yield Lie("one coordinate", np.tile(np.array([0, 1], dtype=form.dtype), (liars, 1)))
    elif isinstance(randomizer, LocalHashing):
        yield from _hashed(randomizer, liars, rng)
    elif isinstance(randomizer, SubsetSelection):
        others = rng.permuted(np.tile(np.arange(1, randomizer.size), (liars, 1)), axis=1)
        others[:, -1] = 0
        members = np.sort(others[:, -randomizer.d :], axis=1)
        yield Lie("one value, and others at random", members.astype(form.dtype))
    elif set(form.bounds) == {2}:
        yield from _bits(randomizer, liars)


def _bits(randomizer: Randomizer, liars: int) -> Iterator[Lie]:
    form = randomizer.report_format
    yield Lie("every bit", np.ones((liars, len(form.bounds)), dtype=form.dtype))
    if len(form.bounds) <= _MOST_BITS:
        n = 1000
        nothing = np.zeros(len(form.bounds), dtype=np.int64)
        base = randomizer.estimate_tally(nothing, n).points
        raises = np.empty(len(form.bounds))
        for bit in range(len(form.bounds)):
            nothing[bit] = 1
            raises[bit] = (randomizer.estimate_tally(nothing, n).points - base)[0]
            nothing[bit] = 0
        yield Lie("one value's bits", np.tile((raises > 0).astype(form.dtype), (liars, 1)))


def _hashed(made: LocalHashing, liars: int, rng: np.random.Generator) -> Iterator[Lie]:
    for words, size in (("one seed", 1), ("one value under any seed", liars)):
        seeds = rng.integers(made.prime**3, size=size, dtype=np.uint64)
        buckets = made.hash(seeds, np.zeros(size, dtype=np.uint64))
        reports = np.broadcast_to(np.stack([seeds, buckets], axis=1), (liars, 2))
        yield Lie(words, reports.astype(made.report_format.dtype))


def honest_reports(randomizer: Randomizer, people: int, rng: np.random.Generator) -> Reports:
    """Return the reports of people all of whose values are equally likely."""
    indices = _indices(randomizer.domain, people, rng)
    reports = randomizer.report_format.empty(people)
    step = max(1, _CHUNK // randomizer.cells_a_report)
    for start in range(0, people, step):
        part = indices[start : start + step]
        draws = [
            rng.integers(bound, size=len(part), dtype=np.uint64) for bound in randomizer.draw_bounds
        ]
        reports[start : start + step] = randomizer.respond(part, np.stack(draws, axis=1))
    return reports


def _indices(domain: Domain, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return encoded values; of texts, empty ones."""
    if isinstance(domain, Product):
        columns = [_indices(part, people, rng) for part in domain.parts]
        return np.concatenate([np.reshape(each, (people, -1)) for each in columns], axis=1)
    if isinstance(domain, Texts):
        return np.zeros((people, *domain.coded_shape), dtype=np.int64)
    if isinstance(domain, SignVectors):
        return rng.integers(2, size=(people, domain.dimension))
    return rng.integers(domain.size, size=people)


def _span(randomizer: Randomizer) -> float:
    """The range of a mean; 1 for shares."""
    if isinstance(randomizer.domain, SignVectors):
        return 2.0
    if isinstance(randomizer.domain, Grid):
        return float(randomizer.domain.high - randomizer.domain.low)
    return 1.0
