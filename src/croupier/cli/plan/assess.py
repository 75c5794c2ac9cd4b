"""`croupier assess`: the trust ladder of a plan."""

from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from importlib.util import find_spec
from json import loads as read_json
from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.known_prior import PriorGuess, known_prior
from croupier.assessment.ladder.ladder import REPEATED, Ladder, Row, assess
from croupier.assessment.ladder.table import ladder_reasons
from croupier.assessment.ladder.text import cell_text, percent
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.output.terminal import (
    WIDTH,
    Json,
    out,
    print_json,
    print_table,
    progress,
    say,
    say_fact,
)
from croupier.documents.explain.accuracy import accuracy
from croupier.documents.explain.engineers import other_delta, recompute
from croupier.documents.explain.people.liars import made_up_share, shifted
from croupier.documents.explain.people.parties import added, all_add, sampled
from croupier.documents.explain.people.senders import in_short
from croupier.documents.explain.sentences import proved_for
from croupier.errors import ParameterError, how_to_install
from croupier.model.domain import Categories
from croupier.model.guarantee import Guarantee
from croupier.model.metric import LADDER, NEAR, Metric, metric_named
from croupier.model.rung import LUCK, Rung
from croupier.model.texts import Texts
from croupier.numerics.rounding import ceiling_digits, delta_text, float_above
from croupier.plan.plan import Plan

__all__ = ["HELP", "cell_document", "command"]

HELP = """Prove what a plan leaks to each kind of adversary: the trust ladder.

Every number is proved for the smallest batch that is released, and holds for larger ones, except
where a plan draws a secret sample.

Example: croupier assess plan.toml
"""

_SHOWN = (
    Metric.EPSILON,
    Metric.REIDENTIFICATION,
    Metric.GUESS_OF_TWO,
    Metric.WITHIN_INFORMED,
    Metric.ALPHA,
)
"""The columns that are shown by default."""


def _columns(chosen: Metric | None, ladder: Ladder, *, every: bool) -> list[Metric]:
    """Return the column that was chosen, or those that are shown."""
    if chosen is not None:
        return [chosen]
    return [metric for metric in ladder.blind.cells if every or metric in _SHOWN]


def command(
    plan: PlanFile,
    rung: Annotated[Rung | None, typer.Option(help="Show this row only, with its proofs.")] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help=f"Show this column only, with its proofs: {', '.join(LADDER)}; or all columns.",
        ),
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(help="A .json file: the probability of each value, in order or by label."),
    ] = None,
    json: Json = False,
) -> None:
    """Prove what a plan leaks."""
    every = metric is not None and metric.lower() == "all"
    chosen = (
        None
        if metric is None or every
        else metric_named(metric, among=LADDER, what="a value of --metric")
    )
    made = read_plan(plan)
    law = None if prior is None else _read_prior(prior, made)
    with progress("Proving", total=None, quiet=json):
        ladder = assess(made)
        guesses = () if law is None else known_prior(made, law)
    rungs = list(rung.among(len(made.shufflers)) if rung else made.rungs)
    columns = _columns(chosen, ladder, every=every or json or rung is not None)
    if json:
        _print_document(ladder, plan, rungs, columns, guesses)
    elif rung or len(columns) == 1:
        _print_cells(ladder, rungs, columns)
    else:
        _print_ladder(ladder, plan, columns)
    if not json:
        _print_prior(guesses)


def _print_ladder(ladder: Ladder, file: Path, metrics: list[Metric]) -> None:
    plan = ladder.plan
    names = ", ".join(dict.fromkeys(made.mechanism for made in plan.randomizers))
    say(f"{plan.headline}   {names}, {_values(plan)}   plan {plan.digest[:8]}")
    say(f"{proved_for(plan)} Delta {delta_text(plan.guarantee.delta)}, {plan.guarantee.adjacency}.")
    out.print()
    for columns in _that_fit(ladder, metrics):
        head = ["who is looking", *(m.heading for m in columns)]
        print_table(head, [_row(ladder, step, columns) for step in (ladder.blind, *ladder)])
        out.print()
    if ladder.periods:
        _print_periods(ladder)
    for line in _legend(ladder, metrics):
        say(line)
    if len(metrics) < len(ladder.blind.cells):
        out.print("Other columns: --metric all.")
    out.print(f"In words: croupier explain {file}")


