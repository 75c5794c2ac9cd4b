import sys
from hashlib import sha256

import pytest

from croupier.errors import MissingExtraError, ParameterError
from croupier.protocol.object_store import ObjectStore, ObjectStoreError, is_address


@pytest.fixture
def store(prefix):
    return ObjectStore.at(prefix)


def test_the_second_to_create_an_object_is_refused_and_the_first_stays(store):
    assert store.read("name") is None
    assert store.create("name", b"first")
    assert not store.create("name", b"second")
    assert not store.create("name", b"first"), "also with the same content"
    assert store.read("name").data == b"first"


def test_an_object_is_replaced_only_by_whoever_knows_it(store):
    store.create("name", b"first")
    first = store.read("name")
    assert store.replace("name", b"second", tag=first.tag)
    assert not store.replace("name", b"third", tag=first.tag)
    assert store.read("name").data == b"second"
    assert not store.replace("absent", b"first", tag=first.tag)
    assert store.read("absent") is None


def test_files_arrive_whole_and_only_once(store, tmp_path):
    content = bytes(range(256)) * 20_000
    source, other = tmp_path / "source", tmp_path / "other"
    source.write_bytes(content)
    other.write_bytes(content[::-1])
    assert store.upload("file", source)
    assert not store.upload("file", other)
    digest = sha256(content).hexdigest()
    assert store.digest("file", size=len(content)) == digest
    assert store.digest("absent", size=0) is None
    store.download("file", tmp_path / "copy", size=len(content))
    assert (tmp_path / "copy").read_bytes() == content
    with pytest.raises(ObjectStoreError, match="absent was removed while it was read"):
        store.download("absent", tmp_path / "absent", size=0)
    (tmp_path / "empty").touch()
    assert store.upload("empty", tmp_path / "empty")
    assert store.sizes() == {"empty": 0, "file": len(content)}


def test_prefixes_share_a_bucket_and_nothing_else(store):
    beside = ObjectStore(store.bucket, store.prefix + "2")
    below = ObjectStore(store.bucket, store.prefix + "/below")
    for place in (store, beside, below):
        assert place.create("name", place.prefix.encode())
    for place in (store, beside, below):
        assert place.sizes() == {"name": len(place.prefix)}
        assert place.read("name").data == place.prefix.encode()


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("s3://bucket", ("bucket", "")),
        ("s3://bucket/", ("bucket", "")),
        ("s3://bucket/a/b=1/", ("bucket", "a/b=1")),
    ],
)
def test_addresses(address, parts):
    assert is_address(address)
    found = ObjectStore.at(address)
    assert (found.bucket, found.prefix) == parts
    assert found.address == address.rstrip("/")


@pytest.mark.parametrize("address", ["s3://", "s3://b//c", "s3://bucket/../c", "s3://bucket/a b"])
def test_other_addresses_are_refused(address):
    with pytest.raises(ParameterError, match="must be s3://BUCKET/PREFIX"):
        ObjectStore.at(address)
    assert not is_address("out")


def refused(store, call):
    with pytest.raises(ObjectStoreError) as error:
        call(store)
    return str(error.value)


CALLS = [
    pytest.param(lambda store: store.sizes(), id="list"),
    pytest.param(lambda store: store.read("name"), id="read"),
    pytest.param(lambda store: store.create("name", b""), id="create"),
    pytest.param(lambda store: store.digest("name", size=1), id="digest"),
]


@pytest.mark.usefixtures("prefix")
@pytest.mark.parametrize("call", CALLS)
def test_a_missing_bucket_is_named(moto, call):
    said = refused(ObjectStore("missing", "p"), call)
    assert said.startswith(f"s3://missing/p: {moto.url} has no bucket missing. Create it")


@pytest.mark.parametrize("call", CALLS)
def test_wrong_credentials_are_named(store, moto, call):
    moto.require_known_credentials(required=True)
    try:
        said = refused(store, call)
    finally:
        moto.require_known_credentials(required=False)
    assert f"{moto.url} refuses the credentials (403 InvalidAccessKeyId). Check AWS_ACC" in said


def test_missing_credentials_are_named(store, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")
    said = refused(store, lambda store: store.sizes())
    assert "no credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY." in said


def test_an_endpoint_that_does_not_answer_is_named(store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    said = refused(store, lambda store: store.sizes())
    assert "http://127.0.0.1:1 cannot be reached (connection refused). Check AWS_END" in said


def test_an_endpoint_without_a_scheme_is_refused(store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "127.0.0.1:9000")
    with pytest.raises(ParameterError, match=r"`AWS_ENDPOINT_URL` must begin with https://"):
        store.sizes()


def test_nothing_is_sent_in_the_clear_unless_the_endpoint_says_http(moto, store, monkeypatch):
    """A server that speaks only HTTP gets no request."""
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto.url.replace("http://", "https://"))
    assert "cannot be reached" in refused(store, lambda store: store.sizes())


def test_the_extra_is_named_where_it_is_missing(store, monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingExtraError, match=r"s3:// address needs obstore.*\.\[objects\]"):
        store.sizes()
