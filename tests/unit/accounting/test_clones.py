import pytest

from croupier.accounting.clones import clone_curve, require_stronger_clones, stronger_clone_curve
from croupier.errors import ParameterError
from croupier.model import Grid
from croupier.randomizers import randomizer

SATISFIES = [
    randomizer("k-rr", k=2, max_epsilon_local=1.0),
    randomizer("k-rr", k=7, max_epsilon_local=3.0),
    randomizer("one-bit-mean", grid=Grid(0, 1, 1), max_epsilon_local=1.0),
]
VIOLATES = [
    randomizer("one-bit-mean", grid=Grid(0, 1, 0.5), max_epsilon_local=1.0),
    randomizer("optimized-unary", k=4, max_epsilon_local=1.0),
    randomizer("hadamard", k=5, max_epsilon_local=1.0),
    randomizer("subset-selection", k=6, subset_size=2, max_epsilon_local=1.0),
    randomizer("local-hashing", k=4, max_epsilon_local=1.0, prime=5),
    randomizer("optimized-unary", k=1000, max_epsilon_local=1.0),
    randomizer("matrix", matrix=((0.5, 0.5, 0.0), (0.2, 0.5, 0.3))),
]


@pytest.mark.parametrize("mechanism", SATISFIES, ids=repr)
def test_stronger_clones_where_the_condition_holds(mechanism):
    stronger = stronger_clone_curve(mechanism, n=1000).epsilon(1e-6)
    assert stronger < clone_curve(epsilon_local=mechanism.epsilon_local, n=1000).epsilon(1e-6)


@pytest.mark.parametrize("mechanism", VIOLATES, ids=repr)
def test_stronger_clones_are_refused_elsewhere_and_the_erratum_is_named(mechanism):
    with pytest.raises(ParameterError, match=r"erratum"):
        require_stronger_clones(mechanism)


def test_the_condition_is_an_equality_of_integers_for_k_rr():
    response = randomizer("k-rr", k=3, max_epsilon_local=1.0, denominator=1000)
    require_stronger_clones(response)
    (row, *_) = response.channel().weights.tolist()
    truth, other, _ = row
    worse = [[truth + 1, other - 1, other], [other, truth, other], [other, other, truth]]
    with pytest.raises(ParameterError, match="erratum"):
        require_stronger_clones(randomizer("matrix", matrix=worse))


@pytest.mark.parametrize("epsilon_local", [0.0, -1.0, float("nan"), 101.0])
def test_impossible_epsilon_local_is_refused(epsilon_local):
    with pytest.raises(ParameterError, match="epsilon_local"):
        clone_curve(epsilon_local=epsilon_local, n=10)
