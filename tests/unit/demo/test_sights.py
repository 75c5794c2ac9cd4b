"""What each party of two shufflers sees, and what they can say about one person."""

from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from croupier.demo.plans import plan_text
from croupier.demo.sights import guess_at_one, of_analyzer, of_first, of_second, posterior
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import COLUMN
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.shufflers.dummies import DummyTable

TABLE = DummyTable((1, 3, 2))


@pytest.fixture(scope="module")
def plan():
    keys = {"shufflers": ["ab" * 32, "cd" * 32], "analyzer": "ef" * 32}
    return Plan.from_toml(plan_text(enrolled=301, minimum=300, **keys))


def test_the_posterior_is_that_of_all_tables_listed():
    """Every draw of dummies and every answer, weighted as the law says."""
    joint = {}
    for draw in product(range(3), repeat=3):
        weight = np.prod([TABLE.weights[each] for each in draw])
        for answer in range(3):
            left = tuple(each + (place == answer) for place, each in enumerate(draw))
            joint.setdefault(left, np.zeros(3))[answer] += weight
    assert len(joint) > 27
    for left, weights in joint.items():
        found = posterior(np.array(left), TABLE)
        assert found == pytest.approx(weights / weights.sum(), abs=1e-12)


def test_everybody_but_one_subtracts_all_that_they_know(plan):
    known, answer = np.array([0] * 200 + [1] * 99), 7
    dummies = [np.arange(30, 40), np.arange(41, 31, -1)]
    rows = np.concatenate([known, [answer], *(np.repeat(np.arange(10), own) for own in dummies)])
    found = guess_at_one(plan, rows, known=known, dummies=dummies)
    assert [each["honest"] for each in found] == [1, 2]
    for each, own in zip(found, dummies, strict=True):
        person = np.array(each["left"]) - own
        assert person.tolist() == [int(value == answer) for value in range(10)]
        table = plan.shufflers[each["honest"] - 1].dummies.table
        chances = posterior(np.array(each["left"]), table)
        assert each["chance"] == chances.max() == chances[each["guess"]]
        assert each["chance"] < np.e / (np.e + 9)  # epsilon 1 among ten, with room for delta


def test_the_analyzer_subtracts_the_mean_of_both(plan):
    seen = of_analyzer(plan, np.array([0] * 100 + [9] * 72))
    assert (seen["rows"][0], seen["expected"]) == (100, 72)
    assert (seen["people"][0], seen["people"][1], seen["people"][9]) == (28, -72, 0)


def test_no_shuffler_is_shown_more_than_sealed_bytes(tmp_path):
    envelopes = [bytes([n]) * 176 for n in range(5)]
    seen = of_first(["70" + f"{n:064x}" for n in range(5)], envelopes, np.arange(10))
    assert seen["bytes"] == 176
    assert seen["rows"][1] == {"sender": "00000000", "sealed": "01" * 8 + " \u2026 " + "01" * 4}
    file = tmp_path / "batch.parquet"
    pyarrow.parquet.write_table(pa.table({COLUMN: [bytes([n]) * 128 for n in range(7)]}), file)
    seen = of_second(file, np.arange(10))
    assert (seen["received"], seen["bytes"], sum(seen["dummies"])) == (7, 128, 45)
    assert seen["rows"] == [
        {"sealed": f"{n:02x}" * 8 + " \u2026 " + f"{n:02x}" * 4} for n in range(3)
    ]


def test_a_demo_with_one_shuffler_keeps_its_plan():
    text = plan_text(enrolled=101, minimum=100, shufflers=["ab" * 32], analyzer="ef" * 32)
    plan = Plan.from_toml(text)
    assert isinstance(plan.randomizer, KaryRandomizedResponse)
    assert (len(plan.shufflers), any(plan.dummies)) == (1, False)
