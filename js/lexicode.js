/**
 * Embedding tables as short codes and small codebooks, read in a browser or in Node.
 *
 *     const table = await load("glove.safetensors");
 *     table.get("dog");             // Float32Array(50)
 *     table.mostSimilar("dog", 3);  // [{ word: "cat", row: 5450, cosine: 0.89 }, …]
 *
 * V rows, M codebooks of K codewords (a power of two), dim columns. A row is the sum of the M codewords that its code
 * names, added in float32 in the order in which every runtime of lexicode adds: all of them give the same bits.
 */

const VERSION = 1;
// Above this many codewords their Gram matrix (16 MB here) costs more than it saves.
const MOST_IN_GRAM = 2048;
const ITEM_BYTES = { U8: 1, F16: 2, U32: 4, F32: 4 };
// Tensor -> its number of axes and the dtypes it may have.
const TENSORS = new Map([
  ["codes", [2, "U8"]],
  ["codebooks", [3, "F16", "F32"]],
  ["words", [1, "U8"]],
  ["norms", [1, "U8"]],
  ["norm_levels", [1, "F32"]],
  ["exact_ids", [1, "U32"]],
  ["exact_rows", [2, "F16", "F32"]],
]);
const DAMAGED = "; it was cut short or damaged";
const BAD_RECORD = "its record is damaged";
const TOGETHER = " come together or not at all";

/** A URL, or the bytes of a file that lexicode made (an ArrayBuffer or a view of one) -> the coded embedding. */
export async function load(source) {
  const isAddress = typeof source === "string" || source instanceof URL;
  try {
    return codedEmbedding(await read(isAddress ? await fetched(source) : bytesOf(source)));
  } catch (error) {
    if (isAddress) error.message = `${source}: ${error.message}`;
    throw error;
  }
}

// ---- looking up

