"""Element types."""

from __future__ import annotations

import enum
from typing import Any

from ._native import clib


class DType(enum.IntEnum):
    """The type of a tensor's elements, by the library's names: ``DType.f32``, ``DType("bf16")``."""

    f32 = clib.SHW_DTYPE_F32
    f64 = clib.SHW_DTYPE_F64
    f16 = clib.SHW_DTYPE_F16
    bf16 = clib.SHW_DTYPE_BF16
    i8 = clib.SHW_DTYPE_I8
    i16 = clib.SHW_DTYPE_I16
    i32 = clib.SHW_DTYPE_I32
    i64 = clib.SHW_DTYPE_I64
    u8 = clib.SHW_DTYPE_U8
    bool = clib.SHW_DTYPE_BOOL
    c64 = clib.SHW_DTYPE_C64
    f8e4m3fn = clib.SHW_DTYPE_F8E4M3FN
    f8e5m2 = clib.SHW_DTYPE_F8E5M2

    @classmethod
    def _missing_(cls, value: object) -> DType | None:
        name = str(getattr(value, "name", value)).removeprefix("torch.")
        name = ALIASES.get(name, name)
        return cls.__members__.get(name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    @property
    def itemsize(self) -> int:
        """Number of bytes of an element."""
        return SIZES[self]

    @property
    def format(self) -> str | None:
        """Format character of the struct module; None for bf16, 8-bit floats and c64."""
        return FORMATS.get(self)


ALIASES = {
    "float32": "f32", "float": "f32", "float64": "f64", "double": "f64", "float16": "f16", "half": "f16", "bfloat16": "bf16",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "int": "i64", "long": "i64", "uint8": "u8", "bool_": "bool",
    "complex64": "c64", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2",
}
SIZES = {DType.f32: 4, DType.f64: 8, DType.f16: 2, DType.bf16: 2, DType.i8: 1, DType.i16: 2, DType.i32: 4, DType.i64: 8,
         DType.u8: 1, DType.bool: 1, DType.c64: 8, DType.f8e4m3fn: 1, DType.f8e5m2: 1}
FORMATS = {DType.f32: "f", DType.f64: "d", DType.f16: "e", DType.i8: "b", DType.i16: "h", DType.i32: "i", DType.i64: "q",
           DType.u8: "B", DType.bool: "?"}

DTypeLike = DType | str | object
"""A :class:`DType`, its name, or a dtype of NumPy, JAX or PyTorch."""


def dtype_of(value: DTypeLike) -> DType:
    """The DType for a name, or for a dtype of another library.

    :raises TypeError: there is no such dtype
    """
    if isinstance(value, DType):
        return value
    try:
        name: Any = value.__name__ if isinstance(value, type) else value
        return DType(name)
    except ValueError:
        raise TypeError(f"{value!r} is no dtype; the dtypes are {', '.join(DType.__members__)}") from None
