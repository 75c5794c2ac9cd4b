"""What each rung of the trust ladder means for one person, in words.

Every sentence sets the blind guess beside the number. What is not proved is said to be known.
"""

from dataclasses import replace

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import REPEATED, Ladder
from croupier.documents.explain.sentence import Form, Number, Sentence, promised
from croupier.model.guarantee import Direction, Metric
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["against", "grown", "inference", "linkability", "repeated"]
__all__ += ["proved_for", "seen_on_the_wire", "singling_out", "two_values"]

_CRYPTOGRAPHY = "HPKE holds and the analyzer keeps its key to itself"
_CREDENTIAL = "Your envelopes are linked by your credential."
_NO_ROWS = ("none", "estimate", "histogram")


def singling_out(ladder: Ladder, rung: Rung) -> Sentence:
    """How often somebody on the rung points at the report of one person."""
    plan, cell = ladder.plan, ladder[rung][Metric.REIDENTIFICATION]
    if rung is Rung.COLLUSION:
        return Sentence("They know which report is yours.")
    if rung is Rung.SHUFFLER:
        return _operator(plan, cell)
    if rung is Rung.ESTIMATE and plan.analyzer.publication in _NO_ROWS:
        silent = plan.analyzer.publication == "none"
        return Sentence(
            "Nothing is published." if silent else "The figures contain no individual reports."
        )
    who = f"Someone who {_view(plan, rung)}"
    if cell.proved is None:
        return Sentence(f"{who} may point at your report. ", *_not_bounded(cell).parts)
    return Sentence(
        f"{who}, even knowing everyone's true answer, points at your report at most ",
        promised(cell, rung, form=Form.PERCENT),
        " of the time (",
        promised(cell, rung, form=Form.ODDS),
        f"); blind: 1 in {_crowd(plan, rung):,}.",
    )


def _operator(plan: Plan, cell: Cell) -> Sentence:
    sealed = "The operator knows which sealed envelope is yours"
    if plan.analyzer.publication == "released-order":
        return Sentence(
            f"{sealed}, and rows are published in the order that it drew: it knows which report "
            "is yours."
        )
    sealed += f" but cannot open it while {_CRYPTOGRAPHY}; "
    if plan.analyzer.publication == "none":
        return Sentence(f"{sealed}nothing is published.")
    if cell.proved is None:
        return Sentence(f"{sealed}your opened report: ", *_not_bounded(cell).parts)
    return Sentence(
        f"{sealed}your opened report: at most ",
        promised(cell, Rung.SHUFFLER, form=Form.ODDS),
        f"; blind: 1 in {_crowd(plan, Rung.SHUFFLER):,}.",
    )


def linkability(ladder: Ladder, rung: Rung) -> Sentence:
    """How often reports of one person are found in several rounds."""
    plan, cell = ladder.plan, ladder[rung][Metric.REIDENTIFICATION]
    if rung in (Rung.SHUFFLER, Rung.COLLUSION):
        return Sentence(_CREDENTIAL)
    if rung is Rung.ESTIMATE and plan.analyzer.publication in _NO_ROWS:
        return Sentence("No reports are shown that could be matched from round to round.")
    if plan.reports == 1:
        return Sentence("You send one report: there is no second one to match it with.")
    if cell.proved is None:
        return _not_bounded(cell)
    rounds = plan.reports
    return Sentence(
        f"Your report found in at least one of {rounds:,} rounds: ",
        promised(cell, rung, form=Form.SOME_ROUND, rounds=rounds),
        "; in two chosen rounds: ",
        promised(cell, rung, form=Form.TWO_ROUNDS, rounds=rounds),
        f"; blind, in one given round: 1 in {_crowd(plan, rung):,}.",
    )


