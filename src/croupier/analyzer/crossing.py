"""Two-way tables of questions that people answered together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.model.estimate import Estimate
from croupier.randomizers.together import TogetherRandomizer

__all__ = ["AnsweredTogether", "TwoWayTable"]


@dataclass(frozen=True, eq=False)
class TwoWayTable:
    """The shares of people who gave each combination of the answers to two questions.

    Attributes:
        questions: The names of the two questions: of the rows, and of the columns.
        rows: The answers to the first.
        columns: The answers to the second.
        estimate: The shares of all people who answered, row by row.
    """

    questions: tuple[str, str]
    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    estimate: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return the table as in JSON: one entry per cell."""
        own, width = self.estimate, len(self.columns)
        return {
            "questions": list(self.questions),
            "confidence": own.confidence,
            "together": own.holds_together,
            "cells": [
                {
                    "values": [self.rows[place // width], self.columns[place % width]],
                    "share": float(own.points[place]),
                    "standard_error": float(own.standard_errors[place]),
                    "interval": [float(own.lower[place]), float(own.upper[place])],
                }
                for place in range(len(own.points))
            ],
        }


@dataclass(frozen=True, eq=False)
class AnsweredTogether:
    """The counts of questions that people answered in one report.

    Attributes:
        names: The name of each question.
        randomizer: The mechanism of the whole report, in the analysed batches.
        tally: The counts of all batches.
        n: The number of reports.
    """

    names: tuple[str, ...]
    randomizer: TogetherRandomizer
    tally: NDArray[np.int64]
    n: int

    def crossing(
        self, pairs: Sequence[tuple[str, str]], *, confidence: float = 0.95, together: bool = False
    ) -> tuple[TwoWayTable, ...]:
        """Estimate a table for each pair of questions.

        Args:
            pairs: Two names of questions each, of the rows and of the columns.
            confidence: The coverage of each interval, or of all together.
            together: True to make all intervals of all tables hold together.

        Raises:
            ParameterError: There is no such question, or no table can be made of it.
        """
        tables = [self._table(*pair, confidence) for pair in pairs]
        if not together:
            return tuple(tables)
        cells = sum(len(table.estimate.points) for table in tables)
        return tuple(
            TwoWayTable(
                table.questions, table.rows, table.columns, table.estimate.simultaneous(cells)
            )
            for table in tables
        )

    def _table(self, first: str, second: str, confidence: float) -> TwoWayTable:
        row, column = self._place(first), self._place(second)
        found = self.randomizer.crossed(
            self.tally, self.n, first=row, second=column, confidence=confidence
        )
        rows, columns = (self.randomizer.crossable[place].domain.labels for place in (row, column))
        return TwoWayTable((first, second), tuple(rows), tuple(columns), found)

    def _place(self, name: str) -> int:
        if name not in self.names:
            known = ", ".join(self.names)
            raise ParameterError("questions", must=f"be among {known}", got=name)
        return self.names.index(name)
