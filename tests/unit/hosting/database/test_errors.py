"""Errors of the database name their cause and never what was written."""

import asyncio
import os
import shutil
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from croupier.demo.database import _programs
from croupier.hosting.database.connection import connect
from croupier.hosting.database.errors import StoreError, cause_of
from croupier.shuffler.database.store import Store


@pytest.fixture
def reachable():
    """A folder that PostgreSQL's own user may enter, which the tests' folders are not for root."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def cluster(folder, *options):
    """A PostgreSQL server with settings that are only read at its start, asking for passwords."""
    ahead = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    data = folder / "cluster"
    data.mkdir()
    if ahead:
        shutil.chown(data, "postgres")
    (folder / "password").write_text("hunter2\n")
    (folder / "password").chmod(0o644)

    def run(program, *arguments):
        command = [*ahead, _programs() / program, "-D", data, *arguments]
        subprocess.run([*map(str, command)], check=True, capture_output=True)

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    secret = ["-A", "scram-sha-256", "--pwfile", folder / "password"]
    run("initdb", "-U", "postgres", "--no-sync", *secret)
    given = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", *options]
    settings = " ".join(f"-c {option}" for option in given)
    run("pg_ctl", "-w", "-l", data / "log", "-o", f"-p {port} {settings}", "start")
    try:
        yield f"host=127.0.0.1 port={port} user=postgres dbname=postgres password=hunter2"
    finally:
        run("pg_ctl", "-m", "immediate", "stop")


def refused(database):
    with pytest.raises(StoreError) as caught:
        asyncio.run(Store.connect(database))
    with pytest.raises(StoreError) as again:
        connect(database)
    assert str(again.value) == str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_what_is_wrong_with_a_connection_is_said(database):
    def changed(**parts):
        return refused(make_conninfo(database, password="hunter2", **parts))  # noqa: S106

    assert changed(dbname="nosuch").startswith("the database does not exist (nosuch at 127.0.0.1")
    assert "Check --database. Only for a new installation, create it" in changed(dbname="nosuch")
    assert changed(user="nosuch").startswith("the database's role does not exist")
    assert changed(port=1).startswith("nothing listens where the database should be")
    assert changed(host="/nosuch").startswith("nothing listens where the database should be")
    assert changed(host="nosuch.invalid").startswith("the name of the database's host is not known")
    assert changed(sslmode="require").startswith("no encrypted connection")
    for wrong in ("mysql://me:hunter2@host/name", "postgresql+psycopg://me:hunter2@host/n?a=b"):
        assert refused(wrong).startswith("--database is not a PostgreSQL connection string.")


def test_a_service_that_is_not_defined_is_named(tmp_path, monkeypatch):
    expected = "the service that --database or PGSERVICE names is not defined"
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "none.conf"))
    assert refused("service=nosuch password=hunter2").startswith(expected)
    (tmp_path / "some.conf").write_text("[other]\nhost=127.0.0.1\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "some.conf"))
    said = refused("service=nosuch password=hunter2")
    assert said.startswith(expected)
    assert "~/.pg_service.conf" in said


def test_no_part_of_a_password_is_taken_for_a_place():
    for database in ("postgresql://me:hun@ter2@127.0.0.1:1/n", "postgresql://127.0.0.1:1/ter2@h/n"):
        assert "ter2" not in refused(database)


def test_a_database_that_closes_its_doors_is_named(database):
    name = conninfo_to_dict(database)["dbname"]
    with psycopg.connect(make_conninfo(database, dbname="postgres"), autocommit=True) as server:
        server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        assert "accepts no connections" in refused(database)
        server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true CONNECTION LIMIT 0".encode())
        role = f"{name}_guest"
        server.execute(f"CREATE ROLE {role} LOGIN".encode())
        try:
            guest = make_conninfo(database, user=role)
            assert "too many connections" in refused(guest)
            server.execute(f"ALTER DATABASE {name} CONNECTION LIMIT -1".encode())
            with pytest.raises(StoreError, match="lacks a permission") as caught:
                asyncio.run(migrate(guest))
            assert "OWNER TO" in str(caught.value)
        finally:
            server.execute(f"DROP ROLE {role}".encode())


async def migrate(database):
    store = await Store.connect(database)
    try:
        await store.migrate()
    finally:
        await store.close()


def test_a_server_that_stores_times_is_refused_and_a_wrong_password_is_named(reachable):
    with cluster(reachable, "track_commit_timestamp=on") as database:
        with pytest.raises(StoreError, match="stores when each row was committed") as caught:
            asyncio.run(Store.connect(database))
        assert "track_commit_timestamp = off" in str(caught.value)
        connect(database).close()  # what was collected can still be released
        wrong = refused(make_conninfo(database, password="hunter2 wrong"))  # noqa: S106
        assert wrong.startswith("the database refused the password")


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("53100", "the database's disk is full"),
        ("57P03", "the database is starting or stopping"),
        ("57014", "the database did not answer in time"),
        ("25006", "the database is read-only"),
        ("22023", "the database failed"),
    ],
)
def test_the_code_of_an_error_decides_and_its_text_is_not_repeated(database, code, cause):
    raising = f"DO $$ BEGIN RAISE EXCEPTION 'a row' USING ERRCODE = '{code}'; END $$"
    with psycopg.connect(database) as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute(raising.encode())
    assert cause_of(caught.value).sentence == cause
    assert "a row" not in str(StoreError(caught.value, database=database))


def test_a_server_that_starts_or_that_is_unknown_is_told_apart():
    starting = psycopg.OperationalError("FATAL:  the database system is starting up")
    assert cause_of(starting).sentence == "the database is starting or stopping"
    foreign = psycopg.OperationalError("FATAL:  la base de données n'existe pas")
    assert cause_of(foreign).sentence == "the database failed"
