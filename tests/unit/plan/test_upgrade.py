"""Plans of schema 1 in the words of schema 2: the same collection, with what people wrote to it."""

import re
import tomllib
from pathlib import Path

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan
from croupier.plan.upgrade import upgraded, upgraded_text

KEY, OTHER = "ab" * 32, "cd" * 32
ONE_QUESTION = f"""\
# Which size are shoes?
schema = 1  # the first
name = "shoes"

[randomizer]
mechanism = "k-rr"
k = 50  # sizes
epsilon_local = 4.0  # nats

[population]
enrolled = 1_000_000

[participation]
model = "single"
# as long as the budget lasts
rounds = 3  # at most
noise = "fresh"

[shuffler]  # of the rows
order = "uniform"

[protections]
minimum_batch = 200_000
round_length = "12h"  # twice a day
disposal_age = "72h"

# two companies
[trust]  # in whom
operators = "separate"  # by contract
# to the world
publication = "sorted"  # rows without order
shuffler_key = "{KEY}"  # of the first
analyzer_key = "{OTHER}"

# the promise
[guarantee]
delta = 1e-8

[policy]
batch = {{max_epsilon = 5}}
# the end
"""
SEVERAL_QUESTIONS = """\
schema = 1

[population]
enrolled = 2_000

[protections]
minimum_batch = 1_500

[participation]
model = "rectified-parallel"

[trust]
operators = "same"  # ours

[[queries]]  # first
mechanism = "k-rr"
labels = ["no", "yes"]  # epsilon_local = 5
epsilon_local = 2.0

[[queries]]  # second
mechanism = "laplace"
epsilon_local = 1.0
[queries.grid]  # of hours
low = 0
high = 10
step = 1
"""
MALLOWS = f"""\
schema = 1
[randomizer]
mechanism = "parallel"
[[randomizer.queries]]
mechanism = "k-rr"
k = 3  # colours
epsilon_local = 2.0
[[randomizer.queries]]
mechanism = "k-rr"
k = 4
epsilon_local = 1.0
[population]
enrolled = 2_000
[protections]
minimum_batch = 1_500
[shuffler]
order = "mallows"
alpha = 4.0
[shuffler.groups]  # of a map
sha256 = "{KEY}"
sensitivity = 486
"""
TEXTS = {"one": ONE_QUESTION, "several": SEVERAL_QUESTIONS, "mallows": MALLOWS}
ODD = {
    "inline": 'schema = 1\nrandomizer = {mechanism = "k-rr", k = 9, epsilon_local = 1.0}\n'
    'population = {enrolled = 100}\nprotections = {minimum_batch = 50, round_length = "1h"}\n'
    f'participation = {{rounds = 2}}\ntrust = {{publication = "none", analyzer_key = "{KEY}"}}\n'
    'shuffler = {order = "uniform"}\n',
    "dotted": 'schema = 1\nrandomizer.mechanism = "k-rr"\nrandomizer.k = 9\n'
    "randomizer.epsilon_local = 1.0\npopulation.enrolled = 100\nparticipation.rounds = 2\n"
    'protections.minimum_batch = 50\nprotections.round_length = "1h"\n'
    f'trust.publication = "none"\ntrust.analyzer_key = "{KEY}"\nshuffler.order = "uniform"\n',
    "indented": '  schema = 1\n  [randomizer]\n    mechanism = "k-rr"\n    k = 9\n'
    "    epsilon_local = 1.0\n  [population]\n    enrolled = 100\n  [participation]\n"
    "    rounds = 2\n  [protections]\n    minimum_batch = 50\n    round_length = '1h'\n"
    f"  [trust]\n    publication = 'none'\n    analyzer_key = '{KEY}'\n",
    "quoted": "'schema' = 1\n['randomizer']\n'mechanism' = 'k-rr'\n'k' = 9\n"
    "\"epsilon_local\" = 1.0\n['population']\nenrolled = 100\n[participation]\n'rounds' = 2\n"
    "[ protections ]\nminimum_batch = 50\n'round_length' = '1h'\n[ trust ]\n"
    "'publication' = 'none'\n"
    f"'analyzer_key' = '{KEY}'\n",
}


EXAMPLES = sorted((Path(__file__).parent / "schema_1").glob("*.toml"))
TODAY = Path(__file__).parents[3] / "examples" / "plans"


def comments(text):
    return sorted(words.strip() for words in re.findall(r"#(.*)", text))


def same(text, file="plan.toml"):
    """What the text of schema 1 becomes, which must be the plan of its tables."""
    made = upgraded_text(text, file=file)
    tables = upgraded(tomllib.loads(text))
    plan = Plan.from_toml(made, file=file)
    assert plan == Plan.from_document({"name": plan.name} | tables)
    return plan, made


@pytest.mark.parametrize("name", TEXTS)
def test_comments_are_kept(name):
    _, made = same(TEXTS[name])
    assert comments(made) == comments(TEXTS[name])
    assert "\n\n\n" not in made


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_of_version_0_1_are_those_of_today(path):
    """They got words and more limits since; what was proved of them is proved again."""
    plan, made = same(path.read_text(), file=path.name)
    today = Plan.load(TODAY / path.name)
    assert set(plan.limits) <= set(today.limits)
    words = {"title": None, "purpose": None, "record": None, "policy": {}}
    bare = today.replace(**words, randomizer__text=None, randomizer__name=None)
    bare = bare.replace(shufflers__operator=None, analyzer__operator=None)
    bare = bare.replace(protections__minimum_crowd=None)  # a key of version 0.2
    assert bare == plan.replace(policy={})
    assert comments(made) == comments(path.read_text())


