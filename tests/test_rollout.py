"""The rollout guide, played: version 1 and 2 side by side, then version 2 alone."""

import re
from pathlib import Path

import pytest

from tests.test_operating import played, sections

GUIDE = (Path(__file__).parents[1] / "docs/rollout.md").read_text()


@pytest.mark.slow
def test_the_rollout_works_as_printed_after_the_operating_guide(tmp_path):
    """Every command of the guide, in an empty directory of a machine that has had the other."""
    script = sections()["Before the first round"] + "mkdir ../rollout && cd ../rollout\n"
    script += "".join(re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL))
    printed = played(script, tmp_path)
    old, new = re.search(r"Digest (\w{8}) -> (\w{8}): clients need the new plan", printed).groups()
    assert printed.count("SENT  300 reports") == 3, printed
    assert [printed.count(f"SENT  300 reports, plan {plan}") for plan in (old, new)] == [1, 2]
    for words in ("RELEASED", "Receipt valid", "300 counted", "version 1 was told"):
        assert printed.count(words) == 1, (words, printed)
    assert re.search(rf"This plan was superseded by plan {new}\w{{8}}…: install", printed), printed
    assert f"Plan {old} was superseded by {new}." in printed
