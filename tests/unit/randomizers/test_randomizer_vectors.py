"""The published integers and laws: croupier has them, and a second implementation writes them."""

import hashlib
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from croupier.errors import CroupierError
from croupier.numerics.columns import read_column
from croupier.randomizers import MECHANISMS, ParallelRandomizer, TogetherRandomizer, randomizer

FOLDER = Path(__file__).parents[2] / "vectors"
TEXT = (FOLDER / "randomizers.json").read_text(encoding="utf-8")
VECTORS = json.loads(TEXT)


def name(case):
    return ascii(" ".join(map(str, [*case["specification"].values(), case.get("batch", "")])))


def made_of(case):
    """The mechanism, in the batch of the case if it varies by batch."""
    return randomizer(**case["specification"]).in_batches((bytes.fromhex(case.get("batch", "")),))


def cases(section):
    return pytest.mark.parametrize("case", VECTORS[section], ids=name)


def row(report):
    return np.atleast_1d(report).tolist()


def law(channel):
    """The columns by report."""
    columns = channel.weights.T.tolist()
    return {tuple(row(y)): column for y, column in zip(channel.outputs, columns, strict=True)}


def published(case):
    columns = zip(*case["weights"], strict=True)
    return {tuple(y): [*column] for y, column in zip(case["reports"], columns, strict=True)}


def test_the_file_is_what_the_second_implementation_writes():
    assert runpy.run_path(str(FOLDER / "make_randomizers.py"))["text"]() == TEXT


@cases("integers")
def test_integers(case):
    made = made_of(case)
    assert list(made.draw_bounds) == case["draw_bounds"]
    assert list(made.report_format.bounds) == case["bounds"]
    for answer in case["responses"]:
        draws = np.array([answer["draws"]], dtype=np.uint64)
        assert row(made.respond(np.array([answer["index"]]), draws)[0]) == answer["report"]
        index = answer["index"]
        own = made.respond_one(tuple(index) if isinstance(index, list) else index, answer["draws"])
        assert [*own] == answer["report"]


def weights_of(made):
    """The integers of a mechanism that is not a table."""
    if made.mechanism == "one-bit-mean":
        return [ones for _, ones in made.table.rows]
    if made.mechanism.endswith("unary"):
        return list(made.bit_weights)
    if made.mechanism == "plain":
        return made.channel().weights[0, :2].tolist() if made.domain.size < 4096 else [1, 0]
    rare = {
        "hadamard": "_miss",
        "subset-selection": "_miss",
        "rappor": "flip_weight",
        "sampled-sign": "_blanket",
    }
    if made.mechanism in rare:
        weight = getattr(made, rare[made.mechanism])
        return [made.denominator - weight, weight]
    if made.mechanism == "distribution":
        return [weight for level in made.levels for weight in weights_of(level)] or [1, 0]
    chances = made.likelihoods if made.varies_by_batch else made.levels
    if made.permanent is not None:
        chances = [each.levels[1] for each in (made.permanent, made.instantaneous)]
    return [int(chance * made.denominator) for chance in chances]


@cases("integers")
def test_weights(case):
    made = randomizer(**case["specification"])
    if "table" in case:
        text = json.dumps(made.table.rows, separators=(",", ":"))
        assert hashlib.sha256(text.encode()).hexdigest() == case["table"]
        assert made.epsilon_local == case["epsilon"]
        return
    assert weights_of(made) == case["weights"]


@pytest.mark.parametrize("section", ["integers", "laws", "refused"])
def test_every_mechanism_that_a_plan_can_name_has_vectors(section):
    """Those of several questions, which have no integers of their own, have entries of theirs."""
    named = {case["specification"]["mechanism"] for case in VECTORS[section]}
    assert named | {"parallel", "together"} >= set(MECHANISMS)


@cases("refused")
def test_refused_specifications(case):
    with pytest.raises(CroupierError):
        _ = randomizer(**case["specification"]).report_format


@cases("laws")
def test_laws(case):
    made = made_of(case)
    assert law(made.channel()) == published(case)

    assert len(case["values"]) == made.domain.size


def test_the_law_of_parallel_questions():
    case = VECTORS["parallel"]
    queries = tuple(randomizer(**own) for own in case["queries"])
    made = ParallelRandomizer(queries=queries, weights=tuple(case["weights_of_queries"]))
    assert list(made.draw_bounds) == case["draw_bounds"]
    assert law(made.channel()) == published(case)


def test_the_law_of_questions_together():
    case = VECTORS["together"]
    made = TogetherRandomizer(queries=tuple(randomizer(**own) for own in case["queries"]))
    assert list(made.draw_bounds) == case["draw_bounds"]
    assert made.budget_cost == case["cost"]
    assert law(made.channel()) == published(case)


@cases("costs")
def test_the_cost_of_questions_together_is_their_sum_in_decimals(case):
    assert randomizer(**case["specification"]).budget_cost == case["cost"]


@cases("values")
def test_values(case):
    domain = randomizer(**case["specification"]).domain
    if case["index"] is not None:
        assert domain.encode(read_column([case["value"]])).tolist() == [case["index"]]
        return
    with pytest.raises(CroupierError):
        domain.encode(read_column([case["value"]]))
