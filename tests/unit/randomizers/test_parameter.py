import numpy as np
import pytest

from croupier.errors import ParameterError, UnknownNameError
from croupier.model import Grid
from croupier.randomizers import MECHANISMS, parameters, randomizer


def read_parameter(name, value):
    """As every mechanism that has the parameter reads it."""
    known = [own for each in MECHANISMS if (own := parameters(each).get(name)) is not None]
    assert all(own.kind is known[0].kind for own in known)
    return known[0].read(value)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("max_epsilon_local", 4, 4.0),
        ("max_epsilon_local", np.float32(0.5), 0.5),
        ("k", np.int64(7), 7),
        ("k", None, None),
        ("labels", ["no", 1], ("no", 1)),
        ("labels", np.array(["a", "b"]), ("a", "b")),
        ("grid", {"low": -0.0, "high": 1, "step": 1}, Grid(0.0, 1.0, 1.0)),
        ("grid", Grid(0, 1, 1), Grid(0, 1, 1)),
        ("matrix", [[3, 1], [1, 3]], ((3, 1), (1, 3))),
        ("weights", [1, 2], (1, 2)),
    ],
)
def test_what_people_write_becomes_what_mechanisms_take(name, value, expected):
    found = read_parameter(name, value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_epsilon_local", True),
        ("max_epsilon_local", "4"),
        ("max_epsilon_local", [4]),
        ("max_epsilon_local", 4j),
        ("k", True),
        ("k", 2.0),
        ("k", 2**64 + 1),
        pytest.param("k", -(10**5000), id="huge"),
        ("labels", "no"),
        ("labels", {"no": 1}),
        ("labels", [True, 2]),
        ("labels", [[1], [2]]),
        ("labels", 5),
        ("grid", 5),
        ("grid", {"low": 0, "high": 1}),
        ("grid", {"low": 0, "high": 1, "step": True}),
        ("grid", {"low": 0, "high": 10**400, "step": 1}),
        ("matrix", [["a"]]),
        ("matrix", [[True, False]]),
        ("matrix", [1, 2]),
        ("matrix", "ab"),
        ("weights", 5),
        ("weights", [1.5]),
        ("queries", "ab"),
    ],
)
def test_anything_else_is_refused_by_name(name, value):
    with pytest.raises(ParameterError) as refusal:
        read_parameter(name, value)
    assert refusal.value.parameter == name
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("name", ["a-z", "a-z0-9", "any"])
def test_names_of_alphabets_are_no_letters(name):
    """Flags of commands spell them out; elsewhere they would be three, six or three letters."""
    with pytest.raises(ParameterError, match="`alphabet` must spell all letters out") as refusal:
        randomizer("text", longest=4, alphabet=name, max_epsilon_local=4.0)
    assert 'Try "abcdefghijklmnopqrstuvwxyz", or leave it out' in refusal.value.hint
    assert randomizer("text", longest=4, alphabet="a-", max_epsilon_local=4.0).alphabet == "a-"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("functions", "many", "`functions` must be a whole number; got 'many'. Try 16."),
        ("levels", "all", "`levels` must be a list of whole numbers; got 'all'. Try [1, 2]."),
        ("k", 2**64 + 1, "`k` must be a whole number up to 2^64. Try 16."),
    ],
)
def test_an_error_says_what_is_wrong(name, value, said):
    with pytest.raises(ParameterError) as refusal:
        read_parameter(name, value)
    assert str(refusal.value) == said


def test_unknown_names_are_told_the_nearest():
    with pytest.raises(
        UnknownNameError, match=r"`kk` is not a parameter of k-rr\. Did you mean k\?"
    ):
        randomizer("k-rr", kk=3, max_epsilon_local=1.0)
    with pytest.raises(ParameterError, match=r"got 'krr'\. Did you mean k-rr\?"):
        randomizer("krr", k=3, max_epsilon_local=1.0)
    with pytest.raises(ParameterError, match=r"`mechanism` must be a name .*; got 5\. Try one of"):
        randomizer(5)


@pytest.mark.parametrize(
    ("mechanism", "parameters", "named"),
    [
        ("laplace", {"grid": {"low": 0, "high": 1, "step": 1e-4}}, "grid"),
        ("subset-selection", {"k": 2**40}, "subset_size"),
    ],
)
def test_what_would_fill_the_memory_is_refused(mechanism, parameters, named):
    with pytest.raises(ParameterError) as refusal:
        randomizer(mechanism, max_epsilon_local=1.0, **parameters)
    assert refusal.value.parameter == named


def test_unary_reports_have_a_limit():
    with pytest.raises(ParameterError, match="`k` must be"):
        _ = randomizer("symmetric-unary", k=2**40, max_epsilon_local=1.0).report_format
