"""A trend over places, read from a batch that the shuffler really released in a Mallows order."""

import json
import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from croupier.analyzer.displacement import Displacement
from croupier.analyzer.keys import AnalyzerKeys
from croupier.analyzer.parts import (
    AskedByPart,
    FileParts,
    PartCounts,
    PartEstimates,
    squares_of,
)
from croupier.cli import main
from croupier.cli.options.groups import planned_law
from croupier.cli.options.public_groups import RuleOptions
from croupier.protocol.admission.credentials import owner_identity
from croupier.protocol.wire import encode_report, seal_inner, seal_outer
from croupier.randomizers import randomizer
from croupier.shuffler.tags import person_tags
from croupier.shufflers.mallows import MallowsShuffler
from croupier.shufflers.ordering import best_order
from croupier.shufflers.theta import theta_for
from tests.unit.parties import Shuffler

PLANS = Path(__file__).parents[1] / "examples/plans"
pytestmark = pytest.mark.slow

PUBLIC = PLANS / "synthetic_places.csv"
RULE = ["--columns", "x,y", "--radius", "0.005"]
SENSITIVITY = 105
WEST, EAST = 0.10, 0.70
PASSPHRASE = b"a passphrase"


GUIDE = (PLANS.parents[1] / "docs/guides/places.md").read_text()


def alike(text):
    """A text without its line breaks, and without what differs from draw to draw."""
    text = re.sub(r"\d+ (draws|reports;)", r"# \1", text)
    return re.sub(r"\s+", " ", re.sub(r"\b0\.\d+", "#", text)).strip()


class Survey:
    """The example plan, with keys, and a batch of its people: from 10 % west to 70 % east."""

    def __init__(self, database, folder):
        self.folder = folder
        analyzer = AnalyzerKeys(folder / "keys" / "analyzer", PASSPHRASE)
        analyzer.create()
        signer = analyzer.signing_key("analyzer").public_key().public_bytes_raw().hex()
        example = tomllib.loads((PLANS / "health-survey.toml").read_text())
        example["shuffling"]["groups"]["sensitivity"] = SENSITIVITY
        example["protections"]["minimum_crowd"] = 7
        own = {"shufflers", "analyzer"}
        self.shuffler = Shuffler(
            database,
            folder,
            **{name: table for name, table in example.items() if name not in own},
            analyzer=example["analyzer"] | {"key": signer},
        )
        self.shuffler.inner = analyzer.sealing_key("analyzer").public_key().public_bytes_raw()
        self.plan = self.shuffler.plan
        self.file = folder / "plan.toml"
        self.file.write_text(self.plan.to_toml())
        (folder / "passphrase").write_bytes(PASSPHRASE)
        (folder / "passphrase").chmod(0o600)
        self.places = np.loadtxt(PUBLIC, delimiter=",", skiprows=1)
        self.truth = np.random.default_rng(3).random(2_000) < (
            WEST + (EAST - WEST) * self.places[:, 0]
        )

    def release(self):
        """Everybody but one in twenty answers, with the credential of the own place."""
        epoch, key = self.shuffler.open_round()
        answering = np.flatnonzero(np.arange(2_000) % 20 > 0)
        values = np.array(["fair", "bad"])[self.truth.astype(int)[answering]]
        reports = self.plan.randomizer.randomize(values.tolist())
        tag_key, secret = self.shuffler.keys.tag_key(epoch.batch), bytes(32)
        tags = [
            person_tags(tag_key, owner_identity(secret, one), 1)[0] for one in answering.tolist()
        ]
        bodies = [encode_report(self.plan, report, round_number=0) for report in reports]
        inner = [seal_inner(body, epoch=epoch) for body in bodies]
        self.sent = dict(zip(inner, answering.tolist(), strict=True))
        envelopes = [
            seal_outer(sealed, key=key, epoch=epoch, owner=owner)
            for sealed, owner in self.sent.items()
        ]
        self.shuffler.accept(epoch, envelopes, tags=tags)
        rule = RuleOptions(columns="x,y", radius=0.005)
        groups = rule.read(PUBLIC)
        law = planned_law(self.plan, PUBLIC, *groups)
        over = datetime.now(UTC) + timedelta(days=15)
        (outcome,) = self.shuffler.release(now=over, groups=(law, secret))
        return self.shuffler.out / outcome.receipt.file.name

    def released(self, batch):
        """Who sent each row, and the place at which it was released."""
        table = pyarrow.parquet.read_table(batch)
        senders = [self.sent[row] for row in table["inner"].to_pylist()]
        return np.array(senders), table["place"].to_numpy()


