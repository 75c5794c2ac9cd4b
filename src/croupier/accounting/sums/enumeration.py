"""The expected positive part of a sum of terms that are mostly alike, by listing the others."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from croupier.accounting.sums.terms import CANCELLATION, Bounds, Real, Rows, Terms

__all__ = ["listed_bounds"]

_ULP = 2.0**-53
_CELLS_AT_ONCE = 100_000
_MOST_IN_TABLE, _PER_CELL = 2_000_000, 40
"""The largest table of tails, in all and per cell of the longest list."""

_LONGER = 1.3
"""The ratio of the lists that are tried."""

_DOUBT = 1e-6
"""Sums this close to zero or to the slope, as a share of it, are computed for the places around."""

_MANY_ROWS = 1000
"""From so many rows on, running sums are computed for all of them at once."""

_LEFT = 0.01
"""The share of the width that may be left unlisted."""


def listed_bounds(terms: Terms, n: int, *, rtol: float, most_cells: int, ceilings: Real) -> Bounds:
    """Enclose log E[(G_1 + … + G_n)_+] of every row by listing how often each value occurs.

    Terms of the most frequent value v need no listing, so it suffices to list up to c others. If
    more than c terms differ from v, which each does with a chance g, the sum is at most n v_+, plus
    the largest excess d of another value over v for each of them: on average at most

        n v_+ P(Bin(n, g) > c) + d n g P(Bin(n - 1, g) >= c).

    Of these others the most frequent value needs no list either: given how often the rare ones
    occur, the sum is s + d C with a binomial C, and for the least c with s + d c > 0

        E[(s + d C)_+] = (s + d c) P(C >= c) + d E[(C - c)_+],   d > 0,

    likewise with C <= c for d < 0: no term is negative, and both factors are sums of tails. So only
    rare values are listed; if more than r of them occur, the bound above holds with r for c, the
    larger of the two frequent values for v, and the chance of a rare one for g.

    Direction: the upper bound adds what is not listed and the rounding allowance; nothing is known
    of a row whose list would be longer than `most_cells`.

    Args:
        terms: The laws.
        n: The number of terms.
        rtol: The relative width that is asked for.
        most_cells: The length of the longest list.
        ceilings: Logarithms of upper bounds, which tell how much must be listed.
    """
    found = Bounds.unknown(len(terms.rest))
    laws = np.column_stack([terms.weights, terms.rest])
    few = np.flatnonzero(n * (1 - laws.max(axis=1)) <= _MOST_IN_TABLE)
    alike: dict[bytes, list[int]] = {}
    for row in few.tolist():
        alike.setdefault(laws[row].tobytes(), []).append(row)
    for rows in map(np.array, alike.values()):
        lists = _Lists.of(laws[rows[0]], terms.take(rows), n)
        found.improve(rows, lists.bounds(rtol, most_cells, ceilings[rows]))
    return found


@dataclass(frozen=True, eq=False)
class _Lists:
    """Rows with one law of the values: the most frequent value, the next, and the others.

    Attributes:
        chances: The chances of the values, in descending order.
        values: The values in the same order, one row per question.
        errors: What they may be off by.
        n: The number of terms.
    """

    chances: Real
    values: Real
    errors: Real
    n: int

    @classmethod
    def of(cls, law: Real, terms: Terms, n: int) -> "_Lists":
        """Put the values that occur in order."""
        order = np.argsort(-law, kind="stable")
        order = order[law[order] > 0]
        sizes = np.divide(
            terms.sizes, terms.weights, out=np.zeros_like(terms.sizes), where=terms.weights > 0
        )
        zero = np.zeros((len(terms.rest), 1))
        values = np.hstack([terms.values, zero])[:, order]
        errors = (CANCELLATION + _ULP * (len(law) + 2)) * np.hstack([sizes, zero])[:, order]
        return cls(law[order], values, errors, n)

    def bounds(self, rtol: float, most_cells: int, ceilings: Real) -> Bounds:
        """Enclose the rows: make the list longer until what is left out is negligible."""
        best, rows = Bounds.unknown(len(self.values)), np.arange(len(self.values))
        best.steps["method"], ceilings = "listed", ceilings.copy()
        kinds = len(self.chances) - 1
        means = self.n * np.array([math.fsum(self.chances[common:]) for common in (1, 2)])
        longest = means + 4 * np.sqrt(means) + 8
        most_in_table = min(_PER_CELL * most_cells, _MOST_IN_TABLE)
        while len(rows) and kinds:
            listed, rare = np.minimum(longest, [self.n, self.n * (kinds > 1)]).astype(int).tolist()
            cells = math.comb(rare + kinds - 1, kinds - 1)
            if cells > most_cells or (listed + 1) * (rare + 1) > most_in_table:
                break
            unlisted = self._log_unlisted(rows, listed, 1), self._log_unlisted(rows, rare, 2)
            rest = np.logaddexp(*unlisted)
            longest[int(unlisted[1].min() > unlisted[0].min())] *= _LONGER
            ready = rest < math.log(_LEFT * rtol) + ceilings[rows]
            if not ready.any():
                continue
            lower, upper = self._ends(rows[ready], listed, rare)
            upper = np.logaddexp(upper, rest[ready])
            done = rest[ready] < math.log(_LEFT * rtol) + upper
            ended = rows[ready][done]
            best.lower[ended], best.upper[ended] = lower[done], upper[done]
            best.steps["listed"][ended], best.steps["rare"][ended] = listed, rare
            ceilings[rows[ready]] = np.minimum(ceilings[rows[ready]], upper)
            rows = np.setdiff1d(rows, ended)
        return best

    def _ends(self, rows: Rows, listed: int, rare: int) -> tuple[Real, Real]:
        """Both ends of what is listed."""
        counts = _compositions(rare, len(self.chances) - 2)
        tails = _tails(tuple(self.chances.tolist()), self.n, listed, rare)
        logs, own = counts @ np.log(self.chances[2:]), math.log(self.chances[1])
        log_ways = logs - _log_factorials(rare)[counts.astype(np.int64)].sum(axis=1)
        size = abs(float(logs.min(initial=0))) + abs(listed * own) + tails.size
        rounding = _ULP * ((listed + 20) * (size + 1) + len(counts))
        step = max(1, _CELLS_AT_ONCE // len(counts))
        low, high = np.empty(len(rows)), np.empty(len(rows))
        for start in range(0, len(rows), step):
            cut = slice(start, start + step)
            values, errors = self.values[rows[cut]], self.errors[rows[cut]]
            low[cut] = tails.log_mean(log_ways, counts, values - errors) - rounding
            high[cut] = tails.log_mean(log_ways, counts, values + errors) + rounding
        return low, high

    def _log_unlisted(self, rows: Rows, listed: int, common: int) -> Real:
        """Log of what sums with more than `listed` values but the `common` add to the mean."""
        if listed >= self.n or len(self.chances) == common:
            return np.full(len(rows), -math.inf)
        chance = min(1.0, math.fsum(self.chances[common:]))
        largest = self.values[rows, :common].max(axis=1)
        excess = self.values[rows, common:].max(axis=1) - largest
        with np.errstate(divide="ignore"):
            own = math.log(self.n) + np.log(np.maximum(largest, 0))
            own += _log_at_least(listed + 1, self.n, chance)
            more = math.log(self.n * chance) + np.log(np.maximum(excess, 0))
            more += _log_at_least(listed, self.n - 1, chance)
        return np.asarray(np.logaddexp(own, more) + 1e-9)


@dataclass(frozen=True, eq=False)
class _Tails:
    """Tails of the number C of terms of the second value, for each total t of the others.

    All are multiplied with the chance of the total, less its factors of the others' own counts.

    Attributes:
        at_least: log P(c <= C), one row per t and one column per c, up to as many as are listed.
        excess: log E[(C - c)_+].
        at_most: log P(C <= c).
        shortfall: log E[(c - C)_+].
        size: The largest logarithm that was added, for rounding.
        n: The number of terms.
    """

    at_least: Real
    excess: Real
    at_most: Real
    shortfall: Real
    size: float
    n: int

    def log_mean(self, log_ways: Real, counts: Real, values: Real) -> Real:
        """Log of the mean positive part of the sums, one per row of values."""
        total = counts.sum(axis=1)
        others = np.einsum("ij,kj->ik", counts, values[:, 2:])
        slope = values[:, 1] - values[:, 0]
        found = np.empty(len(values))
        for rising in (True, False):
            rows = np.flatnonzero((slope >= 0) == rising)
            if len(rows):
                logs = self._log_parts(others[:, rows], total, values[rows, :2], rising=rising)
                logs += log_ways[:, None]
                most = np.maximum(logs.max(axis=0), -1e300)
                with np.errstate(divide="ignore"):
                    found[rows] = most + np.log(np.exp(logs - most).sum(axis=0))
        return found

    def _log_parts(self, others: Real, total: Real, values: Real, *, rising: bool) -> Real:
        """Log of the mean positive part of `others`, one row per total of them, plus the rest.

        The rest is v_2 C + v_1 (n - total - C): v_2 and v_1 are the two most frequent values, and
        `rising` tells whether v_2 is at least v_1.
        """
        slope, left = np.abs(values[:, 1] - values[:, 0]), self.n - total[:, None]
        ends, sums = (self.at_least, self.excess) if rising else (self.at_most, self.shortfall)
        most = self.at_least.shape[1] - 1
        turn = others + left * values[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.floor(-turn / slope) + 1 if rising else np.ceil(turn / slope) - 1
        near[np.isnan(near)] = 0
        place = np.clip(near, 0, most)
        # What is left is added up as it occurs, since a multiple of the slope would cancel.
        step = others + (left - place) * values[:, 0] + place * values[:, 1]
        size = np.abs(others).max(axis=0) + self.n * np.abs(values).max(axis=1)
        beyond = (place > 0) if rising else (place < most)
        short = (place < most) if rising else (place > 0)
        doubt = (step > slope * (1 - _DOUBT)) & beyond | (step < slope * _DOUBT) & short
        doubt |= size * _ULP > _DOUBT * _DOUBT * slope
        rows, columns = np.nonzero(doubt)
        if len(rows):
            # The division is rounded: the first or the last place around where the sum is positive.
            own, both, around = others[doubt], values[columns], near[doubt]
            found, best = np.zeros(len(rows)), np.full(len(rows), -math.inf)
            for shift in (1, 0, -1) if rising else (-1, 0, 1):
                tried = np.clip(around + shift, 0, most)
                here = own + (left[rows, 0] - tried) * both[:, 0] + tried * both[:, 1]
                found, best = np.where(here > 0, tried, found), np.where(here > 0, here, best)
            place[doubt], step[doubt] = found, best
        at, which = place.astype(np.int64), total.astype(np.int64)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.log(np.maximum(step, 0)) + ends[which, at]
            second = np.log(slope) + sums[which, at]
            logs = _log_sum(first, second)
        logs[~(step > 0)] = -math.inf
        return logs


@lru_cache(maxsize=4)
def _tails(chances: tuple[float, ...], n: int, listed: int, rare: int) -> _Tails:
    """Add up the chances of each total of rare values and each C."""
    others = rare + 1
    total = np.minimum(np.add.outer(np.arange(others), np.arange(listed + 1)), n)
    left = np.log(np.append(1.0, n - np.arange(min(n, others + listed), dtype=np.float64)))
    falling, factorials = np.cumsum(left), _log_factorials(listed)
    log_base = math.log1p(-min(math.fsum(chances[1:]), 1 - _ULP))
    own = np.arange(listed + 1) * math.log(chances[1]) - factorials
    law = falling[total] + own + (n - total) * log_base
    law[np.add.outer(np.arange(others), np.arange(listed + 1)) > n] = -math.inf
    size = float(falling[-1] + factorials[-1] + abs(min(n, others + listed) * log_base))
    size += 1e-3 * n * abs(log_base)  # one product, not a sum
    nothing = np.full((others, 1), -math.inf)
    at_least = _log_sums(law[:, ::-1])
    excess = _log_sums(np.hstack([nothing, at_least[:, :-1]]))
    at_most = _log_sums(law)
    shortfall = _log_sums(np.hstack([nothing, at_most[:, :-1]]))
    return _Tails(at_least[:, ::-1], excess[:, ::-1], at_most, shortfall, size, n)


def _log_sum(first: Real, second: Real) -> Real:
    """Logarithms of e^a + e^b; much quicker than `logaddexp` where numpy has vector instructions.

    >>> _log_sum(np.array([0.0, -np.inf]), np.array([0.0, -np.inf])).tolist()
    [0.6931471805599453, -inf]
    """
    larger = np.maximum(first, second)
    with np.errstate(invalid="ignore"):
        found = larger + np.log1p(np.exp(np.minimum(first, second) - larger))
    found[np.isneginf(larger)] = -math.inf
    return np.asarray(found)


def _log_sums(logs: Real) -> Real:
    """Logarithms of the running sums of every row."""
    if len(logs) < _MANY_ROWS:
        return np.asarray(np.logaddexp.accumulate(logs, axis=1))
    columns = np.ascontiguousarray(logs.T)
    for column in range(1, len(columns)):
        columns[column] = _log_sum(columns[column - 1], columns[column])
    return columns.T


def _log_at_least(count: int, trials: int, chance: float) -> float:
    """Log of P(Bin(trials, chance) >= count), with 1e-10 to spare; by Chernoff if it vanishes."""
    from scipy import special  # noqa: PLC0415 - slow to import, and for small batches only

    if count > trials:
        return -math.inf
    found = float(special.betainc(count, trials - count + 1, chance))
    if found > 1e-300:
        return math.log(found) + 1e-10
    share = count / trials
    divergence = count * math.log(share / chance)
    if share < 1:
        divergence += (trials - count) * (math.log1p(-share) - math.log1p(-chance))
    return -divergence * (1 - 1e-9)


@lru_cache(maxsize=16)
def _log_factorials(most: int) -> Real:
    return np.asarray(np.cumsum(np.log(np.maximum(1.0, np.arange(most + 1.0)))))


@lru_cache(maxsize=16)
def _compositions(most: int, classes: int) -> Real:
    """All rows of `classes` counts that add up to at most `most`."""
    counts = np.zeros((1, 0))
    left = np.array([most])
    for _ in range(classes):
        choices = left + 1
        rows = np.repeat(np.arange(len(left)), choices)
        count = np.arange(choices.sum()) - np.repeat(np.cumsum(choices) - choices, choices)
        counts = np.hstack([counts[rows], count[:, None].astype(np.float64)])
        left = left[rows] - count
    return counts
