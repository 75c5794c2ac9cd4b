"""Measurements of a case."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.case import Case

__all__ = ["Disagreement", "Measured", "measure"]


class Disagreement(Exception):  # noqa: N818 - a finding, not a mistake of the caller
    """The two sides gave different answers: their times cannot be compared."""


@dataclass(frozen=True)
class Measured:
    """Seconds of both sides and their ratio.

    Attributes:
        question: The question.
        peer: The peer, with its version.
        ours: Our least seconds.
        theirs: The peer's least seconds.
        ratio: `ours` over `theirs`: below one we are quicker.
        spread: The least and the greatest ratio of one turn.
        turns: The number of times that both answered.
        difference: The distance of the answers.
        tolerance: The largest allowed distance.
        unit: The unit of the difference.
    """

    question: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    spread: tuple[float, float]
    turns: int
    difference: float
    tolerance: float
    unit: str


def measure(
    case: Case, *, small: bool = False, say: Callable[[str], None] = lambda _: None
) -> Measured:
    """Compare the answers, then time both sides in turns.

    They take turns, so that a machine that is busy for a while is busy for both. The least of a
    side's times is the one with the least disturbance.

    Raises:
        Disagreement: The answers are further apart than they may be.
    """
    size, turns = (case.small, 1) if small else (case.size, case.rounds)
    with case.sides(size) as sides:
        say("the answers")
        difference = sides.difference()
        if not difference <= sides.tolerance:
            msg = f"{difference:.3g} {sides.unit} apart, {sides.tolerance:g} allowed"
            raise Disagreement(msg)
        pairs = []
        for turn in range(turns):
            say(f"turn {turn + 1} of {turns}")
            pairs.append((sides.ours(), sides.theirs()))
    ratios = [ours / theirs for ours, theirs in pairs]
    ours, theirs = (min(times) for times in zip(*pairs, strict=True))
    return Measured(
        question=case.question.format(size=f"{size:,}"),
        peer=f"{case.peer.package} {case.peer.version}",
        ours=ours,
        theirs=theirs,
        ratio=ours / theirs,
        spread=(min(ratios), max(ratios)),
        turns=turns,
        difference=difference,
        tolerance=sides.tolerance,
        unit=sides.unit,
    )
