"""`croupier keys` and `croupier submit`: from nothing to reports that the analyzer opens."""

import json
import os
import resource
import stat
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from croupier.analyzer.keys import AnalyzerKeys
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.key_directory import KeyDirectory
from croupier.protocol.key_list import AnalyzerKey, KeyList, NotAccepted, ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.unsealing import open_inner, open_outer
from croupier.protocol.wire import Epoch, decode_report
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.root import RootKeys

PLAN = """
schema = 2
randomizer = {{mechanism = "k-rr", labels = ["no", "yes"], max_epsilon_local = 8.0}}
population.enrolled = 1_000
protections.minimum_batch = 100
policy.batch.max_guess_of_two = {limit}
policy.clients.max_guess_of_two = {limit}
{parties}
"""
PASSPHRASE = b"correct horse"
ROLES = ("shuffler", "release", "intake", "analyzer")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", PASSPHRASE.decode())
    monkeypatch.setenv("CROUPIER_CREDENTIAL", "letmein")
    return tmp_path


@pytest.fixture
def deployed(folder, croupier):
    """A plan with its keys, and the analyzer's signed."""
    made = croupier("keys", "create", *ROLES, "--json")
    public = made.document["plan"]
    parties = f'[[shufflers]]\nkey = "{public["shufflers"][0]["key"]}"\n'
    parties += f'[analyzer]\nkey = "{public["analyzer"]["key"]}"'
    (folder / "plan.toml").write_text(PLAN.format(parties=parties, limit=0.99))
    assert croupier("keys", "sign", "analyzer", "plan.toml").code == 0
    assert croupier("keys", "sign", "shuffler", "plan.toml").code == 0
    keys = folder / "keys"
    return SimpleNamespace(
        plan=Plan.load(folder / "plan.toml"),
        analyzer=AnalyzerKeys(keys / "analyzer", PASSPHRASE),
        release=ReleaseKeys(keys / "release", PASSPHRASE),
        intake=IntakeKeys(keys / "intake", PASSPHRASE),
        root=RootKeys(keys / "shuffler", PASSPHRASE),
    )


def listed(folder, plan):
    return ShufflerKeys.verified((folder / "shuffler.json").read_bytes(), plan)


def test_the_lines_for_the_plan_are_printed(folder, croupier):
    made = croupier("keys", "create", "shuffler", "--keys", "elsewhere")
    assert made.code == 0
    key = KeyDirectory(folder / "elsewhere", PASSPHRASE).signing_key("shuffler")
    lines = made.out.splitlines()[:2]
    assert lines == ["[[shufflers]]", f'key = "{key.public_key().public_bytes_raw().hex()}"']
    assert "Put the lines above into the plan of every client" in made.out
    names = sorted(path.name for path in (folder / "elsewhere").iterdir())
    assert names == ["public.json", "shuffler.pem"]
    assert "collusion" not in made.out


PARTIES = {
    "none": "",
    "table": '[[shufflers]]  # who\noperator = "us"\n[analyzer]\npublication = "none"\n'
    "[guarantee]\ndelta = 1e-6\n",
    "last": '[analyzer]\npublication = "none"\n[[shufflers]]\noperator = "us"\n',
    "inline": 'shufflers = [{operator = "us"}]\nanalyzer = {publication = "none"}\n',
    "dotted": 'analyzer.publication = "none"\n',
}


NAMED = {"shuffler": "shufflers__key", "analyzer": "analyzer__key"}
TABLES = {"shuffler": "[[shufflers]]", "analyzer": "[analyzer]"}


