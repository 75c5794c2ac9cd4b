"""One value without arrays gives the bits that arrays of one row give."""

import numpy as np
import pytest

from croupier.errors import DataError, ParameterError
from croupier.model import Categories, Grid, Product, SignVectors
from croupier.numerics.columns import read_column
from croupier.numerics.keystream import WORD, Keystream
from croupier.plan.plan import Plan
from croupier.protocol.wire import encode_report
from croupier.randomizers import MECHANISMS, randomizer

GRID = {"low": 0.0, "high": 4.0, "step": 0.5}
KEPT = {"max_epsilon_permanent": 6.0}
SIGNS = [1, -1, -1, 1, 1]
MADE = [
    ({"mechanism": "k-rr", "k": 7, "max_epsilon_local": 2.0}, range(7)),
    ({"mechanism": "k-rr", "labels": ["cat", "dog", 7], "max_epsilon_local": 1.0}, ["dog", 7]),
    ({"mechanism": "memoised-k-rr", "k": 7, "max_epsilon_local": 2.0} | KEPT, range(7)),
    ({"mechanism": "symmetric-unary", "k": 9, "max_epsilon_local": 2.0}, range(9)),
    ({"mechanism": "optimized-unary", "k": 9, "max_epsilon_local": 2.0}, range(9)),
    ({"mechanism": "rappor", "k": 6, "max_epsilon_local": 3.0}, range(6)),
    ({"mechanism": "rappor", "labels": ["a", 5], "hashes": 1, "max_epsilon_local": 1.0}, ["a", 5]),
    ({"mechanism": "local-hashing", "k": 30, "max_epsilon_local": 2.0}, range(30)),
    ({"mechanism": "dictionary", "k": 30, "max_epsilon_local": 2.0}, range(30)),
    ({"mechanism": "text", "longest": 3, "max_epsilon_local": 2.0}, ["", "a", "höher"]),
    ({"mechanism": "distribution", "grid": GRID, "max_epsilon_local": 2.0}, [0, 0.74, 9]),
    ({"mechanism": "distribution", "grid": GRID}, [0.25, True, 3.1]),
    ({"mechanism": "hadamard", "k": 12, "max_epsilon_local": 2.0}, range(12)),
    ({"mechanism": "subset-selection", "k": 12, "max_epsilon_local": 1.0}, range(12)),
    ({"mechanism": "subset-selection", "k": 3, "max_epsilon_local": 3.0}, range(3)),
    ({"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0}, [0, 0.74, 0.75, 9, -1e300]),
    ({"mechanism": "gaussian", "grid": GRID, "max_epsilon_local": 4.0}, [0.25, 3.1]),
    ({"mechanism": "one-bit-mean", "grid": GRID, "max_epsilon_local": 2.0}, [0.25, True, 3.1]),
    ({"mechanism": "sampled-sign", "dimension": 5, "max_epsilon_local": 1.0}, [SIGNS]),
    ({"mechanism": "plain", "k": 5}, range(5)),
    ({"mechanism": "matrix", "matrix": [[3, 1, 0], [1, 3, 0]]}, range(2)),
    ({"mechanism": "matrix", "matrix": [[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]]}, range(2)),
    (
        {
            "mechanism": "parallel",
            "queries": [
                {"mechanism": "k-rr", "labels": ["no", "yes"], "max_epsilon_local": 1.0},
                {"mechanism": "sampled-sign", "dimension": 2, "max_epsilon_local": 1.0},
                {"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0},
            ],
            "weights": [1, 3, 2],
        },
        [["yes", 1, -1, 0.3], ["no", -1, -1, 4]],
    ),
    (
        {
            "mechanism": "parallel",
            "queries": [
                {"mechanism": "k-rr", "labels": ["no", "yes"], "max_epsilon_local": 1.0},
                {"mechanism": "text", "longest": 5, "max_epsilon_local": 1.0},
                {"mechanism": "dictionary", "k": 9, "max_epsilon_local": 2.0},
            ],
        },
        [["yes", "höher", 3], ["no", "", 8]],
    ),
    (
        {
            "mechanism": "together",
            "queries": [
                {"mechanism": "k-rr", "labels": ["no", "yes"], "max_epsilon_local": 1.0},
                {"mechanism": "sampled-sign", "dimension": 2, "max_epsilon_local": 1.0},
                {"mechanism": "subset-selection", "k": 9, "max_epsilon_local": 1.0},
            ],
        },
        [["yes", 1, -1, 3], ["no", -1, -1, 4]],
    ),
]
NAMES = [own["mechanism"] for own, _ in MADE]


def test_every_mechanism_is_covered():
    assert set(NAMES) == set(MECHANISMS)


@pytest.mark.parametrize(("own", "values"), MADE, ids=NAMES)
def test_a_report_of_one_value_is_that_of_a_column_of_one(own, values):
    made = randomizer(**own)
    for seed, value in enumerate([*values] * 20):
        one = made.randomize_one(value, rng=Keystream(insecure_seed=seed))
        many = made.randomize([value], insecure_seed=seed)
        assert one == tuple(np.ravel(many[0]).tolist())
        assert all(type(field) is int for field in one)
        assert made.to_bytes_of_one(one) == made.report_format.to_bytes(many)[0]


@pytest.mark.parametrize(("own", "values"), MADE, ids=NAMES)
def test_both_ways_refuse_the_same_reports(own, values):
    made = randomizer(**own)
    bounds = made.report_format.bounds
    report = made.randomize_one(values[0], rng=Keystream(insecure_seed=1))
    changed = [report]
    for place, bound in enumerate(bounds[:40]):
        changed += [
            (*report[:place], field, *report[place + 1 :])
            for field in (0, 1, report[place] + 1, bound - 1, bound)
        ]
    for fields in changed:
        rows = np.array([fields], dtype=object).astype(np.uint64)
        refused = made.refused(rows[:, 0] if len(bounds) == 1 else rows)[0]
        assert made.is_report(fields) == (not refused)
    assert not made.is_report(report[:-1])
    assert not made.is_report((*report[:-1], float(report[-1])))
    assert not made.is_report((*report[:-1], -1))


@pytest.mark.parametrize(
    "bounds",
    [[6] * 5, [WORD, WORD], [WORD // 2 + 1] * 40 + [3, 3, WORD // 2 + 1], [1, WORD - 1, 2]],
)
def test_a_row_is_drawn_as_a_table_of_one_row(bounds):
    """More than half a word's range refuses almost half of all words: they are drawn again."""
    for seed in range(20):
        one, many = Keystream(insecure_seed=seed), Keystream(insecure_seed=seed)
        assert one.row(bounds) == many.table(bounds, 1)[0].tolist()
        assert one.integer(WORD) == int(many.words(1)[0])  # both have used as many words


@pytest.mark.parametrize("bound", [0, -1, WORD + 1])
def test_a_bound_must_fit_a_word(bound):
    for draw in (lambda rng: rng.integer(bound), lambda rng: rng.integers(bound, 1)):
        with pytest.raises(ParameterError, match="below"):
            draw(Keystream())


DOMAINS = [
    Categories(("no", "yes", 7)),
    Categories(range(5)),
    Grid(low=-1, high=1, step=0.25),
    SignVectors(2),
    Product((Categories(("no", "yes")), Grid(low=0, high=1, step=0.25))),
]
VALUES = [
    *("yes", "other", 7, 7.0, 0, 4, 5, -1, True, 2.5, -0.125, 0.125, 0.375, 1e308, -1e308),
    *(10**30, 10**400, float("nan"), float("inf"), None, b"yes", 1 + 2j),
    *(np.int64(3), np.uint8(4), np.float32(0.3), np.str_("yes"), np.bool_(True)),  # noqa: FBT003
    *([1, -1], (1, 1), [1, 0], [1, -1, 1], np.array([-1, 1]), ["yes", 0.3], ["yes", None]),
    *(["yes", "no"], [1.0, -1.0], [[1, 1]], [], np.array(0.5)),
]


def told(encode):
    """The index as integers, or the kind of the error and the number of values it counts."""
    try:
        return np.ravel(encode()).tolist()
    except (DataError, ParameterError) as error:
        return type(error), str(error).split()[0] if isinstance(error, DataError) else ""


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda own: type(own).__name__)
@pytest.mark.parametrize("value", VALUES, ids=lambda own: repr(own)[:30])
def test_one_value_is_encoded_as_in_a_column(domain, value):
    assert told(lambda: domain.encode_one(value)) == told(
        lambda: domain.encode(read_column([value]))[0]
    )


@pytest.mark.parametrize("given", [2, np.int64(2), np.uint8(2), (2,), np.array([2])])
def test_a_report_is_encoded_however_it_is_given(given):
    plan = Plan.from_toml(
        'schema = 2\nrandomizer = {mechanism = "k-rr", k = 5, max_epsilon_local = 1}\n'
        "population.enrolled = 9\nprotections.minimum_batch = 5"
    )
    assert encode_report(plan, given, round_number=0)[:3] == b"\x02\x01\x40"
    for wrong in (5, -1, 2.0, "2", [2, 2], [[2]]):
        with pytest.raises(DataError, match="1 entries are not reports of k-rr"):
            encode_report(plan, wrong, round_number=0)
