"""The plot of estimates shows what is printed, and room is left for every name."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from croupier.documents.plots.estimates import estimates_inches, plot_estimates
from croupier.documents.plots.figure import save_plot
from croupier.model.estimate import Estimate
from croupier.model.interval_rule import NormalRule


def estimate(points, *, rule=None, quantity="share"):
    points = np.asarray(points, dtype=float)
    return Estimate(
        quantity=quantity,
        values=[f"value {place}" for place in range(len(points))],
        points=points,
        standard_errors=np.full(len(points), 0.01),
        n=1000,
        rule=rule,
    )


def drawn(found, **named):
    """Rows of the plot: the interval and the dot of each name."""
    axes = plot_estimates(found, title="one", ax=Figure(layout="constrained").subplots(), **named)
    names = [text.get_text() for text in axes.get_yticklabels()]
    rows = {name: {} for name in names}
    for line in axes.lines:
        for row in set(line.get_ydata()):
            across = [x for x, y in zip(*line.get_data(), strict=True) if y == row]
            rows[names[int(row)]]["dot" if line.get_marker() == "o" else "ends"] = across
    return axes, rows


def test_every_value_is_drawn_with_its_interval():
    found = estimate([0.2, 0.5, 0.3])
    axes, rows = drawn([found])
    assert axes.get_xlabel() == "share of people"
    for place, name in enumerate(found.values):
        assert rows[name]["dot"] == [found.points[place]]
        assert rows[name]["ends"] == [found.lower[place], found.upper[place]]


def test_of_many_values_the_largest_are_drawn_and_the_rest_is_counted():
    axes, rows = drawn([estimate(np.linspace(0, 0.04, 50))])
    assert next(iter(rows)) == "value 49"
    assert len(rows) == 20
    assert axes.get_title().endswith("the 20 largest of 50 values")


@pytest.mark.parametrize("values", [1, 5, 50])
def test_names_do_not_collide(tmp_path, values):
    found, kept = [estimate(np.linspace(0.1, 0.2, values))], []

    def keep(*given, ax, **named):
        kept.append(plot_estimates(*given, ax=ax, **named))

    save_plot(tmp_path / "one.png", keep, found, title="one", inches=estimates_inches(found))
    boxes = [text.get_window_extent() for text in kept[0].get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))


def test_fifty_questions_of_two_answers_have_one_row_each(tmp_path):
    questions = [f"feature-{place}" for place in range(50)]
    found = [
        replace(estimate([1 - place / 60, place / 60]), values=("no", "yes")) for place in range(50)
    ]
    axes, rows = drawn(found, questions=questions)
    assert list(rows) == questions[::-1]
    assert axes.get_xlabel() == "share of yes"
    assert rows["feature-30"]["dot"] == [0.5]
    assert "largest" not in axes.get_title()
    kept = []

    def keep(*given, ax, **named):
        kept.append(plot_estimates(*given, ax=ax, **named))

    size = estimates_inches(found)
    save_plot(tmp_path / "one.png", keep, found, title="one", questions=questions, inches=size)
    boxes = [text.get_window_extent() for text in kept[0].get_yticklabels()]
    assert len(boxes) == 50
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))


def test_a_dot_lies_inside_its_interval_and_a_number_outside_is_written():
    raw = NormalRule(np.array([0.05, 0.95]), np.array([0.01, 0.01]))
    found = estimate([-0.02, 0.95], rule=raw)
    axes, rows = drawn([found])
    for row in rows.values():
        (dot,) = row["dot"]
        assert row["ends"][0] <= dot <= row["ends"][1]
    assert [text.get_text() for text in axes.texts] == ["-2 %"]


def test_questions_are_named():
    two = [estimate([0.4, 0.6]), estimate([1.0])]
    _, rows = drawn(two)
    assert list(rows) == ["1: value 0", "1: value 1", "2: value 0"]
    _, rows = drawn(two, questions=["pet", "food"])
    assert list(rows) == ["pet: value 0", "pet: value 1", "food: value 0"]


def test_means_are_not_drawn_on_the_axis_of_shares():
    means = estimate([300.0], quantity="mean")
    axes, rows = drawn([means, estimate([0.4, 0.6])], questions=["age", "pet"])
    assert axes.get_xlabel() == "share of people"
    assert list(rows) == ["pet: value 0", "pet: value 1"]
    assert axes.get_title().endswith("means are not drawn")
    axes, rows = drawn([means, means])
    assert axes.get_xlabel() == "mean"
    assert list(rows) == ["1: value 0", "2: value 0"]


def test_long_names_that_differ_at_their_end_stay_different():
    answers = [f"I use it at least once every single {unit}" for unit in ("day", "week")]
    _, rows = drawn([replace(estimate([0.4, 0.6]), values=answers)])
    assert len(rows) == 2
    assert all(len(name) <= 32 for name in rows)


def test_words_are_drawn_as_they_are_and_not_as_mathematics():
    axes, _ = drawn([replace(estimate([0.4, 0.6]), values=["$x_1$ and $6", "b"])])
    assert not any(text.get_parse_math() for text in (*axes.get_yticklabels(), axes.title))


def test_a_title_fits_above_long_names(tmp_path):
    kept = []

    def keep(*given, ax, **named):
        kept.append(plot_estimates(*given, ax=ax, **named))

    found = [replace(estimate([0.4, 0.6]), values=["a" * 60, "b" * 60])]
    title = "Which features of the application do you use at work?, 1,000 reports"
    save_plot(tmp_path / "one.png", keep, found, title=title, inches=estimates_inches(found))
    kept[0].figure.draw_without_rendering()
    box = kept[0].title.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= kept[0].figure.bbox.x1
