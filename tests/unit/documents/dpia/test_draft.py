"""The draft has every part, states what is proved, and keeps words of a plan words."""

import re
import sys

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.documents.dpia.draft import dpia, gaussian_rows
from croupier.documents.dpia.page import page
from croupier.documents.dpia.written import markdown_templates
from croupier.documents.pdf import pdf_of
from croupier.errors import MissingExtraError
from croupier.plan.plan import Plan

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.5}
population = {enrolled = 5_000, corrupt_fraction = 0.1}
protections.minimum_batch = 2_000
guarantee.delta = 1e-6
policy.batch = {max_epsilon = 0.01}
"""
EVIL = "a|b <script>x</script> *c* [d](http://e.example) `f` # **TO FILL IN:** g"
PARTS = [
    "1. Description of the processing",
    "2. Purpose, necessity and proportionality",
    "3. Consultation",
    "4. Risks to people",
    "5. Measures",
    "6. Residual risk",
    "7. Sign-off",
    "Appendix: the trade-off curve beside epsilon",
]


def _draft(plan):
    ladder = assess(plan)
    return dpia(ladder, checked(ladder), gaussian=gaussian_rows(ladder))


@pytest.fixture(scope="module")
def bare():
    return _draft(Plan.from_toml(PLAN))


@pytest.fixture(scope="module")
def hostile():
    plan = Plan.from_toml(PLAN).replace(
        title=EVIL,
        purpose=EVIL,
        randomizer__text=EVIL,
        shufflers__operator=EVIL,
        analyzer__operator=EVIL + " too",
        record={
            "controller": EVIL,
            "processors": [EVIL],
            "legal_basis": EVIL,
            "retention": EVIL,
            "contact": EVIL,
            "rights": EVIL,
            "date": "2026-11-15",
        },
    )
    return _draft(plan)


def test_every_part_is_there(bare):
    assert re.findall(r"^## (.*)$", bare, re.MULTILINE) == PARTS


def test_every_table_has_rows_of_one_width(bare, hostile):
    for draft in (bare, hostile):
        for block in re.split(r"\n\n+", draft):
            if block.startswith("|"):
                rows = [re.sub(r"\\.", "", line).count("|") for line in block.splitlines()]
                assert len(set(rows)) == 1, block


def test_every_adversary_stands_beside_luck(bare):
    risks = bare.partition("## 4.")[2].partition("## 5.")[0]
    assert len(re.findall(r"^### 4\.\d ", risks, re.MULTILINE)) == 6
    for section in re.split(r"^### ", risks, flags=re.MULTILINE)[1:]:
        assert "by luck alone" in section
        assert "**TO FILL IN:** remote, possible or probable" in section


def test_what_the_plan_does_not_say_is_to_be_filled_in(bare, hostile):
    for gap in ("who decides what is collected", "what permits", "what the answers are for"):
        assert f"**TO FILL IN:** {gap}" in bare
        assert f"**TO FILL IN:** {gap}" not in hostile


def test_the_verdict_and_the_digest_are_signed(bare):
    signed = bare.partition("## 7.")[2]
    assert "Not met: 1 of 1 limits is not proved to be kept." in signed
    assert "NOT MET" in signed
    assert Plan.from_toml(PLAN).digest in signed
    assert "| role | name | date | signature |" in signed


def test_words_of_a_plan_stay_words(hostile):
    shown = page(hostile)
    assert "<script" not in shown
    assert "<em>c</em>" not in shown
    assert 'href="http' not in shown
    assert "&lt;script&gt;x&lt;/script&gt;" in shown
    open_lines = shown.count('<strong class="open">')
    assert open_lines == hostile.count("**TO FILL IN:** ")  # not the words of the plan


def test_the_page_needs_nothing_else(bare):
    shown = page(bare)
    assert shown.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in shown
    assert "<title>Data protection impact assessment (draft)" in shown
    assert shown.count("<table>") == shown.count("</table></div>") > 10
    assert not re.search(r"(src|href)=\"(?!data:)", shown)


def test_the_page_prints(bare):
    pytest.importorskip("weasyprint")
    assert pdf_of(page(bare)).startswith(b"%PDF")


@pytest.mark.parametrize(
    ("module", "call"), [("jinja2", markdown_templates), ("markdown_it", lambda: page("# x"))]
)
def test_without_the_extra_the_error_is_the_install_command(monkeypatch, module, call):
    monkeypatch.setitem(sys.modules, module, None)
    markdown_templates.cache_clear()
    with pytest.raises(MissingExtraError, match="plots"):
        call()
