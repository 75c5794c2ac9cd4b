"""Files with a secret, which nobody but the process that needs them may be able to read."""

import os
from pathlib import Path

__all__ = ["is_open_to_others"]

_OTHERS, _GROUP_READS = 0o077, 0o040
_ROOT = 0


def is_open_to_others(file: Path) -> bool:
    """Tell whether anybody but its owner can use a file.

    A process that is not root may be given a file of root's that one group can read: systemd and
    Kubernetes hand over secrets in this way, because the process must not own them.
    """
    found = file.stat()
    handed_over = found.st_uid == _ROOT and os.geteuid() != _ROOT
    return bool(found.st_mode & (_OTHERS & ~_GROUP_READS if handed_over else _OTHERS))
