"""Sentences that say what each row of the trust ladder means for one person.

Every sentence compares the number with luck alone, and treats as known what is not proved.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import REPEATED, Ladder
from croupier.assessment.ladder.text import CERTAIN
from croupier.documents.explain.asked import lasting
from croupier.documents.explain.near import off_by
from croupier.documents.explain.people.parties import (
    all_add,
    all_join,
    colluders,
    sends_answers,
    shuffler_called,
)
from croupier.documents.explain.people.senders import linked_reports, own_envelope, own_report
from croupier.documents.explain.sentence import (
    NO_PROTECTION,
    Form,
    Number,
    Sentence,
    chance,
    promised,
)
from croupier.model.guarantee import Direction
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.model.texts import Texts
from croupier.numerics.rounding import delta_text, float_above
from croupier.plan.plan import Plan

__all__ = ["against", "blind_guess", "crowd", "grown", "inference", "linkability", "luck"]
__all__ += ["not_bounded", "nothing_protects", "repeated"]
__all__ += ["proved_for", "seen_on_the_wire", "singling_out", "two_values"]

_CRYPTOGRAPHY = "the encryption (HPKE) holds and the analyzer keeps its key to itself"
_ONE_REPORT = "You send one report: there is no second one to match it with."
_ALL_BUT_ONE = "Everybody but one shuffler, even if they drop all other reports:"
_ONLY_THE_DEVICE = "Only your device's noise protects you."
_WHICH_TEXT = (
    "Among all texts: some are far more likely than others, so that no one chance says how often a "
    "guess is right. The factor below, of any conclusion, holds for every text."
)
_SEE_CREDENTIALS = (
    Rung.SHUFFLER,
    Rung.SHUFFLER_1,
    Rung.COLLUSION,
    Rung.ALL_BUT_ONE,
    Rung.EVERYBODY,
)
_NO_ROWS = ("none", "estimate", "histogram")
_NO_USE = 1e6
"""A factor that no longer limits anything."""


def singling_out(ladder: Ladder, rung: Rung) -> Sentence:
    """Say how often an adversary points at the report of one person."""
    plan, cell = ladder.plan, ladder[rung][Metric.REIDENTIFICATION]
    if rung.sees_all:
        return Sentence(own_report(plan))
    if rung.mixes is not None:
        return _operator(plan, rung, cell)
    if rung is Rung.ALL_BUT_ONE and not all_add(plan):
        return Sentence(
            "They drop all other reports and know which report is yours: one honest shuffler is "
            "enough only if it adds dummies."
        )
    if rung is Rung.ESTIMATE and plan.analyzer.publication in _NO_ROWS:
        silent = plan.analyzer.publication == "none"
        return Sentence(
            "Nothing is published." if silent else "The figures contain no individual reports."
        )
    who = f"Somebody who {_view(plan, rung)}"
    if cell.proved is None:
        return Sentence(f"{who} may find your report. ", *not_bounded(cell).parts)
    points = f"{who}, even knowing everybody's true answer, points"
    if rung is Rung.ALL_BUT_ONE:
        points = f"{_ALL_BUT_ONE} they point"
    share, odds = (promised(cell, rung, form=form) for form in (Form.PERCENT, Form.ODDS))
    again = () if str(odds) == str(share) else (" (", odds, ")")
    return Sentence(
        f"{points} at your report at most ",
        share,
        " of the time",
        *again,
        f"; by luck alone, {luck(plan, rung, cell)}.{_average(plan, cell)}",
    )


def _average(plan: Plan, cell: Cell) -> str:
    """Say that a chance is an average over the dummies, where it is one."""
    value = None if cell.proved is None else cell.proved.value
    for table in plan.dummies:
        if table is not None and table.weights[0] and float_above(table.alone) == value:
            alone = chance(float_above(Fraction(table.weights[0], table.total)))
            return (
                " This is an average over the dummies: with a chance of "
                f"{alone} the report is the only one of its kind."
            )
    return ""


def _operator(plan: Plan, rung: Rung, cell: Cell) -> Sentence:
    sealed = own_envelope(plan)
    if rung is Rung.SHUFFLER_2:
        sealed = (
            "The operator sees sealed reports that the first shuffler mixed, not whose they are"
        )
    if rung is Rung.SHUFFLER and plan.analyzer.publication == "released-order":
        return Sentence(
            f"{sealed}. Rows are published in the order that it drew: it knows the report of "
            "everybody whose envelope it knows."
        )
    what = "them" if rung is Rung.SHUFFLER_2 else "it"
    sealed += f", and cannot open {what} while {_CRYPTOGRAPHY}. "
    if plan.analyzer.publication == "none":
        return Sentence(f"{sealed}Nothing is published.")
    if cell.proved is None:
        return Sentence(f"{sealed}Finding your opened report: ", *not_bounded(cell).parts)
    odds = promised(cell, rung, form=Form.ODDS)
    if str(odds) == CERTAIN:
        return Sentence(f"{sealed}Nothing keeps it from finding your opened report: ", odds, ".")
    return Sentence(
        f"{sealed}It finds your opened report at most ",
        odds,
        f" times; by luck alone, {luck(plan, rung, cell)}.{_average(plan, cell)}",
    )


def linkability(ladder: Ladder, rung: Rung) -> Sentence:
    """Say how often reports of one person are found in several rounds."""
    plan, cell = ladder.plan, ladder[rung][Metric.REIDENTIFICATION]
    if rung in _SEE_CREDENTIALS:
        return Sentence(linked_reports(plan) if plan.batches > 1 else _ONE_REPORT)
    if rung in (Rung.ESTIMATE, Rung.SHUFFLER_2) and plan.analyzer.publication in _NO_ROWS:
        return Sentence("No reports are shown that could be matched from round to round.")
    if plan.reports == 1:
        return Sentence(_ONE_REPORT)
    if cell.proved is None:
        return not_bounded(cell)
    rounds = plan.reports
    return Sentence(
        f"Your report is found in at least one of {rounds:,} rounds: ",
        promised(cell, rung, form=Form.SOME_ROUND, rounds=rounds),
        ". In two chosen rounds: ",
        promised(cell, rung, form=Form.TWO_ROUNDS, rounds=rounds),
        f". By luck alone, in one given round: {luck(plan, rung, cell)}.",
    )


def inference(ladder: Ladder, rung: Rung) -> tuple[Sentence, ...]:
    """Say how well an adversary guesses the answer of one person."""
    plan = ladder.plan
    published = rung is Rung.ESTIMATE or rung.mixes is not None
    if published and plan.analyzer.publication == "none":
        return (Sentence("Nothing is published: a guess is right by luck alone."),)
    if rung.sees_all and sends_answers(plan):
        return (Sentence(nothing_protects(plan)),)
    said = [Sentence(words) for words in _what_is_left(plan, rung)]
    said.append(_of_two(ladder, rung))
    if all(isinstance(made.domain, Texts) for made in plan.randomizers):
        said.append(Sentence(_WHICH_TEXT))
    else:
        said += [_informed(ladder, rung), _uninformed(ladder, rung)]
    if plan.windows:
        said.append(_near(ladder, rung))
    said += [_security(ladder, rung), _epsilon(ladder, rung)]
    if Metric.ALPHA in ladder[rung].cells:
        said.append(_order(ladder, rung))
    return tuple(said)


def _what_is_left(plan: Plan, rung: Rung) -> Iterator[str]:
    """Say what still protects an answer, where that is less than elsewhere."""
    if rung.sees_all or (rung is Rung.ALL_BUT_ONE and not all_add(plan)):
        yield "Nothing protects you." if sends_answers(plan) else _ONLY_THE_DEVICE
    elif rung is Rung.ALL_BUT_ONE:
        yield f"{_ALL_BUT_ONE} the dummies of that shuffler protect you."
    elif rung.mixes is not None and plan.dummies[rung.mixes] is not None:
        others = len(plan.shufflers) > 1 and all_add(plan)
        rest = "; those of the other shuffler do" if others else ""
        yield f"It knows its own dummies and subtracts them: they do not protect you here{rest}."


def nothing_protects(plan: Plan) -> str:
    """Say that the device sends the answer itself, and when that is known."""
    unless = f"if {all_join(plan)}"
    if len(plan.shufflers) == 1 and plan.analyzer.publication != "none":
        unless = "against the shuffler"
    return f"The device sends the answer itself; nothing protects it {unless}."


def two_values(ladder: Ladder) -> Sentence:
    """Say how often two answers are told apart: by the headline's adversary and by collusion."""
    rung, end = Rung(ladder.most_exposed(Metric.GUESS_OF_TWO).rung), ladder.plan.rungs[-1]
    cell, last = ladder[rung][Metric.GUESS_OF_TWO], ladder[end][Metric.GUESS_OF_TWO]
    if cell.proved is None:
        return Sentence("Between two answers: ", *not_bounded(cell).parts)
    parts: list[str | Number] = [
        f"Between two answers, {against(ladder.plan, rung)} guesses ",
        *_right(cell, rung),
        "; by luck alone, ",
        blind_guess(ladder, Metric.GUESS_OF_TWO),
    ]
    if sends_answers(ladder.plan):
        return Sentence(*parts, f". {nothing_protects(ladder.plan)}")
    if not rung.sees_all and last.proved is not None:
        parts += ["; ", promised(last, end, form=Form.PERCENT)]
        parts.append(f" if {colluders(ladder.plan)} collude")
    return Sentence(*parts, ".")


