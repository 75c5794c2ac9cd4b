"""`croupier design`: plans that reach an error within limits."""

from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.assessment.design.design import Design, Designs, design
from croupier.assessment.ladder.ladder import assess
from croupier.assessment.ladder.text import one_in
from croupier.assessment.policy import checked
from croupier.cli.options.mechanism import (
    Alphabet,
    Categories,
    GridText,
    Labels,
    Longest,
    NormalisationText,
    count,
    domain_table,
    texts_table,
)
from croupier.cli.options.plan import Force, Output, require_new, write_plan
from croupier.cli.output.policy import verdict_line
from croupier.cli.output.terminal import Json, Quiet, out, print_json, print_table, progress, say
from croupier.errors import ParameterError, RenamedError
from croupier.model.metric import Metric
from croupier.numerics.rounding import ceiling_digits, float_above
from croupier.plan.file import name_of

__all__ = ["HELP", "command"]

HELP = """Find plans that reach an error within limits, and write one of them.

The error is the root mean square standard error of the shares (for --grid, of the mean) at the
minimum batch, before projection. Limits are proved against a reader of the batch, with and without
corrupt clients, and written into the plan as given; where two shufflers add dummies, also for
everybody but one honest shuffler. Up to three plans are shown, each best at
something among all mechanisms, with epsilon_local to four digits. One more plan is shown if
devices that add no noise, and a shuffler that adds made-up reports, need fewer people or leak less.

Example: croupier design --k 50 --n 1e6 --corrupt-fraction 0.05 --target-error 5e-4
--max-epsilon 0.1 --max-reidentification 5e-4
"""

_LETTERS = "ABCD"
_NUMBERS = (2, 3, 4, 5, 7)
_OF_THE_QUESTION = frozenset({"mechanism", "max_epsilon_local", "k", "labels", "grid"})
_OF_THE_QUESTION |= {"longest", "alphabet", "normalisation"}

OldLimit = Annotated[float | None, typer.Option(hidden=True)]


