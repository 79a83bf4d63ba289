# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Forms of arrays: of NumPy or Warp, in either number type, a vector alone or in an array."""

import numpy as np
from support.solvers.array_kinds import StandardArray
import warp as wp

TYPES = {
    'float32': (np.float32, wp.float32, wp.vec3, wp.quat, wp.transform, wp.mat44),
    'float64': (np.float64, wp.float64, wp.vec3d, wp.quatd, wp.transformd, wp.mat44d),
}
WIDTHS = {3: 2, 4: 3, 7: 4}  # where the type of a vector stands in a row of TYPES


class Form:
    """One form of array, with which a case makes its arguments."""

    def __init__(self, scalar, is_warp, in_array=False):
        self.types, self.is_warp, self.in_array = TYPES[scalar], is_warp, in_array

    def array(self, values):
        """Return an array of numbers."""
        values = np.asarray(values, dtype=self.types[0])
        if not self.is_warp:
            return values
        return wp.array(values, dtype=self.types[1], device='cpu')

    def vectors(self, rows):
        """Return an array of vectors, quaternions or transforms, by the width of the rows."""
        rows = np.asarray(rows, dtype=self.types[0])
        if not self.is_warp:
            return rows
        return wp.array(rows, dtype=self.types[WIDTHS[rows.shape[-1]]], device='cpu')

    def vector(self, values):
        """Return one vector, quaternion, transform or matrix, alone or as an array of itself."""
        values = np.asarray(values, dtype=self.types[0])
        if not self.is_warp:
            return values
        kind = self.types[5 if values.ndim == 2 else WIDTHS[len(values)]]
        if self.in_array:
            return wp.array(values[None], dtype=kind, device='cpu')
        return kind(*map(float, values.ravel()))

    def indices(self, values):
        """Return an array of integers."""
        values = np.asarray(values, dtype=np.int32)
        return wp.array(values, dtype=wp.int32, device='cpu') if self.is_warp else values


class StandardForm(Form):
    """Arrays in float64 with DLPack alone."""

    def __init__(self):
        super().__init__('float64', False)

    def array(self, values):
        return StandardArray(super().array(values))

    def vectors(self, rows):
        return StandardArray(super().vectors(rows))

    def vector(self, values):
        return StandardArray(super().vector(values))

    def indices(self, values):
        return StandardArray(super().indices(values))


class FarForm(Form):
    """Warp arrays in float64, some of which are on another device.

    Attributes:
        count: Number of arrays made.
    """

    def __init__(self, memory, places):
        super().__init__('float64', True, in_array=True)
        self.memory, self.places, self.count = memory, places, 0

    def array(self, values):
        return self._placed(super().array(values))

    def vectors(self, rows):
        return self._placed(super().vectors(rows))

    def vector(self, values):
        return self._placed(super().vector(values))

    def indices(self, values):
        return self._placed(super().indices(values))

    def _placed(self, array):
        self.count += 1
        is_far = self.count - 1 in self.places
        return self.memory.array(array.numpy(), array.dtype) if is_far else array
