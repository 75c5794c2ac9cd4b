"""The cause for which release last refused a hand-over, beside the batch's key; no secret."""

from pathlib import Path

from croupier.protocol import durable

__all__ = ["record_refusal", "refusal"]

_CAUSE = "refused-because"


def record_refusal(keys: Path, batch: bytes, cause: str | None) -> None:
    """Record why the last run refused a hand-over of a batch; None if it did not.

    Args:
        keys: The key directory of release.
        batch: The name of the batch; nothing is recorded once its folder is destroyed.
        cause: The sentence.
    """
    file = _file(keys, batch)
    if cause is None:
        file.unlink(missing_ok=True)
    elif file.parent.is_dir():
        durable.replace(file, cause.encode())


def refusal(keys: Path, batch: bytes) -> str | None:
    """Return why the last run refused a hand-over of a batch; None if it did not."""
    file = _file(keys, batch)
    return file.read_text(errors="replace") if file.is_file() else None


def _file(keys: Path, batch: bytes) -> Path:
    return keys / "batches" / batch.hex() / _CAUSE
