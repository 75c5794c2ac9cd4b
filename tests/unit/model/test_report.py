import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from croupier.errors import DataError
from croupier.model.report import ReportFormat

WORD = 1 << 64

bounds = st.lists(
    st.integers(1, 300) | st.integers(1, WORD) | st.integers(0, 64).map(lambda bits: 1 << bits),
    min_size=1,
    max_size=6,
).map(tuple)


@st.composite
def batches(draw):
    form = ReportFormat(draw(bounds))
    row = st.tuples(*(st.integers(0, bound - 1) for bound in form.bounds))
    rows = draw(st.lists(row, max_size=5))
    reports = np.array(rows, dtype=form.dtype).reshape(len(rows), len(form.bounds))
    return form, reports[:, 0] if len(form.bounds) == 1 else reports


def packed(form, row):
    """The bits of one report, put together as one Python integer."""
    number, bits = 0, 0
    for bound, entry in zip(form.bounds, row, strict=True):
        width = max(1, (bound - 1).bit_length())
        number, bits = number << width | int(entry), bits + width
    size = -(-bits // 8)
    return (number << 8 * size - bits).to_bytes(size, "big")


@settings(deadline=None)
@given(batches())
def test_bytes_give_the_reports_back(batch):
    form, reports = batch
    back = form.from_bytes(form.to_bytes(reports))
    assert back.dtype == form.dtype
    assert back.shape == reports.shape
    assert (back == reports).all()


@settings(deadline=None)
@given(batches())
def test_bytes_are_the_bits_most_significant_first(batch):
    form, reports = batch
    rows = reports.reshape(len(reports), len(form.bounds))
    assert form.to_bytes(reports) == [packed(form, row) for row in rows]
    assert form.size == len(packed(form, [0] * len(form.bounds)))


@pytest.mark.parametrize(
    ("bounds", "size", "dtype"),
    [
        ((2,), 1, np.uint8),
        ((256,), 1, np.uint8),
        ((257,), 2, np.uint16),
        ((2,) * 9, 2, np.uint8),
        ((1,), 1, np.uint8),
        ((10, 2), 1, np.uint8),
        ((1 << 32, 2), 5, np.uint32),
        (((1 << 32) + 1,), 5, np.uint64),
        ((WORD, WORD), 16, np.uint64),
    ],
)
def test_size_and_type_are_the_smallest_that_fit(bounds, size, dtype):
    form = ReportFormat(bounds)
    assert (form.size, form.dtype) == (size, dtype)


@pytest.mark.parametrize(
    ("bounds", "entries", "count"),
    [
        ((5,), [b"\x01"], 1),
        ((5,), [b"\x00", b"\x10", b"\x01", b"\x02"], 3),
        ((2, 2, 2), [b"\x10"], 1),
        ((2,) * 9, [b"\xff\x80", b"\xff\x81"], 1),
        ((5,), [b"\xa0", b"\x80", b"\xe0"], 2),
        ((1,), [b"\x80", b"\x00"], 1),
        ((WORD - 1,), [b"\xff" * 8, b"\xff" * 7 + b"\xfe"], 1),
        ((3, 3), [b"\xc0", b"\x30", b"\xa0"], 2),
        ((5,), [b"", b"\x00"], 1),
        ((5,), [b"\x00\x00", b"\x00"], 1),
        ((WORD,), [bytes(7), bytes(9), bytes(8)], 2),
        ((5,), ["\x00", None, 0, bytearray(1), b"\x00"], 4),
    ],
)
def test_stray_bits_high_integers_wrong_lengths_and_kinds_are_refused(bounds, entries, count):
    with pytest.raises(DataError) as refusal:
        ReportFormat(bounds).from_bytes(entries)
    assert refusal.value.count == count


@settings(deadline=None)
@given(batches(), st.data())
def test_any_padding_bit_is_refused(batch, data):
    form, reports = batch
    widths = sum(max(1, (bound - 1).bit_length()) for bound in form.bounds)
    padding = 8 * form.size - widths
    entries = form.to_bytes(reports)
    assume(padding and entries)
    stray = data.draw(st.integers(1, (1 << padding) - 1))
    broken = bytes([*entries[-1][:-1], entries[-1][-1] | stray])
    with pytest.raises(DataError, match=r"^1 "):
        form.from_bytes([*entries[:-1], broken])


@pytest.mark.parametrize(
    ("bounds", "reports", "count"),
    [
        ((5,), np.array([0, 4, 5, -1]), 2),
        ((5,), np.array([4, 5], dtype=np.uint64), 1),
        ((5,), np.array([0.0, 1.0]), 2),
        ((5,), np.array(["0", "1"]), 2),
        ((5,), np.array([0, None], dtype=object), 2),
        ((5,), np.array([[0], [1]]), 2),
        ((2, 3), np.array([0, 1]), 2),
        ((2, 3), np.array([[0, 1, 0]]), 1),
        ((2, 3), np.array([[1, 2], [2, 0], [0, 3], [2, 3]]), 3),
        ((2, 2), np.array([[True, False]]), 0),
        ((WORD,), np.array([WORD - 1], dtype=np.uint64), 0),
        ((WORD,), np.array([-1]), 1),
        ((WORD - 1,), np.array([WORD - 1, WORD - 2], dtype=np.uint64), 1),
    ],
)
def test_malformed_reports_are_counted(bounds, reports, count):
    assert ReportFormat(bounds).malformed(reports) == count
