"""Plans that mix by groups: whose report it is, what is counted, and the law of the order."""

import math
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import permutations

import numpy as np
import pyarrow.parquet
import pytest
from scipy.stats import binomtest

from croupier.engines.mixing import rows_of
from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.protocol.admission.credentials import owner_identity
from croupier.protocol.wire import seal_outer
from croupier.shuffler.release.group_law import GroupLaw
from croupier.shuffler.release.group_mixing import Claims, placed
from croupier.shuffler.tags import person_tags
from croupier.shufflers.groups import Groups
from croupier.shufflers.mallows import MallowsShuffler, log_normalizer

SECRET = os.urandom(32)
FILE = sha256(b"a public file").hexdigest()
PLACES = [0.0, 3.0, 1.0, 2.0]
REFERENCE = [0, 2, 3, 1]
LINE = Groups.by_radius(PLACES, 1)
SENSITIVITY = 3
TOWNS = Groups.of_partition(["a", "b", "a", "b", "a", "b"])
LONG_AFTER = datetime.now(UTC) + timedelta(days=4)


def mallows(alpha=3.0, sensitivity=SENSITIVITY):
    groups = {"sha256": FILE, "sensitivity": sensitivity}
    return {"order": "mallows", "alpha": alpha, "groups": groups}


@pytest.fixture
def make_site(make_shuffler):
    def make(*, minimum=2, shuffling=None, crowd=None):
        made = make_shuffler(
            shuffling=mallows() if shuffling is None else shuffling,
            protections={"minimum_batch": minimum, "minimum_crowd": crowd},
        )
        return Site(made)

    return make


class Site:
    """A shuffler and the people of a public file."""

    def __init__(self, shuffler, groups=LINE, reference=REFERENCE):
        self.shuffler = shuffler
        groups = TOWNS if shuffler.plan.shuffling.order == "uniform" else groups
        self.law = GroupLaw.of(shuffler.plan, groups, file_digest=FILE, reference=reference)

    def open(self, number=0):
        self.epoch, self.key = self.shuffler.open_round(number)
        self.sent = {}

    def envelope(self, owner, inner=None):
        inner = os.urandom(self.epoch.inner_length) if inner is None else inner
        self.sent[inner] = owner
        return seal_outer(inner, key=self.key, epoch=self.epoch, owner=owner)

    def tag(self, owner):
        tag_key = self.shuffler.keys.tag_key(self.epoch.batch)
        return person_tags(tag_key, owner_identity(SECRET, owner), 1)[0]

    def accept(self, *owners):
        """Everybody with the credential of the own place."""
        tags = [self.tag(owner) for owner in owners]
        envelopes = [self.envelope(owner) for owner in owners]
        self.shuffler.accept(self.epoch, envelopes, tags=tags)

    def release(self, law=None, **given):
        return self.shuffler.release(groups=(law or self.law, SECRET), **given)

    def released(self, receipt):
        """The places that were released, each with whose report is there."""
        table = pyarrow.parquet.read_table(self.shuffler.out / receipt.file.name)
        assert table.column_names == ["inner", "place"]
        places, inner = table["place"].to_pylist(), table["inner"].to_pylist()
        assert places == sorted(places)
        return {place: self.sent[row] for place, row in zip(places, inner, strict=True)}


class Drawn(MallowsShuffler):
    """The law, with draws that can be made again."""

    def order(self, n, *, rng=None):
        assert rng is None, "a release draws from the operating system"
        return super().order(n, rng=Keystream(insecure_seed=self.seed))


@pytest.mark.parametrize("seed", range(4))
def test_the_released_order_is_the_shufflers_own(make_site, seed):
    """Through database, opening and file: place i has the report of person order[i]."""
    site = make_site()
    site.open()
    site.accept(0, 1, 2, 3)
    drawn = Drawn(theta=site.law.shuffler.theta, reference=REFERENCE)
    object.__setattr__(drawn, "seed", seed)
    law = GroupLaw(site.law.people, drawn, site.law.crowds)
    (settled,) = site.release(law)
    expected = site.law.shuffler.order(4, rng=Keystream(insecure_seed=seed)).tolist()
    assert site.released(settled.receipt) == dict(enumerate(expected))
    assert settled.receipt.counts.explained == "4 = 4 released"
    site.shuffler.require_shredded()


