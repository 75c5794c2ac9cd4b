"""The page of a plan, for whoever is responsible for people's privacy: what leaks, and to whom."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.ladder.table import (
    CAPTION,
    ladder_meanings,
    ladder_reasons,
    ladder_rows,
    who_is_looking,
)
from croupier.assessment.policy import verdicts
from croupier.documents.explain.asked import asked_rows, collection_facts, record_facts
from croupier.documents.explain.engineers import other_proofs, rung_proofs
from croupier.documents.explain.limits import limit_rows, verdict_line
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
from croupier.documents.explain.templates import templates
from croupier.documents.explain.trust_words import operators, trusted
from croupier.documents.plots.figure import require_folder
from croupier.documents.plots.inline_svg import Plot
from croupier.documents.plots.plan import PlanPlots, ladder_points
from croupier.model.html import element
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """The page of a plan; a notebook shows it in a frame.

    Attributes:
        plan: What is explained.
        html: The page, which needs nothing else.
    """

    plan: Plan
    html: str

    @classmethod
    def of(cls, plan: Plan, *, file: str, advance: Callable[[int], None]) -> "Explanation":
        """Prove what the plan leaks, and write it down."""
        return cls(plan, explain(assess(plan), file=file, advance=advance))

    def save(self, path: str | Path) -> None:
        """Write the page into a file."""
        require_folder("path", Path(path))
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        name = f"{self.plan.name} {self.plan.digest[:8]}"
        return f"Explanation({name}, {len(self.html):,} characters of HTML)"

    def _repr_html_(self) -> str:
        look = "width: 100%; height: 40em; border: 1px solid #8886"
        return element("iframe", srcdoc=self.html, style=look, title=f"Plan {self.plan.name}")


def explain(
    ladder: Ladder, *, file: str = "plan.toml", advance: Callable[[int], None] = lambda _: None
) -> str:
    """The page, in HTML that needs nothing else: no script, no request.

    Args:
        ladder: What `assess` proved about the plan.
        file: The name of the plan's file in the commands that prove each number again.
        advance: Called as the plots are drawn, `plots.plan.STEPS` times or a little more.

    Raises:
        MissingExtraError: jinja2 or matplotlib is not installed.
    """
    plan, found, real = ladder.plan, verdicts(ladder), Rung(ladder.headline.rung)
    template = templates().get_template("page.html")
    return template.render(
        plan=plan,
        looking={rung: who_is_looking(plan, rung) for rung in Rung},
        proved_for=proved_for(plan),
        verdict=verdict_line(ladder, found),
        asked=list(asked_rows(plan)),
        facts=collection_facts(plan),
        record=record_facts(plan),
        limits=list(limit_rows(found)),
        singled_out=singling_out(ladder, real),
        singling_out={rung: singling_out(ladder, rung) for rung in Rung},
        seen_on_the_wire=seen_on_the_wire(plan),
        repeated=repeated(ladder),
        grown=grown(ladder),
        linkability={rung: linkability(ladder, rung) for rung in Rung},
        two_values=two_values(ladder),
        guesses={against(plan, rung): inference(ladder, rung) for rung in (real, Rung.COLLUSION)},
        operators=operators(plan),
        caption=CAPTION,
        rows=ladder_rows(ladder),
        reasons=ladder_reasons(ladder),
        meanings=ladder_meanings(ladder),
        ladder_points=list(ladder_points(ladder)),
        trusted={rung: trusted(plan, rung) for rung in Rung},
        plots=list(_plots(ladder, advance)),
        version=version("croupier"),
        proofs={rung: list(rung_proofs(ladder, rung, file)) for rung in Rung},
        other_proofs=list(other_proofs(ladder, file)),
    )


def _plots(ladder: Ladder, advance: Callable[[int], None]) -> Iterator[Plot]:
    """Draw what other choices would change."""
    plots = PlanPlots(ladder.plan)
    yield from plots.epsilon_over_people(advance)
    yield from plots.over_noise(advance)
