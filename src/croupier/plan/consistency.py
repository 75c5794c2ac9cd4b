"""The rules by which the sections of a plan fit together."""

import math

from croupier.errors import ParameterError
from croupier.plan.facts import PlanFacts, comparable
from croupier.plan.sections import MOST_ROUNDS
from croupier.plan.shufflers_fit import require_shufflers_fit
from croupier.plan.values import spoken
from croupier.randomizers.text import Text
from croupier.shufflers.theta import most_crowd

__all__ = ["fit_together"]

_LEAST_DELTA = 1e-300
"""Below this, parts of a delta would not be numbers any more."""

_TABLE_OF = {"questions": "", "rounds": "collection.", "functions": "questions."}
"""The sections of keys that are not in [participation]."""


def fit_together(plan: PlanFacts) -> None:
    """Fill in the defaults that depend on other sections, and refuse impossible collections."""
    batch, enrolled = plan.protections.minimum_batch, plan.population.enrolled
    if batch > enrolled:
        raise ParameterError(
            "protections.minimum_batch",
            must=f"be in [2, {enrolled:,}]",
            got=batch,
            hint=f"Try {max(2, enrolled // 5):_}.",
        )
    if plan.honest < 2:
        raise ParameterError(
            "population.corrupt_fraction",
            must=f"leave 2 honest people in the minimum batch of {batch:,}",
            got=plan.population.corrupt_fraction,
            hint=f"{plan.corrupt:,} may be corrupt. Try a larger minimum_batch.",
        )
    _require_disposal_after_a_round(plan)
    if plan.guarantee.delta is None:
        claim = plan.guarantee.model_copy(update={"delta": 0.01 / enrolled})
        object.__setattr__(plan, "guarantee", claim)
    if (plan.guarantee.delta or 0.0) < _LEAST_DELTA:
        raise ParameterError(
            "guarantee.delta",
            must=f"be at least {_LEAST_DELTA:g}",
            got=plan.guarantee.delta,
            hint="Try 1e-8.",
        )
    _require_protocol(plan)
    _require_every_round(plan)
    _require_different_names(plan)
    _require_room(plan)
    require_shufflers_fit(plan)
    _require_reachable_crowd(plan)
    _require_admission(plan)


def _require_different_names(plan: PlanFacts) -> None:
    seen: set[str] = set()
    for name in map(plan.question_name, range(len(plan.questions))):
        if name in seen:
            raise ParameterError("questions.name", must="differ from the others", got=name)
        seen.add(name)


def _require_disposal_after_a_round(plan: PlanFacts) -> None:
    every, age = plan.collection.every, plan.protections.disposal_age
    if age is None:
        kept = plan.protections.model_copy(update={"disposal_age": 3 * every})
        object.__setattr__(plan, "protections", kept)
    elif age < every:
        raise ParameterError(
            "protections.disposal_age",
            must="be at least collection.every",
            got=spoken(age),
            hint=f'Try "{spoken(3 * every)}".',
        )


def _require_room(plan: PlanFacts) -> None:
    try:
        longest = 2 + max(made.report_format.size for made in plan.reported)
    except ParameterError as error:
        raise ParameterError(
            f"questions.{error.parameter}", must=error.must, got=error.got
        ) from None
    fits = f"Try {-(-longest // 16) * 16}." if longest <= 65536 else "Try another mechanism."
    if plan.protections.report_size < longest:
        raise ParameterError(
            "protections.report_size",
            must=f"hold the longest report and 2 bytes of its own, {longest:,} bytes",
            got=plan.protections.report_size,
            hint=fits,
        )


def _require_protocol(plan: PlanFacts) -> None:
    try:
        protocol = plan.participation_model
        _require_questions(plan)
        if protocol.one_batch:
            _ = plan.randomizer
        protocol.crowds(plan.people, rounds_seen=True)
    except ParameterError as error:
        table = _TABLE_OF.get(error.parameter, "participation.")
        raise ParameterError(
            table + error.parameter, must=error.must, got=error.got, hint=error.hint
        ) from None


