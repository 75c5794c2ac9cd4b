"""Nine questions about a collection and their answers, in the words of somebody who is asked.

The tenth, what one person risks, is answered by the numbers of `risk.py`.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice

from croupier.documents.explain.asked import (
    MODELS,
    asked_rows,
    disposed_after,
    how_often,
)
from croupier.documents.explain.sentence import Quoted, Sentence
from croupier.documents.explain.summary.cut import cut
from croupier.plan.plan import Plan
from croupier.plan.sections import RecordSection

__all__ = ["NOT_PROMISED", "Asked", "answers"]

_MOST_QUESTIONS = 2
_TEXT, _ANSWERS, _PURPOSE, _NAME, _RECORD, _LONG_RECORD = 120, 80, 240, 50, 75, 140

NOT_PROMISED = {
    "Participation": "Who takes part, when, and how many people do is public: an epsilon that "
    "hides it would be infinite.",
    "Facts about groups": "What the figures show about people like you can be used to draw "
    "conclusions about you, whether or not you take part.",
    "Correlated answers (family, team)": "Where one person's answer gives away another's, many "
    "reports give away both.",
}


class Asked(StrEnum):
    """The questions, in the order of the page."""

    WHAT = "What is asked?"
    WHOM = "Of whom, how often?"
    PURPOSE = "What for?"
    RESPONSIBLE = "Who decides, and whom can I ask?"
    LEARNS = "Who could learn what?"
    TRUSTED = "Who must be trusted?"
    OTHERWISE = "What if they are not trustworthy?"
    KEPT = "How long is it kept?"
    WITHDRAWN = "What if I withdraw?"
    NOT_PROMISED = "What is not promised?"


def answers(plan: Plan) -> dict[Asked, tuple[Sentence, ...]]:
    """Answer every question, or say that the plan does not."""
    record = plan.record or RecordSection()
    return {
        Asked.WHAT: tuple(_asked(plan)),
        Asked.WHOM: (_of_whom(plan),),
        Asked.PURPOSE: (
            _given(plan.purpose, _PURPOSE, missing="The plan does not state a purpose."),
        ),
        Asked.RESPONSIBLE: tuple(_responsible(record)),
        Asked.LEARNS: tuple(map(Sentence, _learns(plan))),
        Asked.TRUSTED: tuple(_trusted(plan)),
        Asked.OTHERWISE: tuple(map(Sentence, _otherwise(plan))),
        Asked.KEPT: tuple(_kept(plan, record)),
        Asked.WITHDRAWN: tuple(_withdrawn(plan, record)),
        Asked.NOT_PROMISED: (
            Sentence("That you take part is not hidden."),
            Sentence(NOT_PROMISED["Facts about groups"]),
            Sentence(
                "If your answer follows from other people's (family, team), it is not hidden."
            ),
        ),
    }


def _given(text: str | None, most: int, *, missing: str) -> Sentence:
    return Sentence(missing) if text is None else Sentence(Quoted(cut(text, most)))


def _asked(plan: Plan) -> Iterator[Sentence]:
    for row, question in islice(
        zip(asked_rows(plan), plan.questions, strict=True), _MOST_QUESTIONS
    ):
        asked = (
            (f"{row.name}: the plan does not give the words.",)
            if question.text is None
            else (Quoted(cut(question.text, _TEXT)),)
        )
        yield Sentence(*asked, " Answers: ", Quoted(cut(row.answers, _ANSWERS)), ".")
    if len(plan.questions) > _MOST_QUESTIONS:
        yield Sentence("More questions: see below.")


def _of_whom(plan: Plan) -> Sentence:
    often = how_often(plan)
    said = f"{plan.population.enrolled:,} people are enrolled. {often[0].upper()}{often[1:]}."
    if plan.participation_model.model != "single":
        model = MODELS[plan.participation_model.model]
        said += f" {model[0].upper()}{model[1:]}."
    return Sentence(said)


def _responsible(record: RecordSection) -> Iterator[Sentence]:
    if record.controller is None:
        yield Sentence("The plan does not say who decides.")
    else:
        yield Sentence(Quoted(cut(record.controller, _RECORD)), " decides what is collected.")
    if record.contact is None:
        yield Sentence("The plan does not say whom to ask.")
    else:
        yield Sentence("Ask ", _short(record.contact), ".")
    if record.legal_basis is None:
        yield Sentence("The plan does not state a legal basis.")
    else:
        yield Sentence("Legal basis: ", _short(record.legal_basis), ".")


def _short(text: str) -> Quoted:
    """Return a text that stands before the full stop of a sentence."""
    return Quoted(cut(text.rstrip("."), _RECORD))


def _learns(plan: Plan) -> Iterator[str]:
    yield {
        "none": "Nothing is published.",
        "estimate": "Anybody can read the published estimates; no individual report is in them.",
        "histogram": "Anybody can read how often each report occurs; whose it is, is not said.",
        "sorted": "Anybody can read all reports, sorted, without names.",
        "released-order": "Anybody can read all reports in the order in which they were released; "
        "the shuffler knows whose each is.",
    }[plan.analyzer.publication]
    rounds = "" if plan.participation_model.everybody_sends else " and in which rounds"
    yield f"The network and the shuffler see that you take part{rounds}; reports are sealed."
    if plan.operators == "same":
        yield "The operator of shuffler and analyzer sees every report with its sender."
    elif plan.mixes_by_group:
        yield "The analyzer sees all reports of each public group, mixed and without names."
    elif plan.shuffling.order == "uniform":
        yield "The analyzer sees all reports, mixed and without names."
    else:
        yield (
            "The analyzer sees all reports without names, in an order close to the public places "
            "of their senders."
        )


def _trusted(plan: Plan) -> Iterator[Sentence]:
    shuffler, analyzer = plan.shufflers[0].operator, plan.analyzer.operator
    if plan.operators == "same" and analyzer:
        yield Sentence(
            "Your own device, which adds the noise. ",
            Quoted(cut(analyzer, _NAME)),
            " runs both shuffler and analyzer: the numbers above do not rest on keeping them "
            "apart.",
        )
        return
    yield Sentence(
        "The shuffler, run by ",
        _named(shuffler),
        ", must mix the reports, drop none and add none. The analyzer, run by ",
        _named(analyzer),
        ", must keep its key and the reports to itself. Your own device must add the noise.",
    )
    yield Sentence(
        f"The numbers hold if at most {plan.corrupt:,} of the "
        f"{plan.protections.minimum_batch:,} people of a batch work against you."
        if plan.corrupt
        else "The numbers hold if nobody else in your batch works against you."
    )


def _named(operator: str | None) -> str:
    return (
        "somebody whom the plan does not name" if operator is None else Quoted(cut(operator, _NAME))
    )


def _otherwise(plan: Plan) -> Iterator[str]:
    if plan.operators == "separate":
        yield (
            "If shuffler and analyzer work together, or the shuffler drops everybody else, only "
            "the noise of your device protects your answer."
        )
    yield "Software that adds no noise sends your answer as it is."


def _kept(plan: Plan, record: RecordSection) -> Iterator[Sentence]:
    yield _given(
        record.retention, _LONG_RECORD, missing="The plan does not say how long reports are kept."
    )
    yield Sentence(
        f"A batch that stays below {plan.protections.minimum_batch:,} people is deleted after "
        f"{disposed_after(plan)}. When a batch is released, the shuffler destroys the key to what "
        "it stored."
    )


def _withdrawn(plan: Plan, record: RecordSection) -> Iterator[Sentence]:
    yield Sentence("You send nothing more.")
    if plan.operators == "same":
        yield Sentence(
            "The operator could find a report that you sent; the plan does not say whether it is "
            "deleted."
        )
    elif plan.shuffling.groups is None and plan.analyzer.publication != "released-order":
        yield Sentence(
            "A report that you sent stays in its batch: unless shuffler and analyzer work "
            "together, nobody can tell which is yours."
        )
    else:
        yield Sentence("A report that you sent stays in its batch: nothing takes it out again.")
    if plan.analyzer.publication != "none":
        yield Sentence("Published figures do not change.")
    if record.rights is None:
        yield Sentence("The plan does not say what else you may ask for.")
    else:
        yield Sentence("Your rights: ", Quoted(cut(record.rights, _LONG_RECORD)))
