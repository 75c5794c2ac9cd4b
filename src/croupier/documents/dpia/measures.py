"""The measures of a plan: what each does, and which number it changes."""

from collections.abc import Iterator
from dataclasses import dataclass

from croupier.documents.dpia.way import leaves_the_device
from croupier.documents.dpia.written import Written
from croupier.documents.explain.asked import collection_facts
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.plan import Plan

__all__ = ["Measure", "measures"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure.

    Attributes:
        name: What it is called.
        here: What the plan sets; plain where it contains words of the plan.
        does: What it prevents.
        changes: The numbers that would be worse without it.
    """

    name: Written
    here: str
    does: Written
    changes: Written


def measures(plan: Plan) -> Iterator[Measure]:
    """Yield the measures that the plan sets or that the software always takes."""
    for name, here, does, changes in (*_measures(plan), _operators(plan)):
        yield Measure(name=Written(name), here=here, does=Written(does), changes=Written(changes))


def _measures(plan: Plan) -> Iterator[tuple[str, str, str, str]]:
    facts = collection_facts(plan)
    local = max(each.epsilon_local for each in plan.randomizers)
    yield (
        "Noise on the device",
        Written(f"epsilon_local at most {ceiling_digits(local)}, {plan.participation.noise} noise"),
        leaves_the_device(plan),
        "All numbers; it is the only protection in the row for collusion.",
    )
    yield (
        "Shuffling",
        Written(facts["Released"]),
        "Reports lose their sender and their order of arrival.",
        "Epsilon, re-identification and guesses, in every row that promises more than collusion.",
    )
    yield (
        "Minimum batch",
        Written(f"{plan.protections.minimum_batch:,} people"),
        "A batch that is too small to hide in is not released.",
        "Epsilon and re-identification: all are proved at this size.",
    )
    yield (
        "Padding and sealing",
        Written(f"{plan.protections.report_size:,} bytes per report, sealed"),
        "Length and content of a message say nothing to the network or to the shuffler.",
        "The rows for network and shuffler, which would equal collusion.",
    )
    yield (
        "Disposal",
        Written(facts["Deleted"]),
        "Reports that were not released do not wait for somebody to find them.",
        "No number: it limits how far back stolen keys can reach.",
    )
    yield (
        "Receipts",
        Written("the shuffler signs what it released; `croupier receipt` checks it"),
        "A batch that was dropped, repeated or cut is noticed afterwards.",
        "No number: it makes the trust in the shuffler checkable.",
    )
    yield (
        "Audits and attacks",
        Written("`croupier audit` and `croupier attack`, as often as the officer asks"),
        "Measurements try to refute what is proved.",
        "No number: a refutation would withdraw one.",
    )


def _operators(plan: Plan) -> tuple[str, str, str, str]:
    shuffler, analyzer = plan.shufflers[0].operator, plan.analyzer.operator
    here: str = Written("assumed; the plan does not name both")
    if plan.operators == "same":
        here = Written("not taken: one operator runs both")
    elif shuffler and analyzer:
        here = f"{shuffler} mixes, {analyzer} estimates"
    return (
        "Separate operators",
        here,
        "Whoever knows the senders cannot open reports, and whoever opens them sees no sender.",
        "All numbers: without it only the row for collusion holds.",
    )