def command(
    enrolled: Annotated[
        int,
        typer.Option("--n", "--enrolled", parser=count, metavar="N", help="People enrolled."),
    ],
    target_error: Annotated[float, typer.Option(help="RMS error of a share, such as 0.001.")],
    k: Categories = None,
    labels: Labels = None,
    grid: GridText = None,
    longest: Longest = None,
    alphabet: Alphabet = None,
    normalisation: NormalisationText = None,
    questions: Annotated[
        int,
        typer.Option(parser=count, metavar="N", help="Questions; each person answers one."),
    ] = 1,
    corrupt_fraction: Annotated[
        float, typer.Option(help="Share of the enrolled that may be corrupt, all in one batch.")
    ] = 0.0,
    max_epsilon: Annotated[
        float | None, typer.Option(help="Limit on epsilon after shuffling.")
    ] = None,
    max_reidentification: Annotated[
        float | None, typer.Option(help="Limit on tracing a report to its sender.")
    ] = None,
    max_epsilon_local: Annotated[
        float | None, typer.Option(help="Limit on epsilon if shuffler and analyzer collude.")
    ] = None,
    max_guess_of_two: Annotated[
        float | None, typer.Option(help="Limit on guessing between two values.")
    ] = None,
    max_guess_uninformed: Annotated[
        float | None, typer.Option(help="Limit on guessing the value, knowing nobody's.")
    ] = None,
    max_guess_informed: Annotated[
        float | None, typer.Option(help="Limit on guessing the value, knowing everybody else's.")
    ] = None,
    min_bayes_security: Annotated[
        float | None, typer.Option(help="Least Bayes security, in [0, 1].")
    ] = None,
    max_manipulation: Annotated[
        float | None,
        typer.Option(help="Limit on how far corrupt people move a share, in [0, 1]."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Failure probability.  [default: 0.01/enrolled]")
    ] = None,
    max_batch: Annotated[
        int | None,
        typer.Option(
            parser=count,
            metavar="N",
            help="People who are sure to report in every round.  [default: half of the enrolled]",
        ),
    ] = None,
    mechanism: Annotated[
        list[str] | None, typer.Option(help="Consider this mechanism only; repeatable.")
    ] = None,
    shufflers: Annotated[
        int, typer.Option(parser=count, metavar="N", help="Shufflers in a row: 1 or 2.")
    ] = 1,
    max_guess_coin: OldLimit = None,
    max_guess_uniform: OldLimit = None,
    pick: Annotated[str, typer.Option(help="Plan to write: A, B, C or D.")] = "A",
    output: Output = Path("plan.toml"),
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Find plans within limits."""
    if max_guess_coin is not None:
        raise RenamedError("--max-guess-coin", "--max-guess-of-two")
    if max_guess_uniform is not None:
        raise RenamedError("--max-guess-uniform", "--max-guess-uninformed")
    require_new(output, force=force)
    _picked(pick, len(_LETTERS))
    texts = None
    if longest is not None:
        texts = texts_table(longest, alphabet or "a-z", normalisation or "lower")
    elif alphabet or normalisation:
        raise ParameterError("--longest", must="be given with --alphabet and --normalisation")
    with progress("Searching", total=None, quiet=quiet or json) as advance:
        found = design(
            **domain_table(k, labels, grid),
            texts=texts,
            enrolled=enrolled,
            target_error=target_error,
            questions=questions,
            corrupt_fraction=corrupt_fraction,
            max_epsilon=max_epsilon,
            max_reidentification=max_reidentification,
            max_epsilon_local=max_epsilon_local,
            max_guess_of_two=max_guess_of_two,
            max_guess_uninformed=max_guess_uninformed,
            max_guess_informed=max_guess_informed,
            min_bayes_security=min_bayes_security,
            max_manipulation=max_manipulation,
            delta=delta,
            max_batch=max_batch,
            mechanisms=mechanism,
            shufflers=shufflers,
            advance=advance,
        )
        letter = _picked(pick, len(found))
        gate = checked(assess(found[_LETTERS.index(letter)].plan))
    _write(found[_LETTERS.index(letter)], output, force=force)
    if json:
        print_json(
            target_error=target_error,
            designs=[_document(letter, one) for letter, one in zip(_LETTERS, found, strict=False)],
            picked=letter,
            judgement=gate.judgement,
            file=str(output),
        )
    elif not quiet:
        _print(found, letter, output)
        if not gate.met:
            out.print(verdict_line(gate, output))


def _picked(pick: str, plans: int) -> str:
    letters = _LETTERS[:plans]
    letter = pick.upper()
    if letter not in list(letters):
        raise ParameterError("--pick", must=f"be one of {', '.join(letters)}", got=pick)
    return letter


def _write(chosen: Design, output: Path, *, force: bool) -> None:
    reached = f"RMS error {ceiling_digits(chosen.rms_error)} at the minimum batch"
    notes = {
        "randomizer.mechanism": reached,
        "protections.minimum_batch": f"people; {' and '.join(chosen.strengths)}",
    }
    plan = chosen.plan.replace(name=name_of(str(output)))
    write_plan(plan, output, force=force, notes=notes)


def _print(found: Designs, letter: str, file: Path) -> None:
    head = ["", "mechanism", "local", "batch", "epsilon", "clients"]
    head += [Metric.REIDENTIFICATION.heading]
    rows = [_cells(name, one) for name, one in zip(_LETTERS, found, strict=False)]
    print_table([*head, "RMS error"], rows, right=_NUMBERS)
    best = [
        f"{name} {' and '.join(one.strengths)}" for name, one in zip(_LETTERS, found, strict=False)
    ]
    others = [name for name in _LETTERS[: len(found)] if name != letter]
    hint = f" (--pick {' or '.join(others)})" if others else ""
    say(
        "local is epsilon_local; epsilon and re-identified are those of the row batch; clients is "
        "epsilon with the corrupt clients of the plan. The least leak is the least epsilon."
    )
    say(f"{'; '.join(best)}.")
    if found[0].plan.participation_model.rounds > 1:
        say(_cost(found))
    say(f"How far 1 % of liars move an estimate, in percent of its range: {_shifts(found)}.")
    trades: dict[str, list[str]] = {}
    for name, one in zip(_LETTERS, found, strict=False):
        trades.setdefault(one.trade, []).append(name)
    for trade, names in trades.items():
        if trade:
            say(f"{', '.join(names)}: {trade}")
    out.print(f"Wrote {letter} to {file}{hint}. Next: croupier assess {file}")


def _cost(found: Designs) -> str:
    """Say what several questions cost, compared with one."""
    many = found[0].plan.participation_model.rounds
    alone = [
        f"{name} {ceiling_digits(one.error_alone or 0.0)}"
        for name, one in zip(_LETTERS, found, strict=False)
    ]
    return (
        f"Each person answers one of the {many:,} questions. With one question alone, the same "
        f"noise and as many people, the RMS error would be: {', '.join(alone)}."
    )


def _shifts(found: Designs) -> str:
    shifts = {
        name: "not bounded"
        if one.worst_shift is None
        else ceiling_digits(float_above(one.worst_shift))
        for name, one in zip(_LETTERS, found, strict=False)
    }
    return ", ".join(f"{name} {shift}" for name, shift in shifts.items())


def _cells(letter: str, one: Design) -> list[str]:
    return [
        letter,
        _mechanism(one),
        "none" if (asked := _asked(one)) is None else f"{asked:g}",
        f"{one.plan.protections.minimum_batch:,}",
        ceiling_digits(one.epsilon.value),
        ceiling_digits(one.clients.value),
        one_in(one.reidentification.value),
        ceiling_digits(one.rms_error),
    ]


def _mechanism(one: Design) -> str:
    """The name, with the mechanism's own parameters and how questions are shared out."""
    specification = one.plan.randomizers[0].specification
    own = [
        f"{name}={value}" for name, value in specification.items() if name not in _OF_THE_QUESTION
    ]
    made = [each.dummies.epsilon for each in one.plan.shufflers if each.dummies]
    if made:  # all are the same
        own.append(f"dummies={made[0]:g}{' each' if len(made) > 1 else ''}")
    model = one.plan.participation.model
    return " ".join([specification["mechanism"], *own, *([] if model == "single" else [model])])


def _asked(one: Design) -> float | None:
    """The epsilon_local in the plan, None without noise; the mechanism's own is less by 1e-9."""
    asked = one.plan.randomizers[0].specification.get("max_epsilon_local")
    return None if asked is None else float(asked)


def _document(letter: str, one: Design) -> dict[str, Any]:
    plan = one.plan
    return {
        "name": letter,
        "mechanism": plan.randomizers[0].mechanism,
        "model": plan.participation.model,
        "max_epsilon_local": _asked(one),
        "minimum_batch": plan.protections.minimum_batch,
        "epsilon_upper": one.epsilon.value,
        "clients_epsilon_upper": one.clients.value,
        "reidentification_upper": one.reidentification.value,
        "rms_error": one.rms_error,
        "error_alone": one.error_alone,
        "worst_shift_upper": None if one.worst_shift is None else float_above(one.worst_shift),
        "strengths": list(one.strengths),
        "trade": one.trade or None,
        "plan_digest": plan.digest,
        "plan": plan.document(),
    }
