"""The flags that name a mechanism, the same in every command."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

import typer

from croupier.errors import ParameterError
from croupier.model import Randomizer
from croupier.randomizers import randomizer

__all__ = ["EpsilonLocal", "GridText", "K", "Labels", "Mechanism", "Parameters", "build", "count"]


def count(text: str | int) -> int:
    """A whole number as people type it: 1000000, 1_000_000, 1,000,000 or 1e6.

    >>> count("1e6"), count("1_000")
    (1000000, 1000)
    """
    try:
        number = Decimal(str(text).replace("_", "").replace(",", ""))
        whole = int(number) if number.adjusted() < 18 else -1
    except (ArithmeticError, ValueError):
        number, whole = Decimal(0), -1
    if whole != number:
        raise typer.BadParameter(f"must be a whole number; got {text}. Try 1e6.")
    return whole


Mechanism = Annotated[
    str | None, typer.Option("--mechanism", help="A name from `croupier mechanisms`.")
]
K = Annotated[
    int | None, typer.Option("--k", parser=count, metavar="K", help="Number of categories.")
]
Labels = Annotated[
    str | None, typer.Option("--labels", help="Categories by name, with commas, instead of --k.")
]
GridText = Annotated[
    str | None, typer.Option("--grid", help="LOW:HIGH:STEP, for mechanisms of numbers.")
]
EpsilonLocal = Annotated[
    float | None, typer.Option("--epsilon-local", help="What no report may exceed, in nats.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--parameter", help="NAME=VALUE of a mechanism's own, e.g. buckets=8. Repeat."),
]


def build(
    mechanism: str,
    *,
    k: int | None,
    labels: str | None,
    grid: str | None,
    epsilon_local: float | None,
    parameters: Sequence[str] | None,
) -> Randomizer:
    """The randomizer that the flags describe."""
    given: dict[str, Any] = {
        "k": k,
        "labels": tuple(labels.split(",")) if labels else None,
        "grid": _grid(grid) if grid else None,
        "epsilon_local": epsilon_local,
    }
    for parameter in parameters or []:
        name, equals, value = parameter.partition("=")
        if not equals:
            raise ParameterError("--parameter", must="be NAME=VALUE", got=parameter)
        given[name] = _value(name, value)
    return randomizer(mechanism, **{name: v for name, v in given.items() if v is not None})


def _grid(text: str) -> dict[str, float]:
    try:
        low, high, step = map(float, text.split(":"))
    except ValueError:
        raise ParameterError(
            "--grid", must="be LOW:HIGH:STEP", got=text, hint="Try 0:1:0.1."
        ) from None
    return {"low": low, "high": high, "step": step}


def _value(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise ParameterError(name, must="be a number or a JSON list", got=text) from None
