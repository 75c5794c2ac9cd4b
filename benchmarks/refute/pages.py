"""Every number that is printed about a plan, as printed, against what attacks reach."""

import contextlib
import io
import math
import re
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random
from unittest import mock
from xml.etree import ElementTree as ET

from benchmarks.refute.found import Found
from benchmarks.refute.liars import check_liars
from benchmarks.refute.plans import large_plan
from benchmarks.refute.reached import Reached, blind, reached
from croupier.assessment.ladder.ladder import REPEATED, Ladder, assess
from croupier.assessment.ladder.text import limit_text
from croupier.cli.plan import assess as command
from croupier.documents.explain import page
from croupier.documents.explain.asked import asked_rows, collection_facts
from croupier.documents.explain.near import off_by
from croupier.documents.explain.sentence import NO_PROTECTION, chance, delta_text
from croupier.model.metric import NEAR, Metric
from croupier.model.rung import LUCK, Rung
from croupier.plan.plan import Plan

__all__ = ["check_lines", "check_page", "printed", "search"]

FORMS = {"digits", "percent", "odds", "odds in some round", "odds in two rounds", "ratio"}
FORMS |= {"cell", "promise", "upper", "lower"}
_SAID = re.compile(r"(?:^|\. )(?P<who>[^.]*): epsilon at most (?P<epsilon>[0-9.e+-]*[0-9])")
_NUMBER = re.compile(r"(?<![\w.^-])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
_ALONE = re.compile(r"met, limits nothing: epsilon_local alone gives (?P<said>.+)")
_UNREAD = {"svg", "code", "style", "title", "script"}


def search(
    random: Random,
    found: Found,
    *,
    assessed: Callable[[Plan], Ladder] = assess,
    model: str | None = None,
) -> None:
    """Try one random plan: its page, and the output of `croupier assess`."""
    ladder = assessed(large_plan(random, model=model))
    check_page(found, ladder)
    check_lines(found, ladder)


def check_page(found: Found, ladder: Ladder) -> None:
    """Check all numbers of the page, marked or not."""
    with mock.patch.object(page, "_plots", return_value=()):  # pictures: nothing to compare
        text = page.explain(ladder)
    root = ET.fromstring(text.partition("\n")[2])  # noqa: S314 - a page of ours
    plan, case = ladder.plan, f"plan {ladder.plan.document()}"
    known = lru_cache(maxsize=None)(lambda rung: _known(plan, rung))
    for node in root.iter("data"):
        rung, form = node.get("data-rung", ""), node.get("data-form", "")
        metric, said = Metric(node.get("data-metric", "")), node.text or ""
        name = f"{rung} {metric} {form} {said!r}, {case}"
        gains = known(rung)
        if gains is None or form not in FORMS:
            found.expect("page", holds=False, said=said, truth="nothing to compare", case=name)
        elif metric in NEAR and metric not in gains.gains:
            continue  # guesses nearby are not played
        elif rung == LUCK:
            _check_blind(found, printed(said)[1], gains.gains[metric], name)
        else:
            _check_number(found, metric, form, said, gains, name)
            _check_attained(found, ladder, rung, metric, form, said, name)
    alone = _check_alone(found, root, known(Rung.COLLUSION), case)
    _check_unmarked(found, root, plan, case, read=alone)


def _known(plan: Plan, rung: str) -> Reached | None:
    if rung == LUCK:
        return blind(plan)
    try:
        return reached(plan, rung)
    except ValueError:
        return None


def _check_blind(found: Found, said: float, truth: float, name: str) -> None:
    near = math.isclose(said, truth, rel_tol=0.0051)
    found.expect("page, blind", holds=near, said=said, truth=truth, case=name)


def _check_number(  # noqa: PLR0913, PLR0917 - one comparison, and what it is about
    found: Found, metric: Metric, form: str, said: str, known: Reached, name: str
) -> None:
    gained = known.gains[metric]
    high = printed(said)[1]
    if form == "ratio":
        gained = math.exp(gained) if gained < 700 else math.inf
    elif form == "odds in some round":
        gained = -math.expm1(known.rounds * math.log1p(-gained)) if gained < 1 else 1.0
    elif form == "odds in two rounds":
        gained = gained**2
    if form != _attained(metric):
        holds = high <= gained if metric.protects else high >= gained
        found.expect(f"page, {metric}", holds, high, gained, name)


def _attained(metric: Metric) -> str:
    """The form in which the page prints an attained value."""
    return "upper" if metric.protects else "lower"


def _check_attained(  # noqa: PLR0913, PLR0917 - one comparison, and what it is about
    found: Found, ladder: Ladder, rung: str, metric: Metric, form: str, said: str, name: str
) -> None:
    """Check that an attained value is on the other side of the promise, unrounded."""
    low, high = printed(said)
    if form != _attained(metric) and low == high:
        return
    proved = ladder[rung][metric].proved
    if proved is not None:
        holds = low >= proved.value if metric.protects else low <= proved.value
        found.expect("page, attained", holds, low, proved.value, name)


def printed(text: str) -> tuple[float, float]:
    """The two ends of a printed number; the same twice if there is one."""
    text = text.removeprefix("<= ").removeprefix("at most ").strip()
    parts = re.split(r"(?<=[0-9])-(?=[0-9])", text)
    low, high = (_number(part) for part in (parts[0], parts[-1]))
    return low, high


def _number(text: str) -> float:
    words = {"certain": 1.0, NO_PROTECTION: 1.0, "never": 0.0}
    words |= {"any number of": math.inf, "inf": math.inf}
    if text in words:
        return words[text]
    if text.startswith("1 in "):
        return 1 / float(text[5:].replace(",", ""))
    if text.startswith("10^"):
        return float(f"1e{text[3:]}")
    if text.endswith(" %"):
        return float(text[:-2]) / 100
    return float(text.replace(",", ""))


def _check_alone(
    found: Found, root: ET.Element, known: Reached | None, case: str
) -> frozenset[ET.Element]:
    """Check the number that noise alone gives, beside a limit: the promise under collusion.

    Returns:
        The places where it is printed.
    """
    read = set()
    for row in root.iter("tr"):
        metrics = {node.get("data-metric", "") for node in row.iter("data")}
        for node in row.iter("td"):
            said = _ALONE.fullmatch(node.text or "")
            if said is None or known is None or len(metrics) != 1:
                continue  # a number in it is then an unmarked one
            metric = Metric(*metrics)
            name = f"{Rung.COLLUSION} {metric} {node.text!r}, {case}"
            _check_number(found, metric, "percent", said["said"], known, name)
            read.add(node)
    return frozenset(read)


def _check_unmarked(
    found: Found, root: ET.Element, plan: Plan, case: str, *, read: frozenset[ET.Element]
) -> None:
    """Check that every unmarked number is a fact of the plan, not an unchecked bound."""
    facts = _facts(plan)
    for section in root.iter("section"):
        if section.get("class") == "engineers":
            continue  # names of theorems and of assumptions
        for text in _texts(section, read):
            for number in _NUMBER.findall(check_liars(found, text, plan, case)):
                fact = number in facts or number.rstrip(",") in facts
                found.expect(
                    "page, unmarked", fact, number, "no fact of the plan", f"{text!r}, {case}"
                )


def _texts(node: ET.Element, read: frozenset[ET.Element]) -> list[str]:
    """All text below a node that is not marked and was not read before."""
    marked = node.tag in _UNREAD or node.tag == "data" or node in read
    texts = [] if marked else [node.text or ""]
    for child in node:
        if child.tag not in _UNREAD:
            texts += _texts(child, read)
        texts.append(child.tail or "")
    return texts


def _facts(plan: Plan) -> set[str]:
    numbers = {0, 1, 2, REPEATED, plan.population.enrolled, plan.protections.minimum_batch}
    numbers |= {plan.honest, plan.corrupt, plan.reports, plan.collection.rounds, plan.people}
    bins = plan.participation_model.specification.get("bins", ())
    batches = {plan.participation_model.rounds, *map(len, bins)}
    numbers |= {plan.collection.rounds * each for each in batches}
    seen = plan.participation_model.crowds(plan.people, rounds_seen=True)
    shares = {(crowd.people, float(crowd.share)) for crowd in seen}
    numbers |= {round(people * share / (1 - (1 - share) ** people)) for people, share in shares}
    numbers |= {plan.protections.report_size, *(q.domain.size for q in plan.randomizers)}
    listed = {f"{number:,}" for number in numbers} | {delta_text(plan.guarantee.delta or 0.0)}
    said = [chance(plan.guarantee.delta or 0.0), f"{100 * plan.population.corrupt_fraction:.3g}"]
    said += [f"{row.name} {row.answers} {row.noise}" for row in asked_rows(plan)]
    said += collection_facts(plan).values()
    said += [off_by(plan)]
    listed |= {number for text in said for number in _NUMBER.findall(text)}
    limits = [limit_text(limit.metric, limit.value) for limit in plan.limits]
    return listed | {number for limit in limits for number in _NUMBER.findall(limit)}


def check_lines(found: Found, ladder: Ladder) -> None:
    """Check all lines of `croupier assess` that print an epsilon."""
    plan, case = ladder.plan, f"plan {ladder.plan.document()}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.toml"
        file.write_text(plan.to_toml())
        told = io.StringIO()
        with (
            mock.patch.object(command, "assess", return_value=ladder),
            contextlib.redirect_stdout(told),
        ):
            command.command(file)
    text = told.getvalue().partition("collusion ")[2].partition("\n\n")[2]  # below the table
    lines = [line for line in [" ".join(text.split())] if "epsilon at most" in line]
    found.expect("lines", len(lines) <= 1 or all(map(_SAID.search, lines)), lines, "", case)
    for line in lines:
        for said in _SAID.finditer(line):
            rung = _figure(said["who"].strip())
            name = f"{line!r}, {case}"
            if rung is None:
                found.expect("lines", holds=False, said=line, truth="nothing to compare", case=name)
                continue
            gained = reached(plan, rung).gains[Metric.EPSILON]
            found.at_least("lines", float(said["epsilon"]), gained, name)


def _figure(who: str) -> str | None:
    if who == f"{REPEATED} such collections of one person":
        return "repeated"
    return "enrolled" if re.fullmatch(r"If all .*report.*", who) else None
