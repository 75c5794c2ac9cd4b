import json
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("look.cjs")
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "needs chromium, and npm install playwright-core axe-core"


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def look(browser):
    """What a desktop, a tablet, a phone and a printer show of a page."""

    def seen(url):
        node, chromium = browser
        command = [node, SCRIPT, chromium, url]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
        return json.loads(done.stdout)

    return seen
