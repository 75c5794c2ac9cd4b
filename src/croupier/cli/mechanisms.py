"""`croupier mechanisms`: the mechanisms and their errors."""

from collections.abc import Collection
from inspect import getdoc
from math import inf, isfinite
from string import ascii_lowercase
from typing import Annotated, Any

import typer

from croupier.cli.options.mechanism import count
from croupier.cli.output.terminal import Json, out, print_json, print_table, say
from croupier.errors import ParameterError
from croupier.model import Randomizer
from croupier.numerics.rounding import ceiling_digits, float_above
from croupier.numerics.validate import whole_number
from croupier.randomizers import MECHANISMS, parameters, randomizer
from croupier.randomizers.distribution import Distribution

__all__ = ["HELP", "command"]

HELP = """List the mechanisms with their parameters and expected error.

The error is the root mean square standard error of the shares (over k categories, or up to each
number of a grid) or the standard error of the mean (as a share of its range; of one coordinate for
signs). Liars: the percentage points by which 1 % of the people, who lie, move a share at most; for
means, the percentage of their range.

Example: croupier mechanisms --k 50 --max-epsilon-local 4 --n 1e6
"""

_RANGE = {"low": 0.0, "high": 1.0, "step": 0.05}
_TEXTS = {"longest": 12, "alphabet": ascii_lowercase}


def command(
    k: Annotated[int, typer.Option(parser=count, metavar="K", help="Categories.")] = 10,
    max_epsilon_local: Annotated[float, typer.Option(help="Local epsilon, in nats.")] = 1.0,
    n: Annotated[int, typer.Option(parser=count, metavar="N", help="Reports.")] = 10_000,
    json: Json = False,
) -> None:
    """List the mechanisms."""
    whole_number("k", k, least=2)
    whole_number("n", n, least=1)
    if not 0 < max_epsilon_local <= 20:
        raise ParameterError("max_epsilon_local", must="be in (0, 20]", got=max_epsilon_local)
    rows = [_describe(mechanism, k, max_epsilon_local, n) for mechanism in MECHANISMS]
    if json:
        print_json(k=k, max_epsilon_local=max_epsilon_local, n=n, mechanisms=rows)
        return
    head = ("mechanism", "estimates", "bytes", "error", "liars", "parameters")
    print_table(head, [_cells(row) for row in rows], right=(2, 3, 4))
    out.print()
    say(
        f"Bytes per report and error at k = {k:,}, max_epsilon_local = {max_epsilon_local:g}, "
        f"n = {n:,}; of text with {_TEXTS['longest']} letters a-z. Liars: percentage points by "
        "which 1 % of the people, who lie, move a share at most."
    )


def _describe(mechanism: str, k: int, max_epsilon_local: float, n: int) -> dict[str, Any]:
    """One row; without an example if it needs a matrix or queries, or cannot be that large."""
    cls = MECHANISMS[mechanism]
    names = parameters(mechanism)
    own: dict[str, Any] = {"grid": _RANGE, "dimension": k, "k": k} | _TEXTS
    own["max_epsilon_local"] = max_epsilon_local
    own["max_epsilon_permanent"] = min(20.0, 3 * max_epsilon_local)
    needed = {"matrix", "queries"} & names.keys()
    example, reason = None, f"it depends on your {''.join(needed)}"
    if not needed:
        chosen = {name: value for name, value in own.items() if name in names}
        try:
            example = randomizer(mechanism, **chosen)
        except ParameterError as error:
            reason = str(error)
    shift = example.worst_shift if example else None
    local = example.epsilon_local if example else inf
    return {
        "mechanism": mechanism,
        "title": (getdoc(cls) or "").partition("\n")[0],
        "quantity": "mean" if _estimates_means(cls, names) else "share",
        "parameters": [{"name": name, "required": one.required} for name, one in names.items()],
        "report_bytes": example.report_format.size if example else None,
        "max_epsilon_local": local if isfinite(local) else None,
        "rms_error": example.rms_error(n) if example else None,
        "worst_shift_upper": None if shift is None else float_above(shift),
        "reason": None if example else reason,
    }


def _estimates_means(cls: type[Randomizer], names: Collection[str]) -> bool:
    """Tell if a mechanism is about numbers, and not about the shares of each."""
    return not {"grid", "dimension"}.isdisjoint(names) and not issubclass(cls, Distribution)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    special = {"max_epsilon_local", "denominator", "prime", "labels"}
    first = sorted(row["parameters"], key=lambda parameter: not parameter["required"])
    names = [parameter["name"] for parameter in first]
    size, error, shift = row["report_bytes"], row["rms_error"], row["worst_shift_upper"]
    return (
        row["mechanism"],
        f"{row['quantity']}s",
        "-" if size is None else f"{size:,}",
        "-" if error is None else f"{error:.3g}",
        "-" if shift is None else ceiling_digits(shift),
        ", ".join(name for name in names if name not in special),
    )
