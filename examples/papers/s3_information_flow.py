"""Analyzing the shuffle model through the lens of quantitative information flow (Jurado et al.).

Run: python examples/papers/s3_information_flow.py [--full] [-o DIRECTORY]
"""

import math
from fractions import Fraction

import numpy as np
from diagram import arrows, bare, boxes
from paper import Paper, alone
from s3_printed_tables import PRINTED, WHAT, polynomial

from croupier import Channel
from croupier.documents.plots.figure import BLUE, GREY, ORANGE
from croupier.leakage.gain import gain as expected_gain
from croupier.leakage.informed import informed_vulnerability
from croupier.leakage.shuffle_channel import (
    datasets,
    histogram_channel,
    histogram_noise_channel,
    noise_channel,
    shuffle_channel,
    target_gain,
)
from croupier.leakage.uninformed import (
    people_needed,
    shuffle_only_vulnerability,
    uninformed_vulnerability,
)
from croupier.model.rung import LUCK
from croupier.research.normal_limit import limiting_vulnerability
from croupier.research.refinement import equivalent

KEY = "s3"
TITLE = "Jurado et al. 2023, The shuffle model through the lens of quantitative information flow"

TRUTH = Fraction(3, 4)
GUESSED = "probability to guess a value"
LOOKS = {
    "exact": {"color": BLUE},
    "published": {"color": ORANGE, "linestyle": "--"},
    "limit": {"color": GREY, "linestyle": ":"},
}


def regenerate(paper: Paper) -> None:
    """Regenerate everything, in the order of the paper."""
    tables(paper)
    relations(paper)
    two_values(paper)
    informed(paper)
    five_values(paper)
    shuffled_only(paper)
    approximated(paper)
    approximated_noise(paper)
    claims(paper)


def response(k: int, truth: Fraction) -> Channel:
    """The k-ary randomized response that tells the truth with this probability, exactly."""
    other = (1 - truth) / (k - 1)
    scale = math.lcm(truth.denominator, other.denominator)
    rows = np.full((k, k), int(other * scale), dtype=object)
    np.fill_diagonal(rows, int(truth * scale))
    labels = "ab" if k == 2 else range(k)
    return Channel.from_weights(rows, scale, inputs=labels, outputs=labels)


def tables(paper: Paper) -> None:
    """Tables I to V at p = 3/4, as they are shaded, every entry beside the printed polynomial."""
    one = response(2, TRUTH)
    noise, order = noise_channel(one, 3), shuffle_channel("ab", 3)
    histogram = histogram_channel("ab", 3)
    channels = {
        "Table Ia": noise,
        "Table Ib": order,
        "Table Ic": histogram,
        "Table II": noise @ order,
        "Table III": noise @ histogram,
        "Table IV": histogram_noise_channel(one, 3),
        "Table V": histogram @ histogram_noise_channel(one, 3),
    }
    for number, channel in channels.items():
        columns, *rows = PRINTED[number].split("\n")
        names = columns.split()
        shown, right, entries = [], 0, 0
        for row in rows:
            label, *printed = row.split()
            ours = [_entry(channel, label, name) for name in names]
            shown.append([_name(label), *map(str, ours)])
            right += sum(
                value == polynomial(words, TRUTH)
                for value, words in zip(ours, printed, strict=True)
            )
            entries += len(ours)
        what, wrong, why = WHAT[number]
        paper.table(number, what, ("", *map(_name, names)), shown, differs=why)
        counted = f"{number}: entries that are as printed"
        if wrong:
            paper.corrects(
                counted, printed=entries, ours=right, correct=entries - wrong, within=0, why=why
            )
        else:
            paper.agrees(counted, printed=entries, ours=right, within=0)


def _entry(channel: Channel, row: str, column: str) -> Fraction:
    """An entry by names: letters of a dataset, or counts of a histogram."""
    first, second = (
        tuple(map(int, name)) if name.isdigit() else tuple(name) for name in (row, column)
    )
    return channel.probability(channel.inputs.index(first), channel.outputs.index(second))


def _name(label: str) -> str:
    return f"a:{label[0]}, b:{label[1]}" if label.isdigit() else label


