"""Bayesian advantage of re-identification in the shuffle model (Su, Cheng and Wang 2025).

Run: python examples/papers/s0_reidentification.py [--full] [-o DIRECTORY]
"""

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from diagram import arrows, bare, boxes
from paper import Paper, alone
from scipy import stats

from croupier import Channel
from croupier.documents.plots.figure import BLUE, GREY, ORANGE
from croupier.leakage.likelihood_ratio import LikelihoodRatio
from croupier.leakage.reidentification import (
    advantage_bounds,
    clone_probability,
    decomposition_law,
)
from croupier.model.rung import LUCK
from croupier.numerics.bisection import bisect_safe_integer
from croupier.research.continuous_ratio import laplace_probability, tail_probability

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "s0"
TITLE = "Su, Cheng and Wang 2025, Bayesian advantage of re-identification in the shuffle model"

ZIPF, WORDS = 0.7, (10**3, 10**4, 10**5, 10**6)
FOUND = "probability to find the report"


def regenerate(paper: Paper) -> None:
    """Regenerate everything, in the order of the paper."""
    attack(paper)
    ties(paper)
    slope(paper)
    passwords(paper)
    password_guesses(paper)
    total_variation(paper)
    decompositions(paper)
    shuffled_reports(paper)


def attack(paper: Paper) -> None:
    """Figure 1."""
    with paper.figure(
        "Figure 1", "the re-identification attack", [("", "", "")], inches=(8, 2.8)
    ) as (axes,):
        bare(axes)
        laws = {f"person {i}: law P{i}": (0.12, 1.15 - 0.3 * i) for i in (1, 2, 3)}
        batch = {place: (0.72, 1.15 - 0.3 * i) for i, place in enumerate(("y2", "y3", "y1"), 1)}
        arrows(axes, [((x + 0.12, y), (0.4, 0.55), "") for x, y in laws.values()])
        arrows(axes, [((0.5, 0.55), (x - 0.03, y), "") for x, y in batch.values()])
        arrows(axes, [((0.84, 0.25), (0.76, 0.25), "")])
        axes.text(0.85, 0.25, "which is of\nperson 1?", va="center", color=GREY)
        boxes(axes, laws | batch | {"shuffler": (0.45, 0.55)}, filled=["y1"])


def ties(paper: Paper) -> None:
    """Equations 7 and 8, which count a tie as a win."""
    equal = LikelihoodRatio.of([0.5, 0.5], [0.5, 0.5])
    paper.corrects(
        "Theorem 1: three reports of one law",
        printed=1,
        ours=equal.probability(n=3),
        correct=1 / 3,
        within=1e-12,
        why="Equations 7 and 8 count a tie as a win; the attacker must toss a coin (Theorem 4)",
    )


def slope(paper: Paper) -> None:
    """Figure 2: density x + 1/2 among uniform reports."""
    find = partial(tail_probability, lambda ratio: 1.5 - ratio, limit=1.5, n=20, breaks=[0.5])
    guesses = list(range(1, 21))
    found = [find(guesses=k) for k in guesses]
    with paper.figure(
        "Figure 2",
        "k guesses at one report of density x + 1/2 among 20",
        [("", "guesses", FOUND)],
    ) as (axes,):
        axes.plot(guesses, found, color=BLUE, marker="o", label="the best attack")
        axes.plot(guesses, [k / 20 for k in guesses], color=GREY, linestyle=":", label=LUCK)
        axes.set_xticks(range(0, 21, 4))
    paper.points("Figure 2", {"guesses": guesses, "found": found})
    for n in (2, 20):
        one = tail_probability(lambda ratio: 1.5 - ratio, limit=1.5, n=n, breaks=[0.5])
        paper.agrees(
            f"Example IV.1: 1.5/n - 1/(n(n + 1)) at n = {n}",
            printed=1.5 / n - 1 / (n * (n + 1)),
            ours=one,
            within=1e-12,
        )
    for k in (3, 20):
        printed = (3 * 20 + 2) / (2 * 20 * 21) * k - k**2 / (2 * 20 * 21)
        paper.agrees(
            f"Example IV.1: {k} guesses at n = 20", printed=printed, ours=found[k - 1], within=1e-12
        )


