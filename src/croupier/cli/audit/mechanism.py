"""`croupier audit MODULE:FUNCTION`: a mechanism held to what is claimed for it."""

import json as json_format
import sys
from collections.abc import Hashable
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from croupier.audit.claim import Audit, audit, audit_samples
from croupier.audit.metric_claim import MetricAudit, audit_bayes_security, audit_reidentification
from croupier.audit.target import Advance, target_of
from croupier.cli.audit.recorded import as_categories, recorded_column
from croupier.cli.mechanism_options import count
from croupier.cli.output import Json, Quiet, err, out, print_json, progress
from croupier.errors import ParameterError, nearest_name
from croupier.model.randomizer import Randomizer
from croupier.numerics.keystream import Keystream
from croupier.numerics.rounding import ceiling_digits, floor_digits, nearest_digits

__all__ = ["HELP", "REFUTED", "command"]

HELP = """Hold a mechanism, given only as a callable, to the epsilon that is claimed for it.

MODULE:FUNCTION takes one value and returns one report; it is called many times. Every call must be
fresh and independent: a client that remembers its answer cannot be audited so. Or --samples FILE,
with the columns input and output, one recorded call a row. Events are chosen on one part of the
outputs and certified on another.

Exits with 5 if the claim is refuted. That no violation was found proves nothing: see power.

Example: croupier audit shop.noise:respond --claim 1.0 --inputs 0,1
"""

REFUTED = 5
_MOST_INPUTS = 50


class Views(StrEnum):
    """Who is looking."""

    LOCAL = "local"
    SHUFFLED = "shuffled"


class Metrics(StrEnum):
    """What is claimed."""

    EPSILON = "epsilon"
    BAYES_SECURITY = "bayes-security"
    REIDENTIFICATION = "reidentification"


_DRAWS = {
    Metrics.EPSILON: 500_000,
    Metrics.BAYES_SECURITY: 100_000,
    Metrics.REIDENTIFICATION: 100_000,
}


