"""A step over one piece of a column, as a process of its own does it.

That process imports this file, and no engine.
"""

from dataclasses import dataclass

import pyarrow as pa

from croupier.engines.base import Step

__all__ = ["OnePiece"]


@dataclass(frozen=True, repr=False)
class OnePiece:
    """Runs a step over an array of rows.

    Attributes:
        step: What is done to them.
        column: What their column is called.
    """

    step: Step
    column: str

    def __call__(self, piece: pa.Array) -> tuple[int, list[pa.RecordBatch]]:
        """How many rows there were, and what the step yields."""
        batch = pa.RecordBatch.from_arrays([piece], names=[self.column])
        return len(piece), list(self.step(iter([batch])))
