"""Collections with dummies, listed in fractions: every report, every coin, every made-up report.

Nothing of the package is used here, so that both can be wrong only in different ways.
"""

import itertools
from collections import defaultdict
from fractions import Fraction

import mpmath


def exp(epsilon):
    """e^epsilon to sixty digits."""
    with mpmath.workdps(60):
        return Fraction(str(mpmath.exp(mpmath.mpf(epsilon))))


def divergence(first, second, epsilon):
    """The delta of two laws at an epsilon."""
    factor = exp(epsilon)
    return sum(max(Fraction(0), p - factor * second.get(seen, 0)) for seen, p in first.items())


def product(first, second):
    """The law of two independent things seen one after the other."""
    return {(a, b): p * q for a, p in first.items() for b, q in second.items()}


def dummies(weights, k):
    """The law of the numbers of dummies of k possible reports."""
    total = sum(weights)
    made = {(): Fraction(1)}
    for _ in range(k):
        made = {
            (*counts, u): p * Fraction(weight, total)
            for counts, p in made.items()
            for u, weight in enumerate(weights)
            if weight
        }
    return made


def thinned(counts, keep):
    """The law of the counts if each of them is kept with a chance."""
    if keep == 1:
        return {counts: Fraction(1)}
    law = {(): Fraction(1)}
    for count in counts:
        following = defaultdict(Fraction)
        for kept, p in law.items():
            for coins in itertools.product((0, 1), repeat=count):
                up = sum(coins)
                following[(*kept, up)] += p * keep**up * (1 - keep) ** (count - up)
        law = following
    return law


def plus(first, second):
    return tuple(a + b for a, b in zip(first, second, strict=True))


