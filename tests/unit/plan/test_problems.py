"""Every way of writing a wrong plan, with the line and the sentence that it gets."""
# ruff: noqa: E501 - one case a line

import pytest

from croupier.plan.file import PlanError
from croupier.plan.plan import Plan

FULL = """\
schema = 2
name = "emoji"
[randomizer]
mechanism = "k-rr"
k = 50
max_epsilon_local = 4.0
[population]
enrolled = 1_000_000
corrupt_fraction = 0.05
corrupt_fraction_of = "enrolled"
[participation]
model = "parallel"
noise = "fresh"
[collection]
every = "24h"
rounds = 1
[shuffling]
order = "uniform"
[protections]
minimum_batch = 200_000
report_size = 32
messages = 1
disposal_age = "72h"
[[shufflers]]
operator = "Example Foundation"
[analyzer]
operator = "Example Ltd"
publication = "estimate"
[guarantee]
adjacency = "replace-one"
delta = 1e-8
[policy]
batch = {max_epsilon = 0.1, max_reidentification = 5e-4}
collusion = {max_epsilon = 4.0}
"""
HUGE = "1" + "0" * 300
SHORT = """\
schema = 2
[population]
enrolled = 100
[protections]
minimum_batch = 50
"""
TWO_QUESTIONS = f"""\
{SHORT}
[[questions]]
mechanism = "k-rr"
k = 3
max_epsilon_local = 1.0

[[questions]]
mechanism = "laplace"
max_epsilon_local = 1.0
[questions.grid]
low = 0
high = 1
step = 0.5
"""


def problem(text):
    with pytest.raises(PlanError) as refusal:
        Plan.from_toml(text, file="p.toml")
    return str(refusal.value)


def changed(text, old, new):
    assert text.count(old) == 1, f"{old} is not there once"
    return text.replace(old, new)


