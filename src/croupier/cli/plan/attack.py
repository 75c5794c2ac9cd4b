"""`croupier attack`: the attacks on a plan, beside the proved limits."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.auditing.attacks.attacks import GAMES, Attacks, Held, Played, Suite
from croupier.auditing.attacks.liars import LIARS_SHARE, LiarShift
from croupier.auditing.attacks.senders import Link
from croupier.cli.options.mechanism import count
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.output.terminal import (
    Json,
    err,
    out,
    print_json,
    print_table,
    progress,
    say,
    say_drawn,
)
from croupier.documents.plots.figure import require_plottable, save_plot
from croupier.documents.plots.marks import row_inches
from croupier.documents.plots.sandwich import plot_sandwich
from croupier.errors import ParameterError
from croupier.model.evidence import REFUTATION_CONFIDENCE
from croupier.model.metric import Metric
from croupier.numerics.rounding import ceiling_digits, delta_text, floor_digits, nearest_digits

__all__ = ["HELP", "REFUTED", "command"]

HELP = """Attack a plan, and print how often the best attackers succeed beside what is proved.

Attacks are played at the minimum batch, with the plan's own mechanism and exact likelihoods. A
proof is refuted (exit 5) only if chance alone would refute any of them at most once in a million
runs. Liars are played as well: how far they move an estimate, how many of them an analysis finds.
With --claim the same attacks test somebody else's figure.

