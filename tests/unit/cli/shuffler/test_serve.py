import io
import json
import socket
import sys
from types import SimpleNamespace

import pytest

from croupier.analyzer.keys import AnalyzerKeys
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import write_secret
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from tests.unit.shuffler.http.test_incidents import write_certificate

PLAN = """schema = 2
randomizer = {mechanism = "k-rr", k = 10, max_epsilon_local = 2.0}
population.enrolled = 100
protections.minimum_batch = 50
"""


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return file


def options(tmp_path):
    files = {"--keys": "keys/intake", "--handover": "keys/handover", "--secret": "secret"}
    files |= {"--shuffler": "shuffler.json", "--analyzer": "analyzer.json"}
    given = [part for flag, name in files.items() for part in (flag, tmp_path / name)]
    ports = ["--port", 0, "--metrics-port", 0]
    return [*given, *ports, "--database", "host=127.0.0.1 port=1"]


def test_a_plan_without_keys_is_not_served(croupier, plan, tmp_path):
    outcome = croupier("serve", "--plan", plan, *options(tmp_path))
    assert outcome.code == 2
    assert "shufflers.key" in outcome.err
    assert "croupier keys" in outcome.err


def test_a_plan_whose_sample_nobody_draws_is_not_served(croupier, plan, tmp_path):
    plan.write_text(PLAN + 'participation = {model = "subsample", repeats = 2}\n')
    outcome = croupier("serve", "--plan", plan, *options(tmp_path))
    assert outcome.code == 2
    assert "nobody draws the sample" in outcome.err
    assert croupier("assess", plan).code == 0


def test_without_the_extra_it_is_named(croupier, plan, tmp_path, monkeypatch):
    keys = '[[shufflers]]\nkey = "{0}"\n[analyzer]\nkey = "{0}"\n'.format("5e" * 32)
    plan.write_text(PLAN + keys)
    loaded = ("croupier.hosting.http.", "croupier.shuffler.http.", "uvicorn.")
    for name in [name for name in sys.modules if name.startswith(loaded)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    outcome = croupier("serve", "--plan", plan, *options(tmp_path))
    assert outcome.code == 1
    assert "pip install '.[service]'" in outcome.err


LIMIT = "policy = {batch.max_epsilon = 1.5, clients.max_epsilon = 1.5}\n"
GONE = "database"  # no database listens there: whoever comes so far was let in


@pytest.fixture
def deployed(plan, tmp_path, croupier, monkeypatch):
    """Keys of both parties and a plan that names them and sets a limit, not signed yet."""
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "four dice, no cards")
    keys = tmp_path / "keys"
    roles = ["shuffler", "release", "intake", "analyzer"]
    made = croupier("keys", "create", *roles, "--keys", keys, "--json").document
    public = made["plan"]
    named = f'shufflers = [{{key = "{public["shufflers"][0]["key"]}"}}]\n'
    named += f'analyzer.key = "{public["analyzer"]["key"]}"\n'
    plan.write_text(PLAN + named + LIMIT)
    write_secret(tmp_path / "secret")
    directory = AnalyzerKeys(keys / "analyzer", b"four dice, no cards")

    def sign_list():
        parts = {"--keys": "shuffler", "--release": "release", "--intake": "intake"}
        given = [part for flag, name in parts.items() for part in (flag, keys / name)]
        file = tmp_path / "shuffler.json"
        file.unlink(missing_ok=True)
        assert croupier("keys", "sign", "shuffler", plan, *given, "-o", file).code == 0

    def sign(policy=None):
        signed = AnalyzerKey.make(
            Plan.load(plan),
            key=directory.sealing_key("analyzer"),
            signing_key=directory.signing_key("analyzer"),
            policy=policy,
        )
        (tmp_path / "analyzer.json").write_bytes(signed.to_bytes())
        sign_list()

    def sign_analyzer():
        given = ["--keys", keys / "analyzer", "-o", tmp_path / "analyzer.json"]
        assert croupier("keys", "sign", "analyzer", plan, *given).code == 0
        sign_list()

    def serve(*more):
        return croupier("serve", "--plan", plan, *options(tmp_path), *more)

    return SimpleNamespace(
        plan=plan,
        keys=keys,
        sign=sign,
        sign_analyzer=sign_analyzer,
        serve=serve,
        folder=tmp_path,
        croupier=croupier,
    )


