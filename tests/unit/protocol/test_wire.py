"""Strict decoding, domain separation (M22), and lengths that carry nothing."""

import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import DataError, MalformedReportError, ParameterError, SealError
from croupier.plan.plan import Plan
from croupier.protocol.unsealing import open_inner, open_outer
from croupier.protocol.wire import (
    Epoch,
    Seal,
    decode_report,
    decode_reports,
    encode_report,
    envelope_length,
    question,
    seal_inner,
    seal_outer,
)

BASE = {"schema": 2, "population": {"enrolled": 100}, "protections": {"minimum_batch": 50}}
SETS = "subset-selection"
GRID = {"low": 0, "high": 5, "step": 1}
QUESTIONS = [
    {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0},
    {"mechanism": "local-hashing", "k": 100, "max_epsilon_local": 2.0},
    {"mechanism": SETS, "k": 10, "subset_size": 3, "max_epsilon_local": 2.0},
    {"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0},
]
PLANS = [Plan.from_document(BASE | {"randomizer": asked}) for asked in QUESTIONS]
PLANS += [
    Plan.from_document(BASE | {"questions": QUESTIONS, "participation": {"model": model}})
    for model in ("rectified-parallel", "rectified-multinomial", "multinomial")
]
GROUPED = Plan.from_document(
    BASE | {"randomizer": QUESTIONS[0], "shuffling": {"groups": {"sha256": "ab" * 32}}}
)
ANALYZER, SHUFFLER = X25519PrivateKey.generate(), X25519PrivateKey.generate()
EPOCH = Epoch.of(
    PLANS[0],
    round_number=3,
    batch=bytes(range(16)),
    analyzer=ANALYZER.public_key().public_bytes_raw(),
)


def sealed(epoch=EPOCH, report=None, owner=None):
    data = encode_report(PLANS[0], report, round_number=0)
    inner = seal_inner(data, epoch=epoch)
    return seal_outer(inner, key=SHUFFLER.public_key(), epoch=epoch, owner=owner)


@settings(max_examples=1000)
@given(st.data(), st.sampled_from(PLANS), st.integers(0, 7))
def test_whatever_decodes_is_what_would_be_encoded(data, plan, number):
    size = plan.protections.report_size
    body = question(plan, number).report_format.size
    some = st.one_of(
        st.binary(max_size=2 * size),
        st.binary(min_size=body, max_size=body).map(lambda b: (b"\x02\x01" + b).ljust(size, b"\0")),
        st.binary(min_size=2, max_size=4).map(lambda b: b.ljust(size, b"\0")),
    )
    entry = data.draw(some)
    with suppress(MalformedReportError):
        report = decode_report(plan, entry, round_number=number)
        assert encode_report(plan, report, round_number=number) == entry


def by_hand(plan, data, number):
    """docs/wire.md in plain integers: a tuple of them, "null", or why it is refused."""
    if len(data) != plan.protections.report_size:
        return "length"
    if data[0] != 2:
        return "version"
    if data[1] not in (0, 1):
        return "kind"
    form = question(plan, number).report_format
    widths = [max(1, (bound - 1).bit_length()) for bound in form.bounds]
    size = -(-sum(widths) // 8) * data[1]
    if any(data[2 + size :]):
        return "padding"
    if data[1] == 0:
        return "null"
    bits = "".join(f"{byte:08b}" for byte in data[2 : 2 + size])
    fields = []
    for width in widths:
        fields.append(int(bits[:width], 2))
        bits = bits[width:]
    return tuple(fields) if "1" not in bits and is_report(plan, number, fields) else "body"


def is_report(plan, number, fields):
    randomizer = question(plan, number)
    if randomizer.mechanism == "parallel":
        asked, *fields = fields
        if asked >= len(randomizer.queries):
            return False
        randomizer = randomizer.queries[asked]
    bounds = randomizer.report_format.bounds
    fits = all(field < bound for field, bound in zip(fields, bounds, strict=False))
    ascends = all(low < high for low, high in pairwise(fields[: len(bounds)]))
    return fits and not any(fields[len(bounds) :]) and (ascends or randomizer.mechanism != SETS)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.participation_model.model)
@pytest.mark.parametrize("number", range(4))
def test_a_block_is_judged_row_by_row(plan, number):
    """Random, mutated and whole reports: every verdict is that of the specification."""
    rng = np.random.default_rng(number)
    randomizer = question(plan, number)
    values = [[0, 1, 2, 3]] if randomizer.mechanism == "parallel" else [0]
    reports = randomizer.randomize(values * 3000)
    entries = [encode_report(plan, report, round_number=number) for report in reports]
    entries[::10] = [encode_report(plan, None, round_number=number)] * 300
    rows = np.frombuffer(b"".join(entries), dtype=np.uint8).reshape(3000, -1).copy()
    end = 2 + randomizer.report_format.size
    for row in range(0, 3000, 2):
        place = rng.integers(end + 1)
        rows[row, place] = rng.choice([0, 1, 2, rows[row, place] ^ 1, rng.integers(256)])
    rows[:200, 2:end] = rng.integers(256, size=(200, end - 2))
    rows[200:250] = rng.integers(256, size=rows[200:250].shape)

    verdicts = [by_hand(plan, row.tobytes(), number) for row in rows]
    found = decode_reports(plan, rows, round_number=number)
    reasons = Counter(verdict for verdict in verdicts if isinstance(verdict, str))
    assert {"version", "kind", "padding", "null"} <= set(reasons)
    assert found.nulls == reasons.pop("null")
    assert found.malformed == reasons
    accepted = [verdict for verdict in verdicts if isinstance(verdict, tuple)]
    assert found.reports.reshape(len(accepted), -1).tolist() == [list(own) for own in accepted]
    for row, verdict in zip(rows[:300], verdicts, strict=False):
        assert one_by_one(plan, row.tobytes(), number) == verdict


def one_by_one(plan, data, number):
    try:
        report = decode_report(plan, data, round_number=number)
    except MalformedReportError as error:
        return error.reason
    return "null" if report is None else tuple(np.atleast_1d(report).tolist())


def test_reports_of_another_length_are_all_malformed():
    rows = np.zeros((3, 31), dtype=np.uint8)
    assert decode_reports(PLANS[0], rows, round_number=0).malformed == {"length": 3}
    assert not decode_reports(PLANS[0], rows[:0], round_number=0).malformed


@given(st.sampled_from(PLANS), st.integers(0, 7))
def test_what_is_randomised_is_read_again(plan, number):
    randomizer = question(plan, number)
    values = [[0, 1, 2, 3]] if randomizer.mechanism == "parallel" else [0]
    report = randomizer.randomize(values)[0]
    data = encode_report(plan, report, round_number=number)
    assert len(data) == plan.protections.report_size
    assert np.array_equal(decode_report(plan, data, round_number=number), report)


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_no_bytes_open_by_chance(data):
    for opener, key in ((open_outer, SHUFFLER), (open_inner, ANALYZER)):
        with pytest.raises(SealError):
            opener(data, key=key, epoch=EPOCH)


def test_every_flipped_bit_is_refused():
    envelope = sealed()
    for bit in range(8 * len(envelope)):
        changed = bytearray(envelope)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SealError):
            open_outer(bytes(changed), key=SHUFFLER, epoch=EPOCH)


