import re
import shlex
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from jinja2 import UndefinedError

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.documents.explain.page import explain
from croupier.documents.explain.sentence import Number, Sentence
from croupier.documents.explain.templates import templates
from croupier.errors import MissingExtraError
from croupier.model.metric import Metric
from croupier.plan.policy import Policy

LIMIT = 1.4  # kept by the batch, and not by epsilon_local alone


def _read(page):
    """The page is well-formed XML too, so that a strict reader reads it."""
    return ET.fromstring(page.partition("\n")[2])  # noqa: S314 - a page of ours


@pytest.fixture(scope="module")
def pages():
    return {}


@pytest.fixture
def page(ladder_of, pages):
    """The page of a plan, drawn once."""

    def drawn(name):
        if name not in pages:
            pages[name] = explain(ladder_of(name), file="small.toml")
        return pages[name]

    return drawn


def _text(node):
    return " ".join("".join(node.itertext()).split())


@pytest.mark.parametrize("plan", ["uniform", "mallows", "none"])
def test_headings_are_in_order_and_ids_are_unique(page, plan):
    root = _read(page(plan))
    headings = [node.tag for node in root.iter() if re.fullmatch("h[1-6]", node.tag)]
    assert headings.count("h1") == 1
    assert headings[0] == "h1"
    levels = [int(tag[1]) for tag in headings]
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    for node in root.iter():
        for name in re.findall(r"url\(#([^)]+)\)", " ".join(node.attrib.values())):
            assert name in ids


def test_nothing_is_fetched_and_nothing_runs(page):
    text = page("uniform")
    root = _read(text)
    assert not list(root.iter("script"))
    for node in root.iter():
        for name, value in node.attrib.items():
            assert not name.startswith("on")
            if name in ("src", "href", "data", "poster"):
                assert value.startswith(("#", "data:")), value
    assert "@import" not in text
    assert not re.findall(r"url\((?!#)", text)
    assert "default-src 'none'" in text
    assert root.get("lang") == "en"


def test_tables_name_their_rows_and_columns(page):
    tables = list(_read(page("mallows")).iter("table"))
    assert len(tables) > 8
    for table in tables:
        assert table.find("caption") is not None
        names = list(table.find("thead").iter("th"))
        assert {node.get("scope") for node in names} == {"col"}
        for row in table.find("tbody"):
            assert row[0].get("scope") == "row"
            assert len(row) == len(names)
            for cell, name in zip(row[1:], names[1:], strict=True):
                assert cell.get("data-label") in ("", _text(name))


def test_plots_have_words_and_their_letters_are_text(page):
    plots = list(_read(page("uniform")).iter("svg"))
    assert len(plots) == 5
    for plot in plots:
        title, description = plot.get("aria-labelledby").split()
        assert plot.get("role") == "img"
        assert plot.find("title").get("id") == title
        assert plot.find("desc").get("id") == description
        assert _text(plot.find("desc"))
        assert len(list(plot.iter("text"))) > 5


@pytest.mark.parametrize(("plan", "count"), [("mallows", 4), ("reused", 4), ("none", 5)])
def test_plots_of_what_is_not_bounded_are_left_out(page, plan, count):
    assert len(list(_read(page(plan)).iter("svg"))) == count


def test_plots_of_several_rounds_are_of_all_rounds(page):
    assert "4 rounds</text>" in page("rounds")
    assert "4 rounds</text>" not in page("reused")


def test_plots_have_no_colour_of_their_own(page):
    """The page has other colours in the dark."""
    for plot in _read(page("uniform")).iter("svg"):
        styles = " ".join(part.get("style") or "" for part in plot.iter())
        assert "var(--plot-blue" in styles
        assert not re.findall(r"(?:fill|stroke): #", styles)


@pytest.mark.parametrize(
    ("matrix", "count"),
    [([[0.75, 0.25], [0.25, 0.75]], 2), ([[1.0, 0.0], [0.5, 0.5]], 0)],
)
def test_plots_need_an_epsilon(ladder_of, matrix, count):
    mechanism = {"mechanism": "matrix", "matrix": matrix}
    plan = ladder_of("uniform").plan.replace(randomizer=mechanism)
    assert len(list(_read(explain(assess(plan))).iter("svg"))) == count


BOTH = {"batch": {"max_epsilon": LIMIT}, "clients": {"max_epsilon": LIMIT}}


@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize(
    ("limits", "expected", "verdict"),
    [
        (
            {},
            "No limit is set on what is learnt about an answer by: batch (reads the batch)",
            None,
        ),
        (
            {"batch": BOTH["batch"]},
            "No limit is set on what is learnt about an answer by: clients",
            "met",
        ),
        (BOTH, "Met, the plan's own limits: 2 of 2 by proof.", "met"),
        (BOTH | {"collusion": {"max_epsilon": 0.1}}, "Not met: 1 of 3 limits", "NOT MET"),
        (
            {"batch": {"max_epsilon": 100.0}},
            "No limit is set on what is learnt about an answer by: batch",
            "met, limits nothing: epsilon_local alone gives",
        ),
        (
            {"collusion": {"max_epsilon": 100.0}},
            "No limit is set on what is learnt about an answer by: batch",
            "met, limits",
        ),
    ],
)
def test_the_verdict_comes_first_and_a_plan_never_turns_itself_green(
    ladder_of, limits, expected, verdict
):
    ladder = ladder_of("nobody-corrupt")
    plan = ladder.plan.replace(policy=limits)
    root = _read(explain(replace(ladder, plan=plan)))
    assert _text(_verdict(root)).startswith(expected)
    entries = [_text(node) for node in root.iter("td") if node.get("data-label") == "verdict"]
    assert any(entry.startswith(verdict) for entry in entries) if verdict else not entries
    assert _verdict(root).get("class") != "verdict met"


