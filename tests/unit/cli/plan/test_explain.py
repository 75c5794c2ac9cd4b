import math
import shlex
import sys
from xml.etree import ElementTree as ET

import pytest

from croupier.documents.explain.templates import templates
from croupier.model.rung import LUCK

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.5}
population = {enrolled = 5_000, corrupt_fraction = 0.1}
protections.minimum_batch = 2_000
guarantee.delta = 1e-6
policy.batch = {max_epsilon = 4.0, min_bayes_security = 0.9}
policy.collusion = {max_epsilon = 1.0}
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(PLAN)
    return path


def test_words(croupier, plan):
    outcome = croupier("explain", plan.name)
    assert outcome.code == 0
    assert outcome.out == (
        "Wrote explain.html.\n"
        "NOT MET  1 of 2 limits; 1 more limits nothing. Next: croupier check small.toml\n"
    )
    assert not outcome.err
    assert (plan.parent / "explain.html").read_text().startswith("<!DOCTYPE html>")


def test_a_plan_without_limits(croupier, plan):
    plan.write_text(PLAN.partition("policy")[0])
    outcome = croupier("explain", plan.name)
    assert outcome.out == (
        "Wrote explain.html.\nNO LIMIT SET on batch and clients. Next: croupier check small.toml\n"
    )


def test_document(croupier, plan):
    document = croupier("explain", plan.name, "-o", "page.html", "--json").document
    assert document["schema_version"] == 2
    assert document["file"] == "page.html"
    assert (document["limits"], document["limits_met"]) == (3, 2)
    assert len(document["plan_digest"]) == 64


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("small.toml", "-o", "page.txt"), "`--output` must end in .html"),
        (("missing.toml",), "missing.toml"),
        (("small.toml", "-o", "nowhere/page.html"), "nowhere"),
    ],
)
def test_errors(croupier, plan, arguments, expected):
    outcome = croupier("explain", *arguments)
    assert outcome.code
    assert expected in outcome.err
    assert [path.name for path in plan.parent.iterdir()] == ["small.toml"]


@pytest.mark.parametrize("module", ["matplotlib.figure", "jinja2"])
def test_without_the_extra_the_error_is_the_install_command(croupier, plan, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    templates.cache_clear()
    outcome = croupier("explain", plan.name)
    assert outcome.code == 1
    assert "pip install '.[plots]'" in outcome.err


@pytest.mark.slow
def test_every_number_is_proved_again_by_its_command(croupier, plan, monkeypatch):
    """Each printed command is run; all numbers of the page follow from what they print."""
    plan.write_text(f"{PLAN}collection.rounds = 2")
    assert croupier("explain", plan.name, "--quiet").code == 0
    root = ET.fromstring((plan.parent / "explain.html").read_text().partition("\n")[2])  # noqa: S314 - a page of ours
    _prove_each_plan_once(monkeypatch)
    cells, others = {}, {}
    for command in {"".join(node.itertext()) for node in root.iter("code")}:
        if not command.startswith("croupier "):
            continue
        found = croupier(*shlex.split(command)[1:], "--json").document
        if "--rung" not in command:
            known = {"repeated": "repeated", "enrolled": "everybody"}
            others = {name: found[key]["epsilon_upper"] for name, key in known.items()}
            continue
        (rung,) = found["rungs"]
        (cell,) = rung["cells"]
        cells[rung["rung"], cell["metric"]] = cell
    marked = list(root.iter("data"))
    assert len(marked) > 150
    for node in marked:
        rung, metric = node.get("data-rung"), node.get("data-metric")
        value = float(node.get("value"))
        if rung == LUCK:
            blind = {"epsilon": 0.0, "reidentification": 1 / 2000, "bayes_security": 1.0}
            assert value == pytest.approx(blind.get(metric, 0.5))
        elif rung in others:
            assert value == others[rung]
        else:
            low = node.get("data-form") == "lower" or (
                metric == "bayes_security" and node.get("data-form") != "upper"
            )
            assert value == cells[rung, metric]["lower" if low else "upper"]
        assert _read(node.text) == pytest.approx(_meant(value, node.get("data-form")), rel=0.0101)


def _prove_each_plan_once(monkeypatch):
    """The proofs of one plan are the same for every cell that is asked for."""
    from croupier.cli.plan import assess as module  # noqa: PLC0415

    kept, prove = {}, module.assess
    monkeypatch.setattr(
        module,
        "assess",
        lambda plan: kept.get(plan.digest) or kept.setdefault(plan.digest, prove(plan)),
    )


def _meant(value, form):
    return {
        "ratio": math.exp,
        "odds in some round": lambda chance: 1 - (1 - chance) ** 2,
        "odds in two rounds": lambda chance: chance**2,
    }.get(form, float)(value)


def _read(text):
    """The printed number; the far end of a range."""
    text = text.removeprefix("<= ").rpartition("-")[2] if "e-" not in text else text
    text = text.removeprefix("at most ")
    if text in ("certain", "no protection", "never"):
        return float(text != "never")
    if text.startswith("1 in "):
        return 1 / float(text[5:].replace(",", ""))
    if text.endswith(" %"):
        return float(text[:-2]) / 100
    return float(text)
