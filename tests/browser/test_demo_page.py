"""The page of `croupier demo --watch` in a real browser, and a visitor who answers on it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.demo.attacker import what_a_count_means
from croupier.demo.board import Scoreboard
from croupier.demo.visit import Visit
from croupier.demo.watch import watching
from croupier.plan.plan import Plan

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", k = 10, max_epsilon_local = 2.0}
population.enrolled = 4001
protections.minimum_batch = 4000
"""
TWO_SHUFFLERS = """
schema = 2
randomizer = {mechanism = "plain", k = 10}
population.enrolled = 4001
protections.minimum_batch = 4000
guarantee.delta = 1e-8
[[shufflers]]
dummies = {epsilon = 1.0, delta = 1e-8}
[[shufflers]]
dummies = {epsilon = 1.0, delta = 1e-8}
"""
PEOPLE = 100
ENVELOPE = 128
SECOND = 48  # bytes of one more seal


def estimates():
    return [
        {"value": str(k), "truth": 0.5**k, "share": 0.5**k, "lower": 0.5**k - 0.1, "upper": 0.6}
        for k in range(1, 11)
    ]


@pytest.fixture(scope="module", params=["beginning", "end"])
def seen(look, request):
    rungs = [{"who": "reads the batch", "epsilon": "<= 0.131", "reidentification": "1 in 541"}]
    board = Scoreboard(4000, 4000, rungs)
    if request.param == "end":
        board.tell(
            received=4000,
            release="Released: 4,000 reports, mixed; receipt signed; keys destroyed.",
            receipts=[{"number": 0, "words": "4,000 = 4,000 released, file", "digest": "ab" * 32}],
            estimates=estimates(),
            attacker={"tried": 4000, "right": 10, "words": what_a_count_means(10, 7.389)},
        )
    visit = Visit(Plan.from_toml(PLAN), board, credential="none")
    with watching(board, visit) as url:
        yield url, look(url)


@pytest.fixture(scope="module", params=["beginning", "end"])
def seen_of_two(look, request):
    row = {"who": "both shufflers together", "epsilon": "not bounded"}
    rungs = [row | {"reidentification": "no protection", "guess_of_two": "no protection"}]
    board = Scoreboard(4000, 4000, rungs)
    board.tell(shufflers=2)
    if request.param == "end":
        sealed, dummies = "ab" * 8 + " \u2026 " + "cd" * 4, list(range(30, 40))
        guess = {"left": dummies, "guess": 3, "chance": 0.123}
        board.tell(
            received=4000,
            first={"rows": [{"sender": "0123abcd", "sealed": sealed}], "bytes": 176}
            | {"dummies": dummies},
            second={"rows": [{"sealed": sealed}], "received": 4345, "bytes": 128}
            | {"dummies": dummies},
            analyzer={"rows": [*range(400, 410)], "expected": 72.0, "people": [*range(328, 338)]},
            one={"visitor": True, "guesses": [guess, guess], "limits": "62.3 % between two"},
            estimates=estimates(),
        )
    visit = Visit(Plan.from_toml(TWO_SHUFFLERS), board, credential="none")
    with watching(board, visit) as url:
        yield url, look(url)


