"""`croupier init`: a first plan, from a few questions."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from croupier.assessment.design.first_plan import first_plan
from croupier.assessment.design.pace import PACES, Pace
from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.cli.options.mechanism import (
    Alphabet,
    Longest,
    NormalisationText,
    count,
    grid_ends,
    texts_table,
)
from croupier.cli.options.plan import Force, Output, require_new, write_plan
from croupier.cli.output.policy import verdict_line
from croupier.cli.output.terminal import Json, Quiet, out, print_json, progress
from croupier.errors import ParameterError
from croupier.model.judgement import Judgement
from croupier.plan.file import name_of

__all__ = ["HELP", "command"]

HELP = """Write a first plan from a few questions, with the most accurate mechanism and your limits.

The plan goes on: people are asked daily, and what one of them may answer counts within 30 days.
--every once writes a plan of one round.

Asks on a terminal only; --yes takes the default where a flag is missing. Limits have no default:
without one, croupier check exits with 4. A limit that the plan does not meet is written and
reported.

Example: croupier init --yes --k 50 --enrolled 1e6 --minimum-batch 200000 --max-epsilon-local 4
--max-epsilon 0.1 --max-reidentification 5e-4
"""

_KINDS = ("1", "2", "3", "4")

_NO_LIMIT = """NO LIMIT SET  croupier check exits with 4 until what is acceptable is said:
in a file for --policy, under [policy] in the plan, or here with --max-epsilon
and --max-reidentification."""


def command(
    k: Annotated[
        int | None, typer.Option(parser=count, metavar="K", help="Answers: one of K categories.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="Answers: one of these, separated by commas.")
    ] = None,
    yes_no: Annotated[bool, typer.Option("--yes-no", help="Answers: yes or no.")] = False,
    grid: Annotated[str | None, typer.Option(help="Answers: a number, LOW:HIGH:STEP.")] = None,
    longest: Longest = None,
    alphabet: Alphabet = None,
    normalisation: NormalisationText = None,
    enrolled: Annotated[
        int | None,
        typer.Option(
            "--enrolled",
            "--reports",
            parser=count,
            metavar="N",
            help="People enrolled.  [default: 1e6]",
        ),
    ] = None,
    minimum_batch: Annotated[
        int | None,
        typer.Option(
            parser=count,
            metavar="N",
            help="Fewest people whose batch is released.  [default: a fifth]",
        ),
    ] = None,
    max_epsilon_local: Annotated[
        float | None,
        typer.Option(help="Local epsilon in nats: what holds if all else fails.  [default: 4]"),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="PACE",
            help=f"How often people are asked: {', '.join(PACES)}, or a time.  [default: daily]",
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Time within which a person's answers count.  [default: 30d]"
        ),
    ] = None,
    answers_each: Annotated[
        int | None,
        typer.Option(
            "--answers",
            parser=count,
            metavar="N",
            help="Answers of a person within that time.  [default: every round]",
        ),
    ] = None,
    max_epsilon_permanent: Annotated[
        float | None,
        typer.Option(
            help="Ceiling in nats for all answers of a person ever: devices keep a permanent one."
        ),
    ] = None,
    corrupt_fraction: Annotated[
        float | None, typer.Option(help="Share of the enrolled who may be corrupt.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="Failure probability of an epsilon.")] = None,
    max_epsilon: Annotated[
        float | None, typer.Option(help="Limit on epsilon for readers of the batch.  [no default]")
    ] = None,
    max_reidentification: Annotated[
        float | None, typer.Option(help="Limit on tracing a report, in [0, 1].  [no default]")
    ] = None,
    output: Output = Path("plan.toml"),
    force: Force = False,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a first plan."""
    require_new(output, force=force)
    ask = _Questions(silent=yes)
    texts = _Texts(longest, alphabet, normalisation)
    answers = _answers(ask, k=k, labels=labels, yes_no=yes_no, grid=grid, texts=texts)
    people = ask("People enrolled", "1e6", count, given=enrolled)
    batch = ask("Minimum batch", str(max(2, people // 5)), count, given=minimum_batch)
    local = ask(
        "max_epsilon_local in nats, if all else fails", "4", _number, given=max_epsilon_local
    )
    pace = _pace(ask, every, window, answers_each)
    limits = _limits(ask, max_epsilon, max_reidentification)
    with progress("Proving", total=None, quiet=json or quiet):
        plan = first_plan(
            answers,
            enrolled=people,
            minimum_batch=batch,
            max_epsilon_local=local,
            corrupt_fraction=corrupt_fraction,
            delta=delta,
            limits=limits,
            pace=pace,
            max_epsilon_permanent=max_epsilon_permanent,
            name=name_of(str(output)),
        )
        found = checked(assess(plan)) if limits else None
    mechanism, error = plan.randomizer.mechanism, plan.randomizer.rms_error(batch)
    least = "" if plan.keeps_answer else "least "
    note = f"{least}RMS error: {error:.3g} from {batch:,} reports"
    write_plan(plan, output, force=force, notes={"randomizer.mechanism": note})
    if json:
        print_json(
            output=str(output),
            plan_digest=plan.digest,
            mechanism=mechanism,
            rms_error=error,
            policy=plan.document().get("policy", {}),
            judgement=found.judgement if found else Judgement.NO_LIMIT,
        )
    elif not quiet:
        out.print(f"Wrote {output}. Next: croupier assess {output}")
        out.print(verdict_line(found, output) if found else _NO_LIMIT)


def _pace(ask: "_Questions", every: str | None, window: str | None, answers: int | None) -> Pace:
    """Read how often people are asked, and how much of that one person answers."""
    names = ", ".join(PACES)
    asked = ask(f"How often: {names}, or a time like 12h", "daily", _known_pace, given=every)
    pace = Pace.named(asked, window=window, answers=answers)
    if pace.every is None:
        return pace
    rounds, within = pace.section["rounds"], pace.section["window"]
    most = ask(f"Answers of one person within {within}", str(rounds), count, given=answers)
    return replace(pace, answers=most)


def _known_pace(text: str) -> str:
    try:
        Pace.named(text)
    except ParameterError as error:
        raise typer.BadParameter(str(error)) from None
    return text


def _limits(
    ask: "_Questions", max_epsilon: float | None, max_reidentification: float | None
) -> dict[str, float]:
    """Read the limits; there are no defaults."""
    epsilon = ask("Largest acceptable epsilon", "", _limit, given=max_epsilon)
    chance = "Largest acceptable probability of tracing a report"
    traced = ask(chance, "", _limit, given=max_reidentification)
    given = {"max_epsilon": epsilon, "max_reidentification": traced}
    return {name: value for name, value in given.items() if value is not None}


class _Questions:
    """Questions on the terminal, or defaults without one."""

    def __init__(self, *, silent: bool) -> None:
        self.silent = silent

    def __call__(
        self, question: str, default: str, read: Callable[[str], Any], *, given: Any = None
    ) -> Any:
        if given is not None:
            return given
        if self.silent:
            return read(default)
        if not sys.stdin.isatty():
            raise ParameterError(
                "--yes", must="be given where there is no terminal", hint="Try croupier init --yes."
            )
        if not default:
            question += " (empty: no limit)"
        return typer.prompt(question, default=default, value_proc=read, show_default=bool(default))


class _Texts(NamedTuple):
    """The flags about texts."""

    longest: int | None
    alphabet: str | None
    normalisation: str | None

    def asked(self, ask: _Questions) -> dict[str, Any]:
        """Return the texts that people may answer, from flags or questions."""
        letters = "Letters: a-z, a-z0-9, any, or all in a row"
        how = "Normalisation: lower (A-Z become a-z), nfc or none"
        return texts_table(
            ask("Letters of a text that count", "12", count, given=self.longest),
            ask(letters, "a-z", str, given=self.alphabet),
            ask(how, "lower", str, given=self.normalisation),
        )


def _answers(
    ask: _Questions,
    *,
    k: int | None,
    labels: str | None,
    yes_no: bool,
    grid: str | None,
    texts: _Texts,
) -> dict[str, Any]:
    """The answers that people may give, from a flag or a question."""
    given = [k is not None, yes_no, grid is not None, texts != (None, None, None)]
    if sum(given) + (labels is not None) > 1:
        must = "be given, or --labels, --yes-no, --grid or --longest: one of them"
        raise ParameterError("--k", must=must)
    if labels is not None:
        return {"labels": labels.split(",")}
    kinds = [kind for kind, flag in zip(_KINDS, given, strict=True) if flag]
    question = "Answers: 1 one of k, 2 yes/no, 3 a number, 4 a text"
    kind = ask(question, "1", _kind, given=next(iter(kinds), None))
    if kind == "2":
        return {"labels": ["no", "yes"]}
    if kind == "3":
        return {"grid": grid_ends(ask("Range, as LOW:HIGH:STEP", "0:1:0.05", str, given=grid))}
    if kind == "4":
        return texts.asked(ask)
    return {"k": ask("Categories", "50", count, given=k)}


def _number(text: str, *, example: str = "4") -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"must be a number; got {text}. Try {example}.") from None


def _limit(text: str) -> float | None:
    return _number(text, example="0.1") if text.strip() else None


def _kind(text: str) -> str:
    if text.strip() not in _KINDS:
        raise typer.BadParameter(f"must be 1, 2, 3 or 4; got {text}.")
    return text.strip()
