"""Open text and a distribution, collected by commands through a real service, and estimated."""

from collections import Counter

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.shuffler.http.conftest import PASSPHRASE, deployed

WORDS = ["gloop", "zarn", "blorp", "quizzle", "snarf", "wibble", "frob", "plugh", "xyzzy", "thud"]
PEOPLE = 20_000


def collected(made, values, monkeypatch, *options):
    """Submit one value per person, release the round, and return what `analyze` says."""
    file = made.directory / "answers.parquet"
    pq.write_table(pa.table({"answer": values}), file)
    made.start()
    monkeypatch.setenv("CROUPIER_CREDENTIAL", made.credentials.issue(relay=True))
    plan, server = made.directory / "plan.toml", f"http://127.0.0.1:{made.port}"
    code, done = made.croupier("submit", plan, file, "--server", server, "--per-request", "1000")
    assert (code, done["accepted"]) == (0, len(values)), done
    with psycopg.connect(made.database) as connection:
        connection.execute("UPDATE croupier.batches SET opened = opened - interval '2 days'")
    code, done = made.release()
    assert (code, done["batches"][0]["outcome"]) == (0, "released"), done
    monkeypatch.setenv("CROUPIER_PASSPHRASE", PASSPHRASE)
    keys = ["--keys", made.directory / "keys" / "analyzer", "--plan", plan]
    keys += ["--shuffler", made.directory / "shuffler.json"]
    code, found = made.croupier(
        "analyze", *(made.directory / "out").glob("*.parquet"), *keys, *options
    )
    assert code == 0, found
    assert found["n"] == len(values)
    return found


@pytest.mark.proof
def test_twenty_thousand_people_type_words_that_nobody_listed(tmp_path, make_database, monkeypatch):
    asked = {"mechanism": "text", "longest": 8, "alphabet": "abcdefghijklmnopqrstuvwxyz"}
    asked |= {"normalisation": "lower", "max_epsilon_local": 6.0}
    shares = 1 / np.arange(1, len(WORDS) + 1)
    rng = np.random.default_rng(26)
    frequent = rng.choice(WORDS, size=PEOPLE * 3 // 4, p=shares / shares.sum())
    rare = ["".join(rng.choice(list("abcdefgh"), size=5)) for _ in range(PEOPLE // 4)]
    words = [*frequent.tolist(), *rare]
    rng.shuffle(words)
    with deployed(tmp_path, make_database, randomizer=asked) as made:
        found = collected(made, [word.upper() for word in words], monkeypatch)
    truth = Counter(words)
    rows = {row["value"]: row for row in found["estimates"]}
    assert rows.keys() >= set(WORDS[:6]), "each is above 8 standard errors of its level"
    assert not [word for word in rows if word not in truth]
    for word, row in rows.items():
        low, high = row["interval"]
        assert low <= truth[word] / PEOPLE <= high
    [told] = found["texts"]
    assert told["candidates"] > 1000
    assert sum(told["answered"]) == PEOPLE


def test_quantiles_of_a_number_are_collected(tmp_path, make_database, monkeypatch):
    asked = {"mechanism": "distribution", "grid": {"low": 0, "high": 255, "step": 1}}
    times = np.clip(np.rint(np.random.default_rng(26).lognormal(3.5, 0.7, 5000)), 0, 255)
    with deployed(tmp_path, make_database, randomizer=asked | {"max_epsilon_local": 4.0}) as made:
        found = collected(
            made, times, monkeypatch, "--quantile", "0.5", "--quantile", "0.9", "--range", "0:20"
        )
    [told] = found["distributions"]
    assert [each["level"] for each in told["quantiles"]] == [0.5, 0.9]
    for each in told["quantiles"]:
        assert (
            each["lower"]
            <= np.quantile(times, each["level"], method="inverted_cdf")
            <= each["upper"]
        )
    [low] = told["ranges"]
    assert low["lower"] <= (times <= 20).mean() <= low["upper"]
    assert told["mean"]["lower"] <= times.mean() <= told["mean"]["upper"]
    assert len(told["curve"]["up_to"]) == 256
    assert told["curve"]["share"][-1] == pytest.approx(1.0)
