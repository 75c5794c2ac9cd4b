"""Estimates that are those of the reports, counts by reason, and refusals (C1, C5, H13)."""

import json
import os
import pickle
import shutil
from dataclasses import replace
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.analyzer.analyzer import analyze
from croupier.analyzer.counting import CountReports
from croupier.analyzer.keys import KeySource
from croupier.errors import NotPublishedError, ParameterError, UntrustedError
from croupier.protocol.key_directory import KeyDirectory, KeyFileError
from croupier.protocol.receipt import NO_BATCH, Counts, Receipt, ReceiptError, Recovery
from croupier.protocol.wire import question

GRID = {"low": 0, "high": 5, "step": 1}
MECHANISMS = [
    {"mechanism": "k-rr", "k": 6},
    {"mechanism": "symmetric-unary", "k": 6},
    {"mechanism": "optimized-unary", "k": 6},
    {"mechanism": "rappor", "k": 6, "bits": 16, "hashes": 2},
    {"mechanism": "local-hashing", "k": 6},
    {"mechanism": "dictionary", "k": 6, "functions": 64},
    {"mechanism": "text", "longest": 2, "alphabet": "ab", "functions": 64},
    {"mechanism": "distribution", "grid": GRID, "fanout": 2},
    {"mechanism": "hadamard", "k": 6},
    {"mechanism": "subset-selection", "k": 6, "subset_size": 2},
    {"mechanism": "laplace", "grid": GRID},
    {"mechanism": "gaussian", "grid": GRID},
    {"mechanism": "one-bit-mean", "grid": GRID},
    {"mechanism": "sampled-sign", "dimension": 6},
    {"mechanism": "matrix", "matrix": [[0.75, 0.25], [0.25, 0.75]]},
]


@pytest.fixture
def analyzed(memory_engine):
    def run(site, *files, **settings):
        settings = {"queries": [*site.queries.values()]} | settings
        key = KeySource(site.keys.path)
        return analyze(site.plan, files, key=key, engine=memory_engine, **settings)

    return run


def same(found, expected):
    assert np.array_equal(found.points, expected.points)
    assert np.array_equal(found.standard_errors, expected.standard_errors)
    assert (found.n, found.values) == (expected.n, expected.values)


def values_for(randomizer, n):
    """Values of the domain, as `randomize` takes them."""
    if randomizer.mechanism == "sampled-sign":
        return np.where(np.random.default_rng(1).random((n, 6)) < 0.3, 1, -1)
    if randomizer.mechanism == "text":
        return [("ab", "b")[place % 2] for place in range(n)]
    return [place % 2 for place in range(n)]


@pytest.mark.parametrize("asked", MECHANISMS, ids=lambda asked: asked["mechanism"])
def test_every_mechanism_is_estimated_from_its_reports(asked, make_released, analyzed):
    local = {} if asked["mechanism"] == "matrix" else {"max_epsilon_local": 2.0}
    site = make_released(randomizer=asked | local)
    epoch = site.epoch()
    made = site.plan.randomizer.in_batches((epoch.name,))
    reports = list(made.randomize(values_for(made, 2000)))
    found = analyzed(site, site.release(site.sealed(reports, epoch), epoch))
    (only,) = found.estimates
    same(only.estimate, made.estimate(np.array(reports)))
    assert (found.n, found.people, found.rounds) == (2000, 2000, (0,))
    assert set(found.counts.values()) == {0}
    assert not found.warnings


@pytest.mark.parametrize("people", [20_000, pytest.param(100_000, marks=pytest.mark.proof)])
def test_the_truth_is_in_the_intervals(released, analyzed, alarm, people):
    truth = np.array([0.5, 0.3, 0.15, 0.05])
    values = np.repeat(np.arange(4), (truth * people).astype(int))
    (only,) = analyzed(released, released.collect(values)).estimates
    radius = NormalDist().inv_cdf(1 - alarm / 8) * only.estimate.standard_errors
    assert (np.abs(only.estimate.points - truth) <= radius).all()
    other = truth + np.array([0.05, -0.05, 0, 0])
    assert (np.abs(only.estimate.points - other) > radius).any()


