# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of objects that can be neither pickled nor copied deeply, as they hold device arrays."""

from __future__ import annotations

from typing import Any
from typing import TypeVar

_Object = TypeVar('_Object', bound='WithoutDeepCopies')


class WithoutDeepCopies:
    """Base that names the reason, where Warp would raise an error about ``ctypes``.

    Classes of users may define copies of their own.
    """

    def _holds_arrays(self) -> bool:
        """Return True if the object holds arrays of a device."""
        return True

    def __copy__(self: _Object) -> _Object:
        """Return an object that shares all attributes."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Raise TypeError if the object holds arrays of a device."""
        is_ours = type(self).__module__.startswith('ros_ik.')
        if is_ours and self._holds_arrays():
            raise TypeError(
                f'{type(self).__name__} holds arrays of a device and cannot be pickled or '
                'deep-copied; make another one, in each process its own'
            )
        return super().__reduce_ex__(protocol)
