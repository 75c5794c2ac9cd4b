"""The page of a plan in a real browser: nothing fetched, nothing cut off, readable by all."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from croupier.assessment.ladder import assess
from croupier.documents.explain import explain
from croupier.model.plan import Plan

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PLAN = """
schema = 1
name = "a-collection-with-quite-a-long-name-that-must-break-somewhere"
randomizer = {mechanism = "k-rr", k = 2, epsilon_local = 1.5}
population = {enrolled = 1_000_000, corrupt_fraction = 0.05}
protections.minimum_batch = 200_000
policy.batch = {max_epsilon = 0.1, max_reidentification = 5e-4}
"""
MALLOWS = f"""
[shuffler]
order = "mallows"
alpha = 4.0
groups = {{sha256 = "{"0f" * 32}", sensitivity = 24_627}}
"""
SCRIPT = Path(__file__).with_name("look.cjs")
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "needs chromium, and npm install playwright-core axe-core"


@pytest.fixture(scope="module")
def browser():
    """The path of the browser, where it and what drives it are installed."""
    node = shutil.which("node")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if node is None or found is None:
        pytest.skip(MISSING)
    needed = "require.resolve('playwright-core'); require.resolve('axe-core')"
    command, folder = [node, "-e", needed], SCRIPT.parent
    if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip(MISSING)
    return node, found


@pytest.fixture(scope="module", params=["uniform", "mallows"])
def seen(browser, request, tmp_path_factory):
    """What a desktop, a phone and a printer show of a page."""
    plan = Plan.from_toml(PLAN + (MALLOWS if request.param == "mallows" else ""))
    path = tmp_path_factory.mktemp("page") / "explain.html"
    path.write_text(explain(assess(plan), file="a-plan.toml"), encoding="utf-8")
    node, chromium = browser
    command = [node, SCRIPT, chromium, path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return path.as_uri(), json.loads(done.stdout)


@pytest.mark.parametrize("device", ["desktop", "phone", "print"])
def test_the_page_asks_for_nothing_and_complains_of_nothing(seen, device):
    url, looks = seen
    assert looks[device]["requests"] == [url]
    assert looks[device]["messages"] == []


@pytest.mark.parametrize("device", ["desktop", "tablet", "phone", "print"])
def test_nothing_is_cut_off(seen, device):
    assert seen[1][device]["overflow"] == 0


def test_tables_are_cards_on_a_phone_only(seen):
    assert [seen[1][device]["cards"] for device in ("desktop", "phone")] == [False, True]


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_axe_finds_nothing_serious(seen, device):
    serious = [
        entry for entry in seen[1][device]["findings"] if entry["impact"] in ("serious", "critical")
    ]
    assert not serious
