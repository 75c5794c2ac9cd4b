"""The version of the schema: which migrations a database has, and which this version knows.

Migrations go forward only, and only add: tables, columns that may be empty, functions, new bodies
of functions. Processes of the version before therefore work on while a newer one migrates, so hosts
can be replaced one after the other. They are refused when they start: a version must not start on
tables that it does not know.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from croupier.errors import CroupierError

__all__ = ["Migrations", "NewerSchemaError", "OlderSchemaError"]


class NewerSchemaError(CroupierError):
    """The database has migrations that this version does not know.

    Attributes:
        unknown: Their names.
    """

    def __init__(self, unknown: Iterable[str]) -> None:
        self.unknown = sorted(unknown)
        super().__init__(
            f"A newer version of croupier has migrated the database ({', '.join(self.unknown)}). "
            "Install that version or a later one here; nothing was changed. Workers of this "
            "version that are running may go on until they are replaced."
        )


class OlderSchemaError(CroupierError):
    """The database lacks migrations of this version.

    Attributes:
        missing: Their names.
    """

    def __init__(self, missing: Iterable[str]) -> None:
        self.missing = sorted(missing)
        super().__init__(
            f"The database has the tables of an older version of croupier, without "
            f"{', '.join(self.missing)}. Run croupier release or croupier serve once: they migrate "
            "it."
        )


@dataclass(frozen=True)
class Migrations:
    """The changes that made the tables of one party.

    Attributes:
        folder: The folder of the scripts; they are applied in the order of their names.
        schema: The schema of the tables.
        lock: The advisory lock under which one process at a time migrates.
    """

    folder: Traversable
    schema: str
    lock: int

    @property
    def is_prepared(self) -> str:
        """The query whether a database has the tables."""
        return f"SELECT to_regclass('{self.schema}.migrations') IS NOT NULL"

    @property
    def applied(self) -> str:
        """The query for the migrations that a database has."""
        return f"SELECT name FROM {self.schema}.migrations"  # noqa: S608 - a constant

    @property
    def apply(self) -> str:
        """The statement that records a migration as applied."""
        return f"INSERT INTO {self.schema}.migrations VALUES (%s)"  # noqa: S608 - a constant

    def pending(self, done: Iterable[str]) -> list[str]:
        """Return the migrations that a database lacks, in order.

        Args:
            done: The names of those that it has.

        Raises:
            NewerSchemaError: It has others than this version knows.
        """
        known = {each.name for each in self.folder.iterdir() if each.name.endswith(".sql")}
        applied = set(done)
        if applied - known:
            raise NewerSchemaError(applied - known)
        return sorted(known - applied)

    def script(self, name: str) -> bytes:
        """Return the statements of a migration."""
        return (self.folder / name).read_bytes()
