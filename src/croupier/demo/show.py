"""The demo from the first client to the attacker, told line by line."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.analyzer.analyzer import analyze
from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.text import percent
from croupier.demo.attacker import found, what_a_count_means
from croupier.demo.board import Scoreboard
from croupier.demo.collection import Collection
from croupier.demo.limits import line_of
from croupier.demo.people import answers, send
from croupier.demo.referee import dummies_of, inner_of, opened, places_of
from croupier.demo.sights import guess_at_one, of_analyzer, of_first, of_second
from croupier.demo.site import Mixer
from croupier.demo.visit import Visit
from croupier.engines.base import engine
from croupier.errors import CroupierError
from croupier.model.estimate import Estimate
from croupier.protocol.receipt import Receipt
from croupier.protocol.wire import envelope_length
from croupier.shuffler.release.release import BatchOutcome

__all__ = ["Show"]

_HELD_AT = 0.6
"""The share of people who have sent when a release is tried that must be held."""

_SECONDS_TO_ANSWER = 60
"""Seconds that the release waits for a visitor who has not answered."""

_NAMES = ("first", "second")
"""The names of two shufflers, in the order in which reports pass."""


@dataclass(frozen=True)
class Show:
    """One run of the demo.

    Attributes:
        collection: The parts.
        ladder: The proofs about its plan.
        board: The state that the page shows.
        say: Prints a line.
        advance: A function that receives how many more clients are done.
        visit: The visitor of the page; None if there is no page.
    """

    collection: Collection
    ladder: Ladder
    board: Scoreboard
    say: Callable[[str], None]
    advance: Callable[[int], None]
    visit: Visit | None = None

    def run(self) -> dict[str, Any]:
        """Run the demo, and return the results for machines."""
        truth = answers(self.board.people, k=10)
        credentials = self.collection.credentials(self.board.people)
        envelopes = self._send(truth, credentials)
        epoch = self.collection.epoch()
        inner = inner_of(self.collection, envelopes, epoch)  # releasing destroys the keys
        dummies = dummies_of(self.collection, epoch)
        if dummies:
            self.board.tell(first=of_first(credentials, envelopes, dummies[0]))
        file = self._release(dummies)
        outcome = self._estimate(file, truth)
        reports = opened(self.collection, file, epoch)
        if dummies:
            self.board.tell(analyzer=of_analyzer(self.collection.plan, reports))
        luck = len(truth) / len(reports) if dummies else 1.0
        outcome |= self._attack(reports, truth, places_of(file, inner), luck)
        if dummies:
            outcome |= self._guess(reports, truth, dummies)
        return outcome

    def _send(self, truth: NDArray[np.int64], credentials: list[str]) -> list[bytes]:
        people, envelopes = self.board.people, {}

        def sent(person: int, envelope: bytes) -> None:
            envelopes[person] = envelope
            self.board.count()
            if len(envelopes) == round(_HELD_AT * people):
                self._held(self.collection.mixers[0].release())
            self.advance(1)

        with self.collection.serving() as url:
            if self.visit is not None:
                self.visit.begin(url)
            plan, values = self.collection.plan, truth.tolist()
            asyncio.run(send(plan, values, credentials=credentials, url=url, sent=sent))
            size = envelope_length(plan)
            self.say(f"clients   {people:,} of {people:,} acknowledged, {size} bytes each")
            if self.visit is not None:
                self._wait_for(self.visit)
        return [envelopes[person] for person in range(people)]

    def _wait_for(self, visit: Visit) -> None:
        if not visit.answered:
            self.say(f"you       have {_SECONDS_TO_ANSWER} seconds to answer on the page")
            visit.wait(_SECONDS_TO_ANSWER)
        visit.end()
        self.say("you       answered" if visit.answered else "you       did not answer")

    def _held(self, outcome: BatchOutcome) -> None:
        if outcome.receipt is not None:
            raise CroupierError("A batch below its minimum was released. Please report this.")
        few = (
            "before its round is over"
            if outcome.people is None
            else f"at {outcome.people:,} people"
        )
        words = f"held {few}, minimum {self.board.minimum:,}; nothing released"
        self.board.tell(release=f"Release: {words}.")
        self.say(f"release   {words}")

    def _release(self, dummies: list[NDArray[np.int64]]) -> Path:
        """Let every shuffler release the batch, and return the file for the analyzer."""
        files: list[Path] = []
        receipts: list[Receipt] = []
        for mixer in self.collection.mixers:
            if files:
                self.board.tell(second=of_second(files[-1], dummies[1]))
            receipt, file = _released(mixer)
            files.append(file)
            receipts.append(receipt)
            self._tell_release(receipts)
        return files[-1]

    def _tell_release(self, receipts: list[Receipt]) -> None:
        """Say what the last of the receipts says."""
        counts, two = receipts[-1].counts, len(self.collection.mixers) > 1
        who = _NAMES[len(receipts) - 1] if two else "release"
        rows = (
            f"{counts.received:,} rows + {counts.added:,} dummies = {counts.released:,}"
            if two
            else f"{counts.released:,} reports"
        )
        words = f"{rows}, mixed; receipt signed; keys destroyed"
        by = f" by the {who} shuffler" if two else ""
        names = [f"{name} shuffler, " for name in _NAMES] if two else [""]
        entries = [_receipt(receipt, name) for name, receipt in zip(names, receipts, strict=False)]
        self.board.tell(release=f"Released{by}: {words}.", receipts=entries)
        self.say(f"{who:10}{words}")

    def _estimate(self, file: Path, truth: NDArray[np.int64]) -> dict[str, Any]:
        with engine("duckdb") as made:
            analysis = analyze(
                self.collection.plan, [file], key=self.collection.analyzer_key, engine=made
            )
        estimate = analysis.estimates[0].estimate
        shares = np.bincount(truth, minlength=len(estimate.points)) / len(truth)
        rows = _rows(estimate, shares)
        self.board.tell(estimates=rows)
        inside = sum(row["lower"] <= row["truth"] <= row["upper"] for row in rows)
        first = rows[0]
        self.say(
            f"estimate  value 0: truth {100 * first['truth']:.1f} %, estimate "
            f"{100 * first['share']:.1f} % +- {50 * (first['upper'] - first['lower']):.2f}; "
            f"truth inside {inside} of {len(rows)} intervals"
        )
        return {"estimates": rows, "inside": inside}

    def _attack(
        self,
        reports: NDArray[np.int64],
        truth: NDArray[np.int64],
        places: Mapping[int, int],
        luck: float = 1.0,
    ) -> dict[str, Any]:
        for row in self.board.guarantee:
            self.say(line_of(row))
        self.board.tell(reports=np.bincount(reports, minlength=10).tolist())
        right = found(reports, truth.tolist(), places)
        bound = (self.ladder["batch"]["reidentification"].upper or 1.0) * len(truth)
        words = what_a_count_means(right, bound, luck=luck)
        self.board.tell(attacker={"tried": len(truth), "right": right, "words": words})
        self.say(f"attacker  {right:,} right of {len(truth):,} tries; {words}")
        return {"tried": len(truth), "right": right, "proved_upper": bound}

    def _guess(
        self,
        reports: NDArray[np.int64],
        truth: NDArray[np.int64],
        dummies: list[NDArray[np.int64]],
    ) -> dict[str, Any]:
        """Let everybody but one shuffler guess the visitor's answer, or a simulated person's."""
        visited = self.visit is not None and self.visit.answered
        known = truth if visited else truth[1:]
        found = guess_at_one(self.collection.plan, reports, known=known, dummies=dummies)
        two, among = (
            self.ladder["all_but_one"][metric].upper or 1.0
            for metric in ("guess_of_two", "guess_informed")
        )
        limits = f"{percent(two)} % between two answers, {percent(among)} % among all"
        person = "visitor" if visited else "person"
        self.board.tell(one={"visitor": visited, "guesses": found, "limits": limits})
        for guess in found:
            others = f"everybody but the {_NAMES[guess['honest'] - 1]} shuffler"
            certain = f"{100 * guess['chance']:.1f} %"
            self.say(f"one {person}: {others} is {certain} sure of the likeliest answer")
        self.say(f"proved: right at most {limits}, on average over many runs")
        return {"guesses": found, "guess_of_two_upper": two, "guess_informed_upper": among}


def _rows(estimate: Estimate, truth: NDArray[np.float64]) -> list[dict[str, Any]]:
    return [
        {
            "value": str(value),
            "truth": float(truth[place]),
            "share": float(estimate.points[place]),
            "lower": float(estimate.lower[place]),
            "upper": float(estimate.upper[place]),
        }
        for place, value in enumerate(estimate.values)
    ]


def _released(mixer: Mixer) -> tuple[Receipt, Path]:
    """Run a release job until its round is over, and return receipt and file of the batch."""
    outcome = mixer.release()
    while outcome.receipt is None and outcome.people is None and outcome.problem is None:
        time.sleep(0.5)
        outcome = mixer.release()
    receipt = outcome.receipt
    if receipt is None or receipt.file is None:
        raise CroupierError("The batch of the demo was not released. Please report this.")
    return receipt, mixer.released / receipt.file.name


def _receipt(receipt: Receipt, name: str) -> dict[str, Any]:
    return {
        "number": receipt.number,
        "words": f"{name}{receipt.counts.explained}, file",
        "digest": receipt.file.sha256 if receipt.file else "",
    }
