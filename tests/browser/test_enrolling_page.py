"""A page, the intake and the issuer on three origins: its person enrols, and is counted once."""

import json
import os
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from croupier.issuer.admission import InviterKeys, invitation
from tests.browser.test_cross_origin import page
from tests.browser.test_typescript_client import PACKAGES, tools
from tests.unit.issuer.service import issuing
from tests.unit.shuffler.http.conftest import PASSPHRASE, deployed, within

pytestmark = [pytest.mark.browser, pytest.mark.slow]

__all__ = ["tools"]

ENROLLED = {"token": "the token of the next round is held", "credential": "enrolled"}
"""What the page is told, by what the plan admits by."""


class Site:
    """A shuffler and an issuer on origins of their own, and a page that the plan lists."""

    def __init__(self, stack, folder, make_database, **admission):
        tables = {
            "admission": admission,
            "collection": {"every": "5s"},
            "population": {"enrolled": 5},
            "protections": {"minimum_batch": 2, "disposal_age": "72h"},
        }
        self.service = stack.enter_context(deployed(folder, make_database, **tables))
        self.service.start("--workers", "1", first=None)
        phrase = folder / "phrase"
        phrase.write_text(PASSPHRASE)
        phrase.chmod(0o600)
        inviter = InviterKeys(folder / "keys/inviter", PASSPHRASE.encode())
        options = ["--admit", "invitation", "--inviter", inviter.create().key]
        options += ["--keys", folder / "keys/tokens", "--passphrase-file", phrase]
        options += ["--shuffler", self.service.served["server"]]
        self.people = stack.enter_context(make_database())
        self.issuer, _ = stack.enter_context(issuing(folder, self.people, *options))
        self.key = inviter.signing_key("inviter")

    def person(self, origin, **given):
        """A person with an invitation, on a page."""
        return given | {
            "url": f"{origin}/",
            "service": self.service.served["server"],
            "issuer": self.issuer["server"],
            "proof": invitation(self.key),
            "digest": self.service.plan.digest,
        }

    def enrolled(self):
        """The number of people in the issuer's database."""
        with psycopg.connect(self.people) as connection:
            return connection.execute("SELECT count(*) FROM issuer.people").fetchone()[0]

    def release(self):
        """The released file, once the round is over, and its receipt's counts."""
        due = time.monotonic() + 300
        while not (found := list((self.service.directory / "out").glob("*.parquet"))):
            assert time.monotonic() < due
            time.sleep(1)
            code, _ = self.service.release()
            assert code == 0
        receipt = json.loads(found[0].with_suffix(".receipt.json").read_text())
        return found[0], receipt["counts"]

    def analyze(self, file):
        """What the analyzer counts."""
        folder = self.service.directory
        options = ["--plan", folder / "plan.toml", "--keys", self.service.analyzer.path]
        code, done = self.service.croupier("analyze", file, *options)
        assert code == 0, done
        return done


@pytest.fixture(scope="module", params=ENROLLED)
def visits(request, tools, tmp_path_factory, make_database):
    """Two people on the listed page, one elsewhere: what they were told, what was counted."""
    node, browser, script = tools
    with ExitStack() as stack:
        listed, unlisted = (stack.enter_context(page(script)) for _ in range(2))
        folder, admission = tmp_path_factory.mktemp("site"), {"by": request.param}
        site = Site(stack, folder, make_database, origins=[listed], **admission)
        people = [site.person(listed, value=number) for number in (3, 4)]
        people.append(site.person(unlisted))
        command = [node, Path(__file__).with_name("enrol.cjs"), browser]
        environment = os.environ | {"NODE_PATH": str(PACKAGES)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        driver = stack.enter_context(subprocess.Popen(command, env=environment, **pipes))
        stack.callback(driver.kill)
        print(json.dumps(people), file=driver.stdin, flush=True)
        found = {"by": request.param} | json.loads(driver.stdout.readline())
        found["origins"] = {listed, site.service.served["server"], site.issuer["server"]}
        found["enrolled"] = site.enrolled()
        site.service.open_round()
        assert within(60, lambda: site.service.shows(0))
        print("open", file=driver.stdin, flush=True)
        found |= json.loads(driver.stdout.readline())
        file, found["counts"] = site.release()
        found["analysis"] = site.analyze(file)
        found["logs"] = site.service.log.read_text()
        found["logs"] += (site.service.directory / "issuer-log").read_text()
    return found


def test_a_listed_page_enrols_at_an_issuer_elsewhere(visits):
    assert len(visits["origins"]) == 3
    assert visits["told"][:2] == [ENROLLED[visits["by"]]] * 2
    assert visits["json"][:2] == [409] * 2, "the page reads that its invitation is used"


def test_each_person_is_counted_once_however_often_the_page_answers(visits):
    assert visits["answers"][:2] == [["accepted"] * 2] * 2
    assert (visits["counts"]["received"], visits["counts"]["released"]) == (2, 2)
    assert (visits["analysis"]["n"], visits["analysis"]["people"]) == (2, 2)


def test_an_unlisted_page_is_kept_out(visits):
    """Of a page elsewhere the browser sends no enrolment, and shows it no answer."""
    assert visits["told"][2] == "no answer in time"
    assert visits["json"][2] == "TypeError"
    assert visits["simple"][2] == "TypeError"
    assert visits["enrolled"] == 2


def test_a_request_that_browsers_send_unasked_enrols_nobody(visits):
    assert visits["simple"][:2] == [415] * 2


def test_no_origin_is_logged(visits):
    assert "127.0.0.1" not in visits["logs"]
