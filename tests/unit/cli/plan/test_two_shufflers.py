"""`assess`, `check` and `compare` of plans with dummies and with two shufflers."""

import pytest

ADDS = 'operator = "{0}"\ndummies = {{epsilon = {1}, delta = 1e-8}}\n'
FIRST, SECOND = (f"[[shufflers]]\n{ADDS.format(*each)}" for each in (("a", 1.0), ("b", 0.5)))
PLAN = """
schema = 2
randomizer = {mechanism = "plain", k = 10}
population.enrolled = 400
protections.minimum_batch = 300
guarantee.delta = 1e-8
"""
COMMON = PLAN.replace("1e-8", "1e-9")
SORTED = PLAN + 'analyzer.publication = "sorted"\n'
OFTEN = "[[shufflers]]\ndummies = {epsilon = 1.0, delta = 1e-3}\n"
KARY = PLAN.replace('"plain", k = 10', '"k-rr", k = 10, max_epsilon_local = 4.0')


@pytest.fixture(autouse=True)
def plans(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "one": PLAN + FIRST,
        "two": PLAN + FIRST + SECOND,
        "noisy": KARY + FIRST,
        "none": KARY,
    }.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def flat(text):
    return " ".join(text.split())


def test_the_ladder_of_two(croupier):
    said = croupier("assess", "two.toml").out
    rows = [line.split()[0] for line in said.splitlines() if line]
    own = ["shuffler_1", "shuffler_2", "clients", "all_but_one", "everybody"]
    assert [row for row in rows if row in own] == own
    assert "collusion" not in said
    assert "One honest shuffler protects everybody" in flat(said)
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize(
    ("text", "protects"),
    [
        (PLAN + FIRST + SECOND, True),
        (KARY + FIRST + SECOND, True),
        (PLAN.replace("delta = 1e-8", "delta = 1e-12") + FIRST + SECOND, False),
        (KARY.replace("delta = 1e-8", "delta = 1e-12") + FIRST + SECOND, False),
        (KARY.replace("local = 4.0", "local = 0.4") + FIRST + SECOND, True),
        (KARY.replace("local = 4.0", "local = 0.1") + FIRST + SECOND, True),
        (PLAN + FIRST + "[[shufflers]]", False),
        (KARY + "[[shufflers]]\n[[shufflers]]", False),
    ],
)
def test_one_honest_shuffler_protects_only_where_that_is_proved(croupier, plans, text, protects):
    (plans / "other.toml").write_text(text)
    said = flat(croupier("assess", "other.toml").out)
    assert ("One honest shuffler protects everybody" in said) is protects
    rows = croupier("assess", "other.toml", "--metric", "epsilon", "--json").document["rungs"]
    upper = {row["rung"]: row["cells"][0]["upper"] for row in rows}
    assert (upper["all_but_one"] != upper["everybody"]) is protects


def test_one_shuffler_knows_its_dummies(croupier):
    said = flat(croupier("assess", "one.toml").out)
    assert "The shuffler knows its own dummies: the row `shuffler` counts none." in said
    assert "on average 36 of each answer, and the analyzer subtracts that." in said
    assert "The deltas of dummies add up" in said


@pytest.mark.parametrize("plan", ["one", "two"])
def test_collections_whose_deltas_add_up_name_their_delta(croupier, plan):
    said = flat(croupier("assess", f"{plan}.toml").out)
    found = croupier("assess", f"{plan}.toml", "--json").document["repeated"]
    assert found["delta"] == pytest.approx(30 * 1e-8)
    assert 1 < found["epsilon_upper"] <= 30
    assert "30 such collections of one person: epsilon at most " in said
    assert " at delta 3e-07. If all 400 report" in said


def test_collections_at_the_delta_of_the_plan_do_not_repeat_it(croupier):
    assert " at delta" not in flat(croupier("assess", "noisy.toml").out).split("If all")[0]
    assert croupier("assess", "noisy.toml", "--json").document["repeated"]["delta"] == 1e-8


@pytest.mark.parametrize(("plan", "points"), [("one", "1.00"), ("noisy", "1.19")])
def test_liars(croupier, plan, points):
    said = f"1 % of liars in the smallest batch move a share by at most {points} percentage points."
    assert said in flat(croupier("assess", f"{plan}.toml").out)
    found = croupier("assess", f"{plan}.toml", "--json").document["manipulation"]
    assert found["corrupt_people"] == found["upper"] == 0
    assert found["per_share_upper"] == (1.0 if plan == "one" else pytest.approx(1.187, abs=1e-3))


@pytest.mark.parametrize(
    ("plan", "rung", "rows"),
    [
        ("two", "shuffler", ["shuffler_1", "shuffler_2"]),
        ("two", "collusion", ["everybody"]),
        ("two", "all_but_one", ["all_but_one"]),
        ("one", "all_but_one", ["collusion"]),
        ("one", "shuffler_2", ["shuffler"]),
    ],
)
def test_a_row_by_any_of_its_names(croupier, plan, rung, rows):
    asked = ("assess", f"{plan}.toml", "--rung", rung, "--metric", "epsilon")
    assert [row["rung"] for row in croupier(*asked, "--json").document["rungs"]] == rows
    heads = [line for line in croupier(*asked).out.splitlines() if ", epsilon: " in line]
    assert [line.split(",")[0] for line in heads] == rows


