"""A check that everybody is shown the same keys: what several addresses serve, compared over time.

A client believes what is signed. It cannot see whether others are shown something else that is
signed as well. Asking several addresses again and again, and keeping their answers, reveals it.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from croupier.client.server import Server
from croupier.client.steps import Steps, ask_patiently, until_settled
from croupier.errors import CertificateError, ParameterError, SupersededError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.key_list import KeyList, kept_seconds
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.query import Round
from croupier.protocol.superseded import SupersededPlan
from croupier.protocol.wire import asks_by_query

__all__ = ["Look", "Served", "keep", "look"]

_OK, _GONE = 200, 410
_TRIES, _PAUSE = 3, 2.0
"""Tries: a round may open between two requests, so addresses that differ are asked again. Seconds
between them, besides those for which a cache in front of an address may be behind."""
_PATIENCE = 30.0
"""Seconds for which an address that is busy or silent is asked again."""


class Served(NamedTuple):
    """The answer of one address.

    Attributes:
        url: The address.
        round: The round it was asked about; None if it was asked for the key list.
        body: Its answer; None if it has no such document.
        refusal: The reason that it gave instead of a document: the plan was superseded, or it
            says so without the signature of the plan's shuffler; or its certificate cannot be
            trusted.
        is_silent: True if it did not answer, or was busy until it was asked no more.
    """

    url: str
    round: int | None
    body: bytes | None
    refusal: SupersededError | UntrustedError | CertificateError | None = None
    is_silent: bool = False

    @property
    def successor(self) -> str | None:
        """The digest of the plan that took the place of this one, if the shuffler signed it."""
        return getattr(self.refusal, "successor", None)

    @property
    def what(self) -> str:
        """The name of the requested document."""
        return "key list" if self.round is None else f"document of round {self.round}"

    def believed(self, plan: Plan, signers: Signers) -> KeyList | Round:
        """Return the document, checked against the plan, and a round's against its signers."""
        body = self.body or b""
        if self.round is None:
            return KeyList.verified(body, plan)
        read = Round.verified(body, plan, signers)
        if read.shuffler.round != self.round:
            raise UntrustedError("the round's document", "is of another round")
        return read


Try: TypeAlias = Sequence[Served]
"""The answers of every address, once each."""


@dataclass(frozen=True)
class Look:
    """The answers of the addresses, for every time they were asked.

    Attributes:
        tries: The answers, try by try.
    """

    tries: Sequence[Try]

    @property
    def missing(self) -> list[Served]:
        """The documents that addresses lacked when last asked."""
        return [served for served in self.tries[-1] if served.body is None]

    @property
    def agreed(self) -> int:
        """The number of addresses that served a key list when last asked."""
        return sum(each.round is None and each.body is not None for each in self.tries[-1])

    @property
    def key_lists(self) -> list[bytes]:
        """The key lists of all tries, each once."""
        return _distinct(served for served in self._all if served.round is None)

    @property
    def rounds(self) -> list[bytes]:
        """The documents of rounds of all tries, each once."""
        return _distinct(served for served in self._all if served.round is not None)

    @property
    def is_settled(self) -> bool:
        """True if all agreed, at once or when all answered later."""
        if not any(map(_differences, self.tries)):
            return True
        return not _differences(self.tries[-1]) and not self.missing

    def problems(self, plan: Plan, earlier: Iterable[bytes]) -> list[str]:
        """List the evidence that not everybody sees the same signed keys and queries.

        Args:
            plan: The plan of the collection.
            earlier: Documents of the plan that were seen before.
        """
        unbelievable = list(dict.fromkeys(_disbelief(self._all, plan)))
        twice = _said_twice(plan, [*self.key_lists, *self.rounds, *earlier])
        differences = []
        if not self.is_settled:
            last = next(each for each in reversed(self.tries) if _differences(each))
            differences = _differences(last)
            if not unbelievable and not twice and _differ_in_open_rounds_alone(last, plan):
                differences.append(
                    "They differ only in which rounds are open, and no round was opened twice: one "
                    "address may be behind. Run this again in a minute."
                )
        return differences + unbelievable + twice

    @property
    def _all(self) -> list[Served]:
        return [served for each in self.tries for served in each]


