"""The part of the page on what is asked, of whom, how often, and who is responsible."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from croupier.documents.explain.people.parties import added, sampled, sends_answers
from croupier.documents.explain.sentence import chance
from croupier.model.domain import Categories, Domain, Grid
from croupier.model.randomizer import Randomizer
from croupier.model.texts import Texts
from croupier.numerics.rounding import ceiling_digits, delta_text
from croupier.plan.plan import Plan
from croupier.plan.sections import RecordSection
from croupier.randomizers.memoised import MemoisedResponse

__all__ = ["MODELS", "AskedRow", "asked_rows", "collection_facts", "disposed_after", "how_often"]
__all__ += ["lasting", "noise_told", "record_facts"]

_MOST_LABELS = 60
_MOST_RUNS = 12
_NAMES = {" ": "space", ",": "comma"}

MODELS = {
    "single": "everybody who takes part answers the one question",
    "divide": "people are divided into public groups; each answers one question in its own batch",
    "subsample": "each round asks a fresh secret sample of people",
    "parallel": "all questions are asked at once; everybody secretly answers one, drawn by lot",
    "together": "all questions are asked at once; everybody answers all of them in one report, "
    "each with its own noise, and what these reveal adds up",
    "multinomial": "everybody answers in one round, drawn by lot",
    "bins": "people choose a bin of rounds and answer in one of them, drawn by lot",
    "rectified-parallel": "all questions are asked at once; everybody secretly answers one, drawn "
    "by lot, and answers are padded to one length",
    "rectified-multinomial": "everybody answers in one round, drawn by lot, and sends empty "
    "reports in all others",
    "rectified-bins": "people choose a bin of rounds, answer in one of them, drawn by lot, and "
    "send empty reports in its others",
}

_ORDERS = {"uniform": "mixed uniformly", "mallows": "mixed inside public groups (Mallows)"}
_PUBLISHED = {
    "none": "nothing",
    "estimate": "estimates",
    "histogram": "counts of reports",
    "sorted": "all reports, sorted",
    "released-order": "all reports, in the order in which they were released",
}


@dataclass(frozen=True, kw_only=True)
class AskedRow:
    """One question as people read it.

    Attributes:
        name: The name in results.
        text: The words, if the plan has them.
        answers: The answers to choose from.
        noise: The mechanism, and what one report is worth where its sender is known.
    """

    name: str
    text: str
    answers: str
    noise: str


def asked_rows(plan: Plan) -> Iterator[AskedRow]:
    """Yield every question of the plan."""
    for index, question in enumerate(plan.questions):
        made = question.randomizer
        yield AskedRow(
            name=plan.question_name(index),
            text=question.text or "The plan does not give the words.",
            answers=_answers(made.domain),
            noise=noise_told(made),
        )


def noise_told(made: Randomizer) -> str:
    """Name a mechanism, and say what its noise is worth if the sender of a report is known."""
    if made.shows_value:
        return f"{made.mechanism}: none, the device sends the answer itself"
    told = f"{made.mechanism}, epsilon_local {ceiling_digits(made.epsilon_local)}"
    if isinstance(made, MemoisedResponse):
        told += f", {ceiling_digits(made.epsilon_permanent)} for all reports of one person ever"
    return told


def _answers(domain: Domain) -> str:
    if isinstance(domain, Grid):
        return f"a number from {domain.low:g} to {domain.high:g} in steps of {domain.step:g}"
    if isinstance(domain, Texts):
        return _texts(domain)
    if not isinstance(domain, Categories):
        return f"one of {domain.size:,}"
    if isinstance(domain.labels, range):
        return f"one of {domain.size:,}, numbered from 0"
    shown = ", ".join(map(str, domain.labels[:_MOST_LABELS]))
    left = domain.size - _MOST_LABELS
    return f"{shown} and {left:,} more" if left > 0 else shown


def _texts(domain: Texts) -> str:
    """Say which texts are answers.

    >>> _texts(Texts(12, "abcdefgh' ", "lower"))
    "a text of a-h, ', space, in upper or lower case; its first 12 letters count"
    """
    kind, counted = "any text", "bytes of UTF-8"
    if domain.alphabet is not None:
        kind, counted = f"a text of {_ranges(domain.alphabet)}", "letters"
    case = ", in upper or lower case" if domain.normalisation == "lower" else ""
    return f"{kind}{case}; its first {domain.longest:,} {counted} count"


def _ranges(alphabet: str) -> str:
    """Write the letters of an alphabet, runs of them by their ends."""
    runs: list[list[str]] = []
    for letter in alphabet:
        if runs and ord(letter) == ord(runs[-1][-1]) + 1:
            runs[-1].append(letter)
        else:
            runs.append([letter])
    shown = [
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(_NAMES.get(one, one) for one in run)
        for run in runs
    ]
    left = len(shown) - _MOST_RUNS
    return ", ".join(shown[:_MOST_RUNS]) + (f" and {left:,} more" if left > 0 else "")


def collection_facts(plan: Plan) -> dict[str, str]:
    """Say how the collection is run, in a few words each."""
    order = _ORDERS[plan.shuffling.order]
    if plan.mixes_by_group:
        order = "mixed uniformly inside each public group; groups are not mixed with each other"
    elif len(plan.shufflers) > 1:
        order += " by one shuffler after the other"
    noise = "without noise" if sends_answers(plan) else f"with {plan.participation.noise} noise"
    if plan.keeps_answer:
        noise += " on a permanent answer, which each device draws once and keeps"
    shufflers = {"Dummies": added(plan), "Sampled": sampled(plan)}
    return {
        "Who is asked": f"{plan.population.enrolled:,} people are enrolled",
        "Who answers when": MODELS[plan.participation_model.model],
        "How often": f"{how_often(plan)}, {noise}",
        "Released": "at the end of a round in which at least "
        f"{plan.protections.minimum_batch:,} people reported, {order}",
        "Deleted": f"batches that stay smaller, after {disposed_after(plan)}",
        "Published": _PUBLISHED[plan.analyzer.publication],
        "Assumed corrupt": f"{plan.corrupt:,} people per batch",
        "Who admits": _admits(plan),
        **({"Relay": plan.admission.relay} if plan.admission.relay else {}),
        "Who mixes": _mixers(plan),
        **{name: told for name, told in shufflers.items() if told},
        "Who estimates": plan.analyzer.operator or "the plan names no operator",
        "Delta": f"{delta_text(plan.guarantee.delta)}: every epsilon that names no other "
        f"holds except with a chance of {chance(plan.guarantee.delta or 0.0)}",
        "Plan": plan.digest[:8],
    }


def _admits(plan: Plan) -> str:
    return f"{plan.admission.operator or 'the plan names no operator'}, by {plan.admission.by}"


def _mixers(plan: Plan) -> str:
    names = [each.operator or "the plan names no operator" for each in plan.shufflers]
    return ", then ".join(names)


def disposed_after(plan: Plan) -> str:
    """Say when a batch that stays too small is deleted."""
    return lasting(plan.protections.disposal_age or plan.collection.every)


def how_often(plan: Plan) -> str:
    """Say how often there is a round, and how many reports and answers a person sends."""
    sent = plan.collection.rounds * plan.participation_model.messages(plan.people)[1]
    text = f"one round every {lasting(plan.collection.every)}; a person sends at most {sent:,} "
    text += f"report{'s' * (sent != 1)}"
    if plan.reports < sent:
        text += f", at most {plan.reports:,} of them with an answer"
    window = plan.collection.window
    return text if window is None else f"{text} within any {lasting(window)}"


def lasting(duration: timedelta) -> str:
    """Write a duration in the largest unit of which it is a whole number.

    >>> lasting(timedelta(hours=24)), lasting(timedelta(hours=36)), lasting(timedelta(days=3))
    ('24 hours', '36 hours', '3 days')
    """
    seconds = int(duration.total_seconds())
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        count = seconds // size
        if seconds % size == 0 and (count > 1 or unit != "day"):
            return f"{count:,} {unit}{'s' * (count != 1)}"
    return f"{seconds:,} seconds"


def record_facts(plan: Plan) -> dict[str, str]:
    """Say who is responsible for the collection, as far as the plan's record does."""
    record = plan.record or RecordSection()
    given = {
        "Controller": record.controller,
        "Processors": record.processors and "; ".join(record.processors),
        "Legal basis": record.legal_basis,
        "Kept": record.retention,
        "Contact": record.contact,
        "Your rights": record.rights,
        "Reviewed": record.date and record.date.isoformat(),
    }
    return {name: fact for name, fact in given.items() if fact}
