"""Writes the vectors of the randomizers, ``randomizers.json``, to the standard output.

The integers and the responses are written here a second time, from docs/wire.md alone, with an
exponential of 200 digits. Nothing of croupier is used.
"""

import decimal
import hashlib
import itertools
import json
import math
import sys
from fractions import Fraction

WORD = 1 << 64
LARGEST_PRIME = 2_642_239
decimal.getcontext().prec = 200


def least_weight(numerator, epsilon, *, times=Fraction(1), plus):
    """The least integer of at least numerator / (times e^epsilon + plus)."""
    exact = decimal.Decimal(epsilon.numerator) / decimal.Decimal(epsilon.denominator)
    power = Fraction(exact.exp())
    found = {
        math.ceil(numerator / (times * power * (1 + Fraction(sign, 10**150)) + plus))
        for sign in (-1, 1)
    }
    (weight,) = found  # e^epsilon is irrational: both ends give one integer
    return weight


def epsilon_of(own):
    return Fraction(own["max_epsilon_local"])


def size_of(own):
    return len(own["labels"]) if "labels" in own else own["k"]


def denominator_of(own):
    return own.get("denominator", WORD)


class KRR:
    def __init__(self, own):
        self.k, self.denominator = size_of(own), denominator_of(own)
        self.blanket = least_weight(self.denominator, epsilon_of(own), plus=self.k - 1)
        self.weights = [self.denominator - (self.k - 1) * self.blanket, self.blanket]
        self.draw_bounds, self.bounds = [self.denominator], [self.k]

    def respond(self, index, draws):
        return [draws[0] // self.blanket if draws[0] < self.k * self.blanket else index]


class Unary:
    def __init__(self, own):
        k, self.denominator = size_of(own), denominator_of(own)
        if own["mechanism"] == "symmetric-unary":
            flip = least_weight(self.denominator, epsilon_of(own) / 2, plus=1)
            self.weights = [self.denominator - flip, flip]
        else:
            half = (self.denominator + 1) // 2
            rest = Fraction(self.denominator - half, half)
            self.weights = [
                half,
                least_weight(self.denominator, epsilon_of(own), times=rest, plus=1),
            ]
        self.draw_bounds, self.bounds = [self.denominator] * k, [2] * k

    def respond(self, index, draws):
        own, other = self.weights
        return [int(draw < (own if at == index else other)) for at, draw in enumerate(draws)]


class LocalHashing:
    def __init__(self, own):
        self.prime, self.denominator = own.get("prime", LARGEST_PRIME), denominator_of(own)
        best = min(round(math.exp(own["max_epsilon_local"]) + 1), self.prime)
        self.g = own.get("buckets", best)
        self.blanket = least_weight(self.denominator, epsilon_of(own), plus=self.g - 1)
        self.weights = [self.denominator - (self.g - 1) * self.blanket, self.blanket]
        self.draw_bounds = [self.prime**3, self.denominator]
        self.bounds = [self.prime**3, self.g]

    def respond(self, index, draws):
        seed, draw = draws
        terms = [seed // self.prime**power % self.prime * index**power for power in range(3)]
        own = sum(terms) % self.prime % self.g
        return [seed, draw // self.blanket if draw < self.g * self.blanket else own]


class OneBitMean:
    def __init__(self, own):
        grid, self.denominator = own["grid"], denominator_of(own)
        last = round((grid["high"] - grid["low"]) / grid["step"])
        least = least_weight(self.denominator, epsilon_of(own), plus=1)
        span = self.denominator - 2 * least
        # b + (i/m)(D - 2b), halves rounded up.
        self.weights = [
            math.floor(least + Fraction(at * span, last) + Fraction(1, 2)) for at in range(last + 1)
        ]
        self.draw_bounds, self.bounds = [self.denominator], [2]

    def respond(self, index, draws):
        return [int(draws[0] >= self.denominator - self.weights[index])]


class Plain:
    """The value itself: one draw, always 0, decides nothing."""

    def __init__(self, own):
        self.weights, self.draw_bounds, self.bounds = [1, 0], [1], [size_of(own)]

    def respond(self, index, draws):  # noqa: ARG002 - nothing is random
        return [index]


MECHANISMS = {
    "plain": Plain,
    "k-rr": KRR,
    "symmetric-unary": Unary,
    "optimized-unary": Unary,
    "local-hashing": LocalHashing,
    "one-bit-mean": OneBitMean,
}
EPSILONS = [0.001, 0.1, 1 / 3, 0.5, 1.0, math.log(3), 2.0, 2.5, 4.0, 7.3, 12.0, 19.999, 20.0]
GRIDS = [{"low": 0.0, "high": 1.0, "step": 0.25}, {"low": -1.0, "high": 1.0, "step": 0.1}]


def specifications():
    for epsilon in EPSILONS:
        rest = {"max_epsilon_local": epsilon}
        for k in (2, 10, 1000):
            yield {"mechanism": "k-rr", "k": k} | rest
        yield {"mechanism": "k-rr", "k": 2**20} | rest
        yield {"mechanism": "k-rr", "labels": ["no", "yes", "ask \u2603 later"]} | rest
        yield {"mechanism": "symmetric-unary", "k": 5} | rest
        yield {"mechanism": "optimized-unary", "k": 5} | rest
        yield {"mechanism": "optimized-unary", "k": 5, "denominator": WORD - 1} | rest
        yield {"mechanism": "local-hashing", "k": 100} | rest
        yield {"mechanism": "local-hashing", "k": 2000, "buckets": 16} | rest
        for grid in GRIDS:
            yield {"mechanism": "one-bit-mean", "grid": grid} | rest
    for k in (2, 10, 100_000):
        yield {"mechanism": "plain", "k": k}
    yield {"mechanism": "plain", "labels": ["no", "yes", "ask \u2603 later"]}


def integers():
    """The weights of every specification, and a few responses at draws that any client can make."""
    for own in specifications():
        made = MECHANISMS[own["mechanism"]](own)
        size = len(made.weights) if own["mechanism"] == "one-bit-mean" else size_of(own)
        responses = []
        for number, index in enumerate((0, size // 2, size - 1)):
            text = json.dumps([own, number], sort_keys=True).encode()
            seeds = (
                hashlib.sha512(text + bytes([at])).digest() for at in range(len(made.draw_bounds))
            )
            draws = [
                int.from_bytes(seed, "big") % bound
                for seed, bound in zip(seeds, made.draw_bounds, strict=True)
            ]
            responses.append({"index": index, "draws": draws, "report": made.respond(index, draws)})
        yield {
            "specification": own,
            "weights": made.weights,
            "draw_bounds": made.draw_bounds,
            "bounds": made.bounds,
            "responses": responses,
        }


SMALL = [
    {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0, "denominator": 101},
    {"mechanism": "k-rr", "k": 5, "max_epsilon_local": 2.0, "denominator": 256},
    {"mechanism": "symmetric-unary", "k": 3, "max_epsilon_local": 2.0, "denominator": 16},
    {"mechanism": "symmetric-unary", "k": 2, "max_epsilon_local": 1.5, "denominator": 61},
    {"mechanism": "optimized-unary", "k": 3, "max_epsilon_local": 1.0, "denominator": 17},
    {"mechanism": "optimized-unary", "k": 4, "max_epsilon_local": 2.0, "denominator": 16},
    {
        "mechanism": "local-hashing",
        "k": 4,
        "max_epsilon_local": 1.0,
        "denominator": 16,
        "prime": 5,
        "buckets": 3,
    },
    {"mechanism": "local-hashing", "k": 3, "max_epsilon_local": 0.9, "denominator": 13, "prime": 7},
    {"mechanism": "one-bit-mean", "grid": GRIDS[0], "max_epsilon_local": 1.0, "denominator": 256},
    {"mechanism": "plain", "k": 4},
]


def law(own):
    """For every value, how many rows of draws lead to each report."""
    made = MECHANISMS[own["mechanism"]](own)
    size = len(made.weights) if own["mechanism"] == "one-bit-mean" else size_of(own)
    rows = [{} for _ in range(size)]
    for draws in itertools.product(*map(range, made.draw_bounds)):
        for index, row in enumerate(rows):
            report = tuple(made.respond(index, draws))
            row[report] = row.get(report, 0) + 1
    reports = sorted(set().union(*rows))
    return {
        "specification": own,
        "draw_bounds": made.draw_bounds,
        "reports": reports,
        "weights": [[row.get(report, 0) for report in reports] for row in rows],
    }


PARALLEL = {"queries": [SMALL[0] | {"denominator": 16}, SMALL[2]], "weights_of_queries": [1, 3]}


def parallel_law():
    """Of two questions: which is drawn, then its answer, padded with zeros."""
    laws = [law(own) for own in PARALLEL["queries"]]
    longest = max(len(entry["draw_bounds"]) for entry in laws)
    chances = PARALLEL["weights_of_queries"]
    draw_bounds = [sum(chances), *[16] * longest]  # questions share their draws
    width = max(len(entry["reports"][0]) for entry in laws)
    reports, columns = [], []
    for place, (entry, weight) in enumerate(zip(laws, chances, strict=True)):
        unused = 16 ** (longest - len(entry["draw_bounds"]))
        for at, report in enumerate(entry["reports"]):
            reports.append([place, *report, *[0] * (width - len(report))])
            columns.append((place, [weight * unused * row[at] for row in entry["weights"]]))
    values = [*itertools.product(*(range(len(entry["weights"])) for entry in laws))]
    weights = [[column[value[place]] for place, column in columns] for value in values]
    return PARALLEL | {
        "draw_bounds": draw_bounds,
        "values": values,
        "reports": reports,
        "weights": weights,
    }


LABELS = {"mechanism": "k-rr", "labels": ["no", "yes", 7, 2**60], "max_epsilon_local": 1.0}
TEN = {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 1.0}
FINE = {"mechanism": "one-bit-mean", "grid": GRIDS[0], "max_epsilon_local": 1.0}
VALUES = [
    (TEN, [(0, 0), (9, 9), (10, None), (-1, None), (2.5, None), ("1", None)]),
    (LABELS, [("no", 0), ("yes", 1), (7, 2), (2**60, 3), (2**60 + 1, None), ("7", None)]),
    # Halves go to the even point; beyond the ends is the end.
    (FINE, [(0.3, 1), (0.125, 0), (0.375, 2), (0.625, 2), (7, 4), (-1e300, 0), ("1", None)]),
    ({"mechanism": "plain", "k": 3}, [(0, 0), (2, 2), (3, None), (-1, None), (1.5, None)]),
]


REFUSED = [
    {"mechanism": "k-rr", "k": 2**40, "max_epsilon_local": 1.0},  # no weights over 2^64 express it
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 0.0},
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 20.5},
    {"mechanism": "k-rr", "k": 1, "max_epsilon_local": 1.0},
    {"mechanism": "k-rr", "k": 3, "labels": ["a", "b", "c"], "max_epsilon_local": 1.0},
    {"mechanism": "k-rr", "labels": ["a", "b", "a"], "max_epsilon_local": 1.0},
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 1.0, "more": 1},
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 1.0, "denominator": 2**64 + 1},
    {"mechanism": "symmetric-unary", "k": 3, "max_epsilon_local": 0.001, "denominator": 16},
    {"mechanism": "optimized-unary", "k": 3, "max_epsilon_local": 0.001, "denominator": 16},
    {"mechanism": "local-hashing", "k": 10, "max_epsilon_local": 1.0, "prime": 15},
    {"mechanism": "local-hashing", "k": 10, "max_epsilon_local": 1.0, "prime": 7},
    {"mechanism": "local-hashing", "k": 10, "max_epsilon_local": 1.0, "buckets": 1},
    {
        "mechanism": "one-bit-mean",
        "grid": {"low": 0, "high": 1, "step": 0.3},
        "max_epsilon_local": 1.0,
    },
    {
        "mechanism": "one-bit-mean",
        "grid": {"low": 1, "high": 0, "step": 0.5},
        "max_epsilon_local": 1.0,
    },
    {"mechanism": "one-bit-mean", "grid": GRIDS[0], "max_epsilon_local": 0.001, "denominator": 16},
    {"mechanism": "a-new-one", "k": 10, "max_epsilon_local": 1.0},
    {"mechanism": "plain", "k": 1},
    {"mechanism": "plain", "k": 3, "labels": ["a", "b", "c"]},
    {"mechanism": "plain", "k": 10, "max_epsilon_local": 1.0},
]


def vectors():
    return {
        "format": "croupier randomizers, version 1",
        "integers": [*integers()],
        "refused": [{"specification": own} for own in REFUSED],
        "laws": [law(own) for own in SMALL],
        "parallel": parallel_law(),
        "values": [
            {"specification": own, "value": value, "index": index}
            for own, pairs in VALUES
            for value, index in pairs
        ],
    }


def text():
    """One entry a line."""
    entries = vectors()
    lines = []
    for name, value in entries.items():
        if isinstance(value, list):
            body = ",\n".join(json.dumps(entry) for entry in value)
            lines.append(f"{json.dumps(name)}: [\n{body}\n]")
        else:
            lines.append(f"{json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(text())
