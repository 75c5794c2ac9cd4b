"""A question of a plan: its words, and what devices do to the answer."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    InstanceOf,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from croupier.errors import ParameterError, TooLargeError
from croupier.model.randomizer import Randomizer
from croupier.plan.sections import Section
from croupier.plan.values import key, plain, words
from croupier.randomizers import randomizer
from croupier.randomizers.parameter import LABELS

__all__ = ["Question"]


class Question(Section):
    """[[questions]], or [randomizer] for one: a mechanism and its parameters, in one table.

    Attributes:
        name: The name in results.
        text: The words that people read.
        randomizer: The mechanism that is applied to the answer.
    """

    name: str | None = key(
        None,
        means="name in results",
        must="be letters a-z, digits, hyphens and underscores",
        example="feature",
        pattern="^[a-z0-9]+([_-][a-z0-9]+)*$",
        max_length=64,
    )
    text: str | None = words(
        means="what people read", example="Which feature did you use most today?", most=1000
    )
    randomizer: Annotated[InstanceOf[Randomizer], WithJsonSchema({"type": "object"})]

    @classmethod
    def of(cls, made: Randomizer) -> Self:
        """A question without words."""
        return cls.model_construct(name=None, text=None, randomizer=made)

    @model_validator(mode="before")
    @classmethod
    def _from_one_table(cls, table: Any) -> Any:
        if isinstance(table, Randomizer):
            LABELS.read(table.specification.get("labels", ()))
            return {"randomizer": table}
        if not isinstance(table, Mapping):
            raise ValueError("not a table")  # noqa: TRY004 - what pydantic collects
        told = {name: table[name] for name in ("name", "text") if name in table}
        given = {name: value for name, value in table.items() if name not in told}
        if "mechanism" not in given:
            raise ParameterError("mechanism", must="be given", hint='Try "k-rr".')
        try:
            return told | {"randomizer": randomizer(**given)}
        except TooLargeError as error:
            must = "be of a smaller size"
            raise ParameterError("mechanism", must=must, hint=str(error)) from None

    @model_serializer(mode="wrap")
    def _to_one_table(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        del handler
        told = {"name": self.name, "text": self.text}
        given = {name: value for name, value in told.items() if value is not None}
        own: dict[str, Any] = plain(self.randomizer.specification)
        return given | own
