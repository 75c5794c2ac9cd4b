"""The rules by which shufflers and their dummies fit the rest of a plan."""

from croupier.errors import ParameterError
from croupier.model.randomizer import Randomizer
from croupier.plan.facts import PlanFacts, comparable
from croupier.shufflers.dummies import MOST_BINS

__all__ = ["require_shufflers_fit"]


def require_shufflers_fit(plan: PlanFacts) -> None:
    """Refuse shufflers and dummies for which nothing is proved, each with its reason."""
    _require_two_parties(plan)
    _require_own_rows(plan)
    adds = any(each.dummies is not None for each in plan.shufflers)
    for each in plan.shufflers:
        if each.keep is not None and each.dummies is None:
            raise ParameterError(
                "shufflers.keep",
                must="come with dummies: nothing is proved about a sample alone",
                got=each.keep,
                hint="Add dummies = {epsilon = 1.0, delta = 1e-8}, or delete keep.",
            )
    for index, made in enumerate(plan.randomizers):
        if made.shows_value and not adds:
            raise ParameterError(
                "questions.mechanism",
                must=f"not be {_sends_values(made)} where no shuffler adds dummies: it sends the "
                "value itself",
                got=plan.question_name(index),
                hint="Add dummies = {epsilon = 1.0, delta = 1e-8} to [[shufflers]].",
            )
    if adds or len(plan.shufflers) > 1:
        _require_one_crowd(plan, adds=adds)
    if adds:
        _require_small_alphabet(plan)


def _sends_values(made: Randomizer) -> str:
    without = " without max_epsilon_local" if made.mechanism != "plain" else ""
    return f"{made.mechanism}{without}"


def _require_two_parties(plan: PlanFacts) -> None:
    """Refuse two shufflers of one party: they are one."""
    keys = [each.key for each in plan.shufflers if each.key is not None]
    if len(set(keys)) < len(keys):
        must = "differ: two shufflers with one key are one shuffler"
        raise ParameterError("shufflers.key", must=must)
    names = [comparable(each.operator) for each in plan.shufflers if each.operator is not None]
    if len(set(names)) < len(names):
        must = "differ: two shufflers of one operator are one shuffler"
        raise ParameterError("shufflers.operator", must=must)
    own = {plan.analyzer.key, comparable(plan.analyzer.operator)} - {None}
    if len(plan.shufflers) > 1 and all(
        own & {e.key, comparable(e.operator)} for e in plan.shufflers
    ):
        must = "run at most one of the two shufflers: who runs all of them sees everything"
        raise ParameterError("analyzer.operator", must=must)


def _require_own_rows(plan: PlanFacts) -> None:
    """Refuse a limit on a row that the plan's ladder does not have."""
    for rung in plan.policy:
        if rung not in plan.rungs:
            rows = rung.among(len(plan.shufflers))
            own = " and ".join(f"policy.{own}" for own in rows)
            number = "one shuffler" if len(plan.shufflers) == 1 else "two shufflers"
            must = f"be {own} in a plan with {number}"
            hint = "Rename the table." if len(rows) == 1 else "Write one table for each."
            raise ParameterError(f"policy.{rung}", must=must, hint=hint)


def _require_one_crowd(plan: PlanFacts, *, adds: bool) -> None:
    """Refuse groups, and participation models in which people send nulls."""
    if plan.shuffling.groups is not None and adds:
        raise ParameterError(
            "shufflers.dummies",
            must="be left out where a plan mixes by groups: dummies belong to no group",
            hint="Delete [shuffling.groups] or the dummies.",
        )
    if plan.shuffling.groups is not None:
        raise ParameterError(
            "shufflers",
            must="be one where a plan mixes by groups: a second shuffler does not know the groups",
            hint="Delete [shuffling.groups] or the second shuffler.",
        )
    model = plan.participation_model
    if not model.one_batch or model.sampled:
        raise ParameterError(
            "participation.model",
            must="let everybody answer in every round where there are dummies: who sends a null is "
            "not hidden by dummies of answers"
            if adds
            else "let everybody answer in every round where there are two shufflers",
            got=plan.participation.model,
            hint='Try "single".' if adds else 'Try "single" or "parallel".',
        )


def _require_small_alphabet(plan: PlanFacts) -> None:
    """Refuse reports of which no dummies can be made, or too many different ones."""
    if plan.participation_model.rounds > 1:
        raise ParameterError(
            "shufflers.dummies",
            must="be left out where questions share a batch",
            hint="Write one plan per question.",
        )
    bins = plan.randomizer.alphabet_size
    if bins is None:
        raise ParameterError(
            "shufflers.dummies",
            must="be left out for this mechanism: they are made for plain, k-rr, and distribution "
            "without max_epsilon_local",
            got=plan.randomizer.mechanism,
            hint="Try plain, k-rr or distribution.",
        )
    if bins > MOST_BINS:
        raise ParameterError(
            "shufflers.dummies",
            must=f"be left out where there are more than {MOST_BINS:,} possible reports",
            got=bins,
            hint="Ask about fewer categories.",
        )
