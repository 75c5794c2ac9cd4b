"""A running shuffler, tested: everything sent is released once, with no trace of its sender."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.shuffler.check import ShufflerCheck
from croupier.auditing.shuffler.order_uniformity import OrderTest, order_tests, pooled_order_tests
from croupier.auditing.shuffler.released_dummies import Foreign, ReleasedDummies
from croupier.auditing.shuffler.sent import Sent
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import Rows
from croupier.protocol.receipt import Receipt

__all__ = ["NOT_SEEN", "ORDERS", "Foreign", "ShufflerAudit", "ShufflerCheck", "audit_shuffler"]

_WINDOW = 16
"""The number of shared bytes of an envelope and a released row that cannot be an accident."""
_LEAST_ORDERED, _LEAST_POOLED = 8, 2
"""Test reports per batch from which on its order is tested: by itself, and with others."""
ORDERS = {
    "position": "by order of sending",
    "timing": "by time of sending",
    "ciphertext": "by the bytes of the envelopes",
}
"""The orders that the order of release is compared with."""
NOT_SEEN = (
    "reports of other people that were dropped",
    "an order that looks random and that somebody can predict, as from a known seed",
    "patterns of other kinds than those listed, or weaker ones",
    "what the shuffler keeps or tells others",
    "what it does only when nobody tests it",
)
"""Faults that no such audit can see."""


_DUMMIES_NOT_SEEN = "dummies that follow their table, and that somebody knows"
_SAMPLED = "shufflers leave reports out at random (keep), and what is lost cannot be told from it"
_NO_KEY = "The dummies of each report are not tested: that takes the analyzer's key (--keys)"


@dataclass(frozen=True, kw_only=True)
class ShufflerAudit:
    """The findings. They can refute that a shuffler is honest and never confirm it.

    Attributes:
        checks: Every promise that was tested.
        sent: Test reports that were looked for.
        released: Rows of all batches.
        false_alarm: The chance that an honest shuffler is called dishonest.
        notes: Observations that are no violation, or could not be tested.
    """

    checks: tuple[ShufflerCheck, ...]
    sent: int
    released: int
    false_alarm: float
    notes: tuple[str, ...] = ()

    @property
    def not_seen(self) -> tuple[str, ...]:
        """The faults that this audit cannot see."""
        tested = any(check.promise == "dummies" for check in self.checks)
        return (*NOT_SEEN, _DUMMIES_NOT_SEEN) if tested else NOT_SEEN

    @property
    def refuted(self) -> bool:
        """True if some promise was not kept."""
        return any(check.violated for check in self.checks)

    @property
    def power(self) -> tuple[tuple[ShufflerCheck, OrderTest], ...]:
        """One check of every kind of order, for the largest batch and for all together.

        The others of the kind see as much: they differ only in the order compared with.
        """
        looked = [(check, check.order) for check in self.checks if check.order is not None]
        largest = max((check.reports for check, _ in looked if check.batches == 1), default=0)
        found: dict[tuple[int, str], tuple[ShufflerCheck, OrderTest]] = {}
        for check, order in looked:
            if check.batches > 1 or check.reports == largest:
                found.setdefault((check.batches, order.kind), (check, order))
        return tuple(found.values())


def audit_shuffler(  # noqa: PLR0913 - keyword-only facts about one audit
    sent: Sent,
    batches: Mapping[str, Rows],
    receipts: Sequence[Receipt],
    *,
    plan: Plan,
    taken_over: Mapping[str, Receipt] | None = None,
    foreign: Mapping[str, Foreign] | None = None,
    alone: bool = False,
    false_alarm: float = 1e-6,
) -> ShufflerAudit:
    """Compare released batches with what test clients sent into them.

    Lost and doubled reports, batches below the minimum, and bytes that an envelope shares with a
    released row are seen one by one. Of the order, position and timing, only patterns can be seen
    (`order_tests`, and `pooled_order_tests` over all batches, with half of the alarm each);
    `found_from` says how strong they must be. A report is due once its batch has a receipt of
    release. For a report that was sent repeatedly, the first time counts.

    Where shufflers add dummies, half of the alarm goes to them: the numbers that each shuffler
    signed for and, in batches that contain nobody else's reports, the number of each report
    (`ReleasedDummies`).

    Args:
        sent: Test reports that the shuffler acknowledged, and no others.
        batches: The rows of every released batch, by the name of the batch.
        receipts: The shuffler's signed receipts for them, verified already.
        plan: The plan that should be deployed.
        taken_over: The first of two shufflers' receipts, verified already, by the batch's name.
        foreign: The rows that no test client sent, by the batch's name, as the analyzer opens them;
            left out if its key is not at hand.
        alone: True if nobody else sent a report into these batches.
        false_alarm: The chance that an honest shuffler is called dishonest.
    """
    if not 0 < false_alarm < 1:
        raise ParameterError("false_alarm", must="be in (0, 1)", got=false_alarm, hint="Try 1e-6.")
    settled = {receipt.batch: receipt.event for receipt in receipts}
    rows = {name: _keys(batch) for name, batch in batches.items()}
    first = _first_times(sent)
    everything = set().union(*rows.values())
    keys = _keys(first.inner)
    missing = [batch for key, batch in zip(keys, first.batch, strict=True) if key not in everything]
    sampled = any(each.kept < 1 for each in plan.shufflers)
    lost = 0 if sampled else sum(settled.get(batch) == "released" for batch in missing)
    waiting = sum(batch not in settled for batch in missing)
    doubled = sum(len(keys) - len(set(keys)) for keys in rows.values())
    again = sum(len(set(keys)) for keys in rows.values()) - len(everything)
    checks = [
        ShufflerCheck("lost", "sent reports in no batch", lost, 1),
        ShufflerCheck("doubled", "rows that occur twice in their batch", doubled, 1),
        *_against_receipts(rows, receipts, plan, taken_over or {}),
        ShufflerCheck(
            "ciphertext", "rows that share bytes with an envelope", _shared(sent, batches), 1
        ),
    ]
    if sampled:
        del checks[0]
    uniform = plan.shuffling.order == "uniform" and plan.shuffling.groups is None
    each = false_alarm / (2 if any(plan.dummies) else 1)
    orders = _order_checks(first, rows.values(), each) if uniform else []
    released = ReleasedDummies(plan, receipts, taken_over or {}, first, alone=alone)
    checks += [*orders, *released.checks(foreign or {}, each)]
    few = f"{_LEAST_ORDERED} test reports in one batch, or {_LEAST_POOLED} in each of two"
    notes = {
        f"{waiting:,} reports wait for the receipt of their batch": waiting,
        f"{again:,} rows are also in another batch: somebody sent them twice": again,
        "The order is not tested: the plan's is not uniform over the batch": not uniform,
        f"The order is not tested: that takes {few}": uniform and not orders,
        f"Lost reports and dummies are not tested: {_SAMPLED}": sampled,
        _NO_KEY: any(plan.dummies) and not sampled and foreign is None,
        **dict.fromkeys(released.notes() if foreign else (), True),
    }
    return ShufflerAudit(
        checks=tuple(checks),
        sent=len(first),
        released=sum(map(len, rows.values())),
        false_alarm=false_alarm,
        notes=tuple(note for note, present in notes.items() if present),
    )


def _first_times(sent: Sent) -> Sent:
    """Return what was sent, without repetitions of a report."""
    first: dict[bytes, int] = {}
    for number, key in enumerate(_keys(sent.inner)):
        first.setdefault(key, number)
    kept = np.array([*first.values()], dtype=np.int64)
    batch = tuple(sent.batch[number] for number in kept)
    return Sent(sent.envelopes[kept], sent.inner[kept], sent.time[kept], batch)


def _against_receipts(
    rows: Mapping[str, list[bytes]],
    receipts: Sequence[Receipt],
    plan: Plan,
    taken_over: Mapping[str, Receipt],
) -> list[ShufflerCheck]:
    counts = {receipt.batch: receipt.counts.released for receipt in receipts}
    wrong = sum(len(keys) != counts.get(name) for name, keys in rows.items())
    minimum = plan.protections.minimum_batch
    added = {name: receipt.counts.added or 0 for name, receipt in taken_over.items()}
    for receipt in receipts:
        added[receipt.batch] = added.get(receipt.batch, 0) + (receipt.counts.added or 0)
    small = sum(len(set(keys)) - added.get(name, 0) < minimum for name, keys in rows.items())
    less = ", without dummies" if any(plan.dummies) else ""
    words = f"batches of fewer than {minimum:,} different rows{less}"
    return [
        ShufflerCheck("count", "batches of another size than their receipt says", wrong, 1),
        ShufflerCheck("minimum", words, small, 1),
    ]


def _order_checks(
    sent: Sent, batches: Iterable[list[bytes]], false_alarm: float
) -> list[ShufflerCheck]:
    """Yield checks of the released order against sending order, time and envelope bytes."""
    inner = _keys(sent.inner)
    found = [_places(inner, keys) for keys in batches]
    orders = [_orders(sent, *one) for one in found if len(one[0]) >= _LEAST_POOLED]
    alone = [one for one in orders if len(one["position"]) >= _LEAST_ORDERED]
    together = len(orders) > 1
    each = false_alarm / (2 if together else 1) / max(len(alone), 1)
    checks = [
        _check(promise, test, reports=len(places))
        for one in alone
        for promise, places in one.items()
        for test in order_tests(places, false_alarm=each / len(one))
    ]
    if not together:
        return checks
    shown = [promise for promise in ORDERS if any(promise in one for one in orders)]
    for promise in shown:
        pooled = [one.get(promise, one["position"]) for one in orders]
        reports = sum(map(len, pooled))
        checks += [
            _check(promise, test, reports=reports, batches=len(pooled))
            for test in pooled_order_tests(pooled, false_alarm=false_alarm / 2 / len(shown))
        ]
    return checks


def _orders(
    sent: Sent, reports: NDArray[np.int64], places: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """Yield the ranks of a batch's test reports, in every order that may leave a trace."""
    envelopes = np.array([*_keys(sent.envelopes[reports]), None], dtype=object)[:-1]
    ranks = np.argsort(np.argsort(places))
    by_time = np.argsort(sent.time[reports], kind="stable")
    orders = {
        "position": ranks,
        "timing": ranks[by_time],
        "ciphertext": ranks[np.argsort(envelopes, kind="stable")],
    }
    if (by_time == np.arange(len(reports))).all():
        del orders["timing"]
    return orders


