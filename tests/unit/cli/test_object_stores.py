"""The commands with s3:// addresses: what they publish, read and refuse."""

import pytest

from croupier.protocol.object_store import ObjectStore
from tests.unit.cli.shuffler.test_release import make_site, site  # noqa: F401 - fixtures


def upload(folder, address):
    store = ObjectStore.at(address)
    for path in folder.iterdir():
        assert store.upload(path.name, path)
    return store


def test_release_publishes_and_verify_reads(site, prefix, tmp_path):  # noqa: F811 - a fixture
    for number in range(2):
        site.receive(5)
        done = site.release("-o", prefix, "--scratch", tmp_path / "scratch")
        assert done.code == 0, done.err
        assert done.out.startswith("RELEASED  5 reports: "), number
    assert site.release("-o", prefix).out == "No batch is open: nothing to release.\n"
    assert not (site.folder / "out").exists()
    assert not list((tmp_path / "scratch").rglob(".*"))
    names = ObjectStore.at(prefix).sizes()
    assert len([name for name in names if name.endswith(".parquet")]) == 2

    def verify(*addresses):
        return site.croupier("receipt", "verify", *addresses, "--plan", site.file)

    for addresses in ([prefix], [f"{prefix}/"], [f"{prefix}/*.json"]):
        checked = verify(*addresses)
        assert checked.code == 0, checked.err
        assert checked.out.startswith("VALID  2 signed, chained receipts, numbers 0 to 1\n")
        assert "not checked" not in checked.out
    one = min(name for name in names if name.endswith(".receipt.json"))
    assert "VALID  1 signed" in verify(f"{prefix}/{one}").out
    nothing = verify(f"{prefix}/2020-*")
    assert nothing.code == 2
    assert "2020-*" in nothing.err


def test_verify_refuses_a_batch_that_was_changed(site, prefix):  # noqa: F811 - a fixture
    site.receive(5)
    assert site.release("-o", prefix).code == 0
    store = ObjectStore.at(prefix)
    (name,) = (name for name in store.sizes() if name.endswith(".parquet"))
    assert store.replace(name, b"changed", tag=store.read(name).tag)
    checked = site.croupier("receipt", "verify", prefix, "--plan", site.file)
    assert checked.code == 1
    assert f"is not about the {name} beside it" in checked.err


def test_analyze_reads_one_batch_or_all(
    make_released, prefix, croupier, memory_engine, monkeypatch, tmp_path
):
    monkeypatch.setattr("croupier.engines.base.engine", lambda _name, **_settings: memory_engine)
    released = make_released()
    first = released.collect([0] * 60)
    released.collect([1] * 60, 1)
    upload(released.out, prefix)
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def analyze(*arguments):
        given = ("--plan", released.file, "--keys", released.keys.path, "--json")
        return croupier("analyze", *arguments, *given, "--scratch", scratch)

    everything = analyze(prefix)
    assert everything.code == 0, everything.err
    assert everything.document["rounds"] == [0, 1]
    assert everything.document == analyze(*released.out.glob("*.parquet")).document
    for address in (f"{prefix}/{first.name}", f"{prefix}/*round-0.parquet"):
        assert analyze(address).document["rounds"] == [0]
    assert analyze(prefix, f"{prefix}/{first.name}").document["rounds"] == [0, 1]
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("command", ["release", "analyze", "verify"])
def test_what_is_wrong_is_named_before_anything_is_done(
    site,  # noqa: F811 - a fixture
    prefix,
    moto,
    monkeypatch,
    command,
):
    def run(address):
        if command == "release":
            return site.release("-o", address)
        words = {"analyze": ["analyze"], "verify": ["receipt", "verify"]}[command]
        return site.croupier(*words, address, "--plan", site.file)

    missing = run("s3://missing/released")
    assert missing.code == 1
    assert "has no bucket missing. Create it, or correct its name" in missing.err
    moto.require_known_credentials(required=True)
    try:
        refused = run(prefix)
    finally:
        moto.require_known_credentials(required=False)
    assert refused.code == 1
    assert "refuses the credentials (403 InvalidAccessKeyId). Check AWS_ACCESS" in refused.err
    assert run("s3://b/a b").code == 2
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    unreachable = run(prefix)
    assert unreachable.code == 1
    assert "http://127.0.0.1:1 cannot be reached (connection refused)" in unreachable.err
