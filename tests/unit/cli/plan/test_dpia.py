import json
import sys

import pytest

from croupier.documents.dpia.written import markdown_templates

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.5}
population = {enrolled = 5_000, corrupt_fraction = 0.1}
protections.minimum_batch = 2_000
guarantee.delta = 1e-6
policy.batch = {max_epsilon = 4.0, min_bayes_security = 0.9}
policy.clients.min_bayes_security = 0.9
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(PLAN)
    return path


def test_words(croupier, plan):
    outcome = croupier("dpia", plan.name)
    assert outcome.code == 0
    draft = (plan.parent / "dpia.md").read_text()
    left = draft.count("**TO FILL IN:**")
    assert outcome.out == f"Wrote dpia.md, a draft. {left} lines are to be filled in.\n"
    assert not outcome.err


@pytest.mark.parametrize(
    ("arguments", "name", "start"),
    [
        (("-o", "page.html"), "page.html", b"<!DOCTYPE html>"),
        (("-o", "draft.txt", "--format", "md"), "draft.txt", b"# Data protection"),
        (("--format", "pdf"), "dpia.pdf", b"%PDF"),
    ],
)
def test_formats(croupier, plan, arguments, name, start):
    assert croupier("dpia", plan.name, *arguments, "--quiet").code == 0
    assert (plan.parent / name).read_bytes().startswith(start)


def test_document(croupier, plan):
    document = croupier("dpia", plan.name, "--json").document
    assert document["file"] == "dpia.md"
    assert document["to_fill_in"] > 10
    assert document["judgement"] == "met"


def test_record(croupier, plan):
    outcome = croupier(
        "dpia", plan.name, "--registry", "--published", "2026-11-17", "--region", "Malta"
    )
    assert outcome.code == 0
    assert outcome.out.startswith("Wrote record.json, a draft. To fill in: basic.data_curators,")
    basic = json.loads((plan.parent / "record.json").read_text())["deployment"]["basic"]
    assert (basic["publication_date"], basic["data_product_region"]) == ("2026-11-17", "Malta")
    found = croupier("dpia", plan.name, "--registry", "--json").document
    assert "basic.publication_date" in found["to_fill_in"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("-o", "draft.txt"), "`--output` must end in .html, .pdf or .md"),
        (("-o", "nowhere/dpia.md"), "nowhere"),
        (("--registry", "-o", "record.md"), "`--output` must end in .json"),
        (("--registry", "--format", "pdf"), "`--format` must be left out"),
        (("--region", "Malta"), "`--registry` must be given"),
    ],
)
def test_errors(croupier, plan, arguments, expected):
    outcome = croupier("dpia", plan.name, *arguments)
    assert outcome.code
    assert expected in outcome.err
    assert [path.name for path in plan.parent.iterdir()] == ["small.toml"]


@pytest.mark.parametrize(
    ("module", "extra"), [("jinja2", "plots"), ("markdown_it", "plots"), ("weasyprint", "pdf")]
)
def test_without_the_extra_the_error_is_the_install_command(
    croupier, plan, monkeypatch, module, extra
):
    monkeypatch.setitem(sys.modules, module, None)
    markdown_templates.cache_clear()
    outcome = croupier("dpia", plan.name, "-o", "dpia.pdf")
    assert outcome.code == 1
    assert f"pip install '.[{extra}]'" in outcome.err
