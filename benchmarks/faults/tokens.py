"""Tokens spent again and again at two hosts that are killed: each must count once.

Two servers of two workers share a database; each has its own copy of intake's keys. Every token is
sent to both, half of them at the same moment, half of them with two different reports, and again
after each kill. Killed are workers, whole servers and PostgreSQL. Afterwards the batch must have
exactly one row per token, the row of a report that was sent with it, and no token of the round is
taken in the next.
"""

import json
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import psycopg
from cryptography.hazmat.primitives.asymmetric import rsa

from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import NEXT, SERVERS, Site
from benchmarks.faults.spenders import REPEATED, Mint, Spenders
from benchmarks.faults.verdict import Verdict, judge
from benchmarks.intake import PASSPHRASE
from benchmarks.token_issuer import TokenIssuer
from croupier.protocol.admission.blind_rsa import EXPONENT, BlindKey
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.admission.token_keys import TOKEN_BITS
from croupier.protocol.key_list import KeyList, ShufflerKey

__all__ = ["run"]

_VICTIMS = ("worker", *SERVERS, "postgres")
_HOSTS = dict(zip(SERVERS, ("host-1", "host-2"), strict=True))
_ROUNDS = 2
_LATE = 50
"""Tokens that are sent in the next round."""
_PATIENCE = 180.0
"""Seconds without an acknowledged token after which the run is given up."""
_REFUSED = 401


class TwoHosts(Site):
    """Two hosts that take tokens, with a copy of intake's keys each."""

    def deploy(self, folder: Path, tables: dict[str, object]) -> BearerCredentials:
        """Make a plan that admits by token, and hold the private token keys here."""
        phrase = PASSPHRASE.encode()
        issuer = TokenIssuer.at(folder, phrase)
        plan = issuer.deploy(tables, phrase)
        self.private = [
            rsa.generate_private_key(public_exponent=EXPONENT, key_size=TOKEN_BITS)
            for _ in range(_ROUNDS)
        ]
        issuer.sign(plan, [BlindKey(key.public_key().public_numbers().n) for key in self.private])
        for host in _HOSTS.values():
            shutil.copytree(folder / "keys" / "intake", folder / host / "intake")
        return BearerCredentials(token_bytes(32))  # nobody is admitted by one

    def files(self, name: str) -> list[str]:
        """Return the options that name the files of a server: its own keys, the shared folder."""
        return ["--keys", f"{_HOSTS[name]}/intake", "--handover", "keys/handover"]

    def opening(self, round_number: int) -> ShufflerKey:
        """Wait until both servers announce a round, and return its batch."""
        for name in SERVERS:
            url = f"http://127.0.0.1:{self.port_of(name)}/v1/plans/{self.plan.digest}"
            for _ in range(600):
                with urlopen(url) as answer:
                    listed = KeyList.verified(answer.read(), self.plan).shuffler
                found = [each for each in listed if each.round == round_number]
                if found:
                    break
                time.sleep(0.1)
            else:
                raise SystemExit(f"round {round_number} is not announced:\n{self.log()}")
        return found[0]

    def spenders(self, *, tokens: int, seed: int, batch_of: int = 0) -> Spenders:
        """Return people with tokens of the first round, who send them to the batch of a round."""
        mint = Mint(self.plan, self.private[0], 0, self.opening(batch_of))
        return Spenders(mint, [self.port, self.second_port], tokens=tokens, seed=seed)

    def stored(self, batch: str) -> int:
        """Count the rows of a batch."""
        with psycopg.connect(self.cluster.database) as connection:
            query = f"SELECT count(*) FROM croupier.env_{batch}".encode()  # noqa: S608
            ((count,),) = connection.execute(query).fetchall()
        return int(count)


