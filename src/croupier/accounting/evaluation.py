"""The computations behind a number, as data: enough to do them again and check them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

__all__ = ["Evaluation", "PairEvaluation"]


@dataclass(frozen=True)
class PairEvaluation:
    """The enclosure of delta for one pair of values at one epsilon.

    Attributes:
        reference: w, one entry per output or class of outputs.
        first: p.
        second: q.
        n: The number of honest people, the one person included.
        rest: 1 less the sum of w.
        log_lower: The logarithm of the lower bound; None if it is zero.
        log_upper: The logarithm of the upper bound; None if it is zero.
        method: `bare` (nobody hides the person, or nothing is above zero), `listed`, `contour`,
            `splits`, or `ceiling` (Chernoff's bound, or that of one person alone).
        steps: The parameters of the method. For a list, the most terms that were `listed`, of all
            but the most frequent value, and of them the most `rare` ones, of all but the two most
            frequent values. For a contour, the `points` of a coarser law if there is one, its real
            part `theta`, the `period` of its aliases, the deviation `tau` of the smoothing, the
            node `last` at which it was cut off, and the number of `nodes` that were computed.
            Values are divided by the largest of them before.
    """

    reference: tuple[float, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    n: int
    rest: float
    log_lower: float | None
    log_upper: float | None
    method: str
    steps: dict[str, float]


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of a curve at one epsilon: all pairs that were looked at.

    Attributes:
        epsilon: The epsilon.
        rtol: The relative precision of delta that was asked for.
        direction: `upper` or `lower`: which end of the pairs counts.
        log_delta: The logarithm of the bound; None if it is zero.
        theorem: The proof.
        pairs: The pairs; those that could not matter have a quick upper bound, with the method
            `ceiling`.
    """

    epsilon: float
    rtol: float
    direction: str
    log_delta: float | None
    theorem: str
    pairs: tuple[PairEvaluation, ...]

    def to_json(self) -> str:
        """Return all of it as a JSON document."""
        return json.dumps(asdict(self), allow_nan=False)
