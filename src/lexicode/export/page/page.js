// The page around the table. It follows lexicode.js and suggestions.js in one script, so what they define is at hand.
const SHOWN = 12;
const ANSWERS = 6;
const EXAMPLES = ["coffee", "paris", "piano", "monday", "chemistry", "laughed", "python"];
const ANALOGY = ["king", "man", "woman"];
const FREQUENT_ROWS = 20000;

const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
let table;

try {
  const size = await start();
  showFacts(size);
  document.querySelector("main").hidden = false;
  addEventListener("hashchange", showAddressed);
  showAddressed();
} catch (error) {
  at("facts").textContent = `The table in this page cannot be read: ${error.message}`;
  at("facts").className = "trouble";
}

async function start() {
  const holder = at("artefact");
  const bytes = bytesFromBase64(holder.textContent);
  holder.remove();
  table = await load(bytes);
  const inputs = [at("word"), at("plus"), at("minus"), at("too")];
  if (table.words) inputs.forEach((input) => addSuggestions(input, table.words));
  at("search").addEventListener("submit", (event) => {
    event.preventDefault();
    go(at("word").value);
  });
  at("analogy").addEventListener("submit", (event) => {
    event.preventDefault();
    showAnalogy(inputs.slice(1).map((input) => input.value.trim()));
  });
  at("any").addEventListener("click", () => {
    const rows = Math.min(table.size, FREQUENT_ROWS);
    const row = Math.floor(Math.random() * rows);
    // The word that is shown already would be no surprise.
    go(labelOf(labelOf(row) === at("chosen").textContent ? (row + 1) % rows : row));
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input")) return;
    event.preventDefault();
    at("word").select();
  });
  if (!table.words) {
    at("word-label").textContent = `Row number, 0 to ${number.format(table.size - 1)}`;
    at("word").inputMode = "numeric";
  }
  at("examples").append(...examples().map((word) => wordButton(word, "quiet")));
  if (ANALOGY.every((word) => table.has(word))) {
    ANALOGY.forEach((word, i) => (inputs[i + 1].value = word));
    showAnalogy(ANALOGY);
  }
  return bytes.length;
}

function bytesFromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

function showFacts(size) {
  const [M, K] = table.scheme.split("x").map(Number);
  const dense = table.size * table.dim * 4;
  at("facts").replaceChildren(
    bold(`${number.format(table.size)} ${table.words ? "words" : "rows"}`),
    ` of ${number.format(table.dim)} numbers each: ${megabytes(dense)} as float32, `,
    bold(megabytes(size)),
    ` here${table.words ? ", words included" : ""}. Each is `,
    bold(`${number.format(M * Math.log2(K))} bits`),
    `: the numbers of ${M} codewords, one from each of ${M} codebooks of ${number.format(K)}.`,
  );
}

/** Words that a visitor may know, or else a few from the table's beginning. */
function examples() {
  const known = EXAMPLES.filter((word) => table.has(word));
  if (known.length) return known;
  const step = Math.max(1, Math.floor(Math.min(table.size, 2000) / 6));
  return Array.from({ length: Math.min(6, table.size) }, (_, i) => labelOf(i * step));
}

// ---- which word

/** What the address bar names after its #, or the first example. */
function showAddressed() {
  let word = location.hash.slice(1);
  try {
    word = decodeURIComponent(word);
  } catch {
    // Not encoded by this page: taken as it stands.
  }
  if (known(word) === undefined && at("chosen").textContent === "") explore(examples()[0]);
  if (word !== "") explore(word);
}

/** Look a word up by way of the address, so that going back and sending a link work. */
function go(text) {
  const word = known(text) ?? text;
  const hash = `#${encodeURIComponent(word)}`;
  if (location.hash === hash || word === "") explore(word);
  else location.hash = hash;
}

/** The text as the table has it: as typed, without spaces around it, or in small letters. Undefined if it has none. */
function known(text) {
  return [text, text.trim(), text.trim().toLowerCase()].find((each) => rowOf(each) !== undefined);
}

function rowOf(text) {
  if (table.words) return table.has(text) ? text : undefined;
  return /^\d{1,15}$/.test(text) && Number(text) < table.size ? Number(text) : undefined;
}

function labelOf(row) {
  return table.words ? table.words[row] : String(row);
}

// ---- what is shown

