"""`croupier assess`: the trust ladder of a plan."""

from importlib.util import find_spec
from json import loads as read_json
from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.known_prior import PriorGuess, known_prior
from croupier.assessment.ladder.ladder import REPEATED, Ladder, assess
from croupier.assessment.ladder.text import cell_text, percent
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.output.terminal import Json, out, print_json, print_table, progress
from croupier.documents.explain.engineers import recompute
from croupier.errors import ParameterError, how_to_install
from croupier.model.domain import Categories
from croupier.model.guarantee import Guarantee, Metric
from croupier.model.rung import Rung
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.plan import Plan

__all__ = ["HELP", "cell_document", "command"]

HELP = """Prove what a plan leaks to each kind of adversary: the trust ladder.

Everything is proved at the minimum batch, and holds for more people (a sample: for no more).

Example: croupier assess plan.toml
"""

_HEADS = {
    Metric.EPSILON: "epsilon",
    Metric.REIDENTIFICATION: "linked",
    Metric.GUESS_COIN: "coin",
    Metric.GUESS_UNIFORM: "uniform",
    Metric.GUESS_INFORMED: "informed",
    Metric.BAYES_SECURITY: "security",
    Metric.ALPHA: "alpha",
}
_NUMBERS = (4, 5, 6, 7, 8)


def _metric(text: str) -> Metric:
    """The metric of a column, by its name or its heading."""
    for metric, head in _HEADS.items():
        if text in {metric, head}:
            return metric
    raise typer.BadParameter(f"must be one of {', '.join(_HEADS)}; got {text}.")


def command(
    plan: PlanFile,
    rung: Annotated[Rung | None, typer.Option(help="Show this rung only.")] = None,
    metric: Annotated[
        Metric | None,
        typer.Option(
            parser=_metric, metavar="METRIC", help=f"Show this column only: {', '.join(_HEADS)}."
        ),
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(help="A .json file: how likely each value is, in order or by label."),
    ] = None,
    json: Json = False,
) -> None:
    """Prove what a plan leaks."""
    made = read_plan(plan)
    law = None if prior is None else _read_prior(prior, made)
    with progress("Proving", total=None, quiet=json):
        ladder = assess(made)
        guesses = () if law is None else known_prior(made, law)
    rungs = [rung] if rung else list(Rung)
    metrics = [metric] if metric else list(ladder.blind.cells)
    if json:
        _print_document(ladder, plan, rungs, metrics, guesses)
    elif rung or metric:
        _print_cells(ladder, rungs, metrics)
    else:
        _print_ladder(ladder)
        _print_prior(guesses)


def _print_ladder(ladder: Ladder) -> None:
    plan = ladder.plan
    batch, claim = plan.protections.minimum_batch, plan.guarantee
    out.print(
        f"{plan.name} {plan.digest[:8]} | {claim.adjacency} | delta {claim.delta:g} | "
        f"proved at the minimum, {batch:,}"
    )
    out.print()
    metrics = list(ladder["batch"].cells)
    rows = [
        [step.rung, _adversary(ladder, step.rung), *(cell_text(step[m]) for m in metrics)]
        for step in (ladder.blind, *ladder)
    ]
    print_table(
        ["rung", "adversary", *(_HEADS[m] for m in metrics)],
        rows,
        right=[column for column in _NUMBERS if column < len(metrics) + 2],
    )
    out.print()
    for line in _legend(ladder):
        out.print(line)


def _adversary(ladder: Ladder, rung: str) -> str:
    share = ladder.plan.population.corrupt_fraction
    if rung == ladder.blind.rung:
        return "sees nothing"
    if rung == Rung.CLIENTS and share:
        return f"+ {100 * share:.3g} % of clients"
    return Rung(rung).adversary


def _legend(ladder: Ladder) -> list[str]:
    plan = ladder.plan
    blind = ladder.blind[Metric.GUESS_INFORMED].upper or 1.0
    values = round(1 / blind)
    among = f"{values:,}" if values < 10**6 else "all values"
    lines = [
        f"linked: report to sender. Guesses, %: coin 1 of 2, others known; uniform 1 of {among};",
        f"informed 1 of {among}, others known. security: Bayes.",
    ]
    reasons = {cell.reason for step in ladder for cell in step.cells.values() if cell.reason}
    lines += [f"not bounded: {reason}; treat it as known." for reason in sorted(reasons)]
    if Metric.ALPHA in ladder["batch"].cells:
        batches = f" in {plan.batches:,} batches together" if plan.batches > 1 else ""
        lines.append(
            f"alpha: odds of two assignments inside a group move by at most e^alpha{batches}."
        )
    many, everybody = ladder.repeated, ladder.everybody
    text = f"{REPEATED} rounds, same person: {_epsilon(many)}."
    if everybody is not None:
        parts = f" in {plan.equal_parts:,} equal groups" if plan.equal_parts > 1 else ""
        text += f" At {plan.population.enrolled:,} reports{parts}: {_epsilon(everybody)}."
    lines.append(text)
    if plan.mixes_by_group:
        least = plan.protections.minimum_batch
        lines.append(f"Each group is mixed by itself, and has {least:,} people or more.")
    if find_spec("dp_accounting") is None:
        lines.append(f"Rounds are added up, loosely. {how_to_install('composition')}")
    lines.append(_trust(plan))
    return lines


