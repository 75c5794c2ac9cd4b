"""The TypeScript client and Python: what one seals, the other opens."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.client.memory import State
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol import unsealing, wire
from croupier.protocol.key_list import AnalyzerKey, KeyList, Onward, PolicyWord, ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.signed_document import public_half
from croupier.testing.law import law_p_value

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "clients" / "typescript"
BATCH = bytes(range(16))
GRID = {"low": -1.0, "high": 1.0, "step": 0.25}
K_RR = {"mechanism": "k-rr", "labels": ["no", "yes", "ask later"], "max_epsilon_local": 1.0}
OPTIMIZED = {"mechanism": "optimized-unary", "k": 12, "max_epsilon_local": 2.0}
HASHING = {"mechanism": "local-hashing", "k": 100, "max_epsilon_local": 2.0}
QUESTIONS = {
    "k-rr": K_RR,
    "symmetric-unary": {"mechanism": "symmetric-unary", "k": 12, "max_epsilon_local": 2.0},
    "optimized-unary": OPTIMIZED,
    "local-hashing": HASHING,
    "one-bit-mean": {"mechanism": "one-bit-mean", "grid": GRID, "max_epsilon_local": 1.0},
}
SIGNING = {name: Ed25519PrivateKey.generate() for name in ("shuffler", "second", "analyzer")}
KEYS = {name: X25519PrivateKey.generate() for name in ("shuffler", "second", "analyzer")}
DUMMIES = {"epsilon": 1.0, "delta": 1e-8}
PAIRS = {
    name: {
        "private": key.private_bytes_raw().hex(),
        "public": key.public_key().public_bytes_raw().hex(),
    }
    for name, key in KEYS.items()
}


def plan_of(**questions):
    public = {name: key.public_key().public_bytes_raw().hex() for name, key in SIGNING.items()}
    parties = {
        "shufflers": [{"key": public["shuffler"]}],
        "analyzer": {"key": public["analyzer"]},
    }
    base = {"schema": 2, "population": {"enrolled": 100}, "protections": {"minimum_batch": 50}}
    return Plan.from_document(base | parties | questions)


def pair_of(**questions):
    """A plan with two shufflers."""
    mixers = [{"key": public_half(SIGNING[name])} for name in ("shuffler", "second")]
    return plan_of(shufflers=[own | {"dummies": DUMMIES} for own in mixers], **questions)


PLANS = {name: plan_of(randomizer=own) for name, own in QUESTIONS.items()} | {
    "parallel": plan_of(
        questions=[K_RR, HASHING, OPTIMIZED],
        participation={"model": "rectified-parallel", "weights": [1, 2**61, 2**60]},
    ),
    "two shufflers": pair_of(randomizer={"mechanism": "plain", "k": 12}),
    "two shufflers, with noise": pair_of(randomizer=K_RR | {"max_epsilon_local": 2.0}),
}
NAMES = list(PLANS)


def epoch(plan):
    analyzer = KEYS["analyzer"].public_key().public_bytes_raw()
    later = [KEYS["second"].public_key().public_bytes_raw() for _ in plan.shufflers[1:]]
    return wire.Epoch.of(plan, round_number=0, batch=BATCH, analyzer=analyzer, onward=tuple(later))


def values_of(name, count, rng):
    """Values of a plan, as JSON has them."""
    answers = {
        "k-rr": lambda: K_RR["labels"][rng.integers(3)],
        "two shufflers, with noise": lambda: K_RR["labels"][rng.integers(3)],
        "one-bit-mean": lambda: float(rng.uniform(-1.5, 1.5)),
        "local-hashing": lambda: int(rng.integers(100)),
    }
    answer = answers.get(name, lambda: int(rng.integers(12)))
    if name == "parallel":
        parts = [answers["k-rr"], answers["local-hashing"], answer]
        return [[part() for part in parts] for _ in range(count)]
    return [answer() for _ in range(count)]


def reports_of(plan, values):
    rows = np.array(values, dtype=object) if isinstance(values[0], list) else values
    return plan.randomizer.randomize(rows)


def envelope(plan, report):
    data = wire.encode_report(plan, report, round_number=0)
    return wire.seal_report(data, key=KEYS["shuffler"].public_key(), epoch=epoch(plan))


def opened(plan, data):
    inner = unsealing.open_outer(data, key=KEYS["shuffler"], epoch=epoch(plan)).inner
    if len(plan.shufflers) == 2:
        inner = unsealing.open_second(inner, key=KEYS["second"], epoch=epoch(plan))
    report = unsealing.open_inner(inner, key=KEYS["analyzer"], epoch=epoch(plan))
    return np.atleast_1d(wire.decode_report(plan, report, round_number=0)).tolist()


def listed_by(plan, name):
    """The list of a shuffler's keys, in which its root signs for every role."""
    public = public_half(SIGNING[name])
    return ShufflerKeys.first(
        plan,
        release=PublicKeys(role="release", key=public),
        intake=PublicKeys(role="intake", key=public, seal="00" * 32),
        signing_key=SIGNING[name],
    )


