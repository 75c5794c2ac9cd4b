"""Two-way tables on the screen, and the option that asks for them."""

from typing import TYPE_CHECKING, Annotated

import typer

from croupier.cli.output.possible import MOVED, shown
from croupier.cli.output.terminal import out, print_table, say
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.randomizers.together import TogetherRandomizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from croupier.analyzer.crossing import TwoWayTable

__all__ = ["Crossings", "crossings", "print_two_way"]

Crossings = Annotated[
    list[str] | None,
    typer.Option(
        "--cross",
        help="Two questions, for a two-way table of their answers; repeatable.",
        metavar="ROWS,COLUMNS",
    ),
]


def crossings(given: "Sequence[str] | None", plan: Plan) -> list[tuple[str, str]]:
    """Read pairs of questions, and refuse what no table can be made of, before the work."""
    made = plan.reported[0]
    if given and not isinstance(made, TogetherRandomizer):
        raise ParameterError(
            "--cross",
            must="be left out: nobody answers two questions in one report",
            hint='A plan asks for that: participation.model = "together".',
        )
    names = [plan.question_name(place) for place in range(len(plan.questions))]
    crossable = made.crossable if isinstance(made, TogetherRandomizer) else {}
    known = [names[place] for place in crossable]
    pairs = []
    for one in given or ():
        first, _, second = one.partition(",")
        if first not in known or second not in known or first == second:
            must = f"be two of {', '.join(known)}, with a comma between" if known else _TOO_MANY
            raise ParameterError("--cross", must=must, got=one)
        pairs.append((first, second))
    return pairs


_TOO_MANY = "be left out: no table can be made of the questions of this plan"


def print_two_way(table: "TwoWayTable", confidence: float) -> None:
    """Print a row per answer to the first question, a column per answer to the second."""
    first, second = table.questions
    own, width = table.estimate, len(table.columns)
    held = "together" if own.holds_together else "each"
    out.print()
    say(f"{first} by {second}: % of all people, with {100 * confidence:g} % intervals ({held})")
    texts, moved = shown(own.points, own.lower, own.upper, unit="")
    cells = [
        f"{text} ({100 * low:.2f} to {100 * high:.2f})"
        for text, low, high in zip(texts, own.lower, own.upper, strict=True)
    ]
    rows = [
        (str(label), *cells[width * place : width * (place + 1)])
        for place, label in enumerate(table.rows)
    ]
    print_table((first, *map(str, table.columns)), rows, right=range(1, width + 1))
    if moved:
        out.print(MOVED)
