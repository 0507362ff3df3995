"""Compressed files: damaged, cut short, or with more than one member."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest

from format_samples import COMPRESSIONS, WITH_WORDS, as_zip
from lexicode.errors import InputError
from lexicode.formats.reading import read_table

# Long enough, and random enough, that damage in its middle is damage to the data.
TEXT = b"".join(b"word%d %f %f\n" % (n, n * 0.37 % 1, n * 0.61 % 1) for n in range(500))
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("packer", PACKERS)
def test_cut_short(write, packer):
    packed = PACKERS[packer](TEXT)
    path = write(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=f"^{path}: the compressed data end too early: the file was cut short"):
        read_table(path)


@pytest.mark.parametrize("packer", PACKERS)
def test_damaged(write, packer):
    packed = bytearray(PACKERS[packer](TEXT))
    packed[len(packed) // 2] ^= 0x55
    with pytest.raises(InputError, match=r"the compressed data are damaged|line \d+"):
        read_table(write(bytes(packed)))


def test_damaged_zip(write):
    packed = bytearray(as_zip(table=TEXT))
    packed[200] ^= 0x55
    with pytest.raises(InputError, match=r"the compressed data are damaged|line \d+"):
        read_table(write(bytes(packed)))


def test_zip_cut_short(write):
    path = write(as_zip(table=TEXT)[:-30])
    with pytest.raises(InputError, match=f"^{path}: the compressed data are damaged"):
        read_table(path)


def test_zip_of_several_files(write):
    data = as_zip(**{"a.txt": b"a 1", "b.txt": b"b 1", "LICENSE": b""})
    with pytest.raises(InputError, match=r"is a zip of 2 files \(a.txt, b.txt\); unpack the one that you mean"):
        read_table(write(data))


def test_zip_of_nothing(write):
    with pytest.raises(InputError, match=r"is a zip with no file in it"):
        read_table(write(as_zip()))


def test_zip_with_a_password(write):
    packed = bytearray(as_zip(table=TEXT))
    # The lowest bit of the flags, in the member's header and in the directory, says that it is encrypted.
    packed[6] |= 1
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(InputError, match=r"the compressed data are damaged \(.*encrypted"):
        read_table(write(bytes(packed)))


def test_empty_inside_a_compression(write):
    for name, compress in COMPRESSIONS.items():
        with pytest.raises(InputError, match=r"is empty"):
            read_table(write(compress(b""), name))


def test_compressed_over_and_over(write):
    data = WITH_WORDS["glove"]
    for _ in range(3):
        data = gzip.compress(data)
    assert len(read_table(write(data)).words) == 4
    with pytest.raises(InputError, match=r"is compressed more than 4 times over; unpack it first"):
        read_table(write(gzip.compress(gzip.compress(data))))
