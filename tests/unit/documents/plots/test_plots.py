"""What plots show: nothing off the axes, nothing left out, nothing magnified or covered."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from croupier import randomizer
from croupier.assessment.ladder.cell import Cell
from croupier.auditing.attacks.attacks import Played
from croupier.auditing.blackbox import sampled_bayes_risk
from croupier.documents.plots.amplification import plot_amplification
from croupier.documents.plots.bayes_security import plot_convergence
from croupier.documents.plots.figure import drawing, panels
from croupier.documents.plots.marks import curve, mark, row_points
from croupier.documents.plots.plan import PlanPlots, ladder_points
from croupier.documents.plots.sandwich import plot_sandwich
from croupier.model.adversary import Adversary, View
from croupier.model.evidence import Evidence
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.model.rung import Rung


@pytest.fixture
def saved(monkeypatch):
    """The figures that are saved."""
    kept, save = [], Figure.savefig

    def keep(figure, *given, **named):
        kept.append(figure)
        save(figure, *given, **named)

    monkeypatch.setattr(Figure, "savefig", keep)
    return kept


@pytest.fixture
def ax():
    """Axes of a figure that nothing shows."""
    return Figure(layout="constrained").subplots()


def draw(path, points, *, scale="log"):
    with drawing(path, title="one", across="right", up="above") as axes:
        axes.set_xscale("log")
        axes.set_yscale(scale)
        curve(axes, points, label="line", color="black")
        mark(axes, 10, points[10], "asked")
    return axes


def inside(axes, line):
    """Whether all points of a line are inside the axes."""
    places = axes.transAxes.inverted().transform(
        line.get_transform().transform(np.column_stack(line.get_data()))
    )
    return bool(((places > -1e-9) & (places < 1 + 1e-9)).all())


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_what_hardly_changes_is_not_magnified(tmp_path, scale):
    axes = draw(tmp_path / "one.png", {1: 6.0, 10: 6.0, 100: 5.99999}, scale=scale)
    low, high = axes.get_ylim()
    assert (high - low) / 6 > 0.05
    assert low < 5.99999
    assert high > 6


def test_zero_has_a_place_on_a_logarithmic_axis(tmp_path):
    axes = draw(tmp_path / "one.png", {1: 2.0, 10: 0.0})
    assert axes.get_ylim()[0] <= 0 < axes.get_ylim()[1]
    assert all(inside(axes, line) for line in axes.lines)


def test_what_is_not_bounded_is_drawn_at_the_edge(tmp_path):
    axes = draw(tmp_path / "one.png", {1: math.inf, 10: math.inf, 100: 3.0})
    edge = next(line for line in axes.lines if line.get_label() == "line: not bounded")
    assert list(edge.get_xdata()) == [1, 10]
    assert all(inside(axes, line) for line in axes.lines)
    assert [text.get_text() for text in axes.texts] == ["asked: not bounded"]


def test_a_legend_that_would_cover_something_goes_below(tmp_path):
    with drawing(tmp_path / "one.png", title="", across="", up="") as axes:
        grid = np.linspace(0, 1, 30)
        for height in grid:
            axes.plot(grid, np.full(30, height), label="full" if height == 0 else None)
    assert not axes.get_legend().get_window_extent().overlaps(axes.get_window_extent())


def test_legends_of_one_figure_go_below_together(tmp_path):
    """The legend of one panel makes the others lower, so that theirs would cover something."""
    with panels(tmp_path / "two.png", [("", "", "")] * 2, inches=(8, 3)) as both:
        grid = np.linspace(0, 1, 30)
        for height in grid:
            both[0].plot(grid, np.full(30, height), label="full" if height == 0 else None)
        both[1].plot([0, 1], [0, 1], label="line")
    for axes in both:
        assert not axes.get_legend().get_window_extent().overlaps(axes.get_window_extent())


def test_a_legend_that_covers_nothing_stays_inside(tmp_path):
    with drawing(tmp_path / "one.png", title="", across="", up="") as axes:
        axes.plot([0, 1], [0, 1], label="line")
    box, frame = axes.get_legend().get_window_extent(), axes.get_window_extent()
    assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
    assert frame.y0 <= box.y0 <= box.y1 <= frame.y1


def test_amplification_without_an_epsilon_local_says_where_nothing_is_proved(ax):
    leaky = randomizer("matrix", matrix=[[1.0, 0.0], [0.5, 0.5]])
    axes = plot_amplification(leaky, epsilon_local=math.inf, n=50, delta=1e-6, ax=ax)
    assert "n = 50: not bounded" in [text.get_text() for text in axes.texts]


def test_points_of_the_ladder(ladder, saved):
    drawn = list(ladder_points(ladder))
    assert len(drawn) == 1
    (axes,) = saved[-1].axes
    assert not axes.patches
    names = [label.get_text() for label in axes.get_yticklabels()]
    shown = {}
    for line in axes.lines:
        assert inside(axes, line), line.get_label()
        for place, row in zip(*line.get_data(), strict=True):
            shown.setdefault(names[round(row)], {})[line.get_label()] = place
    assert set(shown) == {str(rung) for rung in ladder.plan.rungs}
    for step in ladder:
        rung = shown[str(step.rung)]
        if step.epsilon is not None:
            assert rung["proved: at most"] == step.epsilon.value
            if step["epsilon"].lower:
                assert rung["an attack: at least"] == step["epsilon"].lower


def test_the_plot_of_a_plan_of_four_rounds_holds_the_numbers_of_its_table(ladder_of, saved):
    ladder = ladder_of("rounds")
    assert list(PlanPlots(ladder.plan).epsilon_over_people(lambda _: None))
    (axes,) = saved[-1].axes
    labels = {text.get_text(): text.xy for text in axes.texts}
    assert labels["minimum, 2,000"] == (2000, ladder["batch"].epsilon.value)
    assert axes.get_ylabel() == "epsilon, at most,\n4 rounds"
    assert all(inside(axes, line) for line in axes.lines)
    lines = {line.get_label(): line for line in axes.lines}
    (together,) = set(lines[Rung.COLLUSION.meaning].get_ydata())
    assert together == ladder["collusion"].epsilon.value


def test_small_batches_are_drawn_where_a_plan_needs_a_minimum_crowd(ladder_of, saved):
    plan = ladder_of("mallows").plan.replace(protections__minimum_crowd=113)
    assert list(PlanPlots(plan).epsilon_over_people(lambda _: None))
    (axes,) = saved[-1].axes
    assert axes.lines[0].get_xdata().min() < 113


@pytest.mark.parametrize("name", ["dummies", "two-half"])
def test_the_plot_of_a_plan_with_dummies_holds_the_numbers_of_its_table(ladder_of, saved, name):
    ladder = ladder_of(name)
    assert list(PlanPlots(ladder.plan).epsilon_over_people(lambda _: None))
    (axes,) = saved[-1].axes
    labels = {text.get_text(): text.xy for text in axes.texts}
    assert labels["minimum, 2,000"] == (2000, ladder["batch"].epsilon.value)
    lines = {line.get_label(): line for line in axes.lines}
    last = ladder.plan.rungs[-1]
    assert set(lines[last.meaning].get_ydata()) == {ladder[last].epsilon.value}


def test_the_error_over_the_noise_includes_dummies(ladder_of, saved):
    plan = ladder_of("dummies").plan
    assert len(list(PlanPlots(plan).over_noise(lambda _: None))) == 3
    (axes,) = saved[-1].axes
    (mark,) = [text.xy for text in axes.texts if text.get_text() == "this plan"]
    assert mark == (1.5, plan.rms_error)
    assert plan.rms_error > plan.randomizer.rms_error(2000)


@pytest.mark.parametrize("name", ["plain", "two-plain"])
def test_answers_without_noise_have_no_plots_over_it(ladder_of, name):
    plots = PlanPlots(ladder_of(name).plan)
    assert list(plots.epsilon_over_people(lambda _: None)) == []
    assert list(plots.over_noise(lambda _: None)) == []


def test_what_is_not_bounded_is_an_arrow_with_words(ax):
    row_points(ax, {0: 1.0, 1: math.inf}, "o", color="black", label="proved")
    assert [(text.get_text(), text.get_position()[1]) for text in ax.texts] == [("not bounded", 1)]
    assert all(inside(ax, line) for line in ax.lines[1:])


def played(cell, *, measured, lower, upper, metric=Metric.GUESS_OF_TWO):
    facts = {"metric": metric, "adversary": Adversary(sees=frozenset({View.BATCH})), "games": 1000}
    seen = Evidence(measured=measured, lower=lower, upper=upper, confidence=0.95, **facts)
    sure = Evidence(measured=measured, lower=lower, upper=upper, confidence=1 - 1e-6, **facts)
    return Played(rung=Rung.BATCH, name="guess_of_two", evidence=seen, sure=sure, cell=cell)


def bound(value, metric=Metric.GUESS_OF_TWO):
    proved = Guarantee(
        metric=metric,
        value=value,
        direction=Direction.UPPER,
        adversary=Adversary(sees=frozenset({View.BATCH})),
        theorem="one",
    )
    return Cell(metric=metric, proved=proved)


def test_attacks_stay_on_the_axis_and_none_is_left_out(ax):
    found = [
        played(bound(0.6), measured=0.9, lower=0.88, upper=0.92),
        played(bound(0.6), measured=0.59, lower=0.58, upper=math.inf),
        played(Cell(metric=Metric.GUESS_OF_TWO, reason="no"), measured=0.3, lower=0.2, upper=0.4),
    ]
    axes = plot_sandwich(found, title="attacks", ax=ax)
    assert len(axes.get_yticks()) == 3
    low, high = axes.get_xlim()
    assert low == 0
    assert high > 0.92 / 0.6
    assert all(inside(axes, line) for line in axes.lines)
    assert "not bounded; measured 0.300" in [text.get_text() for text in axes.texts]


def test_learning_is_drawn_on_the_whole_range(ax):
    rows = {0: [0, 0, 0, 1] * 500, 1: [1, 1, 1, 0] * 500}
    found = sampled_bayes_risk(rows, confidence=0.95)
    axes = plot_convergence(found, inputs=2, ax=ax)
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] >= 0.75
    drawn = {line.get_label(): line.get_ydata()[-1] for line in axes.lines}
    assert drawn["measured"] == 1 - found.log[-1].risk > 0.7
    assert drawn["by luck alone"] == 0.5