@pytest.mark.parametrize("parties", [["shuffler"], ["analyzer"], ["shuffler", "analyzer"]])
@pytest.mark.parametrize("layout", PARTIES)
def test_keys_are_written_into_a_plan(folder, croupier, parties, layout):
    file = folder / "plan.toml"
    file.write_text("# ours\n" + PLAN.format(parties=PARTIES[layout], limit=0.99))
    before = Plan.load(file)
    for party in parties:  # one after the other, as on two hosts
        made = croupier("keys", "create", party, "--into", file)
        assert made.code == 0, made.err
        assert f"Wrote the key of {TABLES[party]} into {file}." in made.out
    plan = Plan.load(file)
    public = {
        NAMED[party]: PublicKeys.load(folder / "keys" / party, role=party, option="").key
        for party in parties
    }
    assert plan == before.replace(**public)
    assert file.read_text().startswith("# ours\n")
    assert ("# who" in file.read_text()) == (layout == "table")
    again = croupier("keys", "create", *parties, "--into", file)
    assert again.code == 0, "the same keys may be written again"
    assert Plan.load(file) == plan


def test_printed_lines_pasted_at_the_end_make_a_plan(folder, croupier):
    file = folder / "plan.toml"
    made = croupier("keys", "create", "shuffler", "analyzer")
    lines = made.out.split("\n\n")[0]
    file.write_text(PLAN.format(parties=lines, limit=0.99))
    plan = Plan.load(file)
    shown = f'[[shufflers]]\nkey = "{plan.shuffler_key}"\n[analyzer]\nkey = "{plan.analyzer_key}"'
    assert shown == lines


@pytest.mark.parametrize("roles", [["shuffler"], ["analyzer"], ["release", "intake"], ROLES])
def test_json_names_the_keys_as_a_plan_does(folder, croupier, roles):
    (folder / "plan.toml").write_text(PLAN.format(parties="", limit=0.99))
    bare = Plan.load(folder / "plan.toml")
    made = croupier("keys", "create", *roles, "--json").document
    assert made.keys() == {"schema_version", "keys", "plan"}
    plan = bare.replace(**made["plan"])
    assert (plan.shuffler_key is not None) == ("shuffler" in roles)
    assert (plan.analyzer_key is not None) == ("analyzer" in roles)


def test_a_plan_that_names_another_key_gets_none(folder, croupier):
    file = folder / "plan.toml"
    text = PLAN.format(parties=f'[[shufflers]]\nkey = "{"0" * 64}"', limit=0.99)
    file.write_text(text)
    for _ in range(2):
        refused = croupier("keys", "create", "shuffler", "--into", file)
        assert refused.code == 2
        assert "another plan" in refused.err
        assert not (folder / "keys").exists()
    assert croupier("keys", "create", "shuffler").code == 0
    assert croupier("keys", "create", "shuffler", "--into", file).code == 2
    assert file.read_text() == text


@pytest.mark.parametrize("layout", PARTIES)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_line_ends_and_the_byte_order_mark_stay(folder, croupier, layout, mark):
    file, text = folder / "plan.toml", PLAN.format(parties=PARTIES[layout], limit=0.99).lstrip()
    before = mark + text.replace("\n", "\r\n").encode()
    file.write_bytes(before)
    made = croupier("keys", "create", "shuffler", "analyzer", "--into", file)
    assert made.code == 0, made.err
    after = file.read_bytes()
    assert after.startswith(mark + b"schema")
    assert after.count(b"\n") == after.count(b"\r\n")
    assert Plan.load(file).analyzer_key


def test_a_link_to_a_plan_stays_a_link(folder, croupier):
    (folder / "plans").mkdir()
    file, link = folder / "plans" / "emoji.toml", folder / "plan.toml"
    file.write_text(PLAN.format(parties="", limit=0.99))
    link.symlink_to(file)
    assert croupier("keys", "create", "shuffler", "--into", link).code == 0
    assert link.is_symlink()
    assert Plan.load(file).shuffler_key


def test_a_plan_that_cannot_be_written_gets_no_keys(folder, croupier):
    file, text = folder / "plan.toml", PLAN.format(parties="", limit=0.99)
    file.write_text(text)
    file.chmod(0o444)
    refused = croupier("keys", "create", "shuffler", "--into", file)
    assert refused.code == 2
    assert "Make it writable" in refused.err
    assert not (folder / "keys").exists()
    assert file.read_text() == text