@pytest.mark.parametrize("device", ["desktop", "tablet", "phone"])
def test_the_page_of_two_shufflers_fits_and_speaks_to_the_demo_alone(seen_of_two, device):
    url, looks = seen_of_two
    names = ("state.json", "answer.js", "client.js", "parties.js")
    assert set(looks[device]["requests"]) <= {url, *(url + name for name in names)}
    assert looks[device]["messages"] == []
    assert looks[device]["overflow"] == 0
    found = looks[device].get("findings", [])
    assert not [entry for entry in found if entry["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("device", ["desktop", "tablet", "phone"])
def test_the_page_speaks_to_the_demo_alone_and_fits(seen, device):
    url, looks = seen
    own = {url, *(url + name for name in ("state.json", "answer.js", "client.js"))}
    assert set(looks[device]["requests"]) <= own
    assert looks[device]["messages"] == []
    assert looks[device]["overflow"] == 0


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_axe_finds_nothing_serious(seen, device):
    found = seen[1][device]["findings"]
    assert not [entry for entry in found if entry["impact"] in ("serious", "critical")]


def visited_with(browser, width, value, *options):
    """What a visitor chose, and what the page showed, from the question to the release."""
    node, chromium = browser
    program = "from croupier.cli import main; main()"
    command = [sys.executable, "-c", program, "demo", "--people", str(PEOPLE), "--watch", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"BROWSER": "true"}
    ) as demo:
        try:
            url = demo.stdout.readline().split()[-1]
            script = Path(__file__).with_name("answer.cjs")
            visit = [node, script, chromium, url, str(width), str(value)]
            done = subprocess.run(visit, capture_output=True, text=True, check=False, timeout=600)
        finally:
            demo.send_signal(signal.SIGINT)
        said = demo.communicate(timeout=120)[0]
    assert done.returncode == 0, done.stderr
    assert demo.returncode == 0, said
    return value, json.loads(done.stdout)


SIZES = [
    pytest.param((1280, 3), id="desktop"),
    pytest.param((375, 9), id="phone", marks=pytest.mark.proof),
]


@pytest.fixture(scope="module", params=SIZES)
def visited(browser, request):
    return visited_with(browser, *request.param)


@pytest.fixture(scope="module")
def visited_two(browser):
    return visited_with(browser, 375, 4, "--shufflers", "2")


def test_the_visitors_report_is_one_more_in_the_batch_and_in_the_release(visited):
    _, page = visited
    assert (page["before"], page["after"]) == (PEOPLE, PEOPLE + 1)
    assert page["end"]["receipts"][0]["words"].startswith(f"{PEOPLE + 1} = {PEOPLE + 1} released")
    assert sum(page["end"]["reports"]) == PEOPLE + 1


def test_the_page_shows_what_left_and_nothing_else_did(visited):
    value, page = visited
    (sent,) = set(page["sent"])  # a retry sends the same
    names = [*map(str, range(9)), "9 or more"]
    assert page["shown"]["own"] == names[value]
    assert len(sent) == 2 * ENVELOPE
    assert page["shown"]["size"] == str(ENVELOPE)
    first, left, last = page["shown"]["sealed"].replace(" ", "").split("\u2026")
    assert sent.startswith(first)
    assert sent.endswith(last)
    assert left == f"{ENVELOPE - len(first + last) // 2}bytes"
    alike = page["end"]["reports"][names.index(page["shown"]["said"])]
    assert page["fate"].startswith(f"{alike} of {PEOPLE + 1} reports say {page['shown']['said']}, ")


def test_the_visit_fits_is_quiet_and_axe_finds_nothing_serious(visited):
    _, page = visited
    assert page["messages"] == []
    assert page["overflow"] == [0, 0, 0]
    assert page["findings"] == []


def test_a_visitor_of_two_shufflers_sends_three_seals_and_is_one_more(visited_two):
    value, page = visited_two
    (sent,) = set(page["sent"])
    assert len(sent) == 2 * (ENVELOPE + SECOND)
    assert page["shown"]["own"] == page["shown"]["said"] == str(value)
    end, (first, second) = page["end"], page["end"]["receipts"]
    dummies = [sum(end[name]["dummies"]) for name in ("first", "second")]
    handed_over = PEOPLE + 1 + dummies[0]
    assert f"{PEOPLE + 1} + {dummies[0]} added = {handed_over} released" in first["words"]
    assert f"{handed_over} + {dummies[1]} added" in second["words"]
    assert sum(end["analyzer"]["rows"]) == handed_over + dummies[1]
    alike, rows = end["analyzer"]["rows"][value], sum(end["analyzer"]["rows"])
    assert page["fate"].startswith(f"{alike} of {rows:,} rows say {value}, ")


def test_everybody_but_one_shuffler_is_left_with_its_dummies_and_the_visitors_report(visited_two):
    value, page = visited_two
    assert page["end"]["one"]["visitor"] is True
    for guess, name in zip(page["end"]["one"]["guesses"], ("first", "second"), strict=True):
        unknown = zip(guess["left"], page["end"][name]["dummies"], strict=True)
        assert [left - own for left, own in unknown] == [int(k == value) for k in range(10)]


def test_the_visit_of_two_shufflers_fits_and_is_quiet(visited_two):
    _, page = visited_two
    assert (page["messages"], page["overflow"], page["findings"]) == ([], [0, 0, 0], [])
