"""The page of a plan, for whoever is responsible for people's privacy: what leaks, and to whom."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.ladder.table import (
    CAPTION,
    ladder_reasons,
    ladder_rows,
    who_is_looking,
)
from croupier.assessment.policy import Check, checked
from croupier.documents.explain.asked import asked_rows, collection_facts, record_facts
from croupier.documents.explain.engineers import numbered, other_proofs, rung_proofs
from croupier.documents.explain.limits import demand_lines, limit_rows, verdict_line
from croupier.documents.explain.near import meanings
from croupier.documents.explain.people.senders import admission
from croupier.documents.explain.sentences import (
    against,
    grown,
    inference,
    linkability,
    proved_for,
    repeated,
    seen_on_the_wire,
    singling_out,
    two_values,
)
from croupier.documents.explain.summary.answers import answers, how_it_works, not_promised
from croupier.documents.explain.summary.cut import cut
from croupier.documents.explain.summary.risk import if_they_collude, risks
from croupier.documents.explain.templates import templates
from croupier.documents.explain.trust_words import operators, trusted
from croupier.documents.formats import Format, format_of
from croupier.documents.pdf import pdf_of
from croupier.documents.plots.figure import require_folder
from croupier.documents.plots.inline_svg import Plot
from croupier.documents.plots.plan import PlanPlots, ladder_points
from croupier.model.html import element
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.plan.plan import Plan
from croupier.plan.policy import Policy
from croupier.protocol.approval import Approval

__all__ = ["Explanation", "explain", "explain_in_markdown"]

_TITLE = 80
"""About as many letters of the title as stand in the heading; all of it stands below."""


@dataclass(frozen=True)
class Explanation:
    """The page of a plan; a notebook shows it in a frame.

    Attributes:
        plan: What is explained.
        html: The page, which needs nothing else.
        markdown: The same sentences and tables in Markdown, without plots.
    """

    plan: Plan
    html: str
    markdown: str

    @classmethod
    def of(
        cls, plan: Plan, *, policy: Policy | None, file: str, advance: Callable[[int], None]
    ) -> "Explanation":
        """Prove what the plan leaks, and write it down."""
        ladder = assess(plan)
        found = checked(ladder, policy)
        html = explain(ladder, found, file=file, advance=advance)
        return cls(plan, html, explain_in_markdown(ladder, found, file=file))

    def save(self, path: str | Path) -> None:
        """Write the page into a file: .html, .pdf or .md, as its name ends.

        Raises:
            ParameterError: The name ends otherwise, or its folder is missing.
            MissingExtraError: A PDF is asked for, and WeasyPrint is not installed.
        """
        path = Path(path)
        form = format_of(path, parameter="path")
        require_folder("path", path)
        if form is Format.PDF:
            path.write_bytes(pdf_of(self.html))
        else:
            text = self.markdown if form is Format.MARKDOWN else self.html
            path.write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        name = f"{self.plan.name} {self.plan.digest[:8]}"
        return f"Explanation({name}, {len(self.html):,} characters of HTML)"

    def _repr_html_(self) -> str:
        look = "width: 100%; height: 40em; border: 1px solid #8886"
        return element("iframe", srcdoc=self.html, style=look, title=f"Plan {self.plan.name}")


def explain(
    ladder: Ladder,
    found: Check | None = None,
    *,
    approval: Approval | None = None,
    file: str = "plan.toml",
    advance: Callable[[int], None] = lambda _: None,
) -> str:
    """The page, in HTML that needs nothing else: no script, no request.

    Args:
        ladder: What `assess` proved about the plan.
        found: The limits beside what is proved; the plan's own if left out.
        approval: The approval that the limits are from, once it is known to hold.
        file: The name of the plan's file in the commands that prove each number again.
        advance: Called as the plots are drawn, `plots.plan.STEPS` times or a little more.

    Raises:
        MissingExtraError: jinja2 or matplotlib is not installed.
    """
    template = templates().get_template("page.html")
    plots = [*ladder_points(ladder), *_plots(ladder, advance)]
    return template.render(**_content(ladder, found, approval, file), plots=plots)


def explain_in_markdown(
    ladder: Ladder,
    found: Check | None = None,
    *,
    approval: Approval | None = None,
    file: str = "plan.toml",
) -> str:
    """The sentences and tables of the page in Markdown, without plots.

    Args:
        ladder: What `assess` proved about the plan.
        found: The limits beside what is proved; the plan's own if left out.
        approval: The approval that the limits are from, once it is known to hold.
        file: The name of the plan's file in the commands that prove each number again.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    return templates().get_template("page.md").render(**_content(ladder, found, approval, file))


def _content(
    ladder: Ladder, given: Check | None, approval: Approval | None, file: str
) -> dict[str, Any]:
    """Return all that is said, in whatever format."""
    plan, found, real = ladder.plan, given or checked(ladder), Rung(ladder.headline.rung)
    traced = Rung(ladder.most_exposed(Metric.REIDENTIFICATION).rung)
    proofs = {rung: list(rung_proofs(ladder, rung, file)) for rung in plan.rungs}
    others = list(other_proofs(ladder, file))
    return {
        "plan": plan,
        "heading": cut(plan.headline, _TITLE),
        "looking": {rung: _looking(plan, rung) for rung in Rung},
        "how": how_it_works(plan),
        "proved_for": proved_for(plan),
        "verdict": verdict_line(ladder, found, approval),
        "policy": found.policy,
        "risks": list(risks(ladder)),
        "if_they_collude": if_they_collude(ladder),
        "answers": answers(plan),
        "asked": list(asked_rows(plan)),
        "facts": collection_facts(plan),
        "record": record_facts(plan),
        "limits": list(limit_rows(found)),
        "demands": list(demand_lines(found)),
        "singled_out": singling_out(ladder, traced),
        "singling_out": {rung: singling_out(ladder, rung) for rung in plan.rungs},
        "seen_on_the_wire": seen_on_the_wire(plan),
        "repeated": repeated(ladder),
        "grown": grown(ladder),
        "linkability": {rung: linkability(ladder, rung) for rung in plan.rungs},
        "two_values": two_values(ladder),
        "guesses": {against(plan, rung): inference(ladder, rung) for rung in _guessers(plan, real)},
        "operators": operators(plan),
        "admission": tuple(admission(plan)),
        "caption": CAPTION,
        "rows": ladder_rows(ladder),
        "reasons": ladder_reasons(ladder),
        "meanings": meanings(ladder),
        "trusted": {rung: trusted(plan, rung) for rung in plan.rungs},
        "not_promised": not_promised(plan),
        "version": version("croupier"),
        "proofs": proofs,
        "other_proofs": others,
        "theorems": numbered(chain(*proofs.values(), others)),
    }


def _looking(plan: Plan, rung: Rung) -> str:
    """Say who is looking; of a row that only a policy names, which rows stand for it here."""
    if rung in plan.rungs:
        return who_is_looking(plan, rung)
    return f"here {' and '.join(rung.among(len(plan.shufflers)))}"


def _guessers(plan: Plan, real: Rung) -> dict[Rung, None]:
    """The adversaries whose guesses are told in full, from the headline to all together."""
    several = [Rung.ALL_BUT_ONE] if len(plan.shufflers) > 1 else []
    return dict.fromkeys([real, *several, plan.rungs[-1]])


def _plots(ladder: Ladder, advance: Callable[[int], None]) -> Iterator[Plot]:
    """Draw what other choices would change."""
    plots = PlanPlots(ladder.plan)
    yield from plots.epsilon_over_people(advance)
    yield from plots.over_noise(advance)
