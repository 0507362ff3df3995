"""The ONNX model of an artefact gives numpy's rows to the bit; a layer inside a larger model gives torch's closely."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import javascript
from agreement.artefacts import COVERED, artefacts, covered, random_artefact
from lexicode import CodedEmbedding, MissingExtraError, SettingError
from lexicode.export.onnx import onnx_model, write_onnx

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'lexicode[onnx]'")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'lexicode[onnx]'")
# Its log would tell of every id that is refused.
runtime.set_default_logger_severity(4)

ROOT = Path(__file__).parent.parent.parent
# npm install --prefix .venv/node onnxruntime-web
WEB = Path(os.environ.get("ONNXRUNTIME_WEB", ROOT / ".venv" / "node" / "node_modules" / "onnxruntime-web"))
EXTRA_BYTES = 10_000


def rows_of(model: Any, ids: Any) -> Any:
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["vectors"], {"ids": np.asarray(ids, dtype=np.int64)})[0]


def test_the_sweep_covers_what_it_should() -> None:
    assert covered() == COVERED


@pytest.mark.parametrize("name", artefacts())
def test_rows_are_numpys_to_the_bit(name: str) -> None:
    coded = artefacts()[name]
    ids = np.random.default_rng(1).integers(len(coded), size=(4, 9))
    ids[0, :2] = 0, len(coded) - 1
    rows = rows_of(onnx_model(coded), ids)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, coded.lookup(ids))


@pytest.mark.parametrize("name", artefacts())
def test_the_file_holds_packed_codes_and_standard_operators(name: str, tmp_path: Path) -> None:
    coded = artefacts()[name]
    write_onnx(coded, tmp_path / "table.onnx", axes=1)
    coded.save(tmp_path / "table.safetensors")
    sizes = [(tmp_path / f"table.{ending}").stat().st_size for ending in ("onnx", "safetensors")]
    assert sizes[0] <= sizes[1] + EXTRA_BYTES
    model = onnx.load(tmp_path / "table.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert {node.domain for node in model.graph.node} == {""}
    held = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    np.testing.assert_array_equal(held["codes"], coded.packed)
    assert held["codes"].dtype == np.uint8
    assert held["codebooks"].dtype == coded.codebooks.dtype


@pytest.mark.parametrize("shape", [(), (1,), (0,), (5,), (2, 0, 3), (2, 3, 4)])
def test_ids_have_any_shape(shape: tuple[int, ...]) -> None:
    coded = artefacts()["overlapping norms exact"]
    ids = np.random.default_rng(2).integers(len(coded), size=shape)
    np.testing.assert_array_equal(rows_of(onnx_model(coded), ids), coded.lookup(ids))


@pytest.mark.parametrize("wrong", [-1, 70])
@pytest.mark.parametrize("name", ["7x8 float16 7", "3x16 exact float16"])
def test_ids_beyond_the_table_are_refused(name: str, wrong: int) -> None:
    with pytest.raises(Exception, match="out of data bounds"):
        rows_of(onnx_model(artefacts()[name]), [3, wrong])


def test_the_largest_graph_stays_small(tmp_path: Path) -> None:
    """Most codebooks, codes that cross bytes, many exact rows, and no words to save."""
    coded = random_artefact("256x8", 6, rows=5000)
    ids = np.arange(0, 5000, 2, dtype=np.uint32)
    exact = np.random.default_rng(0).normal(size=(len(ids), 6)).astype(np.float16)
    full = CodedEmbedding(
        scheme=coded.scheme, packed=coded.packed, codebooks=coded.codebooks, exact_ids=ids, exact_rows=exact
    )
    write_onnx(full, tmp_path / "table.onnx")
    assert (tmp_path / "table.onnx").stat().st_size <= full.file_bytes + EXTRA_BYTES
    np.testing.assert_array_equal(rows_of(onnx_model(full), np.arange(5000)), full.decode())


def test_what_cannot_be_made_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    coded = random_artefact("3x4", 2)
    with pytest.raises(SettingError, match="axes=-1 is not a number of axes"):
        onnx_model(coded, axes=-1)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lexicode\[onnx\]'"):
        write_onnx(coded, tmp_path / "table.onnx")
    assert not list(tmp_path.iterdir())


# ---- a layer inside a larger model


@pytest.fixture(scope="module")
def torch() -> Any:
    pytest.importorskip("onnxscript", reason="onnxscript is not installed: pip install 'lexicode[onnx]'")
    return pytest.importorskip("torch", reason="torch is not installed: pip install 'lexicode[torch]'")


def exported(torch: Any, model: Any, example: Any) -> Any:
    free = dict.fromkeys(range(example.ndim), torch.export.Dim.DYNAMIC)
    with warnings.catch_warnings():
        # The exporter warns of its own insides.
        warnings.simplefilter("ignore")
        program = torch.onnx.export(model, (example,), dynamo=True, dynamic_shapes=(free,), verbose=False)
    return program.model_proto


def tied_model(torch: Any, coded: CodedEmbedding) -> Any:
    """ids -> rows -> something -> logits by the same codes"""
    from lexicode.torch import CompositionalEmbedding, CompositionalHead

    layer = CompositionalEmbedding.from_coded(coded, padding_idx=3)
    bias = torch.nn.Parameter(torch.randn(len(coded)))
    body = torch.nn.Linear(coded.dim, coded.dim)
    return torch.nn.Sequential(layer, body, torch.nn.Tanh(), CompositionalHead(layer, bias)).eval()


def check_model(torch: Any, coded: CodedEmbedding) -> Any:
    """The exported model, after it has been held to torch's."""
    torch.manual_seed(0)
    model = tied_model(torch, coded)
    proto = exported(torch, model, torch.randint(0, len(coded), (4, 9)))
    held = [onnx.numpy_helper.to_array(tensor) for tensor in proto.graph.initializer]
    assert any(array.dtype == np.uint8 and np.array_equal(array, coded.packed) for array in held)
    assert {node.domain for node in proto.graph.node} == {""}
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    for shape in ((4, 9), (1, 1), (3, 50)):
        ids = torch.randint(0, len(coded), shape)
        (scores,) = session.run(None, {session.get_inputs()[0].name: ids.numpy()})
        np.testing.assert_allclose(scores, model(ids).detach().numpy(), rtol=1e-4, atol=1e-4)
    return proto