def relations(paper: Paper) -> None:
    """Figures 1, 8 and 9: which compositions are the same, checked on three people."""
    one = response(2, TRUTH)
    noise, order = noise_channel(one, 3), shuffle_channel("ab", 3)
    histogram, reduced = histogram_channel("ab", 3), histogram_noise_channel(one, 3)
    first, second = noise @ order, order @ noise
    counted, last = noise @ histogram, histogram @ reduced
    checks = {
        "N S = S N": first == second,
        "N S ≡ N S^r": equivalent(first.reduced(), counted),
        "S ≡ S^r": equivalent(order.reduced(), histogram),
        "N S^r = S^r N^r": counted == last,
        "S N ≡ S^r N^r": equivalent(second.reduced(), last),
        "N is not ≡ N S": not equivalent(noise, first.reduced()),
    }
    for claim, holds in checks.items():
        paper.agrees(
            f"Figures 1, 8, 9: {claim} for three people (1: yes)", printed=1, ours=holds, within=0
        )
    _square(
        paper,
        "Figure 1",
        "noise and shuffling commute, and histograms are enough",
        {"N S": (0.15, 0.75), "S N": (0.75, 0.75), "N S^r": (0.15, 0.2)},
        [("N S", "S N", "="), ("N S", "N S^r", "≡")],
    )
    _steps(paper)
    _square(
        paper,
        "Figure 9",
        "all compositions of noise and shuffling",
        {"N S": (0.15, 0.75), "S N": (0.75, 0.75), "N S^r": (0.15, 0.2), "S^r N^r": (0.75, 0.2)},
        [
            ("N S", "S N", "="),
            ("N S", "N S^r", "≡"),
            ("N S^r", "S^r N^r", "="),
            ("S N", "S^r N^r", "≡"),
        ],
    )


def _square(paper: Paper, number: str, what: str, places: dict, edges: list) -> None:
    with paper.figure(number, what, [("", "", "")], inches=(6, 2.8)) as (axes,):
        bare(axes)
        for start, end, words in edges:
            (x, y), (right, down) = places[start], places[end]
            level = y == down
            ends = (
                ((x + 0.1, y), (right - 0.1, down))
                if level
                else ((x, y - 0.15), (right, down + 0.15))
            )
            arrows(axes, [(*ends, "" if not level else words)], both_ways=True)
            if not level:
                axes.text(x + 0.03, (y + down) / 2, words, va="center", color=GREY)
        boxes(axes, places, size=12)


def _steps(paper: Paper) -> None:
    with paper.figure(
        "Figure 8", "noise before counting is noise on counts", [("", "", "")], inches=(7, 2.8)
    ) as (axes,):
        bare(axes)
        places = {
            "dataset": (0.12, 0.8),
            "noisy dataset": (0.8, 0.8),
            "histogram": (0.12, 0.15),
            "noisy histogram": (0.8, 0.15),
        }
        arrows(axes, [((0.25, 0.8), (0.62, 0.8), "N"), ((0.25, 0.15), (0.62, 0.15), "N^r")])
        arrows(axes, [((0.12, 0.65), (0.12, 0.3), ""), ((0.8, 0.65), (0.8, 0.3), "")])
        for x in (0.14, 0.82):
            axes.text(x, 0.48, "S^r", va="center", fontsize=9, color=GREY)
        boxes(axes, places)


def two_values(paper: Paper) -> None:
    """Figure 2."""
    sizes = list(range(1, 201))
    _over_people(
        paper,
        "Figure 2",
        "guessing one of two values",
        2,
        sizes,
        (Fraction(1), Fraction(9, 10), Fraction(4, 5), Fraction(7, 10), Fraction(3, 5)),
    )


def five_values(paper: Paper) -> None:
    """Figure 4."""
    sizes = [*range(1, 20), *range(20, 201, paper.size(10, 1))]
    _over_people(
        paper,
        "Figure 4",
        "guessing one of five values",
        5,
        sizes,
        (Fraction(1), Fraction(4, 5), Fraction(3, 5), Fraction(2, 5)),
    )


def _over_people(  # noqa: PLR0913, PLR0917 - what the two figures differ in
    paper: Paper, number: str, what: str, k: int, sizes: list[int], truths: tuple[Fraction, ...]
) -> None:
    columns: dict[str, list[float]] = {"n": sizes}
    with paper.figure(number, what, [(f"{k} values", "people, n", GUESSED)]) as (axes,):
        for place, truth in enumerate(truths):
            channel = response(k, truth)
            found = [uninformed_vulnerability(channel, n=n) for n in sizes]
            columns[f"p_{float(truth):g}"] = found
            colour, shade = (ORANGE, 1.0) if truth == 1 else (BLUE, 1.15 - 0.25 * place)
            axes.plot(sizes, found, color=colour, alpha=shade, label=f"shuffled, p = {truth}")
            axes.axhline(truth, color=colour, alpha=shade, linestyle=":")
        axes.plot([], [], color=GREY, linestyle=":", label="not shuffled")
        axes.axhline(1 / k, color=GREY, linewidth=0.8, label=LUCK)
        axes.set_ylim(1 / k - 0.04, 1.04)
    paper.points(number, columns)


