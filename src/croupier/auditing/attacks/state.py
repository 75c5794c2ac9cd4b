"""The games played so far, in a file from which an interrupted attack continues."""

import json
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.attacks.game import Outcomes
from croupier.errors import ParameterError, UnreadableFileError
from croupier.numerics.keystream import Keystream, stream
from croupier.plan.plan import Plan

__all__ = ["AttackState"]

_SEED_WORDS = 4
_OFTEN, _LITTLE = 5.0, 10.0
"""Seconds between two writes, and the least ratio of time spent on games to time per write."""


class AttackState:
    """The seed of all games and the outcomes of those that were played.

    Every chunk of games has a random stream of its own, named by the seed, the attack and the
    number of the chunk. So it does not matter how often the run is interrupted.

    Args:
        plan: The plan to attack.
        games: The number of games that an attack may take.
        steps: The number of games per chunk of each attack.
        rng: Seeds the games; the operating system if left out.
        insecure_seed: Instead of `rng`: makes the games repeatable.
        file: The file that keeps outcomes; none are kept if left out.

    Raises:
        ParameterError: The file belongs to another plan, number of games or seed, or to a version
            of croupier that plays differently.
        UnreadableFileError: The file holds something else.
    """

    def __init__(  # noqa: PLR0913 - keyword-only facts about one series of games
        self,
        plan: Plan,
        *,
        games: int,
        steps: Sequence[int],
        rng: Keystream | None = None,
        insecure_seed: int | None = None,
        file: Path | None = None,
    ) -> None:
        self._file = file
        self._next_save = 0.0
        document = json.dumps(plan.document(), sort_keys=True)
        digest = np.frombuffer(sha256(document.encode()).digest(), dtype=np.uint8)
        head: dict[str, NDArray[Any]] = {
            "plan": digest,
            "games": np.array(games),
            "version": np.array(version("croupier")),
            "steps": np.array(steps, dtype=np.int64),
        }
        fresh = stream(rng, insecure_seed).words(_SEED_WORDS)
        old = {} if file is None or not file.exists() else _read(file, head)
        if old and insecure_seed is not None and not np.array_equal(old["seed"], fresh):
            raise _other("--insecure-seed")
        self._kept: dict[str, NDArray[Any]] = {"seed": fresh} | head | old

    def stream(self, attack: int, chunk: int) -> np.random.Generator:
        """Return the randomness of one chunk of one attack."""
        words = [int(word) for word in self._kept["seed"]]
        return np.random.default_rng(np.random.SeedSequence(words, spawn_key=(attack, chunk)))

    def played(self, attack: str) -> Outcomes | None:
        """Return the outcomes of an attack so far; None if there are none."""
        return self._kept.get(attack)

    def keep(self, attack: str, outcomes: Outcomes) -> None:
        """Remember the outcomes of an attack, and write them to the file, if any, regularly."""
        self._kept[attack] = outcomes
        if time.monotonic() >= self._next_save:
            start = time.monotonic()
            self.save()
            took = time.monotonic() - start
            self._next_save = start + max(_OFTEN, _LITTLE * took)

    def save(self) -> None:
        """Write all played games to the file, if there is one."""
        if self._file is None:
            return
        whole = self._file.with_name(f"{self._file.name}.part")
        with whole.open("wb") as file:
            np.savez_compressed(file, **self._kept)  # type: ignore[arg-type]
        whole.replace(self._file)


def _read(file: Path, head: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Read a file, if it has this head and nothing that games do not leave."""
    try:
        with np.load(file, allow_pickle=False) as kept:
            found = {name: kept[name] for name in kept.files}
    except (OSError, ValueError, TypeError, EOFError, BadZipFile):
        raise UnreadableFileError(file.name) from None
    if not {*head, "seed"} <= set(found):
        raise UnreadableFileError(file.name)
    for name, given in head.items():
        if not np.array_equal(found[name], given):
            raise _other(name)
    seed = found["seed"]
    played = [outcomes for name, outcomes in found.items() if name not in {*head, "seed"}]
    if (seed.dtype, seed.shape) != (np.uint64, (_SEED_WORDS,)) or not all(
        _is_played(outcomes, int(head["games"])) for outcomes in played
    ):
        raise UnreadableFileError(file.name)
    return found


def _is_played(outcomes: Outcomes, games: int) -> bool:
    return outcomes.dtype.kind in "biuf" and outcomes.ndim > 0 and len(outcomes) <= games


def _other(what: str) -> ParameterError:
    named = {
        "plan": "PLAN",
        "games": "--games",
        "version": "version of croupier",
        "steps": "version of croupier",
    }.get(what, what)
    return ParameterError(
        "--resume", must=f"be of the same {named}", hint="Name another file to start afresh."
    )
