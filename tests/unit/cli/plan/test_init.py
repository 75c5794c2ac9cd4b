import io
import re
import tomllib

import pytest
import tomlkit

from croupier.assessment.policy import check
from croupier.plan.plan import Plan

ONCE = ("--every", "once")
SMALL = (*ONCE, "--enrolled", 5000, "--minimum-batch", 1000, "--max-epsilon-local", 2)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


LIMITS = ("--max-epsilon", 0.1, "--max-reidentification", 5e-4)
LIMITED = {"max_epsilon": 0.1, "max_reidentification": 5e-4}


def test_defaults_and_limits_make_a_plan_that_passes_at_once(croupier, here):
    outcome = croupier("init", "--yes", *ONCE, *LIMITS)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "Wrote plan.toml. Next: croupier assess plan.toml\nMET, the plan's own limits: 4 of 4\n"
    )
    plan = Plan.load(here / "plan.toml")
    assert plan.randomizer.specification == {"mechanism": "k-rr", "k": 50, "max_epsilon_local": 4.0}
    assert (plan.population.enrolled, plan.protections.minimum_batch) == (10**6, 200_000)
    assert (plan.population.corrupt_fraction, plan.guarantee.delta) == (0.05, 1e-8)
    gate = croupier("check", "plan.toml")
    assert gate.code == 0
    assert gate.out.startswith("MET, the plan's own limits: 4 of 4\nThe plan sets its own limits.")
    assert plan.document()["policy"] == {"batch": LIMITED, "clients": LIMITED}


def test_no_limit_is_made_up(croupier, here):
    """A limit that is fitted to what was proved is met by any plan."""
    outcome = croupier("init", "--yes", "--yes-no", *SMALL)
    assert outcome.code == 0
    assert "policy" not in tomllib.loads((here / "plan.toml").read_text())
    assert "NO LIMIT SET  croupier check exits with 4 until" in outcome.out
    assert "--max-epsilon" in outcome.out
    assert croupier("check", "plan.toml").code == 4
    document = croupier("init", "--yes", "--yes-no", *SMALL, "--force", "--json").document
    assert (document["policy"], document["judgement"]) == ({}, "no limit set")


@pytest.mark.parametrize(
    ("flags", "said", "judgement"),
    [
        (("--max-epsilon", 0.001), "NOT MET  0 of 2 limits", "not met"),
        (("--max-epsilon", 2), "NO LIMIT SET", "no limit set"),
        (("--max-reidentification", 1), "NO LIMIT SET", "no limit set"),
        (("--max-reidentification", 0.5), "NO LIMIT SET on batch and clients", "no limit set"),
        (("--max-epsilon", 0.9), "MET, the plan's own limits: 2 of 2", "met"),
    ],
)
def test_a_limit_that_the_plan_does_not_keep_is_written_and_said(
    croupier, here, flags, said, judgement
):
    outcome = croupier("init", "--yes", "--yes-no", *SMALL, *flags)
    assert outcome.code == 0
    assert said in outcome.out
    assert (judgement == "met") or "croupier check plan.toml" in outcome.out
    assert croupier("check", "plan.toml").code == (0 if judgement == "met" else 4)
    limit = {flags[0][2:].replace("-", "_"): flags[1]}
    policy = tomllib.loads((here / "plan.toml").read_text())["policy"]
    assert policy == {"batch": limit, "clients": limit}
    again = croupier("init", "--yes", "--yes-no", *SMALL, *flags, "--force", "--json").document
    assert (again["policy"], again["judgement"]) == (policy, judgement)


@pytest.mark.parametrize(
    ("answers", "mechanism", "size"),
    [
        (("--k", 3), "k-rr", 3),
        (("--k", 100), "subset-selection", 100),
        (("--labels", "red,green,blue"), "k-rr", 3),
        (("--yes-no",), "k-rr", 2),
        (("--grid", "0:10:2.5"), "laplace", 5),
        (("--k", 5000), "dictionary", 5000),
        (("--longest", 2, "--alphabet", "ab"), "text", 7),
    ],
)
def test_answers_choose_the_mechanism_of_least_error(croupier, here, answers, mechanism, size):
    flags = (*SMALL, "--max-epsilon", 1.5, "--max-reidentification", 0.9)
    document = croupier("init", "--yes", *answers, *flags, "--json").document
    plan = Plan.load(here / "plan.toml")
    assert document["mechanism"] == plan.randomizer.mechanism == mechanism
    assert document["rms_error"] == plan.randomizer.rms_error(1000)
    assert document["plan_digest"] == plan.digest
    assert plan.randomizer.domain.size == size
    assert len(check(plan)) == sum(map(len, document["policy"].values())) == 4