def test_a_plan_whose_policy_was_signed_as_met_is_served(deployed):
    deployed.sign_analyzer()
    outcome = deployed.serve()
    assert outcome.code == 1
    assert GONE in outcome.err


POLICY = "schema = 1\npolicy = {batch.max_epsilon = 1.5, clients.max_epsilon = 1.5}\n"


def test_a_service_that_demands_an_approval_refuses_every_other_plan(deployed, croupier):
    policy, keys = deployed.folder / "policy.toml", deployed.keys / "approver"
    policy.write_text(POLICY)
    assert croupier("keys", "create", "approver", "--keys", keys).code == 0
    demand = ("--require-approval", keys / "public.json")
    deployed.sign_analyzer()
    outcome = deployed.serve(*demand)
    assert outcome.code == 4
    assert outcome.err.startswith("The plan is not approved")
    given = ("--policy", policy, "--by", "An officer", "--keys", keys)
    assert croupier("approve", deployed.plan, *given).code == 0
    outcome = deployed.serve(*demand)
    assert (outcome.code, GONE in outcome.err) == (1, True)  # approved: it goes on to the database
    assert deployed.serve("--require-approval", "0" * 64).code == 4
    text = deployed.plan.read_text()
    for old, new in (
        ("= 100", "= 101"),
        ("= 50", "= 51"),
        ("batch.max_epsilon", "network.max_epsilon"),
    ):
        deployed.plan.write_text(text.replace(old, new))
        deployed.sign(PolicyWord.on(Plan.load(deployed.plan), Judgement.MET))
        outcome = deployed.serve(*demand)
        assert outcome.code == 4
        assert "does not hold any more" in outcome.err


@pytest.mark.parametrize(
    "name", ["batches", "release.pem", "release-2.pem", "shuffler.pem", "analyzer.hpke.pem"]
)
def test_keys_of_other_roles_are_not_served_with(deployed, name):
    deployed.sign_analyzer()
    (deployed.keys / "intake" / name).mkdir()
    outcome = deployed.serve()
    assert outcome.code == 1
    assert f"intake holds {name}, which is not of intake" in outcome.err
    assert "move what is not of intake out of this one" in outcome.err


def test_a_plan_that_was_signed_despite_its_policy_is_served(deployed):
    plan = Plan.load(deployed.plan)
    deployed.sign(PolicyWord.on(plan, Judgement.NOT_MET, despite_policy=True))
    outcome = deployed.serve()
    assert outcome.code == 1
    assert GONE in outcome.err


@pytest.mark.parametrize("judgement", [Judgement.NOT_MET, Judgement.NO_LIMIT])
def test_a_plan_whose_policy_was_found_not_met_is_not_served(deployed, judgement):
    deployed.sign(PolicyWord.on(Plan.load(deployed.plan), judgement))
    outcome = deployed.serve()
    assert outcome.code == 4
    assert outcome.err.startswith("The plan must not run: the analyzer signed that the policy ")


def test_a_key_list_without_a_word_on_the_policy_is_not_served(deployed):
    """Such as version 0.1 signed."""
    deployed.sign()
    assert "policy" not in json.loads((deployed.folder / "analyzer.json").read_bytes())
    outcome = deployed.serve()
    assert outcome.code == 4
    assert outcome.err.startswith("The analyzer's key list has no statement on the plan's policy.")
    assert "croupier keys sign" in outcome.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max_epsilon = 1.5", "max_epsilon = 1.6"),
        (LIMIT, ""),
        ("enrolled = 100", "enrolled = 101"),
        ("enrolled = 100", "enrolled = 100\npopulation.corrupt_fraction = 0.1"),
    ],
    ids=["loosened", "deleted", "enrolled", "corrupt"],
)
def test_a_policy_that_was_changed_after_signing_is_not_served(deployed, old, new):
    """None of it is in the plan's digest: only the word on the policy binds it."""
    text = deployed.plan.read_text()
    deployed.plan.write_text(text + "guarantee.delta = 1e-4\n")
    before = Plan.load(deployed.plan)
    deployed.sign(PolicyWord.on(before, Judgement.MET))
    deployed.plan.write_text(deployed.plan.read_text().replace(old, new))
    assert Plan.load(deployed.plan).digest == before.digest
    outcome = deployed.serve()
    assert outcome.code == 4
    assert "not the one that the analyzer judged" in outcome.err