/** What `read` returns -> the object that users hold; lexicode.d.ts describes it. */
function codedEmbedding({ V, dim, M, K, width, offsets, packed, books, norms, levels, exactRows, exactPlaces, words }) {
  const bits = Math.log2(K);
  const rowBytes = packed.length / V;
  const startOf = (m) => (offsets ? offsets[m] : 0);
  let index;
  let inverseLengths;

  function find(word) {
    if (words && !index) {
      index = new Map();
      // Backwards, so that the first of equal words counts.
      for (let row = V - 1; row >= 0; row--) index.set(words[row], row);
    }
    return index?.get(word);
  }

  function rowOf(query) {
    const row = typeof query === "string" ? find(query) : query;
    check(
      row !== undefined,
      words ? `'${query}' is not in the vocabulary` : "this table has no words; use row numbers",
    );
    check(isCount(row) && row < V, `row ${String(row)} is not in a table of ${V} rows`);
    return row;
  }

  function vector(query) {
    const row = rowOf(query);
    const place = exactPlaces.get(row);
    if (place >= 0) return exactRows.slice(place * dim, (place + 1) * dim);
    const sum = compose(codeOf(row));
    // A Float32Array rounds each result to float32, which is what float32 arithmetic gives.
    return norms ? sum.map((value) => value * levels[norms[row]]) : sum;
  }

  /** A row's code, Uint16Array (M,) */
  function codeOf(row, code = new Uint16Array(M)) {
    for (let m = 0; m < M; m++) {
      const at = row * rowBytes + ((m * bits) >> 3);
      // A component of at most 12 bits lies in at most three bytes.
      const three = packed[at] | (packed[at + 1] << 8) | (packed[at + 2] << 16);
      code[m] = (three >> ((m * bits) & 7)) & (K - 1);
    }
    return code;
  }

  /** A code (M,) -> the sum of its codewords, before norms and exact rows: Float32Array (dim,) */
  function compose(code) {
    const sum = new Float32Array(dim);
    for (let m = 0; m < M; m++) {
      const from = (m * K + code[m]) * width;
      const start = startOf(m);
      // The first codeword is copied, as numpy does it: 0 + -0 would lose a sign.
      if (m === 0 && !offsets) sum.set(books.subarray(from, from + width));
      else for (let i = 0; i < width; i++) sum[start + i] += books[from + i];
    }
    return sum;
  }

  function mostSimilar(query, n = 10) {
    check(isCount(n), `n=${n} is not a number of neighbours`);
    const itself = query?.length >= 0 && typeof query === "object" ? -1 : rowOf(query);
    const scores = cosines(itself < 0 ? query : vector(itself));
    if (itself >= 0) scores[itself] = -Infinity;
    return top(scores, n).map((row) => ({ word: words?.[row], row, cosine: scores[row] }));
  }

  /** A vector (dim,) -> its cosine with every row, Float32Array (V,) */
  function cosines(query) {
    check(query.length === dim, `a vector of ${query.length} numbers does not fit ${dim} columns`);
    const unit = unitOf(query);
    inverseLengths ??= measuredLengths();
    const products = new Float32Array(M * K);
    for (let j = 0; j < M * K; j++) products[j] = dot(books, j * width, unit, startOf(Math.floor(j / K)), width);
    const scores = summed(products);
    for (const [row, place] of exactPlaces) scores[row] = dot(exactRows, place * dim, unit, 0, dim);
    for (let row = 0; row < V; row++) scores[row] *= inverseLengths[row];
    return scores;
  }

  /** A number for each codeword (M * K,) -> the sum of each row's M numbers, Float32Array (V,) */
  function summed(numbers) {
    const scores = new Float32Array(V);
    if (8 % bits) {
      const code = new Uint16Array(M);
      for (let row = 0; row < V; row++) {
        codeOf(row, code);
        let sum = 0;
        for (let m = 0; m < M; m++) sum += numbers[m * K + code[m]];
        scores[row] = sum;
      }
      return scores;
    }
    // A byte holds 8 / bits whole codes, so one table of 256 sums stands for that many codebooks.
    const sums = new Float32Array(rowBytes * 256);
    for (let i = 0; i < sums.length; i++) {
      for (let shift = 0, m = (i >> 8) * (8 / bits); shift < 8 && m < M; shift += bits, m++) {
        sums[i] += numbers[m * K + ((i >> shift) & (K - 1))];
      }
    }
    for (let row = 0, at = 0; row < V; row++) {
      let sum = 0;
      for (let i = 0; i < sums.length; i += 256) sum += sums[i + packed[at++]];
      scores[row] = sum;
    }
    return scores;
  }

  /** 1 / the length of each row, Float32Array (V,), but for its norm, which cancels out; 0 for a row of zeros */
  function measuredLengths() {
    const inverse = new Float32Array(V);
    const code = new Uint16Array(M);
    // What is read: M codewords a row, or M * M / 2 products of codewords that are made once.
    const gram = M * K <= MOST_IN_GRAM && M * (K * K * dim + V) < 2 * V * dim && gramOfCodewords();
    for (let row = 0; row < V; row++) {
      const place = exactPlaces.get(row);
      let square = 0;
      if (place >= 0) square = dot(exactRows, place * dim, exactRows, place * dim, dim);
      else if (norms && !levels[norms[row]]) square = 0;
      else if (gram) square = squareFrom(gram, codeOf(row, code), K);
      else {
        const sum = compose(codeOf(row, code));
        square = dot(sum, 0, sum, 0, dim);
      }
      inverse[row] = square > 0 ? 1 / Math.sqrt(square) : 0;
    }
    return inverse;
  }

  /** The products of the codewords with one another, doubled off the diagonal: Float32Array (MK, MK), its lower half */
  function gramOfCodewords() {
    const size = M * K;
    const gram = new Float32Array(size * size);
    for (let a = 0; a < size; a++) {
      for (let b = 0; b <= a; b++) {
        // Codewords of a product code meet in the columns that both of them cover.
        const gap = startOf(Math.floor(a / K)) - startOf(Math.floor(b / K));
        const [ahead, behind] = [Math.max(0, -gap), Math.max(0, gap)];
        const product = dot(books, a * width + ahead, books, b * width + behind, width - ahead - behind);
        gram[a * size + b] = a === b ? product : 2 * product;
      }
    }
    return gram;
  }

  return {
    size: V,
    dim,
    scheme: `${M}x${K}`,
    words,
    has: (word) => find(word) !== undefined,
    get: (word) => (find(word) === undefined ? undefined : vector(word)),
    vector,
    code: (query) => codeOf(rowOf(query)),
    isExact: (query) => exactPlaces.has(rowOf(query)),
    mostSimilar,
  };
}

/** The squared length of the sum of a code's (M,) codewords; the code becomes their places in the Gram matrix. */
function squareFrom(gram, code, K) {
  const size = code.length * K;
  // Two sums, because an addition waits for the one before it.
  let [square, other] = [0, 0];
  for (let m = 0; m < code.length; m++) {
    code[m] += m * K;
    const from = code[m] * size;
    let l = 0;
    for (; l < m; l += 2) {
      square += gram[from + code[l]];
      other += gram[from + code[l + 1]];
    }
    if (l === m) square += gram[from + code[m]];
  }
  return square + other;
}

