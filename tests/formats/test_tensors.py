"""safetensors."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import save

from format_samples import MATRIX
from lexicode.errors import InputError
from lexicode.formats.reading import read_table


def with_header(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype: str = "F32", shape: object = (1, 2), offsets: object = (0, 8)) -> dict[str, object]:
    return {"t": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtypes(write, dtype):
    data = save({"ids": np.arange(7, dtype=np.int8), "a": MATRIX.astype(dtype), "bias": np.ones(3, dtype=np.float32)})
    table = read_table(write(data))
    np.testing.assert_array_equal(table.matrix, MATRIX)
    assert table.matrix.dtype == dtype
    assert isinstance(table.matrix, np.memmap)


@pytest.mark.parametrize("limit", [None, 3])
def test_bfloat16(write, limit):
    bits = (MATRIX.view(np.uint32) >> 16).astype("<u2").tobytes()
    header = {"t": {"dtype": "BF16", "shape": MATRIX.shape, "data_offsets": [0, len(bits)]}}
    table = read_table(write(with_header(header, bits)), limit=limit)
    np.testing.assert_array_equal(table.matrix, MATRIX[:limit])
    assert table.matrix.dtype == np.float32


def test_several_matrices(write):
    path = write(save({"in": MATRIX, "out": MATRIX[:2]}))
    with pytest.raises(InputError, match=r"does not say which tensor .*: in F32 \(4, 3\), out F32 \(2, 3\)"):
        read_table(path)
    with pytest.raises(InputError, match=r"has no tensor 'up'; .* in F32 \(4, 3\), out F32 \(2, 3\)"):
        read_table(path, tensor="up")
    np.testing.assert_array_equal(read_table(path, tensor="out").matrix, MATRIX[:2])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (save({"a": np.ones(3)}), r"does not say which tensor to read; .*: none$"),
        (save({"a": np.ones((1, 3))})[:-1], r"promises 1 rows of 3 numbers \(24 bytes\) but holds 23 bytes"),
        (with_header(entry(), b"\0" * 8)[:20], r"ends at byte 20, inside the header"),
        (with_header(entry(shape=(10**12, 50), offsets=(0, 10**12 * 200))), r"promises 1000000000000 rows"),
        (with_header(entry(shape=(10**12, 50))), r"gives 8 bytes to the tensor t F32 \(1000000000000, 50\)"),
        (with_header(entry(offsets=(10**15, 10**15 + 8)), b"\0" * 8), r"inside the data before the tensor 't'"),
        (with_header(entry(offsets=(8, 0))), r"gives -8 bytes"),
        (with_header(entry(shape=(0, 2), offsets=(0, 0))), r"holds a matrix of 0 rows and 2 columns"),
        (with_header(entry(shape=(-1, -2))), r"header that makes no sense"),
        (with_header(entry(shape=(1.5, 2))), r"header that makes no sense"),
        (with_header(entry(shape="ab")), r"header that makes no sense"),
        (with_header(entry(offsets=(0, 4, 8))), r"header that makes no sense"),
        (with_header({"t": []}), r"header that makes no sense"),
        (b"\x05\0\0\0\0\0\0\0{{{{{", r"header that makes no sense"),
        (b"\x05\0\0\0\0\0\0\0{\xff\xff\xff\xff", r"header that makes no sense"),
    ],
)
def test_what_is_refused(write, data, sentence):
    path = write(data)
    with pytest.raises(InputError, match=f"^{path}: .*{sentence}"):
        read_table(path)


def test_a_named_tensor_that_is_no_matrix(write):
    with pytest.raises(InputError, match=r"the tensor a is F64 \(3,\); a matrix of F16, BF16, F32 or F64 is expected"):
        read_table(write(save({"a": np.ones(3)})), tensor="a")