def test_other_numbers_and_another_file(croupier, here):
    flags = ("--corrupt-fraction", 0.01, "--delta", 1e-5, "-o", "My Plan.toml", "--quiet")
    assert croupier("init", "--yes", "--yes-no", *SMALL, *flags).out == ""
    plan = Plan.load(here / "My Plan.toml")
    assert (plan.population.corrupt_fraction, plan.guarantee.delta) == (0.01, 1e-5)
    assert plan.name == "my-plan"


@pytest.mark.parametrize(
    ("enrolled", "delta"), [("1e5", 1e-7), ("3e6", 3e-9), ("7e5", 1e-8), ("2e3", 5e-6)]
)
def test_delta_is_a_round_number(croupier, here, enrolled, delta):
    assert croupier("init", "--yes", "--yes-no", "--enrolled", enrolled).code == 0
    assert Plan.load(here / "plan.toml").guarantee.delta == delta


def test_a_small_batch_has_few_corrupt_people(croupier, here):
    flags = ("--yes-no", "--enrolled", "1e6", "--minimum-batch", 1000)
    assert croupier("init", "--yes", *flags).code == 0
    plan = Plan.load(here / "plan.toml")
    assert plan.population.corrupt_fraction == 0.0002
    assert plan.corrupt == 200


@pytest.mark.parametrize(
    ("flags", "collection"),
    [
        ((), {"every": "24h", "rounds": 30, "window": "720h"}),
        (("--every", "weekly"), {"every": "168h", "rounds": 5, "window": "720h"}),
        (("--every", "monthly"), {"every": "720h", "rounds": 1, "window": "720h"}),
        (("--every", "60 d"), {"every": "1440h", "rounds": 1, "window": "1440h"}),
        (
            ("--every", "12h", "--window", "7d", "--answers", 3),
            {"every": "12h", "rounds": 3, "window": "168h"},
        ),
        (ONCE, {"every": "24h", "rounds": 1}),
    ],
)
def test_a_plan_goes_on_unless_it_is_for_one_round(croupier, here, flags, collection):
    assert croupier("init", "--yes", "--k", 4, *flags).code == 0
    assert Plan.load(here / "plan.toml").document()["collection"] == collection


def test_devices_may_keep_a_permanent_answer(croupier, here):
    flags = ("--max-epsilon-local", 2, "--max-epsilon-permanent", 6)
    assert croupier("init", "--yes", "--labels", "no,yes", *flags).code == 0
    plan = Plan.load(here / "plan.toml")
    assert plan.randomizer.mechanism == "memoised-k-rr"
    assert (plan.randomizer.epsilon_permanent, plan.cost.epsilon) == (6.0, 6.0)


def test_nothing_is_replaced_without_force(croupier, here):
    (here / "plan.toml").write_text("mine")
    outcome = croupier("init", "--yes", "--yes-no", *SMALL)
    assert outcome.code == 2
    assert "--force" in outcome.err
    assert (here / "plan.toml").read_text() == "mine"
    assert croupier("init", "--yes", "--yes-no", *SMALL, "--force").code == 0
    assert Plan.load(here / "plan.toml")


def test_every_key_has_a_comment(croupier, here):
    croupier("init", "--yes", "--yes-no", *SMALL, "--max-epsilon", 1)
    text = (here / "plan.toml").read_text()
    assert text.endswith("}\n")
    for line in text.split("[policy]")[0].splitlines():
        assert not line or line.startswith("[") or "  # " in line, line
    assert tomlkit.dumps(tomlkit.parse(text)) == text
    assert tomllib.loads(text)["population"]["enrolled"] == 5000


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_questions_where_somebody_answers(croupier, here, monkeypatch):
    replies = ["7", "1", "x", "4", "", "1e3", "a", "2", "z", "weekly", "2", "b", "0.9", "", ""]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(replies)))
    outcome = croupier("init")
    assert outcome.code == 0, outcome
    questions = [
        "Answers: 1 one of k, 2 yes/no, 3 a number, 4 a text [1]: ",
        "must be 1, 2, 3 or 4; got 7.",
        "Answers: 1 one of k, 2 yes/no, 3 a number, 4 a text [1]: ",
        "Categories [50]: ",
        "must be a whole number, at most 1e18; got x. Try 1e6.",
        "Categories [50]: ",
        "People enrolled [1e6]: ",
        "Minimum batch [200000]: ",
        "max_epsilon_local in nats, if all else fails [4]: ",
        "must be a number; got a. Try 4.",
        "max_epsilon_local in nats, if all else fails [4]: ",
        "How often: once, daily, weekly, monthly, or a time like 12h [daily]: ",
        "must be a time like \"12h\"; got 'z'",
        "How often: once, daily, weekly, monthly, or a time like 12h [daily]: ",
        "Answers of one person within 720h [5]: ",
        "Largest acceptable epsilon (empty: no limit): ",
        "must be a number; got b. Try 0.1.",
        "Largest acceptable epsilon (empty: no limit): ",
        "Largest acceptable probability of tracing a report (empty: no limit): ",
        "Wrote plan.toml. Next: croupier assess plan.toml",
        "MET, the plan's own limits: 2 of 2",
    ]
    assert re.fullmatch(".*".join(map(re.escape, questions)), outcome.out.strip(), re.DOTALL)
    plan = Plan.load(here / "plan.toml")
    assert (plan.randomizer.k, plan.protections.minimum_batch) == (4, 1000)
    assert plan.randomizer.max_epsilon_local == 2
    assert plan.document()["collection"] == {"every": "168h", "rounds": 2, "window": "720h"}
    assert plan.document()["policy"] == {
        rung: {"max_epsilon": 0.9} for rung in ("batch", "clients")
    }


