"""Writes the vectors of the randomizers, ``randomizers.json``, to the standard output.

The integers and the responses are written here a second time, from docs/wire.md alone, with an
exponential of 200 digits. Nothing of croupier is used. Sums of doubles go from left to right, in
loops: since Python 3.12 `sum` rounds otherwise.
"""

import decimal
import functools
import hashlib
import itertools
import json
import math
import sys
import unicodedata
from fractions import Fraction

WORD = 1 << 64
LARGEST_PRIME = 2_642_239
decimal.getcontext().prec = 200


def power_of_e(exponent):
    """A fraction that agrees with the power in more than 150 digits."""
    return Fraction((decimal.Decimal(exponent.numerator) / exponent.denominator).exp())


def least_weight(numerator, epsilon, *, times=Fraction(1), plus):
    """The least integer of at least numerator / (times e^epsilon + plus)."""
    power = power_of_e(epsilon)
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


def nearest_buckets(own):
    return round(power_of_e(epsilon_of(own)) + 1)


class KRR:
    def __init__(self, own):
        self.k, self.denominator = size_of(own), denominator_of(own)
        self.blanket = least_weight(self.denominator, epsilon_of(own), plus=self.k - 1)
        self.weights = [self.denominator - (self.k - 1) * self.blanket, self.blanket]
        self.draw_bounds, self.bounds = [self.denominator], [self.k]

    def respond(self, index, draws):
        return [draws[0] // self.blanket if draws[0] < self.k * self.blanket else index]


class MemoisedKRR:
    """k-RR of the value, which is kept, and k-RR of that."""

    def __init__(self, own):
        self.k, self.denominator = size_of(own), denominator_of(own)
        permanent = Fraction(own["max_epsilon_permanent"])
        first = least_weight(self.denominator, permanent, plus=self.k - 1)
        self.weights = [first, self.second(first, epsilon_of(own))]
        self.draw_bounds, self.bounds = [self.denominator] * 2, [self.k]

    def second(self, first, epsilon):
        found = set()
        for sign in (-1, 1):
            power = power_of_e(epsilon) * (1 + Fraction(sign, 10**150))
            gap = 1 - (self.k - 1 + power) * Fraction(first, self.denominator)
            found.add(math.ceil(self.denominator * gap / (power - 1 + self.k * gap)))
        (weight,) = found
        return weight

    def respond(self, index, draws):
        for weight, draw in zip(self.weights, draws, strict=True):
            index = draw // weight if draw < self.k * weight else index
        return [index]


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
        self.g = own.get("buckets", min(nearest_buckets(own), self.prime))
        self.blanket = least_weight(self.denominator, epsilon_of(own), plus=self.g - 1)
        self.weights = [self.denominator - (self.g - 1) * self.blanket, self.blanket]
        self.draw_bounds = [self.prime**3, self.denominator]
        self.bounds = [self.prime**3, self.g]

    def respond(self, index, draws):
        seed, draw = draws
        terms = [seed // self.prime**power % self.prime * index**power for power in range(3)]
        own = sum(terms) % self.prime % self.g
        return [seed, draw // self.blanket if draw < self.g * self.blanket else own]


class OfABatch:
    """k-RR over the bucket of a message, under a function that the name of the batch gives."""

    def __init__(self, own, levels, batch):
        self.functions, self.denominator = own.get("functions", 1024), denominator_of(own)
        self.g = own.get("buckets", min(nearest_buckets(own), 4096))
        self.blanket = least_weight(self.denominator, epsilon_of(own), plus=self.g - 1)
        self.weights = [self.denominator - (self.g - 1) * self.blanket, self.blanket]
        self.draw_bounds = [levels * self.functions, self.denominator]
        self.bounds = [levels * self.functions, self.g]
        self.seed = hashlib.sha256(b"croupier hash family v1" + batch).digest()

    def numbers(self, kind, content, size):
        digest = hashlib.sha256(self.seed + kind + content).digest()
        return [int.from_bytes(digest[at : at + size], "big") for at in range(0, 24, size)]

    def respond(self, index, draws):
        function, draw = draws
        x1, x0, *_ = self.numbers(b"\0", self.message(index, function // self.functions), 4)
        a1, a0, c = self.numbers(b"\1", function.to_bytes(4, "big"), 8)
        own = (a1 * x1 + a0 * x0 + c) % 2**64 // 2**32 * self.g // 2**32
        return [function, draw // self.blanket if draw < self.g * self.blanket else own]


class Dictionary(OfABatch):
    def __init__(self, own, batch):
        super().__init__(own, 1, batch)

    def message(self, index, level):  # noqa: ARG002 - there is one
        return index.to_bytes(8, "big")


class Text(OfABatch):
    def __init__(self, own, batch):
        self.longest, alphabet = own["longest"], own.get("alphabet")
        self.normalisation = own.get("normalisation")
        self.letters = [*range(256)] if alphabet is None else [*alphabet]
        first, step = (
            next(n for n in itertools.count(1) if (len(self.letters) + 1) ** (n + 1) > most)
            for most in (100_000, 1000)
        )
        self.levels = own.get("levels", [*range(first, self.longest, step), self.longest])
        super().__init__(own, len(self.levels), batch)

    def index(self, value):
        """The places of the letters, and zeros; an error for a value that is refused."""
        if not isinstance(value, str):
            raise TypeError
        if self.normalisation in {"lower", "nfc"}:
            value = value.strip(" ")
        if self.normalisation == "lower":
            value = "".join(chr(ord(sign) + 32) if "A" <= sign <= "Z" else sign for sign in value)
        if self.normalisation == "nfc":
            value = unicodedata.normalize("NFC", value)
        signs = value.encode("utf-8") if self.letters[0] == 0 else value
        own = [self.letters.index(sign) + 1 for sign in signs[: self.longest]]
        return [*own, *[0] * (self.longest - len(own))]

    def message(self, index, level):
        entries = [level, *index[: self.levels[level]]]
        return b"".join(entry.to_bytes(2, "big") for entry in entries)


class Distribution:
    """Parallel questions about the node of a number, one per level; or the number itself."""

    def __init__(self, own):
        size, fanout = last_point(own) + 1, own.get("fanout", 4)
        self.sizes, self.parts = [size], []
        if "max_epsilon_local" not in own:
            self.weights, self.draw_bounds, self.bounds = [1, 0], [1], [size]
            return
        while self.sizes[0] > 2 * fanout:
            self.sizes.insert(0, math.ceil(Fraction(self.sizes[0], fanout)))
        self.widths = [fanout**above for above in reversed(range(len(self.sizes)))]
        for k in self.sizes:
            made = KRR if k <= 3 * nearest_buckets(own) else LocalHashing
            self.parts.append(made(own | {"k": k}))
        self.weights = [weight for part in self.parts for weight in part.weights]
        # In the order of their first use; no level takes two draws below one bound.
        self.shared = [*dict.fromkeys(bound for part in self.parts for bound in part.draw_bounds)]
        self.draw_bounds = [len(self.parts), *self.shared]
        places = itertools.zip_longest(*(part.bounds for part in self.parts), fillvalue=0)
        self.bounds = [len(self.parts), *map(max, places)]

    def respond(self, index, draws):
        if not self.parts:
            return [index]
        level, *rest = draws
        drawn = dict(zip(self.shared, rest, strict=True))
        own = [drawn[bound] for bound in self.parts[level].draw_bounds]
        answer = self.parts[level].respond(index // self.widths[level], own)
        return [level, *answer, *[0] * (len(self.bounds) - 1 - len(answer))]


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


class Hadamard:
    """A column that is positive in the row of the value, or one that is negative there."""

    def __init__(self, own):
        self.denominator = denominator_of(own)
        miss = least_weight(self.denominator, epsilon_of(own), plus=1)
        self.weights = [self.denominator - miss, miss]
        columns = next(2**n for n in range(64) if 2**n > size_of(own))
        self.draw_bounds, self.bounds = [self.denominator, columns], [columns]

    def respond(self, index, draws):
        side, column = draws
        row = index + 1
        is_negative = (row & column).bit_count() % 2 == 1
        lowest = next(2**n for n in range(64) if row >> n & 1)
        return [column if is_negative == (side < self.weights[1]) else column ^ lowest]


class SubsetSelection:
    def __init__(self, own):
        self.k, self.denominator = size_of(own), denominator_of(own)
        best = max(1, round(self.k / (power_of_e(epsilon_of(own)) + 1)))
        self.d = own.get("subset_size", best)
        rest = self.k - self.d
        ratio = Fraction(self.d, rest)
        miss = least_weight(self.denominator, epsilon_of(own), times=ratio, plus=1)
        self.weights = [self.denominator - miss, miss]
        self.draw_bounds = [self.denominator, *(self.k - 1 - at for at in range(self.d))]
        self.bounds = [self.k] * self.d

    def respond(self, index, draws):
        others = [category for category in range(self.k) if category != index]
        for place, draw in enumerate(draws[1:]):
            others[place], others[place + draw] = others[place + draw], others[place]
        included = draws[0] >= self.weights[1]
        return sorted([*others[: self.d - 1], index if included else others[self.d - 1]])


class Rappor:
    def __init__(self, own):
        self.denominator = denominator_of(own)
        labels = own.get("labels", range(size_of(own)))
        hashes = [
            [
                int.from_bytes(
                    hashlib.sha256(f"croupier rappor v1{at} {label!r}".encode()).digest(), "big"
                )
                for at in range(own.get("hashes", 2))
            ]
            for label in labels
        ]
        bits = own.get("bits")
        if bits is None:
            bits = next(2**n for n in range(64) if 2**n >= 4 * len(labels))
            while not independent([{hash_ % bits for hash_ in one} for one in hashes]):
                bits *= 2
        self.filters = [{hash_ % bits for hash_ in one} for one in hashes]
        pairs = itertools.combinations(self.filters, 2)
        distance = max(len(one ^ other) for one, other in pairs)
        flip = least_weight(self.denominator, epsilon_of(own) / distance, plus=1)
        self.weights = [self.denominator - flip, flip]
        self.draw_bounds, self.bounds = [self.denominator] * bits, [2] * bits

    def respond(self, index, draws):
        flip = self.weights[1]
        return [(at in self.filters[index]) ^ int(draw < flip) for at, draw in enumerate(draws)]


def independent(filters):
    """Exactly, by elimination in fractions."""
    rows = [{at: Fraction(1) for at in own} for own in filters]
    while rows:
        first, *rows = rows
        if not first:
            return False
        at, pivot = next(iter(first.items()))
        for row in rows:
            if at in row:
                times = row[at] / pivot
                for column, entry in first.items():
                    row[column] = row.get(column, 0) - times * entry
                    if row[column] == 0:
                        del row[column]
    return True


class SampledSign:
    def __init__(self, own):
        self.dimension, self.denominator = own["dimension"], denominator_of(own)
        self.blanket = least_weight(self.denominator, epsilon_of(own), plus=1)
        self.weights = [self.denominator - self.blanket, self.blanket]
        self.draw_bounds = [self.dimension, self.denominator]
        self.bounds = [self.dimension, 2]

    def respond(self, index, draws):
        place, draw = draws
        sign = draw // self.blanket if draw < 2 * self.blanket else index[place]
        return [place, sign]


class Table:
    """A row of weights for each value; the draw picks an output by their running sums."""

    def __init__(self, rows, denominator):
        self.rows, self.denominator = rows, denominator
        if not all(sum(row) == denominator and min(row) >= 0 for row in rows):
            raise ValueError(rows)
        self.draw_bounds, self.bounds = [denominator], [len(rows[0])]

    def respond(self, index, draws):
        ends = itertools.accumulate(self.rows[index])
        return [next(at for at, end in enumerate(ends) if draws[0] < end)]

    def epsilon(self):
        """The least double that is at least ln of the largest ratio in a column."""
        columns = [(max(column), min(column)) for column in zip(*self.rows, strict=True)]
        worst = max(Fraction(most, least) for most, least in columns if most)
        exact = Fraction((decimal.Decimal(worst.numerator) / worst.denominator).ln())
        nearest = float(exact)
        return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)

    def has_at_most(self, epsilon):
        """Tell if no two entries of a column differ by more than a factor of e^epsilon."""
        columns = [(max(column), min(column)) for column in zip(*self.rows, strict=True)]
        return all(Fraction(most, least) <= power_of_e(epsilon) for most, least in columns)


def laplace(own):
    denominator, last = denominator_of(own), last_point(own)
    ratio = power_of_e(-epsilon_of(own) / last)
    tails = [math.ceil(denominator * ratio**at / (1 + ratio)) for at in range(last + 1)]
    rows = []
    for value in range(last + 1):
        # The chances of at least and of at most each output, then their differences.
        above = [at_least(tails, denominator, output - value) for output in range(1, last + 1)]
        ends = [denominator, *above, 0]
        rows.append([ends[output] - ends[output + 1] for output in range(last + 1)])
    return Table(rows, denominator)


def at_least(tails, denominator, distance):
    """The weight of noise of at least a distance, which may be negative."""
    return tails[distance] if distance > 0 else denominator - tails[1 - distance]


def last_point(own):
    grid = own["grid"]
    return round((grid["high"] - grid["low"]) / grid["step"])


def ordered_sum(entries):
    total = 0.0
    for entry in entries:
        total += entry
    return total


@functools.cache
def portable_exp(exponent):
    """The exponential of docs/wire.md."""
    if exponent < -690.0:
        return 0.0
    doublings = round(exponent * 1.4426950408889634)
    rest = (exponent - doublings * 0.6931471803691238) - doublings * 1.9082149292705877e-10
    series = 1.0
    for term in range(14, 0, -1):
        series = 1.0 + rest * series / term
    return series * 2.0**doublings


def rounded(rows, denominator):
    made = []
    for row in rows:
        total = ordered_sum(row)
        weights = [int(entry / total * float(denominator)) for entry in row]
        weights[row.index(max(row))] += denominator - sum(weights)
        made.append(weights)
    return Table(made, denominator)


def cut_gaussians(means, outputs, sigma):
    """Chances of the outputs, with the given means, by Newton's method on the centres."""
    centers, rows = [*means], []
    for _ in range(200):
        rows = []
        for center in centers:
            apart = [(output - center) / sigma for output in outputs]
            exponents = [-0.5 * (each * each) for each in apart]
            top = max(exponents)
            weights = [portable_exp(exponent - top) for exponent in exponents]
            total = ordered_sum(weights)
            rows.append([weight / total for weight in weights])
        found = [ordered_sum(c * y for c, y in zip(row, outputs, strict=True)) for row in rows]
        errors = [mean - own for mean, own in zip(means, found, strict=True)]
        if max(map(abs, errors)) <= 1e-14 * len(outputs):
            break
        for at, row in enumerate(rows):
            squares = ordered_sum(c * (y * y) for c, y in zip(row, outputs, strict=True))
            move = errors[at] / (squares - found[at] * found[at]) * (sigma * sigma)
            centers[at] += min(max(move, -sigma), sigma)
    return rows


def gaussian(own):
    denominator, last, tail = denominator_of(own), last_point(own), own.get("tail", 3.0)
    epsilon = own["max_epsilon_local"]
    start = last / (math.sqrt(tail * tail + 2 * epsilon) - tail)
    reach = math.ceil(tail * start)
    outputs = [float(output) for output in range(-reach, last + reach + 1)]
    sigma = start
    for slack in [0.0, *(float(f"1e-{digits}") for digits in range(14, 0, -1))]:
        sigma = least_sigma(outputs, last, sigma, epsilon * (1 - slack))
        ends = rounded(cut_gaussians([0.0, float(last)], outputs, sigma), denominator)
        if ends.has_at_most(Fraction(epsilon)):
            break
    rows = cut_gaussians([float(point) for point in range(last + 1)], outputs, sigma)
    rows[0], rows[-1] = cut_gaussians([0.0, float(last)], outputs, sigma)
    rows = rounded(rows, denominator).rows
    end = len(outputs) - 1
    raise_end(rows[-1], rows[0], end, end - 1, -1, epsilon)
    raise_end(rows[0], rows[-1], 0, 1, 1, epsilon)
    return Table(rows, denominator)


def least_sigma(outputs, last, start, target):
    least = portable_exp(-target)

    def is_safe(sigma):
        low, high = cut_gaussians([0.0, float(last)], outputs, sigma)
        return all(p >= q * least and q >= p * least for p, q in zip(low, high, strict=True))

    safe, unsafe = 100 * start, start / 100
    while abs(unsafe - safe) > 1e-15 * start:
        middle = safe + (unsafe - safe) / 2
        if middle in (safe, unsafe):
            break
        safe, unsafe = (middle, unsafe) if is_safe(middle) else (safe, middle)
    return safe


def raise_end(row, other, end, beside, inward, epsilon):
    room = math.floor(other[end] * power_of_e(Fraction(epsilon))) - row[end]
    center = row.index(max(row))
    if 0 < room < min(row[beside], row[center]):
        for place, change in [(end, 1), (beside, -1), (center, -1), (center + inward, 1)]:
            row[place] += change * room


def matrix(own):
    rows = own["matrix"]
    if all(isinstance(entry, int) for row in rows for entry in row):
        return Table(rows, sum(rows[0]))
    return rounded(rows, WORD)


MECHANISMS = {
    "plain": Plain,
    "k-rr": KRR,
    "memoised-k-rr": MemoisedKRR,
    "symmetric-unary": Unary,
    "optimized-unary": Unary,
    "local-hashing": LocalHashing,
    "dictionary": Dictionary,
    "text": Text,
    "distribution": Distribution,
    "one-bit-mean": OneBitMean,
    "hadamard": Hadamard,
    "subset-selection": SubsetSelection,
    "rappor": Rappor,
    "sampled-sign": SampledSign,
    "laplace": laplace,
    "gaussian": gaussian,
    "matrix": matrix,
}
EPSILONS = [0.001, 0.1, 1 / 3, 0.5, 1.0, math.log(3), 2.0, 2.5, 4.0, 7.3, 12.0, 19.999, 20.0]
GRIDS = [{"low": 0.0, "high": 1.0, "step": 0.25}, {"low": -1.0, "high": 1.0, "step": 0.1}]
QUOTED = [
    *("it's", 'a "word"', 'it\'s a "word"', "back\\slash", "größer", "日本\u3000語"),
    *("a\u00a0b", "👩\u200d🔬", "\ue000", "\U000f0000", 7, 2**60, "7"),
]
"""Labels that Python's repr, or another language, could write in two ways."""
MATRICES = [
    [[5, 2, 1], [1, 2, 5]],
    [[2**63, 2**63 - 1, 1], [1, 2**63, 2**63 - 1]],
    [[3, 0, 1], [1, 0, 3]],
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]],
    [[0.1] * 10, [0.05, 0.15] * 5, [0.3, *[0.7 / 9] * 9]],
    [[0.2, 0.3, 0.5000000001], [1 / 3, 1 / 3, 1 / 3]],
    [[1e-17, 0.5, 0.5], [0.3, 0.3, 0.4]],
    [[0.25] * 4, [0.25] * 4],
]


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
            yield {"mechanism": "laplace", "grid": grid} | rest
        for k in (2, 10, 1000):
            yield {"mechanism": "hadamard", "k": k} | rest
        yield {"mechanism": "subset-selection", "k": 20} | rest
        yield {"mechanism": "subset-selection", "k": 100, "subset_size": 7} | rest
        yield {"mechanism": "rappor", "k": 3} | rest
        yield {"mechanism": "sampled-sign", "dimension": 12} | rest
    yield from many_values()
    for k in (2, 10, 100_000):
        yield {"mechanism": "plain", "k": k}
    yield from memoised()
    yield {"mechanism": "plain", "labels": ["no", "yes", "ask \u2603 later"]}
    yield {"mechanism": "subset-selection", "labels": ["a", "b", 7], "max_epsilon_local": 1.0}
    for more in ({"k": 30}, {"k": 10, "bits": 23, "hashes": 3}, {"labels": QUOTED, "bits": 61}):
        yield {"mechanism": "rappor", "max_epsilon_local": 2.0} | more
    for epsilon in (0.5, 1.0, math.log(3), 2.0, 7.3, 20.0):
        yield {"mechanism": "gaussian", "grid": GRIDS[0], "max_epsilon_local": epsilon}
    for more in ({"tail": 2.0}, {"tail": 4.5}, {"denominator": 10**15}):
        yield {"mechanism": "gaussian", "grid": GRIDS[1], "max_epsilon_local": 6.0} | more
    for rows in MATRICES:
        yield {"mechanism": "matrix", "matrix": rows}
    yield {"mechanism": "matrix", "matrix": MATRICES[0], "labels": ["no", 7]}


def memoised():
    """Specifications of mechanisms that keep an answer."""
    for k in (2, 10, 1000, 2**20):
        for epsilon, permanent in (
            (0.001, 0.002),
            (0.5, 20.0),
            (2.0, 2.001),
            (2.0, 6.0),
            (7.3, 12),
        ):
            ceilings = {"max_epsilon_local": epsilon, "max_epsilon_permanent": permanent}
            yield {"mechanism": "memoised-k-rr", "k": k} | ceilings
    yield {"mechanism": "memoised-k-rr", "labels": ["no", 7, "yes"]} | ceilings


WIDEST = [*range(1, 17)]


def many_values():
    """Specifications of mechanisms for many answers, texts and numbers."""
    for epsilon in (0.001, 1.0, 7.3, 20.0):
        yield {"mechanism": "dictionary", "k": 1000, "max_epsilon_local": epsilon}
    for more in (
        {"k": 10**7, "functions": 2**16, "buckets": 2**10},
        {"k": 3, "functions": 1, "buckets": 2**16},
        {"labels": ["no", "yes", 7], "functions": 3, "denominator": 101},
    ):
        yield {"mechanism": "dictionary", "max_epsilon_local": 2.0} | more
    for more in (
        {"longest": 12, "alphabet": "abcdefghijklmnopqrstuvwxyz"},
        {"longest": 5, "alphabet": "ab", "levels": [1, 3, 5], "functions": 4, "buckets": 3},
        {"longest": 4, "alphabet": "a\u00e9\U0001f600 ", "normalisation": "nfc", "levels": [4]},
        {"longest": 20, "normalisation": "lower"},
        {"longest": 111, "functions": 16},
        {"longest": 500, "alphabet": "x", "functions": 2, "denominator": 1000},
        {"longest": 8, "alphabet": "abcdefg", "levels": [1, 8]},
        {"longest": 16, "alphabet": "ab", "levels": WIDEST, "functions": 2**16, "buckets": 64},
    ):
        yield {"mechanism": "text", "max_epsilon_local": 3.0} | more
    for high in (3, 8, 100, 1023, 4095):
        grid = {"low": 0.0, "high": float(high), "step": 1.0}
        yield {"mechanism": "distribution", "grid": grid}
        for epsilon in (0.5, 4.0):
            yield {"mechanism": "distribution", "grid": grid, "max_epsilon_local": epsilon}
    for more in ({"fanout": 2}, {"fanout": 7, "denominator": 10**6}, {"fanout": 4096}):
        yield {"mechanism": "distribution", "grid": grid, "max_epsilon_local": 1.0} | more


def make(own, batch=b""):
    """The mechanism; of those that vary by batch, in the batch of this name."""
    made = MECHANISMS[own["mechanism"]]
    return made(own, batch) if made in {Dictionary, Text} else made(own)


def values_of(own, made):
    """The indices of all values, or of some texts where there are many."""
    if own["mechanism"] == "text":
        letters = range(1, len(made.letters) + 1)
        lengths = range(made.longest + 1)
        texts = [itertools.product(letters, repeat=length) for length in lengths]
        if len(letters) ** made.longest > 1000:
            texts = [[[letters[0]] * length, [letters[-1]] * length] for length in lengths]
        return [[*own, *[0] * (made.longest - len(own))] for some in texts for own in some]
    if own["mechanism"] == "distribution":
        return range(made.sizes[-1])
    if own["mechanism"] == "sampled-sign":
        return [*itertools.product((0, 1), repeat=own["dimension"])]
    if isinstance(made, Table):
        return range(len(made.rows))
    return range(len(made.weights) if own["mechanism"] == "one-bit-mean" else size_of(own))


BATCHES = [b"", *(hashlib.sha256(name).digest() for name in (b"one batch", b"another"))]
"""The names of batches; none for reports outside of one."""


def weights_of(made):
    """The integers; of a table, their SHA-256 in JSON without spaces, and their epsilon."""
    if not isinstance(made, Table):
        return {"weights": made.weights}
    text = json.dumps(made.rows, separators=(",", ":"))
    return {"table": hashlib.sha256(text.encode()).hexdigest(), "epsilon": made.epsilon()}


def batches_of(own):
    """The names of batches, or one that stands for all."""
    return BATCHES if own["mechanism"] in {"dictionary", "text"} else [b""]


def named(own, batch):
    """A specification, and the name of the batch unless there is none."""
    return {"specification": own} | ({"batch": batch.hex()} if batch else {})


def integers():
    """The weights of every specification, and a few responses at draws that any client can make."""
    pairs = ((own, batch) for own in specifications() for batch in batches_of(own))
    for own, batch in pairs:
        made = make(own, batch)
        values = values_of(own, made)
        some = [values[0], values[len(values) // 2], values[-1]]
        if own["mechanism"] in {"dictionary", "text", "distribution"}:
            some *= 4  # each level may be drawn
        responses = []
        for number, index in enumerate(some):
            text = json.dumps([own, number], sort_keys=True).encode()
            seeds = (
                hashlib.sha512(text + at.to_bytes(1 + at // 256)).digest()
                for at in range(len(made.draw_bounds))
            )
            draws = [
                int.from_bytes(seed, "big") % bound
                for seed, bound in zip(seeds, made.draw_bounds, strict=True)
            ]
            responses.append({"index": index, "draws": draws, "report": made.respond(index, draws)})
        yield {
            **named(own, batch),
            **weights_of(made),
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
    {"mechanism": "hadamard", "k": 5, "max_epsilon_local": 1.5, "denominator": 61},
    {"mechanism": "subset-selection", "k": 5, "max_epsilon_local": 1.0, "denominator": 64},
    {
        "mechanism": "subset-selection",
        "k": 6,
        "subset_size": 3,
        "max_epsilon_local": 2.0,
        "denominator": 17,
    },
    {"mechanism": "rappor", "k": 2, "bits": 5, "max_epsilon_local": 2.0, "denominator": 7},
    {"mechanism": "sampled-sign", "dimension": 3, "max_epsilon_local": 1.0, "denominator": 32},
    {"mechanism": "laplace", "grid": GRIDS[0], "max_epsilon_local": 2.0, "denominator": 256},
    {
        "mechanism": "gaussian",
        "grid": {"low": 0.0, "high": 3.0, "step": 1.0},
        "max_epsilon_local": 2.0,
        "denominator": 1 << 14,
    },
    {"mechanism": "matrix", "matrix": [[5, 2, 1], [1, 2, 5], [3, 2, 3]]},
    {
        "mechanism": "dictionary",
        "k": 5,
        "functions": 7,
        "buckets": 3,
        "max_epsilon_local": 1.0,
        "denominator": 32,
    },
    {
        "mechanism": "text",
        "longest": 3,
        "alphabet": "ab",
        "levels": [1, 3],
        "functions": 3,
        "max_epsilon_local": 1.0,
        "denominator": 16,
    },
    {"mechanism": "distribution", "grid": GRIDS[0]},
    {
        "mechanism": "distribution",
        "grid": {"low": 0.0, "high": 10.0, "step": 1.0},
        "fanout": 2,
        "max_epsilon_local": 1.0,
        "denominator": 256,
    },
    *(
        {"mechanism": "memoised-k-rr", "max_epsilon_permanent": 3.0} | more
        for more in (
            {"k": 2, "max_epsilon_local": 1.0, "denominator": 101},
            {"k": 5, "max_epsilon_local": 2.0, "denominator": 128},
        )
    ),
]


def law(own, batch=b""):
    """For every value, how many rows of draws lead to each report."""
    made = make(own, batch)
    values = [*values_of(own, made)]
    rows = [{} for _ in values]
    for draws in itertools.product(*map(range, made.draw_bounds)):
        for index, row in zip(values, rows, strict=True):
            report = tuple(made.respond(index, draws))
            row[report] = row.get(report, 0) + 1
    reports = sorted(set().union(*rows))
    return {
        **named(own, batch),
        "draw_bounds": made.draw_bounds,
        "values": values,
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


SETS = {"mechanism": "subset-selection", "k": 4, "subset_size": 2, "max_epsilon_local": 1.0}
TOGETHER = {"queries": [own | {"denominator": 8} for own in (SMALL[0], SETS, SMALL[0])]}


def together_law():
    """Of three questions, all of which are answered: the product of their laws."""
    laws = [law(own) for own in TOGETHER["queries"]]
    inputs = [*itertools.product(*(range(len(entry["weights"])) for entry in laws))]
    outputs = [*itertools.product(*(range(len(entry["reports"])) for entry in laws))]
    return TOGETHER | {
        "draw_bounds": [bound for entry in laws for bound in entry["draw_bounds"]],
        "values": inputs,
        "reports": [
            [number for entry, at in zip(laws, row, strict=True) for number in entry["reports"][at]]
            for row in outputs
        ],
        "weights": [
            [
                math.prod(
                    entry["weights"][x][y] for entry, x, y in zip(laws, value, row, strict=True)
                )
                for row in outputs
            ]
            for value in inputs
        ],
        "cost": 3.0,
    }


def costs():
    """The cost of a report about questions together: their ceilings, added in decimals."""
    for ceilings in ([0.1, 0.2], [0.1] * 10, [0.1, 0.7, 1e-5, 2.5], [1.1, 2.2, 3.3], [4.0, 20.0]):
        queries = [TEN | {"max_epsilon_local": ceiling} for ceiling in ceilings]
        total = sum(map(decimal.Decimal, map(repr, ceilings)))
        yield {
            "specification": {"mechanism": "together", "queries": queries},
            "cost": float(total),
        }


LABELS = {"mechanism": "k-rr", "labels": ["no", "yes", 7, 2**60], "max_epsilon_local": 1.0}
TEN = {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 1.0}
FINE = {"mechanism": "one-bit-mean", "grid": GRIDS[0], "max_epsilon_local": 1.0}
SIGNS = {"mechanism": "sampled-sign", "dimension": 2, "max_epsilon_local": 1.0}
VALUES = [
    (TEN, [(0, 0), (9, 9), (10, None), (-1, None), (2.5, None), ("1", None)]),
    (LABELS, [("no", 0), ("yes", 1), (7, 2), (2**60, 3), (2**60 + 1, None), ("7", None)]),
    # Halves go to the even point; beyond the ends is the end.
    (FINE, [(0.3, 1), (0.125, 0), (0.375, 2), (0.625, 2), (7, 4), (-1e300, 0), ("1", None)]),
    ({"mechanism": "plain", "k": 3}, [(0, 0), (2, 2), (3, None), (-1, None), (1.5, None)]),
    (SIGNS, [([1, -1], [1, 0]), ([1.0, 1.0], [1, 1]), ([1, 0], None), ([1], None), (1, None)]),
    ({"mechanism": "matrix", "matrix": [[3, 1], [1, 3]]}, [(1, 1), (2, None), ("0", None)]),
    ({"mechanism": "dictionary", "k": 3, "max_epsilon_local": 1.0}, [(2, 2), (3, None)]),
    (
        {"mechanism": "distribution", "grid": GRIDS[0], "max_epsilon_local": 1.0},
        [(0.3, 1), (0.375, 2), (7, 4), (-1e300, 0), ("1", None)],
    ),
]
TEXTS = [
    (
        {"longest": 4, "alphabet": "abc "},
        ["", "a", "cab", "abcabc", "a c", " a", "abcad", "abcd", "A", "\0", 7, None, ["a"]],
    ),
    (
        {"longest": 3, "alphabet": "a\U0001f600\u00e9"},
        ["\U0001f600a", "\u00e9", "e\u0301", "\ud83d", "a\ude00", "aaa\ud83d"],
    ),
    (
        {"longest": 4, "alphabet": "abc ", "normalisation": "lower"},
        ["  A b ", "\ta", "\u00a0a", "ABCD", "ABCABCD", "\u212a"],
    ),
    (
        {"longest": 4, "alphabet": "\u00e9e\u0301k", "normalisation": "nfc"},
        [" e\u0301 ", "\u00e9", "ee\u0301e", "\u0301e", "E"],
    ),
    (
        {"longest": 6},
        ["", "abc", "\0", "a\0", "na\u00efve", "\u65e5\u672c\u8a9e", "\U0001f600\U0001f600"],
    ),
    ({"longest": 6}, ["\ud83d", "abcdefghi\ude00", "\ude00\ud83d", " A ", 7]),
    ({"longest": 6, "normalisation": "lower"}, [" A\u00c4 ", "\u0130", "A b"]),
    ({"longest": 6, "normalisation": "nfc"}, [" a\u0308 ", "\u212b", "A", "\uac00\u11a8"]),
]


def texts():
    """Values of text with their letters; None for one that is refused."""
    for more, some in TEXTS:
        own = {"mechanism": "text", "max_epsilon_local": 1.0} | more
        for value in some:
            try:
                yield {"specification": own, "value": value, "index": make(own).index(value)}
            except (TypeError, ValueError):
                yield {"specification": own, "value": value, "index": None}


FINEST = {"low": 0.0, "high": 1.0, "step": 0.0005}
REFUSED = [
    {"mechanism": "k-rr", "k": 2**40, "max_epsilon_local": 1.0},  # no weights over 2^64 express it
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 0.0},
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 20.5},
    {"mechanism": "k-rr", "k": 1, "max_epsilon_local": 1.0},
    {"mechanism": "k-rr", "k": 3, "labels": ["a", "b", "c"], "max_epsilon_local": 1.0},
    {"mechanism": "k-rr", "labels": ["a", "b", "a"], "max_epsilon_local": 1.0},
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 1.0, "more": 1},
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 1.0, "max_epsilon_permanent": 2.0},
    *(
        {"mechanism": "memoised-k-rr", "k": 10, "max_epsilon_local": 1.0} | change
        for change in (
            {},
            {"max_epsilon_permanent": 1.0},
            {"max_epsilon_permanent": 0.5},
            {"max_epsilon_permanent": 20.5},
            {"max_epsilon_permanent": "3"},
            {"max_epsilon_permanent": 3.0, "k": 1},
            {"max_epsilon_permanent": 3.0, "k": 2**40},
            {"max_epsilon_permanent": 3.0, "max_epsilon_local": 0.0},
            {"max_epsilon_permanent": 3.0, "denominator": 10},
            {"max_epsilon_permanent": 1.01, "denominator": 64},
            {"max_epsilon_permanent": 20.0, "max_epsilon_local": 0.01, "denominator": 64},
        )
    ),
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
    {"mechanism": "hadamard", "k": 2**40 + 1, "max_epsilon_local": 1.0},
    {"mechanism": "hadamard", "k": 5, "max_epsilon_local": 0.001, "denominator": 16},
    {"mechanism": "subset-selection", "k": 5, "subset_size": 0, "max_epsilon_local": 1.0},
    {"mechanism": "subset-selection", "k": 5, "subset_size": 5, "max_epsilon_local": 1.0},
    {"mechanism": "subset-selection", "k": 2**40, "max_epsilon_local": 1.0},
    {"mechanism": "subset-selection", "k": 5, "max_epsilon_local": 0.001, "denominator": 16},
    {"mechanism": "rappor", "k": 1001, "max_epsilon_local": 1.0},
    {"mechanism": "rappor", "k": 10, "bits": 9, "max_epsilon_local": 1.0},
    {"mechanism": "rappor", "k": 10, "bits": 2**16 + 1, "max_epsilon_local": 1.0},
    {"mechanism": "rappor", "k": 10, "hashes": 0, "max_epsilon_local": 1.0},
    {"mechanism": "rappor", "k": 10, "hashes": 1001, "max_epsilon_local": 1.0},
    {"mechanism": "rappor", "k": 3, "max_epsilon_local": 0.001, "denominator": 16},
    {"mechanism": "rappor", "labels": ["a", "\U0001ffff"], "max_epsilon_local": 1.0},
    {"mechanism": "sampled-sign", "max_epsilon_local": 1.0},
    {"mechanism": "sampled-sign", "dimension": 0, "max_epsilon_local": 1.0},
    {"mechanism": "sampled-sign", "dimension": 2**40 + 1, "max_epsilon_local": 1.0},
    {"mechanism": "laplace", "grid": FINEST, "max_epsilon_local": 1.0},
    {"mechanism": "laplace", "grid": GRIDS[0], "max_epsilon_local": 0.001, "denominator": 16},
    {"mechanism": "laplace", "grid": GRIDS[0], "max_epsilon_local": 1.0, "tail": 3.0},
    {"mechanism": "gaussian", "grid": FINEST, "max_epsilon_local": 1.0},
    {"mechanism": "gaussian", "grid": GRIDS[0], "max_epsilon_local": 1e-5},
    {"mechanism": "gaussian", "grid": GRIDS[0], "max_epsilon_local": 1.0, "tail": 1.9},
    {"mechanism": "gaussian", "grid": GRIDS[0], "max_epsilon_local": 1.0, "tail": 5.1},
    {"mechanism": "gaussian", "grid": GRIDS[0], "max_epsilon_local": 2.0, "denominator": 16},
    {"mechanism": "matrix", "matrix": []},
    {"mechanism": "matrix", "matrix": [[], []]},
    {"mechanism": "matrix", "matrix": [[1, 1]]},
    {"mechanism": "matrix", "matrix": [[1, 1], [2]]},
    {"mechanism": "matrix", "matrix": [[1, 1], [1, 2]]},
    {"mechanism": "matrix", "matrix": [[3, -1], [1, 1]]},
    {"mechanism": "matrix", "matrix": [[0, 0], [0, 0]]},
    {"mechanism": "matrix", "matrix": [[2**64, 1], [1, 2**64]]},
    {"mechanism": "matrix", "matrix": [[0.5, 0.5], [0.5, 0.4]]},
    {"mechanism": "matrix", "matrix": [[1.5, -0.5], [0.5, 0.5]]},
    {"mechanism": "matrix", "matrix": [[True, False], [False, True]]},
    {"mechanism": "matrix", "matrix": [["1", "0"], ["0", "1"]]},
    {"mechanism": "matrix", "matrix": [[3, 1], [1, 3]], "labels": ["a", "b", "c"]},
    {"mechanism": "matrix", "matrix": [[3, 1], [1, 3]], "max_epsilon_local": 2.0},
    {"mechanism": "parallel", "queries": []},
    {"mechanism": "parallel", "queries": [TEN], "weights": [1, 1]},
    {"mechanism": "parallel", "queries": [TEN, TEN], "weights": [0, 1]},
    {"mechanism": "parallel", "queries": [TEN, TEN], "weights": [2**64, 1]},
    {"mechanism": "parallel", "queries": [{"mechanism": "parallel", "queries": [TEN]}]},
    {
        "mechanism": "parallel",
        "queries": [TEN, TEN | {"mechanism": "memoised-k-rr", "max_epsilon_permanent": 3.0}],
    },
    {"mechanism": "parallel", "queries": [{"mechanism": "together", "queries": [TEN]}]},
    {"mechanism": "together", "queries": []},
    {"mechanism": "together", "queries": [TEN, TEN], "weights": [1, 1]},
    {
        "mechanism": "together",
        "queries": [TEN, TEN | {"mechanism": "memoised-k-rr", "max_epsilon_permanent": 3.0}],
    },
    {"mechanism": "together", "queries": [TEN, {"mechanism": "plain", "k": 3}]},
    {"mechanism": "together", "queries": [TEN, {"mechanism": "parallel", "queries": [TEN]}]},
    {"mechanism": "together", "queries": [TEN, {"mechanism": "together", "queries": [TEN]}]},
    *(
        {"mechanism": "dictionary", "k": 10, "max_epsilon_local": 1.0} | change
        for change in (
            {"k": 1},
            {"k": 10**7 + 1},
            {"labels": ["a", "b"]},
            {"functions": 0},
            {"functions": 2**16 + 1},
            {"functions": 2**16, "buckets": 2**10 + 1},
            {"buckets": 1},
            {"buckets": 2**16 + 1},
            {"prime": 5},
            {"batches": []},
            {"max_epsilon_local": 0.0},
            {"max_epsilon_local": 0.001, "denominator": 16},
        )
    ),
    {"mechanism": "text", "max_epsilon_local": 1.0},
    *(
        {"mechanism": "text", "longest": 5, "max_epsilon_local": 1.0} | change
        for change in (
            {"k": 10},
            {"longest": 0},
            {"longest": 2.5},
            {"longest": 112},
            {"longest": 501, "alphabet": "x"},
            {"longest": 251, "alphabet": "abcdefgh"},
            {"alphabet": ""},
            {"alphabet": "aba"},
            {"alphabet": "a\U0001f600b\U0001f600"},
            {"alphabet": ["a", "b"]},
            {"alphabet": "aB", "normalisation": "lower"},
            {"alphabet": "a\u212b", "normalisation": "nfc"},
            {"normalisation": "upper"},
            {"normalisation": ""},
            {"levels": []},
            {"levels": [0, 5]},
            {"levels": [2, 4]},
            {"levels": [2, 6]},
            {"levels": [2, 2, 5]},
            {"levels": [3, 2, 5]},
            {"levels": 5},
            {"levels": [2, 5]},
            {"longest": 8, "alphabet": "abcdefgh", "levels": [1, 8]},
            {"longest": 24, "max_epsilon_local": 8.0},
            {"functions": 2**16, "buckets": 2**8, "levels": [1, 2, 3, 4, 5]},
            {"functions": 2**16, "buckets": 2, "longest": 17, "levels": [*range(1, 18)]},
            {"max_epsilon_local": 0.001, "denominator": 16},
        )
    ),
    {"mechanism": "distribution", "max_epsilon_local": 1.0},
    *(
        {"mechanism": "distribution", "grid": GRIDS[0]} | change
        for change in (
            {"grid": {"low": 0.0, "high": 4096.0, "step": 1.0}},
            {"fanout": 1},
            {"fanout": 4097},
            {"fanout": 2.5},
            {"tail": 3.0},
            {"max_epsilon_local": 0.0},
            {"max_epsilon_local": 20.5},
            {"max_epsilon_local": 1.0, "denominator": 1},
            {"max_epsilon_local": 0.001, "denominator": 16},
            {"denominator": 1},
            {"denominator": 2**64 + 1},
        )
    ),
]


def vectors():
    return {
        "format": "croupier randomizers, version 1",
        "integers": [*integers()],
        "refused": [{"specification": own} for own in REFUSED],
        "laws": [law(own, batch) for own in SMALL for batch in batches_of(own)],
        "parallel": parallel_law(),
        "together": together_law(),
        "costs": [*costs()],
        "values": [
            {"specification": own, "value": value, "index": index}
            for own, pairs in VALUES
            for value, index in pairs
        ]
        + [*texts()],
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