def test_an_organisations_policy_is_about_each_of_two(croupier, plans):
    (plans / "policy.toml").write_text(
        "schema = 1\n[policy]\nbatch = {max_epsilon = 1.1}\nshuffler = {max_epsilon = 0.7}\n"
    )
    outcome = croupier("check", "two.toml", "--policy", "policy.toml")
    assert outcome.code == 4
    assert "policy.toml:4  shuffler (shuffler_1 and shuffler_2)" in outcome.out
    assert "lower the epsilon of dummies" in flat(outcome.out)
    found = croupier("check", "two.toml", "--policy", "policy.toml", "--json").document
    rows = {limit["rung"]: limit.get("rows") for limit in found["limits"]}
    assert rows == {"batch": None, "shuffler": ["shuffler_1", "shuffler_2"]}
    (plans / "policy.toml").write_text(
        "schema = 1\n[policy]\nbatch = {max_epsilon = 1.1}\nshuffler = {max_epsilon = 1.1}\n"
    )
    assert croupier("check", "two.toml", "--policy", "policy.toml").code == 0
    assert croupier("check", "one.toml", "--policy", "policy.toml").code == 4  # knows its dummies


def test_one_beside_two(croupier):
    said = flat(croupier("compare", "one.toml", "two.toml").out)
    assert "beside the one shuffler stands the worse of two, beside collusion both" in said
    assert "epsilon not bounded -> 1.00 better shuffler" in said
    assert "shufflers.2.operator - -> b" in said


BARE = '[[shufflers]]\noperator = "c"\n'
ADVISED = [
    # plan, row, what is advised, and the plan that follows it
    (PLAN + FIRST, "shuffler", "add a second shuffler with dummies", PLAN + FIRST + SECOND),
    (PLAN + FIRST, "shuffler", 'mechanism = "k-rr"', KARY + FIRST),
    (PLAN + FIRST, "shuffler", "publish nothing", PLAN + FIRST + 'analyzer.publication = "none"'),
    (PLAN + FIRST, "collusion", 'mechanism = "k-rr"', KARY + FIRST),
    (PLAN + FIRST + SECOND, "everybody", 'mechanism = "k-rr"', KARY + FIRST + SECOND),
    (PLAN + FIRST + BARE, "all_but_one", "let both shufflers add", PLAN + FIRST + SECOND),
    (PLAN + BARE + SECOND, "all_but_one", "let both shufflers add", PLAN + FIRST + SECOND),
    (PLAN + FIRST + BARE, "shuffler_1", "let the second shuffler add", PLAN + FIRST + SECOND),
    (PLAN + BARE + SECOND, "shuffler_2", "let the first shuffler add", PLAN + FIRST + SECOND),
]


def policed(text, limit):
    """Put a policy, and tables without a header, before the shufflers."""
    head, *shufflers = text.partition("[[shufflers]]")
    body = "".join(shufflers)
    for line in body.splitlines():
        if line.startswith("analyzer."):
            head, body = f"{head}{line}\n", body.replace(line, "")
    return f"{head}policy.{limit}\n{body}"


@pytest.mark.parametrize("key", ["max_epsilon = 4.5", "max_guess_of_two = 0.99"])
@pytest.mark.parametrize(("before", "row", "advised", "after"), ADVISED)
def test_advice_where_nothing_protects_can_be_followed(
    croupier, plans, before, row, advised, after, key
):
    (plans / "before.toml").write_text(policed(before, f"{row}.{key}"))
    refused = croupier("check", "before.toml")
    assert refused.code == 4
    assert f"Nothing bounds {row}, since the device sends the answer itself" in flat(refused.out)
    assert advised in flat(refused.out)
    (plans / "after.toml").write_text(policed(after, f"batch.{key}"))
    found = croupier("assess", "after.toml", "--rung", row, "--metric", "epsilon", "--json")
    assert all(each["cells"][0]["upper"] <= 4.5 for each in found.document["rungs"])


def test_a_row_without_a_limit_that_nothing_bounds_is_explained(croupier, plans):
    (plans / "own.toml").write_text(policed(PLAN + FIRST, "batch.max_epsilon = 1.1"))
    said = flat(croupier("check", "own.toml").out)
    assert "NO LIMIT SET own.toml does not limit what shuffler learn" in said
    assert "Nothing bounds shuffler, since" in said


@pytest.mark.parametrize(
    ("text", "limit", "advised"),
    [
        (KARY + FIRST, "collusion.max_epsilon = 3.0", "enough: lower max_epsilon_local."),
        (KARY + FIRST, "shuffler.max_epsilon = 0.001", "enough: lower max_epsilon_local."),
        (PLAN + FIRST, "batch.max_epsilon = 0.5", "enough: lower the epsilon of dummies."),
        (KARY + FIRST, "collusion.max_reidentification = 0.5", "drop the limit of re-identified"),
        (COMMON + FIRST, "batch.max_guess_of_two = 0.55", "enough: lower the epsilon of dummies."),
        (PLAN + FIRST, "batch.max_reidentification = 0.002", "lower the epsilon of dummies."),
        (KARY + OFTEN, "batch.max_epsilon = 0.5", "enough: lower max_epsilon_local."),
        (SORTED + FIRST, "shuffler.max_reidentification = 0.1", "drop the limit, or change who"),
        (
            KARY + FIRST + BARE,
            "all_but_one.max_reidentification = 0.5",
            "let both shufflers add dummies",
        ),
    ],
)
def test_advice_names_only_what_can_work(croupier, plans, text, limit, advised):
    (plans / "own.toml").write_text(policed(text, limit))
    assert advised in flat(croupier("check", "own.toml").out)