def opened_by(plan, name, hop):
    return ShufflerKey.make(epoch(plan), plan, key=KEYS[name], signing_key=SIGNING[name], hop=hop)


def key_list(plan):
    word = PolicyWord.on(plan, Judgement.NOT_MET, despite_policy=True)
    signer = SIGNING["analyzer"]
    analyzer = AnalyzerKey.make(plan, key=KEYS["analyzer"], signing_key=signer, policy=word)
    second = [
        Onward(keys=listed_by(plan, "second"), opening=opened_by(plan, "second", 1))
        for _ in plan.shufflers[1:]
    ]
    return KeyList.of(
        plan,
        analyzer=analyzer,
        keys=listed_by(plan, "shuffler"),
        shuffler=(opened_by(plan, "shuffler", 0),),
        onward=tuple(second) or None,
    ).to_bytes()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The TypeScript half as one file, where node and the packages of the client are installed."""
    bundler = FOLDER / "node_modules" / ".bin" / "rolldown"
    node = shutil.which("node")
    if node is None or not bundler.exists():
        pytest.skip("needs node, and npm install in clients/typescript")
    made = tmp_path_factory.mktemp("cross") / "cross.mjs"
    command = [bundler, FOLDER / "tests" / "cross.ts", "--file", made, "--platform", "node"]
    subprocess.run(command, cwd=FOLDER, capture_output=True, check=True, timeout=120)
    return node, made


@pytest.fixture(scope="module", params=[200, pytest.param(1000, marks=pytest.mark.proof)])
def exchange(program, request):
    """What was given to TypeScript, and what it answered; of k-rr always enough to see its law."""
    rng = np.random.default_rng(20)
    counts = dict.fromkeys(NAMES, request.param) | {"k-rr": 1000}
    values = {name: values_of(name, counts[name], rng) for name in NAMES}
    reports = {
        name: reports_of(plan, values_of(name, counts[name], rng)) for name, plan in PLANS.items()
    }
    common = {
        name: PAIRS | {"plan": plan.canonical.decode(), "digest": plan.digest, "batch": BATCH.hex()}
        for name, plan in PLANS.items()
    }
    lists = {name: key_list(plan).hex() for name, plan in PLANS.items()}
    given = {
        "seal": [common[name] | {"values": values[name]} for name in NAMES],
        "open": [
            common[name] | {"envelopes": [envelope(PLANS[name], y).hex() for y in reports[name]]}
            for name in NAMES
        ],
        "report": [common[n] | {"list": lists[n], "value": values[n][0]} for n in NAMES],
    }
    done = subprocess.run(
        program, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=600
    )
    return values, reports, json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_python_opens_what_typescript_seals(exchange, name):
    values, _, answer = exchange
    sealed = answer["sealed"][NAMES.index(name)]
    assert len(sealed) == len({data for _, data in sealed}) == len(values[name])
    assert [opened(PLANS[name], bytes.fromhex(data)) for _, data in sealed] == [
        y for y, _ in sealed
    ]


@pytest.mark.parametrize("name", NAMES)
def test_typescript_opens_what_python_seals(exchange, name):
    _, reports, answer = exchange
    found = answer["opened"][NAMES.index(name)]
    assert found == [np.atleast_1d(report).tolist() for report in reports[name]]


@pytest.mark.parametrize("name", NAMES)
def test_a_typescript_client_believes_python_and_is_opened(exchange, name):
    plan, made = PLANS[name], exchange[2]["reported"][NAMES.index(name)]
    assert made["batch"] == BATCH.hex()
    body = bytes.fromhex(made["body"])
    assert len(body) == wire.envelope_length(plan)
    assert len(opened(plan, body)) == len(plan.randomizer.report_format.bounds)
    state = State.model_validate_json(made["state"])
    assert state.sealed[plan.digest].body == made["body"]
    assert state.spent == {"emoji": [plan.cost.epsilon]}
    assert state.spent_delta == ({"emoji": [plan.cost.delta]} if plan.cost.delta else {})
    assert set(state.listed_second) == {plan.digest for _ in plan.shufflers[1:]}


def test_the_operating_system_draws_by_the_law(exchange, alarm):
    """At the shipped denominator, where not every draw can be fed."""
    values, _, answer = exchange
    pairs = zip(values["k-rr"], answer["sealed"][NAMES.index("k-rr")], strict=True)
    counts = np.bincount([report[0] for value, (report, _) in pairs if value == "yes"], minlength=3)
    law = PLANS["k-rr"].randomizer.channel().probabilities[1]
    assert law_p_value(counts, law) > alarm
    assert law_p_value(counts, [0.1, 0.8, 0.1]) < alarm


def test_the_demo_ships_what_the_sources_make(program, tmp_path):
    """Else: npm run demo in clients/typescript."""
    made = tmp_path / "client.js"
    command = [program[0], "scripts/bundle.js", made]
    subprocess.run(command, cwd=FOLDER, capture_output=True, check=True, timeout=120)
    shipped = FOLDER.parents[1] / "src" / "croupier" / "demo" / "client.js"
    assert shipped.read_bytes() == made.read_bytes()
