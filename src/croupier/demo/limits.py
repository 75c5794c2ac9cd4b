"""The limits that are proved before anybody sends anything, in the words of the page."""

from collections.abc import Mapping

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.text import NOT_BOUNDED, one_in, percent
from croupier.numerics.rounding import ceiling_digits

__all__ = ["line_of", "proved"]

_WHO = {
    "batch": "reads the batch",
    "network": "also watches the network",
    "collusion": "shuffler and analyzer together",
}
_WHO_OF_TWO = {
    "batch": "reads the batch",
    "shuffler_1": "runs the first shuffler",
    "shuffler_2": "runs the second shuffler",
    "all_but_one": "everybody but one shuffler",
    "everybody": "both shufflers together",
}
_NO_PROTECTION = "no protection"


def proved(ladder: Ladder) -> list[dict[str, str]]:
    """Return the limits by rung; with two shufflers also how often a guess of two is right."""
    if len(ladder.plan.shufflers) == 1:
        return [_row(ladder, rung, who) for rung, who in _WHO.items()]
    return [
        _row(ladder, rung, who) | {"guess_of_two": _guess_of_two(ladder, rung)}
        for rung, who in _WHO_OF_TWO.items()
    ]


def _row(ladder: Ladder, rung: str, who: str) -> dict[str, str]:
    found_with = ladder[rung]["reidentification"].upper or 1.0
    limit = one_in(found_with) if found_with <= 1 / 2 else _NO_PROTECTION
    epsilon = ladder[rung]["epsilon"].upper
    words = NOT_BOUNDED if epsilon is None else f"<= {ceiling_digits(epsilon)}"
    return {"rung": rung, "who": who, "epsilon": words, "reidentification": limit}


def _guess_of_two(ladder: Ladder, rung: str) -> str:
    right = ladder[rung]["guess_of_two"].upper or 1.0
    return f"{percent(right)} %" if right < 1 else _NO_PROTECTION


def line_of(row: Mapping[str, str]) -> str:
    """Return the limits of a rung as a line of the terminal."""
    limit, guess = row["reidentification"], row.get("guess_of_two")
    found_with = f": {limit}" if limit == _NO_PROTECTION else f" at most {limit}"
    words = f"epsilon {row['epsilon']}, re-identified{found_with}"
    if guess is None:
        return f"{row['rung']:10}{words}"
    between = f": {guess}" if guess == _NO_PROTECTION else f" right at most {guess}"
    return f"{row['rung']:13}{words}, guess of two{between}"
