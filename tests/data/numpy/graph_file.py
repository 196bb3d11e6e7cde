"""Writes the files of make_ops.py and make_models.py: a graph in text form, its inputs, and NumPy's results."""
import json, struct
import numpy as np

DTYPES = {np.dtype("float32"): ("f32", "F32"), np.dtype("int64"): ("i64", "I64"), np.dtype("int32"): ("i32", "I32"),
          np.dtype("bool"): ("bool", "BOOL")}


def stored(a):
    a = np.asarray(a)
    return np.ascontiguousarray(a.astype(np.float32) if a.dtype == np.float64 else a).reshape(a.shape)


def type_of(a):
    return f"{DTYPES[a.dtype][0]}[{','.join(map(str, a.shape))}]"


def text(v):
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(map(str, v)) + "]"
    return f'"{v}"' if isinstance(v, str) and not v.startswith("!") else str(v).lstrip("!")


class GraphFile:
    def __init__(self):
        self.lines, self.results, self.tensors = [], [], {}

    def given(self, name, a, kind="input"):
        """Adds an input, stored as float32. The computation uses the stored value in float64."""
        a = stored(a)
        self.tensors[f"{kind}.{name}"] = a
        self.lines.append(f"input {kind}.{name}: %{name} : {type_of(a)}")
        return a.astype(np.float64) if a.dtype == np.float32 else a

    def node(self, name, kind, operands, *wants, strides=None, **attrs):
        """One node; `wants`: what NumPy says of its results. A view gives its strides. Operands: names separated by commas,
        empty for an absent one. Gives the first of `wants`."""
        kept = [stored(w) for w in wants]
        args = ", ".join([f"%{o}" if o else "none" for o in operands.split(",")] if operands else [])
        args += "".join(f"{', ' if args or i else ''}{k}={text(v)}" for i, (k, v) in enumerate(attrs.items()))
        types = [type_of(w) + (f"{{{','.join(map(str, strides))}}}" if strides else "") for w in kept]
        self.lines.append(f"%{name} = {kind}({args}) : " + (f"({', '.join(types)})" if len(kept) > 1 else types[0]))
        for i, type_ in enumerate(types if len(kept) > 1 else []):
            self.lines.append(f"%{name}_{i} = get_item(%{name}, index={i}) : {type_}")
        return wants[0]

    def result(self, name, want):
        self.results.append(name)
        self.tensors[f"output.{name}"] = stored(want)

    def write(self, path, maker):
        returned = ", ".join(f"output.{name} = %{name}" for name in self.results)
        with open(path + ".swt", "w") as f:
            f.write(f"// Made by {maker}: see there.\n" + "\n".join(self.lines) + f"\nreturn {returned}\n")
        header, data = {}, b""
        for name, a in self.tensors.items():
            header[name] = {"dtype": DTYPES[a.dtype][1], "shape": list(a.shape), "data_offsets": [len(data), len(data) + a.nbytes]}
            data += a.tobytes()
        head = json.dumps(header).encode()
        head += b" " * (-len(head) % 8)
        with open(path + ".safetensors", "wb") as f:
            f.write(struct.pack("<Q", len(head)) + head + data)
