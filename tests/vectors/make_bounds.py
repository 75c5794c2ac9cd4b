"""Writes the vectors of the calculator's bounds, ``bounds.json``, to the standard output.

Run: python -m tests.vectors.make_bounds > tests/vectors/bounds.json

Python proves both ends of each question; the page's upper bounds must lie in between, or hardly
above. The integers of tables are given as well, which both must make alike.
"""

import hashlib
import json
import sys
from fractions import Fraction

import numpy as np

from benchmarks.browser_bounds import brackets, draw
from croupier.randomizers import KaryRandomizedResponse
from croupier.shufflers.dummies import DummyTable

SEED, QUESTIONS = 20_261_120, 300
"""The questions are drawn as `python -m benchmarks.browser_bounds` draws them."""

CORNERS = [
    {"k": 10, "max_epsilon_local": 4.0, "n": 100_000, "delta": 1e-6},
    {"k": 2, "max_epsilon_local": 1.0, "n": 2, "delta": 1e-3},
    {"k": 3, "max_epsilon_local": 1.0, "n": 4, "delta": 0.02},
    {"k": 2, "max_epsilon_local": 0.01, "n": 10**15, "delta": 1e-15},
    {"k": 10**6, "max_epsilon_local": 12.0, "n": 10**7, "delta": 1e-6},
    {"k": 10, "max_epsilon_local": 20.0, "n": 10**9, "delta": 1e-10},
    {"k": 10, "max_epsilon_local": 1.0, "n": 10**9, "delta": 1e-10},
    {"k": 50, "max_epsilon_local": 2.0, "n": 10**4, "delta": 0.5},
    {"k": 2, "max_epsilon_local": 4.0, "n": 1, "delta": 1e-6},
]
CORNERS = [{"about": "k-rr"} | corner for corner in CORNERS]
CORNERS += [
    {"about": "dummies", "k": 50, "epsilon": 1.0, "delta": 1e-8},
    {"about": "dummies", "k": 2, "epsilon": 20.0, "delta": 0.1},
    {"about": "dummies", "k": 100_000, "epsilon": 0.01, "delta": 1e-6},
]


def integers(question):
    """The whole numbers that both sides make."""
    if question["about"] == "k-rr":
        chosen = {name: question[name] for name in ("k", "max_epsilon_local")}
        return {"blanket": str(KaryRandomizedResponse(**chosen).blanket)}
    table = DummyTable.two_sided_geometric(epsilon=question["epsilon"], delta=question["delta"])
    reached = table.delta(question["epsilon"])[1]
    listed = " ".join(map(str, table.weights)).encode()
    return {
        "most": table.most,
        "weights": hashlib.sha256(listed).hexdigest(),
        "reached": text_of(reached),
        "mean": float(table.mean),
        "standard_deviation": float(table.variance) ** 0.5,
    }


def text_of(fraction: Fraction):
    """Both whole numbers of a fraction."""
    return f"{fraction.numerator:x}/{fraction.denominator:x}"


def vector(question):
    """One question and its answers."""
    lower, upper = brackets(question)
    return question | {"lower": lower, "upper": upper} | integers(question)


def text():
    """One question a line."""
    rng = np.random.default_rng(SEED)
    questions = CORNERS + [draw(rng) for _ in range(QUESTIONS - len(CORNERS))]
    body = ",\n".join(json.dumps(vector(each), separators=(",", ":")) for each in questions)
    return f'{{\n"format": "croupier bounds, version 1",\n"questions": [\n{body}\n]\n}}\n'


if __name__ == "__main__":
    sys.stdout.write(text())
