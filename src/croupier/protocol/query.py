"""Queries: the questions of adaptive rounds, signed by the analyzer, the same for everybody.

If rounds ask by query, the plan fixes the mechanism, and the analyzer decides after each round
what the next one asks. The digest of the query is bound into every seal of every report: a client
that was shown another query sends nothing that opens.
"""

from hashlib import sha256
from typing import Annotated, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, ValidationError

from croupier.errors import ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import (
    Onward,
    ShufflerKey,
    WireVersion,
    require_onward,
    require_version,
)
from croupier.protocol.party_keys import Signers
from croupier.protocol.signed_document import SHAPE, Absent, Document, RootDocument, RoundNumber
from croupier.protocol.wire import asks_by_query

__all__ = ["Query", "Round", "require_query"]

_MOST_CHARACTERS = 4096


class Query(RootDocument):
    """The question of one round.

    Attributes:
        round: The number of the round.
        question: Text that the clients' program understands: "crashed since build 4711".
    """

    what = "the query"
    signer = "analyzer_key"
    purpose = "query"

    kind: Literal["query"]
    round: RoundNumber
    question: Annotated[str, Field(min_length=1, max_length=_MOST_CHARACTERS)]

    @classmethod
    def make(
        cls, plan: Plan, *, round_number: int, question: str, signing_key: Ed25519PrivateKey
    ) -> Self:
        """Sign what a round asks. The analyzer does so, and gives the file to the shuffler.

        Sign one query per round: people who were shown different ones could be told apart.
        """
        if not asks_by_query(plan):
            raise ParameterError(
                "round_number",
                must="be of a plan whose rounds ask by query",
                hint="This plan says itself what its rounds ask.",
            )
        if not 0 < len(question) <= _MOST_CHARACTERS:
            must = f"have 1 to {_MOST_CHARACTERS:,} characters"
            raise ParameterError("question", must=must, got=len(question))
        return cls.signed(
            plan, signing_key=signing_key, kind="query", round=round_number, question=question
        )

    @property
    def digest(self) -> bytes:
        """SHA-256 of the document as served: the seals are bound to it."""
        return sha256(self.to_bytes()).digest()


class Round(Document):
    """The document served about one round: the shuffler's key and the query, if it has one.

    Attributes:
        shuffler: The first shuffler's opening.
        query: The question; null if the plan fixes it.
        onward: The second shuffler's part; absent if the plan has one shuffler.
    """

    schema_version: WireVersion
    shuffler: ShufflerKey
    query: Query | None
    onward: Absent[Onward] = None

    @classmethod
    def of(
        cls, *, shuffler: ShufflerKey, query: Query | None, onward: Onward | None = None
    ) -> Self:
        """Return the document of a round."""
        later = {} if onward is None else {"onward": onward}
        return cls(schema_version=2, shuffler=shuffler, query=query, **later)

    @classmethod
    def verified(cls, data: bytes, plan: Plan, signers: Signers) -> Self:
        """Return the document in some bytes, checked against the plan.

        Args:
            data: The served bytes.
            plan: The plan of the collection.
            signers: The keys that sign for its first shuffler, by the key list.

        Raises:
            UntrustedError: A part belongs to another plan or round, is not signed, or is missing.
        """
        what = "the round's document"
        require_version(what, data)
        try:
            read = cls.model_validate_json(data)
        except ValidationError:
            raise UntrustedError(what, SHAPE) from None
        read.shuffler.check(signers)
        onward = None if read.onward is None else (read.onward,)
        require_onward(what, onward, plan, (read.shuffler,))
        if (read.query is not None) != asks_by_query(plan):
            raise UntrustedError(what, "has no query, or one where the plan says what is asked")
        if read.query is not None:
            read.query.check(plan)
            if read.query.round != read.shuffler.round:
                raise UntrustedError("the query", "is of another round")
        return read


def require_query(query: Query | None, plan: Plan, *, round_number: int | None = None) -> None:
    """Refuse to open a round without the query that it needs, or with one that is not its own.

    Args:
        query: The question of the round.
        plan: The plan of the collection.
        round_number: The round to open; not compared if left out.

    Raises:
        ParameterError: The plan needs a query and none is given, or vice versa.
        UntrustedError: It is not signed by the plan's analyzer, or is for another plan or round.
    """
    if query is None:
        if asks_by_query(plan):
            raise ParameterError(
                "--query",
                must="be given: the analyzer signs what a round of this plan asks",
                hint="Get the signed query from the analyzer, then add --query FILE.",
            )
        return
    if not asks_by_query(plan):
        raise ParameterError(
            "--query",
            must="be left out: the plan says what its rounds ask",
            hint="Run again without --query.",
        )
    query.check(plan)
    if round_number is not None and query.round != round_number:
        raise UntrustedError(
            "the query", f"is for round {query.round}, and the next is {round_number}"
        )
