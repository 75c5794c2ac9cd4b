"""`croupier audit MODULE:FUNCTION`: the audit of a mechanism against a claim."""

from collections.abc import Hashable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from croupier.auditing.mechanism.claim import Audit, audit, audit_samples
from croupier.auditing.mechanism.metric_claim import (
    MetricAudit,
    audit_bayes_security,
    audit_reidentification,
)
from croupier.auditing.mechanism.target import Advance, target_of
from croupier.cli.audit.imported import imported, listed_values
from croupier.cli.audit.recorded import as_categories, recorded_column
from croupier.cli.audit.restart import Restarted, with_restart
from croupier.cli.audit.verdict import print_document, print_verdict
from croupier.cli.options.mechanism import count
from croupier.cli.output.terminal import Json, Quiet, err, progress
from croupier.errors import ParameterError
from croupier.model.metric import Metric, metric_named
from croupier.model.randomizer import Randomizer
from croupier.numerics.keystream import Keystream

__all__ = ["HELP", "REFUTED", "command"]

HELP = """Test a mechanism, given only as a callable, against the epsilon that is claimed for it.

MODULE:FUNCTION takes one value and returns one report; it is called many times, a few of them in
new processes. Every call must be fresh: a client that remembers its answer cannot be audited this
way. Alternatively, --samples FILE holds recorded calls, one per row, in the columns input and
output. Events are chosen on one part of the outputs and certified on another.

Exits with 5 if the claim is refuted. Finding no violation proves nothing: see what would have
been found (power), and what was not looked at (unseen).

Example: croupier audit shop.noise:respond --claim 1.0 --inputs 0,1
"""

REFUTED = 5
_MOST_INPUTS = 50


class Views(StrEnum):
    """The views of an adversary."""

    LOCAL = "local"
    SHUFFLED = "shuffled"


_AUDITED = (Metric.EPSILON, Metric.BAYES_SECURITY, Metric.REIDENTIFICATION)
"""The metrics that can be claimed."""

_DRAWS = 100_000
"""Outputs per input, for another metric than epsilon."""


