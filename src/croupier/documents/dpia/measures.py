"""The measures of a plan: what each does, and which number it changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from croupier.assessment.ladder.cause import dummies_hide
from croupier.documents.dpia.way import leaves_the_device
from croupier.documents.dpia.written import Written
from croupier.documents.explain.asked import collection_facts
from croupier.documents.explain.people.parties import added, all_add, sends_answers
from croupier.model.rung import Rung
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
    last = plan.rungs[-1]
    yield _noise(plan)
    yield (
        "Shuffling",
        Written(facts["Released"]),
        "Reports lose their sender and their order of arrival.",
        f"Epsilon, re-identification and guesses, in every row that promises more than {last}.",
    )
    if any(plan.dummies):
        yield _dummies(plan)
    if len(plan.shufflers) > 1:
        yield _second_shuffler(plan)
    yield (
        "Minimum batch",
        Written(f"{plan.protections.minimum_batch:,} people"),
        "A batch that is too small to hide in is not released.",
        "Numbers that rest on the crowd; dummies protect in a batch of any size."
        if any(plan.dummies)
        else "Epsilon and re-identification: all are proved at this size.",
    )
    yield (
        "Padding and sealing",
        Written(f"{plan.protections.report_size:,} bytes per report, sealed"),
        "Length and content of a message say nothing to the network or to the shuffler.",
        f"The rows for network and {_mixing(plan)}, which would equal {last}.",
    )
    yield (
        "Disposal",
        Written(facts["Deleted"]),
        "Reports that were not released do not wait for somebody to find them.",
        "No number: it limits how far back stolen keys can reach.",
    )
    yield (
        "Receipts",
        Written(f"{_signs(plan)}; `croupier receipt` checks it"),
        "A batch that was dropped, repeated or cut is noticed afterwards.",
        f"No number: it makes the trust in the shuffler{_plural(plan)} checkable.",
    )
    yield (
        "Audits and attacks",
        Written("`croupier audit` and `croupier attack`, as often as the officer asks"),
        "Measurements try to refute what is proved.",
        "No number: a refutation would withdraw one.",
    )


def _noise(plan: Plan) -> tuple[str, str, str, str]:
    if sends_answers(plan):
        return (
            "Noise on the device",
            Written("not taken: the device sends the answer itself"),
            leaves_the_device(plan),
            f"None: nothing protects an answer in {_rows(_bare(plan))}.",
        )
    local = plan.epsilon_local
    return (
        "Noise on the device",
        Written(f"epsilon_local at most {ceiling_digits(local)}, {plan.participation.noise} noise"),
        leaves_the_device(plan),
        f"All numbers; it is the only protection in the row for {plan.rungs[-1]}.",
    )


def _dummies(plan: Plan) -> tuple[str, str, str, str]:
    return (
        "Dummies",
        Written(added(plan)),
        "One answer more or less in a count is hidden, however many take part or are corrupt.",
        f"Epsilon, re-identification and guesses, but not in {_rows(_bare(plan))}.",
    )


def _second_shuffler(plan: Plan) -> tuple[str, str, str, str]:
    enough = "One honest shuffler is enough, even if everybody else works together."
    if not all_add(plan):
        enough = "Neither shuffler alone knows who sent which released report."
    one_joins = (Rung.SHUFFLER_1, Rung.SHUFFLER_2, Rung.ALL_BUT_ONE)
    hidden = [rung for rung in one_joins if dummies_hide(plan, rung)]
    return (
        "Second shuffler",
        Written("reports pass two shufflers, one after the other"),
        enough,
        f"All numbers in {_rows(hidden)}: a shuffler does not know the other one's dummies."
        if hidden
        else "Re-identification, in the rows for shuffler_1 and shuffler_2: neither draws the "
        "whole order."
        if plan.analyzer.publication == "released-order"
        else "None: without dummies, one shuffler and the analyzer learn as much as both.",
    )


def _bare(plan: Plan) -> list[Rung]:
    """The rows in which no dummies hide an answer, and something of it is shown."""
    silent = plan.analyzer.publication == "none"
    shown = [rung for rung in plan.rungs if not (silent and rung.mixes is not None)]
    return [rung for rung in shown if not dummies_hide(plan, rung)]


def _rows(rungs: Sequence[Rung]) -> str:
    """Name rows of the ladder."""
    *most, last = rungs
    return f"the rows for {', '.join(most)} and {last}" if most else f"the row for {last}"


def _mixing(plan: Plan) -> str:
    return "shuffler" if len(plan.shufflers) == 1 else "both shufflers"


def _signs(plan: Plan) -> str:
    one = len(plan.shufflers) == 1
    return "the shuffler signs what it released" if one else "each shuffler signs what it released"


def _plural(plan: Plan) -> str:
    return "s" * (len(plan.shufflers) > 1)


def _operators(plan: Plan) -> tuple[str, str, str, str]:
    shufflers, analyzer = [each.operator for each in plan.shufflers], plan.analyzer.operator
    one = len(shufflers) == 1
    here: str = Written(f"assumed; the plan does not name {'both' if one else 'all of them'}")
    if plan.operators == "same":
        here = Written(
            "not taken: one operator runs both"
            if one
            else "in part: one operator runs a shuffler and the analyzer"
        )
    elif plan.names_operators:
        mix = f"{shufflers[0]} mixes" if one else f"{' and then '.join(map(str, shufflers))} mix"
        here = f"{mix}, {analyzer} estimates"
    return (
        "Separate operators",
        here,
        "Whoever knows the senders cannot open reports, and whoever opens them sees no sender.",
        "All numbers: without it only the row for collusion holds."
        if one
        else "All numbers: if one operator runs a shuffler and the analyzer, the row for "
        "all_but_one holds, and if one runs both shufflers, only that for everybody.",
    )
