"""The page as PDF and Markdown, and the words of a plan in both."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.documents.explain.page import Explanation, explain, explain_in_markdown
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from tests.nasty_plan import nasty_ladder

HOSTILE = "<script>x</script> [a](b) `c` | *d*"
EXAMPLES = Path(__file__).parents[4] / "examples" / "plans"


def test_every_word_of_a_plan_is_escaped_in_markdown():
    record = dict.fromkeys(("controller", "legal_basis", "retention", "contact", "rights"), HOSTILE)
    question = {"text": HOSTILE, "mechanism": "k-rr", "max_epsilon_local": 1.0}
    plan = Plan.from_document(
        {
            "schema": 2,
            "title": HOSTILE,
            "purpose": HOSTILE,
            "questions": [question | {"labels": [HOSTILE, "no"]}],
            "population": {"enrolled": 900},
            "protections": {"minimum_batch": 500},
            "shufflers": [{"operator": HOSTILE}],
            "analyzer": {"operator": f"{HOSTILE} too"},
            "admission": {"by": "token", "operator": f"{HOSTILE} i", "relay": f"{HOSTILE} r"},
            "record": record | {"processors": [HOSTILE]},
        }
    )
    text = explain_in_markdown(assess(plan), file=f"{HOSTILE}.toml")
    assert len(re.findall(r"\\<script\\>", text)) > 15
    assert not re.search(r"(?<!\\)<script|(?<!\\)\[a|(?<!\\)`c|(?<!\\)\*d", text)


def test_a_file_is_written_as_its_name_ends(tmp_path):
    made = Explanation(None, "<p>page</p>", "# page\n")
    for name, start in {"a.html": b"<p>", "b.md": b"# page", "c.pdf": b"%PDF"}.items():
        if name.endswith("pdf"):
            pytest.importorskip("weasyprint")
        made.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(ParameterError, match=r"\.html, \.pdf or \.md"):
        made.save(tmp_path / "d.txt")


@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize(
    "name", ["uniform", "nasty", *(path.stem for path in EXAMPLES.glob("*.toml"))]
)
def test_in_pdf_the_summary_is_on_one_sheet(ladder_of, name):
    weasyprint = pytest.importorskip("weasyprint")
    if name == "nasty":
        ladder = nasty_ladder()
    elif name == "uniform":
        ladder = ladder_of(name)
    else:  # the texts of the example, beside the numbers of a small plan
        ladder = _as_if(ladder_of("uniform"), Plan.load(EXAMPLES / f"{name}.toml"))
    page = explain(ladder)
    end = page.index("</section>", page.index('<section id="asked">')) + len("</section>")
    pages = weasyprint.HTML(string=f"{page[:end]}</main></body></html>").render().pages
    assert next(number for number, sheet in enumerate(pages, 1) if "asked" in sheet.anchors) == 2


def _as_if(ladder, plan):
    found = replace(ladder, plan=plan)
    vars(found).update(repeated=ladder.repeated, everybody=ladder.everybody)
    return found