def run(*, spends: int = 2_000, kills: int = 20, seed: int = 7) -> Result:
    """Spend so many tokens under so many kills, then count."""
    chance = random.Random(seed)  # noqa: S311 - chooses whom to kill, and when
    due = sorted(chance.sample(range(spends // 20, spends * 19 // 20), kills))
    with timed("tokens") as result, TemporaryDirectory() as folder:
        where = TwoHosts(Path(folder), every="1h")
        try:
            where.open_round()
            _ready(where)
            people = where.spenders(tokens=spends, seed=seed)
            try:
                done = _spend(where, people, due=due, chance=chance)
            finally:
                people.stop()
            where.keep(*SERVERS)
            result.verdict = _judged(where, people, spends)
            result.verdict.violations += _late(where, seed=seed)
        finally:
            where.close()
    result.faults = done.total()
    result.remarks += _remarks(people, done)
    return result


def _ready(where: TwoHosts) -> None:
    where.keep(*SERVERS)
    for name in SERVERS:
        if not where.is_ready(name):
            raise SystemExit(f"the {name} is not ready:\n{where.log()}")


def _spend(
    where: TwoHosts, people: Spenders, *, due: list[int], chance: random.Random
) -> Counter[str]:
    """Spend all tokens; return whom it killed.

    Args:
        where: The hosts.
        people: The spenders.
        due: The numbers of acknowledged tokens at which a process is killed.
        chance: Chooses whom.
    """
    people.start()
    done: Counter[str] = Counter()
    last, seen = time.monotonic(), 0
    while not people.is_done:
        where.keep(*SERVERS)
        if people.notes.told > seen:
            last, seen = time.monotonic(), people.notes.told
        if time.monotonic() - last > _PATIENCE:
            raise SystemExit(f"no token was taken for {_PATIENCE:g} s:\n{where.log()}")
        if due and seen >= due[0]:
            victim = chance.choice(_VICTIMS)
            if where.kill_one(victim, chance):
                done[victim] += 1
                due.pop(0)
                people.send_again()
                print(f"{seen:,} tokens, {done.total()} kills: {victim}", file=sys.stderr)
        time.sleep(0.05)
    return done


def _judged(where: TwoHosts, people: Spenders, spends: int) -> Verdict:
    """Release the batch, and compare it with what the spenders were told."""
    where.age(days=1)
    finished = where.release("--json", *NEXT)
    if finished.code != 0:
        raise SystemExit(finished.said)
    found = judge(people.notes, where.shuffler())
    if found.released != spends:
        found.violations.append(f"{found.released:,} rows of {spends:,} tokens")
    others = people.notes.answers.keys() - REPEATED - {202}
    found.violations += [f"{people.notes.answers[status]} answers {status}" for status in others]
    return found


def _late(where: TwoHosts, *, seed: int) -> list[str]:
    """Send tokens of the first round in the second: all must be refused."""
    _ready(where)
    people = where.spenders(tokens=_LATE, seed=seed, batch_of=1)
    people.start()
    while not people.is_done:
        where.keep(*SERVERS)
        time.sleep(0.05)
    stored = where.stored(where.opening(1).batch)
    told = people.notes.answers
    refused = told[_REFUSED] == told.total() - sum(told[status] for status in REPEATED)
    if stored or not refused or not told[_REFUSED]:
        return [f"tokens of an earlier round: {stored} stored, answers {dict(told)}"]
    return []


def _remarks(people: Spenders, done: Counter[str]) -> list[str]:
    notes = people.notes
    answers = {str(status or "none"): times for status, times in sorted(notes.answers.items())}
    both = sum(len(hosts) == len(SERVERS) for hosts in notes.hosts.values())
    two = len(notes.person) - notes.told
    struck = ", ".join(f"{times} x {victim}" for victim, times in sorted(done.items()))
    return [
        struck,
        f"answers {json.dumps(answers)}; {notes.retries:,} requests were repeated",
        f"{both:,} tokens were acknowledged by both hosts, {two:,} had two different reports",
        f"{people.sent_again:,} tokens were sent again after a kill",
    ]