Example: croupier attack plan.toml --insecure-seed 7
"""

REFUTED = 5
_NOTHING_KEPT = "Nothing was kept; with --resume FILE the next run would continue."


def command(
    plan: PlanFile,
    games: Annotated[
        int,
        typer.Option(
            parser=count,
            metavar="N",
            help="Most games per attack; fewer where they would take long.",
        ),
    ] = GAMES,
    confidence: Annotated[float, typer.Option(help="Coverage of the intervals shown.")] = 0.95,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUNG.METRIC=VALUE",
            help="Test this claim with the same attacks, such as batch.epsilon=0.01.",
        ),
    ] = None,
    liars: Annotated[
        float,
        typer.Option(help="Share of people who send what moves an estimate most; 0 for none."),
    ] = LIARS_SHARE,
    insecure_seed: Annotated[int | None, typer.Option(help="Seed that repeats the games.")] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="A .npz file that keeps the games; continued if it exists."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw measured between proved bounds: .png, .svg or .pdf.")
    ] = None,
    json: Json = False,
) -> None:
    """Attack a plan."""
    made = read_plan(plan)
    claims = _claims(claim or [])
    require_plottable(plot)
    with progress("Proving", total=None, quiet=json):
        suite = Suite.of(made)
        suite.require_measured(claims)
        _ = suite.ladder  # proved here, and kept
    try:
        with progress("Attacking", total=suite.total(games), quiet=json) as advance:
            attacks = suite.play(
                games=games,
                confidence=confidence,
                liars=liars,
                insecure_seed=insecure_seed,
                resume=resume,
                advance=advance,
            )
    except KeyboardInterrupt:
        kept = f"The same command continues from {resume}." if resume else _NOTHING_KEPT
        err.print(f"Stopped. {kept}", soft_wrap=True)
        raise
    if plot is not None:
        save_plot(
            plot,
            plot_sandwich,
            attacks.played,
            title=f"{made.name} {made.digest[:8]}: attacks and proofs",
            inches=row_inches(len(attacks.played)),
        )
    refuted = attacks.refuted
    held = attacks.held(claims)
    if json:
        print_json(
            plan_digest=made.digest,
            refuted=bool(refuted) or any(one.refuted for one in held),
            false_alarm=1 - REFUTATION_CONFIDENCE,
            attacks=[_document(one) for one in attacks],
            claims=[_held_document(one) for one in held],
            left_out=list(attacks.left_out),
            links=[link.to_dict() for link in attacks.links],
            liars=[shift.to_dict() for shift in attacks.liars],
        )
    else:
        _print(attacks, confidence, ratios=any(made.dummies))
        _print_liars(attacks.liars, liars)
        _print_links(attacks.links, confidence)
        for reason in attacks.left_out:
            say(f"Not played: {reason}")
        verdict = f"{refuted} proofs REFUTED" if refuted else "No proof refuted"
        say(
            f"{verdict} (by chance at most 1 in a million). Epsilon at delta "
            f"{delta_text(made.guarantee.delta)}. A measurement is evidence: it meets no policy."
        )
        for one in held:
            lower = floor_digits(one.played.sure.lower)
            verdict = "REFUTED" if one.refuted else "not refuted"
            out.print(f"Claim {one.claim} <= {one.value:g}: {verdict}; at least {lower}.")
        say_drawn(plot)
    if refuted or any(one.refuted for one in held):
        raise typer.Exit(REFUTED)


def _claims(given: Sequence[str]) -> dict[str, float]:
    claims = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            claims[name] = float(value)
        except ValueError:
            raise ParameterError(
                "--claim",
                must="be RUNG.METRIC=VALUE",
                got=text,
                hint="Try batch.epsilon=0.01, or batch.reidentification=1e-5.",
            ) from None
    return claims


def _held_document(one: Held) -> dict[str, Any]:
    return {
        "claim": one.claim,
        "value": one.value,
        "attack": one.played.name,
        "sure_lower": one.played.sure.lower,
        "delta": one.played.sure.delta,
        "refuted": one.refuted,
    }


def _print(found: Attacks, confidence: float, *, ratios: bool) -> None:
    head = ["proved limit", f"measured [{100 * confidence:g} % interval]", "games", ""]
    if ratios:
        head.insert(2, "ratio")
    for rung in dict.fromkeys(one.rung for one in found):
        rows = [_row(one, ratio=ratios) for one in found if one.rung is rung]
        print_table([f"against {rung}", *head], rows, right=(1, 3, 4) if ratios else (1, 3))
        out.print()


def _print_liars(shifts: Sequence[LiarShift], share: float) -> None:
    if not shifts:
        return
    many = len({one.question for one in shifts}) > 1
    rows = [
        [
            f"{one.question}: {one.lie}" if many else one.lie,
            f"{ceiling_digits(100 * one.limit)} points",
            f"{nearest_digits(100 * one.measured)} points",
            "not tested" if one.found is None else f"{one.found:,} of {one.liars:,}",
            "REFUTED" if one.refuted else "",
        ]
        for one in shifts
    ]
    head = [f"{100 * share:g} % of people lie", "proved limit", "moved by", "found", ""]
    print_table(head, rows, right=(1, 2, 3))
    out.print()


def _print_links(links: Sequence[Link], confidence: float) -> None:
    head = ["sender of an envelope", "by luck", f"measured [{100 * confidence:g} % interval]"]
    rows = [
        [f"by {one.by}", "50 %", _percent(one.measured, one.lower, one.upper), f"{one.games:,}"]
        for one in links
    ]
    print_table([*head, "games"], rows, right=(1, 3))
    out.print()


def _percent(measured: float, lower: float, upper: float) -> str:
    ends = f"{floor_digits(100 * lower)}, {ceiling_digits(100 * upper)}"
    return f"{nearest_digits(100 * measured)} % [{ends}]"


def _row(one: Played, *, ratio: bool) -> list[str]:
    seen, proved = one.evidence, one.cell.proved
    scale, unit = (1, "") if one.metric is Metric.EPSILON else (100, " %")
    lower = floor_digits(scale * seen.lower)
    upper = ceiling_digits(scale * seen.upper) if math.isfinite(seen.upper) else "no upper end"
    measured = f"{nearest_digits(scale * seen.measured)}{unit} [{lower}, {upper}]"
    return [
        one.heading,
        "not bounded" if proved is None else f"{ceiling_digits(scale * proved.value)}{unit}",
        measured if math.isfinite(seen.lower) else "more than any limit",
        *([] if not ratio else ["" if one.ratio is None else f"{one.ratio:.3f}"]),
        f"{seen.games:,}",
        "REFUTED" if one.refuted else "",
    ]


def _document(one: Played) -> dict[str, Any]:
    seen = one.evidence
    return {
        "rung": one.rung,
        "attack": one.name,
        "metric": one.metric,
        "proved_upper": one.cell.upper,
        "proved_lower": one.cell.lower,
        "measured": seen.measured,
        "interval": [seen.lower, seen.upper],
        "confidence": seen.confidence,
        "games": seen.games,
        "sure_lower": one.sure.lower,
        "delta": seen.delta,
        "gap": one.gap,
        "ratio": one.ratio,
        "refuted": one.refuted,
    }
