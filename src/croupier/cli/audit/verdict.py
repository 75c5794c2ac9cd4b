"""The verdict on a mechanism: for people, and as JSON."""

from typing import Any

import numpy as np

from croupier.auditing.mechanism.claim import Audit
from croupier.auditing.mechanism.metric_claim import MetricAudit
from croupier.auditing.mechanism.repeats import Repeats
from croupier.cli.output.terminal import out, print_json
from croupier.numerics.rounding import ceiling_digits, floor_digits, nearest_digits

__all__ = ["print_document", "print_verdict"]


def print_verdict(found: Audit | MetricAudit, name: str) -> None:
    """Print a verdict for people; `name` is what is claimed."""
    sure = f"({100 * found.evidence.confidence:.7g} % confidence)"
    protects = found.evidence.metric.protects
    shown = (
        f"at most {ceiling_digits(found.evidence.upper)}"
        if protects
        else f"at least {floor_digits(found.evidence.lower)}"
    )
    stale = found.stale if isinstance(found, Audit) else None
    if stale is not None:
        _print_stale(stale, f"{sure}; claimed {found.claim}", name)
    elif found.refuted:
        out.print(f"VIOLATION  {name} is {shown} {sure}; claimed {found.claim}")
    else:
        out.print(f"NO VIOLATION FOUND  {name} is {shown} {sure}; claimed {found.claim}")
    if isinstance(found, MetricAudit):
        out.print(f"witness    inputs {_pair(found.inputs)}")
    elif stale is None:
        seen = found.witness
        times = f"{seen.hits.first:,} and {seen.hits.second:,} times"
        event = f'event "{seen.event}", chosen on a separate split: {times}'
        out.print(f"witness    inputs {_pair(seen.inputs)}; {event}", soft_wrap=True)
    out.print(f"samples    {found.samples:,} per input")
    if not found.refuted:
        _print_reach(found)


def _print_stale(stale: Repeats, sure: str, name: str) -> None:
    """Print how calls repeat noise, and what that tells somebody who knows another call."""
    lower = f"{name} is at least {floor_digits(stale.lower)}"
    out.print(
        f"VIOLATION  draws are not fresh: {lower} to somebody who knows {_other(stale)} {sure}",
        soft_wrap=True,
    )
    out.print(
        f"witness    inputs {_pair(stale.inputs)}; outputs equal in {stale.hits.first:,} of "
        f"{stale.same:,} pairs of calls with equal inputs, in {stale.hits.second:,} of "
        f"{stale.hits.trials - stale.same:,} with different ones",
        soft_wrap=True,
    )


def _pair(inputs: tuple[Any, Any]) -> str:
    return ", ".join(str(value) for value in inputs)


def _other(stale: Repeats) -> str:
    if stale.distance is None:
        return "the same call after another start"
    return "the call before" if stale.distance == 1 else f"the call {stale.distance:,} before"


def _print_reach(found: Audit | MetricAudit) -> None:
    """Print what would have been found, and what was not looked at."""
    out.print(f"power      {_power(found)}")
    if isinstance(found, Audit):
        for looked in found.looked_at:
            out.print(f"           {looked}", soft_wrap=True)
    out.print(f"unseen     {'; '.join(found.not_looked_at)}", soft_wrap=True)
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


def print_document(found: Audit | MetricAudit, name: str) -> None:
    """Print a verdict as JSON."""
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
            "not_looked_at": list(found.not_looked_at),
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
            "rarest_leak": found.rarest_leak,
            "repeats": _repeats_document(found.repeats),
            "restart": _repeats_document(found.restart),
            "not_looked_at": list(found.not_looked_at),
        }
    print_json(**document)


def _repeats_document(repeats: Repeats | None) -> dict[str, Any] | None:
    if repeats is None:
        return None
    return {
        "distance": repeats.distance,
        "inputs": list(repeats.inputs),
        "equal": [repeats.hits.first, repeats.hits.second],
        "pairs": [repeats.same, repeats.hits.trials - repeats.same],
        "epsilon_lower": repeats.lower,
        "confidence": repeats.confidence,
    }
