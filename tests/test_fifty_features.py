"""50 features in one plan: 20,000 people answer through a real service, and all intervals hold."""

import numpy as np
import psycopg
import pytest

from benchmarks.features import PLAN, invented, tally
from croupier.client.conversation import Outcome, submit
from croupier.client.relay import send_all
from croupier.client.server import Server
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan
from tests.unit.shuffler.http.conftest import PASSPHRASE, deployed

PEOPLE = 20_000


def tables():
    """The questions of the example, for fewer people."""
    example = Plan.load(PLAN).document()
    return {
        "randomizer": None,
        "questions": example["questions"],
        "participation": {"model": "rectified-parallel"},
        "protections": {"minimum_batch": PEOPLE},
        "population": {"enrolled": PEOPLE},
    }


def sent(made, answers):
    """Randomise, seal and send one report per person."""
    url = f"http://127.0.0.1:{made.port}"
    server = Server(url=url, credential=made.credentials.issue(relay=True))
    accepted = []
    steps = send_all(
        made.plan,
        [answers],
        server=server,
        per_request=1000,
        sent=accepted.append,
        rng=Keystream(insecure_seed=27),
    )
    assert submit(steps) is Outcome.ACCEPTED
    return sum(accepted)


@pytest.mark.slow
def test_all_fifty_intervals_hold_together(tmp_path, make_database, monkeypatch):
    uses = invented(PEOPLE, 50, np.random.default_rng(27))
    monkeypatch.setenv("CROUPIER_PASSPHRASE", PASSPHRASE)
    with deployed(tmp_path, make_database, **tables()) as made:
        made.start()
        assert sent(made, np.where(uses, "yes", "no")) == PEOPLE
        with psycopg.connect(made.database) as connection:
            connection.execute("UPDATE croupier.batches SET opened = opened - interval '2 days'")
        code, done = made.release()
        assert (code, done["batches"][0]["outcome"]) == (0, "released"), done
        keys = ["--keys", tmp_path / "keys" / "analyzer", "--plan", tmp_path / "plan.toml"]
        keys += ["--shuffler", tmp_path / "shuffler.json", "--plot", tmp_path / "features.png"]
        released = (tmp_path / "out").glob("*.parquet")
        code, found = made.croupier("analyze", *released, *keys, "--simultaneous")
    assert (code, found["n"]) == (0, PEOPLE), found
    rows = [row for row in found["estimates"] if row["value"] == "yes"]
    names = [question.name for question in made.plan.questions]
    assert [row["question"] for row in rows] == names
    ends = np.array([row["interval"] for row in rows])
    truth = uses.mean(axis=0)
    assert ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all()
    points = np.array([row["share"] for row in rows])
    assert 0.5 < np.sqrt(((points - truth) ** 2).mean()) / made.plan.rms_error < 1.3
    assert np.diff(ends).max() < 0.25
    assert found["confidence"] > 0.9994
    assert (tmp_path / "features.png").stat().st_size > 10_000


def test_the_measured_tally_is_that_of_the_reports():
    """What the benchmark draws has the law of what devices send: means within six deviations."""
    made = Plan.load(PLAN).randomizer
    uses = invented(4000, 50, np.random.default_rng(1))
    values = np.where(uses, "yes", "no")
    runs = 30
    real = [
        made.tally(made.read_reports(made.randomize(values, insecure_seed=seed)))
        for seed in range(runs)
    ]
    drawn = [tally(made, uses, np.random.default_rng(seed)) for seed in range(runs)]
    deviation = np.sqrt((np.var(real, axis=0) + np.var(drawn, axis=0)) / runs)
    assert (np.abs(np.mean(real, axis=0) - np.mean(drawn, axis=0)) <= 6 * deviation).all()
