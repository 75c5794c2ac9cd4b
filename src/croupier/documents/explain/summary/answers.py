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
from croupier.documents.explain.people.liars import shifted
from croupier.documents.explain.people.parties import (
    added,
    all_add,
    all_join,
    asks_for_texts,
    drops,
    sends_answers,
    shuffler_called,
    some_trace,
)
from croupier.documents.explain.sentence import Quoted, Sentence
from croupier.documents.explain.summary.cut import cut
from croupier.plan.plan import Plan
from croupier.plan.sections import RecordSection

__all__ = ["NOT_PROMISED", "Asked", "answers", "how_it_works", "not_promised"]

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

_ANY_TEXT = "A text that enough people send is published as it is, even if it names somebody."


def not_promised(plan: Plan) -> dict[str, str]:
    """Say what no number of the plan is about."""
    more = {}
    if asks_for_texts(plan):
        more["Harmless texts"] = _ANY_TEXT
    figures = ["Nobody can check whether an answer is true.", *shifted(plan)]
    if any(plan.dummies):
        figures.append(
            "A shuffler that adds other reports than it says moves every count, and nobody notices."
        )
    more["Correct figures"] = " ".join(figures)
    return NOT_PROMISED | more


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
            *([Sentence(_ANY_TEXT)] if asks_for_texts(plan) else []),
        ),
    }


def how_it_works(plan: Plan) -> str:
    """Say in three sentences what device, shuffler and analyzer do."""
    device = "Your device changes your answer at random (noise) and sends it sealed: a report."
    if sends_answers(plan):
        device = "Your device sends your answer itself, sealed: a report."
    mixing = "The shuffler collects the reports of many people, a batch, and mixes them."
    if len(plan.shufflers) > 1:
        mixing = (
            "The first shuffler collects the reports of many people, a batch, and mixes them; the "
            "second mixes them again."
        )
    opens = "The analyzer opens the mixed reports and computes figures."
    if any(plan.dummies):
        told = added(plan)
        mixing += f" {told[0].upper()}{told[1:]} again."
    return f"{device} {mixing} {opens}"


def _given(text: str | None, most: int, *, missing: str) -> Sentence:
    return Sentence(missing) if text is None else Sentence(Quoted(cut(text, most)))


def _asked(plan: Plan) -> Iterator[Sentence]:
    for row, question in islice(
        zip(asked_rows(plan), plan.questions, strict=True), _MOST_QUESTIONS
    ):
        if question.text is None:
            words = f"{row.name}: the plan does not give the words"
        else:
            words = Quoted(cut(question.text, _TEXT))
        stop = " " if words[-1] in ".?!…" else ". "
        yield Sentence(words, f"{stop}Answers: ", Quoted(cut(row.answers, _ANSWERS)), ".")
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
        "released-order": "Anybody can read all reports in the order in which they were released"
        + ("." if len(plan.shufflers) > 1 else "; the shuffler knows whose each is."),
    }[plan.analyzer.publication]
    rounds = "" if plan.participation_model.everybody_sends else " and in which rounds"
    first, by, relay = shuffler_called(plan, 0), plan.admission.by, plan.admission.relay
    see = f"The network and {first} see"
    if by == "token":
        see = "The issuer, the network and "
        see += f"{first} see" if relay is None else f"the relay, not {first}, see"
    yield f"{see} that you take part{rounds}; reports are sealed."
    if plan.operators == "same" and len(plan.shufflers) == 1:
        yield "The operator of shuffler and analyzer sees every report with its sender."
    elif any(plan.dummies):
        yield "The analyzer sees all reports, mixed with made-up ones and without names."
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
    device = "Your own device must add the noise."
    if sends_answers(plan):
        device = "Your own device must run the software of this plan."
    if len(plan.shufflers) > 1:
        yield _two_shufflers(plan, device)
        yield from _others(plan)
        return
    if plan.operators == "same" and analyzer:
        yield Sentence(
            f"{device} ",
            Quoted(cut(analyzer, _NAME)),
            " runs both shuffler and analyzer: the numbers above do not rest on keeping them "
            "apart.",
        )
        return
    yield Sentence(
        "The shuffler, run by ",
        _named(shuffler),
        f", must mix the reports, drop {drops(plan, 'none')} and add none"
        + (" but its dummies" if any(plan.dummies) else "")
        + ". The analyzer, run by ",
        _named(analyzer),
        f", must keep its key and the reports to itself. {device}",
    )
    yield from _others(plan)