function dot(a, from, b, start, length) {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += a[from + i] * b[start + i];
  return sum;
}

/** A vector (dim,) -> Float64Array (dim,) of length one; zeros stay zeros. */
function unitOf(vector) {
  const exact = Float64Array.from(vector);
  const length = Math.sqrt(dot(exact, 0, exact, 0, exact.length));
  check(Number.isFinite(length), "a query vector with NaN or infinity has no neighbours");
  return exact.map((value) => value / (length || 1));
}

/** scores (V,) -> the rows of the n highest above -Infinity, best first; of equal ones the earlier row first */
function top(scores, n) {
  let best = [];
  let bar = -Infinity;
  const cut = () => {
    best = best.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, n);
    bar = scores[best[n - 1]] ?? bar;
  };
  for (let row = 0; row < scores.length; row++) {
    if (scores[row] > bar) best.push(row);
    if (best.length > 2 * n + 100) cut();
  }
  cut();
  return best;
}

// ---- reading the file

function bytesOf(source) {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  check(source instanceof ArrayBuffer, "load takes a URL or the bytes of a file");
  return new Uint8Array(source);
}

async function fetched(address) {
  const answer = await fetch(address).catch((error) =>
    check(false, `cannot be fetched (${error.message}); pass its bytes`),
  );
  check(answer.ok, `cannot be fetched (status ${answer.status})`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** The file's bytes -> what a coded embedding is made of, all of it checked. */
async function read(bytes) {
  const [record, tensors] = parsed(bytes);
  const { codes, codebooks, words, norms, norm_levels: levels, exact_ids: ids, exact_rows: exact } = tensors;
  const { scheme, dim, offsets = null } = record;
  const [, M, K] = (/^(\d{1,9})x(\d{1,9})$/.exec(scheme) ?? []).map(Number);
  check(M >= 1 && M <= 256, `scheme ${scheme} does not have 1 to 256 codebooks`);
  check(K >= 2 && K <= 4096 && !(K & (K - 1)), `codewords of scheme ${scheme} are not a power of two from 2 to 4096`);
  check(codes && codebooks, `tensor '${codes ? "codebooks" : "codes"}' is missing`);
  const [V, found] = codes.shape;
  const width = codebooks.shape[2];
  const needed = Math.ceil((M * Math.log2(K)) / 8);
  check(V, "no rows of codes");
  check(found === needed, `codes have ${found} bytes a row, but scheme ${scheme} takes ${needed}`);
  check(
    codebooks.shape[0] === M && codebooks.shape[1] === K && width,
    `codebooks have shape (${codebooks.shape}), but scheme ${scheme} needs (${M},${K},dim)`,
  );
  check(isCount(dim) && (!offsets || (Array.isArray(offsets) && offsets.every(isCount))), BAD_RECORD);
  check(
    offsets ? offsets.length === M && Math.max(...offsets) + width <= dim : width === dim,
    `${M} codebooks ${width} wide do not make up ${dim} columns`,
  );
  check(!norms === !levels, "norms and norm_levels" + TOGETHER);
  check(!norms || norms.shape[0] === V, `norms are not one byte for each of ${V} rows`);
  check(!norms?.bytes.some((level) => level >= levels.shape[0]), "norms point past the norm levels");
  check(!ids === !exact, "exact_ids and exact_rows" + TOGETHER);
  check(
    !ids || `${exact.shape}` === `${[ids.shape[0], dim]}`,
    `exact_rows are not a row of ${dim} for each of exact_ids`,
  );
  return {
    V,
    dim,
    M,
    K,
    width,
    offsets,
    packed: codes.bytes,
    books: floatsOf(codebooks),
    norms: norms?.bytes,
    levels: levels && floatsOf(levels),
    exactRows: exact && floatsOf(exact),
    exactPlaces: placesOf(ids?.bytes ?? [], V),
    words: words ? await wordsOf(words.bytes, V) : null,
  };
}

/** The file's bytes -> its record, and its tensors as { dtype, shape, bytes } by name. */
function parsed(bytes) {
  const length = bytes.length < 8 ? Infinity : new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  const start = 8 + Number(length);
  check(start <= bytes.length, `${bytes.length} bytes are not a whole .safetensors file` + DAMAGED);
  const header = objectOf(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, start)));
  check(header, "no .safetensors header" + DAMAGED);
  const { __metadata__: metadata, ...entries } = header;
  check(metadata?.lexicode, "a .safetensors file, but not one that lexicode wrote; compress it first");
  const record = objectOf(() => metadata.lexicode);
  check(record?.format === "lexicode" && isCount(record.version) && record.version, BAD_RECORD);
  check(record.version <= VERSION, `format version ${record.version}, but this lexicode reads up to ${VERSION}`);
  const tensors = {};
  let end = 0;
  const startIn = ([, entry]) => entry?.data_offsets?.[0];
  for (const [name, entry] of Object.entries(entries).sort((a, b) => startIn(a) - startIn(b))) {
    check(TENSORS.has(name), `unknown tensor '${name}'; a newer lexicode may read it`);
    const [axes, ...dtypes] = TENSORS.get(name);
    const { dtype, shape, data_offsets: span } = entry ?? {};
    check(
      dtypes.includes(dtype) && shape?.length === axes && shape.every?.(isCount),
      `tensor '${name}' is ${dtype} (${shape}), but ${axes} axes of ${dtypes.join(" or ")} are needed`,
    );
    const stop = shape.reduce((product, count) => product * count, ITEM_BYTES[dtype]) + end;
    check(
      `${span}` === `${[end, stop]}` && start + stop <= bytes.length,
      `tensor '${name}' is not where it should be` + DAMAGED,
    );
    tensors[name] = { name, dtype, shape, bytes: bytes.subarray(start + end, start + stop) };
    end = stop;
  }
  check(start + end === bytes.length, "bytes after the last tensor" + DAMAGED);
  return [record, tensors];
}