def test_a_short_passphrase_is_refused(folder, croupier, monkeypatch):
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "x")
    refused = croupier("keys", "create", "shuffler")
    assert refused.code == 2
    assert "at least 12 characters" in refused.err
    assert not (folder / "keys").exists()


def test_both_keys_on_one_host_are_called_what_they_are(folder, croupier):
    made = croupier("keys", "create", "shuffler", "analyzer")
    assert "collusion" in made.out
    for name in ("shuffler/shuffler.pem", "analyzer/analyzer.pem", "analyzer/analyzer.hpke.pem"):
        assert stat.S_IMODE((folder / "keys" / name).stat().st_mode) == 0o600
    again = croupier("keys", "create", "shuffler")
    assert again.code == 1
    assert "already" in again.err


def test_each_role_has_a_directory_of_its_own(folder, croupier):
    assert croupier("keys", "create", "intake", "--keys", "one").code == 0
    before = (folder / "one" / "public.json").read_bytes()
    (folder / "plan.toml").write_text(PLAN.format(parties="", limit=0.99))
    for role in ("shuffler", "release", "analyzer"):
        into = () if role == "release" else ("--into", "plan.toml")
        refused = croupier("keys", "create", role, "--keys", "one", *into)
        assert refused.code == 1
        assert f"holds intake.hpke.pem, which is not of {role}" in refused.err
    assert (folder / "one" / "public.json").read_bytes() == before
    assert not [*(folder / "one").glob("[!i]*.pem")]


def test_several_roles_of_which_some_are_there_are_completed(folder, croupier):
    croupier("keys", "create", "shuffler", "--keys", "keys/shuffler")
    before = (folder / "keys/shuffler/shuffler.pem").read_bytes()
    done = croupier("keys", "create", "shuffler", "release", "intake")
    assert done.code == 0, done.err
    assert (folder / "keys/shuffler/shuffler.pem").read_bytes() == before
    assert (folder / "keys/intake/public.json").is_file()


def test_what_was_interrupted_is_completed_and_nothing_is_replaced(folder, croupier, monkeypatch):
    real, left = durable.create, [1]

    def dying(path, data):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(durable, "create", dying)
        assert croupier("keys", "create", "intake").code != 0
    keys = IntakeKeys(folder / "keys" / "intake", PASSPHRASE)
    seal = keys.sealing_key("intake").public_key().public_bytes_raw().hex()
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "another passphrase")
    other = croupier("keys", "create", "intake")
    assert other.code == 1, "one directory has one passphrase"
    assert not keys.has_signing_key("intake")
    monkeypatch.setenv("CROUPIER_PASSPHRASE", PASSPHRASE.decode())
    assert croupier("keys", "create", "intake").code == 0
    assert PublicKeys.load(keys.path, role="intake", option="").seal == seal
    (keys.path / "intake.hpke.pem").rename(folder / "away")
    lost = croupier("keys", "create", "intake")
    assert lost.code == 1
    assert "public.json is there already. Move the directory away" in lost.err
    assert not (keys.path / "intake.hpke.pem").exists(), "a lost key is not made anew"


@pytest.mark.parametrize("role", ["shuffler", "intake", "analyzer"])
def test_a_full_disk_leaves_no_half_of_a_key(folder, croupier, role):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
    try:
        assert croupier("keys", "create", role).code == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert not [*(folder / "keys" / role).glob("[!.]*")]
    assert croupier("keys", "create", role).code == 0


def test_what_was_written_and_what_stays_offline_is_named(folder, croupier):
    (folder / "plan.toml").write_text(PLAN.format(parties="", limit=0.99))
    made = croupier("keys", "create", *ROLES, "--into", "plan.toml")
    folders = " and ".join(f"keys/{role}" for role in ROLES)
    assert made.out.startswith(
        f"Private keys are in {folders}.\n"
        "Wrote the key of [[shufflers]] and [analyzer] into plan.toml.\n"
    )
    assert "Keep keys/shuffler offline: its key signs the list" in made.out


