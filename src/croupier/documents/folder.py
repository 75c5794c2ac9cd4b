"""Where a file is to go."""

from pathlib import Path

from croupier.errors import ParameterError

__all__ = ["require_folder"]


def require_folder(parameter: str, file: Path) -> None:
    """Refuse a file whose folder is not there. Ask before a computation of minutes."""
    folder = file.parent
    if not folder.is_dir():
        must = "be in a folder that exists"
        raise ParameterError(parameter, must=must, got=str(file), hint=f"Try mkdir -p {folder}.")