def look(plan: Plan, addresses: Sequence[str], *, insecure_http: bool = False) -> Steps[Look]:
    """Ask every address for the key list and the queries of open rounds; again if they differ.

    Raises:
        ParameterError: An address is given twice: it would be compared with itself.
    """
    _require_different(addresses)
    servers = [Server(url=url, credential="", insecure_http=insecure_http) for url in addresses]
    tries = yield from until_settled(
        lambda: _try(plan, servers),
        lambda tries: Look(tries).is_settled,
        tries=_TRIES,
        pause=_PAUSE + kept_seconds(plan),
    )
    return Look(tries)


def keep(directory: Path, *, key_lists: Iterable[bytes], rounds: Iterable[bytes]) -> list[bytes]:
    """Add documents to a directory, each under its SHA-256; return all that it holds."""
    directory.mkdir(parents=True, exist_ok=True)
    named = [("", data) for data in key_lists] + [("round-", data) for data in rounds]
    for kind, data in named:
        path = directory / f"{kind}{sha256(data).hexdigest()}.json"
        if not path.exists():
            durable.create(path, data)
            durable.share(path)
    return [path.read_bytes() for path in sorted(directory.glob("*.json"))]


def _require_different(addresses: Sequence[str]) -> None:
    seen = set()
    for url in addresses:
        parts = urlsplit(url)
        port = {"https": ":443", "http": ":80"}.get(parts.scheme, "")
        place = (parts.scheme, parts.netloc.lower().removesuffix(port), parts.path.rstrip("/"))
        if place in seen:
            raise ParameterError(
                "URL",
                must="be given once",
                got=url,
                hint="An address compared with itself shows nothing. Name another mirror.",
            )
        seen.add(place)


def _try(plan: Plan, servers: Sequence[Server]) -> Steps[Try]:
    """Ask every address once."""
    served = []
    for server in servers:
        answer = yield from _ask(plan, server, None)
        served.append(answer)
    for number in _open_rounds(served, plan) if asks_by_query(plan) else ():
        for server in servers:
            answer = yield from _ask(plan, server, number)
            served.append(answer)
    return served


def _ask(plan: Plan, server: Server, number: int | None) -> Steps[Served]:
    """Ask for the key list, or for the document of a round."""
    step = server.get(plan.digest, "" if number is None else f"/rounds/{number}")
    try:
        answer = yield from ask_patiently(step, seconds=_PATIENCE)
    except CertificateError as error:
        return Served(server.url, number, None, error)
    if answer is None or answer.status not in {_OK, _GONE}:
        return Served(server.url, number, None, is_silent=answer is None)
    if answer.status == _OK:
        return Served(server.url, number, answer.body)
    refusal: SupersededError | UntrustedError
    try:
        refusal = SupersededPlan.verified(answer.body, digest=plan.digest).error
    except UntrustedError as error:
        refusal = error
    return Served(server.url, number, None, refusal)


def _open_rounds(served: Iterable[Served], plan: Plan) -> list[int]:
    lists = _believed([each.body for each in served if each.body is not None], plan)
    return sorted({number for read in lists for number in _round_numbers(read)})


def _round_numbers(read: KeyList | Round) -> list[int]:
    openings = read.shuffler if isinstance(read, KeyList) else (read.shuffler,)
    return [opening.round for opening in openings]


def _distinct(served: Iterable[Served]) -> list[bytes]:
    return sorted({each.body for each in served if each.body is not None})


def _differences(answers: Try) -> list[str]:
    """List the documents of which addresses serve several versions."""
    versions: dict[str, set[bytes]] = {}
    for served in answers:
        if served.body is not None:
            versions.setdefault(served.what, set()).add(served.body)
    return [
        f"The addresses serve {len(bodies)} different versions of the {what}."
        for what, bodies in versions.items()
        if len(bodies) > 1
    ]


