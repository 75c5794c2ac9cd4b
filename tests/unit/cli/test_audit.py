import hashlib
import json
import re
import shutil
import sys

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.auditing.shuffler.order_uniformity import KINDS
from croupier.auditing.shuffler.sent import seal_test_reports
from croupier.cli.audit.recorded import recorded_column
from croupier.engines.mixing import mixed
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import write_batch
from croupier.protocol.receipt import FIRST, Counts, Receipt, ReleasedFile
from croupier.protocol.wire import Epoch, encode_report

SHOP = """
import secrets
import numpy as np
from croupier.randomizers import KaryRandomizedResponse

def respond(value):
    return value if secrets.randbelow(4) else 1 - value

def many(values):
    return np.where(np.random.default_rng().random(len(values)) < 0.75, values, 1 - values)

_fixed = np.random.default_rng(7)

def from_a_seed(value):
    return value if _fixed.random() < 0.75 else 1 - value

_calls, _flip = 0, False

def every_second(value):
    global _calls, _flip
    if _calls % 2 == 0:
        _flip = not secrets.randbelow(4)
    _calls += 1
    return 1 - value if _flip else value

class Inside:
    exact = KaryRandomizedResponse(k=2, max_epsilon_local=1.0)
"""


@pytest.fixture(autouse=True)
def shop(tmp_path, monkeypatch):
    """A module in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (tmp_path / "shop.py").write_text(SHOP)
    yield
    sys.modules.pop("shop", None)


RESPOND = ("audit", "shop:respond", "--inputs", "0,1", "--draws", 20_000)


def test_a_violation(croupier):
    outcome = croupier(*RESPOND, "--claim", 0.5)
    assert outcome.code == 5
    assert outcome.out.startswith("VIOLATION  epsilon_local is at least ")
    assert "(95 % confidence); claimed 0.5" in outcome.out
    assert "chosen on a separate split" in outcome.out
    assert "samples    20,000 per input" in outcome.out


def test_no_violation_found(croupier):
    outcome = croupier(*RESPOND, "--claim", 1.5)
    assert outcome.code == 0
    assert outcome.out.startswith("NO VIOLATION FOUND")
    assert "power      found 9 times in 10: 1.5" in outcome.out
    assert "private" not in outcome.out


def test_what_was_looked_at_and_what_was_not(croupier):
    outcome = croupier(*RESPOND, "--claim", 1.5)
    power, unseen = outcome.out.split("unseen     ")
    assert "outputs that only one input has: found 9 times in 10 from 1 in " in power
    assert "noise that calls regularly repeat from another one" in power
    assert "noise that repeats after every start" in power
    assert "leaks rarer than 1 in " in unseen
    for words in (
        "other inputs",
        "noise shared now and then",
        "noise that can be predicted",
        "side channels",
    ):
        assert words in unseen
    assert "start" not in unseen
    shuffled = croupier(*RESPOND, "--claim", 3, "--view", "shuffled", "--n", 5)
    assert "rare leaks in single reports; noise shared by calls" in shuffled.out


@pytest.mark.parametrize(
    ("name", "other"),
    [("every_second", "the call before"), ("from_a_seed", "the same call after another start")],
)
def test_noise_that_is_not_fresh(croupier, name, other):
    flags = ("--inputs", "0,1", "--draws", 20_000, "--claim", 1.5)
    outcome = croupier("audit", f"shop:{name}", *flags)
    assert outcome.code == 5
    assert outcome.out.startswith("VIOLATION  draws are not fresh: epsilon_local is at least ")
    assert f"to somebody who knows {other} (95 % confidence); claimed 1.5" in outcome.out
    assert "pairs of calls with equal inputs, in 0 of " in outcome.out
    document = croupier("audit", f"shop:{name}", *flags, "--json").document
    assert document["refuted"]
    shown = document["repeats" if name == "every_second" else "restart"]
    assert shown["epsilon_lower"] > 1.5
    assert shown["equal"][1] == 0


def test_a_module_that_cannot_be_called_in_another_process(croupier, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nonexistent")
    outcome = croupier(*RESPOND, "--claim", 1.5)
    assert outcome.code == 0
    assert "noise that repeats after every start" in outcome.out.split("unseen     ")[1]


def test_the_document(croupier):
    outcome = croupier(*RESPOND, "--claim", 0.5, "--json")
    assert outcome.code == 5
    document = outcome.document
    assert document["schema_version"] == 2
    assert document["refuted"] is True
    assert document["claim"] == 0.5
    assert 0.9 < document["epsilon_local_lower"] < 1.25
    assert document["confidence"] == 0.95
    assert document["samples"] == 20_000
    assert sorted(document["witness"]["inputs"]) == [0, 1]
    assert document["power"][0]["epsilon"] > 0.5
    assert 0 < document["rarest_leak"] < 0.01
    assert "other inputs" in document["not_looked_at"]


def test_vectorised_and_randomizers(croupier):
    flags = ("--inputs", "0,1", "--draws", "1e5")
    assert croupier("audit", "shop:many", *flags, "--vectorised", "--claim", 1.0).code == 5
    own = croupier("audit", "shop:Inside.exact", *flags, "--confidence", 1 - 1e-9, "--json")
    assert own.code == 0
    assert own.document["claim"] == pytest.approx(1.0)


def test_the_shuffled_view(croupier):
    flags = ("--view", "shuffled", "--n", 20, "--delta", 0.01, "--vectorised")
    outcome = croupier(
        "audit", "shop:many", "--inputs", "[0, 1]", "--claim", 0.05, *flags, "--json"
    )
    assert outcome.code == 5
    assert outcome.document["epsilon_lower"] > 0.05
    assert outcome.document["delta"] == 0.01


def test_bayes_security(croupier):
    flags = ("--metric", "bayes_security", "--confidence", 1 - 1e-9)
    assert croupier(*RESPOND, *flags, "--claim", 0.6).code == 5
    outcome = croupier(*RESPOND, *flags, "--claim", 0.4)
    assert outcome.code == 0
    assert "bayes_security is at most 0.5" in outcome.out
    assert "and below is found" in outcome.out
    assert croupier(*RESPOND, *flags, "--claim", 0.6, "--json").document["interval"][0] == 0


def test_reidentification(croupier):
    flags = ("--metric", "reidentification", "--n", 10)
    assert croupier(*RESPOND, *flags, "--claim", 0.1).code == 5
    outcome = croupier(*RESPOND, *flags, "--claim", 0.4)
    assert outcome.code == 0
    assert "and above is found" in outcome.out


def test_recorded_calls(croupier, tmp_path):
    rows = [f"{x},{x ^ (turn % 4 == 0)}" for turn in range(4000) for x in (0, 1)]
    (tmp_path / "calls.csv").write_text("\n".join(["input,output", *rows]) + "\n")
    outcome = croupier("audit", "--samples", tmp_path / "calls.csv", "--claim", 0.8, "--quiet")
    assert outcome.code == 5
    assert outcome.out == ""
    assert "refuted" in outcome.err
    assert croupier("audit", "--samples", tmp_path / "calls.csv", "--claim", 1.5).code == 0


TELLING = {
    "whole numbers beyond a double": ("1" + "0" * 30, "1" + "0" * 29 + "1"),
    "a leading zero": ("1", "01"),
    "a leading space": ("1", " 1"),
    "a truth value": ("1", "true"),
    "digits beyond a double": ("1", "1.0000000000000000001"),
    "a way of writing": ("1", "1.0"),
    "the sign of zero": ("0.0", "-0.0"),
    "forty bits": ("0" * 40, "1" + "0" * 39),
    "a missing output": ("1.5", ""),
    "no number": ("1.5", "nan"),
    "missing or no number": ("nan", ""),
}
"""Outputs of the inputs 0 and 1 that tell all, and that a careless reading makes equal."""


@pytest.mark.parametrize("outputs", TELLING.values(), ids=TELLING)
def test_recorded_outputs_stay_apart(croupier, tmp_path, outputs):
    file = tmp_path / "calls.csv"
    rows = "".join(f"{i % 2},{outputs[i % 2]}\n" for i in range(1000))
    file.write_text(f"input,output\n{rows}")
    assert croupier("audit", "--samples", file, "--claim", 1).code == 5
    flags = ("--metric", "bayes_security", "--claim", 0.5)
    assert croupier("audit", "--samples", file, *flags).code == 5


@pytest.mark.parametrize("output", [[1, None], [1.5, None], [1.5, float("nan")], ["a", None]])
def test_a_missing_output_of_a_parquet_file_is_an_output(croupier, tmp_path, output):
    file = tmp_path / "calls.parquet"
    columns = {"input": [0, 1] * 500, "output": output * 500}
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    assert croupier("audit", "--samples", file, "--claim", 1).code == 5
    flags = ("--metric", "bayes_security", "--claim", 0.5)
    assert croupier("audit", "--samples", file, *flags).code == 5


@pytest.mark.parametrize("file", ["calls.csv", "calls.parquet"])
def test_a_missing_input_is_refused(croupier, tmp_path, file):
    table = pyarrow.table({"input": [0, None] * 50, "output": [0, 1] * 50})
    write = pyarrow.csv.write_csv if file.endswith("csv") else pyarrow.parquet.write_table
    write(table, tmp_path / file)
    outcome = croupier("audit", "--samples", tmp_path / file, "--claim", 1)
    assert outcome.code == 1
    assert "50 entries of input are missing" in outcome.err


@pytest.mark.parametrize(
    ("name", "text"),
    [("leaves", "import sys; sys.exit(0)"), ("unfinished", "def respond(:"), ("fails", "1 / 0")],
)
def test_a_module_that_cannot_be_imported(croupier, tmp_path, name, text):
    (tmp_path / f"{name}.py").write_text(text)
    outcome = croupier("audit", f"{name}:respond", "--claim", 1, "--inputs", "0,1")
    assert outcome.code == 2
    assert "importable" in outcome.err


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("shop:respnd", "Did you mean respond?"),
        ("shop.py:respond", "Leave out .py: shop:respond."),
        ("nowhere:respond", "Run it in the directory that holds the module."),
        ("needy:respond", "python -c 'import needy' shows where."),
    ],
)
def test_the_hint_fits_what_is_missing(croupier, tmp_path, target, hint):
    (tmp_path / "needy.py").write_text("import nothing_of_this_name")
    outcome = croupier("audit", target, "--claim", 1, "--inputs", "0,1")
    assert outcome.code == 2
    assert hint in outcome.err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("input,output\n" + "0,1\n" * 50, "two or more inputs; got 1"),
        ("input,output\n", "two or more inputs; got 0"),
        ("in,out\n0,1\n", "have a column called input; got 'in, out'"),
    ],
)
def test_recorded_calls_that_tell_nothing_apart(croupier, tmp_path, rows, message):
    (tmp_path / "calls.csv").write_text(rows)
    outcome = croupier("audit", "--samples", tmp_path / "calls.csv", "--claim", 1)
    assert outcome.code == 2
    assert message in outcome.err


def test_numbers_of_a_csv_file_are_numbers(tmp_path):
    """So that thresholds can be asked for."""
    file = tmp_path / "calls.csv"
    for text, kind in (("1\n-2\n", "i"), ("0\n0.25\n1e-05\n", "f"), ("1\nx\n", "O")):
        file.write_text(f"output\n{text}")
        assert recorded_column(file, "output").dtype.kind == kind


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("shop:respond", "--inputs", "0,1"), "--claim"),
        (("shop:respond", "--claim", 1), "--inputs"),
        (("shop:respond", "--claim", 1, "--inputs", "[0"), "--inputs"),
        (("shop:nothing", "--claim", 1, "--inputs", "0,1"), "importable"),
        (("nowhere:f", "--claim", 1, "--inputs", "0,1"), "importable"),
        (("shop", "--claim", 1, "--inputs", "0,1"), "MODULE:FUNCTION"),
        (("--claim", 1), "MODULE:FUNCTION"),
        (("shop:respond", "--claim", 1, "--inputs", "0,1", "--view", "shuffled"), "--n"),
        (("shop:respond", "--claim", 1, "--inputs", "0,1", "--n", 3), "--n"),
        (
            (
                *("shop:respond", "--claim", 1, "--inputs", "0,1", "--n", 3),
                *("--view", "shuffled", "--metric", "bayes_security"),
            ),
            "--view",
        ),
        (("--samples", "x.csv", "--claim", 1, "--n", 3, "--view", "shuffled"), "--samples"),
        (("--samples", "x.csv", "--claim", 1, "--inputs", "0,1"), "--inputs"),
        (("math:sqrt", "--claim", 1, "--inputs", "0,1", "--draws", 0), "--draws"),
        (("shop:respond", "--claim", 0, "--inputs", "0,1", "--metric", "bayes_security"), "claim"),
    ],
)
def test_usage_errors(croupier, arguments, problem):
    outcome = croupier("audit", *arguments)
    assert outcome.code == 2
    assert problem in outcome.err


COUNT = 200
PLAN = """
schema = 2
randomizer = {{mechanism = "k-rr", k = 2, max_epsilon_local = 1}}
population.enrolled = 1000
protections.minimum_batch = 100
shufflers = [{{key = "{public}"}}]
"""


class Shuffler:
    """Signs whatever it releases."""

    def __init__(self, folder):
        self.key = Ed25519PrivateKey.generate()
        self.folder = folder
        text = PLAN.format(public=self.key.public_key().public_bytes_raw().hex())
        (folder / "plan.toml").write_text(text)
        self.plan = Plan.from_toml(text)
        analyzer = X25519PrivateKey.generate().public_key().public_bytes_raw()
        epoch = Epoch.of(self.plan, round_number=0, batch=bytes(16), analyzer=analyzer)
        self.sent = seal_test_reports(
            [encode_report(self.plan, None, round_number=0)] * COUNT,
            epoch=epoch,
            shuffler=X25519PrivateKey.generate().public_key(),
            times=np.arange(COUNT),
        )
        self.sent.save(folder / "sent.parquet")

    def release(self, rows, name):
        file = self.folder / f"{name}.parquet"
        write_batch(rows, file)
        receipt = Receipt(
            event="released",
            plan=self.plan.digest,
            round=0,
            batch=bytes(16).hex(),
            number=0,
            previous=FIRST,
            counts=Counts(received=len(rows), released=len(rows)),
            file=ReleasedFile.of(file, name=file.name),
        ).signed(self.key)
        (self.folder / f"{name}.receipt.json").write_text(receipt.text)
        return self.flags(name)

    def flags(self, name):
        return (
            *("audit", "shuffler", self.folder / f"{name}.receipt.json"),
            *("--plan", self.folder / "plan.toml", "--sent", self.folder / "sent.parquet"),
        )


@pytest.fixture
def shuffler(tmp_path):
    return Shuffler(tmp_path)


def test_an_honest_shuffler(croupier, shuffler):
    flags = shuffler.release(mixed(shuffler.sent.inner), "good")
    outcome = croupier(*flags)
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("NO VIOLATION FOUND  in ")
    assert "samples    200 sent, 200 released in 1 batch\n" in outcome.out
    assert "power      one of these is found: lost, doubled, count, minimum" in outcome.out
    assert "of 200 reports in the largest batch, by order of sending" in outcome.out
    assert re.search(r"^ +11 +1  kept their place", outcome.out, re.MULTILINE)
    assert "one of 2 blocks, or one place in 2" in outcome.out
    assert "not seen   reports of other people" in outcome.out
    assert "False alarm 1e-06. Evidence, not proof." in outcome.out
    document = croupier(*flags, "--json").document
    assert {entry["kind"] for entry in document["power"]} == set(KINDS)
    assert len(document["not_seen"]) == 5
    digests = document["files"]
    sent = hashlib.sha256((shuffler.folder / "sent.parquet").read_bytes()).hexdigest()
    assert digests["sent.parquet"] == sent
    assert digests["plan.toml (plan digest)"] == shuffler.plan.digest
    assert sent in outcome.out
    assert document["refuted"] is False
    assert {check["promise"] for check in document["checks"]} >= {"lost", "position"}


def test_a_shuffler_that_drops_one(croupier, shuffler):
    flags = shuffler.release(mixed(shuffler.sent.inner)[1:], "bad")
    outcome = croupier(*flags)
    assert outcome.code == 5
    assert "VIOLATION  lost: 1 sent reports in no batch" in outcome.out
    quiet = croupier(*flags, "--quiet")
    assert quiet.code == 5
    assert "did not keep its promise" in quiet.err
    assert croupier(*flags, "--json").document["refuted"] is True


def test_a_shuffler_that_keeps_the_order(croupier, shuffler):
    outcome = croupier(*shuffler.release(shuffler.sent.inner, "bad"))
    assert outcome.code == 5
    assert "VIOLATION  position: 200 of 200 reports kept their place" in outcome.out


def test_a_shuffler_that_interleaves_two_halves(croupier, shuffler):
    first, second = (
        mixed(shuffler.sent.inner[: COUNT // 2]),
        mixed(shuffler.sent.inner[COUNT // 2 :]),
    )
    rows = np.stack([first, second], axis=1).reshape(COUNT, -1)
    outcome = croupier(*shuffler.release(rows, "bad"))
    assert outcome.code == 5
    words = "were sent in one of 2 blocks and released at one place in 2 (by order of sending)"
    assert f"VIOLATION  position: 100 of 200 reports {words} (chance at most " in outcome.out
    assert "files      " in outcome.out


def test_a_batch_that_was_not_signed_is_not_audited(croupier, shuffler, tmp_path):
    shuffler.release(mixed(shuffler.sent.inner), "good")
    shuffler.release(mixed(shuffler.sent.inner), "other")
    shutil.copy(tmp_path / "other.parquet", tmp_path / "good.parquet")
    assert croupier(*shuffler.flags("good")).code == 1
    (tmp_path / "good.parquet").unlink()
    outcome = croupier(*shuffler.flags("good"))
    assert outcome.code == 2
    assert "good.parquet" in outcome.err


def test_a_receipt_with_another_count_is_called_changed(croupier, shuffler):
    """Not an error of its format, and by the name of its file."""
    shuffler.release(mixed(shuffler.sent.inner), "good")
    file = shuffler.folder / "good.receipt.json"
    document = json.loads(file.read_text())
    document["counts"]["received"] += 1
    file.write_text(json.dumps(document))
    outcome = croupier("receipt", "verify", file, "--plan", shuffler.folder / "plan.toml")
    assert outcome.code == 1
    words = " ".join(outcome.err.split())
    assert "good.receipt.json is not signed by the shuffler of the plan: it was changed" in words
    assert "the counts do not add up" in words
    assert "format" not in words