def _check(promise: str, test: OrderTest, *, reports: int, batches: int = 1) -> ShufflerCheck:
    return ShufflerCheck(
        promise,
        f"of {reports:,} reports {test.name} ({ORDERS[promise]})",
        test.observed,
        test.found_from,
        test.p_value,
        reports,
        batches,
        test,
    )


def _places(inner: list[bytes], keys: list[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of the sent reports are in a batch, and the first place of each."""
    first: dict[bytes, int] = {}
    for place, key in enumerate(keys):
        first.setdefault(key, place)
    found = [(number, first[key]) for number, key in enumerate(inner) if key in first]
    reports, places = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return reports, places


def _shared(sent: Sent, batches: Mapping[str, Rows]) -> int:
    """Count rows of which some 16 bytes, at a multiple of 16, occur anywhere in an envelope."""
    if not len(sent) or sent.envelopes.shape[1] < _WINDOW:
        return 0
    seen = np.sort(_words(sent.envelopes, step=1))
    found = 0
    for rows in batches.values():
        if not len(rows) or rows.shape[1] < _WINDOW:
            continue
        words = _words(rows, step=_WINDOW)
        suspect = seen[np.searchsorted(seen[:-1], words)] == words
        candidates = np.flatnonzero(suspect.reshape(len(rows), -1).any(axis=1))
        found += _confirmed(sent, rows[candidates])
    return found


def _words(rows: Rows, *, step: int) -> NDArray[np.uint64]:
    """Return the first eight bytes of every window, as one number."""
    windows = np.lib.stride_tricks.sliding_window_view(rows, _WINDOW, axis=1)[:, ::step, :8]
    return np.ascontiguousarray(windows).view(np.uint64).reshape(-1)


def _confirmed(sent: Sent, rows: Rows) -> int:
    if not len(rows):
        return 0
    windows = {
        entry[start : start + _WINDOW]
        for entry in _keys(sent.envelopes)
        for start in range(len(entry) - _WINDOW + 1)
    }
    return sum(
        any(
            entry[start : start + _WINDOW] in windows
            for start in range(0, len(entry) - _WINDOW + 1, _WINDOW)
        )
        for entry in _keys(rows)
    )


def _keys(rows: Rows) -> list[bytes]:
    return [row.tobytes() for row in rows]
