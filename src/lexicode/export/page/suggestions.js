// Words to choose from while typing, and words spelled like one that is unknown.
const SUGGESTIONS = 8;
const SPELLINGS = 3;

/** A list of words under an input, for the keyboard and the pointer (the combobox pattern of ARIA). */
function addSuggestions(input, words) {
  const list = element("ul", { className: "options", id: `${input.id}-options`, role: "listbox", hidden: true });
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.after(list);
  let active = -1;

  const show = (found) => {
    active = -1;
    list.replaceChildren(...found.map((word, i) => element("li", { id: `${list.id}-${i}`, role: "option" }, word)));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (word) => {
    input.value = word;
    show([]);
    input.form.requestSubmit();
  };
  const mark = (next) => {
    active = (next + list.children.length) % list.children.length;
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === active)));
    input.setAttribute("aria-activedescendant", list.children[active].id);
  };
  input.addEventListener("input", () => show(startingWith(input.value.trimStart(), words)));
  input.addEventListener("blur", () => show([]));
  input.form.addEventListener("submit", () => show([]));
  list.addEventListener("pointerdown", (event) => {
    // The input keeps the focus, so the list is still there when the click ends.
    event.preventDefault();
    if (event.target.matches("li")) choose(event.target.textContent);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show([]);
    if (list.hidden || event.isComposing) return;
    if (event.key === "ArrowDown") mark(active + 1);
    else if (event.key === "ArrowUp") mark(active < 0 ? -1 : active - 1);
    else if (event.key === "Enter" && active >= 0) choose(list.children[active].textContent);
    else return;
    event.preventDefault();
  });
  show([]);
}

/** The first few words, in the table's order, that start with the text: as typed, and in small letters. */
function startingWith(text, words) {
  const found = [];
  if (text === "") return found;
  const small = text.toLowerCase();
  for (const word of words) {
    if (word.startsWith(text) || word.startsWith(small)) found.push(word);
    if (found.length === SUGGESTIONS) break;
  }
  return found;
}

/** A few words at most two letters away, the nearest first and then in the table's order. */
function closeSpellings(text, words) {
  const target = text.trim().toLowerCase();
  const found = [[], [], []];
  if (target.length < 3 || target.length > 40) return [];
  for (const word of words) {
    if (Math.abs(word.length - target.length) > 2 || word[0] !== target[0]) continue;
    found[lettersApart(word, target)]?.push(word);
  }
  return found.flat().slice(0, SPELLINGS);
}

/** How many letters must be put in, left out or changed to turn one word into the other. */
function lettersApart(word, other) {
  let before = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= word.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      row[j] = Math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (word[i - 1] !== other[j - 1]));
    }
    before = row;
  }
  return before[other.length];
}
