"""A distribution in words and as JSON, and what can be asked of it."""

from dataclasses import dataclass
from typing import Annotated, Any, Self

import typer

from croupier.cli.output.terminal import out, print_table
from croupier.errors import ParameterError
from croupier.randomizers.estimates.distribution import DistributionEstimate

__all__ = ["Quantiles", "Ranges", "Statements", "distribution_document", "print_distribution"]

Quantiles = Annotated[
    list[float] | None,
    typer.Option(
        "--quantile",
        metavar="Q",
        help="A quantile of a distribution, such as 0.99; repeatable.",
        show_default="0.5, 0.9 and 0.99",
    ),
]
Ranges = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="LOW:HIGH",
        help="Numbers of a distribution to count, ends included; repeatable.",
    ),
]

_USUAL = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class Statements:
    """The statements about a distribution that are printed, whose intervals hold together.

    Attributes:
        quantiles: The levels of its quantiles.
        ranges: Ranges of numbers.
    """

    quantiles: tuple[float, ...] = _USUAL
    ranges: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(
        cls, quantiles: list[float] | None, ranges: list[str] | None, *, unasked: str | None
    ) -> Self:
        """Read the options.

        Args:
            quantiles: As typed.
            ranges: As typed.
            unasked: Who asks for no distribution, as the error says it; None if somebody does.
        """
        for option, typed in (("--quantile", quantiles), ("--range", ranges)):
            if typed and unasked is not None:
                raise ParameterError(option, must=f"be left out: {unasked}")
        for level in quantiles or ():
            if not 0 < level < 1:
                raise ParameterError("--quantile", must="be in (0, 1)", got=level, hint="Try 0.5.")
        return cls(tuple(quantiles or _USUAL), tuple(map(_range, ranges or ())))


def _range(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        raise ParameterError("--range", must="be LOW:HIGH", got=text, hint="Try 0:100.") from None
    if not found[0] <= found[1]:
        raise ParameterError("--range", must="have LOW up to HIGH", got=text, hint="Try 0:100.")
    return found


def print_distribution(
    estimate: DistributionEstimate, asked: Statements, *, confidence: float, everything: bool
) -> None:
    """Print quantiles, mean and ranges; all shares up to a number if everything is asked for."""
    interval = f"{100 * confidence:g} % interval"
    rows = [
        (f"p{100 * q.level:g}", f"{q.value:.6g}", f"{q.lower:.6g} to {q.upper:.6g}")
        for q in estimate.quantiles(*asked.quantiles)
    ]
    mean = estimate.mean
    rows.append(("mean", f"{mean.value:.6g}", f"{mean.lower:.6g} to {mean.upper:.6g}"))
    rows += [
        (
            f"from {each.low:g} to {each.high:g}",
            f"{100 * min(max(each.share, each.lower), each.upper):.2f} %",
            f"{100 * each.lower:.2f} to {100 * each.upper:.2f}",
        )
        for each in estimate.between(asked.ranges)
    ]
    print_table(("number", "estimate", interval), rows, right=(1, 2))
    if not everything:
        out.print(f"The shares up to each of {len(estimate.values):,} numbers: --all")
        return
    out.print()
    curve = zip(*estimate.curve, strict=True)
    lines = [
        (f"{number:.6g}", f"{100 * share:.2f} %", f"{100 * low:.2f} to {100 * high:.2f}")
        for number, share, low, high in curve
    ]
    print_table(("up to", "share", interval), lines, right=(1, 2))


def distribution_document(estimate: DistributionEstimate, asked: Statements) -> dict[str, Any]:
    """Return quantiles, ranges, mean and distribution function as JSON."""
    names = ("up_to", "share", "lower", "upper")
    return {
        "quantiles": [each._asdict() for each in estimate.quantiles(*asked.quantiles)],
        "mean": estimate.mean._asdict(),
        "ranges": [each._asdict() for each in estimate.between(asked.ranges)],
        "curve": dict(zip(names, (column.tolist() for column in estimate.curve), strict=True)),
    }