def _verdict(root):
    (verdict,) = (n for n in root.iter("p") if (n.get("class") or "").startswith("verdict"))
    return verdict


@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize(
    ("limits", "kind", "expected"),
    [
        ({}, "no-limits", "No limit is set on what is learnt about an answer by: batch"),
        (BOTH, "met", "All 2 limits of Privacy office are met by proof."),
        (BOTH | {"collusion": {"max_epsilon": 0.1}}, "not-met", "Not met: 1 of 3 limits"),
        (
            {"collusion": {"max_epsilon": 100.0}},
            "no-limits",
            "No limit is set on what is learnt about an answer by: batch",
        ),
    ],
)
def test_limits_of_an_organisation_may_be_green(ladder_of, limits, kind, expected):
    ladder = ladder_of("nobody-corrupt")
    policy = Policy.from_document({"schema": 1, "owner": "Privacy office", "policy": limits})
    verdict = _verdict(_read(explain(ladder, checked(ladder, policy))))
    assert verdict.get("class") == f"verdict {kind}"
    assert _text(verdict).startswith(expected)


@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize(
    ("name", "rung"), [("mallows", "clients"), ("same-operators", "collusion")]
)
def test_what_nothing_is_proved_about_is_not_green(ladder_of, name, rung):
    """A policy may be met and leave out what is not bounded."""
    ladder = ladder_of(name)
    limits = {each: {"max_guess_of_two": 0.99} for each in ("batch", rung)}
    found = checked(ladder, Policy.from_document({"schema": 1, "policy": limits}))
    assert found.met
    verdict = _verdict(_read(explain(ladder, found)))
    assert verdict.get("class") == "verdict partly"
    assert f"No limit is proved against {rung} for: re-identified." in _text(verdict)


def test_every_cell_is_in_the_ladder_and_in_the_appendix(page, ladder_of):
    ladder = ladder_of("mallows")
    root = _read(page("mallows"))
    marked = list(root.iter("data"))
    commands = {_text(node) for node in root.iter("code")}
    for rung in ladder.plan.rungs:
        for metric in ladder[rung].cells:
            assert f"croupier assess small.toml --rung {rung} --metric {metric}" in commands
            proved = ladder[rung][metric].proved
            found = {
                node.get("data-form"): float(node.get("value"))
                for node in marked
                if (node.get("data-rung"), node.get("data-metric")) == (rung, metric)
            }
            if proved is None:
                assert "cell" not in found
            else:
                assert found["cell"] == proved.value
                assert found["lower" if metric.protects else "upper"] == proved.value


def test_what_is_not_promised_is_said(page):
    text = _text(_read(page("uniform")))
    assert "Not limited: what the figures show about people like you." in text
    assert "Participation. Who takes part" in text
    assert "Facts about groups." in text


def test_the_same_plan_gives_the_same_page(ladder_of):
    first, second = (explain(ladder_of("reused")) for _ in range(2))
    assert first == second


@pytest.mark.usefixtures("without_plots")
def test_texts_are_escaped(ladder_of):
    page = explain(ladder_of("none"), file='<b>&".toml')
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;" in page


HOSTILE = '<script>alert("&\'")</script>'


@pytest.mark.usefixtures("without_plots")
def test_a_name_and_labels_that_are_markup_stay_text(ladder_of):
    mechanism = {"mechanism": "k-rr", "labels": [HOSTILE, "no"], "max_epsilon_local": 1.5}
    sample = {"model": "subsample", "repeats": 1}
    plan = ladder_of("uniform").plan.replace(randomizer=mechanism, participation=sample)
    ladder = assess(plan)
    # No plan file has such a name, so that plots and figures of plans like it are left out.
    plan = plan.model_copy(update={"name": HOSTILE})
    page = explain(replace(ladder, plan=plan), file=f"{HOSTILE}.toml")
    root = _read(page)
    assert "<script" not in page
    assert not list(root.iter("script"))
    for name in ("title", "h1"):
        assert _text(next(root.iter(name))).startswith(HOSTILE)
    commands = {_text(node) for node in root.iter("code")}
    assert f"croupier assess {shlex.quote(f'{HOSTILE}.toml')}" in commands


@pytest.mark.parametrize("name", ["page.html", "ladder.html", "limits.html", "engineers.html"])
def test_a_template_that_lacks_a_value_is_an_error(name):
    with pytest.raises(UndefinedError):
        templates().get_template(name).render()


def test_attributes_of_a_sentence_are_escaped():
    number = Number(value=0.5, metric=Metric.EPSILON, rung=f'"{HOSTILE}')
    said = templates().get_template("macros.html").module.said(Sentence("a < b, ", number))
    node = ET.fromstring(f"<p>{said}</p>")  # noqa: S314 - ours
    assert node.text == "a < b, "
    assert node[0].get("data-rung") == f'"{HOSTILE}'


def test_without_matplotlib_the_error_is_the_install_command(ladder_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[plots\]'"):
        explain(ladder_of("uniform"))


def test_without_jinja_the_error_is_the_install_command(ladder_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    templates.cache_clear()
    with pytest.raises(MissingExtraError, match=r"needs jinja2.*pip install '\.\[plots\]'"):
        explain(ladder_of("uniform"))


def test_the_package_is_imported_without_jinja():
    program = "import sys, croupier; sys.exit('jinja2' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_row_is_described_alike_in_every_table(page):
    text = page("uniform")
    assert text.count("also controls 10 % of the clients") > 4
    assert "controls some of the clients" not in text
