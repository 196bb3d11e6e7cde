"""Tensors in files of the safetensors format."""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._tensor import Tensor
from .dtypes import DType

if TYPE_CHECKING:
    from .plan import Plan

NAMES = {"F64": DType.f64, "F32": DType.f32, "F16": DType.f16, "BF16": DType.bf16, "I64": DType.i64, "I32": DType.i32, "I16": DType.i16,
         "I8": DType.i8, "U8": DType.u8, "BOOL": DType.bool, "C64": DType.c64, "F8_E4M3": DType.f8e4m3fn, "F8_E5M2": DType.f8e5m2}


def load_tensors(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """The tensors of a safetensors file, by name. The file is mapped into memory, so a tensor is read only when it is used.

    :raises DataLoss: the file is damaged, or is not a safetensors file
    :raises Unimplemented: a tensor has a dtype that the library does not have
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size > 0 else b""
    return parse_tensors(memoryview(data), os.fspath(path))


def parse_tensors(data: memoryview, what: str) -> dict[str, Tensor]:
    """The tensors in the bytes of a safetensors file. They share the memory of the bytes."""
    from .errors import DataLoss

    size = len(data)
    if size < 8:
        raise DataLoss(f"{what}: {size} bytes are no safetensors file")
    (length,) = struct.unpack("<Q", data[:8])
    try:
        header = json.loads(bytes(data[8:8 + length])) if length <= size - 8 else None
        rows = {name: row for name, row in header.items() if name != "__metadata__"}  # type: ignore[union-attr]
        return {name: _tensor(name, row, data[8 + length:]) for name, row in rows.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataLoss(f"{what}: no safetensors file: {error}") from None


def _tensor(name: str, row: Mapping[str, Any], data: memoryview) -> Tensor:
    from .errors import Unimplemented

    if row["dtype"] not in NAMES:
        raise Unimplemented(f"{name}: dtype {row['dtype']}")
    begin, end = row["data_offsets"]
    if not 0 <= begin <= end <= len(data):
        raise ValueError(f"{name} lies beyond the end of the file")
    made: Tensor = Tensor._from_bytes(data[begin:end], NAMES[row["dtype"]], row["shape"])
    return made


def match(plan: Plan, numbers: Any, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a file that these ports take, by port name. A port without a name, such as ``input.0``, takes the tensor at its position among
    the file's tensors ``input.*``, sorted by name. Complex numbers are stored as pairs in the last dim."""
    found = {}
    for number in numbers:
        port = plan.ports[number]
        name = port["name"]
        kind, _, position = name.partition(".")
        given = tensors.get(name)
        if given is None and position.isdigit():
            alike = sorted(other for other in tensors if other.startswith(kind + "."))
            given = tensors[alike[int(position)]] if int(position) < len(alike) else None
        if given is None:
            continue
        if port["dtype"] is DType.c64 and given.dtype is DType.f32:
            given = Tensor._from_bytes(given, DType.c64, given.shape[:-1])
        found[name] = given
    return found
