"""`croupier audit shuffler --keys`: a shuffler's dummies, from the files that it released."""

import json

import numpy as np
import pytest

from croupier.auditing.shuffler.sent import Sent
from croupier.engines.mixing import rows_of
from croupier.numerics.keystream import Keystream
from tests.unit.dummy_site import release, with_dummies

K, SENT, ROUNDS = 12, 60, 6


class Audited:
    """Rounds that contain test reports, and so many dummies of each report."""

    def __init__(self, site):
        self.site = site
        self.paths = []
        self.parts = []

    @property
    def table(self):
        return self.site.plan.dummies[0]

    def collect(self, dummies, *, others=0, signed=None, sent=SENT):
        epoch = self.site.epoch(round_number=len(self.paths))
        inner = self.site.sealed([None] * sent, epoch)
        people = self.site.sealed([0] * others, epoch)
        path = release(self.site, [*inner, *people], epoch, dummies, signed=signed)
        self.paths.append(path.with_suffix(".receipt.json"))
        self.parts.append((inner, epoch))

    def flags(self, *more):
        inner = [entry for part, _ in self.parts for entry in part]
        batch = tuple(epoch.batch.hex() for part, epoch in self.parts for _ in part)
        length = self.parts[0][1].inner_length
        rows = rows_of(inner, length=length)
        envelopes = np.random.default_rng(1).integers(256, size=(len(rows), length), dtype=np.uint8)
        sent = Sent(envelopes, rows, np.arange(len(rows)) / 1.0, batch)
        sent.save(self.site.folder / "sent.parquet")
        plan = ("--plan", self.site.file, "--sent", self.site.folder / "sent.parquet")
        return ("audit", "shuffler", *self.paths, *plan, "--false-alarm", "1e-9", *more)

    def keys(self, *more):
        return self.flags("--keys", self.site.keys.path, *more)


@pytest.fixture
def audited(make_released):
    return Audited(with_dummies(make_released(), k=K))


def violated(outcome):
    return {check["promise"] for check in json.loads(outcome.out)["checks"] if check["violated"]}


def test_honest_dummies_pass_and_the_report_says_what_would_be_found(croupier, audited):
    rng = Keystream(insecure_seed=2)
    for _ in range(ROUNDS):
        audited.collect(audited.table.draw(K, rng))
    outcome = croupier(*audited.keys("--alone"))
    assert outcome.code == 0, outcome.out
    assert "of 2,592 expected dummies that the shuffler signed for" in outcome.out
    assert "in squared distance from 36" in outcome.out
    assert "dummies that follow their table, and that somebody knows" in outcome.out
    shown = croupier(*audited.keys("--json"))
    assert not json.loads(shown.out)["refuted"]
    assert "dummies" in {check["promise"] for check in json.loads(shown.out)["checks"]}


@pytest.mark.parametrize("number", [0, 36], ids=["none", "a constant"])
def test_dummies_that_are_not_drawn_are_caught(croupier, audited, number):
    for _ in range(ROUNDS):
        audited.collect(np.full(K, number))
    outcome = croupier(*audited.keys("--json"))
    assert outcome.code == 5
    assert "dummies" in violated(outcome)
    without = croupier(*audited.flags("--json"))
    assert without.code == (5 if number == 0 else 0)
    assert "analyzer's key" in " ".join(json.loads(without.out)["notes"])


def test_other_people_hide_the_dummies(croupier, audited):
    audited.collect(np.full(K, 36), others=40)
    outcome = croupier(*audited.keys("--json"))
    assert outcome.code == 0
    assert "40 reports that no test client sent" in " ".join(json.loads(outcome.out)["notes"])
    alone = croupier(*audited.keys("--json", "--alone"))
    assert alone.code == 5
    assert violated(alone) == {"accepted"}


def test_dummies_do_not_count_towards_the_minimum(croupier, audited):
    audited.collect(audited.table.draw(K, Keystream(insecure_seed=2)), sent=49)
    outcome = croupier(*audited.keys("--json"))
    assert outcome.code == 5
    assert violated(outcome) == {"minimum"}


def test_rows_that_are_no_answer_are_caught(croupier, audited):
    """They are signed for as dummies, and the analyzer cannot count them."""
    draws = audited.table.draw(K, Keystream(insecure_seed=2))
    epoch = audited.site.epoch()
    inner, odd = (
        audited.site.sealed([None] * SENT, epoch),
        audited.site.sealed([b"\2\1\xff"], epoch),
    )
    path = release(audited.site, [*inner, *odd], epoch, draws, signed=int(draws.sum()) + 1)
    audited.paths.append(path.with_suffix(".receipt.json"))
    audited.parts.append((inner, epoch))
    outcome = croupier(*audited.keys("--json"))
    assert outcome.code == 5
    assert violated(outcome) == {"dummies"}


def test_a_shuffler_that_leaves_reports_out_is_not_accused_of_losing_them(croupier, make_released):
    audited = Audited(with_dummies(make_released(), k=K, keep=0.5))
    epoch = audited.site.epoch()
    inner = audited.site.sealed([None] * 120, epoch)
    path = release(audited.site, inner[:60], epoch, np.full(K, 36), signed=K * 36 - 60)
    audited.paths.append(path.with_suffix(".receipt.json"))
    audited.parts.append((inner, epoch))
    outcome = croupier(*audited.keys("--json"))
    assert outcome.code == 0, outcome.out
    assert "leave reports out at random (keep)" in " ".join(json.loads(outcome.out)["notes"])
    promises = {check["promise"] for check in json.loads(outcome.out)["checks"]}
    assert not promises & {"lost", "dummies"}


def test_keys_are_refused_where_there_are_no_dummies(croupier, released):
    epoch = released.epoch()
    released.release(released.sealed([None] * SENT, epoch), epoch)
    audited = Audited(released)
    audited.paths = sorted(released.out.glob("*.receipt.json"))
    audited.parts = [(released.sealed([None], epoch), epoch)]
    outcome = croupier(*audited.keys())
    assert outcome.code == 2
    assert "--keys" in outcome.err
    assert "dummies" in outcome.err
