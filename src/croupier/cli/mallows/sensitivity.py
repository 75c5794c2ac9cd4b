"""`croupier mallows sensitivity`: how far one group can move an order."""

from typing import Annotated

import numpy as np
import typer

from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import ParameterError
from croupier.numerics.rounding import floor_digits
from croupier.shufflers.groups import Groups
from croupier.shufflers.sensitivity import (
    group_sensitivities,
    group_widths,
    width_sensitivity,
)
from croupier.shufflers.theta import theta_for

__all__ = ["HELP", "command"]

HELP = """Compute how far exchanging the reports of one group moves Kendall's distance, exactly.

Example: croupier mallows sensitivity --positions 0,3,5,7 --alpha 4
"""


def command(
    positions: Annotated[
        str, typer.Option(help="Places of the group in the reference order, separated by commas.")
    ],
    alpha: Annotated[
        float | None, typer.Option(help="Also print the theta that keeps this alpha.")
    ] = None,
    json: Json = False,
) -> None:
    """Compute the sensitivity of one group."""
    places = _places(positions)
    groups = Groups.of_sets([range(len(places))], len(places))
    sensitivity = int(group_sensitivities(groups, places)[0])
    width = int(group_widths(groups, places)[0])
    bound = width_sensitivity(width)
    theta = None if alpha is None else theta_for(alpha, sensitivity)
    if json:
        print_json(
            sensitivity=sensitivity,
            paper_bound=bound,
            width=width,
            direction="exact",
            alpha=alpha,
            theta=theta,
        )
        return
    out.print(f"sensitivity {sensitivity:,} (exact); bound from the width alone {bound:,}")
    if theta is not None:
        out.print(f"theta {floor_digits(theta)} keeps alpha {alpha:g}")


def _places(text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    try:
        places = np.array([int(entry) for entry in text.split(",")], dtype=np.int64)
    except (ValueError, OverflowError):
        places = np.array([-1])
    if places.min() < 0 or places.max() >= 10**9 or len(set(places.tolist())) < len(places):
        raise ParameterError(
            "--positions",
            must="be different places from 0 to 999,999,999",
            got=text,
            hint="Try 0,3,5,7.",
        )
    return places
