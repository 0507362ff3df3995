// Runs models in onnxruntime-web: node onnxruntime_web.mjs PACKAGE FOLDER
// FOLDER/cases.json lists [name, rows]; FOLDER/name.onnx is a model, and its rows go to FOLDER/name.f32.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , installed, folder] = process.argv;
const ort = await import(pathToFileURL(path.join(installed, "dist", "ort.wasm.min.mjs")));
ort.env.wasm.numThreads = 1;
const cases = JSON.parse(fs.readFileSync(path.join(folder, "cases.json"), "utf8"));
for (const [name, rows] of cases) {
  const model = new Uint8Array(fs.readFileSync(path.join(folder, `${name}.onnx`)));
  const session = await ort.InferenceSession.create(model);
  const ids = BigInt64Array.from({ length: rows }, (_, row) => BigInt(row));
  const { vectors } = await session.run({ ids: new ort.Tensor("int64", ids, [rows]) });
  fs.writeFileSync(path.join(folder, `${name}.f32`), new Uint8Array(vectors.data.buffer, vectors.data.byteOffset, vectors.data.byteLength));
  await session.release();
}
