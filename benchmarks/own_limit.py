"""`croupier serve` with rate limits that each worker counts alone, to compare shared ones with."""

import time

__all__ = ["OwnLimit", "main"]

_WINDOW = 60.0


class OwnLimit:
    """An upper limit per minute and sender, at one worker: a dictionary."""

    def __init__(self, most: int, *, columns: int = 0) -> None:
        del columns  # it needs none
        self._most = most
        self._ends = time.monotonic() + _WINDOW
        self._spent: dict[bytes, int] = {}

    def allows(self, sender: bytes, amount: int) -> bool:
        """Count an amount for a sender, unless it would exceed the limit."""
        now = time.monotonic()
        if now >= self._ends:
            self._spent.clear()
            self._ends = now + _WINDOW
        spent = self._spent.get(sender, 0) + amount
        if spent > self._most:
            return False
        self._spent[sender] = spent
        return True


def main() -> None:
    """Run the program with the other limits."""
    from croupier.cli import main as program  # noqa: PLC0415 - as the program does
    from croupier.shuffler.http import reports  # noqa: PLC0415 - as above

    vars(reports)["RateLimit"] = OwnLimit
    program()
