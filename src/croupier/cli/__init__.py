"""The command line, one file a command."""

from croupier.cli.app import main

__all__ = ["main"]