def _right(cell: Cell, rung: Rung) -> Iterator[str | Number]:
    """Yield how often a guess is right, and that nothing is protected where it may always be."""
    share = promised(cell, rung, form=Form.PERCENT)
    yield from ("right at most ", share, " of the time")
    if str(share) == "100 %":
        yield f", {NO_PROTECTION}"


def _of_two(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.GUESS_OF_TWO]
    start = "Told that it is one of two answers, the two that are easiest to tell apart: "
    if cell.proved is None:
        return Sentence(start, *not_bounded(cell).parts)
    return Sentence(
        start,
        *_right(cell, rung),
        " (by luck alone ",
        blind_guess(ladder, Metric.GUESS_OF_TWO),
        ").",
    )


def _informed(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.GUESS_INFORMED]
    if cell.proved is None:
        return Sentence("Knowing everybody else's answer: ", *not_bounded(cell).parts)
    return Sentence(
        "Knowing everybody else's answer: ",
        *_right(cell, rung),
        " (by luck alone ",
        blind_guess(ladder, Metric.GUESS_INFORMED),
        ").",
    )


def _near(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.WITHIN_INFORMED]
    off = off_by(ladder.plan)
    start = f"Knowing everybody else's number, and with a guess that may be off by {off}: "
    if cell.proved is None:
        return Sentence(start, *not_bounded(cell).parts)
    return Sentence(
        start,
        *_right(cell, rung),
        " (by luck alone ",
        blind_guess(ladder, Metric.WITHIN_INFORMED),
        ").",
    )


