"""The client's memory: what it sealed, when it answers, what it has spent. Never a value.

It admits whoever reads it as the sender: it may hold a credential and tokens of an issuer.
"""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from croupier.client.schedule import Turn
from croupier.errors import CroupierError
from croupier.protocol import durable
from croupier.protocol.party_keys import SeenList, ShufflerKeys
from croupier.protocol.signed_document import Bytes32, RoundNumber

__all__ = [
    "Answered",
    "BudgetError",
    "Enrolled",
    "FileState",
    "HeldToken",
    "Joined",
    "Listed",
    "Memory",
    "MemoryState",
    "Sealed",
    "State",
]
__all__ += ["StateError"]


class BudgetError(CroupierError):
    """A report would cost more than is left of a person's budget for an attribute.

    Attributes:
        attribute: The subject of the value.
        cost: The nats that a report costs.
        spent: The nats that were spent.
        budget: The nats that may be spent in all.
        delta: The chance that a report's nats do not hold.
        spent_delta: The sum of such chances so far.
        budget_delta: The largest sum of them.
    """

    def __init__(  # noqa: PLR0913 - keyword-only facts about two budgets
        self,
        attribute: str,
        *,
        cost: float,
        spent: float,
        budget: float,
        delta: float = 0.0,
        spent_delta: float = 0.0,
        budget_delta: float = 0.0,
    ) -> None:
        self.attribute = attribute
        self.cost, self.spent, self.budget = cost, spent, budget
        self.delta, self.spent_delta, self.budget_delta = delta, spent_delta, budget_delta
        nats = f"{attribute} may cost {budget:g} nats in all; {spent:g} are spent and a report "
        chance = (
            f" The chance that they do not hold may be {budget_delta:g} in all; {spent_delta:g} is "
            f"spent and a report costs {delta:g}."
        )
        super().__init__(
            f"{nats}costs {cost:g}.{chance if delta else ''} Nothing was randomised. Stay away, or "
            "ask the person for more."
        )


