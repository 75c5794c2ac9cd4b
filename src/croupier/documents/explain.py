"""One page for whoever answers for people's privacy: what a plan reveals, and to whom."""

from collections.abc import Callable, Iterator
from importlib.resources import files

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.table import ladder_table
from croupier.assessment.policy import Verdict, verdicts
from croupier.documents.engineers import engineers
from croupier.documents.inline_svg import Plot
from croupier.documents.plan_plots import PlanPlots, ladder_points
from croupier.documents.policy_part import limits_part, verdict_part
from croupier.documents.said import said
from croupier.documents.sentences import (
    ALWAYS,
    NOT_PROMISED,
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
from croupier.documents.trust_words import operators, trusted
from croupier.model.html import Html, column, element, table
from croupier.model.rung import Rung
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.plan import Plan

__all__ = ["explain"]

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:" />
<link rel="icon" href="data:," />
{title}
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""  # noqa: E501 - a policy stands on one line


def explain(
    ladder: Ladder, *, file: str = "plan.toml", advance: Callable[[int], None] = lambda _: None
) -> str:
    """The page, in HTML that needs nothing else: no script, no request.

    Args:
        ladder: What `assess` proved about the plan.
        file: The name of the plan's file in the commands that prove each number again.
        advance: Called as the plots are drawn, `plan_plots.STEPS` times or a little more.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    plan, found = ladder.plan, verdicts(ladder)
    main = [
        *limits_part(found),
        _singling_out(ladder),
        _linkability(ladder),
        _inference(ladder),
        _ladder(ladder),
        _trust(plan),
        *_plots(ladder, advance),
        _not_promised(),
        engineers(ladder, file),
    ]
    title = f"{plan.name}: what it reveals about a person, and to whom"
    return _PAGE.format(
        title=element("title", title),
        style=(files("croupier.documents") / "explain.css").read_text(encoding="utf-8"),
        body=f"{_header(ladder, title, found)}\n{element('main', *main)}",
    )


def _header(ladder: Ladder, title: str, found: tuple[Verdict, ...]) -> Html:
    plan = ladder.plan
    facts = [
        element("div", element("dt", name), element("dd", text))
        for name, text in _facts(plan).items()
    ]
    return element(
        "header",
        element("h1", title),
        element("p", proved_for(plan), class_="quiet"),
        verdict_part(ladder, found),
        element("dl", *facts, class_="facts"),
    )


def _facts(plan: Plan) -> dict[str, str]:
    names = sorted({question.mechanism for question in plan.randomizers})
    local = max(question.epsilon_local for question in plan.randomizers)
    values = min(question.domain.size for question in plan.randomizers)
    order = {"uniform": "uniform", "mallows": "Mallows, inside public groups"}[plan.shuffling.order]
    if plan.mixes_by_group:
        order = "uniform inside each public group; groups are not mixed"
    return {
        "Noise on the device": f"{', '.join(names)}, epsilon_local {ceiling_digits(local)}",
        "Values": f"one of {values:,}",
        "Enrolled": f"{plan.population.enrolled:,} people",
        "Assumed corrupt": f"{plan.corrupt:,} people in a batch",
        "Rounds a person": f"{plan.collection.rounds:,}, {plan.participation.noise} noise",
        "Participation": plan.participation_model.model,
        "Order of a batch": order,
        "Published": plan.analyzer.publication.replace("-", " "),
        "Operators": plan.operators,
        "Delta": f"{plan.guarantee.delta:g}",
        "Plan": plan.digest[:8],
    }


def _singling_out(ladder: Ladder) -> Html:
    rows = [(rung, [column(said(singling_out(ladder, rung)), "")]) for rung in Rung]
    return element(
        "section",
        element("h2", "Singling out: is a report traced to you?"),
        element("p", said(singling_out(ladder, _real(ladder))), class_="lead"),
        table("The same on every rung.", ("rung", "what is proved"), rows),
    )


def _linkability(ladder: Ladder) -> Html:
    rows = [(rung, [column(said(linkability(ladder, rung)), "")]) for rung in Rung]
    growth = grown(ladder)
    return element(
        "section",
        element("h2", "Linkability: are your reports connected?"),
        element("p", seen_on_the_wire(ladder.plan), " ", said(repeated(ladder)), class_="lead"),
        *([element("p", said(growth))] if growth else []),
        table("Rounds of one person, on every rung.", ("rung", "what is proved"), rows),
    )


def _inference(ladder: Ladder) -> Html:
    shown = dict.fromkeys((_real(ladder), Rung.COLLUSION))
    return element(
        "section",
        element("h2", "Inference: is your answer guessed?"),
        element("p", said(two_values(ladder)), class_="lead"),
        *(part for rung in shown for part in _guesses(ladder, rung)),
        element("p", element("strong", ALWAYS)),
    )


def _guesses(ladder: Ladder, rung: Rung) -> Iterator[Html]:
    yield element("h3", f"Against {against(ladder.plan, rung)}")
    yield element("ul", *(element("li", said(line)) for line in inference(ladder, rung)))


def _ladder(ladder: Ladder) -> Html:
    return element(
        "section",
        element("h2", "The trust ladder"),
        element("p", operators(ladder.plan)),
        ladder_table(ladder),
        *(element("div", _figure(plot), class_="plots") for plot in ladder_points(ladder)),
    )


def _trust(plan: Plan) -> Html:
    rows = []
    for rung in Rung:
        words = trusted(plan, rung)
        relies = column(words.relies_on, "must be trusted")
        rows.append((str(rung), [relies, column(words.otherwise, "otherwise")]))
    return element(
        "section",
        element("h2", "Who is trusted, and what fails otherwise"),
        table("What each rung rests on.", ("rung", "must be trusted", "otherwise"), rows),
    )


def _plots(ladder: Ladder, advance: Callable[[int], None]) -> Iterator[Html]:
    plan = ladder.plan
    plots = PlanPlots(plan, ladder=ladder)
    drawn = [*plots.epsilon_over_people(advance), *plots.over_noise(advance)]
    rounds = "" if plots.once.reports == plan.reports else f" Of one of {plan.reports:,} rounds."
    if drawn:
        yield element(
            "section",
            element("h2", "What other choices would change"),
            element("div", *(_figure(plot, rounds) for plot in drawn), class_="plots"),
        )


def _figure(plot: Plot, rounds: str = "") -> Html:
    return element("figure", Html(plot.svg), element("figcaption", plot.caption + rounds))


def _not_promised() -> Html:
    return element(
        "section",
        element("h2", "Not promised"),
        element(
            "ul",
            *(
                element("li", element("strong", f"{name}."), f" {why}")
                for name, why in NOT_PROMISED.items()
            ),
        ),
    )


def _real(ladder: Ladder) -> Rung:
    return Rung(ladder.headline.rung)
