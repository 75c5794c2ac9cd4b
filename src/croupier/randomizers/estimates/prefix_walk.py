"""The walk from prefixes to texts, level by level."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from croupier.errors import ParameterError
from croupier.model.interval_rule import TogetherRule
from croupier.numerics.arrays import np
from croupier.randomizers.estimates.family_fit import FamilyFit, FittedShares
from croupier.randomizers.estimates.found_texts import FoundTexts
from croupier.randomizers.estimates.sparse_rule import SparseRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from croupier.randomizers.text import Text

__all__ = ["find_texts"]

Letters = tuple[int, ...]

_STANDS_OUT = 3.0
_MOST_PREFIXES = 1000
_MOST_CANDIDATES = 1 << 21
_TRIES = 2.0**40
"""Texts that somebody may have tried against the functions of the batch."""


def find_texts(
    mechanism: Text,
    tally: NDArray[np.int64],
    n: int,
    *,
    confidence: float,
    listed: Sequence[str] = (),
) -> FoundTexts:
    """Walk the prefixes and return the texts that the answers confirm.

    A prefix goes on if it exceeds three standard errors at its level; at most the 1,000 most
    frequent do. Where a prefix is a whole text, since the text ends before it does, the text is
    tested on the answers to that level and to all later ones together: its prefix is the text
    there. Which texts begin to be tested at a level depends on earlier levels only, which other
    people answered. Each level gets an equal part of the chance of an error, and each text that
    begins there an equal part of that (Bonferroni): all intervals hold together.

    A text is found if its lower end is above zero. If only the list named it, that end is above the
    most that texts which are not fitted can add to it by sharing buckets with it, for all texts
    that anybody tries, 2^40 of them (`Unfitted`): whoever writes the list may have searched. The
    walk tests whatever begins with a frequent prefix, and leaves nothing to choose.
    """
    mechanism.require_findable()
    given = list(map(mechanism.domain.encode_one, listed))
    if not 0 < confidence < 1:
        raise ParameterError("confidence", must="be in (0, 1)", got=confidence, hint="Try 0.95.")
    walk = _Walk(mechanism, tally, given, 1 - confidence)
    if not (walk.prefixes or given):
        raise ParameterError(
            "levels",
            must="begin with shorter prefixes, or a list must name the texts to look for",
            hint="Name a file: --candidates FILE.",
        )
    if not all(mechanism.answered(tally)):
        raise ParameterError(
            "reports",
            must=f"answer every one of {mechanism.level_count} levels",
            hint="Collect from more people, or ask fewer levels.",
        )
    for level in range(mechanism.level_count):
        walk.step(level)
    return walk.found(n, confidence)


@dataclass(eq=False)
class _Sums:
    """Sums over the levels at which each text was tested, one entry per text."""

    counts: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    variances: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    people: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    shared: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def add(self, shares: FittedShares, shared: float) -> None:
        """Add a level: what was estimated of all texts so far, and of new ones.

        Args:
            shares: The estimates.
            shared: The most that texts which are not fitted add to one of these counts.
        """
        more = (shares.counts, shares.errors**2, shares.people, shared)
        for name, part in zip(("counts", "variances", "people", "shared"), more, strict=True):
            before = getattr(self, name)
            missing = np.zeros(len(shares.counts) - len(before))
            setattr(self, name, np.append(before, missing) + part)


class _Walk:
    """The texts that are tested, and the prefixes that go on.

    Attributes:
        prefixes: The prefixes of the next level.
        texts: The whole texts, in the order in which their test began.
    """

    def __init__(
        self,
        mechanism: Text,
        tally: NDArray[np.int64],
        listed: Sequence[Letters],
        chance: float,
    ) -> None:
        self.mechanism, self.tally, self.listed = mechanism, tally, listed
        self.prefixes = _first(mechanism)
        self._chance = chance
        self.texts: dict[Letters, int] = {}
        self._sums = _Sums()
        self._begun: list[int] = []
        self._named: list[int] = []
        self._levels: list[tuple[int, FittedShares]] = []

    def step(self, level: int) -> None:
        """Test the whole texts at a level, and let the prefixes that stand out go on."""
        length, longest = self.mechanism.lengths[level], self.mechanism.longest
        going: list[Letters] = []
        for prefix in self.prefixes:
            if prefix[-1] and length < longest:
                going.append(prefix)
            else:
                self._begin((*prefix, *(0,) * (longest - length)))
        for text in self.listed:
            if (length == longest or not text[length - 1]) and text not in self.texts:
                self._named.append(len(self.texts))
                self._begin(text)
        candidates = [*going, *(text[:length] for text in self.texts)]
        shares = _shares(self.mechanism, self.tally, candidates, level)
        self._begun.append(len(self.texts) - sum(self._begun))
        whole = shares.among(np.arange(len(going), len(candidates)))
        self._sums.add(whole, shares.unfitted.reach(self._chance / 2 / _TRIES))
        self._levels.append((len(going), shares))
        if length < longest:
            kept = _standing_out(shares.among(np.arange(len(going))))
            self.prefixes = _extended(self.mechanism, [going[each] for each in kept], level)

    def _begin(self, text: Letters) -> None:
        self.texts.setdefault(text, len(self.texts))

    def found(self, n: int, confidence: float) -> FoundTexts:
        """Return the texts that stand out, the most frequent first."""
        rule = self._rule(n)
        parts = np.repeat(len(self._begun) * np.array(self._begun), self._begun)
        lower = TogetherRule(rule, parts).ends(confidence)[0] * self._sums.people
        shared = np.zeros(len(lower))
        shared[self._named] = self._sums.shared[self._named]
        stands = lower > shared
        order = np.argsort(-rule.points, kind="stable")
        chosen = order[stands[order]]
        own, texts = self._rule(n, chosen), list(self.texts)
        return FoundTexts(
            quantity="share",
            values=[self.mechanism.domain.decode(texts[each]) for each in chosen],
            points=own.points,
            standard_errors=np.sqrt(own.variance / n),
            n=n,
            confidence=confidence,
            rule=TogetherRule(own, parts[chosen]),
            candidates=len(texts),
            answered=self.mechanism.answered(self.tally),
            moved_by_one=self._moved_by_one(chosen),
        )

    def _rule(self, n: int, chosen: NDArray[np.int64] | slice = slice(None)) -> SparseRule:
        """The rule for intervals of the shares of all `n` people, of whom some answered a level."""
        people, scale = self._sums.people[chosen], self._levels[0][1].scale
        points = self._sums.counts[chosen] / people
        likely = np.clip(points, 0.0, 1.0)
        sampled = (1 - people / n) * likely * (1 - likely) / people
        return SparseRule(
            points=points,
            n=n,
            variance=n * (self._sums.variances[chosen] / people**2 + sampled),
            jump=n * scale / people,
            low=0.0,
            high=1.0,
        )

    def _moved_by_one(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """The most by which one person moves each share, at the levels where it is tested.

        With c of the m people of those levels, one more report of a level that adds to the share of
        its people there, s, moves the share c/m by what it adds and s - c/m, all over m.
        """
        most = np.zeros(len(chosen))
        for place, text in enumerate(chosen.tolist()):
            share = self._sums.counts[text] / self._sums.people[text]
            ends = []
            for before, shares in self._levels:
                if before + text < len(shares.counts):
                    there = shares.counts[before + text] / shares.people - share
                    ends += [end + there for end in shares.moved(before + text)]
            if len(ends) < 2 * len(self._levels):
                ends.append(0.0)
            most[place] = (max(ends) - min(ends)) / self._sums.people[text]
        return most


def _shares(
    mechanism: Text, tally: NDArray[np.int64], candidates: Sequence[Letters], level: int
) -> FittedShares:
    """The estimated holders of each prefix, among those who answered its level."""
    rows = np.zeros((len(candidates), mechanism.longest), dtype=np.int64)
    rows[:, : mechanism.lengths[level]] = candidates or np.zeros((0, mechanism.lengths[level]))
    levels = np.full(len(candidates), level)
    return FamilyFit.of(mechanism, tally, level).shares(mechanism.messages(rows, levels))


def _first(mechanism: Text) -> list[Letters]:
    """Every prefix of the first level; none if there are too many to try."""
    length, letters = mechanism.lengths[0], mechanism.domain.letters
    if (letters + 1) ** length > _MOST_CANDIDATES:
        return []
    return list(_endings(letters, length))


def _standing_out(shares: FittedShares) -> NDArray[np.int64]:
    """The places of the prefixes that go on, at most the most frequent ones."""
    found = np.flatnonzero(shares.counts > _STANDS_OUT * shares.errors)
    return found[np.argsort(-shares.counts[found], kind="stable")[:_MOST_PREFIXES]]


def _extended(mechanism: Text, prefixes: Sequence[Letters], level: int) -> list[Letters]:
    """Every prefix of the next level that begins with one of these, the most frequent first."""
    if not prefixes:
        return []
    more = mechanism.lengths[level + 1] - mechanism.lengths[level]
    endings = list(_endings(mechanism.domain.letters, more))
    most = max(1, _MOST_CANDIDATES // len(endings))
    return [prefix + ending for prefix in prefixes[:most] for ending in endings]


def _endings(letters: int, length: int) -> Iterable[Letters]:
    """Every row of letters of this length: up to some letter, then zeros."""
    for own in range(length + 1):
        for ending in product(range(1, letters + 1), repeat=own):
            yield (*ending, *(0,) * (length - own))
