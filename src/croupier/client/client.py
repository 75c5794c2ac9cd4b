"""The client: what leaves a person's device, and its privacy cost.

A value is randomised once per round and forgotten; only sealed bytes are remembered. The time at
which a report is sent, its length and its presence do not depend on the value.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from croupier.client.memory import Joined, Memory, Sealed, State
from croupier.client.schedule import Turn, draw_turn, rounds_of_a_collection
from croupier.client.steps import Passing
from croupier.client.submission import Submission, seal
from croupier.client.tokens import (
    NoTokenError,
    follow_issuer,
    forget_passed,
    require_token,
    spent_on,
)
from croupier.client.window import CollectionWindow, Moment
from croupier.errors import CroupierError, DataError, ParameterError, UntrustedError
from croupier.model.randomizer import Randomizer
from croupier.numerics.keystream import WORD, Keystream, stream
from croupier.plan.plan import Plan, require_plan
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.key_list import KeyList, NotAccepted, ShufflerKey, sent_digest
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.query import Query, Round
from croupier.protocol.wire import (
    asks_by_query,
    encode_report,
    question,
    question_index,
)

__all__ = ["Client", "Submission", "seal"]


class _Kept(NamedTuple):
    """An encoded report that may be sealed again, and the digest of the query it answers."""

    report: bytes
    query: bytes


class _Trusted(NamedTuple):
    """The shuffler's signed keys, the signed opening of the answered round, all open batches.

    Attributes:
        tokens: The issuer's signed keys, if the plan admits by token.
    """

    keys: ShufflerKeys
    shuffler: ShufflerKey
    batches: frozenset[str]
    tokens: TokenKeys | None


class Client:
    """One person's side of a plan.

    Args:
        plan: The plan that the person agreed to, from a file, not as sent by a server.
        attribute: The subject of the value, across plans: "emoji", "location".
        budget: Nats that all plans together may cost this attribute, one `plan.cost` per report.
        budget_delta: The largest sum, over all reports, of the chances that these nats do not hold.
        memory: The state kept between rounds and plans.
        owner: The person's place in the public file, if the plan mixes by groups.
        group: The public group of a `divide` plan, or the bin of choice, which must not depend on
            the value.
        spread: The seconds over which sending times are spread; half a round if left out.
        rng: The source of noise, turns and times; the operating system if left out.
        insecure_seed: Instead of `rng`: makes them repeatable, and predictable. For tests only.
        clock: A function that returns the seconds since 1970.
    """

    def __init__(  # noqa: PLR0913 - what a person decides, each by its name
        self,
        plan: Plan,
        *,
        attribute: str,
        budget: float,
        budget_delta: float = 1e-6,
        memory: Memory,
        owner: int | None = None,
        group: int | None = None,
        spread: float | None = None,
        rng: Keystream | None = None,
        insecure_seed: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        require_plan(plan).require_deployable()
        if not 0 <= budget < float("inf"):
            raise ParameterError("budget", must="be a number of nats of at least 0", got=budget)
        if not 0 <= budget_delta <= 1:
            raise ParameterError("budget_delta", must="be a chance in [0, 1]", got=budget_delta)
        length = plan.collection.every.total_seconds()
        if spread is not None and not 0 <= spread <= length:
            raise ParameterError("spread", must=f"be in [0, {length:g}] seconds", got=spread)
        self.plan = plan
        self.attribute = attribute
        self.budget = budget
        self.budget_delta = budget_delta
        self.memory = memory
        self._owner = owner
        self._group = group
        self._spread = length / 2 if spread is None else spread
        self._rng = stream(rng, insecure_seed)
        self._clock = clock
        self._window = CollectionWindow.of(plan)
        self._reports: dict[str, _Kept] = {}

    def report(  # noqa: PLR0913 - keyword-only facts about one round
        self,
        value: Any,
        *,
        key_list: bytes,
        mirrors: Sequence[bytes] = (),
        round_number: int | None = None,
        rounds: Sequence[bytes] = (),
        is_prepared: bool = False,
    ) -> Submission | None:
        """Return what to send in the open round; None if it is not this person's turn.

        The first call of a round randomises and seals. Every later call returns the same bytes,
        whatever the value is by then. If the plan has a window, it is nobody's turn who has given
        as many answers in it as the plan or the budget allows; it is again once it has moved on.

        Args:
            value: The person's value. "No answer" must be a category of the plan: a client that
                stayed away or sent nothing because of its value would reveal it. If rounds ask
                by query, a function that takes the question and returns the value, in far less
                time than `spread`: a report waits for the rest of its delay, and one whose value
                took longer is late.
            key_list: The key list that the server serves.
            mirrors: The key lists that mirrors serve; must be the same bytes.
            round_number: The open round to answer; the latest if left out.
            rounds: If rounds ask by query, the documents of the round from server and mirrors.
            is_prepared: True to remember the time at which the report is due, for `waiting`. If
                an earlier one waits whose batch is still open, return that one instead.

        Raises:
            UntrustedError: The key list is not signed by the plan's keys, or not the same for all;
                or a list of a shuffler's keys is older than one that was seen.
            BudgetError: The attribute's budget does not allow another report.
            NoTokenError: The plan admits by token, and the memory holds none for the round.
        """
        # Before the value is looked at: finding it may take a time that depends on it.
        now, delay = self._clock(), self._delay()
        keys, shuffler, batches, tokens = self._trusted(key_list, mirrors, round_number)
        query = self._query(rounds, shuffler, keys)
        with self.memory.update() as state:
            sealed = state.sealed.get(self.plan.digest)
            waits = is_prepared and sealed is not None and sealed.due is not None
            if sealed is not None and waits and sealed.batch in batches:
                if tokens is not None:
                    require_token(state, self.plan, tokens, sealed.round)
                state.sealed[self.plan.digest] = sealed = sealed.on_a_clock_at(now)
                return self._submission(state, sealed, delay)
            if sealed is not None and shuffler.round < sealed.round:
                raise UntrustedError("the key list", "offers a round that has passed")
            if tokens is not None:
                require_token(state, self.plan, tokens, shuffler.round)
            if sealed is not None and shuffler.round == sealed.round:
                if is_prepared:
                    sealed = sealed.prepared(now=now, delay=delay)
                    state.sealed[self.plan.digest] = sealed
                return self._submission(state, sealed, delay)
            if query is not None:
                value = _answered(value, query)
            self._require_value(value, shuffler.round)
            asked = b"" if query is None else query.digest
            turn = self._turn(state, shuffler.round)
            position = shuffler.round % rounds_of_a_collection(self.plan)
            if turn is None or not turn.first <= position <= turn.last:
                return None
            if position == turn.answers:
                report = self._randomised(state, value, shuffler, asked)
            else:
                report = encode_report(self.plan, None, round_number=shuffler.round)
            kept = _Kept(report, asked)
            made = self._seal(state, kept, shuffler, delay, prepared=now if is_prepared else None)
            # A function of the question may take a time that depends on the value.
            left = min(delay, max(0.0, delay - (self._clock() - now)))
            return replace(made, delay=left, is_replacing=waits)

    def reseal(
        self,
        submission: Submission,
        *,
        refusal: bytes,
        authorization: str,
        key_list: bytes,
        mirrors: Sequence[bytes] = (),
    ) -> Submission | None:
        """Seal the same report for another batch, after the shuffler signed that it refused it.

        Return None if no other batch asks the same, or the report means nothing in another one, or
        it is no longer known, or there is no token for the other batch's round: then the round is
        lost. So it is with two shufflers:
        the first one alone may have signed the refusal and handed the report on all the same, and
        the second one would see it in two batches.

        Args:
            submission: The bytes that were sent.
            refusal: The server's answer.
            authorization: The header that was sent with them.
            key_list: The key list that the server serves by now.
            mirrors: The key lists that mirrors serve; must be the same bytes.

        Raises:
            UntrustedError: The refusal is not signed, or is about another batch or request.
        """
        signers = Signers.of(self.plan, self.followed(key_list, mirrors)[0].keys)
        refused = NotAccepted.verified(refusal, signers, round_number=submission.round_number)
        if refused.batch != submission.batch:
            raise UntrustedError(refused.what, "is about another batch")
        if refused.sent != sent_digest(authorization.encode(), submission.body):
            raise UntrustedError(refused.what, "is not about the request that was sent")
        if len(self.plan.shufflers) > 1:
            return None
        _, shuffler, _, tokens = self._trusted(key_list, mirrors, None)
        kept = self._reports.get(submission.batch)
        if kept is None or not self._asks_the_same(shuffler, submission):
            return None
        with self.memory.update() as state:
            sealed = state.sealed[self.plan.digest]
            if sealed.batch != submission.batch:
                return None
            if tokens is not None:
                try:
                    require_token(state, self.plan, tokens, shuffler.round)
                except NoTokenError:
                    return None
            prepared = None if sealed.due is None else self._clock()
            is_later = self._window.length is not None and shuffler.round > sealed.round
            if is_later and not self._window.move(state, self._moment(shuffler.round)):
                return None
            again = self._seal(state, kept, shuffler, self._delay(), prepared=prepared)
        if prepared is not None:
            self._reports = {}  # once only: a conversation ends there, a stored report goes on
        return again

    def waiting(self) -> Submission | None:
        """Return the prepared report that was not delivered yet; None if there is nothing to send.

        Its `delay` is the number of seconds that are left. If the clock was set back since it was
        prepared, the drawn delay counts from now on.
        """
        now = self._clock()
        with self.memory.update() as state:
            sealed = state.sealed.get(self.plan.digest)
            if sealed is None or sealed.due is None:
                return None
            state.sealed[self.plan.digest] = sealed = sealed.on_a_clock_at(now)
            return self._submission(state, sealed, max(0.0, (sealed.due or 0.0) - now))

    def due(self) -> float | None:
        """Return the seconds until the prepared report is to be sent; None if there is none."""
        waiting = self.waiting()
        return None if waiting is None else waiting.delay

    def settle(self, submission: Submission, *, is_delivered: bool) -> None:
        """Leave nothing of a prepared report to send: it was accepted, or never can be."""
        with self.memory.update() as state:
            sealed = state.sealed.get(self.plan.digest)
            if sealed is not None and sealed.batch == submission.batch:
                state.sealed[self.plan.digest] = sealed.settled(is_delivered=is_delivered)

    def chosen_round(
        self, *, key_list: bytes, mirrors: Sequence[bytes] = (), round_number: int | None = None
    ) -> int:
        """Return the round that `report` would answer."""
        return self._trusted(key_list, mirrors, round_number).shuffler.round

    def _asks_the_same(self, shuffler: ShufflerKey, submission: Submission) -> bool:
        if shuffler.batch == submission.batch or shuffler.round < submission.round_number:
            return False
        if question(self.plan, submission.round_number).varies_by_batch:
            return False
        return shuffler.round == submission.round_number or self.plan.participation_model.one_batch

    def _trusted(
        self, key_list: bytes, mirrors: Sequence[bytes], round_number: int | None
    ) -> _Trusted:
        """Return what the key list says about the answered round, checked."""
        read, newest = self.followed(key_list, mirrors)
        open_rounds = {entry.round: entry for entry in read.shuffler}
        wanted = max(open_rounds, default=None) if round_number is None else round_number
        if wanted is None or wanted not in open_rounds:
            raise ParameterError("round_number", must="be an open round", hint="Wait for the next.")
        _require_not_replaced(read.keys, open_rounds[wanted], newest)
        for later in read.onward or ():
            if later.opening.round == wanted:
                with self.memory.update() as state:
                    seen = state.follow(later.keys, open_rounds, hop=1)
                _require_not_replaced(later.keys, later.opening, seen)
        batches = frozenset(entry.batch for entry in read.shuffler)
        return _Trusted(read.keys, open_rounds[wanted], batches, read.tokens)

    def followed(self, key_list: bytes, mirrors: Sequence[bytes]) -> tuple[KeyList, int | None]:
        """Return the verified key list, and the newest round ever seen in one."""
        if any(mirror != key_list for mirror in mirrors):
            raise UntrustedError("the key list", "is not the same on every mirror")
        read = KeyList.verified(key_list, self.plan)
        rounds = [entry.round for entry in read.shuffler]
        with self.memory.update() as state:
            newest = state.follow(read.keys, rounds)
            if read.tokens is not None:
                follow_issuer(state, read.tokens)
                forget_passed(state, self.plan, rounds)
        return read, newest

    def _query(
        self, rounds: Sequence[bytes], shuffler: ShufflerKey, keys: ShufflerKeys
    ) -> Query | None:
        """Return what the round asks, the same for everybody; None if the plan fixes it."""
        if not asks_by_query(self.plan):
            return None
        what = "the round's document"
        if not rounds or any(other != rounds[0] for other in rounds):
            raise UntrustedError(what, "is missing, or not the same on every mirror")
        read = Round.verified(rounds[0], self.plan, Signers.of(self.plan, keys))
        if read.shuffler != shuffler:
            raise UntrustedError(what, "is not of the round in the key list")
        return read.query

    def _turn(self, state: State, round_number: int) -> Turn | None:
        """Return the turn of the collection; drawn, and paid for, when it is joined.

        None if the plan's window allows no answer in the round. Paying on joining ensures that
        running out of budget never depends on the drawn round.
        """
        plan = self.plan
        collection = round_number // rounds_of_a_collection(plan)
        joined = state.joined.get(plan.digest)
        if joined is not None and joined.collection == collection:
            return joined.turn
        if joined is not None and joined.collection > collection:
            raise UntrustedError("the key list", "offers a round that has passed")
        times = 1 if joined is None else joined.times + 1
        if self._window.length is not None:
            if not self._joins(state, round_number):
                return None
        else:
            self._join_for_ever(state, round_number, times)
        turn = draw_turn(plan, group=self._group, rng=self._rng)
        state.joined[plan.digest] = Joined(
            collection=collection,
            times=times,
            answers=turn.answers,
            first=turn.first,
            last=turn.last,
        )
        return turn

    def _joins(self, state: State, round_number: int) -> bool:
        """Count an answer in the plan's window, if it allows one."""
        epsilon, delta = self.plan.cost
        return self._window.joins(
            state,
            self.attribute,
            cost=epsilon,
            budget=self.budget,
            delta=delta,
            budget_delta=self.budget_delta,
            now=self._moment(round_number),
        )

    def _join_for_ever(self, state: State, round_number: int, times: int) -> None:
        """Pay for a collection of a plan without a window, and refuse one too many."""
        plan = self.plan
        if times > plan.reports:
            raise ParameterError(
                "round_number",
                must=f"be one of the {plan.reports:,} rounds that a person may join",
                hint="Stay away; collection.rounds of the plan is used up.",
            )
        epsilon, delta = plan.cost
        self._window.pass_time(state, self._moment(round_number))
        # Dummies protect a report once per batch, also one that was sent before.
        if times == 1 or delta or plan.draws_anew:
            state.charge(
                self.attribute,
                cost=epsilon,
                budget=self.budget,
                delta=delta,
                budget_delta=self.budget_delta,
            )

    def _moment(self, round_number: int) -> Moment:
        return Moment(round=round_number, clock=self._clock())

    def _require_value(self, value: Any, round_number: int) -> None:
        """Refuse a value that does not fit in every round, not only in the one that was drawn."""
        try:
            question(self.plan, round_number).domain.encode_one(value)
        except CroupierError:
            raise
        except Exception:  # noqa: BLE001 - its message might hold the person's value
            hint = "Check its type against the plan."
            raise DataError(1, "value cannot be randomised", hint=hint) from None

    def _randomised(self, state: State, value: Any, shuffler: ShufflerKey, asked: bytes) -> bytes:
        """Return the encoded report; an earlier one if noise is reused."""
        round_number = shuffler.round
        place = f"{self.plan.digest}/{question_index(self.plan, round_number)}"
        if place in state.resent:
            return bytes.fromhex(state.resent[place])
        batch = shuffler.epoch(self.plan, query=asked).name
        mechanism = question(self.plan, round_number).in_batches((batch,))
        if mechanism.permanent is not None:
            report = self._from_permanent(state, place, value, mechanism)
        else:
            report = mechanism.randomize_one(value, rng=self._rng)
        data = encode_report(self.plan, report, round_number=round_number)
        if self.plan.participation.noise == "reused":
            state.resent[place] = data.hex()
        return data

    def _from_permanent(
        self, state: State, place: str, value: Any, mechanism: Randomizer
    ) -> tuple[int, ...]:
        """Return a report made from the permanent answer, which is drawn first if there is none."""
        if place not in state.permanent and mechanism.permanent is not None:
            [state.permanent[place]] = mechanism.permanent.randomize_one(value, rng=self._rng)
        kept, noise = state.permanent[place], mechanism.instantaneous
        return noise.respond_one(kept, self._rng.row(noise.draw_bounds))

    def _seal(
        self,
        state: State,
        kept: _Kept,
        shuffler: ShufflerKey,
        delay: float,
        *,
        prepared: float | None,
    ) -> Submission:
        """Seal a report and remember it, with the time at which it is due if it was prepared."""
        epoch = shuffler.epoch(self.plan, query=kept.query)
        body = seal(kept.report, epoch=epoch, shuffler=shuffler, owner=self._owner)
        sealed = Sealed(round=shuffler.round, batch=shuffler.batch, body=body.hex())
        if prepared is not None:
            sealed = sealed.prepared(now=prepared, delay=delay)
        state.sealed[self.plan.digest] = sealed
        self._reports = {shuffler.batch: kept}
        return self._submission(state, sealed, delay)

    def _submission(self, state: State, sealed: Sealed, delay: float) -> Submission:
        number, body = sealed.round, bytes.fromhex(sealed.body)
        return Submission(
            plan=self.plan.digest,
            round_number=number,
            batch=sealed.batch,
            body=body,
            delay=delay,
            due=sealed.due,
            is_delivered=sealed.is_delivered,
            spent=spent_on(state, self.plan, round_number=number, batch=sealed.batch, body=body),
        )

    def token_delay(self) -> float:
        """Draw the seconds to wait before a token is fetched, which depend on nothing else."""
        return self._delay()

    def passing(self) -> Passing:
        """Begin to count the time of a conversation, by the client's clock."""
        return Passing(self._clock)

    def _delay(self) -> float:
        """Draw a uniform delay, before the value is looked at."""
        return self._spread * (self._rng.integer(WORD) / WORD)


def _require_not_replaced(keys: ShufflerKeys, opening: ShufflerKey, newest: int | None) -> None:
    """Refuse an opening whose release key was replaced before the newest round seen.

    Perhaps it was stolen: a thief could keep opening earlier rounds.
    """
    if newest is not None and keys.is_replaced(opening.round, newest=newest):
        raise UntrustedError(
            opening.what, "uses a release key that was replaced before a round seen earlier"
        )


def _answered(value: Any, query: Query) -> Any:
    """Return the value that answers a query, if it is a function of the question."""
    if not callable(value):
        return value
    try:
        return value(query.question)
    except Exception:  # noqa: BLE001 - its message might hold the person's value
        hint = "Check the function that gets the question."
        raise DataError(1, "value cannot be found", hint=hint) from None