NEEDED = 'Try {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}.'
NEITHER = 'p.toml: randomizer must be given, or [[questions]]. Try mechanism = "k-rr".'
ONE = 'randomizer = {mechanism = "k-rr", k = 3, max_epsilon_local = 1.0}'
LISTED = 'Try [{mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}].'
MECHANISMS = "k-rr, memoised-k-rr, symmetric-unary, optimized-unary, rappor, local-hashing, dictionary, text, "
MECHANISMS += "distribution, hadamard, subset-selection, laplace, gaussian, one-bit-mean, sampled-sign, plain, matrix, parallel, together"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # the top level
        ("schema = 2\n", "", "p.toml: schema must be given. Try 2."),
        ("schema = 2", "schema = 3", "p.toml:1: schema must be 2; got 3. Try 2."),
        ("schema = 2", "schema = 1", "p.toml:1: schema must be 2; got 1. Run: croupier plan upgrade FILE."),
        ("schema = 2", "schema = true", "p.toml:1: schema must be 2; got true. Try 2."),
        ("schema = 2", "schema = '2'", 'p.toml:1: schema must be 2; got "2". Try 2.'),
        ("schema = 2", "plan_schema = 2", "p.toml:1: plan_schema is not a key of a plan. Did you mean schema?"),
        ("schema = 2", "integer = 1", "p.toml:1: integer is not a key of a plan. Try one of schema, name, title, purpose, randomizer, questions, population, participation, collection, shuffling, protections, shufflers, analyzer, admission, guarantee, policy, record."),
        ("schema = 2", '"[key]" = 1', "p.toml:1: [key] is not a key of a plan. Try one of schema, name, title, purpose, randomizer, questions, population, participation, collection, shuffling, protections, shufflers, analyzer, admission, guarantee, policy, record."),
        ('"emoji"', '"Emoji"', 'p.toml:2: name must be letters a-z, digits and hyphens; got "Emoji". Try "emoji".'),
        ('"emoji"', "7", 'p.toml:2: name must be letters a-z, digits and hyphens; got 7. Try "emoji".'),
        ('"emoji"', f'"{"a" * 65}"', f'p.toml:2: name must be letters a-z, digits and hyphens; got "{"a" * 40}…". Try "emoji".'),
        ("[randomizer]", "[randomiser]", "p.toml:3: randomiser is not a key of a plan. Did you mean randomizer?"),
        ("k = 50", 'k = 50\nname = "Size of shoes"', 'p.toml:6: name must be letters a-z, digits, hyphens and underscores; got "Size of shoes". Try "feature".'),
        ("k = 50", 'k = 50\ntext = ""', 'p.toml:6: text must be a text of 1 to 1,000 characters, on one line; got "". Try "Which feature did you use most today?".'),
        ("max_epsilon_local =", "epsilon_local =", "p.toml:6: epsilon_local must be called max_epsilon_local where it is asked for."),
        ("[population]", "[populaton]", "p.toml:7: populaton is not a key of a plan. Did you mean population?"),
        ("[analyzer]", "[[analyzer]]", "p.toml:26: analyzer must be a table."),
        ("[protections]", "[analyzer.x]", "p.toml:19: x is not a key of analyzer. Try one of operator, publication, key."),
        ("[[shufflers]]", '[[shufflers]]\nkey = "AB"', 'p.toml:25: key must be an Ed25519 public key, 64 hexadecimal digits, as `croupier keys` prints it; got "AB".'),
        ("[analyzer]", '[analyzer]\nkey = "AB"', 'p.toml:27: key must be an Ed25519 public key, 64 hexadecimal digits, as `croupier keys` prints it; got "AB".'),
        ("[[shufflers]]", "[shufflers]", 'p.toml:24: shufflers must be one or two tables, one per shuffler. Try [{operator = "Example Foundation"}].'),
        ("[[shufflers]]", "[[shufflers]]\n[[shufflers]]\n[[shufflers]]", 'p.toml:24: shufflers must be one or two tables, one per shuffler. Try [{operator = "Example Foundation"}].'),
        ("[[shufflers]]", "[[shufflers]]\nkeep = 0.5", "p.toml:24: keep must come with dummies: nothing is proved about a sample alone; got 0.5. Add dummies = {epsilon = 1.0, delta = 1e-8}, or delete keep."),
        ("[[shufflers]]", "[[shufflers]]\nkeep = 2", "p.toml:25: keep must be in (0, 1]; got 2. Try 0.5."),
        ("[[shufflers]]", "[[shufflers]]\ndummies = {epsilon = 1}", "p.toml:25: delta must be given. Try 1e-8."),
        ("[[shufflers]]", "[[shufflers]]\ndummies = {epsilon = 0, delta = 1e-8}", "p.toml:25: epsilon must be in [0.01, 20]; got 0. Try 1.0."),
        ("[[shufflers]]", "[[shufflers]]\n[[shufflers]]", "p.toml:35: collusion must be policy.everybody in a plan with two shufflers. Rename the table."),
        ("[[shufflers]]", "[[shufflers]]\ndummies = {epsilon = 1, delta = 1e-8, weights = [1, 2, 1]}", "p.toml:25: weights must give a delta of at most 1e-08 at epsilon 1; got 0.518. Delete them: the default table suffices."),
        ("[[shufflers]]", "[[shufflers]]\nkeys = 5", "p.toml:25: keys is not a key of shufflers. Did you mean key?"),
        # the randomizer
        ('mechanism = "k-rr"\n', "", 'p.toml:3: mechanism must be given. Try "k-rr".'),
        ('"k-rr"', '"krr"', 'p.toml:4: mechanism must be a name from `croupier mechanisms`; got "krr". Did you mean k-rr?'),
        ('"k-rr"', "5", f"p.toml:4: mechanism must be a name from `croupier mechanisms`; got 5. Try one of {MECHANISMS}."),
        ('"k-rr"', '["k-rr"]', "p.toml:4: mechanism must be a name from `croupier mechanisms`. Did you mean k-rr?"),
        ("k = 50", "kk = 50", "p.toml:5: kk is not a parameter of k-rr. Did you mean k?"),
        ("k = 50", "subset_size = 5", "p.toml:5: subset_size is not a parameter of k-rr. Try one of max_epsilon_local, denominator, k, labels."),
        ("k = 50", '"a.b" = 50', "p.toml:5: a.b is not a parameter of k-rr. Try one of max_epsilon_local, denominator, k, labels."),
        ("k = 50", "", "p.toml:3: k must be given, or `labels`, not both. Try k=10."),
        ("k = 50", "k = 1", "p.toml:5: k must be a whole number in [2, 1099511627776]; got 1."),
        ("k = 50", "k = true", "p.toml:5: k must be a whole number; got true. Try 16."),
        ("k = 50", "k = 50.0", "p.toml:5: k must be a whole number; got 50.0. Try 50."),
        ("k = 50", 'k = "50"', 'p.toml:5: k must be a whole number; got "50". Try 16.'),
        ("k = 50", f"k = {HUGE}", "p.toml:5: k must be a whole number up to 2^64. Try 16."),
        ("k = 50", f"k = 0x{'f' * 5000}", "p.toml:5: k must be a whole number up to 2^64. Try 16."),
        ("k = 50", 'labels = "yes"', 'p.toml:5: labels must be a list of texts or whole numbers; got "yes". Try ["no", "yes"].'),
        ("k = 50", "labels = [[1], [2]]", 'p.toml:5: labels must be a list of texts or whole numbers. Try ["no", "yes"].'),
        ("k = 50", "labels = [{a = 1}, 2]", 'p.toml:5: labels must be a list of texts or whole numbers. Try ["no", "yes"].'),
        ("k = 50", "labels = [0.5, 1.5]", 'p.toml:5: labels must be a list of texts or whole numbers. Try ["no", "yes"].'),
        ("k = 50", "labels = [1, true]", 'p.toml:5: labels must be a list of texts or whole numbers. Try ["no", "yes"].'),
        ("k = 50", 'labels = ["a", "b", "a"]', "p.toml:5: labels must be at least two, all different."),
        ("k = 50", 'labels = [\n"a = 1", # k = 3\n"[population]",\n"a = 1",\n]', "p.toml:5: labels must be at least two, all different."),
        ("max_epsilon_local = 4.0", "", "p.toml:3: max_epsilon_local must be given for k-rr. Try 4."),
        ("max_epsilon_local = 4.0", "max_epsilon_local = 21", "p.toml:6: max_epsilon_local must be in (0, 20]; got 21.0. Try 4."),
        ("max_epsilon_local = 4.0", "max_epsilon_local = nan", "p.toml:6: max_epsilon_local must be in (0, 20]; got nan. Try 4."),
        ("max_epsilon_local = 4.0", "max_epsilon_local = true", "p.toml:6: max_epsilon_local must be a number in (0, 20]; got true. Try 4."),
        ("max_epsilon_local = 4.0", "max_epsilon_local = [4]", "p.toml:6: max_epsilon_local must be a number in (0, 20]. Try 4."),
        ('"k-rr"', '"subset-selection"\nsubset_size = 50', "p.toml:5: subset_size must be a whole number in [1, 49]; got 50."),
        ('"k-rr"', '"local-hashing"\nbuckets = 1', "p.toml:5: buckets must be a whole number in [2, 2642239]; got 1."),
        ('"k-rr"', '"rappor"\nbits = 3', "p.toml:5: bits must be enough to tell 50 categories apart; got 3. Leave it out to have it chosen."),
        ('"k-rr"\nk = 50', '"laplace"\ngrid = [0, 1]', "p.toml:5: grid must have the numbers low, high and step. Try {low = 0, high = 1, step = 0.1}."),
        ('"k-rr"\nk = 50', '"laplace"\ngrid = {low = 0, high = "1", step = 1}', "p.toml:5: grid must have the numbers low, high and step. Try {low = 0, high = 1, step = 0.1}."),
        ('"k-rr"\nk = 50', '"laplace"\ngrid = {low = 0, high = 1, step = 1e-5}', "p.toml:5: grid must be coarser for laplace. Try fewer steps."),
        ('"k-rr"\nk = 50\nmax_epsilon_local = 4.0', '"matrix"\nmatrix = [[0.5, 0.6], [0.5, 0.5]]', 'p.toml:5: matrix must sum to 1 in every row; got "a row off by 0.1".'),
        ('"k-rr"\nk = 50\nmax_epsilon_local = 4.0', '"matrix"\nmatrix = [["a"]]', "p.toml:5: matrix must be a list of rows of numbers. Try [[3, 1], [1, 3]]."),
        ('"k-rr"\nk = 50\nmax_epsilon_local = 4.0', '"parallel"\nqueries = 5', "p.toml:5: queries must be a list of tables with a mechanism."),
        # the population
        ("enrolled = 1_000_000\n", "", "p.toml:7: enrolled must be given. Try 1_000_000."),
        ("enrolled = 1_000_000", "enrolled = 1", "p.toml:8: enrolled must be a number of people, at least 2; got 1. Try 1_000_000."),
        ("enrolled = 1_000_000", 'enrolled = "1e6"', 'p.toml:8: enrolled must be a number of people, at least 2; got "1e6". Try 1_000_000.'),
        ("enrolled = 1_000_000", "enrolled = 1e6.5", "p.toml:8: not TOML: Expected newline or end of document after a statement."),
        ("enrolled = 1_000_000", "enrolled = true", "p.toml:8: enrolled must be a number of people, at least 2; got true. Try 1_000_000."),
        ("enrolled = 1_000_000", "enrolled = 1.5", "p.toml:8: enrolled must be a number of people, at least 2; got 1.5. Try 1_000_000."),
        ("enrolled = 1_000_000", f"enrolled = {HUGE}", "p.toml:8: enrolled must be a number of people, at least 2; got 1.00e+300. Try 1_000_000."),
        ("enrolled = 1_000_000", "enrolled = 1979-05-27", "p.toml:8: enrolled must be a number of people, at least 2; got 1979-05-27. Try 1_000_000."),
        ("fraction = 0.05", "fraction = 1", "p.toml:9: corrupt_fraction must be in [0, 1); got 1. Try 0.05."),
        ("fraction = 0.05", "fraction = -0.1", "p.toml:9: corrupt_fraction must be in [0, 1); got -0.1. Try 0.05."),
        ("fraction = 0.05", "fraction = inf", "p.toml:9: corrupt_fraction must be in [0, 1); got inf. Try 0.05."),
        ("fraction = 0.05", "fraction = 0.2", "p.toml:9: corrupt_fraction must leave 2 honest people in the minimum batch of 200,000; got 0.2. 200,000 may be corrupt. Try a larger minimum_batch."),
        ("corrupt_fraction_of =", "corrupt_fractions_of =", "p.toml:10: corrupt_fractions_of is not a key of population. Did you mean corrupt_fraction_of?"),
        # participation
        ('"parallel"', '"paralel"', 'p.toml:12: model must be a participation model; got "paralel". Try "parallel".'),
        ('"parallel"', '"bins"', "p.toml:11: bins must be given. Try [6, 6]."),
        ('"parallel"', '"bins"\nbins = ["6"]', 'p.toml:13: bins must list the rounds of every bin, or how likely each is; got "6". Try [6, 6].'),
        ('"parallel"', '"bins"\nbins = [100_000, 1]', "p.toml:13: bins must be in [1, 100,000] rounds; got 100_001. Try 60."),
        ('"parallel"', '"parallel"\ngroups = 4', "p.toml:13: groups must be left out for parallel. Delete it."),
        ('"parallel"', '"parallel"\nweights = 0', "p.toml:13: weights must be in [1, 100,000] rounds; got 0. Try 60."),
        ('"parallel"', '"parallel"\nweights = []', "p.toml:13: weights must be in [1, 100,000] rounds; got 0. Try 60."),
        ('"parallel"', '"parallel"\nweights = [1, 0]', "p.toml:13: weights must be a whole number of at least 1; got 0."),
        ('"parallel"', '"parallel"\nweights = [1, "x"]', "p.toml:13: weights must be the number of rounds, or how likely each is. Try 60."),
        ("rounds = 1", "rounds = 0", "p.toml:16: rounds must be how often a person may take part, at least 1; got 0. Try 1."),
        ('"fresh"', '"old"', 'p.toml:13: noise must be "fresh" or "reused"; got "old". Try "fresh".'),
        # the shuffler
        ('"uniform"', '"random"', 'p.toml:18: order must be "uniform" or "mallows"; got "random". Try "uniform".'),
        ('"uniform"', '"uniform"\nalpha = 1', "p.toml:19: alpha must be left out for a uniform order. Delete it."),
        ('"uniform"', '"mallows"', "p.toml:17: alpha must be given for mallows. Try 4.0."),
        ('"uniform"', '"mallows"\nalpha = 4', "p.toml:17: groups must give sha256 and sensitivity. Run: croupier mallows order FILE."),
        ('"uniform"', '"mallows"\nalpha = 4\ngroups.sha256 = "xyz"', 'p.toml:20: sha256 must be the SHA-256 digest of the public file, 64 hexadecimal digits; got "xyz". Try "0000000000000000000000000000000000000000000000000000000000000000".'),
        # protections
        ("[protections]\nminimum_batch = 200_000\n", "[protections]\n", "p.toml:19: minimum_batch must be given. Try 200_000."),
        ("batch = 200_000", "batch = 0", "p.toml:20: minimum_batch must be a number of people, at least 2; got 0. Try 200_000."),
        ("batch = 200_000", "batch = 2_000_000", "p.toml:20: minimum_batch must be in [2, 1,000,000]; got 2_000_000. Try 200_000."),
        ("size = 32", "size = 2", "p.toml:21: report_size must be in [4, 65536] bytes; got 2. Try 32."),
        ("size = 32", "size = 70_000", "p.toml:21: report_size must be in [4, 65536] bytes; got 70_000. Try 32."),
        ("messages = 1", "messages = 2", "p.toml:22: messages must be 1: no mechanism of a plan sends more; got 2. Try 1."),
        ("messages = 1", "messages = true", "p.toml:22: messages must be 1: no mechanism of a plan sends more; got true. Try 1."),
        ('"24h"', "24", 'p.toml:15: every must be like "24h"; got 24. Try "24h".'),
        ('"24h"', '"0h"', 'p.toml:15: every must be above 0s and at most 366d. Try "24h".'),
        ('"24h"', '"367d"', 'p.toml:15: every must be above 0s and at most 366d. Try "24h".'),
        ('"24h"', '"99999999d"', 'p.toml:15: every must be like "24h"; got "99999999d". Try "24h".'),
        ('"24h"', '"1 week"', 'p.toml:15: every must be like "24h"; got "1 week". Try "24h".'),
        ('"72h"', '"12h"', 'p.toml:23: disposal_age must be at least collection.every; got "12h". Try "72h".'),
        # the parties, guarantee, policy
        ('"Example Foundation"', '""', 'p.toml:25: operator must be a text of 1 to 200 characters, on one line; got "". Try "Example Foundation".'),
        ('"Example Ltd"', "5", 'p.toml:27: operator must be a text of 1 to 200 characters, on one line; got 5. Try "Example Foundation".'),
        ('"estimate"', '"rows"', 'p.toml:28: publication must be "none", "estimate", "histogram", "sorted" or "released-order"; got "rows". Try "estimate".'),
        ('"replace-one"', '"add-remove"', 'p.toml:30: adjacency must be "replace-one"; got "add-remove". Try "replace-one".'),
        ("delta = 1e-8", "delta = 0", "p.toml:31: delta must be in (0, 1); got 0. Try 1e-8."),
        ("delta = 1e-8", "delta = 1e-400", "p.toml:31: delta must be in (0, 1); got 0.0. Try 1e-8."),
        ("delta = 1e-8", "delta = '1e-8'", 'p.toml:31: delta must be in (0, 1); got "1e-8". Try 1e-8.'),
        ("collusion = ", "colusion = ", "p.toml:34: colusion is not a rung. Did you mean collusion?"),
        ("collusion = {max_epsilon = 4.0}", "collusion = 4.0", "p.toml:34: collusion must be a table; got 4.0."),
        ("collusion = {max_epsilon = 4.0}", "collusion = {epsilon = 4.0}", "p.toml:34: epsilon is not a key of policy.collusion. Did you mean max_epsilon?"),
        ("collusion = {max_epsilon = 4.0}", "collusion.max_epsilon = -1", "p.toml:34: max_epsilon must be at least 0; got -1. Try 0.1."),
        ("collusion = {max_epsilon = 4.0}", "[policy.collusion]\n\nmax_guess_of_two = 51", "p.toml:36: max_guess_of_two must be in [0, 1]; got 51. Try 0.51."),
    ],
)  # fmt: skip
def test_one_thing_is_wrong(old, new, expected):
    assert problem(changed(FULL, old, new)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "p.toml: schema must be given. Try 2."),
        ("# nothing\n\n", "p.toml: schema must be given. Try 2."),
        ("schema = 2", NEITHER),
        (
            "schema = 2\nrandomizer = {}",
            'p.toml:2: mechanism must be given. Try "k-rr".',
        ),
        (
            f"schema = 2\n{ONE}",
            "p.toml: population must be given. Try {enrolled = 1_000_000}.",
        ),
        (
            f"schema = 2\n{ONE}\npopulation.enrolled = 5",
            "p.toml: protections must be given. Try {minimum_batch = 200_000}.",
        ),
        (SHORT, NEITHER),
        (
            f"randomizer = 5\n{SHORT}",
            f"p.toml:1: randomizer must be a table of a mechanism and its parameters; got 5. {NEEDED}",
        ),
        (
            f"questions = [5]\n{SHORT}",
            f"p.toml:1: questions must be tables, each of a mechanism and its parameters; got 5. {LISTED}",
        ),
        ("schema = ", "p.toml:1: not TOML: Invalid value."),
        ("schema = 2\nname = emoji\n", "p.toml:2: not TOML: Invalid value."),
        ("schema = 2\nschema = 2\n", "p.toml:2: not TOML: Cannot overwrite a value."),
        ("schema = 2\n[a\n", "p.toml:2: not TOML: Expected ']' at the end of a table declaration."),
        ('schema = 2\nname = "', "p.toml:2: not TOML: Unterminated string."),
        ("a = " + "[" * 5000, "p.toml: not TOML: nested too deeply."),
        ("a = " + "9" * 5000, "p.toml: not TOML: a number has too many digits."),
        ("nam = '" + "9" * 5000 + "'", "p.toml:1: nam is not a key of a plan. Did you mean name?"),
    ],
)  # fmt: skip
def test_whole_files(text, expected):
    assert problem(text) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("k = 3", "k = 1", "p.toml:9: k must be a whole number in [2, 1099511627776]; got 1."),
        ("high = 1", "high = -1", "p.toml:15: grid must have low below high; got [0.0, -1.0]."),
        ("step = 0.5", "stop = 0.5", "p.toml:15: grid must have the numbers low, high and step. Try {low = 0, high = 1, step = 0.1}."),
        ('"laplace"', '"laplce"', 'p.toml:13: mechanism must be a name from `croupier mechanisms`; got "laplce". Did you mean laplace?'),
        ("[questions.grid]", "[questions.grids]", "p.toml:15: grids is not a parameter of laplace. Did you mean grid?"),
        ("[population]", "participation.weights = 3\n[population]", "p.toml:8: questions must be 1 or 3, one per round; got 2. Add some, or change [participation]."),
        ("[population]", "participation.weights = 1\n[population]", "p.toml:8: questions must be 1 or 1, one per round; got 2. Add some, or change [participation]."),
        ("[population]", 'randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1}\n[population]', "p.toml:8: questions must be left out where a randomizer is given."),
    ],
)  # fmt: skip
def test_problems_of_one_question_of_several(old, new, expected):
    assert problem(changed(TWO_QUESTIONS, old, new)) == expected


def test_a_parallel_report_says_which_question_it_answers():
    questions = '[[questions]]\nmechanism = "k-rr"\nk = 65_536\nmax_epsilon_local = 4.0\n'
    text = SHORT.replace("[protections]", "[protections]\nreport_size = 4") + 2 * questions
    assert problem(text) == (
        "p.toml:5: report_size must hold the longest report and 2 bytes of its own, 5 bytes; "
        "got 4. Try 16."
    )
    assert Plan.from_toml(text.replace("size = 4", "size = 5"))
    assert Plan.from_toml(
        SHORT.replace("[protections]", "[protections]\nreport_size = 4") + questions
    )


def test_carriage_returns_do_not_move_lines():
    text = changed(FULL, "delta = 1e-8", "delta = 2").replace("\n", "\r\n")
    assert problem(text) == "p.toml:31: delta must be in (0, 1); got 2. Try 1e-8."


def test_a_problem_is_never_longer_than_it_needs_to_be():
    for value in ('"' + "x" * 10**5 + '"', "[" + "1," * 10**5 + "]", f"0x{'f' * 10**5}"):
        for key in ("name", "schema", "x", "x" * 10**5):
            assert len(problem(f"{key} = {value}\n")) < 400
