"""What every command with --plot does before its work and after it."""

from pathlib import Path

from croupier.cli.output.terminal import out
from croupier.documents.plots.figure import plottable

__all__ = ["require_plottable", "say_drawn"]


def require_plottable(plot: Path | None) -> None:
    """Refuse a plot that could not be saved, before the work."""
    if plot is not None:
        plottable(plot)


def say_drawn(plot: Path | None) -> None:
    """Say which file was drawn, if one was asked for."""
    if plot is not None:
        out.print(f"Drew {plot}")
