"""Starting: nothing heavy is imported before a command needs it, and help is whole."""

import os
import subprocess
import sys
from importlib import import_module

import pytest

from croupier.cli.group import _COMMANDS

HEAVY = ("numpy", "scipy", "pydantic", "cryptography", "rich", "matplotlib", "narwhals")
PROGRAM = "import sys; sys.argv[0] = 'croupier'; from croupier.cli import main; main()"
PROOFS = ("scipy", "croupier.accounting", "croupier.assessment", "croupier.leakage")
GROUPS = ["plan", "leakage", "sidechannels", "mallows", "keys", "credentials", "receipt", "audit"]


def loaded_after(program, packages=HEAVY):
    """Which of some packages a program has imported when it ends."""
    report = (
        "import atexit, sys\n"
        "def report():\n"
        f"    print([name for name in {packages!r} if name in sys.modules])\n"
        "atexit.register(report)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", report + program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "program",
    [
        "import croupier",
        "import sys; sys.argv = ['croupier', '--help']; from croupier.cli import main; main()",
    ],
)
def test_nothing_heavy_is_imported(program):
    assert loaded_after(program) == "[]"


@pytest.mark.parametrize("command", ["serve", "release", "submit", "mirror", "keys create"])
def test_what_runs_proves_nothing(command):
    """A contract does not see what the package of an imported module imports."""
    arguments = ["croupier", *command.split(), "--help"]
    program = f"import sys; sys.argv = {arguments!r}; from croupier.cli import main; main()"
    assert loaded_after(program, PROOFS) == "[]"


@pytest.mark.parametrize(
    "module", ["hosting.http.server", "shuffler.http.worker", "shuffler.release.release"]
)
def test_a_shuffler_that_runs_proves_nothing(module):
    """What a command imports once it runs."""
    assert loaded_after(f"import croupier.{module}", PROOFS) == "[]"


def test_the_check_sees_what_is_imported():
    assert "numpy" in loaded_after("import croupier; croupier.bracket")
    ladder = "import croupier.assessment.ladder.ladder"
    assert loaded_after(ladder, PROOFS) == str(list(PROOFS))


@pytest.mark.parametrize("arguments", [(), *((group,) for group in GROUPS)])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_never_cut(croupier, arguments, flag):
    text = croupier(*arguments, flag).out
    assert "Commands:" in text
    assert "..." not in text.partition("Commands:")[2]


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_help_and_an_example(croupier, name):
    module, summary = _COMMANDS[name]
    found = import_module(f"croupier.cli.{module}")
    assert summary.endswith(".")
    assert len(summary) + len("  sidechannels  ") <= 80
    assert hasattr(found, "app") or "Example: croupier" in found.HELP
    assert croupier(name, "-h").out.startswith(f"Usage: croupier {name}")


def test_a_command_that_does_not_exist_is_corrected(croupier):
    assert "Did you mean 'assess'?" in croupier("asses").err


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["as"], "assess"), (["assess", "--met"], "--metric"), (["keys", "cr"], "create")],
)
def test_bash_completes(words, expected):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ
        | {
            "_CROUPIER_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["croupier", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert expected in done.stdout.split()