def passwords(paper: Paper) -> None:
    """Figure 3: one password of a Zipf law among uniform decoys."""
    sizes = np.unique(np.geomspace(2, 1000, paper.size(16, 60)).round().astype(int)).tolist()
    columns: dict[str, list[float]] = {"n": sizes}
    with paper.figure(
        "Figure 3",
        "one password of a Zipf(0.7) law among uniform decoys",
        [("", "reports, n", FOUND)],
        differs="The paper draws the limit of infinitely many words only.",
    ) as (axes,):
        for number, words in enumerate(WORDS):
            law = _zipf(words)
            columns[f"words_{words}"] = [law.probability(n=n) for n in sizes]
            axes.semilogx(
                sizes,
                columns[f"words_{words}"],
                color=BLUE,
                alpha=0.3 + 0.2 * number,
                label=f"{words:,} words",
            )
        columns["limit"] = [_limit(n) for n in sizes]
        axes.semilogx(sizes, columns["limit"], color=ORANGE, label="limit, as in the paper")
        axes.axhline(0.2, color=GREY, linestyle=":", label="0.2")
    paper.points("Figure 3", columns)
    paper.agrees(
        "Example IV.2: first n below 0.2, infinitely many words",
        printed=150,
        ours=_first_below(0.2, _limit),
        within=0,
    )
    for words, correct in zip(WORDS, (50, 81, 108, 126), strict=True):
        law = _zipf(words)
        paper.corrects(
            f"Example IV.2: first n below 0.2, {words:,} words",
            printed=150,
            correct=correct,
            ours=_first_below(0.2, lambda n, law=law: law.probability(n=n)),
            within=0,
            why="the printed number is the limit of infinitely many words, which is approached "
            "slowly",
        )


def password_guesses(paper: Paper) -> None:
    """Figure 4."""
    guesses = list(range(1, 21))
    law = _zipf(WORDS[0])
    found = {
        "1,000 words": [law.probability(n=20, guesses=k) for k in guesses],
        "limit, as in the paper": [_limit(20, guesses=k) for k in guesses],
    }
    with paper.figure(
        "Figure 4",
        "k guesses at one password of a Zipf(0.7) law among 20",
        [("", "guesses", FOUND)],
        differs="The paper draws the limit only; one of a thousand words is found less often.",
    ) as (axes,):
        for (name, values), colour in zip(found.items(), (BLUE, ORANGE), strict=True):
            axes.plot(guesses, values, color=colour, marker="o", markersize=4, label=name)
        axes.set_xticks(range(0, 21, 4))
        axes.set_ylim(0, 1.02)
    paper.points("Figure 4", {"guesses": guesses} | found)
    limit = found["limit, as in the paper"][2]
    paper.agrees(
        "Example IV.2: three guesses at n = 20 exceed 0.5 in the limit (1: yes)",
        printed=1,
        ours=limit > 0.5,
        within=0,
    )
    paper.corrects(
        "Example IV.2: three guesses at n = 20, 1,000 words, exceed 0.5 (1: yes)",
        printed=1,
        ours=found["1,000 words"][2] > 0.5,
        correct=0,
        within=0,
        why=f"{found['1,000 words'][2]:.4f}; the limit of infinitely many words is {limit:.4f}",
    )


def _zipf(words: int) -> LikelihoodRatio:
    weights = np.arange(1, words + 1, dtype=np.float64) ** -ZIPF
    return LikelihoodRatio.of(weights / weights.sum(), np.full(words, 1 / words))


def _limit(n: int, *, guesses: int = 1) -> float:
    """Density (1 - a) x^-a on [0, 1] against the uniform one: ratios above t at x < (…)^(1/a)."""
    least = 1 - ZIPF
    return tail_probability(
        lambda ratio: min(1.0, (least / ratio) ** (1 / ZIPF)),
        limit=math.inf,
        n=n,
        guesses=guesses,
        breaks=[least],
    )


def _first_below(target: float, found: "Callable[[int], float]") -> int:
    """The least number of reports at which `found`, which falls, is below the target."""
    return bisect_safe_integer(lambda n: found(n) < target, safe=1000, unsafe=1)


