"""The view of each party of a collection with two shufflers, for the page and the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
from numpy.typing import NDArray

from croupier.plan.plan import Plan
from croupier.protocol.batch_file import COLUMN
from croupier.shufflers.dummies import DummyTable

__all__ = ["guess_at_one", "of_analyzer", "of_first", "of_second", "posterior"]

_SHOWN = 3
"""The number of rows that the page shows of many."""

_START, _END = 8, 4
"""The bytes of a sealed row that the page shows, at its start and at its end."""

_ID = slice(2, 10)
"""The digits of a credential that name its sender on the page."""


def of_first(
    credentials: Sequence[str], envelopes: Sequence[bytes], dummies: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the view of the first shuffler: senders, sealed bytes, and the dummies it adds."""
    pairs = zip(credentials[:_SHOWN], envelopes[:_SHOWN], strict=True)
    return {
        "rows": [{"sender": token[_ID], "sealed": _ends(row)} for token, row in pairs],
        "bytes": len(envelopes[0]),
        "dummies": dummies.tolist(),
    }


def of_second(handed_over: Path, dummies: NDArray[np.int64]) -> dict[str, Any]:
    """Return the view of the second shuffler: sealed rows without senders, and its dummies."""
    column = pyarrow.parquet.read_table(handed_over)[COLUMN]
    rows = column[:_SHOWN].to_pylist()
    return {
        "rows": [{"sealed": _ends(row)} for row in rows],
        "received": len(column),
        "bytes": len(rows[0]),
        "dummies": dummies.tolist(),
    }


def of_analyzer(plan: Plan, reports: NDArray[np.int64]) -> dict[str, Any]:
    """Return the view of the analyzer: rows of each answer, before and after subtracting."""
    rows = np.bincount(reports, minlength=plan.randomizer.domain.size)
    expected = float(sum(table.mean for table in _tables(plan)))
    return {"rows": rows.tolist(), "expected": expected, "people": (rows - expected).tolist()}


def guess_at_one(
    plan: Plan,
    reports: NDArray[np.int64],
    *,
    known: NDArray[np.int64],
    dummies: Sequence[NDArray[np.int64]],
) -> list[dict[str, Any]]:
    """Let everybody but one shuffler guess one person's answer, once for either shuffler.

    They subtract everybody else's answers and the other shuffler's dummies from the rows. What is
    left is the person's report and the dummies of the shuffler that is honest.

    Args:
        plan: The plan of the collection.
        reports: The opened reports of the batch.
        known: The answers of everybody else.
        dummies: The dummies of each shuffler, by answer.
    """
    bins = len(dummies[0])
    rows = np.bincount(reports, minlength=bins) - np.bincount(known, minlength=bins)
    found = []
    for honest, table in enumerate(_tables(plan)):
        left = rows - sum(own for hop, own in enumerate(dummies) if hop != honest)
        chances = posterior(left, table)
        guess = int(np.argmax(chances))
        entry = {"honest": honest + 1, "left": left.tolist(), "guess": guess}
        found.append(entry | {"chance": float(chances[guess])})
    return found


def posterior(left: NDArray[np.int64], table: DummyTable) -> NDArray[np.float64]:
    """Return how likely each answer is, if all were equally likely before.

    An answer v has the weight D(left[v] - 1) / D(left[v]), where D is the law of the dummies.

    Args:
        left: The honest shuffler's dummies of each answer, and one report.
        table: The law of the dummies.

    >>> posterior(np.array([2, 1]), DummyTable((1, 2, 1))).tolist()
    [0.8, 0.2]
    """
    law = np.concatenate([[0.0], table.law, [0.0]])
    with np.errstate(divide="ignore"):
        weights = law[left] / law[left + 1]
    if np.isinf(weights).any():  # more than there can be of dummies: a report is among them
        weights = np.isinf(weights).astype(float)
    return np.asarray(weights / weights.sum())


def _tables(plan: Plan) -> list[DummyTable]:
    return [own.dummies.table for own in plan.shufflers if own.dummies is not None]


def _ends(row: bytes) -> str:
    digits = row.hex()
    return f"{digits[: 2 * _START]} … {digits[-2 * _END :]}"
