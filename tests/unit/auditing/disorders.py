"""Orders that are not uniform, as broken shufflers make them: place of each report, by sending."""

import numpy as np


def _parts(m, k):
    return [np.arange(m)[i * m // k : (i + 1) * m // k] for i in range(k)]


def _into(slots_of_parts, parts, m, rng):
    """Each part uniformly mixed into its own places."""
    places = np.empty(m, dtype=np.int64)
    for part, slots in zip(parts, slots_of_parts, strict=True):
        places[part] = rng.permutation(slots)
    return places


def interleaved(k):
    """Parts of the sending order, each mixed by itself, dealt out in turns."""

    def draw(m, rng):
        m -= m % k
        return _into([np.arange(i, m, k) for i in range(k)], _parts(m, k), m, rng)

    return draw


def interleaved_in_pieces(k, width):
    """The same, in turns of several reports."""

    def draw(m, rng):
        m -= m % (k * width)
        turn = np.arange(m) // width % k
        return _into([np.flatnonzero(turn == i) for i in range(k)], _parts(m, k), m, rng)

    return draw


def shuffled_turns(k):
    """Parts dealt out in turns, in an order of the parts that was drawn once."""

    def draw(m, rng):
        m -= m % k
        slots = [np.arange(i, m, k) for i in rng.permutation(k)]
        return _into(slots, _parts(m, k), m, rng)

    return draw


def kept_apart(k):
    """Every k-th report to one worker; what the workers mixed is put one after the other."""

    def draw(m, rng):
        m -= m % k
        return _into(_parts(m, k), [np.arange(i, m, k) for i in range(k)], m, rng)

    return draw


def dealt(k):
    """Every k-th report to one worker, and taken from the workers in turns."""

    def draw(m, rng):
        m -= m % k
        residues = [np.arange(i, m, k) for i in range(k)]
        return _into(residues, residues, m, rng)

    return draw


def separate(k):
    """Parts that are mixed each by itself and stay where they are."""
    return lambda m, rng: _into(_parts(m, k), _parts(m, k), m, rng)


def windows(width):
    """Mixed in windows that stay where they are."""
    return lambda m, rng: separate(m // width)(m, rng)


def moved_windows(width):
    """Mixed in windows, which are mixed as a whole."""

    def draw(m, rng):
        m -= m % width
        parts = _parts(m, m // width)
        return _into([parts[i] for i in rng.permutation(len(parts))], parts, m, rng)

    return draw


def blocks(width):
    """Runs that are mixed as a whole and not inside."""

    def draw(m, rng):
        m -= m % width
        return (rng.permutation(m // width)[:, None] * width + np.arange(width)).reshape(-1)

    return draw


def left_in_place(share):
    """All but a share are mixed."""

    def draw(m, rng):
        places = np.arange(m)
        moved = rng.permutation(m)[round(share * m) :]
        places[np.sort(moved)] = moved
        return places

    return draw


def left_in_order(share):
    """A share comes out anywhere, but in the order of sending."""

    def draw(m, rng):
        places = rng.permutation(m)
        chosen = np.sort(rng.choice(m, round(share * m), replace=False))
        places[chosen] = np.sort(places[chosen])
        return places

    return draw


def riffled(times):
    """Cut and interleaved at random like cards, several times."""

    def draw(m, rng):
        deck = np.arange(m)
        for _ in range(times):
            left = rng.integers(0, 2, m) == 0
            again = np.empty(m, dtype=np.int64)
            again[left], again[~left] = deck[: left.sum()], deck[left.sum() :]
            deck = again
        return np.argsort(deck)

    return draw


def delayed(share):
    """Sent on after a random delay of at most a share of the round."""

    def draw(m, rng):
        return np.argsort(np.argsort(np.arange(m) + rng.random(m) * share * m))

    return draw


DISORDERS = {
    "identity": lambda m, _: np.arange(m),
    "reverse": lambda m, _: np.arange(m)[::-1],
    "rotated": lambda m, _: (np.arange(m) + 77) % m,
    "5 % left in place": left_in_place(0.05),
    "2 % left in place": left_in_place(0.02),
    "two interleaved halves": interleaved(2),
    "three interleaved thirds": interleaved(3),
    "four interleaved quarters": interleaved(4),
    "seven interleaved parts": interleaved(7),
    "twenty interleaved parts": interleaved(20),
    "halves in turns of 2": interleaved_in_pieces(2, 2),
    "halves in turns of 10": interleaved_in_pieces(2, 10),
    "thirds in turns of 5": interleaved_in_pieces(3, 5),
    "13 parts in drawn turns": shuffled_turns(13),
    "two blocks": separate(2),
    "three blocks": separate(3),
    "windows of 10": windows(10),
    "windows of 100": windows(100),
    "moved windows of 10": moved_windows(10),
    "moved windows of 100": moved_windows(100),
    "blocks of 10": blocks(10),
    "odd and even kept apart": kept_apart(2),
    "five workers kept apart": kept_apart(5),
    "odd and even dealt": dealt(2),
    "eight workers dealt": dealt(8),
    "a fifth left in order": left_in_order(0.2),
    "three riffles": riffled(3),
    "delayed by half a round": delayed(0.5),
}