def command(
    target: Annotated[
        str | None, typer.Argument(help="What to call.", metavar="MODULE:FUNCTION")
    ] = None,
    claim: Annotated[
        float | None, typer.Option(help="The claimed epsilon (or the value of --metric).")
    ] = None,
    inputs: Annotated[
        str | None, typer.Option(help="Values to tell apart, with commas, or a JSON list.")
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            help="Recorded calls (.csv, .parquet): columns input, output.", metavar="FILE"
        ),
    ] = None,
    view: Annotated[Views, typer.Option(help="Of one report, or of a shuffled batch.")] = (
        Views.LOCAL
    ),
    n: Annotated[
        int | None, typer.Option("--n", parser=count, metavar="N", help="People in a batch.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Failure probability of the claim.")] = 0.0,
    metric: Annotated[Metrics, typer.Option(help="What is claimed.")] = Metrics.EPSILON,
    draws: Annotated[
        int | None,
        typer.Option(
            parser=count, metavar="N", help="Outputs an input; default: 500,000, fewer for batches."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the lower bound, at least 0.75.")] = 0.95,
    vectorised: Annotated[
        bool, typer.Option("--vectorised", help="FUNCTION maps an array of values to outputs.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Hold a mechanism to a claim."""
    if (target is None) == (samples is None):
        raise ParameterError("MODULE:FUNCTION", must="be given, or --samples FILE, not both")
    called: Any = None if target is None else _import(target)
    if claim is None and not (isinstance(called, Randomizer) and metric is Metrics.EPSILON):
        raise ParameterError("--claim", must="be given", hint="Try 1.0.")
    if samples is None:
        _check_draws(draws)
    else:
        _check_unused({"--inputs": inputs, "--draws": draws, "--vectorised": vectorised or None})
    _check_view(view, n, metric, recorded=samples is not None)
    values = [] if samples is not None else _values(inputs)
    total = None if view is Views.SHUFFLED else (draws or _DRAWS[metric]) * max(2, len(values))
    with progress("Calling", total=total, quiet=quiet or json) as advance:
        if metric is Metrics.EPSILON and samples is None:
            found: Audit | MetricAudit = audit(
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
        else:
            outputs = (
                _recorded(samples)
                if samples is not None
                else _drawn(called, values, draws or _DRAWS[metric], vectorised, advance)
            )
            found = _from_outputs(metric, outputs, claim or 0.0, delta, n, confidence)
    name = _claimed_name(metric, view)
    if json:
        _print_document(found, name)
    elif not quiet:
        _print(found, name)
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


def _claimed_name(metric: Metrics, view: Views) -> str:
    if metric is not Metrics.EPSILON:
        return metric.replace("-", "_")
    return "epsilon_local" if view is Views.LOCAL else "epsilon"


def _check_view(view: Views, n: int | None, metric: Metrics, *, recorded: bool) -> None:
    shuffled = view is Views.SHUFFLED
    linking = metric is Metrics.REIDENTIFICATION
    if shuffled and metric is not Metrics.EPSILON:
        raise ParameterError("--view", must=f"be left out with --metric {metric}")
    if (shuffled or linking) != (n is not None):
        raise ParameterError(
            "--n", must="come with --view shuffled or --metric reidentification, and only then"
        )
    if shuffled and recorded:
        raise ParameterError(
            "--view",
            must="be left out with --samples",
            hint="Record one number a batch as output, and claim its epsilon.",
        )


def _import(name: str) -> Any:
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ParameterError("MODULE:FUNCTION", must="name a module and what to call", got=name)
    sys.path.insert(0, str(Path.cwd()))
    found: Any = None
    try:
        found = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise ParameterError(
            "MODULE:FUNCTION",
            must="be importable from here",
            got=f"{name} ({type(error).__name__})",
            hint=_import_hint(module, attribute, found, error),
        ) from error
    return found


def _import_hint(module: str, attribute: str, found: Any, error: BaseException) -> str:
    """What to do about a name that is not there, a module that is not, or one that fails."""
    if found is not None:
        names = [each for each in dir(found) if not each.startswith("_")]
        names = [each for each in names if callable(getattr(found, each, None))]
        return nearest_name(attribute, names) if names else "It holds nothing to call."
    if module.endswith(".py"):
        return f"Leave out .py: {module.removesuffix('.py')}:{attribute}."
    if isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]:
        return "Run it in the directory that holds the module."
    return f"The module itself fails: python -c 'import {module}' says where."


def _values(text: str | None) -> list[Any]:
    if not text:
        raise ParameterError("--inputs", must="be given", hint="Try 0,1.")
    if text.lstrip().startswith("["):
        try:
            return list(json_format.loads(text))
        except json_format.JSONDecodeError:
            raise ParameterError("--inputs", must="be a JSON list, or values with commas") from None
    return [_value(part) for part in text.split(",")]


def _value(text: str) -> Any:
    try:
        return json_format.loads(text)
    except json_format.JSONDecodeError:
        return text


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
            hint="The column input says which; record calls with another one too.",
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
    metric: Metrics,
    outputs: dict[Any, Any],
    claim: float,
    delta: float,
    n: int | None,
    confidence: float,
) -> Audit | MetricAudit:
    if metric is not Metrics.EPSILON:
        outputs = as_categories(outputs)
    if metric is Metrics.BAYES_SECURITY:
        return audit_bayes_security(outputs, claim=claim, confidence=confidence)
    if metric is Metrics.REIDENTIFICATION:
        return audit_reidentification(outputs, n=n or 0, claim=claim, confidence=confidence)
    return audit_samples(outputs, claim=claim, delta=delta, confidence=confidence)


def _print(found: Audit | MetricAudit, name: str) -> None:
    sure = f"({100 * found.evidence.confidence:.7g} % confidence)"
    protects = found.evidence.metric.protects
    shown = (
        f"at most {ceiling_digits(found.evidence.upper)}"
        if protects
        else f"at least {floor_digits(found.evidence.lower)}"
    )
    if found.refuted:
        out.print(f"VIOLATION  {name} is {shown} {sure}; claimed {found.claim}")
    else:
        out.print(f"NO VIOLATION FOUND  {name} is {shown} {sure}; claimed {found.claim}")
    if isinstance(found, Audit):
        pair = ", ".join(str(value) for value in found.witness.inputs)
        event = f'event "{found.witness.event}"'
        out.print(f"witness    inputs {pair}; {event}, chosen on a separate split")
    else:
        out.print(f"witness    inputs {', '.join(str(value) for value in found.inputs)}")
    out.print(f"samples    {found.samples:,} an input")
    if not found.refuted:
        out.print(f"power      {_power(found)}")
        out.print("           Evidence, not proof: a cleverer event may exist.")


def _power(found: Audit | MetricAudit) -> str:
    if isinstance(found, MetricAudit):
        if found.power is None:
            return "none: too few samples to refute this claim"
        side = "below" if found.evidence.metric.protects else "above"
        return f"{nearest_digits(found.power)} and {side} is found about 9 times in 10"
    entries = [entry for entry in found.power if np.isfinite(entry.epsilon)]
    if not entries:
        return "none: too few samples to refute this claim"
    epsilons = ", ".join(ceiling_digits(entry.epsilon) for entry in entries)
    events = ", ".join(f"{entry.event_probability:g}" for entry in entries)
    return f"found 9 times in 10: {epsilons} in an event of probability {events}"


def _print_document(found: Audit | MetricAudit, name: str) -> None:
    evidence = found.evidence
    document: dict[str, Any] = {
        "refuted": found.refuted,
        "metric": str(evidence.metric),
        "claim": found.claim,
        "confidence": evidence.confidence,
        "samples": found.samples,
    }
    if isinstance(found, MetricAudit):
        document |= {
            "interval": [evidence.lower, evidence.upper],
            "witness": {"inputs": list(found.inputs)},
            "power": found.power,
        }
    else:
        document |= {
            f"{name}_lower": evidence.lower,
            "delta": evidence.delta,
            "witness": {
                "inputs": list(found.witness.inputs),
                "event": found.witness.event,
                "hits": [found.witness.hits.first, found.witness.hits.second],
                "trials": found.witness.hits.trials,
            },
            "power": [entry._asdict() for entry in found.power],
        }
    print_json(**document)
