"""The command line; every command is a module that is imported when it is called."""

__all__ = ["main"]


def main() -> None:
    """Run the program."""
    from croupier.cli.app import main as run  # noqa: PLC0415 - commands are imported without it

    run()