def _require_questions(plan: PlanFacts) -> None:
    if plan.reports > MOST_ROUNDS:
        raise ParameterError(
            "rounds",
            must=f"leave a person {MOST_ROUNDS:,} reports at most, in all samples together",
            got=plan.collection.rounds,
            hint="Lower it, or the repeats.",
        )
    if plan.participation.noise == "reused" and len(plan.questions) > 1:
        raise ParameterError(
            "noise",
            must='be "fresh" where there are several questions',
            got="reused",
            hint='Try "fresh".',
        )
    if plan.participation.noise == "reused" and plan.asks_by_query:
        raise ParameterError(
            "noise",
            must='be "fresh" where the analyzer decides what each round asks',
            got="reused",
            hint='The report of one round answers no other. Try "fresh".',
        )
    if plan.participation.noise == "reused" and any(e.varies_by_batch for e in plan.randomizers):
        raise ParameterError(
            "noise",
            must='be "fresh" for dictionary and text: every batch has hash functions of its own',
            got="reused",
            hint='Try "fresh".',
        )
    for made in plan.randomizers:
        if isinstance(made, Text):
            made.require_findable()
    rounds = plan.participation_model.rounds
    if len(plan.questions) not in (1, rounds):
        raise ParameterError(
            "questions",
            must=f"be 1 or {rounds}, one per round",
            got=len(plan.questions),
            hint="Add some, or change [participation].",
        )


def _require_every_round(plan: PlanFacts) -> None:
    """Refuse windows and permanent answers where a person does not answer every round alike."""
    model = plan.participation_model
    is_plain = model.one_batch and not model.sampled and plan.participation.noise == "fresh"
    if plan.collection.window is not None and not is_plain:
        raise ParameterError(
            "collection.window",
            must="be left out where people do not answer every round, or send one report again",
            hint='Delete it, or try participation.model "single" and noise "fresh".',
        )
    alone = len(plan.questions) == 1 and model.rounds == 1
    if plan.keeps_answer and not (is_plain and alone):
        raise ParameterError(
            "questions.mechanism",
            must="be another one where there are several questions or reused noise",
            got=next(made.mechanism for made in plan.randomizers if made.permanent is not None),
            hint='Try "k-rr", or one plan per question.',
        )


def _require_reachable_crowd(plan: PlanFacts) -> None:
    crowd, theta = plan.protections.minimum_crowd, plan.shuffling.theta
    if crowd is None:
        return
    if theta is None:
        raise ParameterError(
            "protections.minimum_crowd",
            must='be left out unless shuffling.order is "mallows": all people are one crowd',
            got=crowd,
            hint="Delete it.",
        )
    most = math.floor(most_crowd(n=plan.protections.minimum_batch, theta=theta))
    if crowd > most:
        raise ParameterError(
            "protections.minimum_crowd",
            must=f"be at most {most:,}: the first of the order has no more people near",
            got=crowd,
            hint=f"Try {max(2, most // 2)}, or a smaller alpha.",
        )


def _require_admission(plan: PlanFacts) -> None:
    admission = plan.admission
    if admission.by == "token" and plan.shuffling.groups is not None:
        raise ParameterError(
            "admission.by",
            must='be "credential" where a plan mixes by groups: a token belongs to no place',
            got="token",
            hint='Try "credential", or delete [shuffling.groups].',
        )
    if len(set(admission.origins)) < len(admission.origins):
        raise ParameterError("admission.origins", must="differ", hint="Delete the repeated one.")
    mixers = {comparable(each.operator) for each in plan.shufflers}
    if admission.relay is not None and comparable(admission.relay) in mixers:
        raise ParameterError(
            "admission.relay",
            must="not be who runs a shuffler: together they see who sends what they receive",
            got=admission.relay,
            hint="Let somebody else run the relay, or delete the key.",
        )
    keys = [plan.analyzer.key, *(each.key for each in plan.shufflers)]
    if admission.key is not None and admission.key in keys:
        raise ParameterError(
            "admission.key",
            must="be a key of its own: the issuer signs with nobody else's",
            hint="Run: croupier keys create issuer --into FILE.",
        )
