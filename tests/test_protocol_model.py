"""A model of two shufflers in a row, searched exhaustively by spin; mutations of it must fail."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MODEL = Path(__file__).parent / "model" / "two_shufflers.pml"

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(
        shutil.which("spin") is None or shutil.which("gcc") is None,
        reason="spin or gcc is missing (Debian: apt install spin gcc)",
    ),
]

HONEST = ("RESENDS=0", "HOLDS=0", "LIES=0")
ALONE = (*HONEST, "RESTORES=0", "KILLS=0")
TWO_ROUNDS = ("ROUNDS=2", "MINIMUM=1", "HOLDS=0", "KILLS=1")

CYCLE, STUCK = "non-progress cycle", "invalid end state"

CASES = {
    "two kills": ("KILLS=2",),
    "one person suffices": ("KILLS=1", "MINIMUM=1"),
    "two release jobs at once": ("KILLS=1", "JOBS=2", "LIES=0"),
    "two rounds, a database set back": (*TWO_ROUNDS, "LIES=0", "RESENDS=0"),
    "two rounds, a corrupt first shuffler": (*TWO_ROUNDS, "RESTORES=0"),
}
"""By name, the budgets of a search that must find nothing."""


UNREACHED = re.compile(r'^\t\S*\.pml:(\d+), state \d+, "(.*)"$', re.MULTILINE)
"""A statement that is never executed, as the verifier lists it."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a search.

    Attributes:
        errors: The number of errors; a search ends with the first.
        complaint: The property that is violated, or the kind of error; empty if there is none.
        states: The number of states.
        unreached: The lines and statements that are never executed.
    """

    errors: int
    complaint: str
    states: int
    unreached: frozenset[tuple[str, str]]


def run(command, folder):
    """Run a command that must succeed, and return what it prints."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@cache
def search(*names, only=""):
    """Generate the verifier with some names defined, compile it and run it to its end.

    Args:
        names: Budgets, of which the last of a name counts, and mutations of the model.
        only: CYCLE for runs that never end, STUCK for states without a way on; else properties
            and states without a way on.
    """
    defined = list({name.partition("=")[0]: f"-D{name}" for name in names}.values())
    kind = "-DNP" if only == CYCLE else "-DSAFETY"
    asked = {CYCLE: ["-l"], STUCK: ["-A"]}.get(only, [])
    with TemporaryDirectory() as folder:
        run(["spin", "-a", *defined, MODEL], folder)
        # To optimise takes longer than a short search.
        options = ["-O1" if names in CASES.values() else "-O0", "-w", kind, "-DMEMLIM=2000"]
        run(["gcc", *options, "-o", "pan", "pan.c"], folder)
        told = run(["./pan", "-m100000", *asked], folder)
    # A search that stopped early, for want of memory or of depth, says so and proves nothing.
    errors = int(re.search(r"errors: (\d+)", told)[1])
    assert errors or "Search not completed" not in told, told
    assert "max search depth too small" not in told, told
    complaint = re.search(r"^pan:1: (?:assertion violated \W*(\w+)|(.*?) \()", told, re.MULTILINE)
    return Verdict(
        errors=errors,
        complaint="" if complaint is None else complaint[1] or complaint[2],
        states=int(float(re.search(r"([\d.e+]+) states, stored", told)[1])),
        unreached=frozenset(re.findall(UNREACHED, told.replace("(1-1)", "(2-1)"))),  # LAST
    )


@pytest.mark.parametrize("case", CASES)
def test_no_run_violates_a_property_or_ends_without_a_way_on(case):
    found = search(*CASES[case])
    assert (found.errors, found.complaint) == (0, "")
    assert found.states > 500_000


def test_every_run_ends():
    found = search(*HONEST, "KILLS=1", "HOLDS=1", only=CYCLE)
    assert (found.errors, found.complaint) == (0, "")
    assert search("NEVER_OLD", *ALONE, "RESENDS=1", only=CYCLE).complaint == CYCLE


def test_every_statement_is_executed_in_some_search():
    never = frozenset.intersection(*(search(*names).unreached for names in CASES.values()))
    assert {statement for _, statement in never} == {"-end-"}  # of a client, which waits for rounds


@pytest.mark.parametrize(
    ("claim", "names"),
    [
        ("NEVER_RELEASED", (*TWO_ROUNDS, *ALONE)),
        ("NEVER_DISPOSED", ALONE),
        ("NEVER_GIVEN_UP", (*TWO_ROUNDS, *HONEST)),
    ],
)
def test_outcomes_are_reached(claim, names):
    assert search(claim, *names).complaint == "reachable"


@pytest.mark.parametrize(
    ("mutation", "names", "violated"),
    [
        # A database that was set back, with an empty output directory, signs and publishes again.
        ("WITHOUT_WITNESS", (*HONEST, "KILLS=0"), "one_version_published"),
        # What is published before the witness knows of it can be published in another version.
        ("WITNESS_LAST", (*HONEST, "KILLS=1"), "one_version_published"),
        # Under repeatable read, intake stores and acknowledges after the batch was read.
        ("WITHOUT_ISOLATION", (*ALONE, "MINIMUM=1"), "acknowledged_is_released"),
        # The second job removes the draft that the first one signs: nobody has the file.
        ("WITHOUT_LOCK", (*ALONE, "JOBS=2"), STUCK),
        # A lock that outlives its job keeps every later one away.
        ("LOCK_KEPT", (*ALONE, "KILLS=1"), STUCK),
        # A release that is killed and repeated adds other noise to the same reports.
        ("NOISE_REDRAWN", (*ALONE, "KILLS=1"), "drawn_once"),
        # B is killed, A shows it another hand-over, and the same noise is added to that.
        ("HANDOVER_NOT_FROZEN", (*ALONE, "KILLS=1", "LIES=1"), "drawn_once"),
        # B has signed, and A's receipt, asked for again, is in another directory by then.
        ("RECEIPT_ASKED_AGAIN", (*HONEST, "KILLS=1"), STUCK),
        # The key goes when only an unnamed draft holds what it opens.
        ("KEYS_FIRST", ALONE, "durable_before_key_goes"),
        # Killed between the two commits, release signs a second receipt of the batch.
        ("SEPARATE_COMMITS", (*ALONE, "KILLS=1"), "one_receipt_per_batch"),
        # A signs a false refusal, and the report is in the batches of two rounds.
        ("RESEAL", (*TWO_ROUNDS, *ALONE, "LIES=1"), "report_in_one_batch"),
        # A report that was sent again, because no answer came, is released twice.
        ("DUPLICATES_KEPT", (*ALONE, "RESENDS=1"), "report_once_in_a_batch"),
        # A database that was set back is refused for ever.
        ("WITHOUT_RECOVERY", (*HONEST, "KILLS=1"), STUCK),
    ],
)
def test_the_search_catches(mutation, names, violated):
    found = search(mutation, *names, only=STUCK if violated == STUCK else "")
    assert (found.errors, found.complaint) == (1, violated)
