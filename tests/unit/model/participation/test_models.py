import pytest

from croupier.model.participation import participation


@pytest.mark.parametrize(
    ("model", "given", "chances"),
    [
        ("single", {}, [1, 1]),
        ("multinomial", {"weights": (1, 3)}, [1, 1]),
        ("rectified-parallel", {"weights": (1, 3)}, [1, 1]),
        ("rectified-multinomial", {"weights": (1, 3)}, [0.25, 0.75, 0.25]),
        ("bins", {"bins": ((1, 3), (1,))}, [1, 1, 1]),
        ("rectified-bins", {"bins": ((1, 3), (1,))}, [0.25, 0.75, 1, 0.25]),
    ],
)
def test_who_sends_answers_or_sends_a_null(model, given, chances):
    made = participation(model, **given)
    assert [made.answering(number) for number in range(len(chances))] == chances