def test_a_signed_key_is_what_clients_believe(deployed, folder):
    signed = AnalyzerKey.verified((folder / "analyzer.json").read_bytes(), deployed.plan)
    assert signed.public_key == deployed.analyzer.sealing_key("analyzer").public_key()


def test_the_verdict_on_the_policy_is_signed(deployed, folder):
    signed = AnalyzerKey.verified((folder / "analyzer.json").read_bytes(), deployed.plan)
    assert signed.policy.judgement == "met"
    assert signed.policy.judged == deployed.plan.policy_digest
    assert not signed.policy.despite_policy


@pytest.mark.parametrize(
    ("limit", "judgement", "said"),
    [
        ("0.51", "not met", "The policy is not met. batch max_guess_of_two = 0.51"),
        (
            "1",
            "no limit set",
            "No limit is set on batch and clients. batch max_guess_of_two = 1",
        ),
    ],
)
def test_a_policy_that_is_not_met_is_signed_on_purpose_only(
    deployed, folder, croupier, limit, judgement, said
):
    text = (folder / "plan.toml").read_text().replace("= 0.99", f"= {limit}")
    (folder / "other.toml").write_text(text)
    plan = Plan.load(folder / "other.toml")
    assert plan.digest == deployed.plan.digest
    refused = croupier("keys", "sign", "analyzer", "other.toml", "-o", "other.json")
    assert refused.code == 4
    assert refused.err.startswith(said)
    assert "--despite-policy" in refused.err
    assert not (folder / "other.json").exists()
    despite = croupier(
        "keys", "sign", "analyzer", "other.toml", "-o", "other.json", "--despite-policy"
    )
    assert despite.code == 0
    assert "the plan runs despite that" in despite.out
    word = AnalyzerKey.verified((folder / "other.json").read_bytes(), plan).policy
    assert (word.judgement, word.judged) == (judgement, plan.policy_digest)
    assert word.despite_policy


def test_what_is_missing_is_said(folder, croupier, monkeypatch):
    (folder / "plan.toml").write_text(PLAN.format(parties="", limit=0.99))
    assert croupier("keys", "create", "analyzer").code == 0
    unnamed = croupier("keys", "sign", "analyzer", "plan.toml")
    assert unnamed.code == 2
    assert "analyzer.key" in unnamed.err
    monkeypatch.delenv("CROUPIER_PASSPHRASE")
    secret = croupier("keys", "create", "shuffler")
    assert secret.code == 2
    assert "CROUPIER_PASSPHRASE" in secret.err
    (folder / "passphrase").write_text("wrong\n")
    (folder / "passphrase").chmod(0o600)
    wrong = croupier("keys", "sign", "analyzer", "plan.toml", "--passphrase-file", "passphrase")
    assert wrong.code == 1
    assert "Check the passphrase" in wrong.err


class Shuffler:
    """Keeps what it is sent; refuses with `status` after `limit` requests."""

    def __init__(self, deployed, *, limit=10**9, status=409):
        self.bodies, self.deployed = [], deployed
        inner = deployed.analyzer.sealing_key("analyzer")
        self.epoch = Epoch.of(
            deployed.plan,
            round_number=0,
            batch=os.urandom(16),
            analyzer=inner.public_key().public_bytes_raw(),
        )
        self.secrets = deployed.release.create_batch(self.epoch.batch, plan=self.epoch.plan)
        signing_key = deployed.release.signing_key("release")
        key = ShufflerKey.make(
            self.epoch, deployed.plan, key=self.secrets.outer, signing_key=signing_key
        )
        analyzer = AnalyzerKey.make(
            deployed.plan, key=inner, signing_key=deployed.analyzer.signing_key("analyzer")
        )
        keys = listed(Path(), deployed.plan)
        key_list = KeyList.of(
            deployed.plan, analyzer=analyzer, keys=keys, shuffler=(key,)
        ).to_bytes()
        refusal = NotAccepted.make(
            deployed.plan,
            batch=self.epoch.batch,
            sent="00" * 32,
            signing_key=deployed.intake.signing_key("intake"),
        ).to_bytes()
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(200, key_list)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if len(bodies) == limit:
                    self.answer(status, refusal)
                else:
                    bodies.append(body)
                    self.answer(202, b"")

            def answer(self, code, content):
                self.send_response(code)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reports(self):
        """What the analyzer finds, in the order of arrival."""
        data, size = b"".join(self.bodies), self.epoch.envelope_length
        inner = self.deployed.analyzer.sealing_key("analyzer")
        for start in range(0, len(data), size):
            outer = open_outer(data[start : start + size], key=self.secrets.outer, epoch=self.epoch)
            report = open_inner(outer.inner, key=inner, epoch=self.epoch)
            yield int(decode_report(self.deployed.plan, report, round_number=0))