@pytest.fixture
def croupier(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["croupier", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return run


def test_a_trend_is_read_from_a_released_batch(database, tmp_path, croupier, alarm):
    survey = Survey(database, tmp_path)
    batch = survey.release()

    def analyze(*more):
        keys = ["--keys", tmp_path / "keys/analyzer", "--passphrase-file", tmp_path / "passphrase"]
        return croupier("analyze", batch, "--plan", survey.file, *keys, *more)

    public = ["--public", PUBLIC, *RULE]
    picture, table = tmp_path / "map.png", tmp_path / "parts.parquet"
    by_place = ["--by", "place", "--cell", "0.25"]
    code, out, err = analyze(*public, *by_place, "--plot", picture, "-o", table)
    assert code == 0, err
    (shown,) = re.findall(r"^```text\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    told = alike(out)
    for line in (line for line in shown.splitlines() if line and " to " not in line):
        assert alike(line) in told, (line, out)
    moved = re.search(r"half of all reports by ([\d.]+) or more, one in ten by ([\d.]+)", out)
    assert [float(number) for number in moved.groups()] == pytest.approx([0.05, 0.275], rel=0.1)
    assert picture.read_bytes()[1:4] == b"PNG"
    rows = pyarrow.parquet.read_table(table).to_pylist()
    assert {row["part"] for row in rows} >= {None, "0 to 0.25, 0 to 0.25"}

    sure = ["--simultaneous", "--confidence", 1 - alarm, "--least", 119]
    code, out, err = analyze(*public, *by_place, "--json", *sure)
    assert code == 0, err
    parts = json.loads(out)["parts"]
    assert parts["about"].endswith("released in a part, not its residents")
    assert (parts["by"], parts["hold_together"], parts["withheld"]) == ("place", True, {})
    bad = [row for row in parts["estimates"] if row["value"] == "bad"]
    assert sum(row["reports"] for row in bad) == 1_900
    squares = [row for row in bad if row["square"] is not None]
    assert len(squares) >= 5
    senders, places = survey.released(batch)
    for row in squares:
        low = np.array(row["square"]["low"])
        end = np.where(low < 0.75, low + 0.25, np.inf)  # the last square has its far end
        there = ((survey.places[places] >= low) & (survey.places[places] < end)).all(axis=1)
        assert there.sum() == row["reports"] >= parts["least_reports"]["question-1"]
        lower, upper = row["interval"]
        assert lower <= survey.truth[senders[there]].mean() <= upper
    # The squares at either end differ by six standard errors.
    ends = [[row for row in squares if row["square"]["low"][0] == end] for end in (0.0, 0.75)]
    west, east = (
        sum(row["share"] * row["reports"] for row in rows) / sum(row["reports"] for row in rows)
        for rows in ends
    )
    assert west < east

    for options, problem in (
        (by_place, "must be given, with --by"),
        ([*public, "--by", "x"], "a column of names or whole numbers"),
        ([*public, *by_place[:2], "--value", "worse"], "must be a value of a question"),
        ([*public[:-1], "0.006", *by_place], "must be that of these groups"),
        (["--cell", "1"], "must come with --by"),
    ):
        code, out, err = analyze(*options)
        assert code == 2, out
        assert problem in re.sub(r"[\s`]+", " ", err).replace(" ,", ",")


@pytest.mark.proof
def test_how_often_intervals_of_squares_hold():
    """The figures of the guide: about whom they are, 95 %; about residents, far less."""
    rule = RuleOptions(columns="x,y", radius=0.005)
    groups, points = rule.read(PUBLIC)
    theta = theta_for(4.0, SENSITIVITY)
    law = MallowsShuffler(theta=theta, reference=best_order(groups, points).order)
    squares, part_of = squares_of(points, 0.25)
    moved = Displacement.measured(law, part_of)
    file = FileParts(by="place", names=squares, part_of=part_of, displacement=moved)
    made = randomizer("k-rr", labels=["fair", "bad"], max_epsilon_local=2.0)
    rng = np.random.default_rng(1)
    truth = rng.random(2_000) < WEST + (EAST - WEST) * points[:, 0]
    labels = np.array(["fair", "bad"])[truth.astype(int)].tolist()
    held, together, draws = {"released": {}, "residents": {}}, 0, 600
    for _ in range(draws):
        answering = rng.random(2_000) < 0.9
        order = law.order(2_000)
        places = np.flatnonzero(answering[order])
        senders = order[places]
        reports = np.asarray(made.randomize(labels))[senders]
        sums = {
            part: PartCounts(int(here.sum()), made.tally(reports[here]))
            for part in np.unique(part_of[places]).tolist()
            for here in [part_of[places] == part]
        }
        found = PartEstimates.of(file, [AskedByPart("1", made, 0, sums)], confidence=0.95)
        wide = found.simultaneous()
        all_hold = True
        for one, wider in zip(found.estimates, wide.estimates, strict=True):
            if one.square is None:
                continue
            part = squares.index(one.square)
            about = {
                "released": truth[senders[part_of[places] == part]].mean(),
                "residents": truth[(part_of == part) & answering].mean(),
            }
            for whom, share in about.items():
                inside = one.estimate.lower[1] <= share <= one.estimate.upper[1]
                held[whom].setdefault(part, []).append(inside)
            share = about["released"]
            all_hold &= bool(wider.estimate.lower[1] <= share <= wider.estimate.upper[1])
        together += all_hold
    often = {
        whom: [np.mean(own) for own in by_part.values() if len(own) > draws / 2]
        for whom, by_part in held.items()
    }
    assert min(often["released"]) > 0.92
    assert min(often["residents"]) < 0.85
    assert together / draws > 0.93
