"""The two numbers that matter: is a report traced to its sender, and is an answer guessed?"""

from collections.abc import Iterator
from dataclasses import dataclass

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.text import CERTAIN
from croupier.documents.explain.people.parties import all_add, all_join, sends_answers
from croupier.documents.explain.sentence import NO_PROTECTION, Form, Number, Sentence, promised
from croupier.documents.explain.sentences import against, blind_guess, luck, not_bounded
from croupier.model.metric import Metric
from croupier.model.rung import Rung

__all__ = ["Risk", "if_they_collude", "risks"]

_ASKED = {
    Metric.REIDENTIFICATION: ("How often is your report traced to you?", Form.ODDS),
    Metric.GUESS_OF_TWO: ("How often is a guess between two answers right?", Form.PERCENT),
}


@dataclass(frozen=True, kw_only=True)
class Risk:
    """One number about one person, beside luck.

    Attributes:
        asked: What it answers.
        most: The number.
        luck: The number for somebody who sees nothing.
        who: The adversary, the strongest that the declared operators make real.
        why: The reason why nothing is proved; None where something is.
    """

    asked: str
    most: Sentence
    luck: Sentence
    who: str
    why: Sentence | None


def risks(ladder: Ladder) -> Iterator[Risk]:
    """Yield both numbers."""
    for metric, (asked, form) in _ASKED.items():
        rung = Rung(ladder.most_exposed(metric).rung)
        cell = ladder[rung][metric]
        if cell.proved is None:
            most, why = Sentence("No proved limit"), not_bounded(cell)
        else:
            most, why = _most(promised(cell, rung, form=form)), None
        yield Risk(
            asked=asked,
            most=most,
            luck=Sentence("By luck alone: ", *_luck(ladder, rung, metric), "."),
            who=f"By {against(ladder.plan, rung)}.",
            why=why,
        )


def _most(number: Number) -> Sentence:
    """Say a number as a limit, unless it limits nothing."""
    if str(number) in (CERTAIN, "100 %"):
        return Sentence(number, f", {NO_PROTECTION}")
    return Sentence("at most ", number)


def _luck(ladder: Ladder, rung: Rung, metric: Metric) -> Iterator[str | Number]:
    if metric is Metric.GUESS_OF_TWO:
        yield blind_guess(ladder, metric)
    else:
        yield luck(ladder.plan, rung, ladder[rung][metric])


def if_they_collude(ladder: Ladder) -> Sentence:
    """Say what both numbers are if all shufflers and the analyzer work together.

    With two shufflers that add dummies, also what they are if one shuffler is honest.
    """
    plan, rung = ladder.plan, ladder.plan.rungs[-1]
    if rung is Rung.EVERYBODY and all_add(plan):
        return Sentence(*_one_is_honest(ladder), *_all_collude(ladder, rung).parts)
    return _all_collude(ladder, rung)


def _one_is_honest(ladder: Ladder) -> Iterator[str | Number]:
    row = ladder[Rung.ALL_BUT_ONE]
    guess, link = row[Metric.GUESS_OF_TWO], row[Metric.REIDENTIFICATION]
    if guess.proved is None or link.proved is None:
        return
    yield "If only one shuffler is honest, and all others drop every report but yours, a guess is "
    yield "right at most "
    yield promised(guess, Rung.ALL_BUT_ONE, form=Form.PERCENT)
    yield " of the time, and your report is traced to you at most "
    yield promised(link, Rung.ALL_BUT_ONE, form=Form.ODDS)
    yield " times. "


def _all_collude(ladder: Ladder, rung: Rung) -> Sentence:
    plan, cell = ladder.plan, ladder[rung][Metric.GUESS_OF_TWO]
    if plan.operators == "same" and rung is Rung.COLLUSION:
        start = "One operator runs both shuffler and analyzer: it knows which report is yours"
    else:
        hidden = plan.admission.by == "token" and plan.admission.relay is not None
        start = f"If {all_join(plan)}, they {'may ' * hidden}know which report is yours"
    if sends_answers(plan):
        return Sentence(f"{start}, and nothing protects your answer: your device sends it itself.")
    if cell.proved is None:
        return Sentence(f"{start}. Your answer: ", *not_bounded(cell).parts)
    share = promised(cell, rung, form=Form.PERCENT)
    if str(share) == "100 %":
        return Sentence(
            f"{start}, and nothing protects your answer: a guess may be right ",
            share,
            " of the time.",
        )
    return Sentence(
        f"{start}, and a guess between two answers is right at most ", share, " of the time."
    )