@pytest.mark.parametrize(
    "other",
    [
        replace(EPOCH, plan="00" * 32),
        replace(EPOCH, batch=bytes(16)),
        replace(EPOCH, round_number=4),
        replace(EPOCH, query=bytes(32)),
    ],
    ids=["plan", "batch", "round", "query"],
)
def test_a_seal_is_bound_to_plan_batch_round_and_query(other):
    envelope = sealed()
    opened = open_outer(envelope, key=SHUFFLER, epoch=EPOCH)
    open_inner(opened.inner, key=ANALYZER, epoch=EPOCH)
    with pytest.raises(SealError):
        open_outer(envelope, key=SHUFFLER, epoch=other)
    with pytest.raises(SealError):
        open_inner(opened.inner, key=ANALYZER, epoch=other)


def test_the_outer_seal_is_bound_to_the_whole_key_of_the_analyzer():
    """A person who was shown another key of the analyzer drops out at the shuffler."""
    second = X25519PrivateKey.generate().public_key().public_bytes_raw()
    envelope = sealed(replace(EPOCH, analyzer=second))
    with pytest.raises(SealError):
        open_outer(envelope, key=SHUFFLER, epoch=EPOCH)
    for byte in range(32):
        near = bytearray(EPOCH.analyzer)
        near[byte] ^= 1
        other = replace(EPOCH, analyzer=bytes(near)).info(Seal.OUTER, SHUFFLER.public_key())
        assert other != EPOCH.info(Seal.OUTER, SHUFFLER.public_key())


