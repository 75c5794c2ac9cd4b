"""A running service after its database was set back and the plan recovered."""

import psycopg

from tests.unit.shuffler.http.test_readiness import within


def incidents(service):
    return [each["incident"] for each in service.get("/readyz").document.get("incidents", [])]


def begin_second_round(service):
    """Round 0 is settled, round 1 is open, and the service runs."""
    service.open_round()
    with psycopg.connect(service.database) as connection:
        connection.execute("UPDATE croupier.batches SET state = 'shredded'")
    assert service.release("--next-round")[1]["open_round"] == 1
    service.start("--workers", "1")
    assert within(120, lambda: service.get("/readyz").status == 200)


def set_back_and_recover(service):
    """The database forgets round 1; the operator recovers the plan."""
    with psycopg.connect(service.database) as connection:
        connection.execute("DELETE FROM croupier.batches WHERE round > 0")
    assert within(30, lambda: incidents(service) == ["database-set-back"])
    options = ["--plan", service.directory / "plan.toml", "--keys", service.house.path / "release"]
    options += ["--handover", service.handover.path, "--passphrase-file", service.phrase, "--yes"]
    code, done = service.croupier("recover", *options, "-o", service.directory / "out")
    assert code == 0, done
    assert done["receipt"]["recovery"]["lost"] == [0, 1, 2]


def open_next(service):
    analyzer = service.directory / "analyzer.json"
    code, done = service.release("--next-round", "--analyzer", analyzer)
    assert (code, done["open_round"]) == (0, 3)
    assert within(30, lambda: service.get("/readyz").status == 200), incidents(service)
    assert [each["round"] for each in service.get(service.path).document["shuffler"]] == [3]


def test_it_says_that_no_round_is_open_until_one_is(service):
    begin_second_round(service)
    set_back_and_recover(service)
    assert within(30, lambda: incidents(service) == ["no-round"])
    assert service.release("--next-round")[0] == 2, "the analyzer's key must be given again"
    open_next(service)


def test_it_goes_on_after_a_key_was_replaced_before_the_recovery(service):
    begin_second_round(service)
    rotate = ["--keys", service.house.release.path, "--passphrase-file", service.phrase]
    rotate += ["--root", service.house.root.path, "--handover", service.handover.path]
    plan = service.directory / "plan.toml"
    code, done = service.croupier("keys", "rotate", "release", plan, *rotate)
    assert (code, done["from_round"]) == (0, 2)
    set_back_and_recover(service)
    assert within(30, lambda: incidents(service) == ["no-round"])
    open_next(service)
