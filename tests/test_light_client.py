"""The files of croupier-client: a closed set that opens nothing and needs no arrays."""

import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "croupier"
WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"][
    "wheel"
]
LISTED = [ROOT / place.removeprefix("/") for place in WHEEL["exclude"]]
VERBS = {
    ("croupier.model.randomizer", "croupier.accounting.amplify"),
    ("croupier.plan.plan", "croupier.assessment.compare"),
    ("croupier.plan.plan", "croupier.assessment.ladder.ladder"),
    ("croupier.plan.plan", "croupier.assessment.policy"),
    ("croupier.plan.plan", "croupier.auditing.attacks.attacks"),
    ("croupier.plan.plan", "croupier.documents.explain.page"),
    ("croupier.plan.plan", "croupier.explorer.widget"),
}
"""Imports of what only croupier has, made when a verb of a plan or a randomizer is called."""

DEVICE = """
import sys
for name in ("narwhals", "numpy", "rich", "scipy", "tomlkit", "typer"):
    sys.modules[name] = None
import os
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from croupier.client import client, conversation, exchange, forward, memory, mirror, relay
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan
from croupier.protocol.wire import Epoch, encode_report, question, seal_report
plan = Plan.from_toml(sys.argv[1])
key = X25519PrivateKey.generate().public_key()
epoch = Epoch.of(plan, round_number=0, batch=os.urandom(16), analyzer=key.public_bytes_raw())
report = question(plan, 0).randomize_one(eval(sys.argv[2]), rng=Keystream())
envelope = seal_report(encode_report(plan, report, round_number=0), key=key, epoch=epoch)
assert len(envelope) == epoch.envelope_length
assert plan.cost[0] > 0
"""
CALIBRATED = "max_epsilon_local = 2"
GRID = f"grid = {{low = 0, high = 4, step = 0.5}}, {CALIBRATED}"
WITHOUT_ARRAYS = {
    "k-rr": (f"k = 5, {CALIBRATED}", 3),
    "memoised-k-rr": (f"k = 5, max_epsilon_permanent = 6, {CALIBRATED}", 3),
    "symmetric-unary": (f"k = 5, {CALIBRATED}", 3),
    "optimized-unary": (f"k = 5, {CALIBRATED}", 3),
    "rappor": (f"k = 5, {CALIBRATED}", 3),
    "local-hashing": (f"k = 5, {CALIBRATED}", 3),
    "hadamard": (f"k = 5, {CALIBRATED}", 3),
    "subset-selection": (f"k = 5, {CALIBRATED}", 3),
    "laplace": (GRID, 1.3),
    "one-bit-mean": (GRID, 1.3),
    "sampled-sign": (f"dimension = 2, {CALIBRATED}", [1, -1]),
    "matrix": ("matrix = [[3, 1], [1, 3]]", 1),
    "parallel": (f'queries = [{{mechanism = "k-rr", k = 5, {CALIBRATED}}}]', [3]),
    "plain": ("k = 5", 3),
}
WITH_ARRAYS = {
    "gaussian": (GRID, 1.3),
    "matrix": ("matrix = [[0.75, 0.25], [0.25, 0.75]]", 1),
}


def run(mechanism, parameters, value):
    dummies = "\nshufflers = [{dummies = {epsilon = 1.0, delta = 1e-8}}]"
    plan = (
        f'schema = 2\nrandomizer = {{mechanism = "{mechanism}", {parameters}}}'
        f"{dummies if mechanism == 'plain' else ''}"
        "\npopulation.enrolled = 100\nprotections.minimum_batch = 50"
    )
    program = [sys.executable, "-c", DEVICE, plan, repr(value)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("mechanism", WITHOUT_ARRAYS)
def test_a_device_randomises_without_arrays(mechanism):
    done = run(mechanism, *WITHOUT_ARRAYS[mechanism])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mechanism", WITH_ARRAYS)
def test_a_mechanism_that_needs_arrays_says_so(mechanism):
    done = run(mechanism, *WITH_ARRAYS[mechanism])
    assert "MissingExtraError: Working on arrays needs numpy" in done.stderr


def members():
    """The modules of croupier-client."""
    files = [file for path in LISTED for file in ([path] if path.is_file() else path.rglob("*.py"))]
    modules = [file.relative_to(ROOT / "src") for file in files if file.suffix == ".py"]
    names = [module.with_suffix("").parts for module in modules]
    return {".".join(part for part in name if part != "__init__") for name in names}


def test_every_listed_place_is_there():
    assert [path for path in LISTED if not path.exists()] == []


def test_the_files_import_nothing_outside_of_them():
    graph = grimp.build_graph("croupier", exclude_type_checking_imports=True, cache_dir=None)
    own = members()
    assert {name for name in graph.modules if name.startswith("croupier.client")} <= own
    outside = {
        (module, other)
        for module in own
        for other in graph.find_modules_directly_imported_by(module)
        if other not in own
    }
    assert outside == VERBS


def test_every_package_of_a_file_is_there():
    own = members()
    assert {name.rpartition(".")[0] for name in own if "." in name} <= own


def test_a_device_holds_nothing_that_opens_a_seal_or_keeps_a_key():
    for name in ("unsealing", "key_directory", "encrypted_key", "private_file", "approval"):
        assert (SOURCE / "protocol" / f"{name}.py").is_file()
        assert f"croupier.protocol.{name}" not in members()
