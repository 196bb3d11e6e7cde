"""Converts between numbers and bits, for dtypes that the struct module does not have."""

from __future__ import annotations

import bisect
import math
import struct
from collections.abc import Sequence

from .dtypes import DType

# Unsigned integers of as many bits, as struct, NumPy and PyTorch call them, and the type's name there.
UNSIGNED = {DType.bf16: ("H", "uint16"), DType.f8e4m3fn: ("B", "uint8"), DType.f8e5m2: ("B", "uint8")}
NAMES = {DType.bf16: "bfloat16", DType.f8e4m3fn: "float8_e4m3fn", DType.f8e5m2: "float8_e5m2"}
DTYPES = {name: dtype for dtype, name in NAMES.items()}


def _magnitudes(mantissa: int, bias: int) -> list[float]:
    """The numbers of the 128 patterns without a sign, as if none were infinity or NaN: ascending."""
    def number(bits: int) -> float:
        exponent, fraction = bits >> mantissa, bits & ((1 << mantissa) - 1)
        return math.ldexp(fraction + (exponent > 0) * (1 << mantissa), max(exponent, 1) - bias - mantissa)

    return [number(bits) for bits in range(128)]


# The numbers; the pattern of what is too large; the pattern of NaN.
FLOAT8 = {DType.f8e4m3fn: (_magnitudes(3, 7), 0x7F, 0x7F), DType.f8e5m2: (_magnitudes(2, 15), 0x7C, 0x7F)}


def to_bits(number: float, dtype: DType) -> int:
    """The bits of a number, rounded to the nearest, ties to even. 8-bit floats do not saturate."""
    if dtype is DType.bf16:
        bits: int = struct.unpack("<I", struct.pack("<f", number))[0]
        if bits & 0x7FFFFFFF > 0x7F800000:
            return (bits >> 16) | 0x40  # NaN stays NaN
        return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    numbers, beyond, nan = FLOAT8[dtype]
    sign, x = (0x80 if math.copysign(1, number) < 0 else 0), abs(number)
    if x != x:
        return sign | nan
    if x >= numbers[beyond]:
        return sign | beyond
    above = bisect.bisect_left(numbers, x)
    below = max(above - 1, 0)
    far, near = numbers[above] - x, x - numbers[below]
    return sign | (above if far < near or (far == near and above % 2 == 0) else below)


def numbers_of(data: bytes, dtype: DType) -> list[float]:
    """The numbers with these bits."""
    patterns: tuple[int, ...] = struct.unpack(f"<{len(data) // dtype.itemsize}{UNSIGNED[dtype][0]}", data)
    if dtype is DType.bf16:
        return [struct.unpack("<f", struct.pack("<I", bits << 16))[0] for bits in patterns]
    return [_number(bits, dtype) for bits in patterns]


def _number(bits: int, dtype: DType) -> float:
    numbers, beyond, nan = FLOAT8[dtype]
    magnitude = bits & 0x7F
    special = math.inf if magnitude == beyond and beyond != nan else math.nan
    return math.copysign(special if magnitude >= beyond else numbers[magnitude], -1 if bits & 0x80 else 1)


def packed(numbers: Sequence[float], dtype: DType) -> bytes:
    """The bits of all numbers, one after another."""
    return struct.pack(f"<{len(numbers)}{UNSIGNED[dtype][0]}", *(to_bits(float(n), dtype) for n in numbers))