def test_a_layer_and_its_head_inside_a_model(torch: Any) -> None:
    """No exporter's optimizer may unpack the codes ahead: the file is 20,000 rows of 16 bytes, and little else."""
    coded = random_artefact("32x16", 8, rows=20_000, exact="float16")
    proto = check_model(torch, coded)
    floats = 32 * 16 * 8 * 4 + 20_000 * 4
    assert len(proto.SerializeToString()) < coded.packed.nbytes + floats + 150_000


# Each export takes seconds.
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["1x2 float16 7", "7x8 float16 7", "64x256 float32 33 words", "3x4096 float16 7", "product 3x8 10 norms",
     "overlapping norms exact"],
)  # fmt: skip
def test_models_of_other_artefacts(torch: Any, name: str) -> None:
    check_model(torch, artefacts()[name])


# ---- in a browser's runtime


@pytest.mark.skipif(not WEB.is_dir(), reason="npm install --prefix .venv/node onnxruntime-web")
def test_onnxruntime_web_gives_the_same_rows(tmp_path: Path) -> None:
    cases = [[str(number), len(coded)] for number, coded in enumerate(artefacts().values())]
    for (number, _), coded in zip(cases, artefacts().values(), strict=True):
        write_onnx(coded, tmp_path / f"{number}.onnx")
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    script = Path(__file__).parent / "onnxruntime_web.mjs"
    subprocess.run([javascript.node(), script, WEB, tmp_path], check=True, timeout=300)
    for (number, _), coded in zip(cases, artefacts().values(), strict=True):
        rows = np.fromfile(tmp_path / f"{number}.f32", dtype="<f4").reshape(len(coded), coded.dim)
        np.testing.assert_array_equal(rows, coded.decode())