@pytest.mark.parametrize("text", [PLAN.replace("k = 10", "k = 11"), None], ids=["plan", "signer"])
def test_the_operator_is_told_which_file_is_not_of_the_plan(deployed, text):
    """Not to ask the operator, as clients are."""
    file = deployed.folder / "analyzer.json"
    deployed.sign_analyzer()
    if text is None:
        document = json.loads(file.read_bytes())
        file.write_text(json.dumps(document | {"key": "5e" * 32}))
    else:
        keys = deployed.plan.read_text().removeprefix(PLAN)
        deployed.plan.write_text(text + keys)
    outcome = deployed.serve()
    assert outcome.code == 2
    assert "`--analyzer` must be signed for this plan" in outcome.err
    assert str(file) in outcome.err.replace("\n", "")
    assert "croupier keys sign" in outcome.err
    assert "ask its operator" not in outcome.err


def test_a_list_of_another_root_and_keys_that_it_does_not_name_are_refused(deployed, croupier):
    deployed.sign_analyzer()
    file = deployed.folder / "shuffler.json"
    whole = file.read_bytes()
    file.write_text(json.dumps(json.loads(whole) | {"version": 2}))
    outcome = deployed.serve()
    assert outcome.code == 2
    assert "`--shuffler` must be signed for this plan" in outcome.err
    file.unlink()
    outcome = deployed.serve()
    assert outcome.code == 2
    assert "croupier keys sign shuffler" in outcome.err
    file.write_bytes(whole)
    other = deployed.folder / "others"
    assert croupier("keys", "create", "intake", "--keys", other).code == 0
    outcome = croupier("serve", "--plan", deployed.plan, *options(deployed.folder), "--keys", other)
    assert outcome.code == 2
    assert "must hold the keys of intake that --shuffler names" in outcome.err


def test_names_and_empty_tables_are_nobodys_judgement(deployed):
    plan = Plan.load(deployed.plan)
    assert plan.policy_digest == plan.replace(name="other").policy_digest
    assert plan.policy_digest == plan.replace(policy__network={}).policy_digest


def test_credentials_are_issued_under_a_new_secret(croupier, tmp_path):
    file = tmp_path / "secret"
    outcome = croupier("credentials", "issue", file, "--new", "--count", 3)
    tokens = outcome.out.split()
    assert outcome.code == 0
    assert len(set(tokens)) == 3
    again = croupier("credentials", "issue", file, "--relay", "--json")
    assert again.document["relay"] is True
    assert len(again.document["credentials"]) == 1
    assert croupier("credentials", "issue", file, "--new").code == 2
    assert file.read_text().strip() not in outcome.out + again.out


