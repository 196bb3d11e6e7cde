"""Tensors in and out, without copies."""

import gc
import hashlib
import weakref

import ml_dtypes
import numpy as np
import pytest

import shardwise as sw

NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "bool": np.bool_, "c64": np.complex64}


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_in_and_out_is_the_same_memory(name):
    source = np.arange(6).reshape(2, 3).astype(NUMPY[name])
    made = sw.tensor(source)
    assert (made.shape, made.strides, made.dtype, made.nbytes) == ((2, 3), (3, 1), sw.DType(name), source.nbytes)
    assert made.address == source.ctypes.data and made.ndim == 2 and len(made) == 2
    back = np.asarray(made)
    assert back.ctypes.data == source.ctypes.data and back.dtype == source.dtype
    by_dlpack = np.from_dlpack(made)
    assert by_dlpack.ctypes.data == source.ctypes.data and by_dlpack.dtype == source.dtype
    assert sw.from_dlpack(source).address == source.ctypes.data
    assert made.tolist() == source.tolist()


def test_bf16_in_and_out_is_the_same_memory():
    source = np.array([[1.5, -2, 3]], ml_dtypes.bfloat16)
    made = sw.tensor(source)
    assert made.dtype is sw.DType.bf16 and made.address == source.ctypes.data and made.tolist() == [[1.5, -2, 3]]
    back = made.numpy()
    assert back.dtype == ml_dtypes.bfloat16 and back.ctypes.data == source.ctypes.data
    through = sw.from_dlpack(made)  # NumPy has no bf16 in DLPack: our own two ends
    assert through.dtype is sw.DType.bf16 and through.address == source.ctypes.data
    assert sw.tensor(source.view(np.uint16), "bf16").tolist() == [[1.5, -2, 3]]
    assert sw.tensor(source.T, "bf16").shape == (3, 1) and sw.tensor(source[:, ::2]).tolist() == [[1.5, 3]]
    with pytest.raises(BufferError, match="bf16 has no format"):
        memoryview(made)
    with pytest.raises(TypeError, match="format 'H'"):
        sw.tensor(source.view(np.uint16))
    assert sw.tensor([1.0, 1.00390625, 1.01171875, float("inf"), float("nan")], "bf16").numpy().tobytes() == np.array(
        [1.0, 1.00390625, 1.01171875, np.inf, np.nan], ml_dtypes.bfloat16).tobytes()


