"""A receipt with a number of dummies that the plan's table does not make is refused."""

import pytest

from croupier.analyzer.analyzer import analyze
from croupier.analyzer.keys import KeySource
from croupier.errors import NotPublishedError
from croupier.numerics.keystream import Keystream
from tests.unit.dummy_site import release, with_dummies

KEPT, LEFT_OUT, K = 150, 150, 6


@pytest.fixture
def analyzed(make_released, memory_engine):
    """A function that analyzes a batch of a shuffler that keeps half of the reports.

    It takes the error of the number of added rows that the receipt names.
    """
    site = with_dummies(make_released(), k=K, keep=0.5)

    def run(error):
        (table,) = site.plan.dummies
        dummies = table.draw(K, Keystream(insecure_seed=4))
        epoch = site.epoch()
        inner = site.sealed(site.answers([place % K for place in range(KEPT)]), epoch)
        signed = int(dummies.sum()) - LEFT_OUT + error
        path = release(site, inner, epoch, dummies, signed=signed)
        return analyze(site.plan, [path], key=KeySource(site.keys.path), engine=memory_engine)

    return run


def test_the_dummies_less_half_of_the_reports_are_believed(analyzed):
    assert analyzed(0).n == KEPT + LEFT_OUT


@pytest.mark.parametrize("error", [LEFT_OUT, -2000], ids=["nothing is left out", "people made up"])
def test_a_number_that_the_plan_does_not_make_is_refused(analyzed, error):
    with pytest.raises(NotPublishedError, match="less reports that were left out"):
        analyzed(error)