def law_of(theta, people, reference):
    """The probability of every order, by its definition: z[s(k)] = y[s(t(k))]."""
    law = {}
    for moves in permutations(range(people)):
        pairs = [(i, j) for j in range(people) for i in range(j)]
        inversions = sum(moves[i] > moves[j] for i, j in pairs)
        order = [0] * people
        for place in range(people):
            order[reference[place]] = reference[moves[place]]
        law[tuple(order)] = math.exp(-theta * inversions - log_normalizer(people, theta))
    return law


def p_value(seen, law):
    """How surprising the least likely count is; exact for each, a union bound over all."""
    total = sum(seen.values())
    tests = [binomtest(seen[order], total, min(1.0, p)) for order, p in law.items()]
    return min(1.0, len(tests) * min(test.pvalue for test in tests))


@pytest.mark.slow
def test_the_law_of_releases_is_that_of_the_plan(make_shuffler, alarm):
    """A batch each, all the way; the law is accepted, a uniform order is rejected."""
    shuffler = make_shuffler(shuffling=mallows(alpha=6.0), protections={"minimum_batch": 2})
    site = Site(shuffler, Groups.by_radius([0.0, 2.0, 1.0], 1), [0, 2, 1])
    seen, batches = Counter(), []
    for number in range(50):
        site.open(number)
        site.accept(0, 1, 2)
        batches.append(site.sent)
    for sent, outcome in zip(batches, site.release(), strict=True):
        site.sent = sent
        seen[tuple(site.released(outcome.receipt).values())] += 1
    law = law_of(2.0, 3, [0, 2, 1])
    assert p_value(seen, law) > alarm
    assert p_value(seen, dict.fromkeys(law, 1 / 6)) < alarm


def test_missing_people_leave_gaps_and_the_law_of_the_whole_file(alarm):
    """Two of three people: where they come to be has the law of three with one place empty."""
    theta, seen = 0.7, Counter()
    shuffler = MallowsShuffler(theta=theta, reference=[1, 0, 2])
    law = GroupLaw(3, shuffler, np.zeros(3, dtype=np.int64))
    owners = np.array([2, 0])
    claims = Claims(rows_of([b"c", b"a"], length=1), owners, Counter())
    stream = Keystream(insecure_seed=5)
    for _ in range(3_000):
        rows, places = placed(claims, law, rng=stream)
        seen[tuple(zip(places.tolist(), rows.tobytes(), strict=True))] += 1
    expected = Counter()
    for order, probability in law_of(theta, 3, [1, 0, 2]).items():
        left = [(place, b"abc"[person]) for place, person in enumerate(order) if person != 1]
        expected[tuple(left)] += probability
    assert p_value(seen, expected) > alarm
    # As if everybody's next possibility had their law.
    shifted = {
        key: expected[other]
        for key, other in zip(expected, [*expected][1:] + [*expected][:1], strict=True)
    }
    assert p_value(seen, shifted) < alarm


def test_nobody_reports_from_anothers_place(make_site):
    """One credential: from the own place, once; from another's, or none, never."""
    site = make_site(minimum=3)
    site.open()
    site.accept(0, 1, 2)
    thief = site.tag(3)
    site.shuffler.accept(site.epoch, [site.envelope(1)], tags=[thief])
    site.shuffler.accept(site.epoch, [site.envelope(2)])
    outside = [site.envelope(owner) for owner in (4, 2**64 - 1)]
    site.shuffler.accept(site.epoch, outside)
    noise = os.urandom(site.epoch.envelope_length)
    site.shuffler.accept(site.epoch, [noise])
    (settled,) = site.release()
    assert sorted(site.released(settled.receipt).values()) == [0, 1, 2]
    counts = settled.receipt.counts
    assert (counts.received, counts.released, counts.cannot_open) == (8, 3, 1)
    assert (counts.wrong_owner, counts.unknown_owner, counts.second_report) == (2, 2, 0)


