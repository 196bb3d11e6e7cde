"""Tensors in host memory, exchanged with other libraries without copies."""

from __future__ import annotations

import array
import struct
from collections.abc import Sequence
from typing import Any, TypeGuard

from . import _bits
from ._native import clib
from .dtypes import DType, DTypeLike, dtype_of


class Tensor(clib._clib.TensorBase):  # type: ignore[misc]
    """A tensor in host memory: a result of a run, or a view of another library's tensor.

    It has ``shape`` and ``strides`` (tuples of int, in elements), ``dtype``, ``nbytes`` and ``readonly``. Other libraries can use its memory
    without a copy, by the buffer protocol (``memoryview(t)``, ``numpy.asarray(t)``) and by DLPack 1.x (``torch.from_dlpack(t)``,
    ``jax.dlpack.from_dlpack(t)``, ``numpy.from_dlpack(t)``). The memory is freed when nothing uses it any more.
    """

    __slots__ = ()

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    nbytes: int
    readonly: bool
    address: int

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return DType(self._dtype)

    @property
    def ndim(self) -> int:
        """Number of dims."""
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without dims has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        sizes = ",".join(map(str, self.shape))
        few = f" {self.tolist()!r}" if self.nbytes <= 64 else ""
        return f"<shardwise.Tensor {self.dtype}[{sizes}]{few}>"

    # ---- To others ----

    def __dlpack__(self, *, stream: object = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """A DLPack capsule; version 1.x if ``max_version`` allows it.

        :raises BufferError: the caller requests a copy or another device, or the tensor is read-only and the version is 0
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the tensor is in host memory, not on DLPack device {dl_device}")
        if copy:
            raise BufferError("a copy by DLPack is not offered: copy the result")
        return self._to_dlpack(max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def numpy(self) -> Any:
        """The tensor as a NumPy array on the same memory. For bf16 and 8-bit floats, ``ml_dtypes`` must be installed.

        :raises ImportError: NumPy is not installed; or, for bf16 and 8-bit floats, ml_dtypes
        """
        import numpy

        if self.dtype not in _bits.NAMES:
            return numpy.asarray(memoryview(self))
        import ml_dtypes

        return numpy.asarray(_ArrayInterface(self)).view(getattr(ml_dtypes, _bits.NAMES[self.dtype]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        made = self.numpy()
        if dtype is not None and made.dtype != dtype:
            return made.astype(dtype)
        return made.copy() if copy else made

    def tolist(self) -> Any:
        """The elements as nested lists; a single number for a tensor without dims."""
        if self.dtype in _bits.NAMES:
            flat: list[Any] = _bits.numbers_of(self.tobytes(), self.dtype)
        elif self.dtype is DType.c64:
            pairs = memoryview(self.tobytes()).cast("f")
            flat = [complex(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)]
        elif self.dtype is DType.f16:
            flat = list(struct.unpack(f"<{self.nbytes // 2}e", self.tobytes()))
        else:
            return memoryview(self).tolist()
        return _nest(flat, self.shape)

    def item(self) -> Any:
        """The only element of the tensor, as a number.

        :raises ValueError: the tensor does not have exactly one element
        """
        found = self.tolist()
        for size in self.shape:
            if size != 1:
                raise ValueError(f"a tensor of the shape {self.shape} is not a single number")
            found = found[0]
        return found

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())


class _ArrayInterface:
    """A tensor whose dtype NumPy does not have, for NumPy: as unsigned integers on the same memory."""

    def __init__(self, owner: Tensor) -> None:
        self.owner = owner
        size = owner.dtype.itemsize
        self.__array_interface__ = {"version": 3, "typestr": f"<u{size}", "shape": owner.shape, "data": (owner.address, owner.readonly),
                                    "strides": tuple(size * step for step in owner.strides)}


def _nest(flat: list[Any], shape: Sequence[int]) -> Any:
    if not shape:
        return flat[0]
    for size in reversed(shape[1:]):
        flat = [flat[i:i + size] for i in range(0, len(flat), size)] if size else []
    return flat


# ---- From others -------------------------------------------------------------------------------------------


def tensor(source: Any, dtype: DTypeLike | None = None) -> Tensor:
    """A tensor on the memory of `source`, without a copy if `source` exports its memory.

    :param source: a tensor of NumPy, PyTorch, JAX or any library with DLPack; an object with the buffer protocol; or a number or nested lists
        of numbers, which are copied
    :param dtype: the dtype that the elements must have. Numbers and lists are converted to it (default f32, i64 or bool). With bf16 or an
        8-bit float, an array or tensor of unsigned integers of the same width is read as the bits of such numbers
    :raises TypeError: the elements have another dtype, or one that the library does not have
    :raises ValueError: a stride is negative or not a multiple of the element's size, or the memory is not the CPU's
    """
    wanted = None if dtype is None else dtype_of(dtype)
    if isinstance(source, Tensor):
        return _checked(source, wanted, "tensor")
    bits = _ml_dtype(source)
    if bits is not None:
        source = source.view(_bits.UNSIGNED[bits][1])
    elif wanted in _bits.NAMES:
        bits = wanted
    try:
        view = memoryview(source)
    except (TypeError, ValueError, BufferError):
        return _foreign(source, wanted, "tensor", bits)
    del view
    made: Tensor = Tensor._from_buffer(source, wanted or 0, "tensor", bits or 0)
    return made


def from_dlpack(source: Any) -> Tensor:
    """A tensor on the memory of another library's tensor, by DLPack, without a copy.

    :raises TypeError: `source` has no ``__dlpack__``, or its elements have a type that the library does not have
    :raises ValueError: the memory is not the CPU's, or a stride is negative
    :raises BufferError: `source` does not export its memory
    """
    try:
        capsule = source.__dlpack__(max_version=(1, 1))
    except TypeError:  # from before DLPack 1.0
        capsule = source.__dlpack__()
    except AttributeError:
        raise TypeError(f"{type(source).__name__} has no __dlpack__") from None
    made: Tensor = Tensor._from_dlpack(capsule)
    return made


def adapt(source: Any, dtype: int, name: str) -> Tensor:
    """Converts an input of a run that is neither a Tensor nor exports a buffer with a format."""
    return _foreign(source, DType(dtype), name)


def _foreign(source: Any, wanted: DType | None, name: str, bits: DType | None = None) -> Tensor:
    if _is_number_or_list(source):
        return _from_numbers(source, wanted, name)
    if (own := _ml_dtype(source)) is not None:
        made: Tensor = Tensor._from_buffer(source.view(_bits.UNSIGNED[own][1]), wanted or 0, name, own)
        return made
    if hasattr(source, "__dlpack__"):
        if getattr(source, "requires_grad", False):
            source = source.detach()
        if (own := _torch_float8(source)) is not None:
            import torch

            source, bits = source.view(torch.uint8), own
        made = from_dlpack(source)
        if bits is not None and made.dtype.name == f"u{8 * bits.itemsize}":
            made = Tensor._from_buffer(made, 0, name, bits)
        return _checked(made, wanted, name)
    raise TypeError(f"{name}: {type(source).__name__} has neither the buffer protocol nor __dlpack__")


def _checked(made: Tensor, wanted: DType | None, name: str) -> Tensor:
    if wanted is not None and made.dtype is not wanted:
        raise TypeError(f"{name}: expected {wanted}, not {made.dtype}")
    return made


def _ml_dtype(source: Any) -> DType | None:
    """The dtype of an array of ml_dtypes that NumPy has no format for."""
    if type(source).__module__ != "numpy":
        return None
    return _bits.DTYPES.get(getattr(getattr(source, "dtype", None), "name", ""))


def _torch_float8(source: Any) -> DType | None:
    """The dtype of a tensor of PyTorch in 8-bit floats, which not every version gives to DLPack."""
    if not type(source).__module__.startswith("torch"):
        return None
    dtype = _bits.DTYPES.get(str(source.dtype).removeprefix("torch."))
    return None if dtype is DType.bf16 else dtype


# ---- Numbers and lists ----


def _is_number_or_list(source: Any) -> TypeGuard[int | float | complex | Sequence[Any]]:
    return isinstance(source, (bool, int, float, complex, list, tuple))


def _shape_of(source: Any) -> tuple[int, ...]:
    if not isinstance(source, (list, tuple)):
        return ()
    shapes = {_shape_of(item) for item in source}
    if len(shapes) > 1:
        raise ValueError("the lists have different lengths")
    return (len(source), *(shapes.pop() if shapes else ()))


def _flatten(source: Any) -> list[Any]:
    if not isinstance(source, (list, tuple)):
        return [source]
    return [number for item in source for number in _flatten(item)]


def _default_dtype(flat: list[Any]) -> DType:
    if any(isinstance(n, complex) for n in flat):
        return DType.c64
    if any(isinstance(n, float) for n in flat) or not flat:
        return DType.f32
    return DType.bool if all(isinstance(n, bool) for n in flat) else DType.i64


def _from_numbers(source: Any, wanted: DType | None, name: str) -> Tensor:
    shape, flat = _shape_of(source), _flatten(source)
    dtype = wanted or _default_dtype(flat)
    try:
        if dtype in _bits.NAMES:
            data = _bits.packed(flat, dtype)
        elif dtype is DType.c64:
            data = struct.pack(f"<{2 * len(flat)}f", *(part for n in flat for part in (complex(n).real, complex(n).imag)))
        else:
            data = struct.pack(f"<{len(flat)}{dtype.format}", *flat)
    except (struct.error, TypeError, OverflowError) as error:
        raise TypeError(f"{name}: these numbers are no {dtype}: {error}") from None
    made: Tensor = Tensor._from_bytes(array.array("B", data), dtype, shape)
    return made


Tensor._set_class(Tensor, adapt)
