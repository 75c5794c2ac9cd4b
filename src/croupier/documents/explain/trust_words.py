"""The parties who must be trusted against each adversary, and what holds otherwise."""

from dataclasses import dataclass

from croupier.documents.explain.people.parties import (
    all_add,
    all_join,
    colluders,
    drops,
    hide,
    sends_answers,
    shuffler_called,
)
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["Trusted", "operators", "trusted"]


@dataclass(frozen=True)
class Trusted:
    """The trust behind one row of the ladder.

    Attributes:
        relies_on: The parties, and what they must do.
        otherwise: The row that holds if they do not.
    """

    relies_on: str
    otherwise: str


def trusted(plan: Plan, rung: Rung) -> Trusted:
    """Say who must be trusted for the numbers of a row to hold."""
    if len(plan.shufflers) > 1:
        return _of_two(plan)[rung]
    words = _of_one(plan)
    return (words | _with_dummies(plan) if any(plan.dummies) else words)[rung]


def _of_one(plan: Plan) -> dict[Rung, Trusted]:
    """The rows of a plan with one shuffler that adds no dummies."""
    return {
        Rung.ESTIMATE: Trusted(
            "The shuffler mixes, the analyzer keeps the rows, nobody watches the network.",
            "If rows get out, see batch. If somebody watches the network, see network.",
        ),
        Rung.BATCH: Trusted(
            "The shuffler mixes, drops nobody and lets nobody in twice; nobody watches the "
            "network.",
            "If somebody watches the network, see network. If the shuffler drops or adds reports, "
            "see collusion.",
        ),
        Rung.NETWORK: Trusted(
            "The shuffler, and the outer seal of every message.",
            "If the outer key is stolen, or an envelope enters two batches, see collusion.",
        ),
        Rung.SHUFFLER: Trusted(
            f"The analyzer keeps its key and the rows from the shuffler; {_HPKE}.",
            "If the key is shared, or rows are published in released order, see collusion.",
        ),
        Rung.CLIENTS: Trusted(
            f"The shuffler, the network, and whoever admits people: {_corrupt(plan)}.",
            "More corrupt people leave fewer to hide among. If all others are corrupt, only your "
            "device's noise protects you: see collusion.",
        ),
        Rung.COLLUSION: _device(plan),
    }


def _with_dummies(plan: Plan) -> dict[Rung, Trusted]:
    """The rows that read differently where one shuffler adds dummies."""
    knows = "If the shuffler uses what it knows of its dummies, see shuffler."
    hidden, left = hide(plan), "Only the noise of the devices among each other is left."
    if sends_answers(plan):
        left = "Devices add no noise: nothing else limits what it learns."
    return {
        Rung.ESTIMATE: Trusted(
            f"{hidden}; the analyzer keeps the rows, nobody watches the network.",
            "If rows get out, see batch. If somebody watches the network, see network. " + knows,
        ),
        Rung.BATCH: Trusted(
            f"{hidden}, drops {drops(plan, 'nobody')} and lets nobody in twice; nobody watches the "
            "network.",
            f"If somebody watches the network, see network. {knows} If it also drops or adds "
            "reports, see collusion.",
        ),
        Rung.NETWORK: Trusted(
            f"{hidden}; the outer seal of every message.",
            f"{knows} If the outer key is stolen, see collusion. {_TWICE}",
        ),
        Rung.SHUFFLER: Trusted(
            f"The analyzer keeps its key and the rows from the shuffler; {_HPKE}. The shuffler "
            "knows its own dummies and subtracts them from what is published: here they protect "
            f"nobody. {left}",
            "If the key is shared, or rows are published in released order, see collusion.",
        ),
        Rung.CLIENTS: _among_liars(plan, "The shuffler", knows),
    }


def _of_two(plan: Plan) -> dict[Rung, Trusted]:
    """The rows of a plan with two shufflers."""
    hidden, first, second = hide(plan), *(_other(plan, place) for place in (1, 0))
    analyzer = f"the analyzer keeps its key and the rows to itself; {_HPKE}"
    return {
        Rung.ESTIMATE: Trusted(
            f"{hidden}; the analyzer keeps the rows, nobody watches the network.",
            "If rows get out, see batch. If somebody watches the network, see network. If a "
            "shuffler looks, see shuffler_1 and shuffler_2.",
        ),
        Rung.BATCH: Trusted(
            f"{hidden}, drop {drops(plan, 'nobody')} and let nobody in twice; nobody watches the "
            "network.",
            "If somebody watches the network, see network. If a shuffler drops or adds reports, "
            "see all_but_one.",
        ),
        Rung.NETWORK: Trusted(
            f"{hidden}; the outer seal of every message.",
            "If the key of one shuffler is stolen, see all_but_one. "
            + (
                _TWICE if any(plan.dummies) else "If an envelope enters two batches, see everybody."
            ),
        ),
        Rung.SHUFFLER_1: Trusted(
            f"{first}; {analyzer}.",
            "If the first shuffler drops reports, or the analyzer joins it, see all_but_one.",
        ),
        Rung.SHUFFLER_2: Trusted(
            f"{second}; {analyzer}.",
            "If the second shuffler drops reports, or the analyzer joins it, see all_but_one.",
        ),
        Rung.CLIENTS: _among_liars(plan, "Both shufflers", "If a shuffler joins, see all_but_one."),
        Rung.ALL_BUT_ONE: _one_honest(plan),
        Rung.EVERYBODY: _device(plan),
    }


