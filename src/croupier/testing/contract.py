"""What a check raises."""

from croupier.errors import CroupierError

__all__ = ["ContractError", "require"]


class ContractError(CroupierError, AssertionError):
    """A class does not keep a promise that the rest of croupier relies on."""

    def __init__(self, promise: str) -> None:
        self.promise = promise
        super().__init__(f"Broken promise: {promise}.")


def require(kept: object, promise: str) -> None:
    """Raise unless the promise is kept."""
    if not kept:
        raise ContractError(promise)
