from concurrent.futures import ThreadPoolExecutor

import pytest

from croupier.engines.workers import in_order, map_pieces


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_their_pieces(processes):
    assert list(map_pieces(abs, range(-50, 0), processes=processes)) == list(range(50, 0, -1))


def test_few_pieces_are_taken_before_they_are_needed():
    taken = []

    def pieces():
        for piece in range(100):
            taken.append(piece)
            yield piece

    with ThreadPoolExecutor(2) as pool:
        results = in_order(pool, abs, pieces(), workers=2)
        assert next(results) == 0
        assert len(taken) <= 4
        results.close()
    assert len(taken) <= 4


def test_what_breaks_in_a_process_is_raised_here():
    with pytest.raises(TypeError):
        list(map_pieces(abs, [1, "word"], processes=2))
