"""`croupier check`: 0 if limits are set and proved, 4 if not, 3 if the plan is invalid."""

import pytest

from croupier import Plan
from croupier.assessment.policy import (
    NoLimitError,
    PolicyNotMetError,
    checked,
    enough_people,
)

PLAN = """
schema = 2
randomizer = {{mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}}
population = {{enrolled = 10_000, corrupt_fraction = 0.01}}
protections.minimum_batch = {batch}
guarantee.delta = 1e-6
{shuffling}
{policy}
"""
MALLOWS = (
    f'shuffling = {{order = "mallows", alpha = 1.0, groups = {{sha256 = "{"0" * 64}", '
    "sensitivity = 3}}"
)
UNIFORM_GROUPS = f'shuffling.groups.sha256 = "{"0" * 64}"'

CLIENTS = "\npolicy.clients.max_epsilon = 0.4"
"""A limit on the most exposed adversary, which a policy needs beside one on the batch."""
BATCH = "\npolicy.batch.max_epsilon = 0.4"

CASES = [
    # what the policy says, the exit code
    ("", 4),
    ("policy = {}", 4),
    ("policy.batch = {}", 4),
    ("policy.batch.max_epsilon = 0.2" + CLIENTS, 0),
    ("policy.batch.max_epsilon = 1.99" + CLIENTS, 0),
    ("policy.batch.max_epsilon = 2.0", 4),
    ("policy.batch.max_epsilon = 100", 4),
    ("policy.batch.max_epsilon = 0.05", 4),
    ("policy.batch.max_epsilon = 0", 4),
    ("policy.collusion.max_epsilon = 2.0", 4),
    ("policy.collusion.max_epsilon = 100", 4),
    ("policy.collusion.max_epsilon = 2.0\npolicy.batch.max_epsilon = 0.2" + CLIENTS, 0),
    ("policy.collusion.max_epsilon = 1.99", 4),
    ("policy.batch.max_reidentification = 0.01" + CLIENTS, 4),
    ("policy.batch.max_reidentification = 0.0005", 4),
    ("policy.estimate.max_reidentification = 0.0002", 4),  # no row is shown there
    ("policy.collusion.max_reidentification = 0.99", 4),
    ("policy.collusion.max_reidentification = 1", 4),
    ("policy.batch.max_reidentification = 1", 4),
    ("policy.batch.max_guess_of_two = 0.52" + CLIENTS, 0),
    ("policy.batch.max_guess_of_two = 0.5", 4),
    ("policy.batch.max_guess_of_two = 0.9", 4),
    ("policy.batch.max_guess_of_two = 1", 4),
    ("policy.batch.max_guess_uninformed = 0.27" + CLIENTS, 4),
    ("policy.batch.max_guess_informed = 0.27" + CLIENTS, 0),
    ("policy.batch.max_guess_informed = 0.25", 4),
    ("policy.batch.min_bayes_security = 0.95" + CLIENTS, 0),
    ("policy.batch.min_bayes_security = 0.999", 4),
    ("policy.batch.min_bayes_security = 0.2", 4),
    ("policy.batch.min_bayes_security = 0", 4),
    ("policy.batch.max_alpha = 4.0", 4),
    ("policy.shuffler.max_epsilon = 0.2\npolicy.network.max_epsilon = 0.2", 4),
    ("policy.batch.max_epsilon = 0.2", 4),
    ("policy.clients.max_epsilon = 0.2", 4),
    ("policy.clients.max_epsilon = 0.2\npolicy.batch.max_epsilon = 0.01", 4),
    ("collection.rounds = 3\npolicy.batch.max_epsilon = 5.9\npolicy.clients.max_epsilon = 5.9", 0),
    ("collection.rounds = 3\npolicy.batch.max_epsilon = 6", 4),
    ("policy.batch.max_epsilon = -1", 3),
    ("policy.batch.max_epsilon = inf", 3),
    ("policy.batch.max_alpha = inf", 3),
    ("policy.batch.max_epsilon = nan", 3),
    ('policy.batch.max_epsilon = "low"', 3),
    ("policy.btch.max_epsilon = 1", 3),
    ("policy.batch.max_eps = 1", 3),
    ("policy = 3", 3),
    ("policy.batch.min_bayes_security = 2", 3),
    ("analyzer.publication = 'everything'", 3),
]


@pytest.fixture
def write(tmp_path):
    def write(policy="", *, batch=10_000, shuffling=""):
        file = tmp_path / "plan.toml"
        file.write_text(PLAN.format(batch=batch, policy=policy, shuffling=shuffling))
        return file

    return write