def test_a_relay_displaces_nobody_who_sends_alone(make_site):
    site = make_site(minimum=2)
    for number in range(6):
        site.open(number)
        own = os.urandom(site.epoch.inner_length)
        relayed = [site.envelope(owner) for owner in (1, 2, 2, 3)]
        site.shuffler.accept(site.epoch, relayed, tagged=False)
        site.shuffler.accept(site.epoch, [site.envelope(1, own)], tags=[site.tag(1)])
        (settled,) = site.release()
        counts = settled.receipt.counts
        assert counts.explained == "5 = 3 released + 2 second report"
        assert sorted(site.released(settled.receipt).values()) == [1, 2, 3]
        path = site.shuffler.out / settled.receipt.file.name
        assert own in pyarrow.parquet.read_table(path)["inner"].to_pylist()


def test_people_are_counted_by_their_places(make_site):
    site = make_site(minimum=3)
    site.open()
    site.accept(0, 1)
    relayed = [site.envelope(owner) for owner in (1, 0)]
    site.shuffler.accept(site.epoch, relayed, tagged=False)
    (held,) = site.release()
    assert (held.receipt, held.people) == (None, 2)
    site.accept(3)
    (settled,) = site.release()
    assert settled.receipt.counts.explained == "5 = 3 released + 2 second report"


def test_disjoint_groups_are_mixed_each_and_each_needs_the_minimum(make_site):
    site = make_site(minimum=2, shuffling={"order": "uniform", "groups": {"sha256": FILE}})
    site.open()
    site.accept(0, 2, 4, 1)
    (held,) = site.release()
    assert (held.receipt, held.people) == (None, 1)
    site.accept(5)
    (settled,) = site.release()
    released = site.released(settled.receipt)
    assert sorted(released.values()) == [0, 1, 2, 4, 5]
    assert all(place % 2 == owner % 2 for place, owner in released.items())
    site.open(1)
    site.accept(0, 2, 4, 3)
    (disposed,) = site.release(now=LONG_AFTER)
    assert disposed.receipt.counts.explained == "4 = 4 disposed"


def test_an_empty_group_holds_nothing_up(make_site):
    site = make_site(minimum=3, shuffling={"order": "uniform", "groups": {"sha256": FILE}})
    site.open()
    site.accept(0, 2, 4)
    (settled,) = site.release()
    assert sorted(site.released(settled.receipt).values()) == [0, 2, 4]


def test_what_the_plan_does_not_say_is_refused(make_parties):
    plan = make_parties(shuffling=mallows()).plan
    with pytest.raises(ParameterError, match="SHA-256"):
        GroupLaw.of(plan, LINE, file_digest="00" * 32, reference=REFERENCE)
    with pytest.raises(ParameterError, match="sensitivity"):
        GroupLaw.of(plan, LINE, file_digest=FILE, reference=[0, 1, 2, 3])
    law = GroupLaw.of(plan, LINE, file_digest=FILE, reference=REFERENCE)
    assert law.shuffler.guarantee(LINE).value <= 3.0
    apart = make_parties(shuffling={"order": "uniform", "groups": {"sha256": FILE}}).plan
    with pytest.raises(ParameterError, match="overlap"):
        GroupLaw.of(apart, LINE, file_digest=FILE, reference=REFERENCE)
    with pytest.raises(ParameterError, match=r"shuffling\.groups"):
        GroupLaw.of(make_parties().plan, LINE, file_digest=FILE, reference=REFERENCE)


def test_a_batch_in_which_somebody_has_too_small_a_crowd_is_held(make_site):
    """Theta is 0.3; person 1 is last in the order, with an empty place before."""
    site = make_site(minimum=3, shuffling=mallows(alpha=0.9), crowd=2)
    site.open()
    site.accept(0, 2, 1)
    (outcome,) = site.release()
    assert (outcome.receipt, outcome.people, outcome.crowd) == (None, 3, 1)  # 1 + e^-.9 + e^-1.5
    site.accept(3)
    (outcome,) = site.release()  # 1 + e^-.3 + e^-.9 + e^-1.5
    assert sorted(site.released(outcome.receipt).values()) == [0, 1, 2, 3]


def test_a_batch_with_too_small_a_crowd_is_disposed_of_in_the_end(make_site):
    site = make_site(minimum=3, shuffling=mallows(alpha=0.9), crowd=2)
    site.open()
    site.accept(0, 2, 1)
    (outcome,) = site.release(now=LONG_AFTER)
    assert outcome.receipt.event == "disposed"
    assert outcome.reason.startswith("Somebody in it had a smaller crowd")
