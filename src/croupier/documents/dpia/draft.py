"""The draft of a data protection impact assessment, in Markdown, from what is proved of a plan.

Its parts are those that Article 35(7) GDPR lists and that the templates of the ICO
(https://ico.org.uk/for-organisations/uk-gdpr-guidance-and-resources/accountability-and-governance/)
and of the CNIL (https://www.cnil.fr/en/privacy-impact-assessment-pia) ask for. The sentences are
ours. What the plan does not state is a line TO FILL IN.
"""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from croupier.assessment.ladder.gaussian import NO_MU, GaussianRow, gaussian_row
from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.table import ladder_reasons, ladder_rows, who_is_looking
from croupier.assessment.ladder.text import cell_text
from croupier.assessment.policy import Check
from croupier.documents.dpia.gaps import GAPS, record_of, responsible, stated
from croupier.documents.dpia.measures import measures
from croupier.documents.dpia.way import found_again, leaves_the_device, way_of_reports
from croupier.documents.dpia.written import Written, markdown_templates, to_fill_in
from croupier.documents.explain.asked import asked_rows, collection_facts
from croupier.documents.explain.limits import limit_rows, verdict_line
from croupier.documents.explain.near import heading
from croupier.documents.explain.sentences import (
    inference,
    linkability,
    proved_for,
    repeated,
    singling_out,
)
from croupier.documents.explain.summary.answers import NOT_PROMISED, not_promised
from croupier.documents.explain.trust_words import operators, trusted
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.numerics.rounding import ceiling_digits, delta_text
from croupier.plan.plan import Plan

__all__ = ["dpia", "gaussian_rows"]

_WORDS_OF_THE_PLAN = ("Who admits", "Relay", "Who mixes", "Who estimates")


def dpia(
    ladder: Ladder,
    found: Check,
    *,
    gaussian: Sequence[GaussianRow],
    file: str = "plan.toml",
) -> str:
    """Write the draft in Markdown.

    Args:
        ladder: What `assess` proved about the plan.
        found: The limits beside what is proved.
        gaussian: The trade-off curves of the appendix.
        file: The name of the plan's file.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    plan, record, verdict = ladder.plan, record_of(ladder.plan), verdict_line(ladder, found)
    template = markdown_templates().get_template("dpia.md")
    return template.render(
        plan=plan,
        file=file,
        version=Written(version("croupier")),
        judged=" ".join([verdict.judged, *verdict.besides]),
        responsible=responsible(plan),
        asked=list(_asked(plan)),
        facts=_facts(plan),
        proved_for=Written(proved_for(plan)),
        way=[Written(sentence) for sentence in way_of_reports(plan)],
        leaves=Written(leaves_the_device(plan)),
        found_again=Written(found_again(plan)),
        gaps=GAPS,
        purpose=stated(plan.purpose, "what the answers are for"),
        legal_basis=stated(record.legal_basis, "what permits the collection"),
        retention=stated(record.retention, "what is kept, and for how long"),
        rights=stated(record.rights, "what people may ask for, and how."),
        operators=Written(operators(plan)),
        metrics=[Written(heading(plan, metric)) for metric in ladder[Rung.BATCH].cells],
        rows=list(_rows(ladder)),
        reasons=[Written(reason) for reason in ladder_reasons(ladder)],
        repeated=Written(repeated(ladder)),
        risks=[_risk(ladder, rung) for rung in plan.rungs],
        measures=list(measures(plan)),
        further={
            Written(name): Written(words)
            for name, words in not_promised(plan).items()
            if name not in NOT_PROMISED
        },
        limits=list(_limits(found)),
        delta=Written(delta_text(plan.guarantee.delta)),
        gaussian=[_gaussian(ladder, row) for row in gaussian],
        curve=list(_curve(gaussian)),
    )


def gaussian_rows(ladder: Ladder) -> tuple[GaussianRow, ...]:
    """Prove the trade-off curves of the appendix: of the headline, the batch and collusion.

    With two shufflers, of everybody but one shuffler and of everybody instead of collusion.
    """
    last = ladder.plan.rungs[-1 if len(ladder.plan.shufflers) == 1 else -2 :]
    rungs = dict.fromkeys((Rung(ladder.headline.rung), Rung.BATCH, *last))
    return tuple(gaussian_row(ladder.plan, rung) for rung in rungs)


def _asked(plan: Plan) -> Iterator[dict[str, str]]:
    for row, question in zip(asked_rows(plan), plan.questions, strict=True):
        yield {
            "name": row.name,
            "text": stated(question.text, "the words that people read"),
            "answers": row.answers,
            "noise": Written(row.noise),
        }


def _facts(plan: Plan) -> dict[Written, str]:
    """Return the facts of the collection; only the operators' names are words of the plan."""
    facts = {
        Written(name): fact if name in _WORDS_OF_THE_PLAN else Written(fact)
        for name, fact in collection_facts(plan).items()
        if name != "Plan"
    }
    if any(each.operator is None for each in plan.shufflers):
        several = "s" * (len(plan.shufflers) > 1)
        facts[Written("Who mixes")] = to_fill_in(f"who runs the shuffler{several}")
    if plan.analyzer.operator is None:
        facts[Written("Who estimates")] = to_fill_in("who runs the analyzer")
    return facts


def _rows(ladder: Ladder) -> Iterator[list[Written]]:
    for line in ladder_rows(ladder):
        name = f"**{line.name}** (counts here)" if line.counts else line.name
        yield [Written(f"{name}: {line.sees}"), *map(Written, line.texts.values())]


def _risk(ladder: Ladder, rung: Rung) -> dict[str, Any]:
    """Say what one adversary gains; sentences address a person, as on the page."""
    relies = trusted(ladder.plan, rung)
    return {
        "name": Written(rung),
        "sees": Written(who_is_looking(ladder.plan, rung)),
        "singling_out": Written(singling_out(ladder, rung)),
        "linkability": Written(linkability(ladder, rung)),
        "inference": [Written(sentence) for sentence in inference(ladder, rung)],
        "relies_on": Written(relies.relies_on),
        "otherwise": Written(relies.otherwise),
        "epsilon": Written(cell_text(ladder[rung][Metric.EPSILON])),
    }


def _limits(found: Check) -> Iterator[list[str]]:
    for row in limit_rows(found):
        idle = row.verdict.idle
        said = "met" if row.verdict.met else "NOT MET"
        said += f", limits nothing: {idle}" if idle else ""
        texts = (row.verdict.against, row.number, row.most, row.proved, said)
        yield [row.owner, *map(Written, texts)]


def _gaussian(ladder: Ladder, row: GaussianRow) -> dict[str, Written]:
    return {
        "rung": Written(row.rung),
        "sees": Written(who_is_looking(ladder.plan, row.rung)),
        "epsilon": Written(cell_text(ladder[row.rung][Metric.EPSILON])),
        "mu": Written(ceiling_digits(row.mu) if row.bounded else NO_MU),
    }


def _curve(rows: Sequence[GaussianRow]) -> Iterator[list[Written]]:
    for points in zip(*(row.trade_off for row in rows), strict=True):
        rate = points[0][0]
        numbers = (rate, round(1 - rate, 6), *(least for _, least in points))
        yield [Written(f"{100 * number:.5g} %") for number in numbers]