@pytest.mark.parametrize(("policy", "code"), CASES)
def test_exit_codes(croupier, write, policy, code):
    assert croupier("check", write(policy)).code == code


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (
            "policy.batch = {max_alpha = 1.0, max_epsilon = 2.0}\npolicy.clients.max_epsilon = 2.0",
            0,
        ),
        ("policy.batch.max_alpha = 1.0\npolicy.clients.max_alpha = 1.0", 4),
        ("policy.batch.max_alpha = 0.9", 4),
        ("policy.shuffler.max_alpha = 9.0", 4),
        ("policy.batch.max_reidentification = 1", 4),
    ],
)
def test_exit_codes_of_ordered_batches(croupier, write, policy, code):
    assert croupier("check", write(policy, shuffling=MALLOWS)).code == code


def test_a_limit_that_only_the_best_known_attack_keeps_is_not_met(croupier, write):
    """Between what is attained and what is proved, nothing is known: no policy may rest on it."""
    cell = Plan.load(write()).assess()["batch"]["guess_informed"]
    between = (cell.lower + cell.upper) / 2
    assert cell.lower < between < cell.upper
    assert croupier("check", write(f"policy.batch.max_guess_informed = {between!r}")).code == 4
    above = f"policy.batch.max_guess_informed = {cell.upper!r}{CLIENTS}"
    assert croupier("check", write(above)).code == 0


def test_what_is_not_met_is_shown_with_its_line(croupier, write):
    file = write("policy.batch.max_epsilon = 0.2\npolicy.clients.max_epsilon = 0.05")
    outcome = croupier("check", file)
    assert f"NOT MET  {file.name}:9  clients  epsilon  0.05 " in outcome.out
    assert "1 of 2 limits met. 100 of 10,000 may be corrupt (line 4)." in outcome.out


@pytest.mark.parametrize(
    ("limit", "heading"),
    [
        ("max_guess_informed = 0.25", "guess, knows others"),
        ("max_reidentification = 0", "re-identified"),
        ("max_reidentification = 0.00009", "re-identified"),
        ("max_epsilon = 0", "epsilon"),
        ("min_bayes_security = 1", "Bayes security"),
    ],
)
def test_a_limit_beyond_luck_is_not_answered_with_more_noise(croupier, write, limit, heading):
    said = croupier("check", write(f"policy.batch.{limit}")).out
    assert f"No plan beats luck alone: change the limit of {heading}." in said
    assert "max_epsilon_local" not in said


def test_the_suggested_minimum_is_enough_and_one_less_is_not(croupier, write):
    policy = f"policy.clients.max_epsilon = 0.2{BATCH}"
    document = croupier("check", write(policy, batch=1000), "--json").document
    name, batch = document["suggestion"].split(" = ")
    assert name == "minimum_batch"
    assert croupier("check", write(policy, batch=int(batch))).code == 0
    assert croupier("check", write(policy, batch=int(batch) - 1)).code == 4


def test_no_number_of_people_helps_against_collusion(write):
    plan = Plan.load(write("policy.collusion.max_epsilon = 1.0"))
    assert enough_people(plan, checked(plan.assess()).verdicts) is None


def test_the_document_names_every_limit(croupier, write):
    file = write("policy.batch = {max_epsilon = 0.2, max_guess_of_two = 0.5}")
    document = croupier("check", file, "--json").document
    assert document["passed"] is False
    assert [(limit["metric"], limit["passed"], limit["line"]) for limit in document["limits"]] == [
        ("epsilon", True, 8),
        ("guess_of_two", False, 8),
    ]


def test_quiet_prints_errors_only(croupier, write):
    assert croupier("check", write(f"policy.batch.max_epsilon = 1{CLIENTS}"), "--quiet").out == ""
    outcome = croupier("check", write("policy.batch.max_epsilon = 0.01"), "--quiet")
    assert outcome.out == ""
    assert "1 of 1 limits are not met" in outcome.err


def test_in_python_an_error_tells_what_failed(write):
    plan = Plan.load(write(f"policy.batch.max_epsilon = 1{CLIENTS}"))
    assert all(verdict.met for verdict in plan.check())
    with pytest.raises(PolicyNotMetError, match=r"batch max_epsilon = 0\.01: 0\.1") as caught:
        Plan.load(write("policy.batch = {max_epsilon = 0.01, max_guess_of_two = 1.0}")).check()
    assert [verdict.limit.key for verdict in caught.value.failed] == ["max_epsilon"]


NOTHING = ["", "policy.collusion.max_epsilon = 100", "policy.batch = {max_epsilon = 2.0}"]