def test_questions_about_a_text(croupier, here, monkeypatch):
    replies = ["4", "6", "a-z0-9", "", "1e4", "", "6", "once", "2", "", ""]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(replies)))
    outcome = croupier("init")
    assert outcome.code == 0, outcome
    questions = [
        "Letters of a text that count [12]: ",
        "Letters: a-z, a-z0-9, any, or all in a row [a-z]: ",
        "Normalisation: lower (A-Z become a-z), nfc or none [lower]: ",
        "People enrolled [1e6]: ",
    ]
    assert re.search(".*".join(map(re.escape, questions)), outcome.out, re.DOTALL)
    assert Plan.load(here / "plan.toml").randomizer.specification == {
        "mechanism": "text",
        "max_epsilon_local": 6.0,
        "longest": 6,
        "alphabet": "abcdefghijklmnopqrstuvwxyz0123456789",
        "normalisation": "lower",
    }


@pytest.mark.parametrize(
    ("flags", "alphabet"),
    [(("--alphabet", "any"), None), (("--longest", 3, "--alphabet", "abc"), "abc")],
)
def test_letters_of_a_text(croupier, here, flags, alphabet):
    assert croupier("init", "--yes", *SMALL, *flags, "--normalisation", "none").code == 0
    domain = Plan.load(here / "plan.toml").randomizer.domain
    assert (domain.alphabet, domain.normalisation) == (alphabet, "none")


@pytest.mark.parametrize(
    ("flags", "code", "expected"),
    [
        ((), 2, "`--yes` must be given where there is no terminal"),
        (("--yes", "--k", 3, "--yes-no"), 2, "one of them"),
        (("--yes", "--k", 3, "--alphabet", "any"), 2, "one of them"),
        (("--yes", "--longest", 0), 2, "`longest` must be a whole number in"),
        (("--yes", "--longest", 3, "--normalisation", "upper"), 2, "`normalisation` must be"),
        (("--yes", "-o", "nowhere/plan.toml"), 2, "folder that exists"),
        (("--yes", "--k", 1), 2, "`k` must be a whole number"),
        (
            ("--yes", "--k", 3, "--max-epsilon-local", 21),
            2,
            "`max_epsilon_local` must be in (0, 20]",
        ),
        (("--yes", "--grid", "0:1"), 2, "`--grid` must be LOW:HIGH:STEP"),
        (("--yes", "--labels", "a,a"), 2, "`labels` must be at least two"),
        (("--yes", "--enrolled", 10, "--minimum-batch", 20), 3, "minimum_batch must be in [2, 10]"),
        (("--yes", "--every", "soon"), 2, "`every` must be a time"),
        (("--yes", "--every", "0h"), 2, "`every` must be above 0s"),
        (("--yes", "--window", "x"), 2, "`window` must be a time"),
        (("--yes", *ONCE, "--answers", 2), 2, "`answers` must be left out"),
        (("--yes", *ONCE, "--window", "9d"), 2, "`window` must be left out"),
        (("--yes", "--answers", 31), 3, "rounds must be at most 30"),
        (("--yes", "--window", "1h"), 3, "window must be at least collection.every"),
        (("--yes", "--max-epsilon-permanent", 4), 2, "`max_epsilon_permanent` must be above"),
        (
            ("--yes", "--grid", "0:1:0.5", "--max-epsilon-permanent", 6),
            2,
            "`grid` is not a parameter of memoised-k-rr",
        ),
        (("--yes", "--enrolled", 0), 3, "enrolled must be a number of people"),
        (("--yes", "--corrupt-fraction", 0.9), 3, "corrupt_fraction must leave 2 honest people"),
        (("--yes", "--delta", 2), 3, "delta must be in (0, 1)"),
        (("--yes", "--max-epsilon", -1), 3, "max_epsilon must be at least 0"),
        (("--yes", "--max-epsilon", "nan"), 3, "max_epsilon must be at least 0"),
        (("--yes", "--max-reidentification", 2), 3, "max_reidentification must be in [0, 1]"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(croupier, here, flags, code, expected):
    outcome = croupier("init", *flags, "--json")
    assert outcome.code == code
    assert expected in outcome.document["error"]
    assert not list(here.iterdir())