def inference(ladder: Ladder, rung: Rung) -> tuple[Sentence, ...]:
    """How well somebody on the rung guesses the value of one person."""
    if rung in (Rung.ESTIMATE, Rung.SHUFFLER) and ladder.plan.analyzer.publication == "none":
        return (Sentence("Nothing is published: a guess stays a blind guess."),)
    said = (
        [] if rung is not Rung.COLLUSION else [Sentence("Only your device's noise protects you.")]
    )
    said += [_coin(ladder, rung), _informed(ladder, rung), _uninformed(ladder, rung)]
    said += [_security(ladder, rung), _epsilon(ladder, rung)]
    if Metric.ALPHA in ladder[rung].cells:
        said.append(_order(ladder, rung))
    return tuple(said)


def two_values(ladder: Ladder) -> Sentence:
    """How often two values are told apart, on the most exposed rung that is real and the last."""
    rung = Rung(ladder.most_exposed(Metric.GUESS_COIN).rung)
    cell, last = ladder[rung][Metric.GUESS_COIN], ladder[Rung.COLLUSION][Metric.GUESS_COIN]
    if cell.proved is None:
        return Sentence("Between two values: ", *_not_bounded(cell).parts)
    parts: list[str | Number] = [
        f"Between two values {against(ladder.plan, rung)} is right at most ",
        promised(cell, rung, form=Form.PERCENT),
        " of the time, not ",
        _blind(ladder, Metric.GUESS_COIN),
    ]
    if rung is not Rung.COLLUSION and last.proved is not None:
        parts += ["; ", promised(last, Rung.COLLUSION, form=Form.PERCENT)]
        parts.append(" if shuffler and analyzer collude")
    return Sentence(*parts, ".")


def _coin(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.GUESS_COIN]
    start = "Told it is one of two values, whichever two are easiest to tell apart: "
    if cell.proved is None:
        return Sentence(start, *_not_bounded(cell).parts)
    return Sentence(
        start,
        "right at most ",
        promised(cell, rung, form=Form.PERCENT),
        " (blind ",
        _blind(ladder, Metric.GUESS_COIN),
        ").",
    )


def _informed(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.GUESS_INFORMED]
    if cell.proved is None:
        return Sentence("Knowing everyone else: ", *_not_bounded(cell).parts)
    return Sentence(
        "Knowing everyone else: right at most ",
        promised(cell, rung, form=Form.PERCENT),
        " (blind ",
        _blind(ladder, Metric.GUESS_INFORMED),
        ").",
    )


def _uninformed(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.GUESS_UNIFORM]
    if cell.proved is None:
        return Sentence("Knowing nobody: ", *_not_bounded(cell).parts)
    return Sentence(
        "Knowing nobody: right at most ",
        promised(cell, rung, form=Form.PERCENT),
        " (blind ",
        _blind(ladder, Metric.GUESS_UNIFORM),
        "); not a promise against anyone better informed.",
    )


def _security(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.BAYES_SECURITY]
    if cell.proved is None:
        return Sentence("Chance of error: ", *_not_bounded(cell).parts)
    return Sentence(
        "At least ",
        promised(cell, rung),
        " of the chance of error remains (blind: 1, all of it).",
    )


def _epsilon(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.EPSILON]
    if cell.proved is None:
        return Sentence("Any conclusion about you: ", *_not_bounded(cell).parts)
    return Sentence(
        "Any conclusion about you is at most ",
        promised(cell, rung, form=Form.RATIO),
        " times as likely as had you answered otherwise (1: no difference), plus a chance of ",
        f"{ladder.plan.guarantee.delta:g}. Epsilon: ",
        promised(cell, rung),
        ".",
    )