def informed(paper: Paper) -> None:
    """Figure 3: everybody else's value is known."""
    held = list(range(0, 201, paper.size(10, 2)))
    columns: dict[str, list[float]] = {"others_with_a": held}
    with paper.figure(
        "Figure 3",
        "guessing a value knowing 200 others",
        [("201 people", "of the others, how many hold a, %", GUESSED)],
    ) as (axes,):
        for number, truth in enumerate((1, 0.9, 0.8, 0.7, 0.6)):
            channel = response(2, Fraction(str(truth)))
            found = [informed_vulnerability(channel, others=(a, 200 - a)) for a in held]
            columns[f"p_{truth:g}"] = found
            axes.plot(
                [a / 2 for a in held],
                found,
                color=ORANGE if truth == 1 else BLUE,
                alpha=1.0 if truth == 1 else 1.15 - 0.25 * number,
                label=f"p = {truth:g}",
            )
        axes.set_ylim(0.45, 1.04)
    paper.points("Figure 3", columns)
    paper.agrees(
        "Figure 3: nobody else holds a, p = 0.8",
        printed=0.52111,
        ours=columns["p_0.8"][0],
        within=5e-6,
    )
    paper.agrees(
        "Figure 3: half of the others hold a, p = 0.8",
        printed=0.52116,
        ours=columns["p_0.8"][len(held) // 2],
        within=5e-6,
    )


def shuffled_only(paper: Paper) -> None:
    """Figure 5."""
    sizes = np.unique(np.geomspace(10, 1000, paper.size(16, 60)).round().astype(int)).tolist()
    columns: dict[str, list[float]] = {"n": sizes}
    with paper.figure(
        "Figure 5", "guessing from a shuffle without noise", [("", "people, n", GUESSED)]
    ) as (axes,):
        for number, k in enumerate((2, 3, 4, 5, 10)):
            found = [shuffle_only_vulnerability(k, n).value for n in sizes]
            columns[f"k_{k}"] = found
            axes.semilogx(sizes, found, color=BLUE, alpha=1.0 - 0.18 * number, label=f"k = {k}")
            axes.axhline(1 / k, color=GREY, linewidth=0.6, linestyle=":")
        axes.set_ylim(0, None)
    paper.points("Figure 5", columns)
    for n, printed in ((100, 0.3826), (1000, 0.3488)):
        paper.agrees(
            f"Figure 5: k = 3, n = {n:,}",
            printed=printed,
            ours=shuffle_only_vulnerability(3, n).value,
            within=5e-5,
        )


def _published(k: int, n: int, truth: float = 1.0) -> float:
    """Equations 15 and 16 with the constant f = 1, as the paper draws them."""
    return 1 / k + math.sqrt(math.log(k) / (k * n)) * (k * truth - 1) / (k - 1)


def approximated(paper: Paper) -> None:
    """Figure 6: the published approximation against the truth."""
    sizes = np.unique(np.geomspace(10, 1000, paper.size(16, 60)).round().astype(int)).tolist()
    columns: dict[str, list[float]] = {"n": sizes}
    values = (3, 4, 5, 10)
    with paper.figure(
        "Figure 6",
        "approximations of guessing from a shuffle without noise",
        [(f"{k} values", "people, n", GUESSED) for k in values],
        inches=(9, 6.5),
        rows=2,
        differs="Ours adds the limit, and k = 10, where the published curve is below the truth. It "
        "is above for k = 3 to 5, also where the paper finds no difference.",
    ) as grid:
        for k, axes in zip(values, grid, strict=True):
            columns |= {
                f"exact_{k}": [shuffle_only_vulnerability(k, n).value for n in sizes],
                f"published_{k}": [_published(k, n) for n in sizes],
                f"limit_{k}": [limiting_vulnerability(k=k, n=n) for n in sizes],
            }
            for name, look in LOOKS.items():
                axes.semilogx(sizes, columns[f"{name}_{k}"], label=name, **look)
    paper.points("Figure 6", columns)
    # The curve that the paper calls an approximation is not a bound: from nine values on it is low.
    least = next(
        k for k in range(3, 20) if _published(k, 10**5) < shuffle_only_vulnerability(k, 10**5).value
    )
    paper.corrects(
        "Theorem 22 with f = 1: least k at which it is below the truth (0: never)",
        printed=0,
        ours=least,
        correct=9,
        within=0,
        why="f = 1 is not a constant of the theorem: the limit is the expected maximum of k normal "
        "numbers over sqrt(k n)",
    )
    error = max(
        abs(
            (_published(k, 10**5) - 1 / k) / (shuffle_only_vulnerability(k, 10**5).value - 1 / k)
            - 1
        )
        for k in (2, 3, 4, 5)
    )
    paper.corrects(
        "Theorem 22 with f = 1: largest error of the excess, k = 2 to 5",
        printed=0,
        ours=error,
        correct=0.4757,
        within=5e-4,
        why="at k = 2, for 100,000 people",
    )


def approximated_noise(paper: Paper) -> None:
    """Figure 7."""
    sizes = np.unique(np.geomspace(10, 1000, paper.size(16, 60)).round().astype(int)).tolist()
    columns: dict[str, list[float]] = {"n": sizes}
    with paper.figure(
        "Figure 7",
        "approximations of guessing one of four values with noise and shuffling",
        [("4 values; from above p = 1, 0.8, 0.6, 0.4", "people, n", GUESSED)],
        differs="Ours adds the limit, which is nearer than the published curve.",
    ) as (axes,):
        for truth, shade in ((1.0, 1.0), (0.8, 0.75), (0.6, 0.55), (0.4, 0.4)):
            channel = response(4, Fraction(str(truth)))
            columns |= {
                f"exact_{truth:g}": [uninformed_vulnerability(channel, n=n) for n in sizes],
                f"published_{truth:g}": [_published(4, n, truth) for n in sizes],
                f"limit_{truth:g}": [limiting_vulnerability(k=4, n=n, truth=truth) for n in sizes],
            }
            for name, look in LOOKS.items():
                axes.semilogx(
                    sizes,
                    columns[f"{name}_{truth:g}"],
                    alpha=shade,
                    **look,
                    label=name if truth == 1 else None,
                )
    paper.points("Figure 7", columns)


def claims(paper: Paper) -> None:
    """The numbers in the text."""
    for n, printed in ((1, 0.9), (2, 0.7), (200, 0.5225)):
        paper.agrees(
            f"guessing with p = 0.9 at n = {n}",
            printed=printed,
            within=5e-5,
            ours=uninformed_vulnerability(response(2, Fraction(9, 10)), n=n),
        )
    paper.agrees(
        "guessing with p = 0.6 at n = 200",
        printed=0.5056,
        within=5e-5,
        ours=uninformed_vulnerability(response(2, Fraction(3, 5)), n=200),
    )
    alone_ = shuffle_only_vulnerability(2, 200).value
    paper.agrees("guessing with p = 1 at n = 200", printed=0.5282, ours=alone_, within=5e-5)
    paper.corrects(
        "the same, a paragraph later",
        printed=0.5286,
        ours=alone_,
        correct=0.528174,
        within=1e-6,
        why="1/2 + C(199, 99)/2^200; the earlier number is right",
    )
    tenfold = [uninformed_vulnerability(response(2, TRUTH), n=n) - 0.5 for n in (1000, 100_000)]
    paper.corrects(
        '"exponentially decreases": the excess at 100 times the people, times 10',
        printed=0,
        ours=10 * tenfold[1] / tenfold[0],
        correct=1,
        within=5e-3,
        why="it falls like one over the square root of n",
    )
    paper.corrects(
        "Section V: datasets of three people and two values",
        printed=2**8,
        ours=len(datasets("ab", 3)),
        correct=2**3,
        within=0,
        why="2^3, not 2^8",
    )
    different = [response(2, Fraction(p, 10)) for p in (9, 6, 7)]
    gain = target_gain(datasets("ab", 3), "ab")
    noise, order = noise_channel(different), shuffle_channel("ab", 3)
    both = [expected_gain(c, gain=gain) for c in (noise @ order, order @ noise)]
    paper.corrects(
        "Proposition 11 for p = .9, .6, .7: N S less S N",
        printed=0,
        ours=both[0] - both[1],
        correct=7 / 10 - 19 / 30,
        within=1e-9,
        why="noise and shuffling commute where all use one randomizer, as the paper assumes; here "
        "7/10 against 19/30",
    )
    needed = people_needed(truth=1.0, target=0.53)
    paper.agrees(
        "noise alone beats a shuffle of 200 below p = 0.53 (1: yes)",
        printed=1,
        ours=alone_ <= 0.53 and needed <= 200,
        within=0,
    )


if __name__ == "__main__":
    alone(KEY, TITLE, regenerate)
