"""Random channels of integers, of kinds that are prone to numerical errors."""

from random import Random

from benchmarks.refute.oracle import Rows

__all__ = ["KINDS", "channel", "rows"]

KINDS = (
    "even",
    "skewed",
    "flat",
    "zeros",
    "tiny",
    "nearly equal",
    "one of all",
    "equal rows",
    "rare",
    "rare",
)
"""The kinds of rows: see `rows`."""

DENOMINATORS = (8, 16, 97, 1000, 10**6, 2**32, 10**15 + 37, 10**18 + 9, 2**64, 2**64)


def channel(random: Random, *, values: int, reports: int, kind: str | None = None) -> Rows:
    """Rows of integers, all with one sum."""
    kind = kind or random.choice(KINDS)
    total = random.choice([d for d in DENOMINATORS if d >= 2 * reports])
    return rows(random, kind, values=values, reports=reports, total=total)


def rows(random: Random, kind: str, *, values: int, reports: int, total: int) -> list[list[int]]:
    """Rows of one kind.

    Nearly equal: they differ by a few units of the total. One of all: each report has all but one
    unit of the weight in some row. Equal rows: two values have the same law. Rare: one report has
    nearly all the weight in every row, so that the others occur with a small chance.
    """
    if kind == "nearly equal":
        base = _row(random, "even", reports, total)
        return [_moved(random, base) for _ in range(values)]
    if kind == "rare":
        return [_rare(random, reports, total) for _ in range(values)]
    if kind == "one of all":
        return [_spike(reports, total, random.randrange(reports)) for _ in range(values)]
    made = [
        _row(random, "even" if kind == "equal rows" else kind, reports, total)
        for _ in range(values)
    ]
    if kind == "equal rows":
        made[1] = list(made[0])
    return made


def _row(random: Random, kind: str, reports: int, total: int) -> list[int]:
    shape = {"even": 0.7, "skewed": 0.1, "flat": 20.0, "zeros": 0.7}.get(kind, 1.0)
    weights = [random.gammavariate(shape, 1.0) + 1e-30 for _ in range(reports)]
    if kind == "tiny":
        weights = [10 ** random.uniform(-19, 0) for _ in range(reports)]
    if kind == "zeros":
        weights = [weight * (random.random() < 0.6) for weight in weights]
        weights[random.randrange(reports)] += 1.0
    least = 0 if kind == "zeros" else 1
    scale = sum(weights)
    row = [max(least, int(total * (weight / scale))) for weight in weights]
    largest = row.index(max(row))
    row[largest] += total - sum(row)
    return row


def _moved(random: Random, base: list[int]) -> list[int]:
    row = list(base)
    for _ in range(random.randrange(4)):
        source, target = random.sample(range(len(row)), 2)
        if row[source] > 1:
            row[source] -= 1
            row[target] += 1
    return row


def _spike(reports: int, total: int, place: int) -> list[int]:
    row = [1] * reports
    row[place] = total - reports + 1
    return row


def _rare(random: Random, reports: int, total: int) -> list[int]:
    most = max(1, min(total // (4 * reports), 10 ** random.choice((1, 3, 6, 12))))
    seldom = [round(most ** random.random()) for _ in range(reports - 1)]
    return [total - sum(seldom), *seldom]