function explore(text) {
  const word = known(text);
  at("word").value = word ?? text;
  if (word === undefined) {
    sayUnknown(text);
    return;
  }
  const started = performance.now();
  const found = table.mostSimilar(rowOf(word), SHOWN);
  const milliseconds = performance.now() - started;
  const code = table.code(rowOf(word));
  at("chosen").textContent = table.words ? word : `Row ${word}`;
  at("about").textContent = `Its nearest neighbours among ${number.format(table.size)}`;
  at("status").textContent = `${found.length} neighbours found in ${milliseconds.toFixed(0)} ms`;
  at("neighbours").replaceChildren(...found.map((each) => foundItem(each, code)));
  showCode(code, table.isExact(rowOf(word)));
}

function sayUnknown(text) {
  const way = table.words ? "is not in the vocabulary." : `is no row number from 0 to ${table.size - 1}.`;
  const close = table.words ? closeSpellings(text, table.words) : [];
  const offered = close.length ? [" Perhaps ", ...close.map((word) => wordButton(word, "quiet"))] : [];
  at("status").replaceChildren(`“${text}” ${way}`, ...offered);
}

function foundItem({ row, cosine }, code) {
  const bar = element("div", { className: "bar" });
  bar.style.width = `${Math.max(0, Math.min(1, cosine)) * 100}%`;
  const track = element("div", { className: "track" }, bar);
  const item = element(
    "li",
    {},
    wordButton(labelOf(row)),
    track,
    element("span", { className: "cosine" }, cosine.toFixed(4)),
  );
  if (code) item.append(sharedMarks(code, table.code(row)));
  return item;
}

/** One mark a codebook: in its codeword's colour where the two codes (M,) agree. */
function sharedMarks(code, other) {
  const marks = Array.from(code, (codeword, m) => {
    const mark = element("i");
    if (codeword === other[m]) mark.style.setProperty("--hue", hueOf(codeword));
    return mark;
  });
  const agreeing = code.filter((codeword, m) => codeword === other[m]).length;
  const title = `shares ${agreeing} of ${code.length} codewords`;
  return element("div", { className: "shared", title, role: "img", "aria-label": title }, ...marks);
}

function showCode(code, isExact) {
  at("code-about").textContent = isExact
    ? "This row is kept as it is, and its code is not used."
    : "The vector is the sum of these codewords.";
  at("code").replaceChildren(
    ...Array.from(code, (codeword, m) => {
      const cell = element("li", { title: `codebook ${m}: codeword ${codeword}` }, String(codeword));
      cell.style.setProperty("--hue", hueOf(codeword));
      return cell;
    }),
  );
}

/** Codewords are numbered from 0 to K - 1; neighbouring numbers get hues that are easy to tell apart. */
function hueOf(codeword) {
  return Math.round((codeword * 137.508) % 360);
}

/** The words nearest to a - b + c, each of them at length one, and none of the three among them. */
function showAnalogy([a, b, c]) {
  const words = [a, b, c].map(known);
  const missing = [a, b, c].find((_, i) => words[i] === undefined);
  at("answers").replaceChildren();
  if (missing !== undefined) {
    const sentence = missing === "" ? "Three words make an analogy." : `“${missing}” is not in the table.`;
    at("analogy-about").textContent = sentence;
    return;
  }
  const [plus, minus, too] = words.map((word) => atLengthOne(table.vector(rowOf(word))));
  const found = table.mostSimilar(
    plus.map((value, i) => value - minus[i] + too[i]),
    ANSWERS + 3,
  );
  const others = found.filter(({ row }) => !words.includes(labelOf(row))).slice(0, ANSWERS);
  at("analogy-about").textContent = `${words[1]} is to ${words[0]} as ${words[2]} is to …`;
  at("answers").replaceChildren(...others.map((each) => foundItem(each)));
}

function atLengthOne(vector) {
  const length = Math.hypot(...vector) || 1;
  return Array.from(vector, (value) => value / length);
}

// ---- small things

/** An element with its properties; words go in as text and never as markup. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function wordButton(word, className = "") {
  const properties = { type: "button", className, title: word, dir: "auto" };
  const button = element("button", properties, word === "" ? "(empty)" : word);
  button.addEventListener("click", () => {
    go(word);
    scrollTo({ top: 0 });
  });
  return button;
}

function bold(text) {
  return element("b", {}, text);
}

function megabytes(bytes) {
  return bytes < 1e6 ? `${(bytes / 1e3).toPrecision(3)} kB` : `${(bytes / 1e6).toPrecision(3)} MB`;
}
