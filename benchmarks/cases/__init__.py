"""Everything that is measured beside a peer, one file per subject."""

from benchmarks.cases import (
    batches,
    channels,
    composition,
    intervals,
    orders,
    requests,
    responses,
    seals,
)

__all__ = ["CASES"]

_SUBJECTS = (composition, channels, orders, responses, intervals, seals, batches, requests)

CASES = {case.name: case for subject in _SUBJECTS for case in subject.CASES}
