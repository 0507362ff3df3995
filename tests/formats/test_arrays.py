"""`.npy` and `.npz`."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from format_samples import MATRIX, WORDS, as_npy, as_npz, as_zip, utf8
from lexicode.errors import InputError
from lexicode.formats.reading import read_table


def npy_with_header(header: bytes, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def npy_of_shape(shape: str, kind: str = "<f4") -> bytes:
    return npy_with_header(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}".encode(), b"\0" * 8)


@pytest.mark.parametrize("dtype", ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_dtypes_orders_and_versions(write, dtype, order, version):
    buffer = io.BytesIO()
    array = np.array(MATRIX, dtype=dtype, order=order)
    np.lib.format.write_array(buffer, array, version=version)
    np.testing.assert_array_equal(read_table(write(buffer.getvalue())).matrix, MATRIX)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (as_npy(np.arange(6).reshape(2, 3)), r"holds numbers of type '<i8'; float16, float32 or float64 is expected"),
        (as_npy(np.array([[None]])), r"holds Python objects, which only unpickling could read"),
        (as_npy(np.ones(3)), r"holds an array of shape \(3,\); a matrix"),
        (as_npy(np.ones((2, 2, 2))), r"holds an array of shape \(2, 2, 2\); a matrix"),
        (as_npy(np.ones((0, 3))), r"holds a matrix of 0 rows and 3 columns; at least one of each"),
        (as_npy(np.ones((3, 0))), r"holds a matrix of 3 rows and 0 columns; at least one of each"),
        (as_npy(np.ones(2, dtype=[("a", "f4"), ("b", "f4")])), r"holds records of several fields"),
        (as_npy(np.ones((2, 3)))[:-1], r"promises 2 rows of 3 numbers \(48 bytes\) but holds 47 bytes"),
        (npy_of_shape("(1000000000000, 50)"), r"promises 1000000000000 rows of 50 numbers"),
        (npy_of_shape(f"({10**40}, 50)"), rf"promises {10**40} rows"),
        (npy_of_shape("(-1, 5)"), r"has a header that makes no sense"),
        (npy_of_shape("(True, 5)"), r"has a header that makes no sense"),
        (npy_of_shape("5"), r"has a header that makes no sense"),
        (npy_with_header(b"{'descr': " + b"(" * 500), r"has a header that makes no sense"),
        (npy_with_header(b"[]"), r"has a header that makes no sense"),
        (npy_with_header(b"x" * 20_000), r"has a header of 20000 bytes"),
        (b"\x93NUMPY\x09\x00" + b"\0" * 20, r"has an array that is not in numpy's format"),
        (b"\x93NUMPY\x01", r"ends at byte 7, inside the header"),
    ],
)
def test_what_is_refused(write, data, sentence):
    path = write(data)
    with pytest.raises(InputError, match=f"^{path}: {sentence}"):
        read_table(path)


@pytest.mark.parametrize(
    "words", [utf8(WORDS), utf8([*WORDS, ""]), np.array(WORDS), np.array([w.encode() for w in WORDS])]
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_words(write, words, save):
    buffer = io.BytesIO()
    save(buffer, vectors=MATRIX, other=MATRIX[:1], words=words)
    table = read_table(write(buffer.getvalue()))
    assert list(table.words) == WORDS
    np.testing.assert_array_equal(table.matrix, MATRIX)


def test_npz_with_several_matrices(write):
    path = write(as_npz(a=MATRIX, b=MATRIX[:2]))
    with pytest.raises(InputError, match=r"has 2 float matrices; .* tensor=.*: a <f4 \(4, 3\), b <f4 \(2, 3\)"):
        read_table(path)
    assert read_table(path, tensor="b").matrix.shape == (2, 3)
    with pytest.raises(InputError, match=r"has no array 'c'; it has a"):
        read_table(path, tensor="c")


def test_npz_without_a_matrix(write):
    with pytest.raises(InputError, match=r"has 0 float matrices"):
        read_table(write(as_npz(a=np.arange(3))))


def test_npz_of_objects_is_never_unpickled(write):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("was unpickled",))

    with pytest.raises(InputError, match=r"holds Python objects"):
        read_table(write(as_npz(vectors=MATRIX, words=np.array([Bomb()], dtype=object))))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (np.array(["a", "", "c", "d"]), r"row 1: the word is empty"),
        (np.array(["a", "b\nc", "c", "d"]), r"row 1: the word b'b\\nc' has a line break"),
        (np.array(["a", "\ud800", "c", "d"]), r"row 1: the word is not text that UTF-8 can hold"),
        (np.array([b"a", b"\xff", b"c", b"d"]), r"row 1: byte 0xff"),
        (np.array([["a"]]), r"its words have the shape \(1, 1\)"),
        (np.arange(4), r"its words are of type '<i8'"),
        (np.array([0x110000, 1, 2, 3], dtype="<u4").view("<U1"), r"row 0: the word is not text that UTF-8 can hold"),
    ],
)
def test_npz_with_bad_words(write, words, sentence):
    with pytest.raises(InputError, match=sentence):
        read_table(write(as_npz(vectors=MATRIX, words=words)))


def test_npz_member_that_lies(write):
    data = as_zip(**{"vectors.npy": npy_of_shape("(1000000000000, 50)")})
    with pytest.raises(InputError, match=r"promises 1000000000000 rows of 50 numbers .* but holds 8 bytes"):
        read_table(write(data))


def test_npz_member_that_is_no_array(write):
    with pytest.raises(InputError, match=r"not in numpy's format"):
        read_table(write(as_zip(**{"vectors.npy": b"hello, world"})))


def test_npz_by_another_method(write):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("vectors.npy", as_npy(MATRIX))
    with pytest.raises(InputError, match=r"vectors.npy is packed by zip method 14; unpack it first"):
        read_table(write(buffer.getvalue()))