def test_what_is_dropped_is_counted_and_changes_nothing(released, analyzed):
    """1 % malformed in every way, 5 % null, 3 % duplicate, some that do not open."""
    epoch = released.epoch()
    reports = released.answers([0] * 700 + [1] * 240)
    malformed = [b"", b"\x01\x01", b"\2\2", b"\2\0\0\7", b"\2\1\x40\1", b"\2\1\x20", b"\2\1\xff"]
    inner = released.sealed([*reports, *malformed, b"\2\1\x01", *[None] * 50], epoch)
    inner += [os.urandom(80), *released.sealed(reports[:3], released.epoch())]
    path = released.release(inner, epoch, repeated=30)
    found = analyzed(released, path)
    assert found.counts == {"null": 50, "malformed": 8, "duplicate": 30, "cannot_open": 4}
    assert found.malformed == {"version": 2, "kind": 1, "padding": 2, "body": 3}
    same(found.estimates[0].estimate, released.plan.randomizer.estimate(np.array(reports)))
    assert found.n == found.people == 940
    assert [line.split(" ", 2)[2] for line in found.warnings] == [
        "has 50 nulls, but the plan asks nobody for one.",
        (
            "4 of 1,032 rows do not open. They were altered, or sealed for something other than "
            "this round: compare the key lists that people are shown (croupier mirror)."
        ),
        "was released with 30 duplicates: ask the shuffler.",
    ]
    (batch,) = found.batches
    assert batch.counts.rows == 940 + 8 + 50 + 4 + 30 == batch.receipt.counts.released


def test_a_ciphertext_of_an_earlier_batch_does_not_count_again(released, analyzed):
    """C1: a replay into a later batch is bound to the earlier one, and does not open."""
    first, second = released.epoch(0), released.epoch(1)
    old = released.sealed(released.answers([0] * 60), first)
    new = released.sealed(released.answers([1] * 60, 1), second)
    paths = released.release(old, first), released.release(new + old[:20], second)
    with pytest.raises(NotPublishedError, match="Round 1: 20 of 80 rows do not open, more than"):
        analyzed(released, *paths)
    found = analyzed(released, *paths, most_unopened=0.25)
    assert [batch.counts.cannot_open for batch in found.batches] == [0, 20]
    assert found.n == 120


@pytest.mark.parametrize(
    ("corrupt", "spoiled", "published"), [(0, 1, True), (0, 2, False), (2, 3, True), (2, 4, False)]
)
def test_rows_that_do_not_open_are_few_or_nothing_is_published(
    make_released, analyzed, corrupt, spoiled, published
):
    """At most one in a hundred, and the plan's corrupt people; nobody is told less."""
    people = {"enrolled": 200, "corrupt_fraction": corrupt / 200}
    site = make_released(population=people)
    epoch = site.epoch()
    inner = site.sealed(site.answers([0] * (199 - spoiled)), epoch)
    path = site.release(inner + [os.urandom(80) for _ in range(spoiled)], epoch)
    if published:
        assert f"{spoiled} of 199 rows do not open" in " ".join(analyzed(site, path).warnings)
    else:
        with pytest.raises(NotPublishedError, match="rows do not open"):
            analyzed(site, path)


