"""The suite of attacks on a plan: which apply, what they are called, how they go on."""

import sys

import numpy as np
import pytest

from croupier.auditing.attacks.attacks import Suite, attack
from croupier.errors import ParameterError, RenamedError, UnknownNameError, UnreadableFileError
from croupier.model.evidence import REFUTATION_CONFIDENCE
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

PLAN = {
    "schema": 2,
    "randomizer": {"mechanism": "k-rr", "k": 3, "max_epsilon_local": 2.0},
    "population": {"enrolled": 500, "corrupt_fraction": 0.0},
    "protections": {"minimum_batch": 200},
    "guarantee": {"delta": 0.01},
}
MALLOWS = {"order": "mallows", "alpha": 2.0, "groups": {"sha256": "0" * 64, "sensitivity": 6}}
BINARY = {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 2.0}


def plan_of(**tables):
    document = PLAN | tables
    if "questions" in tables:
        document = {name: table for name, table in document.items() if name != "randomizer"}
    return Plan.model_validate(document)


def names(plan):
    return [(str(game.scene.rung), game.name) for game in Suite.of(plan).attacks]


VALUES = ["guess_uninformed", "guess_informed"]


def test_a_plain_plan_is_attacked_in_the_batch_and_under_collusion():
    assert names(plan_of()) == [
        *(("batch", name) for name in ("reidentification", "guess_of_two", *VALUES, "epsilon")),
        *(("collusion", name) for name in ("guess_of_two", *VALUES, "epsilon")),
    ]


def test_published_counts_are_attacked_without_rows():
    found = names(plan_of(analyzer={"publication": "histogram"}))
    assert ("estimate", "epsilon") in found
    assert ("estimate", "reidentification") not in found
    assert ("estimate", "reidentification") in names(plan_of(analyzer={"publication": "sorted"}))


def test_corrupt_clients_leave_fewer_to_hide_among():
    plan = plan_of(population={"enrolled": 500, "corrupt_fraction": 0.1})
    games = {(game.scene.rung, game.name): game for game in Suite.of(plan).attacks}
    assert games["clients", "reidentification"].scene.people == 150
    assert games["clients", "reidentification"].adversary.corrupt == 50
    assert games["batch", "reidentification"].scene.people == 200


def test_seen_rounds_are_attacked_where_they_say_something():
    rounds = {"model": "multinomial", "weights": [1, 3]}
    found = names(plan_of(randomizer=BINARY, participation=rounds))
    assert ("network", "rounds") in found
    hidden = rounds | {"model": "rectified-multinomial"}
    assert not any(rung == "network" for rung, _ in names(plan_of(participation=hidden)))


def test_a_worst_crowd_is_the_smallest():
    rounds = {"model": "multinomial", "weights": [1, 3]}
    games = Suite.of(plan_of(participation=rounds)).attacks
    network = next(game for game in games if game.scene.rung == "network")
    assert (network.scene.people, network.scene.share) == (200, 0.25)


def test_samples_hide_whether_somebody_is_asked():
    plan = plan_of(participation={"model": "subsample", "repeats": 2})
    scenes = {game.scene.rung: game.scene for game in Suite.of(plan).attacks}
    assert (scenes["batch"].asked, scenes["batch"].rounds) == (0.4, 2)
    assert scenes["network"].asked == 1


def test_a_reused_report_is_attacked_in_one_batch():
    plan = plan_of(participation={"noise": "reused"}, collection={"rounds": 3})
    assert {game.scene.rounds for game in Suite.of(plan).attacks} == {1}


def test_a_visible_order_is_attacked_by_place_and_by_household():
    found = names(plan_of(shuffling=MALLOWS))
    assert ("batch", "place") in found
    assert ("batch", Metric.GUESSED_SHARE) in found


def test_unseen_questions_that_differ_are_left_out_and_said():
    queries = [BINARY, PLAN["randomizer"]]
    suite = Suite.of(plan_of(questions=queries, participation={"model": "rectified-multinomial"}))
    assert {game.scene.rung for game in suite.attacks} == {"collusion"}
    assert suite.left_out == (
        "batch: rounds ask different questions, and it is unseen who answers",
    )
    divided = plan_of(questions=queries, participation={"model": "divide"})
    assert ("batch", "reidentification") in names(divided)


def test_too_many_reports_are_left_out_and_said():
    unary = {"mechanism": "symmetric-unary", "k": 40, "max_epsilon_local": 1.0}
    suite = Suite.of(plan_of(randomizer=unary))
    assert {game.name for game in suite.attacks} == {"reidentification", "guess_of_two", "epsilon"}
    (told,) = suite.left_out
    who = '"guess, knows nobody" and "guess, knows others" against batch, collusion'
    assert told.startswith(f"{who}: The channel of symmetric-unary would have ")
    assert told.endswith("more than 1.68e+07.")


def test_attacks_are_found_by_name():
    found = attack(plan_of(), games=200, insecure_seed=1)
    assert found["reidentification"] is found["batch", "reidentification"]
    assert found["collusion", "guess_of_two"].rung == "collusion"
    assert found["guess_of_two"].rung == "batch"
    with pytest.raises(UnknownNameError, match="Did you mean reidentification"):
        found["reidentifikation"]
    with pytest.raises(RenamedError, match="reidentification"):
        found["link"]
    with pytest.raises(RenamedError, match=r'attacks\["guessed_share"\]'):
        found["household"]
    with pytest.raises(UnknownNameError):
        found["collusion", "reidentification"]