@pytest.fixture
def answers(folder):
    values = ["yes", "no", "no", "no"] * 60
    (folder / "answers.csv").write_text("\n".join(["answer", *values]) + "\n")
    return values


def test_a_file_reaches_the_analyzer(deployed, croupier, answers):
    shuffler = Shuffler(deployed)
    flags = ("--server", shuffler.url, "--per-request", 50)
    done = croupier("submit", "plan.toml", "answers.csv", *flags)
    assert done.code == 0, done.err
    assert done.out == f"SENT  240 reports, plan {deployed.plan.digest[:8]}\n"
    assert [len(body) for body in shuffler.bodies] == [6400] * 4 + [5120]
    truth = [int(answer == "yes") for answer in answers]
    agree = sum(a == b for a, b in zip(shuffler.reports(), truth, strict=True))
    assert agree > 220  # each is kept with probability 0.9997


def test_a_closed_batch_ends_it(deployed, croupier, answers):
    shuffler = Shuffler(deployed, limit=2)
    flags = ("--server", shuffler.url, "--per-request", 50)
    done = croupier("submit", "plan.toml", "answers.csv", *flags)
    assert done.code == 1
    assert "the batch was closed. 100 reports were accepted" in done.err
    assert len(answers) == 240


def test_json(deployed, croupier, answers):
    shuffler = Shuffler(deployed)
    done = croupier("submit", "plan.toml", "answers.csv", "--server", shuffler.url, "--json")
    assert done.document == {
        "schema_version": 2,
        "plan_digest": deployed.plan.digest,
        "accepted": len(answers),
        "outcome": "accepted",
        "secure": True,
    }
    assert json.loads(done.out)["accepted"] == 240


def test_a_value_that_does_not_fit_stays_unsaid(deployed, croupier, folder):
    (folder / "answers.csv").write_text("answer\nyes\nzebra\n")
    shuffler = Shuffler(deployed)
    done = croupier("submit", "plan.toml", "answers.csv", "--server", shuffler.url)
    assert done.code == 1
    assert "zebra" not in done.out + done.err
    assert not shuffler.bodies


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "population",
            'participation.model = "multinomial"\nparticipation.weights = 3\npopulation',
            "let everybody answer",
        ),
        ("population", "participation.weights = 3\npopulation", "one question"),
    ],
)
def test_plans_that_need_a_memory_or_more_columns_are_refused(
    deployed, croupier, answers, folder, old, new, said
):
    text = (folder / "plan.toml").read_text().replace(old, new, 1)
    (folder / "other.toml").write_text(text)
    done = croupier("submit", "other.toml", "answers.csv", "--server", "https://x.example")
    assert done.code == 2
    assert said in done.err
    assert deployed
    assert answers


def test_a_server_without_tls_is_refused(deployed, croupier, answers):
    done = croupier("submit", "plan.toml", "answers.csv", "--server", "http://reports.example")
    assert done.code == 2
    assert "https://" in done.err
    assert deployed
    assert answers


def test_keys_do_not_go_into_a_file(folder, croupier):
    (folder / "taken").write_text("")
    outcome = croupier("keys", "create", "shuffler", "--keys", "taken")
    assert outcome.code == 1
    assert outcome.err == "taken is not a directory. Name another for the keys.\n"
