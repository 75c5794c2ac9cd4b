"""The tables of the shuffler, by the migrations that made them."""

from importlib.resources import files

from croupier.hosting.database.migrations import Migrations

__all__ = ["MIGRATIONS"]

MIGRATIONS = Migrations(
    folder=files("croupier.shuffler.database") / "migrations",
    schema="croupier",
    lock=0x63726F7570696572,  # "croupier" in ASCII
)
