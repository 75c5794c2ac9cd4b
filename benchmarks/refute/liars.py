"""Compare what is printed of liars with estimates whose reports are replaced one by one."""

import re
from itertools import islice, product

import numpy as np

from benchmarks.refute.found import Found
from croupier.model.domain import Grid, SignVectors
from croupier.model.randomizer import Randomizer
from croupier.plan.plan import Plan
from croupier.randomizers import Distribution, ParallelRandomizer
from croupier.randomizers.several import SeveralQuestions

__all__ = ["check_liars"]

_SENTENCE = re.compile(
    r"(?:1 % of liars in the smallest batch|"
    r"The plan's (?P<people>[\d,]+) corrupt people, (?P<share>[\d.e-]+) % of the batch,) "
    r"(?:move (?:a share|a mean|an estimate) by at most (?P<said>[\d.,e+-]+) "
    r"(?:percentage points|% of its range)|can give (?:a share|a mean|an estimate) any value)\."
)
_MOST_TRIED = 2000
"""Reports that are tried: the truth is at least what these reach."""


def check_liars(found: Found, text: str, plan: Plan, case: str) -> str:
    """Check what a text says of liars, and return the rest of it."""
    for match in _SENTENCE.finditer(text):
        share = 0.01
        if match["people"] is not None:
            people, batch = int(match["people"].replace(",", "")), plan.protections.minimum_batch
            share = people / batch
            told = people == plan.corrupt and abs(float(match["share"]) / 100 - share) < 0.01
            found.expect("page, liars", told, match["share"], share, case)
        moved, name = share * _moved(plan), f"{match[0]!r}, {case}"
        if match["said"] is not None:
            said = float(match["said"].replace(",", "")) / 100
            found.at_least("page, liars", said, moved, name)
    return _SENTENCE.sub("", text)


def _moved(plan: Plan) -> float:
    """The shift of an estimate per share of lies in the smallest batch, at least."""
    most = 0.0
    for made in plan.reported:
        queries = made.queries if isinstance(made, SeveralQuestions) else (made,)
        parts = made.chances if isinstance(made, ParallelRandomizer) else [1] * len(queries)
        shifts = (_apart(query) / float(part) for query, part in zip(queries, parts, strict=True))
        most = max(most, *shifts)
    kept = np.prod([float(each.kept) for each in plan.shufflers])
    return most * plan.protections.minimum_batch / plan.answers / float(kept)


def _apart(made: Randomizer) -> float:
    """The largest difference that two reports make in an estimate from one of them."""
    rows = islice(product(*map(range, made.report_format.bounds)), 10 * _MOST_TRIED)
    reports = list(islice(filter(made.is_report, rows), _MOST_TRIED))
    shape = made.report_format.empty(1).shape
    tallies = (made.tally(np.array(row, dtype=np.int64).reshape(shape)) for row in reports)
    alone = np.array([made.estimate_tally(tally, 1).points for tally in tallies])
    extent = 1.0
    if isinstance(made.domain, Grid) and not isinstance(made, Distribution):
        extent = float(made.domain.high - made.domain.low)
    elif isinstance(made.domain, SignVectors):
        extent = 2.0
    return float(np.ptp(alone, axis=0).max()) / extent if len(alone) else 0.0