def _order(ladder: Ladder, rung: Rung) -> Sentence:
    cell = ladder[rung][Metric.ALPHA]
    if cell.proved is None:
        return Sentence("Order inside a group: ", *_not_bounded(cell).parts)
    return Sentence(
        "Of two ways to hand out the reports inside one group, ",
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
    """What is left for somebody who watches the network."""
    everywhere = plan.participation_model.everybody_sends
    told = "that you took part" + ("" if everywhere else " and in which rounds")
    return (
        f"The network sees {told}, not your answer: every report is filled up to "
        f"{plan.protections.report_size:,} bytes and sealed."
    )


def repeated(ladder: Ladder) -> Sentence:
    """What is proved if the same person takes part again and again."""
    found = ladder.repeated
    again = f"After {REPEATED} such collections of the same person, a reader of the batches: "
    if found is None:
        return Sentence(again, "no proved limit: treat it as known.")
    epsilon = Number(value=found.value, metric=Metric.EPSILON, rung="repeated")
    return Sentence(
        again,
        "any conclusion about you at most ",
        replace(epsilon, form=Form.RATIO),
        f" times as likely, plus a chance of {ladder.plan.guarantee.delta:g}. Epsilon: ",
        epsilon,
        ".",
    )


def grown(ladder: Ladder) -> Sentence | None:
    """What is proved if all who are enrolled report; None where the batch does not grow.

    Where groups are mixed each by itself, their sizes stand in a file, not in the plan.
    """
    plan, found = ladder.plan, ladder.everybody
    if plan.mixes_by_group:
        return Sentence(
            "However many are enrolled, your report hides among the people of your own group, at "
            f"least {plan.protections.minimum_batch:,}."
        )
    if found is None:
        return None
    number = Number(value=found.value, metric=Metric.EPSILON, rung="everybody")
    parts = f", in {plan.equal_parts:,} groups of equal size" if plan.equal_parts > 1 else ""
    everybody = f"If all {plan.population.enrolled:,} enrolled report{parts}, "
    chance = f" with a delta of {plan.guarantee.delta:g}."
    return Sentence(everybody, "a reader of the batch: epsilon at most ", number, chance)


def proved_for(plan: Plan) -> str:
    """Say for how many people everything is proved."""
    batch = f"{plan.protections.minimum_batch:,} people"
    if plan.participation_model.sampled:
        return f"Proved for rounds that each ask a fresh random {batch}, no more."
    if plan.mixes_by_group:
        return (
            f"Proved for groups of {batch}, each mixed by itself: nothing is released while a "
            "group that reports has fewer. True of larger groups."
        )
    return f"Proved for a batch of {batch}, the least that is released, and true of larger ones."


def against(plan: Plan, rung: Rung) -> str:
    """Who stands on the rung."""
    if rung is Rung.COLLUSION:
        return "shuffler and analyzer together"
    if rung is Rung.SHUFFLER:
        return "the operator of the shuffler"
    return f"someone who {_view(plan, rung)}"


def _view(plan: Plan, rung: Rung) -> str:
    """What somebody on the rung does."""
    if rung is Rung.ESTIMATE:
        rows = plan.analyzer.publication not in _NO_ROWS
        return "reads the published rows" if rows else "reads what is published"
    if rung is Rung.NETWORK:
        return "reads the batch and watches the network"
    if rung is Rung.CLIENTS and plan.corrupt:
        return f"reads the batch and controls {plan.corrupt:,} of the people in it"
    return "reads the batch"


def _crowd(plan: Plan, rung: Rung) -> int:
    """Among how many a blind guess is made.

    Whoever controls people need not guess theirs, and who watches the network knows the round.
    """
    if rung is Rung.CLIENTS:
        return plan.honest
    seen = rung in (Rung.NETWORK, Rung.SHUFFLER)
    return round(1 / plan.worst_crowd(rounds_seen=seen).blind_guess)


def _blind(ladder: Ladder, metric: Metric) -> Number:
    value = ladder.blind[metric].upper or 0.0
    return Number(
        value=value,
        metric=metric,
        rung=ladder.blind.rung,
        form=Form.PERCENT,
        direction=Direction.EXACT,
    )


def _not_bounded(cell: Cell) -> Sentence:
    return Sentence(f"No proved limit ({cell.reason}): treat it as known.")