def command(
    target: Annotated[
        str | None, typer.Argument(help="Function to audit.", metavar="MODULE:FUNCTION")
    ] = None,
    claim: Annotated[
        float | None, typer.Option(help="The claimed epsilon (or the value of --metric).")
    ] = None,
    inputs: Annotated[
        str | None, typer.Option(help="Values to tell apart, separated by commas, or a JSON list.")
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            help="Recorded calls (.csv, .parquet): columns input, output.", metavar="FILE"
        ),
    ] = None,
    view: Annotated[Views, typer.Option(help="Audit one report, or a shuffled batch.")] = (
        Views.LOCAL
    ),
    n: Annotated[
        int | None, typer.Option("--n", parser=count, metavar="N", help="People in a batch.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Failure probability of the claim.")] = 0.0,
    metric: Annotated[
        str, typer.Option(help=f"Metric of the claim: {', '.join(_AUDITED)}.")
    ] = Metric.EPSILON.value,
    draws: Annotated[
        int | None,
        typer.Option(
            parser=count,
            metavar="N",
            help="Outputs per input; default: 500,000 to 2,000,000, fewer for batches.",
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence, at least 0.75.")] = 0.95,
    vectorised: Annotated[
        bool, typer.Option("--vectorised", help="FUNCTION maps an array of values to outputs.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Test a mechanism against a claim."""
    measured = metric_named(metric, among=_AUDITED, what="a value of --metric")
    if (target is None) == (samples is None):
        raise ParameterError("MODULE:FUNCTION", must="be given, or --samples FILE, not both")
    called: Any = None if target is None else imported(target)
    if claim is None and not (isinstance(called, Randomizer) and measured is Metric.EPSILON):
        raise ParameterError("--claim", must="be given", hint="Try 1.0.")
    if samples is None:
        _check_draws(draws)
    else:
        _check_unused({"--inputs": inputs, "--draws": draws, "--vectorised": vectorised or None})
    _check_view(view, n, measured, recorded=samples is not None)
    values = [] if samples is not None else listed_values(inputs)
    total = None if view is Views.SHUFFLED or draws is None else draws * max(2, len(values))
    with progress("Calling", total=total, quiet=quiet or json) as advance:
        if measured is Metric.EPSILON and samples is None:
            drawn = audit(
                called,
                inputs=values,
                claim=claim,
                delta=delta,
                n=n,
                samples=draws,
                confidence=confidence,
                vectorised=vectorised,
                advance=advance,
            )
            found: Audit | MetricAudit = (
                with_restart(drawn, Restarted(str(target), str(inputs), vectorised))
                if view is Views.LOCAL
                else drawn
            )
        else:
            outputs = (
                _recorded(samples)
                if samples is not None
                else _drawn(called, values, draws or _DRAWS, vectorised, advance)
            )
            found = _from_outputs(measured, outputs, claim or 0.0, delta, n, confidence)
    name = _claimed_name(measured, view)
    if json:
        print_document(found, name)
    elif not quiet:
        print_verdict(found, name)
    elif found.refuted:
        err.print(f"{target or samples}: the claimed {name} is refuted.", soft_wrap=True)
    if found.refuted:
        raise typer.Exit(REFUTED)


def _check_draws(draws: int | None) -> None:
    if draws is not None and draws < 1:
        raise ParameterError("--draws", must="be at least 1", got=draws)


def _check_unused(options: dict[str, Any]) -> None:
    for option, given in options.items():
        if given is not None:
            raise ParameterError(option, must="be left out with --samples")


def _claimed_name(metric: Metric, view: Views) -> str:
    if metric is not Metric.EPSILON:
        return metric
    return "epsilon_local" if view is Views.LOCAL else "epsilon"


def _check_view(view: Views, n: int | None, metric: Metric, *, recorded: bool) -> None:
    shuffled = view is Views.SHUFFLED
    linking = metric is Metric.REIDENTIFICATION
    if shuffled and metric is not Metric.EPSILON:
        raise ParameterError("--view", must=f"be left out with --metric {metric}")
    if (shuffled or linking) != (n is not None):
        raise ParameterError(
            "--n", must="come with --view shuffled or --metric reidentification, and only then"
        )
    if shuffled and recorded:
        raise ParameterError(
            "--view",
            must="be left out with --samples",
            hint="Record one number per batch as output, and claim its epsilon.",
        )


def _recorded(file: Path) -> dict[Any, Any]:
    given, outputs = recorded_column(file, "input"), recorded_column(file, "output", missing=True)
    values, place = np.unique(given, return_inverse=True)
    if len(values) > _MOST_INPUTS:
        raise ParameterError("--samples", must=f"hold at most {_MOST_INPUTS} inputs")
    if len(values) < 2:
        raise ParameterError(
            "--samples",
            must="hold calls with two or more inputs",
            got=len(values),
            hint="The column input says which. Record calls with a second input, too.",
        )
    return {value: outputs[place == number] for number, value in enumerate(values.tolist())}


def _drawn(
    called: Any, values: list[Any], size: int, vectorised: bool, advance: Advance
) -> dict[Any, Any]:
    asked = target_of(called, vectorised=vectorised)
    columns = asked.drawn(values, size, rng=Keystream(), advance=advance)
    return {_name(value): column for value, column in zip(values, columns, strict=True)}


def _name(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else str(value)


def _from_outputs(
    metric: Metric,
    outputs: dict[Any, Any],
    claim: float,
    delta: float,
    n: int | None,
    confidence: float,
) -> Audit | MetricAudit:
    if metric is not Metric.EPSILON:
        outputs = as_categories(outputs)
    if metric is Metric.BAYES_SECURITY:
        return audit_bayes_security(outputs, claim=claim, confidence=confidence)
    if metric is Metric.REIDENTIFICATION:
        return audit_reidentification(outputs, n=n or 0, claim=claim, confidence=confidence)
    return audit_samples(outputs, claim=claim, delta=delta, confidence=confidence)