def _print_periods(ladder: Ladder) -> None:
    """Print what is proved of one report, a month, a year and for ever."""
    found = ladder.periods
    rows = {"answers at most": [_count(each.answers) for each in found]}
    rows["batch, epsilon"] = [_digits(each.batch) for each in found]
    if any(each.batch != each.batch_of_same for each in found):
        rows["  if the same people answer"] = [_digits(each.batch_of_same) for each in found]
    rows["senders known"] = [_digits(each.known) for each in found]
    columns = range(1, len(found) + 1)
    head = ["one person, at most", *(each.name for each in found)]
    print_table(head, [[name, *texts] for name, texts in rows.items()], right=columns)
    out.print()


def _count(answers: int | None) -> str:
    return "no end" if answers is None else f"{answers:,}"


def _digits(epsilon: float | None) -> str:
    return "no limit" if epsilon is None else ceiling_digits(epsilon)


def _values(plan: Plan) -> str:
    """Say how many values the questions have; of texts, how long they are."""
    domains = [made.domain for made in plan.randomizers]
    longest = max((each.longest for each in domains if isinstance(each, Texts)), default=0)
    sizes = {each.size for each in domains if not isinstance(each, Texts)}
    counted = [f"{' or '.join(f'{size:,}' for size in sorted(sizes))} values"] if sizes else []
    texts = [f"texts of up to {longest:,} letters"] if longest else []
    return " or ".join(counted + texts)


def _row(ladder: Ladder, step: Row, columns: list[Metric]) -> list[str]:
    share = ladder.plan.population.corrupt_fraction
    named = step.rung == Rung.CLIENTS and share
    name = f"{step.rung} ({100 * share:.3g} %)" if named else step.rung
    return [name, *(cell_text(step[m]) for m in columns)]


def _that_fit(ladder: Ladder, metrics: list[Metric]) -> Iterator[list[Metric]]:
    """Split the columns into tables that fit the screen."""
    first = max(len(_row(ladder, step, [])[0]) for step in (ladder.blind, *ladder))
    columns: list[Metric] = []
    used = first
    for metric in metrics:
        texts = [cell_text(step[metric]) for step in (ladder.blind, *ladder)]
        width = 2 + max(map(len, [*texts, metric.heading]))
        if columns and used + width > WIDTH:
            yield columns
            columns, used = [], first
        columns, used = [*columns, metric], used + width
    yield columns


def _legend(ladder: Ladder, metrics: list[Metric]) -> Iterator[str]:
    plan = ladder.plan
    yield from ladder_reasons(ladder, metrics)
    if set(NEAR) & set(metrics):
        near = " or ".join(dict.fromkeys(f"{window.within:g}" for window in plan.windows))
        yield f"within: a guess of a number is right if it is within {near} of it."
    if Metric.ALPHA in metrics:
        batches = f" in {plan.batches:,} batches together" if plan.batches > 1 else ""
        yield f"order: the odds of two assignments inside a group move by at most e^alpha{batches}."
    many = ladder.repeated
    if more := _more(ladder):
        yield more
    if any(plan.dummies) and not ladder.periods and (many is None or other_delta(ladder, many)):
        yield "The deltas of dummies add up, collection by collection."
    yield from _added(plan)
    if plan.mixes_by_group:
        least = plan.protections.minimum_batch
        yield f"Each group is mixed separately, and has at least {least:,} people."
    if find_spec("dp_accounting") is None:
        yield f"Rounds are added up: a loose bound. {how_to_install('composition')}"
    yield _trust(ladder)
    result = accuracy(plan)
    if result:
        yield f"Result: {result} at this size."
    yield " ".join(shifted(plan))


def _more(ladder: Ladder) -> str:
    """Say what is proved of many collections, and if everybody reports."""
    plan, many, everybody = ladder.plan, ladder.repeated, ladder.everybody
    told = []
    if not ladder.periods:
        again = f"{REPEATED} such collections of one person"
        told.append(f"{again}: {_epsilon(many)}{other_delta(ladder, many)}.")
    if everybody is not None:
        parts = f" in {plan.equal_parts:,} equal groups" if plan.equal_parts > 1 else ""
        told.append(f"If all {plan.population.enrolled:,} report{parts}: {_epsilon(everybody)}.")
    holds = "Both hold" if len(told) > 1 else "This holds"
    return " ".join([*told, f"{holds} for the row batch."]) if told else ""


def _added(plan: Plan) -> Iterator[str]:
    """Say what the shufflers add and drop, and what the first one learns of senders."""
    for told in (added(plan), sampled(plan), in_short(plan)):
        if told:
            yield f"{told[0].upper()}{told[1:]}."


def _epsilon(found: Guarantee | None) -> str:
    if found is None:
        return "epsilon is not bounded"
    return f"epsilon at most {ceiling_digits(found.value)}"


