"""Words for the parties of a plan with one or two shufflers, and for the dummies that they add."""

from croupier.model.texts import Texts
from croupier.plan.plan import Plan

__all__ = ["added", "all_add", "all_join", "all_of_them", "asks_for_texts", "colluders", "drops"]
__all__ += ["hide"]
__all__ += ["sampled", "sends_answers", "shuffler_called", "some_trace"]

_PLACES = ("first", "second")


def shuffler_called(plan: Plan, place: int) -> str:
    """Name a shuffler by its place, counted from 0.

    >>> plan = Plan.from_toml('''
    ... schema = 2
    ... randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1}
    ... population.enrolled = 9
    ... protections.minimum_batch = 5
    ... [[shufflers]]
    ... [[shufflers]]
    ... ''')
    >>> shuffler_called(plan, 1)
    'the second shuffler'
    """
    return "the shuffler" if len(plan.shufflers) == 1 else f"the {_PLACES[place]} shuffler"


def asks_for_texts(plan: Plan) -> bool:
    """Tell whether a question is answered with a text that nobody listed."""
    return any(isinstance(made.domain, Texts) for made in plan.randomizers)


def all_of_them(plan: Plan) -> str:
    """Name all shufflers and the analyzer."""
    one = len(plan.shufflers) == 1
    return "shuffler and analyzer" if one else "both shufflers and the analyzer"


def colluders(plan: Plan) -> str:
    """Name the parties from whom nothing but the noise of the device protects.

    Two shufflers know all dummies and can drop all other reports, so that they need no analyzer if
    anything is published.
    """
    if len(plan.shufflers) > 1 and plan.analyzer.publication != "none":
        return "both shufflers"
    return all_of_them(plan)


def all_join(plan: Plan) -> str:
    """Say that those parties work against a person."""
    return f"{colluders(plan)} work together"


def some_trace(plan: Plan) -> str:
    """Say that those parties work together who can tell for sure which report is whose.

    Two shufflers protect from one that drops all other reports, if both add dummies.
    """
    if len(plan.shufflers) > 1 and not all_add(plan):
        return "a shuffler and the analyzer work together"
    return all_join(plan)


def sends_answers(plan: Plan) -> bool:
    """Tell whether devices send the answer itself."""
    return any(made.shows_value for made in plan.randomizers)


def all_add(plan: Plan) -> bool:
    """Tell whether every shuffler adds dummies."""
    return None not in plan.dummies


def hide(plan: Plan) -> str:
    """Say what the shufflers must do so that people hide in a batch."""
    adding = [place for place, table in enumerate(plan.dummies) if table is not None]
    if len(plan.shufflers) == 1:
        return "The shuffler mixes, adds its dummies and tells nobody how many of each answer"
    if not adding:
        return "Both shufflers mix"
    if all_add(plan):
        return "Both shufflers mix, add their dummies and tell nobody how many of each answer"
    return (
        f"Both shufflers mix; {shuffler_called(plan, adding[0])} adds its dummies and tells nobody "
        "how many of each answer"
    )


def drops(plan: Plan, whom: str) -> str:
    """Say whom the shufflers must drop: nobody, or those whom the lot picks."""
    return f"{whom} but by lot" if any(each.kept < 1 for each in plan.shufflers) else whom


def added(plan: Plan) -> str:
    """Say how many dummies are added, and that they are subtracted; empty if there are none."""
    parts = [
        (shuffler_called(plan, place), f"{float(table.mean):,.4g}")
        for place, table in enumerate(plan.dummies)
        if table is not None
    ]
    if not parts:
        return ""
    (who, first), *rest = parts
    more = "".join(f", {other} on average {mean}" for other, mean in rest)
    return (
        f"{who} adds made-up reports, on average {first} of each answer{more}, and the analyzer "
        "subtracts that"
    )


def sampled(plan: Plan) -> str:
    """Say what share of the reports is kept; empty if all are."""
    parts = [
        f"{shuffler_called(plan, place)} keeps {100 * float(each.kept):.4g} % of the reports, "
        "drawn by lot"
        for place, each in enumerate(plan.shufflers)
        if each.kept < 1
    ]
    return f"{', '.join(parts)}, and drops the others unseen" if parts else ""