def test_a_list_of_revoked_credentials_grows_and_names_ids_only(croupier, tmp_path, monkeypatch):
    file = tmp_path / "revoked.txt"
    issued = croupier("credentials", "issue", tmp_path / "secret", "--new", "--count", 3)
    tokens = issued.out.split()
    lost = croupier("credentials", "revoke", file, tokens[0][2:34])
    assert (lost.code, file.exists()) == (2, False)
    first = croupier("credentials", "revoke", file, "--new", tokens[0][2:34])
    assert (first.code, first.out) == (0, f"REVOKED  1 more, 1 in {file}\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*tokens, ""])))
    second = croupier("credentials", "revoke", file, "-", "--json")
    assert (second.document["added"], second.document["revoked"]) == (2, 3)
    assert file.read_text() == "".join(sorted(f"{token[2:34]}\n" for token in tokens))
    assert file.stat().st_mode & 0o077 == 0
    for strange in (tokens[0][:32] + "x", "0ff0", "zz" * 16):
        refused = croupier("credentials", "revoke", file, strange)
        assert refused.code == 2
        assert strange not in refused.err
    file.write_text("not an id")
    assert croupier("credentials", "revoke", file, tokens[0][2:34]).code == 2


@pytest.fixture
def pointer(deployed, croupier):
    """A pointer from another plan to the one that is served, and how to sign more."""

    def sign(old, new, file):
        given = ("--keys", deployed.keys / "shuffler", "-o", file)
        assert croupier("keys", "supersede", old, new, *given).code == 0
        return file

    deployed.sign_analyzer()
    other = deployed.folder / "other.toml"
    other.write_text(deployed.plan.read_text().replace("= 2.0", "= 1.0"))
    file = sign(other, deployed.plan, deployed.folder / "superseded.json")
    return SimpleNamespace(sign=sign, other=other, file=file)


def test_a_plan_that_is_no_longer_served_may_have_a_pointer(deployed, pointer):
    outcome = deployed.serve("--superseded", pointer.file)
    assert (outcome.code, GONE in outcome.err) == (1, True)  # it goes on to the database


def test_a_plan_that_is_served_has_no_pointer(deployed, pointer):
    own = pointer.sign(deployed.plan, pointer.other, deployed.folder / "own.json")
    outcome = deployed.serve("--superseded", pointer.file, "--superseded", own)
    assert outcome.code == 2
    assert "`--superseded` must be of a plan that is no longer served" in outcome.err
    assert "Leave out its --plan once its last round is settled" in outcome.err


def test_a_plan_has_one_pointer(deployed, pointer):
    outcome = deployed.serve("--superseded", pointer.file, "--superseded", pointer.file)
    assert outcome.code == 2
    assert "must be given once per plan" in outcome.err


def test_only_a_pointer_that_the_shufflers_root_signed_is_published(deployed, pointer):
    outcome = deployed.serve("--superseded", deployed.folder / "none.json")
    assert (outcome.code, "must be a file" in outcome.err) == (2, True)
    document = json.loads(pointer.file.read_bytes())
    forged = document | {"superseded": document["superseded"] | {"successor": "5e" * 32}}
    for text in (json.dumps(forged), "{}", ""):
        pointer.file.write_text(text)
        outcome = deployed.serve("--superseded", pointer.file)
        assert outcome.code == 2
        assert "must be signed by the shuffler's root that its plan names" in outcome.err
        assert "croupier keys supersede" in outcome.err


@pytest.mark.parametrize("content", [None, b"", b"no PEM"])
def test_a_certificate_that_cannot_be_watched_is_refused(deployed, content):
    deployed.sign_analyzer()
    file = deployed.folder / "fullchain.pem"
    if content is not None:
        file.write_bytes(content)
    outcome = deployed.serve("--certificate", file)
    must = "be a file that can be read" if content is None else "be a certificate in PEM"
    assert outcome.code == 2
    assert f"`--certificate` must {must}" in outcome.err


def test_a_certificate_that_has_expired_is_an_incident_of_the_running_service(deployed):
    deployed.sign_analyzer()
    file = deployed.folder / "fullchain.pem"
    write_certificate(file, -1)
    outcome = deployed.serve("--certificate", file)
    assert (outcome.code, GONE in outcome.err) == (1, True)  # it goes on to the database


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--plan", "`--plan` must be a file"),
        ("--secret", "`--secret` must be a file"),
        ("--passphrase-file", "`--passphrase-file` must be a file"),
        ("--revoked", "`--revoked` must be a file of ids"),
    ],
)
def test_a_file_that_is_missing_is_named_by_its_option(deployed, option, said):
    deployed.sign_analyzer()
    outcome = deployed.serve(option, deployed.folder / "none")
    assert outcome.code == 2
    if option == "--plan":
        outcome = deployed.croupier("serve", option, "none", *options(deployed.folder))
    assert said in outcome.err


def test_a_secret_that_is_too_short_is_refused_at_the_start(deployed):
    deployed.sign_analyzer()
    (deployed.folder / "secret").write_text("5e5e\n")
    outcome = deployed.serve()
    assert (outcome.code, "`--secret` must hold at least 64" in outcome.err) == (2, True)
    assert "5e5e" not in outcome.err
    issued = deployed.croupier("credentials", "issue", deployed.folder / "secret")
    assert (issued.code, "`FILE` must hold at least 64" in issued.err) == (2, True)


@pytest.mark.parametrize(
    ("host", "cause", "step"),
    [
        ("127.0.0.1", "Address already in use", "Stop what listens there"),
        ("192.0.2.1", "Cannot assign requested address", "Correct --host, or name another port."),
    ],
)
def test_a_port_that_cannot_be_listened_on_is_said_once(deployed, host, cause, step):
    deployed.sign_analyzer()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = deployed.serve("--host", host, "--port", port)
    assert outcome.code == 2
    assert f"got '{host}:{port} ({cause})'. {step}" in outcome.err
