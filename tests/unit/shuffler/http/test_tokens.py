"""Tokens from end to end: an issuer, a shuffler of two workers, clients over several rounds."""

import os

import psycopg
import pytest

from croupier.client.client import Client
from croupier.client.conversation import Outcome, converse, submit
from croupier.client.fetch_token import TokenOutcome, fetch_token
from croupier.client.memory import MemoryState
from croupier.client.server import Server
from tests.unit.issuer.service import issuing
from tests.unit.shuffler.http.conftest import within

TOKEN = {
    "admission": {"by": "token"},
    "protections": {"minimum_batch": 2},
    "population": {"enrolled": 20},
    "collection": {"every": "60s", "rounds": 3},
}


@pytest.fixture
def world(make_service, make_database):
    """A shuffler without an open round, and the issuer beside it."""
    with make_service(**TOKEN) as service, make_database() as database:
        service.start("--workers", "2", first=None)
        address = service.served["server"]
        options = ["--keys", service.tokens.path, "--shuffler", address, "--admit", "open"]
        phrase = service.directory / "tokens.txt"
        phrase.write_bytes(service.tokens.passphrase)
        phrase.chmod(0o600)
        options += ["--passphrase-file", phrase, "--workers", "2"]
        with issuing(service.directory, database, *options) as (issuer, _):
            yield service, issuer["server"], database


class Person:
    def __init__(self, service, issuer):
        self.client = Client(
            service.plan, attribute="x", budget=99, memory=MemoryState(), spread=0.0
        )
        self.server = Server(url=service.served["server"], issuer=issuer)

    def fetch(self):
        return submit(fetch_token(self.client, server=self.server))

    def answer(self, value):
        return submit(converse(self.client, value, server=self.server))


def test_people_answer_with_tokens_round_after_round(world):
    service, issuer, database = world
    people = [Person(service, issuer) for _ in range(4)]
    assert [each.fetch() for each in people[:3]] == [TokenOutcome.HELD] * 3
    assert people[0].fetch() is TokenOutcome.HELD, "held already: nothing is asked twice"
    service.open_round()
    assert within(60, lambda: service.shows(0))
    assert within(60, lambda: newest_open(database) == 0)
    assert people[0].answer(3) is Outcome.ACCEPTED
    assert people[0].answer(3) is Outcome.ACCEPTED, "the same bytes again, counted once"
    assert people[3].answer(1) is Outcome.NO_TOKEN, "who came late answers in the next round"
    assert people[1].answer(2) is Outcome.ACCEPTED
    with psycopg.connect(service.database) as connection:
        query = "SELECT relname FROM pg_class WHERE relname ~ '^env_[0-9a-f]+$'"
        ((table,),) = connection.execute(query).fetchall()
        rows = connection.execute(f"SELECT tag, envelope FROM croupier.{table}".encode()).fetchall()  # noqa: S608
    assert len(rows) == 2
    code, done = service.release("--next-round", "--analyzer", service.directory / "analyzer.json")
    assert code in {0, 4}, done
    # Everybody asked for the next round's token after answering, the one who came late as well.
    assert people[3].fetch() is TokenOutcome.HELD


def newest_open(database):
    with psycopg.connect(database) as connection:
        return connection.execute("SELECT max(round) FROM issuer.opened").fetchone()[0]


def test_a_token_is_spent_once_by_its_owner_in_its_round(world):
    service, issuer, _ = world
    person = Person(service, issuer)
    assert person.fetch() is TokenOutcome.HELD
    service.open_round()
    assert within(60, lambda: service.shows(0))
    key_list = service.get(service.path).body
    made = person.client.report(2, key_list=key_list)
    assert made.spent is not None
    headers = {
        "Content_Type": "application/octet-stream",
        "Croupier_Batch": made.batch,
        "Authorization": made.spent.authorization,
        "Croupier_Proof": made.spent.proof,
    }

    def send(body=made.body, **changed):
        given = {name: value for name, value in (headers | changed).items() if value}
        return service.request("POST", f"{service.path}/reports", body, **given).status

    other = os.urandom(len(made.body))
    assert send(other) == 401, "a thief cannot spend it on another report"
    assert send(Croupier_Proof="") == 401
    assert send(Croupier_Proof="00" * 96) == 401
    assert send(Authorization=f"Bearer {service.credentials.issue()}") == 401
    assert send(Authorization=made.spent.authorization.replace("A", "B", 1)) == 401
    assert send() == 202
    assert send() == 202
    with psycopg.connect(service.database) as connection:
        rows = connection.execute(
            f"SELECT count(*) FROM croupier.env_{made.batch}".encode()  # noqa: S608
        ).fetchone()
    assert rows == (1,)
