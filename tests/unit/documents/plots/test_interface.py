"""Every function that plots draws on the axes that are given, and returns them."""

import importlib
import inspect
import pkgutil

import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import croupier
from croupier.assessment.sweep import Sweep
from croupier.documents import plots
from croupier.documents.plots.estimates import plot_estimates

FUNCTIONS = {
    name: getattr(module, name)
    for found in pkgutil.iter_modules(plots.__path__, f"{plots.__name__}.")
    for module in [importlib.import_module(found.name)]
    for name in module.__all__
    if name.startswith("plot_")
}


def test_there_are_functions():
    assert len(FUNCTIONS) >= 9


@pytest.mark.parametrize("plot", [*FUNCTIONS.values(), Sweep.plot])
def test_a_plot_takes_axes_and_returns_them(plot):
    signature = inspect.signature(plot)
    assert signature.return_annotation == "Axes"
    axes = signature.parameters["ax"]
    assert axes.default is None
    assert axes.kind is axes.KEYWORD_ONLY


def test_without_axes_a_figure_of_pyplot_is_made(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    response = croupier.randomizer("k-rr", k=2, max_epsilon_local=1.0)
    axes = plot_estimates([response.estimate([0, 1])], title="two people")
    assert isinstance(axes, Axes)
    assert plt.fignum_exists(axes.figure.number)
    plt.close(axes.figure)