def total_variation(paper: Paper) -> None:
    """Section V: the examples at which the bounds are attained, n = 10, p = 1/4."""
    n, p = 10, 0.25
    above = LikelihoodRatio.of([p, 1 - p], [0, 1]).additive_advantage(n=n)
    below = LikelihoodRatio.of([0, 1], [p, 1 - p]).additive_advantage(n=n)
    paper.agrees(
        "Section V: (1 - 1/n) p at n = 10, p = 1/4",
        printed=(1 - 1 / n) * p,
        ours=above,
        within=1e-12,
    )
    paper.agrees(
        "Section V: (p - p^n)/((1 - p) n) there",
        printed=(p - p**n) / ((1 - p) * n),
        ours=below,
        within=1e-12,
    )
    n = 3
    low, high = advantage_bounds(p, n=n)
    paper.corrects(
        "Theorem 5: least advantage at total variation 1/4, n = 3",
        printed=p / n,
        ours=low,
        correct=(p - p**n) / ((1 - p) * n),
        within=1e-9,
        why="(D - D^n)/(n (1 - D)) is proved, and attained by the example above; at n = 1, which "
        "the theorem allows, D/n is false",
        sharper=True,
    )
    paper.corrects(
        "Theorem 5: largest advantage there",
        printed=p,
        ours=high,
        correct=p - p**n / n,
        within=1e-9,
        why="D - D^n/n is proved, and attained by P = (D, 1 - D, 0), Q = (0, 1 - D, D)",
        sharper=True,
    )


def decompositions(paper: Paper) -> None:
    """Figure 5: the common part of all reports, for Laplace noise on {0, 1}."""
    y = np.linspace(-3, 4, paper.size(141, 561))
    noise = [stats.laplace(loc=x) for x in (0, 1)]
    laws = [one.pdf(y) for one in noise]
    clone, blanket = math.exp(-1) * laws[0], np.minimum(*laws)
    with paper.figure(
        "Figure 5",
        "the clone and the blanket of Laplace noise on {0, 1}, epsilon 1",
        [("clone: of R(0)", "report", "density"), ("blanket", "report", "density")],
        inches=(9, 3.8),
    ) as grid:
        for axes, common, colour in zip(grid, (clone, blanket), (BLUE, ORANGE), strict=True):
            axes.fill_between(y, common, color=colour, alpha=0.35, label="in common")
            axes.plot(y, laws[0], color=GREY, label="R(0)")
            axes.plot(y, laws[1], color=GREY, linestyle="--", label="R(1)")
    paper.points(
        "Figure 5", {"y": y.tolist(), "clone": clone.tolist(), "blanket": blanket.tolist()}
    )
    # The two densities cross at 1/2, the end of a cell: cells lose nothing.
    cells = [np.diff(one.cdf([-np.inf, *y, np.inf])) for one in noise]
    paper.agrees(
        "Example VI.1: mass of the blanket, e^(-1/2)",
        printed=math.exp(-0.5),
        ours=1 - LikelihoodRatio.of(*cells).total_variation,
        within=1e-12,
    )


def shuffled_reports(paper: Paper) -> None:
    """Section VI: bounds of finding a report, clone and blanket."""
    for epsilon, n in ((1.0, 10), (5.0, 100)):
        ours = clone_probability(epsilon, n=n)
        gamma = math.exp(-epsilon)
        paper.agrees(
            f"Theorem 8: (1 - (1 - e^-{epsilon:g})^n)/(n e^-{epsilon:g}) at n = {n}",
            printed=(1 - (1 - gamma) ** n) / (gamma * n),
            ours=ours,
            within=1e-12,
        )
        paper.agrees(
            f"Theorem 8: it is at most e^{epsilon:g}/n (1: yes)",
            printed=1,
            ours=ours <= math.exp(epsilon) / n,
            within=0,
        )
    for x, printed in ((0.5, math.exp(0.5)), (0.0, math.e), (0.25, math.exp(0.75))):
        ours = 10**7 * laplace_probability(epsilon_local=1.0, x=x, n=10**7)
        paper.agrees(
            f"Example VI.1: M at x = {x:g}, with ten million people",
            printed=printed,
            ours=ours,
            within=1e-5,
        )
    response = Channel.from_weights([[3, 1], [1, 3]], 4)
    for p, printed in ((1.0, 3.0), (0.5, 2.0)):
        mixed = Channel.from_probabilities(
            [
                p * response.probabilities[0] + (1 - p) * response.probabilities[1],
                *response.probabilities,
            ]
        )
        law = decomposition_law(mixed, 0, gamma=0.5, common=[0.5, 0.5])
        paper.agrees(f"Example VI.2: M at p = {p:g}", printed=printed, ours=law.limit, within=1e-9)


if __name__ == "__main__":
    alone(KEY, TITLE, regenerate)
