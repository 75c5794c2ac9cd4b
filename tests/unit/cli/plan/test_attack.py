"""`croupier attack`: evidence beside proofs, and 5 where one of them is refuted."""

from dataclasses import replace
from fractions import Fraction

import pytest
from matplotlib.figure import Figure

from croupier.assessment.ladder.ladder import assess
from croupier.auditing.attacks.attacks import Suite
from croupier.model.metric import Metric
from croupier.randomizers import KaryRandomizedResponse

PLAN = """
schema = 2
randomizer = {{mechanism = "k-rr", k = 3, max_epsilon_local = 2.0}}
population.enrolled = 500
protections.minimum_batch = 200
guarantee.delta = 0.01
{more}
"""
MALLOWS = (
    f'shuffling = {{order = "mallows", alpha = 2.0, groups = {{sha256 = "{"0" * 64}", '
    "sensitivity = 6}}"
)


@pytest.fixture
def write(tmp_path):
    def write(more=""):
        file = tmp_path / "plan.toml"
        file.write_text(PLAN.format(more=more))
        return file

    return write


@pytest.fixture
def halved(monkeypatch):
    """Proofs that promise half of what is true."""

    def wrong(plan):
        ladder = assess(plan)
        rows = []
        for row in ladder:
            cells = dict(row.cells)
            link = cells["reidentification"]
            smaller = replace(link.proved, value=link.proved.value / 2)
            cells["reidentification"] = replace(link, proved=smaller, attained=None)
            rows.append(replace(row, cells=cells))
        return replace(ladder, rows=tuple(rows))

    monkeypatch.setattr("croupier.auditing.attacks.attacks.assess", wrong)


FLAGS = ("--games", "5e3", "--insecure-seed", "7")
FEW = ("--games", "200", "--insecure-seed", "7")


def test_a_plan_is_attacked(croupier, write):
    done = croupier("attack", write(), *FLAGS)
    assert done.code == 0, done.err
    assert "against batch" in done.out
    assert "re-identified" in done.out
    assert "95 % interval" in done.out
    assert " ".join(done.out.split()).endswith(
        "No proof refuted (by chance at most 1 in a million). Epsilon at delta 0.01. A measurement "
        "is evidence: it meets no policy."
    )
    assert done.out == croupier("attack", write(), *FLAGS).out


def test_everything_is_in_the_document(croupier, write):
    document = croupier("attack", write(), *FLAGS, "--json").document
    assert document["refuted"] is False
    assert document["false_alarm"] == pytest.approx(1e-6)
    link = document["attacks"][0]
    assert (link["rung"], link["attack"], link["metric"]) == (
        "batch",
        "reidentification",
        "reidentification",
    )
    low, high = link["interval"]
    assert low <= link["measured"] <= high
    assert link["proved_lower"] <= link["proved_upper"]
    assert link["sure_lower"] < low
    assert (link["confidence"], link["games"], link["refuted"]) == (0.95, 5000, False)
    assert link["gap"] == pytest.approx(1 - link["measured"] / link["proved_upper"])
    assert {one["delta"] for one in document["attacks"]} == {None, 0.01}


@pytest.mark.usefixtures("halved")
def test_a_wrong_proof_is_refuted(croupier, write):
    done = croupier("attack", write(), *FLAGS)
    assert done.code == 5
    assert "1 proofs REFUTED" in done.out
    document = croupier("attack", write(), *FLAGS, "--json")
    assert document.code == 5
    assert [one["attack"] for one in document.document["attacks"] if one["refuted"]] == [
        "reidentification"
    ]


def test_liars_are_played_beside_the_limit(croupier, write, monkeypatch):
    """2 % of 200 people, and 5 where they move an estimate by more than is proved."""
    flags = (*FEW, "--liars", "0.02")
    done = croupier("attack", write(), *flags)
    assert done.code == 0, done.err
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    row = lines[lines.index("2 % of people lie proved limit moved by found") + 1].split()
    proved = 2 * float(KaryRandomizedResponse(k=3, max_epsilon_local=2.0).worst_shift)
    assert row[:2] == ["one", "report"]
    assert 0 < float(row[4]) <= float(row[2]) == pytest.approx(proved, abs=0.01)
    document = croupier("attack", write(), *flags, "--json").document
    (shift,) = document["liars"]
    assert (shift["liars"], shift["people"], shift["found"], shift["refuted"]) == (4, 200, 0, False)
    monkeypatch.setattr(KaryRandomizedResponse, "worst_shift", Fraction(1, 10))
    wrong = croupier("attack", write(), *flags)
    assert wrong.code == 5
    assert "1 proofs REFUTED" in wrong.out


