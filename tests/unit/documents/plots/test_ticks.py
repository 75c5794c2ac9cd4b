"""Ticks are written in one style per axis, and axes are named as tables are."""

import pytest
from matplotlib.figure import Figure

from croupier.documents.plots.axes import settled
from croupier.documents.plots.ticks import count, metric_ticks, number, one_in, percent
from croupier.model.metric import Metric


@pytest.mark.parametrize(
    ("written", "value", "view", "text"),
    [
        (count, 1_000, (100, 5_000), "1,000"),
        (count, 1_000, (100, 1e6), "1 k"),
        (count, 500, (100, 1e6), "500"),
        (count, 2e6, (100, 1e7), "2 M"),
        (number, 0.01, (1e-3, 10), "0.01"),
        (number, 0.01, (1e-7, 10), "10⁻²"),
        (number, 2e-5, (1e-5, 1e-4), "2·10⁻⁵"),
        (number, 0, (0, 1e-7), "0"),
        (percent, 0.505, (0.5, 0.51), "50.5 %"),
        (one_in, 1e-4, (1e-5, 1), "1 in 10,000"),
        (one_in, 1, (1e-5, 1), "certain"),
        (one_in, 10, (1e-5, 10), ""),
        (one_in, 0, (0, 1), "0"),
        (one_in, 0.5, (0.2, 1), "50 %"),
    ],
)
def test_a_value_is_written_as_people_write_it(written, value, view, text):
    assert written(value, view) == text


@pytest.mark.parametrize("metric", Metric)
def test_an_axis_is_named_by_the_heading_of_its_metric(metric):
    ax = Figure().subplots()
    metric_ticks(ax.yaxis, metric, ", at most")
    assert ax.get_ylabel() == f"{metric.heading}, at most"


@pytest.mark.parametrize("ends", [(3.0, 9.0), (1e-7, 3e-7), (0.001, 40.0)])
def test_a_logarithmic_axis_has_several_labels_in_one_style(ends):
    ax = Figure(layout="constrained").subplots()
    ax.set_yscale("log")
    ax.plot([1, 2], ends)
    settled(ax)
    ax.figure.draw_without_rendering()
    low, high = ax.get_ylim()
    shown = [text for text in ax.get_yticklabels() if low <= text.get_position()[1] <= high]
    words = [text.get_text() for text in shown if text.get_text()]
    assert len(words) >= 2
    assert len({"10" in word and word not in ("10", "0.10") for word in words}) == 1
    assert not any(text.get_text() for text in ax.get_yticklabels(minor=True))
