"""The ladder as a picture: what each adversary sees, and how much is given away."""

import math
import shlex
from typing import Any

from croupier.assessment.ladder.cell import Cell, Status
from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.table import who_is_looking
from croupier.assessment.ladder.text import cell_text
from croupier.documents.explain.engineers import BY_LUCK, recompute
from croupier.model.guarantee import Guarantee
from croupier.model.metric import Metric
from croupier.model.rung import LUCK, Rung
from croupier.plan.plan import Plan

__all__ = ["column", "points", "row"]

_READER = ("reports", "analyzer", "published")
_PARTS = {
    Rung.ESTIMATE: ("published",),
    Rung.BATCH: _READER,
    Rung.NETWORK: ("network", *_READER),
    Rung.SHUFFLER: ("network", "shuffler_1", "published"),
    Rung.SHUFFLER_1: ("network", "shuffler_1", "published"),
    Rung.SHUFFLER_2: ("shuffler_2", "published"),
    Rung.CLIENTS: ("clients", *_READER),
    Rung.COLLUSION: ("network", "shuffler_1", *_READER),
    Rung.ALL_BUT_ONE: ("network", "clients", "shuffler_1", *_READER),
    Rung.EVERYBODY: ("network", "shuffler_1", "shuffler_2", *_READER),
}
"""The parts that each adversary sees or runs, on the way from a device to what is published."""


def row(plan: Plan, rung: str) -> dict[str, Any]:
    """Return the name of an adversary, who it is, and what it sees."""
    if rung == LUCK:
        return {"rung": LUCK, "name": LUCK, "sees": "sees nothing", "parts": []}
    who = Rung(rung)
    return {
        "rung": rung,
        "name": rung,
        "sees": who_is_looking(plan, who),
        "parts": [part for part in _PARTS[who] if part != "clients" or plan.corrupt],
    }


def column(
    plan: Plan, metric: Metric, luck: Cell | None, cells: dict[str, Cell], *, file: str
) -> dict[str, Any]:
    """Return one metric against everybody, luck alone first."""
    rows = {LUCK: luck or Cell(metric=metric, reason="nothing is known about luck alone")}
    rows |= {str(rung): cells[rung] for rung in plan.rungs}
    return {
        "metric": metric,
        "heading": metric.heading,
        "meaning": metric.meaning,
        "scale": "log" if metric.is_epsilon or metric is Metric.REIDENTIFICATION else "linear",
        "cells": [_cell(cell, rung, luck=luck, file=file) for rung, cell in rows.items()],
    }


def _cell(cell: Cell, rung: str, *, luck: Cell | None, file: str) -> dict[str, Any]:
    """Return one number with what it rests on."""
    proved, attained = cell.proved, cell.attained
    command = recompute(file, rung, cell.metric)
    if rung == LUCK:
        command = f"croupier assess {shlex.quote(file)}"
    return {
        "rung": rung,
        "text": cell_text(cell),
        "lower": _finite(cell.lower),
        "upper": _finite(cell.upper),
        "bar": None if cell.status is Status.NOT_BOUNDED else _share(cell, luck),
        "status": cell.status,
        "theorem": _theorem(proved, rung),
        "attained": attained.theorem if attained and attained is not proved else None,
        "assumptions": list(proved.assumptions) if proved else [],
        "reason": cell.reason,
        "command": command,
    }


def _theorem(proved: Guarantee | None, rung: str) -> str:
    if rung == LUCK:
        return BY_LUCK
    return proved.theorem if proved else ""


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _share(cell: Cell, luck: Cell | None) -> float:
    """Return how much is given away, from 0 for luck alone to 1 for certainty.

    A probability p beside luck l: (p - l)/(1 - l); of tracing a report ln(p/l)/ln(1/l), so that 1
    in 1,000 differs from 1 in a million. An epsilon or alpha e: tanh(e/2), the advantage of a guess
    between two answers.
    """
    value = 0.0 if cell.proved is None else float(cell.proved.value)
    blind = float(luck.proved.value) if luck is not None and luck.proved is not None else 0.0
    if cell.metric.is_epsilon or cell.metric is Metric.ALPHA:
        share = math.tanh(value / 2)
    elif cell.metric.protects:
        share = 1 - value
    elif cell.metric is Metric.REIDENTIFICATION and 0 < blind < 1:
        share = math.log(max(value, blind) / blind) / -math.log(blind)
    else:
        share = (value - blind) / (1 - blind) if blind < 1 else 0.0
    return min(1.0, max(0.0, share))


def points(ladder: Ladder) -> dict[str, dict[str, list[float | None]]]:
    """Return the two sides of every number, by metric and row."""
    return {
        metric: {
            line.rung: [_finite(line[metric].lower), _finite(line[metric].upper)] for line in ladder
        }
        for metric in ladder.rungs.metrics
    }
