"""Large dictionaries, open text and distributions: time, error, coverage, what is found or made up.

Reports of dictionaries and texts are drawn by the mechanisms' own functions and noise, from values
that are hashed once.

Run: python -m benchmarks.unlisted dictionary|coverage|text|poison|distribution|peer
    [--runs N] [--seed S]
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from croupier.model import Grid
from croupier.randomizers import Dictionary, Distribution, KaryRandomizedResponse, Text
from croupier.randomizers.family_hashing import FamilyHashing
from croupier.randomizers.k_rr import kary_response

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def zipf(size: int, exponent: float = 1.1) -> NDArray[np.float64]:
    """The shares of values whose ranks follow Zipf's law."""
    weights = 1 / np.arange(1, size + 1) ** exponent
    return np.asarray(weights / weights.sum())


def made_up_words(rng: np.random.Generator, count: int, longest: int = 12) -> list[str]:
    """Different words of 3 to `longest` letters."""
    words: dict[str, None] = {}
    while len(words) < count:
        for letters in rng.integers(len(LETTERS), size=(count, longest)):
            length = int(rng.integers(3, longest + 1))
            words["".join(LETTERS[each] for each in letters[:length])] = None
    return list(words)[:count]


class Crowd:
    """People with given values, and reports that they send in a batch."""

    def __init__(self, mechanism: FamilyHashing, indices: NDArray[Any]) -> None:
        self.mechanism = mechanism
        family = mechanism.family
        levels = range(mechanism.level_count)
        self.marks = np.stack(
            [
                family.fingerprints(mechanism.messages(indices, np.full(len(indices), level)))
                for level in levels
            ]
        )

    def tally(
        self, rng: np.random.Generator, people: NDArray[np.int64], liars: Sequence[int] = ()
    ) -> NDArray[np.int64]:
        """The tally of the people's reports, and of liars' who support a value at the last level.

        Args:
            rng: The source of the noise.
            people: The place of each person's value.
            liars: The place of the value that each liar supports.
        """
        made = self.mechanism
        rows = rng.integers(made.rows, size=len(people))
        own = made.family.buckets_of(rows, self.marks[rows // made.functions, people])
        draws = rng.integers(1 << 64, size=len(people), dtype=np.uint64)
        buckets = kary_response(own, draws, blanket=made.blanket, k=made.g)
        if len(liars):
            first = made.rows - made.functions
            chosen = first + rng.integers(made.functions, size=len(liars))
            support = made.family.buckets_of(chosen, self.marks[-1, np.asarray(liars)])
            rows, buckets = np.append(rows, chosen), np.append(buckets, support)
        return made.tally(np.stack([rows, buckets], axis=1))


def dictionary(runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """A million people and values: seconds of decoding, error beside fresh hash functions."""
    n = k = 1_000_000
    found = []
    for _ in range(runs):
        made = Dictionary(k=k, max_epsilon_local=4.0).in_batches((rng.bytes(32),))
        people = rng.choice(k, size=n, p=zipf(k))
        tally = Crowd(made, np.arange(k)).tally(rng, people)
        started, busy = time.perf_counter(), time.process_time()
        estimate = made.estimate_tally(tally, n)
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        error = estimate.points - np.bincount(people, minlength=k) / n
        ratio = float(np.sqrt((error**2).mean())) / made.rms_error(n)
        found.append({"seconds": seconds, "processor_seconds": busy, "error_ratio": ratio})
    return {"runs": found}


def coverage(runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Coverage of intervals of 95 %, 100,000 people and 10,000 values."""
    n, k = 100_000, 10_000
    found = []
    for _ in range(runs):
        made = Dictionary(k=k, max_epsilon_local=4.0).in_batches((rng.bytes(32),))
        people = rng.choice(k, size=n, p=zipf(k))
        estimate = made.estimate_tally(Crowd(made, np.arange(k)).tally(rng, people), n)
        truth = np.bincount(people, minlength=k) / n
        inside = (estimate.lower <= truth) & (truth <= estimate.upper)
        found.append([inside.mean(), inside[:20].mean(), inside[20:200].mean()])
    every, most, next_ = np.mean(found, axis=0).tolist()
    return {"all": every, "20 most frequent": most, "next 180": next_, "runs": runs}


def text(runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """A million people, 100,000 words: which are found of those above 8 standard errors."""
    n, size = 1_000_000, 100_000
    missed, false, found, wanted, inside, shown = 0, 0, 0, 0, 0, 0
    complete = 0
    seconds = []
    for _ in range(runs):
        made = Text(longest=12, alphabet=LETTERS, max_epsilon_local=6.0)
        made = made.in_batches((rng.bytes(32),))
        words = made_up_words(rng, size)
        people = rng.choice(size, size=n, p=zipf(size))
        crowd = Crowd(made, made.domain.encode(np.array(words, dtype=object)))
        tally = crowd.tally(rng, people)
        started = time.perf_counter()
        estimate = made.estimate_tally(tally, n)
        seconds.append(time.perf_counter() - started)
        truth = dict(zip(words, (np.bincount(people, minlength=size) / n).tolist(), strict=True))
        above = {word for word, share in truth.items() if share > 8 * made.rms_error(n)}
        missing = above - set(estimate.values)
        missed, wanted, complete = (
            missed + len(missing),
            wanted + len(above),
            complete + (not missing),
        )
        false += sum(truth.get(str(word), 0.0) == 0 for word in estimate.values)
        shown += len(estimate.values)
        found += len(above) - len(missing)
        ends = zip(estimate.values, estimate.lower, estimate.upper, strict=True)
        inside += sum(
            all(low <= truth.get(str(word), 0.0) <= high for word, low, high in [e]) for e in ends
        )
    return {
        "runs": runs,
        "runs that found all": complete,
        "wanted": wanted,
        "missed": missed,
        "shown": shown,
        "false": false,
        "intervals that hold": inside,
        "seconds": float(np.median(seconds)),
    }


def poison(runs: int, rng: np.random.Generator, tries: int = 1 << 24) -> dict[str, Any]:
    """Texts ground against the functions, and 1 % of liars at the last level."""
    n, size = 200_000, 2_000
    words = made_up_words(rng, size)
    truth_law = zipf(size)
    whole = Text(longest=12, levels=(12,), alphabet=LETTERS, max_epsilon_local=4.0)
    whole = whole.in_batches((rng.bytes(32),))
    ground = _ground(whole, words[:50], truth_law[:50], tries, rng)
    crowd = Crowd(whole, whole.domain.encode(np.array(words + ground, dtype=object)))
    false = 0
    for _ in range(runs):
        people = rng.choice(size, size=n, p=truth_law)
        estimate = whole.find(crowd.tally(rng, people), n, listed=words + ground)
        false += len(set(map(str, estimate.values)) & set(ground))
    walk = Text(longest=12, alphabet=LETTERS, max_epsilon_local=4.0).in_batches((rng.bytes(32),))
    target = words[0][:-1] + ("a" if words[0][-1] != "a" else "b")
    every = [*words, target]
    crowd = Crowd(walk, walk.domain.encode(np.array(every, dtype=object)))
    shifts, stated, unmarked = [], 0.0, 0
    for _ in range(max(1, runs // 4)):
        liars = n // 100
        people = rng.choice(size, size=n - liars, p=truth_law)
        estimate = walk.find(crowd.tally(rng, people, [size] * liars), n, listed=[target])
        shares = dict(zip(estimate.values, estimate.points.tolist(), strict=True))
        shifts.append(shares.get(target, 0.0))
        reach = dict(zip(estimate.values, estimate.moved_by_one.tolist(), strict=True))
        stated = max(stated, liars * reach.get(target, 0.0))
        doubtful = dict(zip(estimate.values, estimate.doubtful(liars), strict=True))
        unmarked += sum(not doubt for word, doubt in doubtful.items() if word not in words)
    return {
        "runs": runs,
        "tries": tries,
        "ground texts": len(ground),
        "false texts, ground": false,
        "share made up by liars": float(np.mean(shifts)),
        "worst shift stated": stated,
        "made-up texts not marked as doubtful": unmarked,
    }


LATENCY = Grid(0, 1023, 1)
LEVELS = (0.5, 0.9, 0.99)


def latencies(rng: np.random.Generator, people: int) -> NDArray[np.int64]:
    """Milliseconds of a skewed law: half up to 90, one in a hundred above 459."""
    drawn = np.rint(rng.lognormal(4.5, 0.7, people))
    return np.clip(drawn, 0, LATENCY.size - 1).astype(np.int64)


def _true_quantiles(places: NDArray[np.int64]) -> list[int]:
    below = np.cumsum(np.bincount(places, minlength=LATENCY.size)) / len(places)
    return [int(np.argmax(below >= level)) for level in LEVELS]


def _from_list(points: NDArray[np.float64]) -> list[int]:
    """The quantiles of shares that were estimated one by one, by the nearest rising curve."""
    sums = np.cumsum(points + (1 - points.sum()) / len(points))
    below = isotonic_regression(np.clip(sums, 0.0, 1.0)).x
    return [int(np.argmax(below >= min(level, below[-1]))) for level in LEVELS]


def distribution(runs: int, rng: np.random.Generator, n: int = 100_000) -> dict[str, Any]:
    """Quantiles of 100,000 people over 1,024 bins beside k-rr, and how often intervals hold."""
    found: dict[str, Any] = {"runs": runs, "people": n}
    for epsilon in (1.0, 4.0):
        tree = Distribution(grid=LATENCY, max_epsilon_local=epsilon)
        flat = KaryRandomizedResponse(k=LATENCY.size, max_epsilon_local=epsilon)
        ours, theirs, widths = [], [], []
        held = dict.fromkeys(("quantiles, each", "quantiles", "curve", "histogram", "mean"), 0.0)
        for _ in range(runs):
            places = latencies(rng, n)
            truth = np.array(_true_quantiles(places))
            estimate = tree.estimate(tree.randomize(places))
            quantiles, curve = estimate.quantiles(*LEVELS), estimate.curve
            inside = [q.lower <= true <= q.upper for q, true in zip(quantiles, truth, strict=True)]
            ours.append([q.value for q in quantiles] - truth)
            widths.append([q.upper - q.lower for q in quantiles])
            theirs.append(_from_list(flat.estimate(flat.randomize(places)).points) - truth)
            shares = np.bincount(places, minlength=LATENCY.size) / n
            below = np.cumsum(shares)
            held["quantiles, each"] += sum(inside) / len(inside)
            held["quantiles"] += all(inside)
            held["curve"] += bool(
                ((curve.lower <= below + 1e-12) & (below <= curve.upper + 1e-12)).all()
            )
            held["histogram"] += bool(
                ((estimate.lower <= shares) & (shares <= estimate.upper)).all()
            )
            held["mean"] += estimate.mean.lower <= places.mean() <= estimate.mean.upper
        found[f"epsilon_local {epsilon:g}"] = {
            "error of p50, p90, p99": _rms(ours),
            "k-rr over the same bins": _rms(theirs),
            "width of intervals, median": np.median(widths, axis=0).tolist(),
            "intervals that hold": {name: count / runs for name, count in held.items()},
        }
    return found


def peer(runs: int, rng: np.random.Generator, n: int = 100_000) -> dict[str, Any]:
    """The same quantiles from subset selection of multi-freq-ldpy, its least noisy oracle."""
    oracle = import_module("multi_freq_ldpy.pure_frequency_oracles.SS")
    found: dict[str, Any] = {"runs": runs, "people": n}
    for epsilon in (1.0, 4.0):
        tree = Distribution(grid=LATENCY, max_epsilon_local=epsilon)
        ours, theirs = [], []
        for _ in range(runs):
            places = latencies(rng, n)
            truth = np.array(_true_quantiles(places))
            estimate = tree.estimate(tree.randomize(places))
            ours.append([q.value for q in estimate.quantiles(*LEVELS)] - truth)
            reports = [oracle.SS_Client(place, LATENCY.size, epsilon) for place in places.tolist()]
            shares = oracle.SS_Aggregator_MI(reports, LATENCY.size, epsilon)
            theirs.append(_from_list(shares) - truth)
        found[f"epsilon_local {epsilon:g}"] = {
            "error of p50, p90, p99": _rms(ours),
            "multi-freq-ldpy": _rms(theirs),
        }
    return found


def _rms(errors: Sequence[Any]) -> list[float]:
    return np.sqrt(np.mean(np.square(errors), axis=0)).round(2).tolist()  # type: ignore[no-any-return]


def _ground(
    made: Text, words: list[str], shares: NDArray[np.float64], tries: int, rng: np.random.Generator
) -> list[str]:
    """The 200 of many random texts that share buckets with the most people's words."""
    from croupier.randomizers.estimates.family_fit import add_up  # noqa: PLC0415 - as the fit does

    family = made.family
    known = made.domain.encode(np.array(words, dtype=object))
    marks = family.fingerprints(made.messages(known, np.zeros(len(known), dtype=np.int64)))
    functions = np.arange(made.functions)[:, None]
    buckets = family.buckets_of(functions, marks)
    table = np.zeros((made.functions, made.g))
    np.add.at(table, (np.broadcast_to(functions, buckets.shape), buckets), shares)
    best: list[tuple[float, bytes]] = []
    step = 1 << 19
    for _ in range(max(1, tries // step)):
        letters = rng.integers(1, 27, size=(step, 12))
        own = family.fingerprints(made.messages(letters, np.zeros(step, dtype=np.int64)))
        score = np.zeros(step)
        add_up([table], family.words, own, into=[score])
        top = np.argpartition(-score, 200)[:200]
        best += [(float(score[each]), letters[each].tobytes()) for each in top]
        best = sorted(best, reverse=True)[:200]
    return [made.domain.decode(np.frombuffer(data, dtype=np.int64).tolist()) for _, data in best]


PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "dictionary": dictionary,
    "coverage": coverage,
    "text": text,
    "poison": poison,
    "distribution": distribution,
    "peer": peer,
}
RUNS = {
    "dictionary": 3,
    "coverage": 200,
    "text": 40,
    "poison": 40,
    "distribution": 200,
    "peer": 3,
}


def main() -> None:
    """Run one part and print its figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    print(json.dumps(PARTS[given.part](given.runs or RUNS[given.part], rng), indent=2))


if __name__ == "__main__":
    main()