class World:
    """A tiny collection: a channel, and one or two shufflers as pairs of weights and a keep.

    A dataset is the victim's value and those of the others. Rows are the names of the ladder; a
    view holds all that the row is shown if counts are published, and the total of every hop.
    """

    def __init__(self, channel, shufflers, n):
        self.channel, self.shufflers, self.n = channel, shufflers, n
        self.k = len(channel)
        self.made = [dummies(weights, len(channel[0])) for weights, _ in shufflers]
        self.laws = {}

    def sent(self, value):
        return [(y, p) for y, p in enumerate(self.channel[value]) if p]

    def batch_of(self, dataset, keep, *, coins_seen):
        """The law of what the first shuffler passes on: counts, victim's report, what it knows."""
        bins = len(self.channel[0])
        law = {((0,) * bins, None, ()): Fraction(1)}
        for person, value in enumerate(dataset):
            following = defaultdict(Fraction)
            for (counts, victim, known), p in law.items():
                for y, chance in self.sent(value):
                    for kept, coin in ((True, keep), (False, 1 - keep)):
                        if not coin:
                            continue
                        grown = plus(counts, [kept and y == b for b in range(bins)])
                        own = (y if kept else None) if person == 0 else victim
                        seen = (*known, kept) if coins_seen else ()
                        following[grown, own, seen] += p * chance * coin
            law = following
        return law

    def views(self, row, dataset):
        """The law of the view of a row and the value of the victim's row, None if it is dropped."""
        key = row, dataset
        if key not in self.laws:
            self.laws[key] = self.listed(row, dataset)
        return self.laws[key]

    def listed(self, row, dataset):
        if row in ("everybody", "collusion"):
            return {(y, y): p for y, p in self.sent(dataset[0])}
        if row in ("honest_1", "honest_2"):  # of two shufflers; all other reports are dropped
            mine = int(row[-1]) - 1
            weights, keep = self.shufflers[mine]
            alone = World(self.channel, [(weights, keep)], 1)
            return alone.listed("batch", dataset[:1])
        runs = {"shuffler": 0, "shuffler_1": 0, "shuffler_2": 1}.get(row)
        keeps = [keep for _, keep in self.shufflers]
        law = self.batch_of(dataset, keeps[0], coins_seen=runs == 0)
        law = self.added(law, 0, known=runs == 0)
        for place in range(1, len(self.shufflers)):
            handed = defaultdict(Fraction)
            for (counts, victim, known), p in law.items():
                for left, own, chance in self.passed(counts, victim, keeps[place]):
                    handed[left, own, (*known, sum(counts))] += p * chance
            law = self.added(handed, place, known=runs == place)
        found = defaultdict(Fraction)
        for (counts, victim, known), p in law.items():
            found[(counts, known), victim] += p
        return found

    def passed(self, counts, victim, keep):
        """The counts that a second shuffler keeps, with the victim's row or without."""
        if victim is None:
            return [(left, None, p) for left, p in thinned(counts, keep).items()]
        own = tuple(int(b == victim) for b in range(len(counts)))
        rest = tuple(a - b for a, b in zip(counts, own, strict=True))
        found = []
        for left, p in thinned(rest, keep).items():
            found.append((plus(left, own), victim, p * keep))
            if keep < 1:
                found.append((left, None, p * (1 - keep)))
        return found

    def added(self, law, place, *, known):
        """The law after a shuffler has added its dummies, which whoever runs it knows."""
        following = defaultdict(Fraction)
        for (counts, victim, seen), p in law.items():
            for made, chance in self.made[place].items():
                told = (*seen, made) if known else seen
                following[plus(counts, made), victim, told] += p * chance
        return following

    def seen(self, row, dataset):
        """The law of the view of a row."""
        law = defaultdict(Fraction)
        for (view, _), p in self.views(row, dataset).items():
            law[view] += p
        return law

    def others(self):
        return itertools.combinations_with_replacement(range(self.k), self.n - 1)

    def pairs(self, row):
        """The laws of all values of the victim, for all values of the others."""
        return [[self.seen(row, (x, *rest)) for x in range(self.k)] for rest in self.others()]

    def delta(self, row, epsilon, *, rounds=1):
        """The delta of the worst pair on the worst dataset; rounds with fresh noise are joined."""
        found = Fraction(0)
        for laws in self.pairs(row):
            many = laws
            for _ in range(rounds - 1):
                many = [product(a, b) for a, b in zip(many, laws, strict=True)]
            for a, b in itertools.permutations(range(self.k), 2):
                found = max(found, divergence(many[a], many[b], epsilon))
        return found

    def guess_informed(self, row):
        return max(
            sum(max(law.get(view, 0) for law in laws) for view in set().union(*laws)) / self.k
            for laws in self.pairs(row)
        )

    def guess_uninformed(self, row):
        joint = [defaultdict(Fraction) for _ in range(self.k)]
        for rest in itertools.product(range(self.k), repeat=self.n - 1):
            for x in range(self.k):
                for view, p in self.seen(row, (x, *sorted(rest))).items():
                    joint[x][view] += p / self.k**self.n
        return sum(max(law.get(view, 0) for law in joint) for view in set().union(*joint))

    def reidentification(self, row):
        """The best chance to point at the victim's row, with everybody's value known."""
        return max(self.pointed(row, (x, *rest)) for rest in self.others() for x in range(self.k))

    def pointed(self, row, dataset):
        best = defaultdict(Fraction)
        for (view, victim), p in self.views(row, dataset).items():
            if victim is not None:
                best[view] = max(best[view], p / self.rows_alike(row, view, victim))
        return sum(best.values())

    def rows_alike(self, row, view, victim):
        """The number of rows that look like the victim's, without dummies that the row knows."""
        if row in ("everybody", "collusion"):
            return 1
        counts, known = view
        place = {"shuffler": self.n, "shuffler_1": self.n, "shuffler_2": -1}.get(row)
        if place is None or (row == "shuffler_1" and self.shufflers[1][1] < 1):
            return counts[victim]
        return counts[victim] - known[place][victim]