def _other(plan: Plan, place: int) -> str:
    """Say what the shuffler must do that the adversary does not run."""
    named = shuffler_called(plan, place)
    mixes = f"{named[0].upper()}{named[1:]} mixes"
    if plan.dummies[place] is None:
        return f"{mixes} and drops nobody"
    return f"{mixes}, adds its dummies and tells nobody how many of each answer"


def _among_liars(plan: Plan, shufflers: str, otherwise: str) -> Trusted:
    """The row of corrupt clients: dummies protect as much, however many there are."""
    if not any(plan.dummies):
        fewer = "More corrupt people leave fewer to hide among."
        people = f"whoever admits people: {_corrupt(plan)}"
        return Trusted(f"{shufflers}, the network, and {people}.", f"{fewer} {otherwise}")
    however = "Dummies protect as much, however many of the others are corrupt."
    if sends_answers(plan):
        return Trusted(f"{hide(plan)}; nobody watches the network. {however}", otherwise)
    return Trusted(
        f"{hide(plan)}; nobody watches the network; {_corrupt(plan)}. {however}", otherwise
    )


def _one_honest(plan: Plan) -> Trusted:
    """The row in which one shuffler is honest, and nobody else."""
    if all_add(plan):
        return Trusted(
            "Your own device with its software, and one of the two shufflers, whichever it is: it "
            "mixes, draws its dummies once, tells nobody how many of each answer, and keeps its "
            "key.",
            "If no shuffler is honest, see everybody.",
        )
    lacking = [place for place, table in enumerate(plan.dummies) if table is None]
    named = shuffler_called(plan, lacking[0]) if len(lacking) == 1 else "either of them"
    left = "nothing is left" if sends_answers(plan) else "only your device's noise is left"
    return Trusted(
        f"Your own device with its software. One honest shuffler is not enough: {named} adds no "
        f"dummies, and if the others drop all other reports, {left}.",
        "Software that adds no noise sends your answer as it is.",
    )


def _device(plan: Plan) -> Trusted:
    """The row in which only the device is trusted."""
    if sends_answers(plan):
        return Trusted(
            "Nothing helps here: the device sends the answer itself.",
            f"Nothing protects the answer if {all_join(plan)}.",
        )
    return Trusted(
        "Only your own device and the software that adds the noise.",
        "Software that adds no noise sends your answer as it is.",
    )


def operators(plan: Plan) -> str:
    """Say which row holds for the operators that the plan names."""
    if len(plan.shufflers) > 1:
        return _operators_of_three(plan)
    if plan.operators == "same":
        return "One operator runs both shuffler and analyzer, so only the row for collusion holds."
    if not plan.names_operators:
        return (
            "The plan does not name both operators, and assumes that separate ones run shuffler "
            "and analyzer. If they cooperate, only the row for collusion holds."
        )
    return (
        "Separate operators run shuffler and analyzer. If they cooperate, only the row for "
        "collusion holds."
    )


def _operators_of_three(plan: Plan) -> str:
    last = f"if {colluders(plan)} cooperate, only the row for everybody holds."
    if plan.operators == "same":
        return (
            "One operator runs a shuffler and the analyzer, so the row for all_but_one holds; "
            f"{last}"
        )
    start = "Separate operators run both shufflers and the analyzer."
    if not plan.names_operators:
        start = "The plan does not name all operators, and assumes that they are separate."
    return (
        f"{start} If a shuffler and the analyzer cooperate, the row for all_but_one holds; {last}"
    )


_TWICE = "If an envelope enters two batches, the epsilon of dummies counts twice."
_HPKE = "HPKE holds, which is a computational assumption"


def _corrupt(plan: Plan) -> str:
    batch = plan.protections.minimum_batch
    if not plan.corrupt:
        return f"none of the {batch:,} people of a batch is taken to be corrupt"
    return f"at most {plan.corrupt:,} of the {batch:,} people of a batch are corrupt"
