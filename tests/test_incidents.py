"""Every incident has a page and an alert; dashboard and alerts use metrics that there are."""

import json
import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from croupier.cli.app import app
from croupier.hosting.database import errors
from croupier.hosting.incidents import INCIDENTS, MET_BY_RELEASE
from croupier.shuffler.http import board

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs/incidents"
ALERTS = ROOT / "deploy/prometheus"
DASHBOARD = json.loads((ROOT / "deploy/grafana/croupier.json").read_text())
SECTIONS = [
    "What you see",
    "What it means",
    "What to do",
    "When it is over",
    "If that does not help",
]

promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is missing (Debian: apt install prometheus)"
)


@pytest.fixture(scope="module")
def written():
    """What scripts/alerts makes of the list of incidents."""
    return runpy.run_path(str(ROOT / "scripts/alerts"))


def page(name):
    return (PAGES / f"{name}.md").read_text()


def section(name, title):
    return page(name).partition(f"## {title}\n")[2].partition("\n## ")[0]


def blocks(text):
    """Blocks of commands, also in lists, as they are pasted."""
    return re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)


def test_every_incident_has_a_page_and_no_page_is_left_over():
    assert {path.stem for path in PAGES.glob("*.md")} == {*INCIDENTS, "index"}


@pytest.mark.parametrize("name", INCIDENTS)
def test_a_page_has_all_sections_and_commands(name):
    text = page(name)
    assert text.startswith(f"# {INCIDENTS[name].summary}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert re.findall(r"^(\d)\. ", section(name, "What to do"), re.MULTILINE)[:2] == ["1", "2"]
    assert blocks(section(name, "What to do"))
    assert 15 <= len(text.splitlines()) <= 45


@pytest.mark.parametrize("name", INCIDENTS)
def test_a_page_names_its_alerts(name, written):
    named = set(re.findall(r"`(Croupier\w+)`", section(name, "What you see")))
    assert named == {each.name for each in written["alerts"]() if each.incident.name == name}


def test_the_index_lists_all_with_their_first_steps():
    rows = [
        f"| [{each.name}]({each.name}.md) | {each.summary} | {each.step} | "
        f"{'yes' if each.refuses_reports else 'no'} |"
        for each in INCIDENTS.values()
    ]
    assert re.findall(r"^\| \[.*$", page("index"), re.MULTILINE) == rows
    assert page("index").endswith("\n".join(["", *INCIDENTS, "```\n"]))


@pytest.mark.parametrize("name", INCIDENTS)
def test_commands_are_shell_and_their_options_exist(name):
    for block in blocks(page(name)):
        done = subprocess.run(
            ["/bin/bash", "-n"], input=block, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        for command in re.findall(r"(?:^ *|\$\()(croupier [^|&;)\n]*)", block, re.MULTILINE):
            _require_known(shlex.split(command)[1:])


@pytest.mark.parametrize("name", INCIDENTS)
def test_a_command_that_asks_is_the_last_of_its_block(name):
    """It would read the lines that were pasted after it."""
    for block in blocks(page(name)):
        *before, _ = block.splitlines()
        assert not any("croupier recover" in line and "--yes" not in line for line in before)


def _require_known(words):
    found = get_command(app)
    while hasattr(found, "commands") and words[0] in found.commands:
        found, words = found.commands[words[0]], words[1:]
    known = {flag for parameter in found.params for flag in parameter.opts}
    used = {word for word in words if word.startswith("-")}
    assert used <= known, used - known


def test_a_command_that_does_not_exist_is_noticed():
    _require_known(["release", "--plan", "plan.toml", "-o", "released"])
    with pytest.raises(AssertionError):
        _require_known(["release", "--dispose"])


def told():
    """Pairs of an incident and a sentence that readiness tells about it."""
    names = "|".join(INCIDENTS)
    for path in (ROOT / "src/croupier/shuffler").rglob("*.py"):
        if path.name != "incidents.py":
            pairs = rf'"({names})",\s*((?:f?"[^"]* [^"]*"\s*)+)'
            yield from re.findall(pairs, path.read_text())
    yield from ((each.incident, each.sentence) for each in vars(errors).values() if is_cause(each))
    yield from (("no-round", each) for each in (board._NO_ROUND, board._RECOVERED))  # noqa: SLF001


def is_cause(found):
    return isinstance(found, errors.Cause)


def test_every_sentence_of_readiness_is_on_the_page_of_its_incident():
    found = set(told())
    assert {"stale", "witness", "signed-files", "disk-full"} < {name for name, _ in found}
    for name, sentence in found:
        shown = _words(page(name))
        for part in re.split(r"\{.*?\}", sentence):
            assert _words(part) in shown, (name, sentence)


def test_sentences_of_readiness_are_those_of_the_program():
    """A page quotes /readyz with "…" in place of names and numbers."""
    sources = _words("".join(path.read_text() for path in (ROOT / "src").rglob("*.py")))
    for name in INCIDENTS:
        lines = " ".join(section(name, "What you see").split()).split("- ")
        told = " ".join(line for line in lines if line.startswith("`/readyz`"))
        for quoted in re.findall(r'"([^"]+)"', told):
            for part in re.split(r"…(?:\.tag)?|\(.*\)", quoted):
                assert _words(part) in sources, (name, quoted)


def _words(text):
    """The words of a text, or of the strings in a source, without what is filled in."""
    text = re.sub(r"\{[^{}\n]*\}", " ", text)
    text = re.sub(r"\"\s*\n\s*f?\"", "", text)
    text = re.sub(r"\bf\"", '"', text)
    return " ".join(re.findall(r"[a-z]+", text.lower()))


def test_pages_that_are_named_exist():
    texts = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    texts += (ROOT / "deploy").rglob("*.md")
    named = {
        found
        for path in texts
        for found in re.findall(r"docs/incidents/([a-z-]+)(?:\.md)?\b", path.read_text())
    }
    assert named
    assert named <= {*INCIDENTS, "index"}


def test_the_alerts_are_those_that_the_incidents_make(written):
    for name, text in written["files"]().items():
        assert (ALERTS / name).read_text() == text, "run scripts/alerts"


def test_every_alert_has_a_page_and_every_incident_an_alert(written):
    named = re.findall(r'page: "(.*)"', (ALERTS / "alerts.yml").read_text())
    assert {*named} == {each.page for each in INCIDENTS.values()}
    assert all((ROOT / f"docs/{each}.md").is_file() for each in named)
    assert len(named) == len(written["alerts"]())


@promtool
def test_alerts_fire_as_their_tests_say():
    command = ["promtool", "test", "rules", ALERTS / "alerts.test.yml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_incident_that_release_meets_is_one_that_it_can_tell():
    """A name that is missing would end a run while it prints why a batch is held."""
    found = set()
    for path in (ROOT / "src/croupier/shuffler/release").glob("*.py"):
        named = re.findall(r'incident(?:, problem)? ?= ?"([a-z-]+)"', path.read_text())
        named += re.findall(r'return "([a-z-]+)", (?:\(|str|f?")', path.read_text())
        found |= set(named)
    assert {"hand-over", "clock", "passphrase"} <= found
    assert found <= {*MET_BY_RELEASE}


def expressions():
    """The PromQL expressions of the dashboard."""
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


@promtool
def test_prometheus_accepts_the_dashboard_and_the_sample(tmp_path):
    rules = [{"record": f"panel:{place}", "expr": text} for place, text in enumerate(expressions())]
    assert len(rules) >= len(DASHBOARD["panels"])
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    for command in (
        ["promtool", "check", "rules", file],
        ["promtool", "check", "config", ALERTS / "prometheus.yml"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_metrics_that_are_used_are_exported():
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    exported = set(re.findall(r'"(croupier_[a-z_]+)"', sources))
    used = [*expressions(), (ALERTS / "alerts.yml").read_text(), (ALERTS / "README.md").read_text()]
    names = set(re.findall(r"\bcroupier_[a-z_]+", " ".join(used)))
    assert "croupier_incident" in names
    assert {name.removesuffix("_total") for name in names} <= exported


def test_the_dashboard_has_the_panels_that_an_operator_needs():
    shown = " ".join(expressions())
    for metric in (
        "croupier_incident",
        "croupier_release_incident",
        "croupier_fill_deciles",
        "croupier_answers_total",
        "croupier_envelopes_total",
        "croupier_commits_total",
        "croupier_release_last_run_timestamp_seconds",
        "croupier_certificate_expiry_timestamp_seconds",
    ):
        assert metric in shown
    places = [tuple(panel["gridPos"].values()) for panel in DASHBOARD["panels"]]
    assert len(set(places)) == len(places)
    assert all(panel["description"] for panel in DASHBOARD["panels"])