def _epsilon(found: Guarantee | None) -> str:
    return "epsilon not bounded" if found is None else f"epsilon <= {ceiling_digits(found.value)}"


def _trust(plan: Plan) -> str:
    if plan.operators == "same":
        return "One operator runs shuffler and analyzer: the collusion line is what holds."
    if plan.analyzer.publication == "released-order":
        return "Rows are published in released order: to the shuffler that is collusion."
    return "Assumes no rows published in released order; a shuffler that drops reports = collusion."


def _print_cells(ladder: Ladder, rungs: list[Rung], metrics: list[Metric]) -> None:
    for rung in rungs:
        for metric in metrics:
            cell = ladder[rung][metric]
            out.print(f"{rung} {metric}: {cell_text(cell)}")
            if cell.proved is None:
                out.print(f"  no proved limit  {cell.reason}; treat it as known")
                continue
            out.print(f"  proof     {cell.proved.theorem}")
            if cell.attained is not None and cell.attained is not cell.proved:
                out.print(f"  attained  {cell.attained.theorem}")
            if cell.proved.assumptions:
                out.print(f"  assumes   {'; '.join(cell.proved.assumptions)}")


def _read_prior(file: Path, plan: Plan) -> list[float]:
    try:
        given = read_json(file.read_text(encoding="utf-8"))
    except ValueError:
        given = None
    if isinstance(given, dict) and isinstance(plan.randomizer.domain, Categories):
        labels = [str(label) for label in plan.randomizer.domain.labels]
        if set(given) == set(labels):
            given = [given[label] for label in labels]
    if not isinstance(given, list):
        raise ParameterError(
            "--prior",
            must="be a JSON list of chances, or a table with one for each label",
            hint="Try [0.5, 0.3, 0.2].",
        )
    return given


def _print_prior(guesses: tuple[PriorGuess, ...]) -> None:
    if not guesses:
        return
    out.print()
    out.print("Guesses of a value with this prior, %, at most:")
    rows = [
        [g.rung, percent(g.blind), percent(g.uninformed), percent(g.informed.value)]
        for g in guesses
    ]
    print_table(["rung", "blind", "others unknown", "others known"], rows, right=(1, 2, 3))


def _print_document(
    ladder: Ladder,
    file: Path,
    rungs: list[Rung],
    metrics: list[Metric],
    guesses: tuple[PriorGuess, ...],
) -> None:
    plan = ladder.plan
    print_json(
        plan_digest=plan.digest,
        delta=plan.guarantee.delta,
        n_proved=plan.protections.minimum_batch,
        headline=ladder.headline.rung,
        rungs=[
            {
                "rung": rung,
                "cells": [cell_document(ladder[rung][m], rung, file) for m in metrics],
            }
            for rung in rungs
        ],
        repeated={"rounds": REPEATED, "epsilon_upper": _value(ladder.repeated)},
        everybody={
            "n": plan.population.enrolled,
            "crowd": plan.full_batch,
            "epsilon_upper": _value(ladder.everybody),
        },
        prior=[
            {
                "rung": g.rung,
                "blind": g.blind,
                "uninformed_upper": g.uninformed,
                "informed_upper": g.informed.value,
            }
            for g in guesses
        ]
        or None,
    )


def _value(found: Guarantee | None) -> float | None:
    return None if found is None else found.value


def cell_document(cell: Cell, rung: str, file: Path) -> dict[str, Any]:
    """A cell as JSON, with the command that prints it again."""
    document = {
        "metric": cell.metric,
        "upper": cell.upper,
        "lower": cell.lower,
        "status": cell.status,
        "theorem": cell.proved.theorem if cell.proved else None,
        "assumptions": list(cell.proved.assumptions) if cell.proved else [],
        "recompute": recompute(str(file), rung, cell.metric),
    }
    return document | ({"reason": cell.reason} if cell.reason else {})