@pytest.mark.parametrize("policy", NOTHING)
def test_a_policy_that_limits_nothing_is_no_gate(croupier, write, policy):
    outcome = croupier("check", write(policy))
    assert outcome.code == 4
    assert outcome.out.startswith("NO LIMIT SET")
    assert "MET" not in outcome.out.replace("NO LIMIT SET", "")
    assert "[policy]\nbatch = {max_epsilon = " in outcome.out
    assert "below 2.00, which epsilon_local alone guarantees" in outcome.out
    document = croupier("check", write(policy), "--json").document
    assert (document["passed"], document["reason"]) == (False, "no limit set")
    assert all(not limit["limits_something"] for limit in document["limits"])
    quiet = croupier("check", write(policy), "--quiet")
    assert (quiet.code, quiet.out) == (4, "")
    assert "no limit set" in quiet.err


@pytest.mark.parametrize("policy", NOTHING)
def test_in_python_no_limit_is_an_error_too(write, policy):
    with pytest.raises(NoLimitError, match="No limit is set") as caught:
        Plan.load(write(policy)).check()
    assert isinstance(caught.value, PolicyNotMetError)
    assert caught.value.failed == ()


def test_limits_that_limit_nothing_are_counted_apart(croupier, write):
    file = write(f"policy.batch.max_epsilon = 0.2\npolicy.collusion.max_epsilon = 2.0{CLIENTS}")
    outcome = croupier("check", file)
    assert outcome.code == 0
    assert outcome.out.startswith("MET, the plan's own limits: 2 of 2; 1 more limits nothing:\n")
    assert " collusion  epsilon  2 " in outcome.out
    document = croupier("check", file, "--json").document
    assert (document["passed"], document["reason"]) == (True, None)
    assert [limit["limits_something"] for limit in document["limits"]] == [True, False, True]


@pytest.mark.parametrize("shuffling", ["", UNIFORM_GROUPS])
def test_a_limit_of_what_a_uniform_order_betrays_limits_nothing(croupier, write, shuffling):
    outcome = croupier("check", write("policy.batch.max_alpha = 0.5", shuffling=shuffling))
    assert outcome.code == 4
    assert outcome.out.startswith("NO LIMIT SET")
    assert "a uniform order reveals nothing" in outcome.out


@pytest.mark.parametrize(
    ("key", "limit", "proved"),
    [
        ("max_guess_of_two", 0.505, "  50.5 %  50."),
        ("max_guess_informed", 0.2505, "  25.05 %  25."),
        ("max_guess_uninformed", 0.2501, "  25.01 %  2"),
    ],
)
def test_guesses_have_their_unit(croupier, write, key, limit, proved):
    out = croupier("check", write(f"policy.batch.{key} = {limit}")).out
    row = next(line for line in out.splitlines() if line.startswith("NOT MET"))
    assert proved in row
    assert row.endswith(" %")


def test_every_metric_has_its_own_end(write):
    """The last limit that still limits something, and the first that does not."""
    alone = Plan.load(write()).assess()["collusion"]
    for key, step in {
        "max_epsilon": -1e-6,
        "max_guess_of_two": -1e-6,
        "max_guess_uninformed": -1e-6,
        "max_guess_informed": -1e-6,
        "max_reidentification": -1e-3,
        "min_bayes_security": 1e-6,
    }.items():
        edge = alone[key.partition("_")[2]].proved.value
        for value, expected in ((edge, False), (edge + step, True)):
            plan = Plan.load(write(f"policy.batch.{key} = {value!r}"))
            (verdict,) = checked(plan.assess())
            assert verdict.met
            assert verdict.limits_something is expected, (key, value)


def test_a_limit_that_a_loose_sum_of_rounds_misses_names_the_extra(tmp_path, croupier, monkeypatch):
    """No minimum batch is the remedy where the installation is the cause."""
    rounds = "collection = {every = '1h', rounds = 2}\npolicy.batch.max_epsilon = 0.01"
    text = PLAN.format(batch=9_000, shuffling="", policy=rounds + CLIENTS)
    (tmp_path / "plan.toml").write_text(text)
    done = croupier("check", str(tmp_path / "plan.toml"))
    assert "composition" not in done.out + done.err
    monkeypatch.setattr("croupier.assessment.advice.find_spec", lambda _: None)
    done = croupier("check", str(tmp_path / "plan.toml"))
    said = " ".join((done.out + done.err).split())
    assert done.code == 4
    assert "Rounds are added up: a loose bound." in said
    assert "composition" in said