def test_a_seal_is_bound_to_its_role():
    """One key for both roles would still not let one layer pass for the other."""
    data = encode_report(PLANS[0], None, round_number=0)
    to_shuffler = replace(EPOCH, analyzer=SHUFFLER.public_key().public_bytes_raw())
    inner = seal_inner(data, epoch=to_shuffler)
    longer = replace(EPOCH, report_size=EPOCH.report_size - 48)
    assert len(inner) == longer.envelope_length
    with pytest.raises(SealError) as refused:
        open_outer(inner, key=SHUFFLER, epoch=longer)
    assert refused.value.reason == "seal"


def test_no_two_bindings_share_their_bytes():
    keys = (ANALYZER.public_key(), SHUFFLER.public_key())
    epochs = [
        replace(EPOCH, plan=plan, batch=batch, round_number=number)
        for plan in ("00" * 32, "01" * 32)
        for batch in (bytes(16), b"\1" * 16)
        for number in (0, 1, 256)
    ]
    infos = {epoch.info(role, key) for epoch in epochs for role in Seal for key in keys}
    assert len(infos) == len(epochs) * len(Seal) * len(keys)


@pytest.mark.parametrize("report", [None, np.uint8(0), np.uint8(9)])
def test_lengths_do_not_depend_on_the_content(report):
    assert len(sealed(report=report)) == envelope_length(PLANS[0]) == 128


def test_the_owner_is_told_only_where_groups_are_mixed():
    epoch = Epoch.of(GROUPED, round_number=0, batch=os.urandom(16), analyzer=EPOCH.analyzer)
    envelope = sealed(epoch, owner=2**40)
    assert len(envelope) == envelope_length(GROUPED) == 136
    assert open_outer(envelope, key=SHUFFLER, epoch=epoch).owner == 2**40
    for place in (None, -1, 2**64):
        with pytest.raises(ParameterError, match="owner"):
            sealed(epoch, owner=place)
    with pytest.raises(ParameterError, match="owner"):
        sealed(EPOCH, owner=1)


def test_rounds_take_turns_with_the_questions():
    parallel, multinomial = PLANS[4], PLANS[5]
    assert [question(multinomial, number).mechanism for number in (0, 1, 4)] == [
        "k-rr",
        "local-hashing",
        "k-rr",
    ]
    assert question(parallel, 3).mechanism == "parallel"


@pytest.mark.parametrize("report", [10, -1, [1, 2], 1.5, "9"])
def test_what_is_no_report_is_not_encoded(report):
    with pytest.raises(DataError):
        encode_report(PLANS[0], report, round_number=0)


@pytest.mark.parametrize(
    "change",
    [
        {"plan": "00"},
        {"batch": bytes(15)},
        {"analyzer": bytes(8)},
        {"round_number": -1},
        {"round_number": 2**31},
    ],
)
def test_an_epoch_that_cannot_be(change):
    with pytest.raises(ParameterError):
        replace(EPOCH, **change)


def test_a_report_of_another_size_is_not_sealed():
    with pytest.raises(ParameterError, match="report"):
        seal_inner(bytes(31), epoch=EPOCH)
    with pytest.raises(ParameterError, match="inner"):
        seal_outer(bytes(79), key=SHUFFLER.public_key(), epoch=EPOCH)