def _trust(ladder: Ladder) -> str:
    plan = ladder.plan
    if len(plan.shufflers) > 1:
        return _trust_of_two(ladder)
    if plan.operators == "same":
        return "One operator runs shuffler and analyzer: the row `collusion` applies."
    if plan.analyzer.publication == "released-order":
        return "Rows are published in released order: the shuffler learns as much as collusion."
    drops = "A shuffler that drops reports may learn as much as collusion."
    if any(plan.dummies):
        return f"The shuffler knows its own dummies: the row `shuffler` counts none. {drops}"
    return drops


def _trust_of_two(ladder: Ladder) -> str:
    plan = ladder.plan
    if plan.operators == "same":
        return "One operator runs a shuffler and the analyzer: the row `all_but_one` applies."
    if not all_add(plan):
        why = "not both shufflers add dummies" if any(plan.dummies) else "no shuffler adds dummies"
        return f"A shuffler that drops reports may learn as much as `all_but_one`: {why}."
    if _honest_one_protects(ladder):
        return (
            "One honest shuffler protects everybody: the other one and the analyzer learn at most "
            "what the row `all_but_one` says, also if they drop reports."
        )
    return (
        "The dummies of one honest shuffler bound no smaller epsilon against the other one and the "
        "analyzer than the device does."
    )


def _honest_one_protects(ladder: Ladder) -> bool:
    """Tell whether the dummies of one honest shuffler bound epsilon, below what the device does."""
    alone, together = ladder[Rung.ALL_BUT_ONE].epsilon, ladder[Rung.EVERYBODY].epsilon
    return alone is not None and (together is None or alone.value < together.value)


def _print_cells(ladder: Ladder, rungs: list[Rung], metrics: list[Metric]) -> None:
    for rung in rungs:
        for metric in metrics:
            cell = ladder[rung][metric]
            out.print(f"{rung}, {metric.heading}: {cell_text(cell)}")
            if cell.proved is None:
                say_fact("no proof", f"{cell.reason}; treat it as known")
                continue
            say_fact("proof", cell.proved.theorem)
            if cell.attained is not None and cell.attained is not cell.proved:
                say_fact("attained", cell.attained.theorem)
            if cell.proved.assumptions:
                say_fact("assumes", "; ".join(cell.proved.assumptions))


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
            must="be a JSON list of probabilities, or a table with one per label",
            hint="Try [0.5, 0.3, 0.2].",
        )
    return given


def _print_prior(guesses: tuple[PriorGuess, ...]) -> None:
    if not guesses:
        return
    out.print()
    out.print("Right guesses of a value with this prior, at most:")
    rows = [
        [g.rung, *(f"{percent(c)} %" for c in (g.blind, g.uninformed, g.informed.value))]
        for g in guesses
    ]
    heads = (LUCK, Metric.GUESS_UNINFORMED.heading, Metric.GUESS_INFORMED.heading)
    print_table(["who is looking", *heads], rows)


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
        repeated=None if ladder.periods else _repeated_document(ladder),
        everybody={
            "n": plan.population.enrolled,
            "crowd": plan.full_batch,
            "epsilon_upper": _value(ladder.everybody),
        },
        prior=[
            {
                "rung": g.rung,
                "by_luck_alone": g.blind,
                "guess_uninformed_upper": g.uninformed,
                "guess_informed_upper": g.informed.value,
            }
            for g in guesses
        ]
        or None,
        **({"periods": [asdict(each) for each in ladder.periods]} if ladder.periods else {}),
        manipulation=_manipulation(plan),
    )


def _manipulation(plan: Plan) -> dict[str, Any]:
    """Return how far liars move an estimate: per share of the batch, and those of the plan."""
    made_up = made_up_share(plan)
    return {
        "per_share_upper": _above(plan.worst_shift),
        "corrupt_people": plan.corrupt,
        "upper": _above(plan.manipulation),
    } | ({} if made_up is None else {"made_up_share_about": made_up})


def _above(value: Fraction | None) -> float | None:
    return None if value is None else float_above(value)


def _repeated_document(ladder: Ladder) -> dict[str, Any]:
    found = ladder.repeated
    delta = None if found is None else found.delta
    return {"rounds": REPEATED, "epsilon_upper": _value(found), "delta": delta}


def _value(found: Guarantee | None) -> float | None:
    return None if found is None else found.value


def cell_document(cell: Cell, rung: str, file: Path) -> dict[str, Any]:
    """Return a cell as JSON, with the command that prints it again."""
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
