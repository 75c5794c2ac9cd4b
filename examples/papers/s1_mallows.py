"""Privacy implications of shuffling: d_sigma-privacy by Mallows orders (Meehan et al. 2022).

Run: python examples/papers/s1_mallows.py [--full] [-o DIRECTORY]
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from diagram import arrows, bare, boxes
from numpy.typing import NDArray
from paper import Paper, alone
from scipy.sparse import csr_array

from croupier.auditing.locality.gaussian_process import field_guesses
from croupier.auditing.locality.local_shuffle import (
    Setting,
    ladder,
    no_shuffle,
    uniform_shuffle,
    within_radius,
)
from croupier.auditing.locality.tradeoff import Attack, Learned, Point, tradeoff
from croupier.datasets.catalogue import DATASETS
from croupier.documents.plots.figure import BLUE, GREY, ORANGE
from croupier.model.evidence import Evidence
from croupier.numerics.keystream import Keystream
from croupier.randomizers import KaryRandomizedResponse
from croupier.research.preservation import block_preservation
from croupier.shufflers.groups import Groups
from croupier.shufflers.mallows import MallowsShuffler, around_reference
from croupier.shufflers.ordering import (
    breadth_first_order,
    cuthill_mckee_order,
    group_width,
    place_of,
)
from croupier.shufflers.sensitivity import group_sensitivities, width_sensitivity
from croupier.shufflers.theta import theta_for

KEY = "s1"
TITLE = "Meehan et al. 2022, Privacy implications of shuffling"

COLOURS = ("#f4a6a0", "#b3261e", "#f7c98b", "#c86a00", "#9ec9f0", "#0b4f8a", "#a8d8a0", "#1d6b2a")
VULNERABLE, ERROR = "share of vulnerable people, rho", "analyst's error, lambda"
SYNTHETIC = "Synthetic people, with --full as many as in the paper: only the shape is comparable."


def regenerate(paper: Paper) -> None:
    """Regenerate everything, in the order of the paper."""
    granularities(paper)
    trusted_shuffler(paper)
    friends(paper)
    evaluation(paper)
    learnability(paper)
    illustration(paper)
    preservation(paper)
    planted_orders(paper)
    random_graphs(paper)
    adults(paper)


def granularities(paper: Paper) -> None:
    """Figure 1: what an attacker sees and guesses at four granularities of shuffling."""
    people = DATASETS["granularity"].make(n=paper.size(500, 2500), seed=0)
    stream = Keystream(insecure_seed=11)
    response = KaryRandomizedResponse(k=8, max_epsilon_local=2.55)
    settings = [
        no_shuffle(),
        within_radius(people, 0.25, alpha=1.0),
        within_radius(people, 0.5, alpha=1.0),
        uniform_shuffle(people),
    ]
    titles = ["not shuffled", "r = 0.25", "r = 0.5", "uniform"]
    labels = [("the truth", "", ""), ("", "", "")]
    for title in titles:
        labels += [(f"seen: {title}", "", ""), (f"guessed: {title}", "", "")]
    with paper.figure(
        "Figure 1",
        "eight colours, shuffled at several granularities, and an attack",
        labels,
        inches=(8, 6.8),
        rows=5,
        differs=f"{SYNTHETIC} Colours in two clusters of two crescents; alpha 1, epsilon 2.55.",
    ) as grid:
        _coloured(grid[0], people.places, people.values)
        bare(grid[1])
        shares = []
        for seen, guessed, setting in zip(grid[2::2], grid[3::2], settings, strict=True):
            order = setting.shuffler.order(len(people), rng=stream)
            batch = response.randomize(people.values, rng=stream)[order]
            guess = field_guesses(people.sites, people.site, batch, k=8, length=0.2)[people.site]
            _coloured(seen, people.places, batch)
            _coloured(guessed, people.places, guess)
            shares.append(float((guess == people.values).mean()))
    paper.points("Figure 1", {"shuffle": titles, "guessed": shares})
    paper.agrees(
        "Figure 1: without a shuffle nearly all is guessed (1: over 0.8)",
        printed=1,
        ours=shares[0] > 0.8,
        within=0,
    )
    paper.agrees(
        "Figure 1: a uniform shuffle prevents it (1: below 0.25)",
        printed=1,
        ours=shares[-1] < 0.25,
        within=0,
    )
    paper.agrees(
        "Figure 1: larger groups, fewer guesses (1: yes)",
        printed=1,
        ours=shares == sorted(shares, reverse=True),
        within=0,
    )


def _coloured(axes: Any, places: NDArray[np.float64], values: NDArray[Any]) -> None:
    axes.set_aspect("equal")
    for value, colour in enumerate(COLOURS):
        x, y = places[values == value].T
        axes.plot(x, y, "o", markersize=2.8, markeredgewidth=0, color=colour)
    axes.set_axis_off()


def trusted_shuffler(paper: Paper) -> None:
    """Figure 2."""
    with paper.figure(
        "Figure 2", "a trusted shuffler between people and analyst", [("", "", "")], inches=(8, 2.6)
    ) as (axes,):
        bare(axes)
        people = {f"x{i} → y{i}": (0.1, 1.1 - 0.3 * i) for i in (1, 2, 3)}
        arrows(axes, [((x + 0.08, y), (0.38, 0.5), "") for x, y in people.values()])
        arrows(axes, [((0.56, 0.5), (0.8, 0.5), "the same reports, in another order")])
        arrows(axes, [((0.47, 0.22), (0.47, 0.37), "")], dashed=True)
        boxes(
            axes,
            people
            | {"shuffler": (0.47, 0.5), "analyst": (0.89, 0.5), "public: groups": (0.47, 0.1)},
            filled=["shuffler"],
        )


def friends(paper: Paper) -> None:
    """Figure 3: who is within two steps of whom."""
    edges = ((1, 2), (1, 7), (7, 8), (2, 5), (2, 6), (5, 3), (3, 4))
    groups = Groups.by_graph_distance(_graph(edges, 8), 2)
    found = [{int(member) + 1 for member in group} for group in groups]
    places = {
        1: (0.3, 0.75),
        2: (0.45, 0.45),
        3: (0.75, 0.3),
        4: (0.95, 0.4),
        5: (0.62, 0.55),
        6: (0.4, 0.12),
        7: (0.15, 0.6),
        8: (0.05, 0.3),
    }
    with paper.figure(
        "Figure 3",
        "a graph of friends; the group of 1 within two steps, filled",
        [("", "", "")],
        inches=(5.5, 3),
        differs="The text gives groups, not edges: ours is a graph that has them.",
    ) as (axes,):
        bare(axes)
        _lines(axes, places, edges)
        boxes(axes, {str(n): place for n, place in places.items()}, filled=map(str, found[0]))
    paper.agrees(
        "Figure 3: G_1 and G_2 are as printed (2: both)",
        printed=2,
        within=0,
        ours=(found[0] == {1, 7, 8, 2, 5, 6}) + (found[1] == {2, 1, 7, 5, 6, 3}),
    )


def _graph(edges: Iterable[tuple[int, int]], n: int) -> csr_array:
    rows, columns = np.array(list(edges)).T - 1
    return csr_array(
        (np.ones(2 * len(rows)), (np.r_[rows, columns], np.r_[columns, rows])), shape=(n, n)
    )


def _lines(
    axes: Any, places: dict[int, tuple[float, float]], edges: Iterable[tuple[int, int]]
) -> None:
    for first, second in edges:
        axes.plot(*zip(places[first], places[second], strict=True), color=GREY, linewidth=1)


def evaluated(paper: Paper, name: str, people: int, settings: Sequence[float]) -> list[Point]:
    """The attack and the analyst on one synthetic community, from no shuffle to a uniform one."""
    dataset = DATASETS[name]
    scales = dataset.scales
    community = dataset.make(n=paper.size(people, dataset.people), seed=0)
    by_size = bool(scales.sizes)
    chosen = (scales.sizes if by_size else scales.radii) if paper.full else settings
    steps = ladder(
        community,
        alpha=4.0,
        radii=() if by_size else chosen,
        sizes=[int(size) for size in chosen] if by_size else (),
        unit=scales.unit,
    )
    unseen = dataset.make(n=len(community), seed=1) if name == "granularity" else None
    return list(_played(paper, community, steps, name, test=unseen))


def _played(
    paper: Paper, community: Any, steps: Iterable[Setting], name: str, *, test: Any = None
) -> Iterable[Point]:
    scales = DATASETS[name].scales
    attack = Attack(radius=scales.near, length=scales.length, resamples=paper.size(10, 50))
    return tradeoff(
        community, steps, attack, trials=paper.size(2, 6), test=test, rng=Keystream(insecure_seed=1)
    )


def evaluation(paper: Paper) -> None:
    """Figure 4: hospitals and friends."""
    hospital = evaluated(paper, "hospital", 400, (10.0, 100.0))
    friendship = evaluated(paper, "friendship", 300, (5, 40))
    labels = [
        ("(a) hospitals: attack", "people in a group", VULNERABLE),
        ("(b) friends: attack", "people in a group", VULNERABLE),
        ("(c) hospitals: learning", "people in a group", ERROR),
        ("(d) friends: learning against attack", ERROR, VULNERABLE),
    ]
    with paper.figure(
        "Figure 4",
        "from no shuffle to a uniform one: attack and learning",
        labels,
        inches=(10, 7.5),
        rows=2,
        differs=f"{SYNTHETIC} The factor 2.7 by which rho falls belongs to the paper's hospitals; "
        "ours at full size are in mallows.md. The paper does not name the axis of (d).",
    ) as grid:
        _over_groups(grid[0], hospital, [point.vulnerable for point in hospital])
        _over_groups(grid[1], friendship, [point.vulnerable for point in friendship])
        _over_groups(grid[2], hospital, [point.error for point in hospital])
        _against(grid[3], friendship)
    _save(paper, "Figure 4 hospital", hospital)
    _save(paper, "Figure 4 friendship", friendship)
    for name, points in (("hospitals", hospital), ("friends", friendship)):
        _between_the_ends(paper, f"Figure 4, {name}", points)


def _between_the_ends(paper: Paper, what: str, points: Sequence[Point]) -> None:
    """Check that a shuffle protects people and costs the analyst; groups lie between the ends."""
    rho, errors = (
        [f(point) for point in points]
        for f in (lambda point: point.vulnerable.measured, lambda point: point.error.measured)
    )
    paper.agrees(
        f"{what}: rho falls and lambda rises from end to end (1: yes)",
        printed=1,
        ours=rho[0] > rho[-1] and errors[0] < errors[-1],
        within=0,
    )


def _save(paper: Paper, number: str, points: Sequence[Point]) -> None:
    paper.points(
        number,
        {
            "shuffle": [point.setting.name for point in points],
            "group": [point.setting.group for point in points],
            "rho": [point.vulnerable.measured for point in points],
            "lambda": [point.error.measured for point in points],
            "guessed": [point.guessed.measured for point in points],
        },
    )


def _bars(found: Sequence[Evidence | Learned]) -> list[list[float]]:
    return [
        [one.measured - one.lower for one in found],
        [one.upper - one.measured for one in found],
    ]


def _over_groups(axes: Any, points: Sequence[Point], found: Sequence[Evidence | Learned]) -> None:
    """Draw groups in between as a line, the two ends as levels."""
    middle = slice(1, -1)
    groups = [point.setting.group for point in points][middle]
    axes.errorbar(
        groups,
        [one.measured for one in found][middle],
        yerr=_bars(found[middle]),
        color=BLUE,
        marker="o",
        markersize=4,
        elinewidth=1,
        label="Mallows, alpha 4",
    )
    axes.axhline(found[0].measured, color=ORANGE, label="not shuffled")
    axes.axhline(found[-1].measured, color=GREY, label="uniform")
    _few_ticks(axes, groups)
    axes.set_ylim(0, 1.08)


def _few_ticks(axes: Any, places: Sequence[float]) -> None:
    """Label a logarithmic axis at the places that were tried, and no others."""
    axes.set_xscale("log")
    words = [f"{place:,.0f}" if place >= 100 else f"{place:.3g}" for place in places]
    axes.set_xticks(places, words, fontsize=8)
    axes.minorticks_off()


def _against(axes: Any, points: Sequence[Point]) -> None:
    errors, shares = ([point.error for point in points], [point.vulnerable for point in points])
    axes.errorbar(
        [one.measured for one in errors],
        [one.measured for one in shares],
        xerr=_bars(errors),
        yerr=_bars(shares),
        color=BLUE,
        marker="o",
        markersize=4,
        elinewidth=1,
        ecolor=GREY,
    )
    for point, words in ((points[0], "not shuffled"), (points[-1], "uniform")):
        place = point.error.measured, point.vulnerable.measured
        axes.annotate(words, place, xytext=(6, 6), textcoords="offset points", fontsize=9)
    axes.set_xlim(0, 1.3)
    axes.set_ylim(0, 1.08)


def learnability(paper: Paper) -> None:
    """Figure 5: at which granularity an analyst still learns."""
    points = evaluated(paper, "granularity", 400, (0.25, 0.5))
    names = ("8 colours", "4 crescents", "2 clusters")
    with paper.figure(
        "Figure 5",
        "colours, crescents and clusters that an analyst names",
        [("", "people in a group", "share of values named")],
        differs=SYNTHETIC,
    ) as (axes,):
        groups = [point.setting.group for point in points]
        for level, (name, shade) in enumerate(zip(names, (0.4, 0.7, 1.0), strict=True)):
            found = [point.accuracies[level] for point in points]
            axes.errorbar(
                groups,
                [one.measured for one in found],
                yerr=_bars(found),
                color=BLUE,
                alpha=shade,
                marker="o",
                markersize=4,
                elinewidth=1,
                label=name,
            )
            axes.axhline(1 / int(name[0]), color=GREY, linewidth=0.7, linestyle=":")
        axes.set_xscale("log")
        axes.set_ylim(0, 1.05)
    paper.points(
        "Figure 5",
        {
            "shuffle": [point.setting.name for point in points],
            **{
                name: [point.accuracies[level].measured for point in points]
                for level, name in enumerate(names)
            },
        },
    )
    first, last = points[0].accuracies, points[-1].accuracies
    paper.agrees(
        "Figure 5: eight colours can be named without a shuffle (1: over 0.8)",
        printed=1,
        ours=first[0].measured > 0.8,
        within=0,
    )
    paper.agrees(
        "Figure 5: a uniform shuffle allows none (1: within 0.15 of luck)",
        printed=1,
        ours=all(
            one.measured < luck + 0.15
            for one, luck in zip(last, (1 / 8, 1 / 4, 1 / 2), strict=True)
        ),
        within=0,
    )


def illustration(paper: Paper) -> None:
    """Figure 6: eight people, their reference order, and one sampled order."""
    edges = ((5, 2), (5, 3), (5, 8), (5, 4), (8, 3), (2, 1), (3, 6), (4, 7))
    groups = Groups.by_graph_distance(_graph(edges, 8), 1)
    printed = np.array([5, 2, 3, 8, 4, 1, 6, 7]) - 1
    ours = breadth_first_order(groups.adjacency())
    places = {
        5: (0.5, 0.8),
        2: (0.15, 0.5),
        3: (0.42, 0.5),
        8: (0.68, 0.55),
        4: (0.9, 0.5),
        1: (0.15, 0.12),
        6: (0.42, 0.12),
        7: (0.9, 0.12),
    }
    with paper.figure(
        "Figure 6",
        "the example of Algorithm 1: groups, and a reference order",
        [("(a) who shares a group", "", ""), ("(b) breadth-first from person 5", "", "")],
        inches=(10, 3.4),
        differs="Siblings are visited by ascending number, 4 before 8; the paper takes 8 first.",
    ) as (left, right):
        bare(left)
        bare(right)
        _lines(left, places, edges)
        boxes(left, {str(n): place for n, place in places.items()}, filled=["5"])
        for row, (name, order) in enumerate((("printed", printed), ("ours", ours))):
            height = 0.7 - 0.35 * row
            right.text(0.0, height, name, va="center", color=GREY)
            for place, person in enumerate(order):
                right.text(
                    0.24 + 0.1 * place,
                    height,
                    str(person + 1),
                    va="center",
                    ha="center",
                    fontsize=12,
                    color=ORANGE if person in {3, 4, 6} else "black",
                )
        right.text(0.24, 0.08, "orange: the group of 4, as wide as all", color=GREY, fontsize=9)
    position = place_of(printed)
    width = group_width(groups, position)
    paper.agrees("A.10: width of the reference order", printed=7, ours=width, within=0)
    paper.agrees("A.10: w (w + 1)/2", printed=28, ours=width_sensitivity(width), within=0)
    paper.corrects(
        "A.10: sensitivity",
        printed=28,
        ours=int(group_sensitivities(groups, position).max()),
        correct=13,
        within=0,
        why="w (w + 1)/2 is an upper bound; members 0, 4 and 7 places along move at most "
        "3 + 2 (3 + 2) pairs. The same alpha needs less noise",
    )
    sampled = np.array([3, 2, 5, 4, 8, 1, 7, 6]) - 1
    released = around_reference(printed, position[sampled]) + 1
    paper.agrees(
        "A.10: the released order is 1 2 5 8 3 7 6 4 (places that agree)",
        printed=8,
        ours=int((released == [1, 2, 5, 8, 3, 7, 6, 4]).sum()),
        within=0,
    )


def preservation(paper: Paper) -> None:
    """Figure 7: how much of the middle block stays, in 99 % of orders."""
    n, widths = paper.size(2_000, 10_000), (10, 30, 100)
    stream = Keystream(insecure_seed=3)
    trials = paper.size(12, 50)

    def kept(alpha: float, width: int, size: int) -> float:
        theta = theta_for(alpha, width_sensitivity(width))
        first = (n - size) // 2
        shuffler, block = MallowsShuffler(theta=theta), slice(first, first + size)
        found = [
            float(np.mean((shuffler.order(n, rng=stream)[block] - first) % n < size))
            for _ in range(trials)
        ]
        return float(np.quantile(found, 0.01, method="lower"))

    def proved(alpha: float, width: int, size: int) -> float:
        theta = theta_for(alpha, width_sensitivity(width))
        found = block_preservation(n=n, first=(n - size) // 2, size=size, theta=theta, delta=0.01)
        return math.nan if found.eta is None else found.eta

    alphas, sizes = (0.5, 1.0, 2.0, 4.0, 8.0), [n // 20, n // 10, n // 4, n // 2, 4 * n // 5]
    more = (10, 20, 30, 60, 100, 200)
    kinds = {
        "a": ("alpha", alphas, [(f"width {w}", lambda a, w=w: (a, w, n // 4)) for w in widths]),
        "b": (
            "width",
            more,
            [
                (f"block of {s:,}", lambda w, s=s: (4.0, int(w), s))
                for s in (sizes[1], sizes[2], sizes[4])
            ],
        ),
        "c": (
            "size of the block",
            sizes,
            [(f"width {w}", lambda s, w=w: (4.0, w, int(s))) for w in (30, 100, 300)],
        ),
    }
    labels = [(f"({key})", across, "share that stays, eta") for key, (across, *_) in kinds.items()]
    with paper.figure(
        "Figure 7",
        "how much of a block of the reference order stays",
        labels,
        inches=(12, 3.8),
        differs="Ours adds the proved bound (dotted), where it says something.",
    ) as grid:
        for axes, (key, (across, places, lines)) in zip(grid, kinds.items(), strict=True):
            columns: dict[str, list[float]] = {across: list(places)}
            for number, (name, facts) in enumerate(lines):
                found = [kept(*facts(place)) for place in places]
                floor = [proved(*facts(place)) for place in places]
                shade = 0.4 + 0.3 * number
                axes.plot(places, found, color=BLUE, alpha=shade, marker=".", label=name)
                axes.plot(places, floor, color=ORANGE, alpha=shade, linestyle=":")
                columns |= {name: found, f"{name}, proved": floor}
            axes.set_ylim(0, 1.02)
            _few_ticks(axes, places)
            paper.points(f"Figure 7{key}", columns)
    paper.corrects(
        "Figure 7b: a block of 80 % keeps no less than 80 % under any width",
        printed=0.8,
        ours=kept(4.0, 1000, 4 * n // 5),
        correct=0.7966 if paper.full else 0.793,
        within=0.002 if paper.full else 0.005,
        why="a drawn order keeps a little less; the plot cannot show it",
    )


def planted_orders(paper: Paper) -> None:
    """Figure 9: orders found for windows of a hidden order."""
    people = [100, 300, 1000, *([3000, 10_000] if paper.full else [])]
    windows = (5, 19, 49)
    rng = np.random.default_rng(9)
    worst = 1.0
    labels = [(f"groups of {w}", "people, n", "width of the order") for w in windows]
    with paper.figure(
        "Figure 9",
        "widths that orders achieve where the best is known",
        labels,
        inches=(12, 3.8),
        differs="Labels are random, and ours adds reverse Cuthill-McKee, which finds the optimum.",
    ) as grid:
        for axes, window in zip(grid, windows, strict=True):
            found: dict[str, list[float]] = {
                "best": [],
                "breadth-first": [],
                "reverse Cuthill-McKee": [],
                "random": [],
            }
            for n in people:
                groups = Groups.by_radius(rng.permutation(n), window // 2)
                graph = groups.adjacency()
                orders = {
                    "breadth-first": breadth_first_order(graph),
                    "reverse Cuthill-McKee": cuthill_mckee_order(graph),
                    "random": rng.permutation(n),
                }
                found["best"].append(window - 1)
                for name, order in orders.items():
                    found[name].append(group_width(groups, place_of(order)))
                worst = max(worst, found["breadth-first"][-1] / (window - 1))
            for (name, widths), look in zip(
                found.items(),
                (
                    {"color": GREY},
                    {"color": BLUE},
                    {"color": GREY, "linestyle": "none", "marker": "x"},
                    {"color": ORANGE},
                ),
                strict=True,
            ):
                axes.loglog(people, widths, label=name, **{"marker": "."} | look)
            paper.points(f"Figure 9 {window}", {"n": people} | found)
    paper.corrects(
        "Figure 9: breadth-first search against the best, at worst",
        printed=2.5,
        ours=worst,
        correct=2.8,
        within=0.2,
        why="where labels say nothing about the hidden order",
    )


def random_graphs(paper: Paper) -> None:
    """Figure 10: points on a line, groups within a radius."""
    people, radii = paper.size(500, 2000), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
    rng = np.random.default_rng(10)
    trials = paper.size(3, 10)
    names = ("average group", "breadth-first", "reverse Cuthill-McKee", "random")
    found = np.zeros((len(names), len(radii), trials))
    for column, radius in enumerate(radii):
        for trial in range(trials):
            groups = Groups.by_radius(rng.random(people), radius)
            graph = groups.adjacency()
            orders = (
                breadth_first_order(graph),
                cuthill_mckee_order(graph),
                rng.permutation(people),
            )
            found[0, column, trial] = groups.sizes.mean()
            found[1:, column, trial] = [group_width(groups, place_of(order)) for order in orders]
    means, spread = found.mean(axis=2), found.std(axis=2)
    looks = ({"color": GREY}, {"color": BLUE}, {"color": BLUE, "linestyle": ":"}, {"color": ORANGE})
    with paper.figure(
        "Figure 10",
        "widths of orders for random points on a line",
        [(f"{people:,} points", "radius r of a group", "width of the order")],
    ) as (axes,):
        for name, mean, off, look in zip(names, means, spread, looks, strict=True):
            axes.loglog(radii, mean, marker=".", label=name, **look)
            axes.fill_between(radii, mean - off, mean + off, color=look["color"], alpha=0.15)
    paper.points("Figure 10", {"radius": radii} | dict(zip(names, means.tolist(), strict=True)))
    paper.agrees(
        "Figure 10: breadth-first search always beats a random order (1: yes)",
        printed=1,
        ours=bool((means[1] <= means[3]).all()),
        within=0,
    )


def adults(paper: Paper) -> None:
    """Figure 8: what people earn, by age; the effect of alpha."""
    points = evaluated(paper, "census", 300, (1.0,))
    dataset = DATASETS["census"]
    community = dataset.make(n=paper.size(300, dataset.people), seed=0)
    alphas = (0.25, 1.0, 4.0, 16.0) if paper.full else (0.25, 2.0, 16.0)
    steps = [within_radius(community, 1.0, alpha=alpha) for alpha in alphas]
    by_alpha = list(_played(paper, community, steps, "census"))
    labels = [
        ("(a) attack", "people in a group", VULNERABLE),
        ("(b) groups within a year", "alpha", VULNERABLE),
        ("(c) learning against attack", ERROR, VULNERABLE),
    ]
    with paper.figure(
        "Figure 8",
        "the census: attack, alpha, learning",
        labels,
        inches=(12, 4),
        differs=f"{SYNTHETIC} The factor 1.7 belongs to the paper's census.",
    ) as grid:
        _over_groups(grid[0], points, [point.vulnerable for point in points])
        found = [point.vulnerable for point in by_alpha]
        grid[1].errorbar(
            alphas,
            [one.measured for one in found],
            yerr=_bars(found),
            color=BLUE,
            marker="o",
            markersize=4,
            elinewidth=1,
        )
        _few_ticks(grid[1], alphas)
        grid[1].set_ylim(0, 1.08)
        _against(grid[2], points)
    _save(paper, "Figure 8", points)
    _save(paper, "Figure 8b", by_alpha)
    _between_the_ends(paper, "Figure 8", points)
    paper.agrees(
        "Figure 8b: rho falls with alpha (1: from end to end)",
        printed=1,
        within=0,
        ours=found[0].measured <= found[-1].measured,
    )


if __name__ == "__main__":
    alone(KEY, TITLE, regenerate)