def _two_shufflers(plan: Plan, device: str) -> Sentence:
    """Say who must be trusted where reports pass two shufflers."""
    end = ", must mix the reports and drop none"
    if all_add(plan):
        end = (
            f", must mix the reports, drop {drops(plan, 'none')}, add dummies and tell nobody how "
            "many of each answer (above: what holds if only one of them does)"
        )
    elif any(plan.dummies):
        (adding,) = (place for place, table in enumerate(plan.dummies) if table is not None)
        end = (
            f", must mix the reports and drop {drops(plan, 'none')}; "
            f"{shuffler_called(plan, adding)} must add dummies and tell nobody how many of each "
            "answer"
        )
    first, second = (_named(each.operator) for each in plan.shufflers)
    keeps = ", must keep its key and the reports to itself"
    if plan.operators == "same":
        keeps = ", also runs a shuffler: the numbers above do not rest on keeping them apart"
    analyzer = _named(plan.analyzer.operator)
    return Sentence(
        "Both shufflers, run by ",
        first,
        " and ",
        second,
        f"{end}. The analyzer, run by ",
        analyzer,
        f"{keeps}. {device}",
    )


def _others(plan: Plan) -> Iterator[Sentence]:
    """Say how many of the others may be corrupt, and who sees to it."""
    if sends_answers(plan):
        yield Sentence("The numbers hold however many people of a batch work against you.")
        return
    yield Sentence(
        f"The numbers hold if at most {plan.corrupt:,} of the "
        f"{plan.protections.minimum_batch:,} people of a batch work against you."
        if plan.corrupt
        else "The numbers hold if nobody else in your batch works against you."
    )
    if plan.admission.by == "token":
        issuer = _named(plan.admission.operator)
        yield Sentence("Who takes part is decided by the issuer, run by ", issuer, ".")


def _named(operator: str | None) -> str:
    return (
        "somebody whom the plan does not name" if operator is None else Quoted(cut(operator, _NAME))
    )


def _otherwise(plan: Plan) -> Iterator[str]:
    left = "only the noise of your device protects your answer"
    if sends_answers(plan):
        left = "nothing protects your answer"
    if len(plan.shufflers) > 1:
        yield _one_shuffler_joins(plan, left)
        yield f"If {all_join(plan)}, {left}."
    elif plan.operators == "separate":
        yield (
            f"If shuffler and analyzer work together, or the shuffler drops everybody else, {left}."
        )
    if any(plan.dummies) and len(plan.shufflers) == 1:
        yield "The shuffler knows its own dummies: they do not protect you against it."
    if not sends_answers(plan):
        yield "Software that adds no noise sends your answer as it is."


def _one_shuffler_joins(plan: Plan, left: str) -> str:
    start = "If one shuffler and the analyzer work together, or one shuffler drops everybody else,"
    if all_add(plan):
        return f"{start} the dummies of the other shuffler still protect your answer."
    return f"{start} {left}, unless the other shuffler adds dummies: not both do."


def _kept(plan: Plan, record: RecordSection) -> Iterator[Sentence]:
    yield _given(
        record.retention, _LONG_RECORD, missing="The plan does not say how long reports are kept."
    )
    yield Sentence(
        f"A batch that stays below {plan.protections.minimum_batch:,} people is deleted after "
        f"{disposed_after(plan)}. When a batch is released, "
        f"{'the shuffler' if len(plan.shufflers) == 1 else 'each shuffler'} destroys the key to "
        "what it stored."
    )


def _withdrawn(plan: Plan, record: RecordSection) -> Iterator[Sentence]:
    yield Sentence("You send nothing more.")
    if plan.operators == "same" and len(plan.shufflers) == 1:
        yield Sentence(
            "The operator could find a report that you sent; the plan does not say whether it is "
            "deleted."
        )
    elif plan.shuffling.groups is None and plan.analyzer.publication != "released-order":
        yield Sentence(
            f"A report that you sent stays in its batch: unless {some_trace(plan)}, nobody can "
            "tell for sure which is yours."
        )
    else:
        yield Sentence("A report that you sent stays in its batch: nothing takes it out again.")
    if plan.analyzer.publication != "none":
        yield Sentence("Published figures do not change.")
    if record.rights is None:
        yield Sentence("The plan does not say what else you may ask for.")
    else:
        yield Sentence("Your rights: ", Quoted(cut(record.rights, _LONG_RECORD)))
