"""Files: how they are read, where their keys stand, and that nothing but a PlanError comes out."""

import pytest
import tomlkit
from hypothesis import example, given, settings
from hypothesis import strategies as st

from croupier.plan.file import PlanError, line_of
from croupier.plan.plan import Plan

TEXT = """\
# a comment = 1
schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}
population.enrolled = 100
protections.minimum_batch = 50
[policy]
batch = {max_epsilon = 0.1, max_guess_of_two = 0.6}
"""


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("emoji", "emoji"),
        ("Crash Bits (v2)", "crash-bits-v2"),
        ("--x--", "x"),
        ("größe", "gr-e"),
        ("a" * 63 + "-b", "a" * 63),
        ("日本", "plan"),
        ("_", "plan"),
    ],
)
def test_name_is_that_of_the_file(tmp_path, stem, name):
    path = tmp_path / f"{stem}.toml"
    path.write_text(TEXT, encoding="utf-8")
    assert Plan.load(path).name == name
    path.write_text(f'name = "own"\n{TEXT}', encoding="utf-8")
    assert Plan.load(str(path)).name == "own"


def test_bytes_that_editors_add_do_not_matter(tmp_path):
    path = tmp_path / "plan.toml"
    digest = Plan.from_toml(TEXT).digest
    for content in (
        TEXT.encode("utf-8-sig"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT[:-1].encode(),
    ):
        path.write_bytes(content)
        assert Plan.load(path).digest == digest


def test_a_file_that_is_not_utf_8(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_bytes(TEXT.encode() + 'name = "größe"'.encode("latin-1"))
    with pytest.raises(PlanError) as refusal:
        Plan.load(path)
    assert str(refusal.value) == f"{path}:8: not UTF-8. Save the file as UTF-8."


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError):
        Plan.load(tmp_path / "none.toml")
    with pytest.raises(IsADirectoryError):
        Plan.load(tmp_path)


def test_the_error_says_which_file_and_line(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(TEXT.replace("0.6", "6"))
    with pytest.raises(PlanError) as refusal:
        Plan.load(path)
    assert (refusal.value.file, refusal.value.line) == (str(path), 7)
    assert refusal.value.problem.startswith("max_guess_of_two must")


LAYOUT = '''\
one = """
two = 2
"""
"quoted key" = 'it is # not a comment'
list = [ # [not.a.table]
  "]", # }
  "three = 3",
]
four = {inner = "{", "other.one" = {deep = 1}}
a.b . c = 5
[ table . "sub" ]
key = \'\'\'
[table]
\'\'\'

[[entries]]
name = 1
[entries.part]
key = 2
[[entries]]
name = 3
[entries.part]
key = 4
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("one",), 1),
        (("two",), None),
        (("quoted key",), 4),
        (("list",), 5),
        (("list", 1), 5),
        (("three",), None),
        (("four", "inner"), 9),
        (("four", "other.one", "deep"), 9),
        (("a", "b", "c"), 10),
        (("a", "b"), 10),
        (("a", "missing"), 10),
        (("table",), 11),
        (("table", "sub", "key"), 12),
        (("table", "sub", "missing"), 11),
        (("entries",), 16),
        (("entries", 0, "name"), 17),
        (("entries", 0, "part", "key"), 19),
        (("entries", 1, "name"), 21),
        (("entries", 1, "missing"), 20),
        (("entries", 1, "part", "key"), 23),
        (("nowhere",), None),
        ((), None),
    ],
)
def test_where_a_key_stands(path, line):
    assert line_of(LAYOUT, path) == line


def only_plan_errors(text):
    """The plan, or None where there is none; any other exception is a failure."""
    refusal = None
    try:
        return Plan.from_toml(text)
    except PlanError as error:
        refusal = error
    assert refusal.problem.endswith((".", "?")), refusal
    assert refusal.line is None or 1 <= refusal.line <= text.count("\n") + 1
    return None


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_text(text):
    only_plan_errors(text)


# The Python numbers of TOML are 64 bits wide; larger ones are in the tables of test_plan_problem.
scalars = (
    st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Z"]), max_size=8)
    | st.dates()
    | st.sampled_from(["24h", "k-rr", "laplace", "bins", "mallows", "parallel", 0, 1, 2, 1e400])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["mechanism", "k", "low", "x", ""]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = {
    "": ["schema", "name", "questions", "int", "randomizer", "policy", "shufflers"],
    "randomizer": [
        "name",
        "text",
        "mechanism",
        "k",
        "labels",
        "grid",
        "max_epsilon_local",
        "denominator",
        "matrix",
        "buckets",
        "prime",
        "subset_size",
        "bits",
        "hashes",
        "dimension",
        "tail",
        "queries",
    ],
    "population": ["enrolled", "corrupt_fraction", "corrupt_fraction_of"],
    "participation": ["model", "noise", "groups", "repeats", "weights", "bins"],
    "collection": ["every", "rounds"],
    "shuffling": ["order", "alpha", "groups", "int"],
    "protections": ["minimum_batch", "report_size", "messages", "disposal_age"],
    "analyzer": ["operator", "publication", "key"],
    "guarantee": ["adjacency", "delta"],
    "policy": ["estimate", "batch", "collusion", "[key]"],
}
places = st.sampled_from([(table, key) for table, keys in KEYS.items() for key in keys])
MECHANISMS = [
    "k-rr",
    "memoised-k-rr",
    "laplace",
    "gaussian",
    "one-bit-mean",
    "rappor",
    "local-hashing",
    "hadamard",
]
MECHANISMS += ["subset-selection", "symmetric-unary", "sampled-sign", "matrix", "parallel", "plain"]
MODELS = ["single", "divide", "subsample", "parallel", "multinomial", "bins", "rectified-bins"]


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from(MECHANISMS),
    st.sampled_from(MODELS),
    st.lists(st.tuples(places, values), min_size=1, max_size=3),
)
@example("k-rr", "parallel", [(("randomizer", "max_epsilon_local"), "4")])
@example("matrix", "single", [(("randomizer", "matrix"), [[1, 0], ["a", 1]])])
def test_a_plan_with_some_keys_changed(mechanism, model, changes):
    document = Plan.from_toml(TEXT).document()
    document["randomizer"]["mechanism"] = mechanism
    document["participation"]["model"] = model
    for (table, key), value in changes:
        target = document.setdefault(table, {}) if table else document
        if isinstance(target, dict):
            target[key] = value
    plan = only_plan_errors(tomlkit.dumps(document))
    if plan is not None:
        assert Plan.from_toml(plan.to_toml()) == plan


FULL = Plan.from_toml(TEXT).to_toml()


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, len(FULL)),
    st.integers(0, 12),
    st.sampled_from(list("[]{}=.,#'\"\n_-+:\\ \t0e")) | st.text(max_size=3) | st.just("\n[[x]]\n"),
)
def test_a_plan_with_some_characters_changed(start, length, inserted):
    only_plan_errors(FULL[:start] + inserted + FULL[start + length :])
