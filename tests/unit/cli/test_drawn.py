"""A plot of a command holds the numbers that the command prints, where they were asked for."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

K_RR = ("--mechanism", "k-rr", "--k", 10, "--max-epsilon-local", 4)


@pytest.fixture
def axes_of(croupier, tmp_path, monkeypatch):
    """The axes that a command draws, and its document."""
    saved, save = [], Figure.savefig

    def keep(figure, *given, **named):
        saved.append(figure)
        save(figure, *given, **named)

    monkeypatch.setattr(Figure, "savefig", keep)

    def drawn(*arguments):
        outcome = croupier(*arguments, "--plot", tmp_path / "plot.png", "--json")
        assert outcome.code == 0, outcome.err
        return saved[-1].axes[0], outcome.document

    return drawn


def heights(axes, place):
    """What lines that are named in the legend show there."""
    shown = {}
    for line in axes.lines:
        across, up = (np.asarray(data, dtype=float) for data in line.get_data())
        if not line.get_label().startswith("_") and place in across:
            shown[line.get_label()] = up[across == place][0]
    return shown


def marked(axes):
    """Where labels stand, each on a point that is drawn inside the axes."""
    found = {}
    for text in axes.texts:
        place, height = text.xy
        points = {(x, y) for line in axes.lines for x, y in zip(*line.get_data(), strict=True)}
        assert (place, height) in points, text
        x, y = axes.transAxes.inverted().transform(axes.transData.transform(text.xy))
        assert 0 <= x <= 1, text
        assert 0 <= y <= 1, text
        found[text.get_text()] = text.xy
    return found


def test_bayes_security_of_a_batch_is_what_is_drawn(axes_of):
    axes, document = axes_of("leakage", "bayes-security", *K_RR, "--n", 10_000)
    place, value = marked(axes)["epsilon_local = 4"]
    assert value == document["bayes_security"]
    shown = heights(axes, place)
    assert shown["batch of 10,000: at least"] == value
    assert shown["batch of 10,000: at most"] == document["bayes_security_upper"]
    assert shown["one report"] < value


def test_bayes_security_of_one_report_is_drawn_where_it_is_asked(axes_of):
    axes, document = axes_of("leakage", "bayes-security", *K_RR)
    place, value = marked(axes)["epsilon_local = 4"]
    assert value == document["bayes_security"] == heights(axes, place)["one report"]


def test_a_reader_who_knows_everybody_else_is_drawn_if_asked_for(axes_of):
    n = 100
    flags = ("leakage", "vulnerability", *K_RR, "--n", n)
    axes, document = axes_of(*flags, "--informed")
    shown = heights(axes, n)
    assert shown["guess, knows others: at most"] == document["guess_informed_upper"]
    assert shown["guess, knows nobody"] == document["guess_uninformed"]
    assert axes.get_ylim()[0] == 0
    assert marked(axes)[f"n = {n:,}"] == (n, document["guess_informed_upper"])
    assert "guess, knows others: at most" not in heights(axes_of(*flags)[0], n)


def test_without_noise_whoever_knows_everybody_else_is_certain(axes_of):
    flags = ("leakage", "vulnerability", "--k", 3, "--n", 10, "--shuffle-only", "--informed")
    axes, document = axes_of(*flags)
    assert document["guess_informed_upper"] == 1
    assert heights(axes, 10)["guess, knows others: at most"] == 1


def test_rounds_are_drawn_if_asked_for(axes_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)  # added up: quick
    bit = ("--mechanism", "k-rr", "--k", 2, "--max-epsilon-local", 1)
    flags = ("amplify", *bit, "--n", 200, "--delta", 1e-6)
    axes, document = axes_of(*flags, "--rounds", 12)
    shown = heights(axes, 200)
    assert shown["one round: at most"] == document["epsilon_upper"]
    assert shown["one round: at least"] == document["epsilon_lower"]
    assert shown["12 rounds: at most"] == document["epsilon_composed"]
    assert {height for _, height in marked(axes).values()} == {
        document["epsilon_upper"],
        document["epsilon_composed"],
    }
    assert "12 rounds: at most" not in heights(axes_of(*flags)[0], 200)


def test_an_epsilon_that_hardly_changes_looks_that_way(axes_of):
    axes, document = axes_of("amplify", "--max-epsilon-local", 6, "--n", 100, "--delta", 1e-12)
    low, high = axes.get_ylim()
    assert axes.get_yscale() == "log"
    assert high / low > 9.9
    assert low < document["epsilon_upper"] < high


def test_an_epsilon_of_nothing_is_drawn(axes_of):
    flags = ("--mechanism", "k-rr", "--k", 2, "--max-epsilon-local", 0.05, "--n", "1e8")
    axes, document = axes_of("amplify", *flags, "--delta", 1e-3)
    assert document["epsilon_upper"] == 0
    assert next(iter(marked(axes).values()))[1] == 0


def test_corrupt_people_are_not_called_honest(axes_of):
    axes, document = axes_of("leakage", "reidentification", *K_RR, "--n", 1000, "--corrupt", 100)
    place, value = marked(axes)["900 honest people"]
    assert (place, value) == (900, document["reidentification_upper"])
    assert heights(axes, 900)["proved: at most"] == value


@pytest.mark.parametrize(
    "odd", [("--n", 60_000, "--max-epsilon-local", 2), ("--n", 20, "--max-epsilon-local", 6)]
)
def test_side_channels_are_points_that_nothing_covers(axes_of, monkeypatch, odd):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)  # added up: quick
    axes, document = axes_of("sidechannels", "table", *odd, "--rounds", 4, "--delta", 1e-5)
    assert axes.get_xscale() == "log"
    assert not axes.patches  # a bar would begin at nothing, which such an axis has not
    shown = {value for line in axes.lines for value in np.asarray(line.get_xdata(), float).tolist()}
    for cell in document["cells"]:
        assert {cell["epsilon_upper"], cell["worst_epsilon_upper"]} <= shown
    low, high = axes.get_xlim()
    assert low < min(cell["epsilon_upper"] for cell in document["cells"])
    assert high > max(cell["worst_epsilon_upper"] for cell in document["cells"])
    box = axes.get_legend().get_window_extent()
    points = [axes.transData.transform(np.column_stack(line.get_data())) for line in axes.lines]
    assert not any(box.contains(x, y) for x, y in np.concatenate(points))