def _differ_in_open_rounds_alone(answers: Try, plan: Plan) -> bool:
    """Tell whether key lists differ in nothing else; each of them was verified already."""
    lists = [
        KeyList.verified(served.body, plan)
        for served in answers
        if served.round is None and served.body is not None
    ]
    open_rounds = {tuple(_round_numbers(read)) for read in lists}
    same = {
        (read.analyzer.to_bytes(), read.keys.to_bytes(), read.tokens and read.tokens.digest)
        for read in lists
    }
    second = {keys.digest for read in lists for keys in _second_lists(read)}
    return len(open_rounds) > 1 and len(same) == 1 and len(second) <= 1


def _second_lists(read: KeyList | Round) -> list[ShufflerKeys]:
    """Return the lists of the second shuffler's keys in a document."""
    parts = (read.onward or ()) if isinstance(read, KeyList) else (read.onward,)
    return [part.keys for part in parts if part is not None]


def _disbelief(served: Sequence[Served], plan: Plan) -> Iterable[str]:
    lists = _key_lists([each.body for each in served if each.body is not None], plan)
    signers = _signers(lists, plan)
    for each in served:
        if each.body is not None:
            try:
                each.believed(plan, signers)
            except UntrustedError as error:
                yield f"{each.url}: {error.what} {error.problem}."


def _believed(documents: Sequence[bytes], plan: Plan) -> list[KeyList | Round]:
    """Return those that can be believed; the others are of another plan, or reported already."""
    lists = _key_lists(documents, plan)
    signers = _signers(lists, plan)
    found: list[KeyList | Round] = [*lists]
    for data in documents:
        with suppress(UntrustedError):
            found.append(Round.verified(data, plan, signers))
    return found


def _key_lists(documents: Iterable[bytes], plan: Plan) -> list[KeyList]:
    found = []
    for data in documents:
        with suppress(UntrustedError):
            found.append(KeyList.verified(data, plan))
    return found


def _signers(lists: Iterable[KeyList], plan: Plan) -> Signers:
    """Return the signers of the shuffler, by the newest list of keys among key lists."""
    newest = max((read.keys for read in lists), key=lambda keys: keys.version, default=None)
    return Signers.of(plan, newest)


def _said_twice(plan: Plan, documents: Iterable[bytes]) -> list[str]:
    """List rounds that were opened twice, with other keys or analyzers, or ask two things.

    Also list versions of the shuffler's or the issuer's key list of which there are two, and rounds
    for which the issuer signed two keys.
    """
    tokens: dict[int, set[str]] = {}
    versions: dict[tuple[str, int], set[str]] = {}
    openings: dict[int, set[tuple[str, str, str, str | None]]] = {}
    queries: dict[int, set[bytes]] = {}
    for read in _believed(list(documents), plan):
        if isinstance(read, KeyList):
            versions.setdefault(("shuffler", read.keys.version), set()).add(read.keys.digest)
            if read.tokens is not None:
                issued = versions.setdefault(("issuer", read.tokens.version), set())
                issued.add(read.tokens.digest)
                for number, key in zip(read.tokens.rounds, read.tokens.keys, strict=True):
                    tokens.setdefault(number, set()).add(key)
        for keys in _second_lists(read):
            versions.setdefault(("second shuffler", keys.version), set()).add(keys.digest)
        for opening in read.shuffler if isinstance(read, KeyList) else (read.shuffler,):
            entry = (opening.batch, opening.key, opening.analyzer, opening.next)
            openings.setdefault(opening.round, set()).add(entry)
        if isinstance(read, Round) and read.query is not None:
            queries.setdefault(read.query.round, set()).add(read.query.digest)
    return (
        [
            f"Round {number} was opened {len(entries)} times, with different keys."
            for number, entries in sorted(openings.items())
            if len(entries) > 1
        ]
        + [
            f"Round {number} has {len(digests)} different signed queries."
            for number, digests in sorted(queries.items())
            if len(digests) > 1
        ]
        + [
            f"The list of the {whose}'s keys has {len(digests)} different versions {number}."
            for (whose, number), digests in sorted(versions.items())
            if len(digests) > 1
        ]
        + [
            f"Round {number} has {len(keys)} different keys of the issuer."
            for number, keys in sorted(tokens.items())
            if len(keys) > 1
        ]
    )
