from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import ParameterError
from croupier.model import Adversary, Goal, Knowledge, View

READER = Adversary(sees={View.BATCH}, corrupt=5)

adversaries = st.builds(
    Adversary,
    sees=st.frozensets(st.sampled_from([View.BATCH, View.LENGTHS])),
    knows=st.sampled_from(Knowledge),
    corrupt=st.integers(0, 2),
    wants=st.sampled_from([Goal.DISTINGUISH, Goal.LINK]),
)


@pytest.mark.parametrize(
    ("change", "at_most", "at_least"),
    [
        ({}, True, True),
        ({"sees": {View.BATCH, View.LENGTHS}}, True, False),
        ({"sees": set()}, False, True),
        ({"sees": {View.LENGTHS}}, False, False),
        ({"corrupt": 6}, True, False),
        ({"corrupt": 4}, False, True),
        ({"knows": Knowledge.NOTHING}, False, True),
        ({"wants": Goal.LINK}, False, False),
        ({"sees": {View.BATCH, View.LENGTHS}, "corrupt": 0}, False, False),
    ],
)
def test_more_sight_knowledge_and_corruption_is_more(change, at_most, at_least):
    other = replace(READER, **change)
    assert READER.at_most(other) is at_most
    assert other.at_most(READER) is at_least


@settings(deadline=None)
@given(adversaries, adversaries, adversaries)
def test_adversaries_are_partially_ordered(one, two, three):
    assert one.at_most(one)
    if one.at_most(two) and two.at_most(one):
        assert one == two
    if one.at_most(two) and two.at_most(three):
        assert one.at_most(three)


def test_what_is_seen_may_be_any_collection():
    assert Adversary(sees=[View.BATCH, View.BATCH]) == Adversary(sees=frozenset({View.BATCH}))


def test_an_adversary_can_be_a_key_and_cannot_be_changed():
    assert {READER: 1}[replace(READER)] == 1
    with pytest.raises(FrozenInstanceError):
        READER.corrupt = 0


def test_fewer_than_no_corrupt_people_are_refused():
    with pytest.raises(ParameterError) as refusal:
        Adversary(sees={View.BATCH}, corrupt=-1)
    assert (refusal.value.parameter, refusal.value.got) == ("corrupt", -1)


@pytest.mark.parametrize(
    ("adversary", "text"),
    [
        (
            Adversary(sees={View.LENGTHS, View.BATCH}, corrupt=12_000),
            (
                "sees message lengths, rows of the released batch; "
                "knows the value of everybody else, with 12,000 corrupt people; "
                "wants to tell two values of one person apart"
            ),
        ),
        (
            Adversary(sees=(), knows=Knowledge.NOTHING, wants=Goal.GUESS),
            "sees nothing; knows nothing about anybody; wants to guess the value of one person",
        ),
    ],
)
def test_an_adversary_is_described_in_words(adversary, text):
    assert str(adversary) == text
