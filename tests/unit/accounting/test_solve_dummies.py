import re

import pytest

from croupier.accounting.solve import solve
from croupier.errors import ParameterError


def test_fifty_values_at_epsilon_one():
    found = solve("plain", k=50, epsilon=1.0, delta=1e-8)
    assert found.parameter == "standard_deviation"
    assert 2.79 < found.value <= 2.80
    assert (found.mean, found.dummies) == (36.0, 1800.0)
    assert found.curve.epsilon(1e-8) <= 1.0


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 4.0])
def test_both_answers_agree(epsilon):
    first = solve("plain", k=3, epsilon=epsilon, delta=1e-6)
    back = solve("plain", k=3, standard_deviation=first.value, delta=1e-6)
    assert back.parameter == "epsilon"
    assert back.value == pytest.approx(epsilon, rel=1e-3)
    assert back.standard_deviation <= first.value
    assert back.curve.epsilon(1e-6) <= back.value * (1 + 1e-9)


def test_labels_count():
    assert solve("plain", labels=("a", "b", "c"), epsilon=1.0, delta=1e-6).given["k"] == 3


def test_shown_in_words_and_as_a_card():
    found = solve("plain", k=50, epsilon=1.0, delta=1e-8)
    assert repr(found) == "DummySolution(standard_deviation <= 2.80, 1,800 dummies)"
    card = found._repr_html_()
    assert "exact law of the dummies" in card
    assert "36, standard deviation 2.8" in card


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": 5, "epsilon": 1.0}, "`solve` must be given delta and one of epsilon and"),
        ({"k": 5, "delta": 1e-8}, "`solve` must be given delta and one of epsilon and"),
        (
            {"k": 5, "epsilon": 1.0, "delta": 1e-8, "standard_deviation": 3.0},
            "`solve` must be given delta and one of epsilon and",
        ),
        ({"k": 5, "epsilon": 1.0, "delta": 1e-8, "n": 9}, "`n` must be left out for plain"),
        (
            {"k": 5, "epsilon": 1.0, "delta": 1e-8, "epsilon_local": 1.0},
            "`epsilon_local` must be left out for plain",
        ),
        ({"k": 5, "epsilon": 30.0, "delta": 1e-8}, "`epsilon` must be in [0.01, 20]; got 30"),
        ({"k": 5, "standard_deviation": 1.0, "delta": 0.0}, "`delta` must be in [1e-15, 0.1]"),
        (
            {"k": 5, "standard_deviation": 0.001, "delta": 1e-8},
            "`standard_deviation` must be reachable with an epsilon of at most 20; got 0.001.",
        ),
        ({"k": 100_001, "epsilon": 1.0, "delta": 1e-8}, "`k` must be at most 100,000"),
        ({"epsilon": 1.0, "delta": 1e-8}, "`k` must be given"),
    ],
)
def test_what_cannot_be_solved_is_refused(given, said):
    with pytest.raises(ParameterError, match=re.escape(said)):
        solve("plain", **given)
