"""The privacy curves that hold against the adversary on a row, those of dummies included."""

from croupier.accounting.exposure import Exposure
from croupier.assessment.ladder.rungs import Rungs
from croupier.model.rung import Rung

__all__ = ["exposures"]


def exposures(rungs: Rungs, rung: Rung) -> tuple[tuple[Exposure, ...], ...]:
    """List the curves that hold against an adversary, for each case that may be.

    All curves of a case hold at once. There is one case, except for everybody but one shuffler:
    nobody knows which one is honest, so that the worst case counts. They drop all other reports, so
    that no crowd hides anybody there.

    The noise of the device is counted for everybody. Dummies are, one shuffler at a time, if the
    adversary does not run that shuffler.
    """
    if rung is Rung.ALL_BUT_ONE:
        added = rungs.dummy_exposures
        return tuple((rungs.local,) if each is None else (rungs.local, each) for each in added)
    own = dict.fromkeys((rungs.exposure(rung), rungs.local))
    return ((*own, *(each.exposure for each in rungs.dummies(rung))),)
