"""The view of one round, for all data of a few people, listed in integers."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
from numpy.typing import NDArray

from benchmarks.refute.oracle import Law, Pair, Rows, add_report, worst_delta

__all__ = ["Answers", "Game", "World", "crowd", "inversions", "ordered", "resent", "sampled"]

Answers = Sequence[tuple[int, ...]]
"""The value of a person: an answer to every question."""

_ORDER_BITS = 60


@dataclass(frozen=True)
class World:
    """A dataset of the others, and the resulting view of the one person.

    Attributes:
        datasets: The number of ways in which the others may hold it.
        laws: The laws of the view, one for each input of the person.
        linked: The chance that the best attacker finds the person's report, for each input.
    """

    datasets: int
    laws: tuple[Law, ...]
    linked: tuple[Fraction, ...] = ()


@dataclass(frozen=True, eq=False)
class Game:
    """One round, seen by one kind of adversary who knows what all others hold.

    Attributes:
        inputs: The possible values of the person.
        worlds: One for each dataset of the others, up to the order of equal people.
        total: The sum of the weights of each law.
        one_answer: True if a person may hold the same answer to all questions.
    """

    inputs: Answers
    worlds: tuple[World, ...]
    total: int
    one_answer: bool = True

    @cached_property
    def families(self) -> list[list[int]]:
        """Sets of inputs that differ only in the answer that is guessed."""
        places = {answers: place for place, answers in enumerate(self.inputs)}
        found = []
        for question in range(len(self.inputs[0])):
            values = sorted({answers[question] for answers in self.inputs})
            for rest in {(*a[:question], *a[question + 1 :]) for a in self.inputs}:
                known = [(*rest[:question], value, *rest[question:]) for value in values]
                found.append([places[answers] for answers in known])
            alike = [(value,) * len(self.inputs[0]) for value in values]
            if self.one_answer and all(answers in places for answers in alike):
                found.append([places[answers] for answers in alike])
        return found

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every world and every ordered pair of inputs, each table once."""
        found = {}
        for world in self.worlds:
            for a, b in permutations(world.laws, 2):
                pair = Pair(a, b, self.total)
                found[tuple(pair.weights)] = pair
        return list(found.values())

    def delta(self, ratio: Fraction) -> Fraction:
        """The largest divergence of two inputs at e^epsilon = ratio."""
        return worst_delta(self.pairs, ratio)

    def informed(self) -> Fraction:
        """The chance of guessing an answer, all others known, in the easiest question and world."""
        return max(
            Fraction(_right(world, family), len(family) * self.total)
            for world in self.worlds
            for family in self.families
        )

    def uniform(self) -> Fraction:
        """The same chance with nobody known, all inputs independent and equally likely."""
        datasets = sum(world.datasets for world in self.worlds)
        right = max(
            sum(max(chances.values()) for chances in self._mixed(question).values())
            for question in range(len(self.inputs[0]))
        )
        return Fraction(right, datasets * self.total * len(self.inputs))

    def _mixed(self, question: int) -> dict[object, Counter[int]]:
        seen: dict[object, Counter[int]] = {}
        for world in self.worlds:
            for answers, law in zip(self.inputs, world.laws, strict=True):
                for outcome, weight in law.items():
                    chances = seen.setdefault(outcome, Counter())
                    chances[answers[question]] += weight * world.datasets
        return seen

    def linked(self) -> Fraction:
        """The largest chance of finding the person's report."""
        return max(chance for world in self.worlds for chance in world.linked)

    @cached_property
    def furthest(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """The pairs as probabilities, the furthest apart first."""
        tables = [
            (
                np.array([p / self.total for p, _ in pair.weights]),
                np.array([q / self.total for _, q in pair.weights]),
            )
            for pair in self.pairs
        ]
        return sorted(tables, key=lambda table: -np.maximum(table[0] - table[1], 0.0).sum())


def _right(world: World, family: Sequence[int]) -> int:
    laws = [world.laws[place] for place in family]
    outcomes = set().union(*laws)
    return sum(max(law.get(outcome, 0) for law in laws) for outcome in outcomes)


def _others(values: int, count: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Datasets of equal people, and the number of ways to have each."""
    for held in combinations_with_replacement(range(values), count):
        ways = math.factorial(count)
        for repeats in Counter(held).values():
            ways //= math.factorial(repeats)
        yield held, ways


def _pointed(base: Law, row: Sequence[int], total: int) -> Fraction:
    """The chance of finding a report drawn from the row among those of a law (mark, counts)."""
    best: dict[object, Fraction] = {}
    for (mark, counts), weight in base.items():
        for report, chance in enumerate(row):
            if chance:
                grown = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                place = Fraction(weight * chance, grown[report])
                best[mark, grown] = max(best.get((mark, grown), Fraction(0)), place)
    return sum(best.values(), Fraction(0)) / total


def _with_report(base: Law, row: Sequence[int]) -> dict[object, int]:
    grown: dict[object, int] = {}
    for (mark, counts), weight in base.items():
        for seen, chance in add_report({counts: weight}, row).items():
            grown[mark, seen] = grown.get((mark, seen), 0) + chance
    return grown


def crowd(rows: Rows, inputs: Answers, n: int, *, share: Fraction = Fraction(1)) -> Game:
    """The game of the histogram of a batch; if others join by chance, their presence is seen."""
    each = sum(rows[0])
    absent = (share.denominator - share.numerator) * each
    total = (each * share.denominator) ** (n - 1) * each
    worlds = []
    for held, ways in _others(len(rows), n - 1):
        base: dict[tuple[int, tuple[int, ...]], int] = {(0, (0,) * len(rows[0])): 1}
        for place, value in enumerate(held):
            grown: dict[tuple[int, tuple[int, ...]], int] = {}
            for (mark, counts), weight in base.items():
                if absent:
                    grown[mark, counts] = grown.get((mark, counts), 0) + weight * absent
                row = [chance * share.numerator for chance in rows[value]]
                present = mark | (1 << place if absent else 0)
                for seen, chance in add_report({counts: weight}, row).items():
                    grown[present, seen] = grown.get((present, seen), 0) + chance
            base = grown
        worlds.append(
            World(
                ways,
                tuple(_with_report(base, row) for row in rows),
                tuple(_pointed(base, row, total) for row in rows),
            )
        )
    return Game(inputs, tuple(worlds), total)


def sampled(  # noqa: PLR0913 - keyword-only facts about one case
    rows: Rows, inputs: Answers, people: int, asked: int, *, corrupt: int = 0, seen: bool = False
) -> Game:
    """The game of a random sample, of which all members or only the corrupt ones are seen.

    If it is seen, the person is one of them.
    """
    each, honest = sum(rows[0]), people - corrupt
    samples = [s for s in combinations(range(people), asked) if not seen or 0 in s]
    asking = sum(0 in sample for sample in samples)
    total = len(samples) * each**asked
    worlds = []
    for held, ways in _others(len(rows), honest - 1):
        without: Counter[object] = Counter()
        base: Counter[object] = Counter()
        for sample in samples:
            mark = sample if seen else tuple(p for p in sample if p >= honest)
            present = [p for p in sample if 0 < p < honest]
            law: Law = {(0,) * len(rows[0]): each ** (asked - len(present) - (0 in sample))}
            for person in present:
                law = add_report(law, rows[held[person - 1]])
            for counts, weight in law.items():
                (base if 0 in sample else without)[mark, counts] += weight
        laws = []
        for row in rows:
            law = Counter(_with_report(base, row))
            law.update(without)
            laws.append(dict(law))
        linked = tuple(_pointed(base, row, asking * each**asked) for row in rows)
        worlds.append(World(ways, tuple(laws), linked))
    return Game(inputs, tuple(worlds), total)


def resent(rows: Rows, inputs: Answers, n: int) -> Game:
    """The game of one report in two batches, each among n - 1 other people."""
    each = sum(rows[0])
    laws = [(_law(rows, held), ways) for held, ways in _others(len(rows), n - 1)]
    worlds = []
    for (first, some), (second, more) in product(laws, repeat=2):
        found = []
        for row in rows:
            law: Counter[object] = Counter()
            for report, chance in enumerate(row):
                if not chance:
                    continue
                for a, p in first.items():
                    for b, q in second.items():
                        law[_plus(a, report), _plus(b, report)] += chance * p * q
            found.append(dict(law))
        worlds.append(World(some * more, tuple(found)))
    return Game(inputs, tuple(worlds), each ** (2 * n - 1))


def _law(rows: Rows, held: Sequence[int]) -> Law:
    law: Law = {(0,) * len(rows[0]): 1}
    for value in held:
        law = add_report(law, rows[value])
    return law


def _plus(counts: tuple[int, ...], report: int) -> tuple[int, ...]:
    return (*counts[:report], counts[report] + 1, *counts[report + 1 :])


def ordered(rows: Rows, inputs: Answers, n: int, *, theta: float) -> Game:
    """The game of a Mallows order around the people as they come; the person is at any place."""
    orders = {
        order: round(math.exp(-theta * inversions(order)) * 2**_ORDER_BITS)
        for order in permutations(range(n))
    }
    each = sum(rows[0])
    total = sum(orders.values()) * each**n
    worlds = []
    for place in range(n):
        for others in product(range(len(rows)), repeat=n - 1):
            laws, linked = [], []
            for value in range(len(rows)):
                data = (*others[:place], value, *others[place:])
                joint: dict[tuple[int, ...], Counter[int]] = {}
                for order, weight in orders.items():
                    at = order.index(place)
                    held = [rows[data[person]] for person in order]
                    for seen in product(range(len(rows[0])), repeat=n):
                        chance = math.prod(row[y] for row, y in zip(held, seen, strict=True))
                        if chance:
                            joint.setdefault(seen, Counter())[at] += weight * chance
                laws.append({seen: sum(places.values()) for seen, places in joint.items()})
                right = sum(max(places.values()) for places in joint.values())
                linked.append(Fraction(right, total))
            worlds.append(World(1, tuple(laws), tuple(linked)))
    return Game(inputs, tuple(worlds), total)


def inversions(order: Sequence[int]) -> int:
    """The number of pairs that an order puts the other way round."""
    return sum(a > b for a, b in combinations(order, 2))
