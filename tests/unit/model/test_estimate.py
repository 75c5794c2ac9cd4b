import math
from dataclasses import FrozenInstanceError
from statistics import NormalDist

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import MissingExtraError, ParameterError
from croupier.model import Estimate, Grid
from croupier.randomizers import randomizer


def estimate(points=(0.2, 0.7, 0.1), *, values=None, quantity="share", confidence=0.95):
    size = len(points)
    return Estimate(
        quantity=quantity,
        values=values or tuple("abcdefghijklmnopqrstuvwxyz"[:size]),
        points=np.array(points, dtype=float),
        standard_errors=np.linspace(0.01, 0.02, size),
        n=10_000,
        confidence=confidence,
    )


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_intervals_are_normal_quantiles_around_the_points(confidence):
    found = estimate(confidence=confidence)
    upper = [
        NormalDist(point, error).inv_cdf((1 + confidence) / 2)
        for point, error in zip(found.points, found.standard_errors, strict=True)
    ]
    assert found.upper == pytest.approx(upper)
    assert found.upper - found.points == pytest.approx(found.points - found.lower)


def test_simultaneous_intervals_share_the_doubt():
    single, together = estimate(), estimate().simultaneous()
    assert 1 - together.confidence == pytest.approx(0.05 / 3)
    assert (together.upper > single.upper).all()
    assert (together.points == single.points).all()


def test_intervals_of_several_estimates_share_the_doubt():
    single, together = estimate(), estimate().simultaneous(60)
    assert 1 - together.confidence == pytest.approx(0.05 / 60)
    assert together.coverage == pytest.approx(0.95)
    assert together.holds_together
    assert together.simultaneous() is together
    assert together.simultaneous(30) is together
    assert 1 - single.simultaneous().simultaneous(60).confidence == pytest.approx(0.05 / 60)
    with pytest.raises(ParameterError, match="statements"):
        single.simultaneous(2)


def test_simultaneous_changes_nothing_for_one_value():
    alone = estimate((0.3,), values=("mean",), quantity="mean")
    assert alone.simultaneous().upper == pytest.approx(alone.upper)


@settings(deadline=None)
@given(st.lists(st.floats(-100, 100), min_size=1, max_size=26))
def test_projection_is_the_nearest_distribution(points):
    found = estimate(points)
    nearest = found.projected().points
    assert (nearest >= 0).all()
    assert nearest.sum() == pytest.approx(1)
    # Nearest in a convex set: no corner of it lies in the direction of the point.
    gap = found.points - nearest
    assert (gap - gap @ nearest <= 1e-9).all()


@pytest.mark.parametrize(
    ("points", "nearest"),
    [
        ((0.2, 0.7, 0.1), (0.2, 0.7, 0.1)),
        ((0.5, 0.5, -0.2), (0.5, 0.5, 0.0)),
        ((0.5, 0.6, 0.5), (0.3, 0.4, 0.3)),
        ((2.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
        ((-1.0, -1.0), (0.5, 0.5)),
        ((-7.0,), (1.0,)),
    ],
)
def test_projection_by_hand(points, nearest):
    assert estimate(points).projected().points == pytest.approx(np.array(nearest))


def test_projection_keeps_everything_but_the_points():
    before = estimate((0.9, 0.4, -0.2))
    after = before.projected()
    assert (after.standard_errors == before.standard_errors).all()
    assert (after.n, after.confidence) == (before.n, before.confidence)


def test_a_mean_is_not_projected():
    with pytest.raises(ParameterError) as refusal:
        estimate((0.3,), quantity="mean").projected()
    assert refusal.value.parameter == "quantity"


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, math.nan])
def test_confidence_must_be_a_probability(confidence):
    with pytest.raises(ParameterError) as refusal:
        estimate(confidence=confidence)
    assert refusal.value.parameter == "confidence"


@pytest.mark.parametrize("mechanism", ["k-rr", "laplace", "distribution"])
def test_intervals_are_finite_at_the_largest_confidence(mechanism):
    parameters = {"k": 3} if mechanism == "k-rr" else {"grid": Grid(0, 3, 1)}
    made = randomizer(mechanism, max_epsilon_local=2.0, **parameters)
    sure = math.nextafter(1.0, 0.0)
    found = made.estimate(made.randomize([0, 1, 2] * 20), confidence=sure).simultaneous()
    assert np.isfinite(found.lower).all()
    assert np.isfinite(found.upper).all()


def test_an_estimate_cannot_be_changed():
    found = estimate()
    with pytest.raises(FrozenInstanceError):
        found.n = 3
    for array in (found.points, found.standard_errors):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("quantity", ["share", "mean"])
@pytest.mark.parametrize(
    ("backend", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)],
)
def test_frames_hold_every_number(backend, kind, quantity):
    found = estimate(quantity=quantity)
    frame = found.to_frame(backend)
    assert isinstance(frame, kind)
    assert nw.from_native(frame).to_dict(as_series=False) == {
        "value": ["a", "b", "c"],
        quantity: found.points.tolist(),
        "standard_error": found.standard_errors.tolist(),
        "lower": found.lower.tolist(),
        "upper": found.upper.tolist(),
    }


def test_frames_of_numbered_categories_hold_numbers():
    assert estimate(values=range(3)).to_frame("pyarrow")["value"].to_pylist() == [0, 1, 2]


def without(missing, monkeypatch):
    build = nw.from_dict

    def refuse(columns, *, backend):
        if backend in missing:
            raise ImportError(backend)
        return build(columns, backend=backend)

    monkeypatch.setattr(nw, "from_dict", refuse)


@pytest.mark.parametrize(
    ("missing", "kind"),
    [((), pd.DataFrame), (("pandas",), pl.DataFrame), (("pandas", "polars"), pa.Table)],
)
def test_the_first_installed_library_makes_the_frame(missing, kind, monkeypatch):
    without(missing, monkeypatch)
    assert isinstance(estimate().to_frame(), kind)


@pytest.mark.parametrize(("backend", "package"), [(None, "pyarrow"), ("polars", "polars")])
def test_a_missing_library_is_named(backend, package, monkeypatch):
    without(("pandas", "polars", "pyarrow"), monkeypatch)
    with pytest.raises(MissingExtraError) as refusal:
        estimate().to_frame(backend)
    assert (refusal.value.package, refusal.value.extra) == (package, "frames")


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (estimate(), "Estimate(3 shares from 10,000 reports)"),
        (estimate((0.3,), quantity="mean"), "Estimate(mean from 10,000 reports)"),
    ],
)
def test_repr_says_how_many_reports(found, text):
    assert repr(found) == text


def test_html_escapes_values_and_says_what_is_cut():
    values = ("<b>", *range(24))
    html = estimate(np.full(25, 0.04), values=values)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert "95 % intervals" in html
    assert "; 5 more" in html
    assert html.count("<tr") == 21
    assert "raw" not in html
    beyond = estimate((1.0187, -0.0187))._repr_html_()
    assert "1.019" not in beyond
    assert "`points` has them raw" in beyond
    assert "more" not in estimate()._repr_html_()