FLOAT8 = {"f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}


@pytest.mark.parametrize("name", FLOAT8)
def test_float8_in_and_out_is_the_same_memory(name):
    patterns = np.arange(256, dtype=np.uint8).reshape(16, 16)
    source = patterns.view(FLOAT8[name])
    made = sw.tensor(source)
    assert made.dtype is sw.DType(name) and made.address == source.ctypes.data and made.dtype.itemsize == 1
    np.testing.assert_array_equal(np.array(made.tolist()), source.astype(float))
    back = made.numpy()
    assert back.dtype == FLOAT8[name] and back.ctypes.data == source.ctypes.data
    through = sw.from_dlpack(made)
    assert through.dtype is sw.DType(name) and through.address == source.ctypes.data
    assert sw.tensor(patterns, name).address == patterns.ctypes.data and sw.tensor(patterns).dtype is sw.DType.u8
    assert sw.tensor(OnlyDlpack(patterns), name).dtype is sw.DType(name)
    with pytest.raises(BufferError, match=f"{name} has no format"):
        memoryview(made)
    with pytest.raises(TypeError, match="expected bf16, not f8"):
        sw.tensor(source, "bf16")


@pytest.mark.parametrize("name", FLOAT8)
def test_numbers_are_rounded_to_float8(name):
    wide = [m * 2.0**e * sign for e in range(-20, 18) for m in (1, 1.03125, 1.0625, 1.125, 1.1875, 1.25, 1.4375, 1.96875) for sign in (1, -1)]
    wide += [0.0, -0.0, float("inf"), float("-inf"), float("nan")]
    made = np.frombuffer(sw.tensor(wide, name).tobytes(), np.uint8)
    want = np.array(wide, np.float32).astype(FLOAT8[name])
    numbers = ~np.isnan(np.array(wide))
    np.testing.assert_array_equal(made[numbers], want.view(np.uint8)[numbers])
    assert np.isnan(made.view(FLOAT8[name])[-1].astype(float))
    assert sw.DType(str(want.dtype)) is sw.DType(name) and sw.DType("torch." + str(want.dtype)) is sw.DType(name)


class OnlyDlpack:
    """A producer without the buffer protocol."""

    def __init__(self, value):
        self.value = value

    def __dlpack__(self, **options):
        return self.value.__dlpack__(**options)


class Legacy:
    """A producer from before DLPack 1.0."""

    def __init__(self, made):
        self.made = made

    def __dlpack__(self, stream=None):
        return self.made.__dlpack__()


def test_dlpack_of_both_ages():
    source = np.arange(4, dtype=np.float32)
    made = sw.tensor(source)
    assert "dltensor_versioned" in repr(made.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(made.__dlpack__())
    assert sw.from_dlpack(Legacy(made)).address == source.ctypes.data
    capsule = made.__dlpack__(max_version=(1, 1))
    sw.Tensor._from_dlpack(capsule)
    with pytest.raises(TypeError, match="used before"):
        sw.Tensor._from_dlpack(capsule)
    for refused in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            made.__dlpack__(**refused)
    assert made.__dlpack_device__() == (1, 0)
    with pytest.raises(TypeError, match="no __dlpack__"):
        sw.from_dlpack(3)


@pytest.mark.parametrize("way", [memoryview, np.asarray, np.from_dlpack, sw.from_dlpack])
def test_memory_lives_as_long_as_it_is_used(way):
    source = np.arange(1000, dtype=np.float32)
    made = sw.tensor(source)
    gone = weakref.ref(source)
    view = way(made)
    del source, made
    gc.collect()
    assert gone() is not None and np.asarray(view)[999] == 999
    del view
    gc.collect()
    assert gone() is None


def test_an_unused_capsule_frees_its_tensor():
    source = np.arange(10, dtype=np.float32)
    gone = weakref.ref(source)
    for version in (None, (1, 0)):
        sw.tensor(source).__dlpack__(max_version=version)
    del source
    gc.collect()
    assert gone() is None


def test_read_only_stays_read_only():
    source = np.arange(4, dtype=np.float32)
    source.flags.writeable = False
    made = sw.tensor(source)
    assert made.readonly and memoryview(made).readonly and not np.asarray(made).flags.writeable
    assert not np.from_dlpack(made).flags.writeable and sw.from_dlpack(made).readonly
    with pytest.raises(BufferError, match="read-only"):
        made.__dlpack__()
    assert sw.tensor(b"abc").readonly and sw.tensor(b"abc").dtype is sw.DType.u8


def test_strides():
    source = np.arange(24, dtype=np.float32).reshape(4, 6)
    made = sw.tensor(source[::2, 1:4])
    assert (made.shape, made.strides) == ((2, 3), (12, 1)) and np.array_equal(np.asarray(made), source[::2, 1:4])
    assert np.array_equal(np.from_dlpack(made), source[::2, 1:4])
    assert sw.tensor(np.broadcast_to(np.float32(3), (2, 2))).tolist() == [[3, 3], [3, 3]]
    with pytest.raises(ValueError, match="stride of dim 0 is -24 bytes"):
        sw.tensor(source[::-1])
    record = np.zeros(3, np.dtype([("a", np.float32), ("b", np.int8)]))
    with pytest.raises(ValueError, match="stride of dim 0 is 5 bytes"):
        sw.tensor(record["a"])
    with pytest.raises(ValueError, match="negative stride"):
        sw.from_dlpack(source[::-1])
    with pytest.raises(BufferError, match="strides"):
        hashlib.sha256(made)  # asks for memory without gaps


@pytest.mark.parametrize(("source", "dtype", "error", "message"), [
    (np.zeros(2, np.uint32), None, TypeError, "format 'I' of 4 bytes"),
    (np.zeros(2, ">f4"), None, TypeError, "format '>f'"),
    (np.zeros(2, np.complex128), None, TypeError, "Zd"),
    (np.zeros(2, np.float64), "f32", TypeError, "expected f32, not f64"),
    (np.zeros(2, object), None, TypeError, "format 'O'"),
    (np.zeros((1,) * 9, np.float32), None, ValueError, "9 dims"),
    (object(), None, TypeError, "neither the buffer protocol nor __dlpack__"),
    ("text", None, TypeError, "str has neither"),
    ([[1, 2], [3]], None, ValueError, "different lengths"),
    ([1.5], "i32", TypeError, "these numbers are no i32"),
    ([300], "u8", TypeError, "these numbers are no u8"),
    (sw.tensor([1.0]), "f64", TypeError, "expected f64, not f32"),
])
def test_what_is_no_tensor_is_refused(source, dtype, error, message):
    with pytest.raises(error, match=message):
        sw.tensor(source, dtype)


def test_numbers_and_lists():
    assert sw.tensor([[1, 2], [3, 4]]).dtype is sw.DType.i64 and sw.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert sw.tensor(2.5).item() == 2.5 and float(sw.tensor([[2.5]])) == 2.5 and int(sw.tensor(7)) == 7
    assert sw.tensor([True, False]).dtype is sw.DType.bool and sw.tensor([1 + 2j]).tolist() == [1 + 2j]
    assert sw.tensor([0.5], "f16").tolist() == [0.5] and sw.tensor([], "f32").shape == (0,)
    assert repr(sw.tensor([1, 2])) == "<shardwise.Tensor i64[2] [1, 2]>"
    with pytest.raises(ValueError, match="not a single number"):
        sw.tensor([1, 2]).item()
    with pytest.raises(TypeError):
        sw.Tensor()
