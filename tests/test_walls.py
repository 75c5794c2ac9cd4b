"""The walls of the house: every contract can fail, and folders stay small enough to read."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "croupier"
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
}
FORBIDDEN = {
    "A package imports only from layers below; packages of one layer do not import each other": (
        "numerics/rounding.py",
        "croupier.cli.app",
    ),
    "Nothing imports from the root": ("model/bracket.py", "croupier"),
    "The four parties share protocol, hosting and engines, and nothing of each other": (
        "client/memory.py",
        "croupier.shuffler.database.store",
    ),
    "What runs proves nothing": ("engines/scratch.py", "croupier.accounting.curve"),
    "Intake and its HTTP service never import release": (
        "shuffler/http/outcomes.py",
        "croupier.shuffler.release.opening",
    ),
    "Intake is blind: it never imports what opens an envelope or makes a report": (
        "shuffler/intake/intake.py",
        "croupier.protocol.wire",
    ),
    "Only release and analyzer import what opens a seal; the demo's referee plays both": (
        "shuffler/http/app.py",
        "croupier.protocol.unsealing",
    ),
    "Only release and what opens rounds import its keys": (
        "shuffler/http/reports.py",
        "croupier.shuffler.release.keys",
    ),
    "A client needs no scipy, no command line, no web server and no database": (
        "client/schedule.py",
        "scipy",
    ),
    "Command-line packages stay in the command line": ("accounting/pair.py", "rich"),
    "Web and database packages stay in hosts and the shuffler, engine packages in the engines": (
        "assessment/policy.py",
        "psycopg",
    ),
}
MOST_FILES = 20
RUNNING = ("analyzer", "client", "engines", "protocol", "shuffler")
VERBS = {
    "plan": {"assess", "attack", "check", "compare", "explain", "explore"},
    "randomizer": {"bracket"},
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """What the linter says of a copy with one forbidden import for every contract, by contract."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(SOURCE, copy / "src" / "croupier")
    shutil.copy(ROOT / "pyproject.toml", copy)
    for file, module in FORBIDDEN.values():
        path = copy / "src" / "croupier" / file
        path.write_text(f"{path.read_text()}\nimport {module}\n")
    linter = "from importlinter.cli import lint_imports_command as run; run()"
    found = subprocess.run(
        [sys.executable, "-c", linter, "--no-logo", "--no-cache"],
        cwd=copy,
        env={"PYTHONPATH": str(copy / "src"), "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1, found.stderr
    _, _, report = found.stdout.partition("Broken contracts")
    names = "|".join(map(re.escape, CONTRACTS))
    parts = re.split(rf"^({names})\n-+\n", report, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_contract_is_broken_on_purpose():
    assert list(FORBIDDEN) == list(CONTRACTS)


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_contract_fails(broken, name):
    file, module = FORBIDDEN[name]
    importer = "croupier." + file.removesuffix(".py").replace("/", ".")
    assert re.search(rf"{re.escape(importer)} -> {re.escape(module)}\b", broken[name])


@pytest.mark.parametrize(
    "folder", [path for path in SOURCE.rglob("*") if path.is_dir() and path.name != "__pycache__"]
)
def test_a_folder_can_be_read(folder):
    files = [path for path in folder.iterdir() if path.is_file()]
    assert folder.name == "randomizers" or len(files) <= MOST_FILES


def verbs_called(source):
    """Find calls such as `plan.assess()` and `self.plan.randomizer.bracket(...)`."""
    for node in ast.walk(ast.parse(source)):
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute):
            continue
        noun = ast.unparse(called.value).rpartition(".")[2].strip("_()")
        if any(name in noun and called.attr in verbs for name, verbs in VERBS.items()):
            yield ast.unparse(called)


def test_no_two_classes_share_a_name():
    """Whoever reads a name in a message or a search knows which class is meant."""
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("package", RUNNING)
def test_what_runs_calls_no_verb_that_proves(package):
    files = list((SOURCE / package).rglob("*.py"))
    assert files
    for file in files:
        assert not list(verbs_called(file.read_text())), file


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("plan.assess()", "plan.assess"),
        ("def run(self):\n    return self._plan.check().met", "self._plan.check"),
        ("print(batch.plan.randomizer.bracket(n=9, delta=1e-6))", "batch.plan.randomizer.bracket"),
        ("[made_plan().attack() for _ in range(2)]", "made_plan().attack"),
    ],
)
def test_a_planted_verb_is_found(planted, found):
    assert list(verbs_called(planted)) == [found]


def test_other_calls_are_no_verbs():
    assert not list(verbs_called("plan.replace(name='a'); receipt.check(); bracket(randomizer)"))


def test_every_upward_import_stands_inside_a_verb():
    for module, verbs in (("plan/plan.py", VERBS["plan"]), ("model/randomizer.py", {"bracket"})):
        tree = ast.parse((SOURCE / module).read_text())
        inside = {
            function.name
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in function.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("croupier.")
        }
        assert inside == verbs
