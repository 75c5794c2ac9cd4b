"""Who must be trusted on each rung, and what is left if the trust is misplaced."""

from dataclasses import dataclass

from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["Trusted", "operators", "trusted"]


@dataclass(frozen=True)
class Trusted:
    """What a rung rests on.

    Attributes:
        relies_on: Who must do what.
        otherwise: What holds if they do not.
    """

    relies_on: str
    otherwise: str


def trusted(plan: Plan, rung: Rung) -> Trusted:
    """Who must be trusted for the numbers of the rung to hold."""
    return {
        Rung.ESTIMATE: Trusted(
            "The shuffler mixes, the analyzer keeps the rows, nobody watches the network.",
            "Rows that get out: the batch rung. A watched network: the network rung.",
        ),
        Rung.BATCH: Trusted(
            "The shuffler mixes, drops nobody and lets nobody in twice; nobody watches the "
            "network.",
            "A watched network: the network rung. A shuffler that drops or adds reports: "
            "collusion.",
        ),
        Rung.NETWORK: Trusted(
            "The shuffler, and the outer seal of every message.",
            "A stolen outer key, or an envelope that enters two batches: collusion.",
        ),
        Rung.SHUFFLER: Trusted(
            "The analyzer keeps its key and the rows from the shuffler; HPKE holds, which is a "
            "computational assumption.",
            "A shared key, or rows published in released order: collusion.",
        ),
        Rung.CLIENTS: Trusted(
            f"The shuffler, the network, and whoever hands out credentials: {_corrupt(plan)}.",
            "More corrupt people leave fewer to hide among; with all others corrupt, only your "
            "device's noise is left: collusion.",
        ),
        Rung.COLLUSION: Trusted(
            "Nobody but your own device and the software that adds the noise.",
            "Software that adds no noise sends your value.",
        ),
    }[rung]


def operators(plan: Plan) -> str:
    """Which rung the declared operators make real."""
    if plan.operators == "same":
        return (
            "One operator runs shuffler and analyzer. No promise rests on their being apart: the "
            "collusion rung is what holds."
        )
    return (
        "Shuffler and analyzer are run by separate operators. If they join, the collusion rung is "
        "what holds."
    )


def _corrupt(plan: Plan) -> str:
    batch = plan.protections.minimum_batch
    if not plan.corrupt:
        return f"none of the {batch:,} people of a batch is taken to be corrupt"
    return f"at most {plan.corrupt:,} of the {batch:,} people of a batch are corrupt"
