"""The parties who must be trusted against each adversary, and what holds otherwise."""

from dataclasses import dataclass

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
            "The analyzer keeps its key and the rows from the shuffler; HPKE holds, which is a "
            "computational assumption.",
            "If the key is shared, or rows are published in released order, see collusion.",
        ),
        Rung.CLIENTS: Trusted(
            f"The shuffler, the network, and whoever hands out credentials: {_corrupt(plan)}.",
            "More corrupt people leave fewer to hide among. If all others are corrupt, only your "
            "device's noise protects you: see collusion.",
        ),
        Rung.COLLUSION: Trusted(
            "Only your own device and the software that adds the noise.",
            "Software that adds no noise sends your answer as it is.",
        ),
    }[rung]


def operators(plan: Plan) -> str:
    """Say which row holds for the operators that the plan names."""
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


def _corrupt(plan: Plan) -> str:
    batch = plan.protections.minimum_batch
    if not plan.corrupt:
        return f"none of the {batch:,} people of a batch is taken to be corrupt"
    return f"at most {plan.corrupt:,} of the {batch:,} people of a batch are corrupt"