def test_a_refutation_is_as_sure_as_all_attacks_together_need():
    found = plan_of().attack(games=20_000, insecure_seed=1)
    for one in found:
        assert 1 - one.sure.confidence == pytest.approx(
            (1 - REFUTATION_CONFIDENCE) / len(found), rel=1e-6
        )
        assert one.sure.lower <= one.evidence.measured
        assert one.evidence.confidence == 0.95
    ladder = plan_of().assess()
    assert not found["reidentification"].refutes(ladder["batch"].reidentification)
    assert not found["epsilon"].refutes(ladder["batch"].epsilon)
    with pytest.raises(ParameterError, match="reidentification"):
        found["reidentification"].refutes(ladder["batch"].epsilon)


def test_the_same_seed_plays_the_same_games():
    first, again = (attack(plan_of(), games=300, insecure_seed=5) for _ in range(2))
    other = attack(plan_of(), games=300, insecure_seed=6)
    assert first == again
    assert first["guess_of_two"].evidence.measured != other["guess_of_two"].evidence.measured
    assert attack(plan_of(), games=300) != attack(plan_of(), games=300)


def test_an_interrupted_attack_goes_on_as_if_nothing_had_happened(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["croupier.auditing.attacks.attacks"], "_CHUNK", 100)
    whole = attack(plan_of(), games=450, insecure_seed=5)
    kept, played = tmp_path / "kept.npz", 0

    def stop_midway(games):
        nonlocal played
        played += games
        if played >= 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attack(plan_of(), games=450, resume=kept, insecure_seed=5, advance=stop_midway)
    counted = []
    found = attack(plan_of(), games=450, resume=kept, advance=counted.append)
    assert found == whole
    assert sum(counted) == Suite.of(plan_of()).total(450)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.npz"]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"games": 300}, "--games"),
        ({"insecure_seed": 6}, "--insecure-seed"),
        ({"plan": plan_of(population={"enrolled": 501})}, "PLAN"),
    ],
)
def test_a_file_goes_on_only_where_it_began(tmp_path, changes, named):
    kept = tmp_path / "kept.npz"
    facts = {"plan": plan_of(), "games": 200, "insecure_seed": 5, "resume": kept}
    attack(**facts)
    with pytest.raises(ParameterError, match=f"be of the same {named}"):
        attack(**(facts | changes))


def test_a_file_that_is_something_else_is_not_read(tmp_path):
    kept = tmp_path / "kept.npz"
    kept.write_text("not outcomes")
    with pytest.raises(UnreadableFileError):
        attack(plan_of(), games=200, resume=kept)
    np.savez(kept, other=np.arange(3))
    with pytest.raises(UnreadableFileError):
        attack(plan_of(), games=200, resume=kept)


@pytest.mark.parametrize("change", ["too many", "text", "a number", "seed"])
def test_outcomes_that_no_games_leave_are_not_read(tmp_path, change):
    kept = tmp_path / "kept.npz"
    attack(plan_of(), games=200, resume=kept)
    with np.load(kept) as file:
        found = dict(file)
    name = next(name for name in found if name[0].isdigit())
    changed = {
        "too many": {name: np.concatenate([found[name]] * 201)},
        "text": {name: np.array(["won"])},
        "a number": {name: np.array(1)},
        "seed": {"seed": np.array([1.0])},
    }
    np.savez(kept, **(found | changed[change]))
    with pytest.raises(UnreadableFileError):
        attack(plan_of(), games=200, resume=kept)


def test_another_version_of_the_games_does_not_go_on(tmp_path, monkeypatch):
    kept = tmp_path / "kept.npz"
    attack(plan_of(), games=200, resume=kept)
    with monkeypatch.context() as patched:
        patched.setattr(sys.modules["croupier.auditing.attacks.attacks"], "_CHUNK", 50)
        with pytest.raises(ParameterError, match="version of croupier"):
            attack(plan_of(), games=200, resume=kept)
    monkeypatch.setattr(
        sys.modules["croupier.auditing.attacks.state"], "version", lambda _: "0.0.1"
    )
    with pytest.raises(ParameterError, match="version of croupier"):
        attack(plan_of(), games=200, resume=kept)


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="games"):
        attack(plan_of(), games=99)
    with pytest.raises(ParameterError, match="confidence"):
        attack(plan_of(), games=200, confidence=1.0)
    large = plan_of(population={"enrolled": 10**13}, protections={"minimum_batch": 10**13})
    with pytest.raises(ParameterError, match="to be attacked"):
        attack(large, games=200)


def test_outcomes_speak_of_no_person(tmp_path):
    """The file holds a digest, a seed and the outcomes of simulated games."""
    kept = tmp_path / "kept.npz"
    attack(plan_of(name="secret-survey"), games=200, resume=kept)
    with np.load(kept) as file:
        heads = [name for name in file.files if not name[0].isdigit()]
        assert sorted(heads) == ["games", "plan", "seed", "steps", "version"]
    assert b"secret-survey" not in kept.read_bytes()