def test_what_no_proof_speaks_of_is_measured_all_the_same(croupier, write):
    done = croupier("attack", write(MALLOWS), *FEW)
    assert done.code == 0, done.err
    rows = {line.split("  ")[0]: line for line in done.out.splitlines()}
    assert "not bounded" in rows[Metric.GUESSED_SHARE.heading]


def test_what_is_not_played_is_said(croupier, write):
    more = "collection.rounds = 1\nanalyzer.publication = 'histogram'"
    plan = write(more)
    plan.write_text(plan.read_text().replace("k = 3", "k = 40").replace("k-rr", "symmetric-unary"))
    done = croupier("attack", plan, *FEW)
    assert done.code == 0, done.err
    assert 'Not played: "guess, knows nobody"' in done.out


@pytest.mark.parametrize("more", ["", MALLOWS])
def test_measured_is_drawn_between_proofs(croupier, write, tmp_path, more):
    plot = tmp_path / "sandwich.svg"
    done = croupier("attack", write(more), *FEW, "--plot", plot)
    assert done.code == 0, done.err
    assert plot.stat().st_size > 10_000


def test_what_is_drawn_is_what_is_printed(croupier, write, tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: kept.append(figure))
    plot = tmp_path / "sandwich.png"
    document = croupier("attack", write(), *FEW, "--plot", plot, "--json").document
    (axes,) = kept[0].axes
    assert axes.get_xlabel() == "measured / proved limit"
    assert len(axes.get_yticks()) == len(document["attacks"])
    points = {(x, y) for line in axes.lines for x, y in zip(*line.get_data(), strict=True)}
    for row, attack in enumerate(document["attacks"]):
        if attack["proved_upper"]:
            limit = attack["proved_upper"]
            assert {
                (attack["measured"] / limit, row),
                (attack["interval"][0] / limit, row),
            } <= points


def test_a_plot_must_be_a_picture(croupier, write, tmp_path):
    done = croupier("attack", write(), "--plot", tmp_path / "sandwich.txt")
    assert done.code == 2
    assert ".png" in done.err


def test_outcomes_are_kept_and_continued(croupier, write, tmp_path):
    kept = tmp_path / "kept.npz"
    first = croupier("attack", write(), *FLAGS, "--resume", kept)
    again = croupier("attack", write(), "--games", "5e3", "--resume", kept)
    assert first.code == again.code == 0
    assert first.out == again.out
    other = croupier("attack", write(), "--games", "6e3", "--resume", kept)
    assert other.code == 2
    assert "--games" in other.err


def test_a_plan_is_needed(croupier, tmp_path):
    assert croupier("attack", tmp_path / "none.toml").code == 2


@pytest.mark.parametrize(
    ("flags", "next_step"),
    [
        ((), "with --resume FILE the next run would continue"),
        (("--resume", "kept.npz"), "continues from kept.npz"),
    ],
)
def test_an_interruption_says_how_to_go_on(croupier, write, monkeypatch, flags, next_step):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Suite, "play", interrupted)
    outcome = croupier("attack", write(), *flags)
    assert outcome.code == 130
    assert next_step in outcome.err


def test_somebody_elses_claim(croupier, write):
    """A claim below what an attack reaches is refuted, one above is not, and a wrong name told."""
    done = croupier("attack", write(), *FLAGS, "--claim", "batch.epsilon=0.001")
    assert done.code == 5
    assert "Claim batch.epsilon <= 0.001: REFUTED; at least " in done.out
    assert "No proof refuted" in done.out
    both = ("--claim", "batch.epsilon=9", "--claim", "batch.reidentification=1e-5")
    document = croupier("attack", write(), *FLAGS, *both, "--json")
    assert document.code == 5
    assert [one["refuted"] for one in document.document["claims"]] == [False, True]
    assert croupier("attack", write(), *FLAGS, "--claim", "batch.epsilon=9").code == 0
    for wrong in ("batch.epsilon", "batch.epsilon=much", "batch.beauty=1", "batch.epsilon=-1"):
        assert croupier("attack", write(), *FLAGS, "--claim", wrong).code == 2