/** A tensor -> Float32Array, half floats widened */
function floatsOf({ name, dtype, bytes }) {
  // A copy starts on the boundary that typed arrays ask for.
  const { buffer } = bytes.slice();
  const floats = dtype === "F32" ? new Float32Array(buffer) : Float32Array.from(new Uint16Array(buffer), halfToFloat);
  check(floats.every(Number.isFinite), `${name} with NaN or infinity among their numbers`);
  return floats;
}

function halfToFloat(half) {
  const exponent = (half >> 10) & 31;
  if (exponent > 30) return NaN;
  // The smallest halves, of exponent 0, lack the leading 1.
  const size = ((exponent && 1024) + (half & 1023)) * HALF_STEPS[exponent];
  return half >> 15 ? -size : size;
}

/** The value of a half float's lowest bit, for each exponent */
const HALF_STEPS = Float32Array.from({ length: 31 }, (_, exponent) => 2 ** ((exponent || 1) - 25));

/** The bytes of exact_ids -> Map from a row's number to its place among exact_rows */
function placesOf(bytes, V) {
  const ids = new Uint32Array(bytes.slice().buffer);
  check(
    ids.every((id, place) => id < V && !(id <= ids[place - 1])),
    `exact_ids do not ascend within the ${V} rows of the table`,
  );
  return new Map(Array.from(ids, (id, place) => [id, place]));
}

/** A zlib stream of UTF-8 text -> its lines, one for each row */
async function wordsOf(stream, V) {
  // A few bytes can promise gigabytes; no vocabulary has words of a kilobyte each.
  const limit = 1024 * V + (1 << 20);
  const pieces = [];
  let size = 0;
  const reader = new Blob([stream]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const next = () =>
    reader.read().catch((error) => check(false, `the words cannot be decompressed (${error.message})`));
  for (let piece = await next(); !piece.done; piece = await next()) {
    pieces.push(piece.value);
    size += piece.value.length;
    check(size <= limit, `the words of ${V} rows take more than ${limit} bytes`);
  }
  const text = await new Blob(pieces).arrayBuffer();
  let lines;
  try {
    lines = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text).split("\n");
  } catch {
    check(false, "the text of the words is not UTF-8");
  }
  check(lines.pop() === "", "the text of the words does not end with a line break" + DAMAGED);
  check(lines.length === V, `${lines.length} words for ${V} rows of codes`);
  return lines;
}

/** The object that a JSON text holds, or null. */
function objectOf(text) {
  try {
    const value = JSON.parse(text());
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function isCount(value) {
  return Number.isSafeInteger(value) && value >= 0;
}

function check(holds, sentence) {
  if (!holds) throw new Error(sentence);
}
