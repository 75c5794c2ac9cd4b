"""The array library, imported when it is first used: randomising one value does without it."""

import sys
from typing import TYPE_CHECKING, Any

from croupier.errors import MissingExtraError

__all__ = ["is_array", "is_scalar", "np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """The names of numpy, each looked up once."""

        def __getattr__(self, name: str) -> Any:
            try:
                import numpy  # noqa: ICN001, PLC0415 - here is where it is first used
            except ImportError:
                feature = "Working on arrays"
                raise MissingExtraError(feature, package="numpy", extra="arrays") from None
            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _Numpy()


def is_array(value: Any) -> bool:
    """Tell if a value is an array, without importing the library to find out.

    >>> is_array([1, 2]), is_array(np.array([1, 2]))
    (False, True)
    """
    return sys.modules.get("numpy") is not None and isinstance(value, np.ndarray)


def is_scalar(value: Any) -> bool:
    """Tell if a value is an entry of an array, likewise.

    >>> is_scalar(1), is_scalar(np.int64(1))
    (False, True)
    """
    return sys.modules.get("numpy") is not None and isinstance(value, np.generic)
