"""The names under which commands take the parameters of libraries."""

from collections.abc import Iterator
from contextlib import contextmanager

from croupier.errors import ParameterError

__all__ = ["as_typed"]


@contextmanager
def as_typed(**options: str) -> Iterator[None]:
    """Name a parameter of a library in errors as the option that was typed.

    Args:
        options: The options by the names of the parameters.
    """
    try:
        yield
    except ParameterError as error:
        option = options.get(error.parameter)
        if option is None:
            raise
        raise ParameterError(option, must=error.must, got=error.got, hint=error.hint) from None