def _uninformed(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.GUESS_UNINFORMED]
    if cell.proved is None:
        return Sentence("Knowing nobody's answer: ", *not_bounded(cell).parts)
    return Sentence(
        "Knowing nobody's answer: ",
        *_right(cell, rung),
        " (by luck alone ",
        blind_guess(ladder, Metric.GUESS_UNINFORMED),
        "). This is no promise against anybody who knows more.",
    )


def _security(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.BAYES_SECURITY]
    if cell.proved is None:
        return Sentence("Errors of a guesser: ", *not_bounded(cell).parts)
    return Sentence(
        "At least ",
        promised(cell, rung),
        " of a guesser's errors remains: Bayes security (by luck alone 1, all of it).",
    )


def _epsilon(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.EPSILON]
    if cell.proved is None:
        return Sentence("Any conclusion about you: ", *not_bounded(cell).parts)
    number = promised(cell, rung)
    return Sentence("Any conclusion about you", *_moved(number, ladder.plan.guarantee.delta or 0.0))


def _order(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.ALPHA]
    if cell.proved is None:
        return Sentence("Order inside a group: ", *not_bounded(cell).parts)
    return Sentence(
        "Of two ways to assign the reports inside one group, ",
        f"{_orders(ladder.plan)} one at most ",
        promised(cell, rung, form=Form.RATIO),
        " times as likely as it was (1: no difference). Alpha: ",
        promised(cell, rung),
        ".",
    )


def _orders(plan: Plan) -> str:
    many = plan.batches > 1
    return (
        f"the orders of all {plan.batches:,} batches together make" if many else "the order makes"
    )


def seen_on_the_wire(plan: Plan) -> str:
    """Say what somebody who watches the network sees."""
    everywhere = plan.participation_model.everybody_sends
    told = "that you took part" + ("" if everywhere else " and in which rounds")
    return (
        f"The network sees {told}, not your answer: every report is filled up to "
        f"{plan.protections.report_size:,} bytes and sealed."
    )


def repeated(ladder: Ladder) -> Sentence:
    """Say what is proved if the same person takes part again and again."""
    if ladder.periods:
        return _over_time(ladder)
    found = ladder.repeated
    again = f"For a reader of the batches of {REPEATED} such collections, any conclusion about you"
    if found is None:
        delta = f" at delta {delta_text(ladder.plan.guarantee.delta)}"
        why = f"{delta}, since the deltas of dummies add up" if any(ladder.plan.dummies) else ""
        return Sentence(f"{again} has no proved limit{why}: treat your answers as known.")
    epsilon = Number(value=found.value, metric=Metric.EPSILON, rung="repeated")
    return Sentence(again, *_moved(epsilon, found.delta or 0.0))


def _over_time(ladder: Ladder) -> Sentence:
    """Say what is proved of one report, a month, a year and for ever."""
    parts: list[str | Number] = ["For a reader of the batches, epsilon is at most "]
    for place, period in enumerate(ladder.periods):
        parts.append("" if place == 0 else "; ")
        if period.batch is None:
            parts.append(f"without a limit {period.name}, since fresh noise adds up")
            continue
        number = Number(value=period.batch, metric=Metric.EPSILON, rung=period.name)
        answers = "" if (period.answers or 1) == 1 else f", {period.answers:,} answers"
        parts += [number, f" for {period.name.removeprefix('for ')}{answers}"]
    return Sentence(*parts, ".")


