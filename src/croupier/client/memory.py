"""The client's memory: what it sealed, when it answers, what it has spent. Never a value."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from croupier.client.schedule import Turn
from croupier.errors import CroupierError
from croupier.protocol import durable
from croupier.protocol.party_keys import SeenList, ShufflerKeys
from croupier.protocol.signed_document import RoundNumber

__all__ = [
    "BudgetError",
    "FileState",
    "Joined",
    "Listed",
    "Memory",
    "MemoryState",
    "Sealed",
    "State",
]
__all__ += ["StateError"]


class BudgetError(CroupierError):
    """A report would cost more than is left of a person's budget for an attribute."""

    def __init__(self, attribute: str, *, cost: float, spent: float, budget: float) -> None:
        self.attribute = attribute
        self.cost = cost
        self.spent = spent
        self.budget = budget
        super().__init__(
            f"{attribute} may cost {budget:g} nats in all; {spent:g} are spent and a report costs "
            f"{cost:g}. Nothing was randomised. Stay away, or ask the person for more."
        )


class StateError(CroupierError):
    """A client's memory cannot be read; it must not start afresh and randomise again."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name} is not a client's memory. Restore it; nothing was randomised.")


class _MemoryEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Sealed(_MemoryEntry):
    """The bytes sealed for the last round of a plan: a retry sends them again."""

    round: RoundNumber
    batch: str
    body: str


class Joined(_MemoryEntry):
    """The turn in the last collection that was joined, and the number of collections joined."""

    collection: int
    times: int
    answers: int
    first: int
    last: int

    @property
    def turn(self) -> Turn:
        """Return the turn as it was drawn."""
        return Turn(answers=self.answers, first=self.first, last=self.last)


class Listed(SeenList):
    """The newest list of the shuffler's keys that was seen.

    Attributes:
        round: The newest round of the plan that was seen open; older memories have none.
    """

    round: RoundNumber | None = None


class State(_MemoryEntry):
    """The remembered state, over all plans.

    Attributes:
        listed: By plan.
        sealed: By plan.
        joined: By plan.
        resent: By plan and question, the randomised report of a plan that reuses its noise.
        spent: By attribute, the cost of every plan in nats, once per collection joined.
    """

    schema_version: int = 1
    listed: dict[str, Listed] = {}
    sealed: dict[str, Sealed] = {}
    joined: dict[str, Joined] = {}
    resent: dict[str, str] = {}
    spent: dict[str, list[float]] = {}

    def follow(self, keys: ShufflerKeys, rounds: Iterable[int] = ()) -> int | None:
        """Remember a list of keys; refuse one that is older than or differs from what was seen.

        Otherwise a thief of a replaced signing key could show the list that still names it.

        Args:
            keys: The list.
            rounds: The rounds whose openings were verified by it.

        Returns:
            The newest round that was ever seen open; None if there was none.
        """
        seen = self.listed.get(keys.plan)
        if seen is not None:
            keys.require_not_before(seen)
        before = [] if seen is None or seen.round is None else [seen.round]
        newest = max([*before, *rounds], default=None)
        self.listed[keys.plan] = Listed(version=keys.version, digest=keys.digest, round=newest)
        return newest

    def charge(self, attribute: str, *, cost: float, budget: float) -> None:
        """Spend exactly `cost` nats on an attribute; refuse what exceeds the budget."""
        costs = self.spent.setdefault(attribute, [])
        total = sum(map(Fraction, costs), Fraction(0))
        if total + Fraction(cost) > Fraction(budget):
            raise BudgetError(attribute, cost=cost, spent=float(total), budget=budget)
        costs.append(cost)


class Memory(ABC):
    """A place that keeps a client's state, for one user at a time."""

    @contextmanager
    def update(self) -> Iterator[State]:
        """Yield the state, and write it back as a whole unless an error ends the block."""
        with self._locked():
            state = self._load()
            yield state
            self._save(state)

    @abstractmethod
    def _load(self) -> State: ...

    @abstractmethod
    def _save(self, state: State) -> None: ...

    @contextmanager
    def _locked(self) -> Iterator[None]:
        yield


class MemoryState(Memory):
    """A state that ends with the process: for simulations."""

    def __init__(self) -> None:
        self._text = State().model_dump_json()

    def _load(self) -> State:
        return State.model_validate_json(self._text)

    def _save(self, state: State) -> None:
        self._text = state.model_dump_json()


class FileState(Memory):
    """A state in a file, replaced atomically, locked against a second process.

    Deleting the file lets the client randomise again: keep it where backups are made.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def _load(self) -> State:
        if not self._path.exists():
            return State()
        try:
            return State.model_validate_json(self._path.read_bytes())
        except ValidationError:
            raise StateError(self._path.name) from None

    def _save(self, state: State) -> None:
        durable.replace(self._path, state.model_dump_json().encode())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self._path.with_name(f".lock-{self._path.name}")
        with durable.locked(lock, os.O_RDWR | os.O_CREAT):
            yield
