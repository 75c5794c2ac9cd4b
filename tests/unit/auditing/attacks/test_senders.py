"""Linking an envelope to its sender, by each trace that a report leaves."""

from secrets import randbelow

import numpy as np
import pytest

from croupier.auditing.attacks.senders import Link, TokenGame, sender_games
from croupier.numerics.intervals import clopper_pearson
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import BlindKey

PLAN = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}
population.enrolled = 1000
protections.minimum_batch = 1000
""")
SEED = 25
TOKENS = {"admission__by": "token"}
RELAY = {"admission__relay": "Example Relay"}


def measured(games=2_000, **admission):
    rng = np.random.default_rng(SEED)
    return {
        game.by: game.play(min(games, game.most), rng)
        for game in sender_games(PLAN.replace(**admission))
    }


def is_luck(hits):
    """Tell whether a coin explains the hits; a coin itself fails this once in 1e9 tries."""
    found = clopper_pearson(int(hits.sum()), len(hits), confidence=1 - 1e-9)
    return found.lower <= 0.5 <= found.upper


@pytest.mark.parametrize(
    ("admission", "known"),
    [
        ({}, {"credential", "address"}),
        (RELAY, {"credential"}),
        (TOKENS, {"address"}),
        (TOKENS | RELAY, set()),
    ],
)
def test_credentials_and_addresses_name_the_sender_unless_a_plan_takes_them_away(admission, known):
    found = measured(**admission)
    later = found.pop("time of token, begun at any hour", None)
    assert {by for by, hits in found.items() if hits.all()} == known
    assert all(is_luck(hits) for by, hits in found.items() if by not in known)
    assert (later is None) == (admission.get("admission__by") != "token")


def test_times_show_a_sender_only_if_clients_begin_at_different_times():
    found = measured(games=10_000, **TOKENS)
    assert is_luck(found["time of token, begun together"])
    # 0.7999 in 1e7 games: beginnings uniform over a round, times over half of it.
    link = Link.of("time", found["time of token, begun at any hour"], confidence=1 - 1e-9)
    assert 0.77 < link.lower < link.upper < 0.83


@pytest.mark.parametrize("largest", [1, 1 << 1024, 1 << 2000])
def test_a_blinding_factor_that_is_short_names_the_sender(monkeypatch, largest):
    blind = BlindKey.blind

    def short(key, message):
        return blind(key, message, factor=1 + 2 * randbelow(largest))

    monkeypatch.setattr(BlindKey, "blind", short)
    assert TokenGame(PLAN).play(60, np.random.default_rng(SEED)).all()


def test_a_link_shows_its_interval():
    link = Link.of("token", np.array([True, False] * 50), confidence=0.95)
    assert (link.lower < 0.41, link.measured, link.upper > 0.59) == (True, 0.5, True)
    assert link.to_dict()["by"] == "token"
    assert "by luck 0.5" in repr(link)