def test_each_key_is_where_it_belongs():
    plan, made = same(ONE_QUESTION)
    assert plan.collection.rounds == 3
    assert plan.document()["collection"]["every"] == "12h"
    assert plan.randomizer.max_epsilon_local == 4.0
    assert plan.analyzer.publication == "sorted"
    assert (plan.shuffler_key, plan.analyzer_key) == (KEY, OTHER)
    assert plan.operators == "separate"
    assert "# as long as the budget lasts\nrounds = 3  # at most\n" in made
    assert '# to the world\npublication = "sorted"  # rows without order\n' in made
    assert "# the promise\n[guarantee]\n" in made


def test_several_questions_and_one_operator():
    plan, made = same(SEVERAL_QUESTIONS)
    assert [own.mechanism for own in plan.randomizers] == ["k-rr", "laplace"]
    assert [own.max_epsilon_local for own in plan.randomizers] == [2.0, 1.0]
    assert plan.operators == "same"
    assert "[questions.grid]  # of hours" in made
    assert assess(plan).headline.rung == "collusion"


def test_an_order_and_a_mechanism_of_several():
    plan, _ = same(MALLOWS)
    assert plan.shuffling.groups.sensitivity == 486
    assert [own.max_epsilon_local for own in plan.randomizer.queries] == [2.0, 1.0]


@pytest.mark.parametrize("layout", ODD)
def test_comments_that_cannot_be_kept_are_not_dropped_unasked(layout):
    text = ODD[layout] + "# the last word\n"
    with pytest.raises(PlanError, match="comments cannot be kept"):
        upgraded_text(text)
    assert upgraded_text(text, may_drop_comments=True) == upgraded_text(ODD[layout])


@pytest.mark.parametrize(
    "written", ["'same'", '"same" # not "separate"', '"separate"  # not "same"']
)
def test_the_operators_are_read_and_not_their_comment(written):
    text = SEVERAL_QUESTIONS.replace('"same"  # ours', written)
    plan, made = same(text)
    assert comments(made) == comments(text)
    assert plan.operators == tomllib.loads(f"it = {written}")["it"]


@pytest.mark.parametrize("layout", ODD)
def test_other_layouts_give_an_equal_plan(layout):
    plan, made = same(ODD[layout], file="odd-layout.toml")
    assert plan.name == "odd-layout"
    assert (plan.collection.rounds, plan.document()["collection"]["every"]) == (2, "1h")
    assert (plan.analyzer.publication, plan.analyzer_key) == ("none", KEY)
    assert tomllib.loads(made)["schema"] == 2


def test_all_layouts_are_one_plan():
    assert len({same(text)[0].digest for text in ODD.values()}) == 1


def test_line_ends_stay():
    made = upgraded_text(ONE_QUESTION.replace("\n", "\r\n"))
    assert made.replace("\r\n", "\n") == upgraded_text(ONE_QUESTION)
    assert made.count("\n") == made.count("\r\n")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("schema = 1", "schema = 2", "schema must be 1 to be upgraded. Nothing to do."),
        ("schema = 1", "schema = true", "schema must be 1 to be upgraded. Nothing to do."),
        ("schema = 1", "", "schema must be 1 to be upgraded. Nothing to do."),
        ('"separate"', '"sme"', 'operators must be "separate", or "same" if one party runs both.'),
        (
            "publication",
            "publicaton",
            "publicaton is not a key of trust. Did you mean publication?",
        ),
        ("[trust]", "[[trust]]", "trust must be a table."),
        ("[policy]", "[analyzer]\n[policy]", "analyzer is a key of schema 2."),
        ("k = 50", "k = 1", "k must be a whole number in [2, 1099511627776]; got 1."),
        ("rounds = 3", "rounds = 0", "rounds must be how often a person may take part"),
        ("[shuffler]", "[shuffle]", "shuffle is not a key of a plan. Did you mean shufflers?"),
        ("k = 50", "k = ", "not TOML: "),
        ('"separate"', '["same"]', 'operators must be "separate", or "same"'),
        ("k = 50", "k = 50\nmax_epsilon_local = 9.0", "max_epsilon_local is a key of schema 2."),
        (
            'mechanism = "k-rr"',
            'mechanism = "parallel"\nqueries = 5',
            "k is not a parameter of parallel",
        ),
    ],
)
def test_what_is_no_plan_of_schema_1_is_refused(old, new, problem):
    text = ONE_QUESTION.replace(old, new, 1)
    assert text != ONE_QUESTION
    with pytest.raises(PlanError) as refusal:
        upgraded_text(text, file="p.toml")
    assert str(refusal.value).startswith("p.toml")
    assert problem in str(refusal.value)


@pytest.mark.parametrize("name", TEXTS)
def test_a_plan_of_schema_1_is_refused_with_the_way_out(name):
    with pytest.raises(PlanError, match=r"schema must be 2; got 1\. Run: croupier plan upgrade"):
        Plan.from_toml(TEXTS[name])


@pytest.mark.parametrize(
    ("old", "new"),
    [("max_guess_coin", "max_guess_of_two"), ("max_guess_uniform", "max_guess_uninformed")],
)
def test_a_limit_under_both_names_is_refused(old, new):
    policy = f"[policy]\nbatch = {{{new} = 0.8, {old} = 0.9}}"
    both = ONE_QUESTION.replace("[policy]\nbatch = {max_epsilon = 5}", policy)
    with pytest.raises(PlanError, match=f"shoes.toml: {old} and {new} are the same limit"):
        upgraded_text(both, file="shoes.toml")
