"""`croupier keys supersede`: whoever has the root of the old plan points to the new one."""

import json
import shutil

import pytest

from croupier.plan.plan import Plan
from croupier.protocol.superseded import SupersededPlan

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", labels = ["no", "yes"], max_epsilon_local = 8.0}
population.enrolled = 1_000
protections.minimum_batch = 100
guarantee.delta = 1e-5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch, croupier):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "correct horse")
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    old.write_text(PLAN)
    new.write_text(PLAN.replace("8.0", "4.0"))
    assert croupier("keys", "create", "shuffler", "analyzer", "--into", "old.toml").code == 0
    keys = old.read_text().removeprefix(PLAN)
    new.write_text(new.read_text() + keys)
    return tmp_path


def test_the_pointer_is_signed_by_the_root_of_the_old_plan(folder, croupier):
    done = croupier("keys", "supersede", "old.toml", "new.toml", "--date", "2026-12-01")
    assert done.code == 0, done.err
    old, new = (Plan.load(folder / name) for name in ("old.toml", "new.toml"))
    assert f"plan {old.digest[:8]} was superseded by {new.digest[:8]}" in done.out
    read = SupersededPlan.verified((folder / "superseded.json").read_bytes(), digest=old.digest)
    assert (read.successor, read.superseded.date) == (new.digest, "2026-12-01")
    said = croupier("keys", "supersede", "old.toml", "new.toml", "-o", "other.json", "--json")
    assert said.document["successor"] == new.digest
    assert "date" not in json.loads((folder / "other.json").read_bytes())["superseded"]


def test_two_plans_of_one_digest_need_no_pointer(folder, croupier):
    text = (folder / "old.toml").read_text()
    (folder / "new.toml").write_text(text.replace("1_000", "2_000"))
    refused = croupier("keys", "supersede", "old.toml", "new.toml")
    assert refused.code == 2
    assert "`NEW` must be another plan than OLD to clients" in refused.err
    assert "Clients need nothing" in refused.err
    assert not (folder / "superseded.json").exists()


def test_another_root_or_a_successor_without_keys_is_refused(folder, croupier):
    stranger = ("--keys", "stranger")
    assert croupier("keys", "create", "shuffler", *stranger).code == 0
    refused = croupier("keys", "supersede", "old.toml", "new.toml", *stranger)
    assert refused.code == 2
    assert "`shufflers.key` must be the public half of the given key" in refused.err
    (folder / "bare.toml").write_text(PLAN.replace("8.0", "4.0"))
    refused = croupier("keys", "supersede", "old.toml", "bare.toml")
    assert refused.code == 2
    assert "`shufflers.key` must be given in bare.toml, since the digest" in refused.err
    assert croupier("keys", "supersede", "old.toml", "new.toml", "--date", "soon").code == 2
    assert not (folder / "superseded.json").exists()


def test_a_copy_under_another_name_is_the_same_plan(folder, croupier):
    shutil.copy(folder / "old.toml", folder / "copy.toml")
    assert croupier("keys", "supersede", "old.toml", "copy.toml").code == 2
