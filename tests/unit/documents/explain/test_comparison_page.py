"""The page of a change, for its reviewers."""

from xml.etree import ElementTree as ET

from croupier.assessment.compare import compare
from croupier.documents.explain.comparison.page import comparison_page

HOSTILE = "<script>x</script>"


def test_a_change_is_told_and_its_words_stay_words(ladder_of):
    before = ladder_of("uniform").plan.replace(
        policy={"batch": {"max_epsilon": 1.0}, "clients": {"max_epsilon": 1.0}}
    )
    after = before.replace(title=HOSTILE, protections__minimum_batch=1_000, policy={})
    page = comparison_page(compare(before, after))
    root = ET.fromstring(page.partition("\n")[2])  # noqa: S314 - a page of ours
    text = " ".join("".join(root.itertext()).split())
    assert not list(root.iter("script"))
    assert f"{HOSTILE}: what changes" in text
    for words in ("protections.minimum_batch", "worse", "removed", "clients need the new plan"):
        assert words in text
    assert "verdict partly" in {node.get("class") for node in root.iter("p")}


def test_no_change_is_told(ladder_of):
    plan = ladder_of("uniform").plan.replace(
        policy={"batch": {"max_epsilon": 1.0}, "clients": {"max_epsilon": 1.0}}
    )
    page = comparison_page(compare(plan, plan))
    assert "No key of the plan changes." in page
    assert "No limit changes." in page
    assert 'class="verdict own-limits"' in page
