"""The TypeScript client and Python: what one seals, the other opens."""

import json
import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.client.client import Client
from croupier.client.conversation import Response, Server
from croupier.client.enrolment import admitted
from croupier.client.fetch_token import TokenOutcome, fetch_token
from croupier.client.memory import FileState, State
from croupier.issuer.signing import MemorySigner
from croupier.model.judgement import Judgement
from croupier.numerics.keystream import WORD, Keystream
from croupier.plan import sections
from croupier.plan.plan import Plan
from croupier.protocol import unsealing, wire
from croupier.protocol.admission.token import (
    Token,
    challenge,
    is_spent_by_its_owner,
    read_request,
)
from croupier.protocol.admission.token_keys import TokenKeys, key_id
from croupier.protocol.key_list import AnalyzerKey, KeyList, Onward, PolicyWord, ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.signed_document import canonical, public_half
from croupier.randomizers import MECHANISMS
from croupier.testing.law import law_p_value
from tests.certificates import WRONG, Authority, TlsServer

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "clients" / "typescript"
BATCH = bytes(range(16))
GRID = {"low": -1.0, "high": 1.0, "step": 0.25}
K_RR = {"mechanism": "k-rr", "labels": ["no", "yes", "ask later"], "max_epsilon_local": 1.0}
MEMOISED = {"max_epsilon_local": 2.0, "max_epsilon_permanent": 6.0}
OPTIMIZED = {"mechanism": "optimized-unary", "k": 12, "max_epsilon_local": 2.0}
HASHING = {"mechanism": "local-hashing", "k": 100, "max_epsilon_local": 2.0}
SIGNS = {"mechanism": "sampled-sign", "dimension": 5, "max_epsilon_local": 2.0}
DICTIONARY = {"mechanism": "dictionary", "k": 10**6, "max_epsilon_local": 2.0}
LETTERS = "ab \u00e9\U0001f600"
TEXT = {"mechanism": "text", "longest": 5, "normalisation": "lower", "max_epsilon_local": 2.0}
DISTRIBUTION = {"mechanism": "distribution", "grid": {"low": -1.0, "high": 1.0, "step": 0.02}}
CHANCES = [[0.5, 0.25, 0.125, 0.125], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]]
QUESTIONS = {
    "k-rr": K_RR,
    "memoised-k-rr": {"mechanism": "memoised-k-rr", "k": 12} | MEMOISED,
    "symmetric-unary": {"mechanism": "symmetric-unary", "k": 12, "max_epsilon_local": 2.0},
    "optimized-unary": OPTIMIZED,
    "local-hashing": HASHING,
    "one-bit-mean": {"mechanism": "one-bit-mean", "grid": GRID, "max_epsilon_local": 1.0},
    "dictionary": DICTIONARY,
    "text": TEXT,
    "distribution": DISTRIBUTION | {"max_epsilon_local": 1.0},
    "rappor": {"mechanism": "rappor", "k": 12, "max_epsilon_local": 2.0},
    "hadamard": {"mechanism": "hadamard", "k": 12, "max_epsilon_local": 2.0},
    "subset-selection": {"mechanism": "subset-selection", "k": 12, "max_epsilon_local": 1.0},
    "laplace": {"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0},
    "gaussian": {"mechanism": "gaussian", "grid": GRID, "max_epsilon_local": 2.0},
    "sampled-sign": SIGNS,
    "matrix": {"mechanism": "matrix", "matrix": CHANCES, "labels": K_RR["labels"]},
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
    "together": plan_of(
        questions=[K_RR, HASHING, OPTIMIZED, SIGNS], participation={"model": "together"}
    ),
    "parallel by name": plan_of(
        randomizer={
            "mechanism": "parallel",
            "queries": [SIGNS, K_RR, QUESTIONS["gaussian"]],
            "weights": [1, 2**63, 2],
        }
    ),
    "parallel by batch": plan_of(
        questions=[DICTIONARY, TEXT, QUESTIONS["distribution"]],
        participation={"model": "parallel"},
    ),
    "text of letters": plan_of(randomizer=TEXT | {"alphabet": LETTERS, "functions": 64}),
    "distribution, counted": pair_of(randomizer=DISTRIBUTION),
    "two shufflers": pair_of(randomizer={"mechanism": "plain", "k": 12}),
    "two shufflers, with noise": pair_of(randomizer=K_RR | {"max_epsilon_local": 2.0}),
}
NAMES = list(PLANS)
OTHER = ("PopulationSection", "LimitsSection", "RecordSection")
DEPLOYED = [each for each in sections.Section.__subclasses__() if each.__name__ in sections.__all__]
DEPLOYED = [each for each in DEPLOYED if each.__name__ not in OTHER]
DAILY = plan_of(randomizer=QUESTIONS["memoised-k-rr"], collection={"rounds": 3, "window": "30d"})


def asked(plan):
    """What people are asked, in the one batch."""
    return plan.randomizer.in_batches((epoch(plan).name,))


def epoch(plan):
    analyzer = KEYS["analyzer"].public_key().public_bytes_raw()
    later = [KEYS["second"].public_key().public_bytes_raw() for _ in plan.shufflers[1:]]
    return wire.Epoch.of(plan, round_number=0, batch=BATCH, analyzer=analyzer, onward=tuple(later))


def values_of(name, count, rng):
    """Values of a plan, as JSON has them."""

    def label():
        return K_RR["labels"][rng.integers(3)]

    def number():
        return float(rng.uniform(-1.5, 1.5))

    def text():
        """Of the letters, some of them upper case, and sometimes longer than is kept."""
        letters = rng.choice(list("AB" + LETTERS), rng.integers(8))
        return "".join(letters)

    def signs():
        return (2 * rng.integers(0, 2, SIGNS["dimension"]) - 1).tolist()

    def category(k=12):
        return int(rng.integers(k))

    answers = {
        **dict.fromkeys(["k-rr", "two shufflers, with noise", "matrix"], label),
        **dict.fromkeys(["one-bit-mean", "laplace", "gaussian", "distribution"], number),
        "distribution, counted": number,
        "dictionary": lambda: category(10**6),
        **dict.fromkeys(["text", "text of letters"], text),
        "parallel by batch": lambda: [category(10**6), text(), number()],
        "local-hashing": lambda: category(100),
        "sampled-sign": signs,
        "parallel": lambda: [label(), category(100), category()],
        "together": lambda: [label(), category(100), category(), *signs()],
        "parallel by name": lambda: [*signs(), label(), number()],
    }
    answer = answers.get(name, category)
    return [answer() for _ in range(count)]


def rows(plan, values):
    """Values as a column, or as a matrix of objects where they are rows of several kinds."""
    mixed = plan.randomizer.mechanism in {"parallel", "together"}
    return np.array(values, dtype=object) if mixed else values


def reports_of(plan, values):
    return asked(plan).randomize(rows(plan, values))


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


def common_of(plan):
    """What a case says of its plan, its batch and the keys of the parties."""
    named = {"plan": plan.canonical.decode(), "digest": plan.digest, "batch": BATCH.hex()}
    return PAIRS | named


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The TypeScript half as one file, where node and the packages of the client are installed."""
    bundler = FOLDER / "node_modules" / ".bin" / "rolldown"
    node = shutil.which("node")
    if node is None or not bundler.exists():
        pytest.skip("needs node, and npm install in clients/typescript")
    made = tmp_path_factory.mktemp("cross") / "cross.mjs"
    options = ["--file", made, "--platform", "node", "--no-codeSplitting"]
    command = [bundler, FOLDER / "tests" / "cross.ts", *options]
    subprocess.run(command, cwd=FOLDER, capture_output=True, check=True, timeout=120)
    return node, made


@pytest.fixture(scope="module", params=[60, pytest.param(1000, marks=pytest.mark.proof)])
def exchange(program, request):
    """What was given to TypeScript, and what it answered; of k-rr always enough to see its law."""
    rng = np.random.default_rng(20)
    counts = dict.fromkeys(NAMES, request.param) | {"k-rr": 1000}
    values = {name: values_of(name, counts[name], rng) for name in NAMES}
    reports = {
        name: reports_of(plan, values_of(name, counts[name], rng)) for name, plan in PLANS.items()
    }
    common = {name: common_of(plan) for name, plan in PLANS.items()}
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


def test_every_mechanism_that_a_plan_can_name_is_tried():
    assert {plan.randomizer.mechanism for plan in PLANS.values()} == set(MECHANISMS)


def test_typescript_has_every_mechanism_that_a_plan_can_name(program):
    """One that it lacks refuses people whose plan names it: add it to its registry.ts."""
    assert sorted(answered_by_node(program)["mechanisms"]) == sorted(MECHANISMS)


@pytest.mark.parametrize("section", DEPLOYED)
def test_typescript_knows_every_key_that_a_plan_may_have(section):
    """One that it lacks refuses everybody whose plan has it: add it to its plan.ts."""
    names = ("plan", "dummies", "participation")
    sources = "".join((FOLDER / "src" / f"{name}.ts").read_text("utf-8") for name in names)
    keys = set(section.model_fields) - {"origins"}  # no part of the canonical text
    assert {key for key in keys if f'"{key}"' not in sources} == set()


class Scripted(Keystream):
    """Words that were drawn before."""

    def __init__(self, words):
        super().__init__(insecure_seed=0)
        self._left = words

    def words(self, size):
        taken, self._left = self._left[:size], self._left[size:]
        assert len(taken) == size
        return taken.copy()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_words_give_the_same_report(program, name):
    """Bit by bit, at the shipped denominators, over many seeds; some words are near their end."""
    plan, rng = PLANS[name], np.random.default_rng(NAMES.index(name))
    values = values_of(name, 300, rng)
    spare = 64  # half of the words that pick a question of "parallel by name" are rejected
    shape = (len(values), len(plan.randomizer.draw_bounds) + spare)
    words = rng.integers(0, WORD, shape, dtype=np.uint64, endpoint=False)
    words[::3, :2] = np.uint64(WORD - 1) - words[::3, :2] % np.uint64(4)  # rejected, or the last
    case = common_of(plan) | {"values": values}
    given = case | {"words": [[str(word) for word in row] for row in words.tolist()]}
    (answer,) = answered_by_node(program, draw=[given])["drawn"]
    own = [
        asked(plan).randomize(rows(plan, [value]), rng=Scripted(row))[0]
        for value, row in zip(values, words, strict=True)
    ]
    assert answer == [np.atleast_1d(report).tolist() for report in own]
    assert len({str(report) for report in answer}) > 1


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


def remembered_by_node(program, paths, plan, keys, value):
    case = {"digest": plan.digest, "list": keys.hex(), "value": value, "credential": "b" * 66}
    given = {"remember": [case | {"path": str(path)} for path in paths]}
    done = subprocess.run(
        program, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(done.stdout)["remembered"]


@pytest.mark.parametrize("name", ["k-rr", "two shufflers", "daily"])
def test_a_memory_goes_from_python_to_node_and_back(program, tmp_path, name):
    """Whoever seals first, the other one has the same bytes at the same time, paid for once."""
    plan = PLANS.get(name, DAILY)
    keys = key_list(plan)
    value = "yes" if name == "k-rr" else 3
    ours, theirs = tmp_path / "python.json", tmp_path / "node.json"

    def prepared(path):
        client = Client(plan, attribute="emoji", budget=8.0, memory=FileState(path))
        return client.report(value, key_list=keys, is_prepared=True)

    def enrolled(path, answer):
        client = Client(plan, attribute="emoji", budget=8.0, memory=FileState(path))
        server = Server(url="https://reports.example", issuer="https://issuer.example")
        steps = admitted(client, server, seconds=30.0)
        try:
            next(steps)
            steps.send(answer)
        except StopIteration as end:
            return end.value.authorization

    first = prepared(ours)
    given = Response(200, canonical({"credential": "a" * 66, "schema_version": 1}))
    assert enrolled(ours, given) == f"Bearer {'a' * 66}"
    same, second = remembered_by_node(program, [ours, theirs], plan, keys, value)
    assert (same["body"], float(same["due"])) == (first.body.hex(), first.due)
    assert [one["authorization"][-66:] for one in (same, second)] == ["a" * 66, "b" * 66]
    for path, body, due, digit in [
        (ours, first.body.hex(), first.due, "a"),
        (theirs, second["body"], float(second["due"]), "b"),
    ]:
        again = prepared(path)
        assert (again.body.hex(), again.due) == (body, due)
        assert enrolled(path, None) == f"Bearer {digit * 66}"
        state = State.model_validate_json(path.read_bytes())
        counted = [(one.attribute, one.epsilon) for each in state.answered.values() for one in each]
        goes_on = plan.collection.window is not None
        assert state.spent == ({} if goes_on else {"emoji": [plan.cost.epsilon]})
        assert counted == ([("emoji", 6.0)] if goes_on else [])
        assert len(state.permanent) == goes_on
        assert path.stat().st_mode & 0o777 == 0o600


def answered_by_node(program, **given):
    done = subprocess.run(
        program, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def signer():
    return MemorySigner(rsa.generate_private_key(public_exponent=65537, key_size=2048))


@pytest.fixture(scope="module")
def by_token(signer):
    """A plan that admits by token, and its key lists while rounds 0 and 1 are open."""
    issuer = Ed25519PrivateKey.generate()
    admission = {"by": "token", "key": public_half(issuer)}
    plan = plan_of(randomizer=K_RR, admission=admission, collection={"rounds": 9})
    tokens = TokenKeys.make(plan, first=1, keys=[signer.key], signing_key=issuer)
    analyzer = KEYS["analyzer"].public_key().public_bytes_raw()

    def listed(number):
        opened = wire.Epoch.of(plan, round_number=number, batch=BATCH, analyzer=analyzer)
        own = {"key": KEYS["shuffler"], "signing_key": SIGNING["shuffler"]}
        signing = SIGNING["analyzer"]
        return KeyList.of(
            plan,
            analyzer=AnalyzerKey.make(plan, key=KEYS["analyzer"], signing_key=signing),
            keys=listed_by(plan, "shuffler"),
            shuffler=(ShufflerKey.make(opened, plan, **own),),
            tokens=tokens,
        ).to_bytes()

    return plan, listed(0), listed(1)


def require_spent(plan, signer, *, authorization, proof, body):
    token = Token.of_header(authorization.encode())
    expected = challenge(plan.digest, 1, issuer=plan.issuer_key)
    assert token.is_valid(signer.key, key_id=key_id(signer.key), challenge=expected)
    spent = {"plan": plan.digest, "batch": BATCH, "body": body}
    assert is_spent_by_its_owner(token, bytes.fromhex(proof), **spent)


def test_a_token_is_asked_for_in_one_language_and_spent_in_the_other(
    program, tmp_path, by_token, signer
):
    """The memory goes from Node to Python and back; the issuer's side signs."""
    plan, first, second = by_token
    theirs, ours = tmp_path / "node.json", tmp_path / "python.json"
    case = {"digest": plan.digest, "list": first.hex(), "later": "", "path": str(theirs)}
    (begun,) = answered_by_node(program, fetch=[case | {"signature": ""}])["fetched"]
    request = bytes.fromhex(begun["request"])
    signature = signer.sign(read_request(request, key_id(signer.key))).hex()
    client = Client(plan, attribute="emoji", budget=8.0, memory=FileState(theirs))
    server = Server(
        url="https://reports.example", issuer="https://issuer.example", credential="letmein"
    )
    steps = fetch_token(client, server=server)
    next(steps)
    assert steps.send(Response(200, first)).body == request
    with pytest.raises(StopIteration) as end:
        steps.send(Response(200, bytes.fromhex(signature)))
    assert end.value.value is TokenOutcome.HELD
    made = client.report("yes", key_list=second)
    require_spent(plan, signer, body=made.body, **made.spent._asdict())

    client = Client(plan, attribute="emoji", budget=8.0, memory=FileState(ours))
    steps = fetch_token(client, server=server)
    next(steps)
    request = steps.send(Response(200, first)).body
    signature = signer.sign(read_request(request, key_id(signer.key))).hex()
    given = {"later": second.hex(), "path": str(ours), "signature": signature}
    (ended,) = answered_by_node(program, fetch=[case | given])["fetched"]
    assert (ended["request"], ended["outcome"]) == (request.hex(), TokenOutcome.HELD)
    spent = {name: ended[name] for name in ("authorization", "proof")}
    require_spent(plan, signer, body=bytes.fromhex(ended["body"]), **spent)
    again = client.report("no", key_list=second)
    assert again.body.hex() == ended["body"]
    assert again.spent._asdict() == spent


def test_an_issuer_in_python_signs_what_another_implementation_blinds(program, signer):
    message = bytes(range(98))
    given = {"modulus": f"{signer.key.modulus:x}", "message": message.hex()}
    start = given | {"inverse": "", "signature": ""}
    (blinded,) = answered_by_node(program, foreign=[start])["foreign"]
    answer = signer.sign(bytes.fromhex(blinded["blinded"]))
    inverse = int(blinded["inverse"], 16)
    signature = signer.key.finalize(message, answer, inverse=inverse)
    end = given | {"inverse": blinded["inverse"], "signature": answer.hex()}
    (finished,) = answered_by_node(program, foreign=[end])["foreign"]
    assert finished["signature"] == signature.hex()


def test_node_names_what_is_wrong_with_a_certificate(program, tmp_path):
    """And knows nothing of a plan where the certificate is right."""
    authority = Authority(tmp_path)
    with ExitStack() as stack:
        contexts = [authority.context(kind) for kind in (*WRONG, "right")]
        servers = [TlsServer(context, b"{}") for context in [*contexts, None]]
        urls = [stack.enter_context(server).url for server in servers]
        done = subprocess.run(
            program,
            env=os.environ | {"NODE_EXTRA_CA_CERTS": str(authority.file)},
            input=json.dumps({"ask": urls}),
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
    *wrong, right, plain = json.loads(done.stdout)["asked"]
    assert wrong == [
        {"name": "CertificateError", "reason": reason, "pauses": 0} for reason in WRONG.values()
    ]
    assert right == {"name": "UntrustedError", "reason": "", "pauses": 0}
    assert plain == {"name": "CertificateError", "reason": "no TLS on this port", "pauses": 0}


def test_the_demo_ships_what_the_sources_make(program, tmp_path):
    """Else: npm run demo in clients/typescript."""
    made = tmp_path / "client.js"
    command = [program[0], "scripts/bundle.js", made]
    subprocess.run(command, cwd=FOLDER, capture_output=True, check=True, timeout=120)
    shipped = FOLDER.parents[1] / "src" / "croupier" / "demo" / "client.js"
    assert shipped.read_bytes() == made.read_bytes()
