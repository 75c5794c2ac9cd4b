"""Enrolment against a real database: idempotent per device, once per subject, never too many."""

import asyncio
import os
from contextlib import asynccontextmanager

import psycopg
import pytest

from croupier.issuer.admission import CallbackCheck, OpenCheck
from croupier.issuer.database.people import People
from croupier.issuer.enrolment import Enrolment
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.admission.enrolment import EnrolmentRequest

CREDENTIALS = BearerCredentials(bytes(32))
PLAN = "ab" * 32


def request(device=None, proof=""):
    device = os.urandom(32) if device is None else device
    return EnrolmentRequest(schema_version=1, device=device.hex(), proof=proof)


def enrolment(check=None, most=100):
    check = OpenCheck() if check is None else check
    return Enrolment(credentials=CREDENTIALS, check=check, most=most, key=bytes(32))


class Only:
    """One connection, which is taken when it is needed."""

    def __init__(self, people):
        self._people, self.is_taken = people, False

    @asynccontextmanager
    async def taken(self):
        self.is_taken = True
        yield self._people
        self.is_taken = False


def connected(database, work, connections=1):
    async def run():
        opened = [await People.connect(database) for _ in range(connections)]
        try:
            await opened[0].migrate()
            return await work(*opened)
        finally:
            for people in opened:
                await people.close()

    return asyncio.run(run())


def test_a_device_gets_one_credential_however_often_it_asks(database):
    asked = request()

    async def work(people):
        rule = enrolment()
        found = {await rule.enrol(asked, Only(people)) for _ in range(3)}
        return found, await people.count(), await rule.enrol(request(), Only(people))

    (credential,), count, other = connected(database, work)
    assert count == 1
    assert other != credential
    assert CREDENTIALS.check(f"Bearer {credential}".encode()).relay is False


def test_one_account_enrols_one_device(database):
    rule = enrolment(CallbackCheck(lambda proof: proof or None))

    async def work(people):
        first, second = request(proof="ann"), request(proof="ann")
        found = [await rule.enrol(each, Only(people)) for each in (first, second, first)]
        return found, await rule.enrol(request(), Only(people)), await people.count()

    (first, second, again), refused, count = connected(database, work)
    assert (first, second, refused, count) == (again, "taken", None, 1)


def test_no_more_enrol_than_the_plans_allow(database):
    rule = enrolment(most=2)

    async def work(people):
        asked = [request() for _ in range(3)]
        return [await rule.enrol(each, Only(people)) for each in (*asked, asked[0])]

    *_, third, again = connected(database, work)
    assert third == "full"
    assert again != "full"


def test_a_slow_check_holds_no_connection(database):
    seen = []

    async def work(people):
        only = Only(people)
        rule = enrolment(CallbackCheck(lambda proof: seen.append(only.is_taken) or proof))
        return await rule.enrol(request(proof="ann"), only)

    assert connected(database, work) not in {"taken", "full", None}
    assert seen == [False]


def test_nothing_is_left_of_who_asked_once_the_round_is_open(database):
    """Samples of a column that PostgreSQL takes would outlive the rows."""

    async def work(people):
        await people.close_rounds(PLAN)
        for _ in range(80):
            given = {"plan": PLAN, "round_number": 0, "blinded": os.urandom(32)}
            assert await people.issue(os.urandom(16), **given) == "issued"
            await enrolment().enrol(request(), Only(people))
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("ANALYZE")
        await people.close_rounds(PLAN, 0)

    connected(database, work)
    query = (
        "SELECT count(*) FROM pg_stats WHERE schemaname = 'issuer' "
        "AND attname IN ('identity', 'blinded', 'subject')"
    )
    with psycopg.connect(database) as connection:
        assert connection.execute(query).fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM issuer.issued").fetchone() == (0,)


def test_many_connections_agree_on_one_account_and_on_the_limit(database):
    rule = enrolment(CallbackCheck(lambda proof: proof), most=5)

    async def work(*all_people):
        same = [rule.enrol(request(proof="ann"), Only(people)) for people in all_people]
        found = await asyncio.gather(*same)
        many = await asyncio.gather(
            *(rule.enrol(request(proof=str(n)), Only(each)) for n, each in enumerate(all_people))
        )
        return found, many, await all_people[0].count()

    found, many, count = connected(database, work, connections=8)
    assert found.count("taken") == 7
    assert many.count("full") == 4
    assert count == 5


def test_a_token_is_recorded_once_per_person_and_round(database):
    who, message = os.urandom(16), os.urandom(32)

    async def work(people):
        async def issue(round_number, blinded=message):
            return await people.issue(who, plan=PLAN, round_number=round_number, blinded=blinded)

        found = [await issue(3)]
        await people.close_rounds(PLAN)
        found += [await issue(3), await issue(3), await issue(3, os.urandom(32)), await issue(4)]
        await people.close_rounds(PLAN, 3)
        found += [await issue(3), await issue(2), await issue(4)]
        await people.close_rounds(PLAN, 1)
        return found, await people.newest_open(PLAN)

    found, newest = connected(database, work)
    assert found == ["closed", "issued", "issued", "other", "issued", "closed", "closed", "issued"]
    assert newest == 3


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"schema_version":1,"device":"ab","proof":""}',
        b'{"schema_version":2,"device":"%s","proof":""}' % (b"ab" * 32),
        b'{"schema_version":1,"device":"%s","proof":"\xc3\xa4"}' % (b"ab" * 32),
        b'{"schema_version":1,"device":"%s","proof":"","more":1}' % (b"ab" * 32),
        b'{"schema_version":1,"device":"%s","proof":"%s"}' % (b"ab" * 32, b"x" * 4097),
    ],
)
def test_a_request_of_another_shape_is_not_read(data):
    assert EnrolmentRequest.read(data) is None
    assert EnrolmentRequest.read(request().to_bytes())
