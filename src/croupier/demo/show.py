"""The demo from the first client to the attacker, told line by line."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.analyzer.analyzer import analyze
from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.text import one_in
from croupier.demo.attacker import found, what_a_count_means
from croupier.demo.board import Scoreboard
from croupier.demo.people import answers, send
from croupier.demo.referee import inner_of, opened, places_of
from croupier.demo.site import Site
from croupier.demo.visit import Visit
from croupier.engines.base import engine
from croupier.errors import CroupierError
from croupier.model.estimate import Estimate
from croupier.numerics.rounding import ceiling_digits
from croupier.protocol.receipt import Receipt
from croupier.protocol.wire import Epoch, envelope_length
from croupier.shuffler.release.release import BatchOutcome

__all__ = ["Show", "proved"]

_HELD_AT = 0.6
"""The share of people who have sent when a release is tried that must be held."""

_SECONDS_TO_ANSWER = 60
"""Seconds that the release waits for a visitor who has not answered."""

_WHO = {
    "batch": "reads the batch",
    "network": "also watches the network",
    "collusion": "shuffler and analyzer together",
}
_NO_PROTECTION = "no protection"


def proved(ladder: Ladder) -> list[dict[str, str]]:
    """Return the limits proved before anybody sends anything, in the words of the page."""
    rows = []
    for rung, who in _WHO.items():
        found_with = ladder[rung]["reidentification"].upper or 1.0
        limit = one_in(found_with) if found_with <= 1 / 2 else _NO_PROTECTION
        epsilon = ceiling_digits(ladder[rung]["epsilon"].upper or math.inf)
        rows.append(
            {"rung": rung, "who": who, "epsilon": f"<= {epsilon}", "reidentification": limit}
        )
    return rows


def _limits(row: Mapping[str, str]) -> str:
    """Return the limits of a rung as a line of the terminal."""
    limit = row["reidentification"]
    found_with = f": {limit}" if limit == _NO_PROTECTION else f" at most {limit}"
    return f"{row['rung']:10}epsilon {row['epsilon']}, re-identified{found_with}"


@dataclass(frozen=True)
class Show:
    """One run of the demo.

    Attributes:
        site: The parts.
        ladder: The proofs about its plan.
        board: The state that the page shows.
        say: Prints a line.
        advance: A function that receives how many more clients are done.
        visit: The visitor of the page; None if there is no page.
    """

    site: Site
    ladder: Ladder
    board: Scoreboard
    say: Callable[[str], None]
    advance: Callable[[int], None]
    visit: Visit | None = None

    def run(self) -> dict[str, Any]:
        """Run the demo, and return the results for machines."""
        truth = answers(self.board.people, k=10)
        envelopes = self._send(truth)
        epoch = self.site.epoch()
        inner = inner_of(self.site, envelopes, epoch)  # releasing destroys the key
        file = self._release()
        estimates = self._estimate(file, truth)
        return estimates | self._attack(file, truth, places=places_of(file, inner), epoch=epoch)

    def _send(self, truth: NDArray[np.int64]) -> list[bytes]:
        people, envelopes = self.board.people, {}

        def sent(person: int, envelope: bytes) -> None:
            envelopes[person] = envelope
            self.board.count()
            if len(envelopes) == round(_HELD_AT * people):
                self._held(self.site.release())
            self.advance(1)

        with self.site.serving() as url:
            if self.visit is not None:
                self.visit.begin(url)
            credentials = self.site.credentials(people)
            values = truth.tolist()
            asyncio.run(send(self.site.plan, values, credentials=credentials, url=url, sent=sent))
            size = envelope_length(self.site.plan)
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

    def _release(self) -> Path:
        outcome = self.site.release()
        while outcome.receipt is None and outcome.people is None:  # its round is not over yet
            time.sleep(0.5)
            outcome = self.site.release()
        receipt = outcome.receipt
        if receipt is None or receipt.file is None:
            raise CroupierError("The batch of the demo was not released. Please report this.")
        words = f"{receipt.counts.released:,} reports, mixed; receipt signed; keys destroyed"
        self.board.tell(release=f"Released: {words}.", receipts=[_receipt(receipt)])
        self.say(f"release   {words}")
        return self.site.released / receipt.file.name

    def _estimate(self, file: Path, truth: NDArray[np.int64]) -> dict[str, Any]:
        with engine("duckdb") as made:
            analysis = analyze(self.site.plan, [file], key=self.site.analyzer_key, engine=made)
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
        self, file: Path, truth: NDArray[np.int64], *, places: Mapping[int, int], epoch: Epoch
    ) -> dict[str, Any]:
        for row in self.board.guarantee:
            self.say(_limits(row))
        reports = opened(self.site, file, epoch)
        self.board.tell(reports=np.bincount(reports, minlength=10).tolist())
        right = found(reports, truth.tolist(), places)
        bound = (self.ladder["batch"]["reidentification"].upper or 1.0) * len(truth)
        words = what_a_count_means(right, bound)
        self.board.tell(attacker={"tried": len(truth), "right": right, "words": words})
        self.say(f"attacker  {right:,} right of {len(truth):,} tries; {words}")
        return {"tried": len(truth), "right": right, "proved_upper": bound}


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


def _receipt(receipt: Receipt) -> dict[str, Any]:
    return {
        "number": receipt.number,
        "words": f"{receipt.counts.explained}, file",
        "digest": receipt.file.sha256 if receipt.file else "",
    }