def test_a_list_that_cannot_be_remembered_is_not_gone_by(released, analyzed, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    path = released.collect([0] * 60)
    monkeypatch.setattr("croupier.protocol.durable.replace", full)
    with pytest.raises(KeyFileError, match=r"cannot be written \(OSError\)"):
        analyzed(released, path)


def test_an_older_list_of_keys_than_was_seen_is_refused(released, analyzed):
    """A key that was replaced, perhaps stolen, signs nothing of later rounds by an old list."""
    stolen, first = released.shuffler, released.listed
    release = released.house.release.rotate()
    second, other = (
        first.next(
            released.plan,
            from_round=number,
            signing_key=released.house.root.signer(),
            release=release,
        )
        for number in (1, 2)
    )
    beside = released.out / "shuffler-keys.json"
    path = released.collect([0] * 60)
    assert analyzed(released, path).n == 60
    beside.write_bytes(second.to_bytes())
    assert analyzed(released, path).n == 60
    assert released.shuffler is stolen
    forged = released.collect([1] * 60, 1)
    with pytest.raises(ReceiptError, match="not signed by the shuffler"):
        analyzed(released, forged)
    beside.write_bytes(first.to_bytes())
    with pytest.raises(UntrustedError, match="is version 1, and 2 was seen before"):
        analyzed(released, forged)
    with pytest.raises(UntrustedError, match="is version 1, and 2 was seen before"):
        analyzed(released, forged, shuffler=first)
    beside.write_bytes(other.to_bytes())
    with pytest.raises(UntrustedError, match="is a second one of version 2"):
        analyzed(released, path)
    beside.write_bytes(second.to_bytes())
    assert analyzed(released, path).n == 60
    (seen,) = (released.keys.path / "lists").iterdir()
    assert (seen.stem, seen.stat().st_mode & 0o777) == (released.plan.digest, 0o600)
    seen.write_text("{")
    with pytest.raises(KeyFileError, match="cannot be read"):
        analyzed(released, path)
    seen.unlink()
    seen.parent.rmdir()
    seen.parent.write_text("no folder")
    with pytest.raises(KeyFileError, match="cannot be read"):
        analyzed(released, path)


def test_a_batch_of_wire_version_1_is_refused(released, analyzed):
    path = released.collect([0] * 50)
    absent = {"analyzer", "onward", "recovery", "signature", "taken_over"}
    old = {name: entry for name, entry in released.last if name not in absent}
    signed = Receipt(**old).signed(released.shuffler)
    path.with_suffix(".receipt.json").write_text(signed.text)
    with pytest.raises(ReceiptError, match="wire version 1"):
        analyzed(released, path)


QUESTIONS = [
    {"mechanism": "k-rr", "k": 3, "max_epsilon_local": 2.0},
    {"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0},
]


def test_rounds_of_one_question_are_pooled_and_others_kept_apart(make_released, analyzed):
    site = make_released(
        randomizer=None,
        questions=QUESTIONS,
        participation={"model": "divide", "groups": 2},
        protections={"minimum_batch": 40},
    )
    sent = {number: site.answers([number % 3] * (50 + number), number) for number in range(3)}
    epochs = {number: site.epoch(number) for number in range(3)}
    paths = [site.release(site.sealed(sent[at], epochs[at]), epochs[at]) for at in range(3)]
    found = analyzed(site, *reversed(paths))
    assert [(own.question, own.rounds) for own in found.estimates] == [
        ("question-1", (0, 2)),
        ("question-2", (1,)),
    ]
    pooled = np.array(sent[0] + sent[2])
    same(found.estimates[0].estimate, question(site.plan, 0).estimate(pooled))
    same(found.estimates[1].estimate, question(site.plan, 1).estimate(np.array(sent[1])))
    assert (found.people, found.n, found.rounds) == (50, 153, (0, 1, 2))


def test_parallel_questions_have_an_estimate_each(make_released, analyzed):
    site = make_released(randomizer=None, questions=QUESTIONS)
    reports = site.answers([[1, 4]] * 300)
    epoch = site.epoch()
    found = analyzed(site, site.release(site.sealed(reports, epoch), epoch))
    for own, expected in zip(
        found.estimates, site.plan.randomizer.estimates(np.array(reports)), strict=True
    ):
        same(own.estimate, expected)


def test_a_question_that_nobody_drew_is_not_published(make_released, analyzed):
    site = make_released(randomizer=None, questions=QUESTIONS)
    reports = [report for report in site.answers([[1, 4]] * 300) if report[0] == 0]
    epoch = site.epoch()
    with pytest.raises(NotPublishedError, match="answers to part 1 of 2; each person draws it"):
        analyzed(site, site.release(site.sealed(reports, epoch), epoch))


@pytest.mark.parametrize(
    "asked",
    [
        {"mechanism": "text", "longest": 6, "alphabet": "abcdefghij", "functions": 64},
        {"mechanism": "distribution", "grid": {"low": 0, "high": 99, "step": 1}},
    ],
    ids=lambda asked: asked["mechanism"],
)
def test_people_who_choose_their_level_are_noticed(asked, make_released, analyzed):
    """A fifth more at one level than coins give, where one in a hundred may be corrupt."""
    site = make_released(
        randomizer=asked | {"max_epsilon_local": 4.0},
        population={"enrolled": 4000, "corrupt_fraction": 0.01},
    )
    epoch = site.epoch()
    made = site.plan.randomizer.in_batches((epoch.name,))
    value = "ab" if asked["mechanism"] == "text" else 7
    honest = list(made.randomize([value] * 3000))
    assert analyzed(site, site.release(site.sealed(honest, epoch), epoch)).n == 3000
    again = site.epoch(1)
    made = site.plan.randomizer.in_batches((again.name,))
    lots = made.lots(made.tally(np.array(honest)))
    assert sum(count for count, _ in lots) == 3000
    chosen = [each for each in made.randomize([value] * 3000) if _last(made, each)]
    reports = [*made.randomize([value] * 2400), *chosen[:600]]
    with pytest.raises(NotPublishedError, match=f"of {len(lots)}; each person draws"):
        analyzed(site, site.release(site.sealed(reports, again), again))


def _last(mechanism, report):
    lots = mechanism.lots(mechanism.tally(np.array([report])))
    return lots[-1][0] == 1


def test_reused_noise_is_never_pooled(make_released, analyzed):
    site = make_released(participation={"noise": "reused"}, collection={"rounds": 2})
    paths = [site.collect([0] * 60, number) for number in range(2)]
    with pytest.raises(ParameterError, match="each round by itself"):
        analyzed(site, *paths)
    assert analyzed(site, paths[1]).n == 60


DRAWN = {"participation": {"model": "rectified-multinomial", "weights": [1, 3]}}


class TestNulls:
    """In rectified models nulls are part of the plan, and counted against its coins."""

    def release(self, site, answers, nulls):
        epoch = site.epoch()
        inner = site.sealed([*site.answers([0] * answers), *[None] * nulls], epoch)
        return site.release(inner, epoch)

    def test_they_count_as_people(self, make_released, analyzed):
        site = make_released(**DRAWN)
        found = analyzed(site, self.release(site, 13, 40))
        assert (found.n, found.people, found.warnings) == (13, 53, ())

    @pytest.mark.parametrize(("answers", "wrong"), [(30, "few"), (200, "many")])
    def test_a_share_that_the_coins_do_not_give_is_refused(
        self, answers, wrong, make_released, analyzed
    ):
        site = make_released(**DRAWN)
        with pytest.raises(NotPublishedError, match=f"too {wrong} for a plan"):
            analyzed(site, self.release(site, answers, 400 - answers))

    @pytest.mark.parametrize("answers", [40, 180])
    def test_what_corrupt_people_may_do_is_allowed_for(self, answers, make_released, analyzed):
        """80 of 400 may keep silent, or answer out of turn; without them this is refused."""
        people = {"enrolled": 1000, "corrupt_fraction": 0.08}
        site = make_released(**DRAWN, population=people, protections={"minimum_batch": 100})
        path = self.release(site, answers, 400 - answers)
        assert analyzed(site, path).n == answers
        site.plan = site.plan.replace(population__corrupt_fraction=0)
        with pytest.raises(NotPublishedError, match="for a plan in which each answers"):
            analyzed(site, path)


def test_people_are_counted_again(released, analyzed):
    """C5: 60 rows were released, and not all of them are reports; the minimum is 50."""
    for number, people in enumerate((50, 49)):
        epoch = released.epoch(number)
        reports = [*released.answers([0] * people), *[b"\1\1\xff"] * (60 - people)]
        released.release(released.sealed(reports, epoch), epoch)
    enough, few = sorted(released.out.glob("*.parquet"))
    assert analyzed(released, enough).n == 50
    with pytest.raises(NotPublishedError, match="49 people with a valid report; the plan needs 50"):
        analyzed(released, few)


def test_the_corrupt_allowance_is_subtracted_and_said(make_released, analyzed):
    site = make_released(population={"enrolled": 1000, "corrupt_fraction": 0.02})
    found = analyzed(site, site.collect([0] * 30))
    assert found.warnings == (
        "Round 0 has 30 valid reports, fewer than the minimum of 50; at most 20 may be corrupt.",
    )
    with pytest.raises(NotPublishedError, match="needs 30, its minimum of 50 less 20 corrupt"):
        analyzed(site, site.collect([0] * 29, 1))


def test_where_groups_are_mixed_each_by_itself_the_smallest_counts(make_released, analyzed):
    """The minimum of 50 is each group's: what was dropped may all have been in the smallest."""
    site = make_released(
        shuffling={"groups": {"sha256": "ab" * 32}},
        population={"enrolled": 1000, "corrupt_fraction": 0.005},
    )
    paths = []
    for number, spoiled in enumerate((0, 5, 6)):
        epoch = site.epoch(number)
        reports = [*site.answers([0] * 120), *[b"\1\1\xff"] * spoiled]
        paths.append(site.release(site.sealed(reports, epoch), epoch))
    assert [analyzed(site, path).people for path in paths[:2]] == [50, 45]
    with pytest.raises(NotPublishedError, match="44 people with a valid report; the plan needs 45"):
        analyzed(site, paths[2])


class TestQueries:
    """Rounds of one mechanism that ask what the analyzer signs, one after the other."""

    PLAN = MappingProxyType({"participation": {"model": "multinomial", "weights": 3}})

    def release(self, site, number, asked):
        epoch = site.epoch(number, asked)
        return site.release(site.sealed(site.answers([0] * 60), epoch), epoch)

    def test_rounds_are_pooled_by_what_they_asked(self, make_released, analyzed):
        site = make_released(**self.PLAN)
        asked = ["cats", "dogs", "cats"]
        found = analyzed(site, *(self.release(site, *own) for own in enumerate(asked)))
        shown = [(own.asked, own.rounds, own.estimate.n) for own in found.estimates]
        assert shown == [("cats", (0, 2), 120), ("dogs", (1,), 60)]

    def test_without_its_query_a_round_is_not_analysed(self, make_released, analyzed):
        site = make_released(**self.PLAN)
        path = self.release(site, 0, "cats")
        with pytest.raises(ParameterError, match="be given for round 0"):
            analyzed(site, path, queries=[])
        with pytest.raises(ParameterError, match="one per round"):
            analyzed(site, path, queries=[*site.queries.values()] * 2)

    def test_another_query_is_not_what_the_round_asked(self, make_released, analyzed):
        site = make_released(**self.PLAN)
        path = self.release(site, 0, "cats")
        site.epoch(0, "dogs")
        with pytest.raises(ReceiptError, match="asked something other"):
            analyzed(site, path)

    def test_what_was_sealed_under_another_query_does_not_open(self, make_released, analyzed):
        site = make_released(**self.PLAN)
        shown, other = site.epoch(0, "dogs"), site.epoch(0, "cats")
        misled = replace(shown, batch=other.batch)
        inner = site.sealed(site.answers([0] * 9), misled)
        inner += site.sealed(site.answers([0] * 60), other)
        found = analyzed(site, site.release(inner, other), most_unopened=0.2)
        assert (found.n, found.counts["cannot_open"]) == (60, 9)

    def test_only_the_analyzer_asks(self, make_released, analyzed):
        site = make_released(**self.PLAN)
        path = self.release(site, 0, "cats")
        forged = site.queries[0].model_copy(update={"question": "dogs"})
        with pytest.raises(UntrustedError, match="not signed"):
            analyzed(site, path, queries=[forged])

    def test_a_plan_that_says_what_it_asks_takes_none(self, make_released, analyzed, tmp_path):
        (tmp_path / "other").mkdir()
        other = make_released(tmp_path / "other", **self.PLAN)
        other.epoch()
        site = make_released()
        with pytest.raises(ParameterError, match="left out"):
            analyzed(site, site.collect([0] * 50), queries=[*other.queries.values()])


class TestReceipts:
    def test_of_another_plan(self, make_released, analyzed, tmp_path):
        site = make_released()
        path = site.collect([0] * 50)
        (tmp_path / "other").mkdir()
        other = make_released(tmp_path / "other")
        with pytest.raises(ReceiptError, match="another plan"):
            analyzed(other, path)

    def test_of_another_signer(self, released, analyzed):
        released.shuffler = Ed25519PrivateKey.generate()
        with pytest.raises(ReceiptError, match="not signed by the shuffler"):
            analyzed(released, released.collect([0] * 50))

    def test_missing(self, released, analyzed):
        path = released.collect([0] * 50)
        path.with_suffix(".receipt.json").unlink()
        with pytest.raises(ParameterError, match="beside its receipt"):
            analyzed(released, path)

    def test_a_file_that_was_altered(self, released, analyzed):
        path = released.collect([0] * 50)
        data = bytearray(path.read_bytes())
        data[200] ^= 1
        path.write_bytes(data)
        with pytest.raises(ReceiptError, match="is not about"):
            analyzed(released, path)

    def test_counts_that_the_file_does_not_have(self, released, analyzed):
        path = released.collect([0] * 50)
        more = released.last.model_copy(update={"counts": Counts(received=51, released=51)})
        path.with_suffix(".receipt.json").write_text(more.signed(released.shuffler).text)
        with pytest.raises(ReceiptError, match="names 51 rows, but its file has 50"):
            analyzed(released, path)

    def test_a_gap_is_filled_from_the_directory_or_refused(self, released, analyzed):
        paths = [released.collect([0] * 50, number) for number in range(3)]
        assert analyzed(released, paths[0], paths[2]).n == 100
        paths[1].with_suffix(".receipt.json").unlink()
        with pytest.raises(ReceiptError, match="does not follow receipt 0"):
            analyzed(released, paths[0], paths[2])
        assert analyzed(released, paths[2]).n == 50

    def test_a_recovery_is_a_link_and_is_said(self, released, analyzed):
        first = released.collect([0] * 50)
        lost = Recovery(lost=(1, 2), restored=0)
        beside = released.out / "recovered-1.parquet"
        entries = {"round": 2, "batch": NO_BATCH, "counts": Counts(received=0)}
        released.receipt(beside, event="recovered", recovery=lost, **entries)
        later = released.collect([0] * 50, 3)
        (warning,) = analyzed(released, first, later).warnings
        assert "database was set back to an older copy. Lost: rounds 1 to 2." in warning
        assert analyzed(released, later).warnings == (warning,), "also where it came before"
        receipt = beside.with_suffix(".receipt.json")
        text = receipt.read_text()
        receipt.write_text(text.replace('"restored":0', '"restored":1'))
        with pytest.raises(ReceiptError, match="not signed"):
            analyzed(released, later)
        receipt.unlink()
        with pytest.raises(ReceiptError, match="does not follow receipt 0"):
            analyzed(released, first, later)
        receipt.write_text(text)
        second = released.collect([0] * 50, 1)
        with pytest.raises(ReceiptError, match="a round that was given up before"):
            analyzed(released, first, second)

    def test_two_histories_of_one_round(self, released, analyzed):
        """H13: two batches that differ in one row, both signed."""
        epoch = released.epoch()
        inner = released.sealed(released.answers([0] * 60), epoch)
        first = released.release(inner, epoch)
        kept = first.with_name("kept.parquet")
        shutil.move(first, kept)
        shutil.move(first.with_suffix(".receipt.json"), kept.with_suffix(".receipt.json"))
        released.last = None
        second = released.release(inner[1:], epoch)
        for given in ([kept, second], [second]):
            with pytest.raises(ReceiptError, match="Receipt 0 does not follow"):
                analyzed(released, *given)

    def test_a_batch_counts_once(self, released, analyzed):
        path = released.collect([0] * 50)
        with pytest.raises(ParameterError, match="once"):
            analyzed(released, path, path)

    def test_of_a_disposed_batch(self, released, analyzed):
        path = released.out / "small.parquet"
        path.write_bytes(b"")
        counts = Counts(received=3, disposed=3)
        released.receipt(path, event="disposed", round=0, batch="0" * 32, counts=counts)
        with pytest.raises(ReceiptError, match="disposed of"):
            analyzed(released, path)

    def test_none_given(self, released, analyzed):
        with pytest.raises(ParameterError, match="at least one"):
            analyzed(released)


class TestKey:
    def test_a_wrong_one_opens_nothing(self, released, memory_engine, tmp_path):
        path = released.collect([0] * 50)
        KeyDirectory(tmp_path / "others", b"a passphrase").create_sealing_key("analyzer")
        with pytest.raises(KeyFileError, match="has no key that round 0 was opened for"):
            analyze(
                released.plan,
                [path],
                key=KeySource(tmp_path / "others"),
                engine=memory_engine,
            )

    def test_each_batch_is_opened_with_the_key_that_its_round_was_opened_for(
        self, released, analyzed
    ):
        first = released.collect([0] * 60)
        released.keys.rotate()
        released.inner = released.keys.sealing_key("analyzer").public_key()
        second = released.collect([0] * 60, 1)
        found = analyzed(released, first, second)
        assert (found.n, found.counts["cannot_open"]) == (120, 0)

    def test_a_wrong_passphrase_is_found_before_the_work(self, released, monkeypatch):
        path = released.collect([0] * 50)
        monkeypatch.setenv("CROUPIER_PASSPHRASE", "another")
        with pytest.raises(KeyFileError, match="does not open"):
            analyze(released.plan, [path], key=KeySource(released.keys.path), engine=None)

    def test_what_is_sent_to_other_processes_holds_no_secret(self, released, tmp_path):
        file = tmp_path / "passphrase.txt"
        file.write_text("a passphrase\n")
        file.chmod(0o600)
        key = KeySource(released.keys.path, file)
        step = CountReports(released.plan, released.epoch(), key)
        sent = pickle.dumps(step)
        secret = released.keys.sealing_key("analyzer").private_bytes_raw()
        assert pickle.loads(sent) == step  # noqa: S301 - written here
        assert key.load().private_bytes_raw() == secret
        assert secret not in sent
        assert b"a passphrase" not in sent


def test_no_error_says_what_a_person_reported(make_released, analyzed):
    site = make_released(
        randomizer={"mechanism": "k-rr", "labels": ["u", "v"], "max_epsilon_local": 1}
    )
    epoch = site.epoch()
    marked = b"\1\1" + b"PERSON" * 5
    inner = site.sealed([*site.answers(["u"] * 40), *[marked] * 20], epoch)
    with pytest.raises(NotPublishedError) as refused:
        analyzed(site, site.release(inner, epoch))
    assert "20 malformed" in str(refused.value)
    assert "PERSON" not in repr(refused.value.__dict__) + str(refused.value)


def test_receipts_that_are_no_receipts(released, analyzed):
    path = released.collect([0] * 50)
    beside = path.with_suffix(".receipt.json")
    beside.write_text(json.dumps(json.loads(beside.read_text()) | {"more": 1}))
    with pytest.raises(ReceiptError, match="changed after it was signed"):
        analyzed(released, path)
    assert Receipt.read(released.last.text) == released.last