def _moved(epsilon: Number, delta: float) -> Iterator[str | Number]:
    """Say by which factor a conclusion may move, unless that says nothing any more."""
    ratio = replace(epsilon, form=Form.RATIO)
    if ratio.said >= _NO_USE:
        yield " has no useful limit"
    else:
        yield " is at most "
        yield ratio
        yield " times as likely as if you had answered otherwise (1: no difference), "
        yield f"except with a chance of {chance(delta)}"
    yield ". Epsilon: "
    yield epsilon
    yield f" at delta {delta_text(delta)}."


def grown(ladder: Ladder) -> Sentence | None:
    """Say what is proved if all who are enrolled report; None where the batch does not grow.

    Where groups are mixed separately, their sizes are in a file, not in the plan.
    """
    plan, found = ladder.plan, ladder.everybody
    if plan.mixes_by_group:
        return Sentence(
            "However many are enrolled, your report hides among the people of your own group, at "
            f"least {plan.protections.minimum_batch:,}."
        )
    if found is None:
        return None
    number = Number(value=found.value, metric=Metric.EPSILON, rung="enrolled")
    parts = f", in {plan.equal_parts:,} groups of equal size" if plan.equal_parts > 1 else ""
    everybody = f"If all {plan.population.enrolled:,} enrolled report{parts}, "
    delta = f" at delta {delta_text(plan.guarantee.delta)}."
    return Sentence(f"{everybody}epsilon for a reader of the batch is at most ", number, delta)


def proved_for(plan: Plan) -> str:
    """Say for how many people everything is proved."""
    return f"{_proved_for_people(plan)}{_proved_within(plan)}"


def _proved_within(plan: Plan) -> str:
    """Say that everything is proved for all answers in a window, if the plan has one."""
    window = plan.collection.window
    if window is None:
        return ""
    answers = "the one answer" if plan.reports == 1 else f"all {plan.reports:,} answers"
    return f" It covers {answers} that a person may give within any {lasting(window)}."


def _proved_for_people(plan: Plan) -> str:
    batch = f"{plan.protections.minimum_batch:,} people"
    if plan.participation_model.sampled:
        return f"Proved for rounds that each ask a fresh random {batch}, no more."
    if plan.mixes_by_group:
        return (
            f"Proved for groups of {batch}, each mixed separately: nothing is released while a "
            "group that reports has fewer. True of larger groups."
        )
    return f"Proved for {batch}, the smallest batch that is released, and true of larger ones."


def against(plan: Plan, rung: Rung) -> str:
    """Say who is looking, as the subject of a sentence."""
    if rung.sees_all:
        return f"{colluders(plan)} together"
    if rung is Rung.ALL_BUT_ONE:
        return "everybody but one shuffler"
    if rung.mixes is not None:
        return f"the operator of {shuffler_called(plan, rung.mixes)}"
    return f"somebody who {_view(plan, rung)}"


def _view(plan: Plan, rung: Rung) -> str:
    """Say what an adversary does."""
    if rung is Rung.ESTIMATE:
        rows = plan.analyzer.publication not in _NO_ROWS
        return "reads the published rows" if rows else "reads what is published"
    if rung is Rung.NETWORK:
        return "reads the batch and watches the network"
    if rung is Rung.CLIENTS and plan.corrupt:
        return f"reads the batch and controls {plan.corrupt:,} of the people in it"
    return "reads the batch"


def crowd(plan: Plan, rung: Rung) -> int:
    """The number of people among whom somebody guesses by luck alone.

    An adversary who controls people need not guess theirs, and one who watches the network knows
    the round.
    """
    if rung is Rung.CLIENTS:
        return plan.honest
    seen = rung is Rung.NETWORK or rung.mixes is not None
    return round(1 / plan.worst_crowd(rounds_seen=seen).blind_guess)


def luck(plan: Plan, rung: Rung, cell: Cell) -> str:
    """Say how often a report is traced by luck alone, beside what is proved.

    Dummies may be so many that luck is less than 1 in the people.
    """
    people = crowd(plan, rung)
    if cell.proved is not None and cell.proved.value * people < 1:
        return "no more often"
    return f"1 in {people:,}"


def blind_guess(ladder: Ladder, metric: Metric) -> Number:
    """Return how often a guess by luck alone is right."""
    value = ladder.blind[metric].upper or 0.0
    return Number(
        value=value,
        metric=metric,
        rung=ladder.blind.rung,
        form=Form.PERCENT,
        direction=Direction.EXACT,
    )


def not_bounded(cell: Cell) -> Sentence:
    """Say that nothing is proved, and why."""
    return Sentence(f"No proved limit ({cell.reason}): treat it as known.")
