"""Side-channel attacks in the shuffle model (Wang et al. 2025), regenerated.

Run: python examples/papers/s4_side_channels.py [--full] [-o DIRECTORY]
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np
from diagram import arrows, bare, boxes
from notation import named
from paper import Paper, alone

from croupier import Randomizer, bracket, randomizer, solve
from croupier.accounting.clones import clone_curve, stronger_clone_curve
from croupier.accounting.composition import (
    LogDeltas,
    LossDistribution,
    composed_epsilon,
    least_epsilon,
    subsampled,
)
from croupier.documents.plots.figure import BLUE, ORANGE
from croupier.model.participation import (
    Bins,
    Divide,
    Multinomial,
    Parallel,
    Participation,
    SingleRound,
    Subsample,
)
from croupier.numerics.rounding import ceiling_digits
from croupier.randomizers.delta_summation import DeltaSummation
from croupier.sidechannels.cardinality import count_delta, observed_counts
from croupier.sidechannels.comparison import ShuffleThenRandomize
from croupier.sidechannels.length import LengthLaw
from croupier.sidechannels.length_loss import local_epsilon
from croupier.sidechannels.participation import Observed, remaining

KEY = "s4"
TITLE = "Wang et al. 2025, Side-channel attacks and new principles in the shuffle model"

PEOPLE, ROUNDS, BATCH, LENGTHS = 60_000, 60, 1000, 7
BY_TEN = 10


def regenerate(paper: Paper) -> None:
    """Regenerate everything, in the order of the paper."""
    who_sees_what(paper)
    populations(paper)
    notation(paper)
    cardinality(paper)
    order_seen(paper)
    rounds_seen(paper)
    lengths_seen(paper)
    epochs(paper)
    listed_bits(paper)


def who_sees_what(paper: Paper) -> None:
    """Figure 1."""
    with paper.figure(
        "Figure 1", "who sees what beside the messages", [("", "", "")], inches=(8, 3)
    ) as (axes,):
        bare(axes)
        people = {f"person {number}": (0.08, 1.12 - 0.27 * number) for number in (1, 2, 3)}
        others = {"shuffler": (0.5, 0.58), "analyzer": (0.9, 0.58)}
        watcher = {"watcher, or a curious shuffler:\nwhen, how many, how long": (0.3, 0.08)}
        arrows(axes, [((x + 0.07, y), (0.43, 0.58), "") for x, y in people.values()])
        arrows(axes, [((0.57, 0.58), (0.83, 0.58), "in random order")])
        arrows(axes, [((0.28, 0.19), (0.25, 0.55), "")], dashed=True)
        boxes(axes, people | others | watcher, filled=watcher)


def populations(paper: Paper) -> None:
    """Table I, with numbers for its symbols and the epsilon that is proved."""
    symbols = {
        "n": PEOPLE,
        "n_k": PEOPLE / ROUNDS,
        "n_kl": PEOPLE / ROUNDS / LENGTHS,
        "n_*l": PEOPLE / LENGTHS,
        "n_(m)": PEOPLE / BY_TEN,
        "1": 1,
    }
    even = (1,) * ROUNDS
    bins = ((1,) * (ROUNDS // BY_TEN),) * BY_TEN
    printed: list[tuple[Participation, tuple[str, str, str], str]] = [
        (ShuffleThenRandomize(people=PEOPLE), ("n", "1", "1"), "-"),
        (Divide(groups=ROUNDS), ("n_k", "n_k", "n_kl"), "-"),
        (Subsample(repeats=ROUNDS, batch=BATCH), ("n", "n_k", "n_kl"), "-"),
        (Parallel(weights=even), ("n", "n", "n_*l"), "-"),
        (Multinomial(weights=even), ("n", "n_k", "n_kl"), "-"),
        (Parallel(weights=even, rectified=True), ("n", "n", "n"), "padding"),
        (Multinomial(weights=even, rectified=True), ("n", "n", "n"), "padding, 60 messages"),
        (Bins(bins=bins, rectified=True), ("n_(m)",) * 3, "padding, 6 messages"),
    ]
    rows, matching = [], 0
    for model, names, costs in printed:
        cells = []
        for observed, name in zip(Observed, names, strict=True):
            found = remaining(model, n=PEOPLE, delta=1e-5, epsilon_local=2.0, observed=observed)
            matching += abs(found.population - symbols[name]) < 1.5
            people = name if name == "1" else f"{name} = {found.population:,.0f}"
            cells.append(f"{people}: {ceiling_digits(found.epsilon_upper)}")
        rows.append((model.model, *cells, "yes" if model.adaptive else "no", costs))
    paper.table(
        "Table I",
        "among how many a person hides, and the epsilon that is proved",
        ("model", *(f"seen: {observed}" for observed in Observed), "adaptive", "costs"),
        rows,
        differs="The paper gives symbols. Ours has numbers for 60,000 people, 60 rounds, 7 lengths "
        "and 10 bins, and proves epsilon (epsilon_local 2, delta 1e-5, by clones).",
    )
    paper.agrees(
        "Table I: cells whose population is the printed symbol", printed=24, ours=matching, within=0
    )


def notation(paper: Paper) -> None:
    """Table II."""
    rows = named(
        [
            ("n", "people", "model.people.honest_people"),
            ("K", "rounds", "model.participation.Participation.rounds"),
            ("U_k", "who takes part in a round", "model.participation.Participation.crowds"),
            ("X, Y", "values, messages", "model.domain.Domain"),
            (
                "epsilon_0",
                "of one report",
                "randomizers.calibrated.CalibratedRandomizer.epsilon_local",
            ),
            ("delta", "failure probability", "model.guarantee.Guarantee.delta"),
            ("S", "the shuffle", "Shuffler"),
            ("R", "the randomizer", "Randomizer"),
            ("A", "the analyzer", "model.randomizer.Randomizer.estimate"),
            ("io_v", "in which rounds a person sends", "sidechannels.participation.Observed"),
            ("num_v", "how many messages", "sidechannels.cardinality.observed_counts"),
            ("len(y)", "how long a message is", "sidechannels.length.LengthLaw"),
        ]
    )
    paper.table("Table II", "notation", ("symbol", "meaning", "in croupier"), rows)


def cardinality(paper: Paper) -> None:
    """Figure 2, at the printed parameters."""
    protocol = DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1)
    seen = observed_counts(protocol)
    counts = list(range(6))
    chances = [[float(seen.probability(bit, count)) for count in counts] for bit in (0, 1)]
    epsilons = np.linspace(0, 10, paper.size(11, 41)).tolist()
    deltas = [count_delta(seen, epsilon=epsilon) for epsilon in epsilons]
    with paper.figure(
        "Figure 2",
        "the number of messages of Delta-summation, and what it gives away",
        [
            ("(a) number of messages", "messages", "probability"),
            ("(b) privacy curve of the number", "epsilon", "delta"),
        ],
        inches=(9, 4),
    ) as (left, right):
        for bit, colour in ((0, BLUE), (1, ORANGE)):
            places = [count + 0.4 * bit - 0.2 for count in counts]
            left.bar(places, chances[bit], width=0.38, color=colour, label=f"who holds {bit}")
        right.plot(epsilons, deltas, color=BLUE, label="number of messages seen")
        right.plot([1.0], [1e-6], "o", color=ORANGE, label="promised: (1, 1e-6)")
        right.set_ylim(-0.03, 1.03)
    paper.points("Figure 2a", {"messages": counts, "holds_0": chances[0], "holds_1": chances[1]})
    paper.points("Figure 2b", {"epsilon": epsilons, "delta": deltas})
    paper.corrects(
        "probability of sending as many messages as the bit says",
        printed=0.951,
        ours=chances[0][0],
        correct=0.972401928283236,
        within=1e-9,
        why="printed as a lower bound; this is the probability itself at the printed parameters, "
        "with natural logarithms and the negative binomial law divided by n",
        sharper=True,
    )


def order_seen(paper: Paper) -> None:
    """The numbers of shuffle-then-randomize under in-out attacks."""
    response = randomizer("k-rr", k=2, max_epsilon_local=2.81)
    flip = float(response.channel().probability(0, 1))
    paper.agrees("p at epsilon_local 2.81", printed=0.057, ours=flip, within=5e-4)
    paper.agrees("1 - p", printed=0.943, ours=1 - flip, within=5e-4)
    needed = solve("k-rr", k=2, epsilon=0.2, n=10_000, delta=1e-6).value
    paper.corrects(
        "epsilon of 10,000 reports at epsilon_local 2.81",
        printed=0.2,
        correct=0.200580758,
        ours=stronger_clone_curve(response, n=10_000).epsilon(1e-6),
        within=1e-6,
        why=f"2.81 is rounded up and misses the goal; {needed:.4f} reaches it",
    )


def rounds_seen(paper: Paper) -> None:
    """Figure 3: one round of subsampling, unseen and seen."""
    locals_ = np.linspace(0.5, 4, paper.size(8, 36)).tolist()
    share = Fraction(BATCH, PEOPLE)
    once = Subsample(repeats=1, batch=BATCH)
    printed, proved, least, most = [], [], [], []
    for local in locals_:
        response = randomizer("k-rr", k=2, max_epsilon_local=local)
        printed.append(_one_round(response, share, delta=1e-5))
        unseen = remaining(
            once, n=PEOPLE, delta=1e-5, epsilon_local=local, observed=Observed.NOTHING
        )
        proved.append(unseen.epsilon_upper)
        seen = bracket(response, n=BATCH, delta=1e-5)
        least.append(seen.lower.value)
        most.append(seen.upper.value)
    with paper.figure(
        "Figure 3",
        "subsampling with and without seeing who is asked",
        [("1,000 of 60,000 people, one round, delta 1e-5", "epsilon_local", "epsilon")],
        differs="The paper does not name its axis; ours is epsilon_local.",
    ) as (axes,):
        axes.fill_between(locals_, least, most, color=ORANGE, alpha=0.3)
        axes.semilogy(locals_, least, color=ORANGE, label="seen: at least, and at most")
        axes.semilogy(locals_, most, color=ORANGE)
        axes.semilogy(locals_, proved, color=BLUE, label="not seen: at most, by clones")
        axes.semilogy(
            locals_,
            printed,
            color=BLUE,
            linestyle=":",
            label="not seen: at most, by stronger clones",
        )
    paper.points(
        "Figure 3",
        {
            "epsilon_local": locals_,
            "unseen": proved,
            "unseen_stronger": printed,
            "seen_lower": least,
            "seen_upper": most,
        },
    )
    response = randomizer("k-rr", k=2, max_epsilon_local=2.0)
    unseen_at = partial(_one_round, response, share)
    lower = bracket(response, n=BATCH, delta=1e-5).lower.value
    paper.agrees("epsilon of one round, seen", printed=0.27, ours=lower, within=5e-3)
    paper.agrees(
        "the printed number of one round, unseen: at delta 2.8e-7",
        printed=0.0064,
        ours=unseen_at(delta=float(share) / PEOPLE),
        within=5e-5,
    )
    paper.corrects(
        "epsilon of one round, unseen",
        printed=0.0064,
        ours=unseen_at(delta=1e-5),
        correct=0.003973,
        within=1e-6,
        why="the paper amplifies at delta 1/n = 1.7e-5 before sampling; the declared 1e-5 after "
        "sampling allows 6e-4 before",
    )
    paper.corrects(
        "how many times the loss grows",
        printed=41,
        ours=lower / unseen_at(delta=1e-5),
        correct=68.4,
        within=0.05,
        why="by the corrected number above; a lower over an upper bound",
    )


def _one_round(response: Randomizer, share: Fraction, *, delta: float) -> float:
    """The epsilon of a random share of the people, by stronger clones, which the channel allows."""
    curve = stronger_clone_curve(response, n=BATCH)
    return least_epsilon(
        subsampled(curve.log_deltas, float(share)), delta, most=curve.epsilon_local
    )


def lengths_seen(paper: Paper) -> None:
    """Figure 4: a hierarchy over time whose level shows in the length."""
    powers = range(1, paper.size(11, 17))
    columns: dict[str, list[float]] = {"d": [2**power for power in powers]}
    with paper.figure(
        "Figure 4",
        "what the length of a message takes from amplification",
        [("10,000 people, delta 1e-6", "points in time, d", "epsilon")],
        differs="The paper does not give n, epsilon_local or delta for this figure; ours are "
        "those of its earlier sections. Proved by clones.",
    ) as (axes,):
        for local, shade in ((0.5, 0.4), (1.0, 0.7), (2.0, 1.0)):
            facts = {"n": 10_000, "delta": 1e-6, "epsilon_local": local}
            hidden = remaining(SingleRound(), observed=Observed.NOTHING, **facts).epsilon_upper
            seen = [
                remaining(
                    SingleRound(),
                    observed=Observed.LENGTH,
                    lengths=[Fraction(1, power + 1)] * (power + 1),
                    **facts,
                ).epsilon_upper
                for power in powers
            ]
            columns |= {f"hidden_{local:g}": [hidden] * len(seen), f"seen_{local:g}": seen}
            axes.loglog(
                columns["d"],
                seen,
                color=ORANGE,
                alpha=shade,
                marker=".",
                base=2,
                label=f"length seen, epsilon_local {local:g}",
            )
            axes.loglog(
                columns["d"],
                columns[f"hidden_{local:g}"],
                color=BLUE,
                alpha=shade,
                linestyle=":",
                base=2,
                label=f"claimed, epsilon_local {local:g}",
            )
        ticks = [2.0**power for power in range(-6, 3)]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_ylim(0.015, 6)
    paper.points("Figure 4", columns)
    growth = columns["seen_1"][9] / columns["hidden_1"][9]
    paper.agrees(
        "the loss at d = 1024 grows by over 200 % (1: yes)", printed=1, ours=growth > 3, within=0
    )


def epochs(paper: Paper) -> None:
    """Table III: with stronger clones, as in the paper, and composed in both directions.

    Rounds of a plan may differ and adapt: MRS is certified by clones, which are looser.
    """
    epochs = (1, 10, 100, 500)
    printed = {
        ("MRS", 1e-5): (0.0357, 0.126, 0.444, 1.070),
        ("s = 100", 1e-5): (0.0393, 0.143, 0.566, 1.584),
        ("s = 1000", 1e-5): (0.0367, 0.129, 0.458, 1.132),
        ("MRS", 1e-8): (0.0571, 0.190, 0.635, 1.485),
        ("s = 100", 1e-8): (0.0629, 0.211, 0.769, 2.037),
        ("s = 1000", 1e-8): (0.0593, 0.194, 0.651, 1.551),
    }
    people = {"MRS": PEOPLE, "s = 100": 100, "s = 1000": BATCH}
    correct = {
        ("s = 100", 1e-5): (0.04233, 0.1496, 0.5246, 1.2667),
        ("s = 1000", 1e-5): (0.03737, 0.1322, 0.4636, 1.1180),
        ("s = 100", 1e-8): (0.06742, 0.2237, 0.7470, 1.7490),
        ("s = 1000", 1e-8): (0.06002, 0.1988, 0.6631, 1.5500),
    }
    rows = []
    for (name, delta), numbers in printed.items():
        ours = _composed(people[name], delta, epochs, points=_points(paper, name))
        rows.append(
            (
                f"{delta:g}",
                name,
                *(f"{ceiling_digits(o, 4)} ({p:.4g})" for o, p in zip(ours, numbers, strict=True)),
            )
        )
        certified = []
        if name == "MRS":
            plan = clone_curve(epsilon_local=2.0, n=PEOPLE)
            certified = [composed_epsilon(plan, rounds=epoch, delta=delta) for epoch in epochs]
            shown = (ceiling_digits(one, 4) for one in certified)
            rows.append((f"{delta:g}", "MRS, as a plan is certified", *shown))
        for place, epoch in enumerate(epochs):
            what = f"Table III: {name}, {epoch} epochs, delta {delta:g}"
            given = {"printed": numbers[place], "ours": ours[place]}
            if name == "MRS":
                paper.agrees(
                    f"{what} (to 0.3 %)",
                    within=0.003 * numbers[place],
                    **given,
                    why="by stronger clones, for binary response in every round; a plan is "
                    f"certified by clones: {ceiling_digits(certified[place])}",
                )
            else:
                right = correct[name, delta][place]
                late = given["printed"] > right
                paper.corrects(
                    what,
                    correct=right,
                    within=3e-4 * right,
                    **given,
                    why="above what is proved; not reproduced"
                    if late
                    else "the paper composes one direction of the pair, which rounds of opposite "
                    "direction exceed; ours is proved for both",
                )
    paper.table(
        "Table III",
        "MRS against subsampling, over epochs; printed in parentheses",
        ("delta", "model", *(f"E = {epoch}" for epoch in epochs)),
        rows,
        differs="MRS: by stronger clones, as in the paper; the rows without a printed number are "
        "what plans are certified at, by clones. Subsampled rows: where ours is larger, the paper "
        "composes one direction only, which is no guarantee; where the printed number is larger, "
        "it is not reproduced.",
    )


def _points(paper: Paper, name: str) -> int:
    """Points of the grid of losses; many rounds need a fine one."""
    return paper.size(600 if name == "s = 100" else 300, 1000)


def _composed(batch: int, delta: float, epochs: tuple[int, ...], *, points: int) -> list[float]:
    share = batch / PEOPLE
    curve = stronger_clone_curve(randomizer("k-rr", k=2, max_epsilon_local=2.0), n=batch)
    log_deltas: LogDeltas = partial(curve.log_deltas, rtol=1e-4)
    most = curve.epsilon_local
    if share < 1:
        log_deltas = subsampled(log_deltas, share)
        most = math.log1p(share * math.expm1(most)) * (1 + 1e-12)
    rounds = [round(epoch / share) for epoch in epochs]
    law = LossDistribution.dominating(
        log_deltas, most=most, tail=1e-4 * delta / max(rounds), points=points
    )
    return [
        curve.epsilon(delta) if count == 1 else law.after(count).epsilon(delta) for count in rounds
    ]


def listed_bits(paper: Paper) -> None:
    """Appendix A: the local loss by the length of a compressed RAPPOR."""
    for bits, hashes, flip in ((16, 2, Fraction(1, 4)), (32, 4, Fraction(3, 10))):
        law = LengthLaw.of_set_bits(bits=bits, set_bits=(1, hashes), flip=flip)
        paper.agrees(
            f"Appendix A: loss by length, {bits} bits, {hashes} hashes, flip {float(flip):g}",
            printed=(hashes - 1) * math.log((1 - flip) / flip),
            ours=local_epsilon(law).value,
            within=1e-9,
        )


if __name__ == "__main__":
    alone(KEY, TITLE, regenerate)
