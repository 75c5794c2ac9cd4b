import pytest

from croupier.plan.plan import Plan

PETS = ("--k", 4, "--n", "2e4", "--target-error", 0.02, "--max-epsilon", 0.3, "--delta", 1e-6)
FEW = ("--mechanism", "k-rr", "--mechanism", "subset-selection")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_table_and_file(croupier, here):
    outcome = croupier("design", *PETS, *FEW)
    assert outcome.code == 0
    head, first, *_ = outcome.out.splitlines()
    assert head.split()[:3] == ["mechanism", "local", "batch"]
    plan = Plan.load(here / "plan.toml")
    assert first.startswith("A  k-rr")
    assert f"{plan.protections.minimum_batch:,}" in first
    assert "A releases soonest; B leaks least to readers" in outcome.out
    assert "Wrote A to plan.toml (--pick B" in outcome.out
    assert (
        croupier("check", "plan.toml")
        .out.strip()
        .startswith("MET, the plan's own limits: 2 of 2\n")
    )


TEXTS = ("--longest", 6, "--n", "2e5", "--target-error", 0.005, "--max-epsilon", 1, "--delta", 1e-6)


def test_texts(croupier, here):
    outcome = croupier("design", *TEXTS, "--alphabet", "abc")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[1].startswith("A  text  ")
    made = Plan.load(here / "plan.toml").randomizer
    assert (made.longest, made.alphabet, made.normalisation) == (6, "abc", "lower")
    assert croupier("check", "plan.toml").code == 0


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("flags", [("--k", 4), ("--mechanism", "k-rr"), ("--mechanism", "plain")])
def test_texts_and_nothing_else(croupier, flags):
    assert "one of" in croupier("design", *TEXTS, *flags).err
    assert "--longest" in croupier("design", *PETS, "--alphabet", "abc").err


def test_a_limit_of_epsilon_local_alone_is_no_gate(croupier, here):
    flags = [flag for flag in PETS if flag not in ("--max-epsilon", 0.3)]
    outcome = croupier("design", *flags, *FEW, "--max-epsilon-local", 2)
    assert outcome.code == 0
    assert outcome.out.endswith(
        "NO LIMIT SET on batch and clients. Next: croupier check plan.toml\n"
    )
    assert croupier("check", here / "plan.toml").code == 4


def test_document_and_pick(croupier, here):
    document = croupier("design", *PETS, *FEW, "--pick", "b", "-o", "b.toml", "--json").document
    names = [entry["name"] for entry in document["designs"]]
    assert names[:2] == ["A", "B"]
    assert document["picked"] == "B"
    second = document["designs"][1]
    plan = Plan.load(here / "b.toml")
    assert plan.digest == second["plan_digest"]
    assert plan.protections.minimum_batch == second["minimum_batch"] == 10_000
    assert second["epsilon_upper"] <= second["clients_epsilon_upper"] <= 0.3
    assert second["rms_error"] <= 0.02
    assert "leaks least to readers" in second["strengths"]
    assert Plan.model_validate(second["plan"]).digest == plan.digest


def test_a_file_is_not_overwritten_unless_told(croupier, here):
    (here / "plan.toml").write_text("mine")
    outcome = croupier("design", *PETS, *FEW)
    assert outcome.code == 2
    assert "--force" in outcome.err
    assert (here / "plan.toml").read_text() == "mine"
    assert croupier("design", *PETS, *FEW, "--force", "--quiet").out == ""
    assert Plan.load(here / "plan.toml")


def test_out_of_reach(croupier, here):
    outcome = croupier("design", *PETS, *FEW, "--target-error", 1e-4, "--json")
    assert outcome.code == 2
    assert "`target_error` must be at least" in outcome.document["error"]
    assert "max_epsilon = 0.3 binds" in outcome.document["error"]
    assert not (here / "plan.toml").exists()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--pick", "E"), "`--pick` must be one of A, B, C, D"),
        (("--shufflers", "3"), "`shufflers` must be a whole number in [1, 2]; got 3"),
        (("--output", "nowhere/plan.toml"), "folder that exists"),
        (("--labels", "a,b"), "`k` must be given, or labels, grid or texts"),
        (("--mechanism", "laplace"), "`mechanism` must be one of k-rr"),
        (("--max-batch", "3e4"), "`max_batch` must be"),
    ],
)
def test_usage_errors(croupier, here, flags, expected):
    outcome = croupier("design", *PETS, *flags, "--json")
    assert outcome.code == 2
    assert expected in outcome.document["error"]
    assert not list(here.iterdir())


def test_dummies_are_offered_and_what_is_traded_is_said(croupier, here):
    flags = (*PETS, "--mechanism", "k-rr", "--mechanism", "plain")
    outcome = croupier("design", *flags)
    assert outcome.code == 0
    words = " ".join(outcome.out.split())
    assert "releases soonest with dummies." in words
    assert ": The device sends the answer itself, hidden by about" in words
    assert Plan.load(here / "plan.toml").randomizer.mechanism == "k-rr"
    document = croupier("design", *flags, "--pick", "c", "-o", "c.toml", "--json").document
    *local, hidden = document["designs"]
    assert (hidden["name"], hidden["mechanism"], hidden["max_epsilon_local"]) == (
        "C",
        "plain",
        None,
    )
    assert hidden["trade"].startswith("The device sends the answer itself")
    assert all(one["trade"] is None for one in local)
    assert Plan.load(here / "c.toml").digest == hidden["plan_digest"]


@pytest.mark.usefixtures("here")
def test_fifty_questions_say_what_they_cost_and_which_plan_needs_signed_rounds(croupier):
    asked = ("--labels", "no,yes", "--n", 1e6, "--max-batch", 2e5, "--target-error", 0.01)
    asked += ("--questions", 50, "--mechanism", "k-rr", "--max-epsilon", 0.2)
    document = croupier("design", *asked, "--json").document
    together, apart = document["designs"][0], document["designs"][-1]
    assert (together["model"], apart["model"]) == ("parallel", "divide")
    for one in document["designs"]:
        plan = Plan.model_validate(one["plan"])
        assert plan.asks_by_query == bool(one["trade"])
    assert "50 rounds, each with a query that the analyzer signs" in apart["trade"]
    alone = Plan.model_validate(together["plan"]).randomizers[0]
    assert together["error_alone"] == alone.rms_error(together["minimum_batch"])
    assert together["error_alone"] < together["rms_error"] / 7  # the root of 50
    words = " ".join(croupier("design", *asked, "--force").out.split())
    assert "Each person answers one of the 50 questions." in words
    assert "C: It needs 50 rounds" in words


def test_two_shufflers(croupier, here):
    flags = (*PETS, "--mechanism", "plain", "--shufflers", 2)
    outcome = croupier("design", *flags)
    assert outcome.code == 0
    assert "any one honest shuffler suffices" in " ".join(outcome.out.split())
    plan = Plan.load(here / "plan.toml")
    assert [each.dummies.epsilon for each in plan.shufflers] == [0.3, 0.3]