class StateError(CroupierError):
    """A client's memory cannot be read; it must not start afresh and randomise again."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name} is not a client's memory. Restore it; nothing was randomised.")


class _MemoryEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _newer_entry(*, empty: Any) -> Any:
    """Declare an entry that is left out while empty, so that older clients can read on."""
    return Field(default=empty, exclude_if=lambda entry: entry is empty)


class Sealed(_MemoryEntry):
    """The bytes sealed for the last round of a plan: a retry sends them again.

    Attributes:
        round: The round.
        batch: The batch, 32 hexadecimal digits.
        body: The sealed bytes, hexadecimal.
        due: The time at which a prepared report is to be sent, in seconds since 1970; None if
            nothing is left to send, or whoever sealed it sends it.
        delay: The seconds from preparing to that time, as drawn.
        is_delivered: True if a prepared report was accepted.
    """

    round: RoundNumber
    batch: str
    body: str
    due: float | None = _newer_entry(empty=None)
    delay: float | None = _newer_entry(empty=None)
    is_delivered: bool = _newer_entry(empty=False)

    def prepared(self, *, now: float, delay: float) -> Self:
        """Return the entry with the time at which it is due, drawn once."""
        if self.due is not None or self.is_delivered:
            return self
        return self.model_copy(update={"due": now + delay, "delay": delay})

    def settled(self, *, is_delivered: bool) -> Self:
        """Return the entry without anything left to send."""
        return self.model_copy(update={"due": None, "delay": None, "is_delivered": is_delivered})

    def on_a_clock_at(self, now: float) -> Self:
        """Return the entry with a due time that the drawn delay allows.

        A clock that shows less than when the time was drawn has been set back. The same delay
        counts from now on, so that the report is not held until the clock has caught up.
        """
        if self.due is None or self.delay is None or now >= self.due - self.delay:
            return self
        return self.model_copy(update={"due": now + self.delay})


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


class Answered(_MemoryEntry):
    """An answer that counts for as long as its plan's window lasts.

    Attributes:
        attribute: The subject of the value.
        epsilon: The nats that it costs.
        delta: The chance that these nats do not hold.
        at: The time, in seconds since 1970, by the device's clock.
        length: The seconds of the window.
        rounds: By plan, the round from which its client counts the window: that of the answer for
            the plan itself, and for any other plan the one in which it first met the entry.
    """

    attribute: str
    epsilon: float
    delta: float
    at: float
    length: float
    rounds: dict[str, RoundNumber]


class Enrolled(_MemoryEntry):
    """A device as an issuer knows it.

    Attributes:
        device: The random name of the device, 64 hexadecimal digits.
        credential: The credential that the issuer gave it; None until it does.
    """

    device: str
    credential: str | None = _newer_entry(empty=None)


class HeldToken(_MemoryEntry):
    """The token of a round, or what is needed to ask for it.

    Once the issuer has signed, `request` and `inverse` are forgotten: with them, whoever reads the
    memory and the issuer's records could link the two.

    Attributes:
        key_id: The id of the issuer's key of the round.
        seed: The one-time key that spends the token.
        request: The bytes that the issuer is sent, always the same; None once it has signed.
        inverse: Undoes the blinding; None once the issuer has signed. Never sent to anybody.
        signature: The issuer's signature, checked; None until it has signed.
    """

    key_id: Bytes32
    seed: Bytes32
    request: str | None = _newer_entry(empty=None)
    inverse: str | None = _newer_entry(empty=None)
    signature: str | None = _newer_entry(empty=None)


class Listed(SeenList):
    """The newest list of the shuffler's keys that was seen.

    Attributes:
        round: The newest round of the plan that was seen open; older memories have none.
    """

    round: RoundNumber | None = None


T = TypeVar("T")
_Newer = Annotated[dict[str, T], Field(exclude_if=lambda entries: not entries)]
"""Entries that older memories lack; left out while empty, so that older clients can read on."""


class State(_MemoryEntry):
    """The remembered state, over all plans.

    Attributes:
        listed: By plan.
        listed_second: By plan with a second shuffler, the newest list of its keys that was seen.
        sealed: By plan.
        joined: By plan.
        resent: By plan and question, the randomised report of a plan that reuses its noise.
        spent: By attribute, the cost of every plan in nats, once per collection joined.
        spent_delta: By attribute, the chances that these nats do not hold, if not zero.
        answered: By plan with a window, the answers that still count.
        permanent: By plan and question, the permanent answer of a mechanism that keeps one.
        enrolled: By the address of the issuer.
        tokens: By plan and round.
        listed_issuer: By plan that admits by token, the newest list of the issuer's keys seen.
        gateways: By plan, the newest version of the gateway's keys that was seen.
    """

    schema_version: int = 1
    listed: dict[str, Listed] = {}
    listed_second: _Newer[Listed] = {}
    sealed: dict[str, Sealed] = {}
    joined: dict[str, Joined] = {}
    resent: dict[str, str] = {}
    spent: dict[str, list[float]] = {}
    spent_delta: _Newer[list[float]] = {}
    answered: _Newer[list[Answered]] = {}
    permanent: _Newer[int] = {}
    enrolled: _Newer[Enrolled] = {}
    tokens: _Newer[HeldToken] = {}
    listed_issuer: _Newer[SeenList] = {}
    gateways: _Newer[int] = {}

    def follow(self, keys: ShufflerKeys, rounds: Iterable[int] = (), *, hop: int = 0) -> int | None:
        """Remember a list of keys; refuse one that is older than or differs from what was seen.

        Otherwise a thief of a replaced signing key could show the list that still names it.

        Args:
            keys: The list.
            rounds: The rounds whose openings were verified by it.
            hop: The shuffler whose list it is: 0 for the first, 1 for the second.

        Returns:
            The newest round that was ever seen open; None if there was none.
        """
        listed = self.listed_second if hop else self.listed
        seen = listed.get(keys.plan)
        if seen is not None:
            keys.require_not_before(seen)
        before = [] if seen is None or seen.round is None else [seen.round]
        newest = max([*before, *rounds], default=None)
        listed[keys.plan] = Listed(version=keys.version, digest=keys.digest, round=newest)
        return newest

    def charge(
        self,
        attribute: str,
        *,
        cost: float,
        budget: float,
        delta: float = 0.0,
        budget_delta: float = 0.0,
    ) -> None:
        """Spend exactly `cost` nats on an attribute; refuse what exceeds the budget.

        Args:
            attribute: The subject of the value.
            cost: The nats.
            budget: The nats that may be spent in all.
            delta: The chance that they do not hold; chances add up like nats.
            budget_delta: The largest sum of such chances.

        Raises:
            BudgetError: Nats or chances would exceed what is allowed.
        """
        self.require_left(
            attribute, cost=cost, budget=budget, delta=delta, budget_delta=budget_delta
        )
        self.spent.setdefault(attribute, []).append(cost)
        if delta:
            self.spent_delta.setdefault(attribute, []).append(delta)

    def require_left(  # noqa: PLR0913 - keyword-only facts about two budgets
        self,
        attribute: str,
        *,
        cost: float,
        budget: float,
        delta: float = 0.0,
        budget_delta: float = 0.0,
        but: str | None = None,
    ) -> None:
        """Refuse a cost that exceeds the budget, without spending it.

        All that was spent for ever counts, and every answer in some plan's window.

        Args:
            attribute: The subject of the value.
            cost: The nats.
            budget: The nats that may be spent in all.
            delta: The chance that they do not hold; chances add up like nats.
            budget_delta: The largest sum of such chances.
            but: The plan whose answers in its window are left out.

        Raises:
            BudgetError: Nats or chances would exceed what is allowed.
        """
        counted = [
            entry
            for plan, entries in self.answered.items()
            for entry in entries
            if plan != but and entry.attribute == attribute
        ]
        nats = [*self.spent.get(attribute, []), *(entry.epsilon for entry in counted)]
        chances = [*self.spent_delta.get(attribute, []), *(entry.delta for entry in counted)]
        spent = sum(map(Fraction, nats), Fraction(0))
        spent_delta = sum(map(_as_written, chances), Fraction(0))
        over = delta and spent_delta + _as_written(delta) > _as_written(budget_delta)
        if math.isinf(cost) or spent + Fraction(cost) > Fraction(budget) or over:
            raise BudgetError(
                attribute,
                cost=cost,
                spent=float(spent),
                budget=budget,
                delta=delta,
                spent_delta=float(spent_delta),
                budget_delta=budget_delta,
            )


def _as_written(chance: float) -> Fraction:
    """Return the decimal number that people write: a hundred times 1e-8 is 1e-6."""
    return Fraction(repr(float(chance)))


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
