"use strict";
// Hover values: the `title` of every mark, shown at once and on touch too.
(() => {
  const tip = document.getElementById("tip");
  for (const title of document.querySelectorAll("svg.plot > * title, svg.plot > * > title")) {
    const mark = title.parentNode;
    mark.dataset.tip = title.textContent;
    mark.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  const show = (event) => {
    const mark = event.target.closest ? event.target.closest("[data-tip]") : null;
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(event.clientX - box.width / 2, 8), innerWidth - box.width - 8);
    const above = event.clientY - box.height - 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : event.clientY + 20}px`;
  };
  for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, show);
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
})();

// The explorer. Words are put into the page as text only, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const form = document.getElementById("explorer-form");
  const input = document.getElementById("explorer-word");
  const choices = document.getElementById("explorer-choices");
  const answer = document.getElementById("explorer-answer");
  const CHOICES = 8;

  const bytes = Uint8Array.from(atob(data.codes), (character) => character.charCodeAt(0));
  const rowBytes = Math.ceil((data.codebooks * data.bits) / 8);
  const exact = new Set(data.exact);
  const asked = new Map(data.asked.map((place, index) => [place, index]));
  const placeOfWord = new Map();
  const placeOfRow = new Map(data.rows.map((row, place) => [row, place]));
  for (const place of data.asked) {
    if (!placeOfWord.has(data.words[place])) placeOfWord.set(data.words[place], place);
  }

  // Code m of a row is bits m*b to (m+1)*b - 1 of its little-endian bit string.
  const codeOf = (place) => Array.from({ length: data.codebooks }, (_, m) => {
    let value = 0;
    for (let bit = 0; bit < data.bits; bit++) {
      const at = m * data.bits + bit;
      value |= ((bytes[place * rowBytes + (at >> 3)] >> (at & 7)) & 1) << bit;
    }
    return value;
  });

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const nameOf = (place) => {
    const word = data.words[place];
    return element("bdi", { class: "word" }, word.trim() ? word : JSON.stringify(word));
  };

  const neighbour = (place, cosine, code, inOther) => {
    const theirs = codeOf(place);
    const same = theirs.map((value, m) => value === code[m]);
    const count = same.filter(Boolean).length;
    const strip = element("div", { class: "strip", role: "img", "aria-label": `${count} of ${code.length} codewords shared` },
      ...same.map((shared, m) => element("i", {
        class: shared ? "same" : "",
        "data-tip": shared ? `codebook ${m}: both codeword ${code[m]}` : `codebook ${m}: codeword ${theirs[m]}, not ${code[m]}`,
      })));
    const name = asked.has(place)
      ? element("button", { type: "button", class: "ask", "data-row": data.rows[place] }, nameOf(place))
      : element("span", { class: "ask", style: "cursor:default" }, nameOf(place));
    return element("li", { class: inOther ? "kept" : "gone", "data-word": data.words[place] },
      element("div", {}, name), element("span", { class: "cosine" }, (cosine / data.cosineSteps).toFixed(3)),
      strip, element("span", { class: "count" }, exact.has(place) ? "kept exactly" : `${count} of ${code.length}`));
  };

  const side = (title, places, cosines, others, code, id) => element("div", {},
    element("h4", {}, title),
    element("ol", { id }, ...places.map((place, i) => neighbour(place, cosines[i], code, others.includes(place)))));

  const show = (place) => {
    const n = data.neighbours;
    const slice = (list) => list.slice(asked.get(place) * n, (asked.get(place) + 1) * n);
    const before = slice(data.before), after = slice(data.after);
    const kept = before.filter((row) => after.includes(row)).length;
    const code = codeOf(place);
    const row = data.rows[place];
    const status = exact.has(place) ? "kept exactly; its code, which look-up passes over, is" : "its code is";
    answer.replaceChildren(
      element("p", { class: "asked" }, nameOf(place)),
      element("p", { class: "note" }, `Row ${(row + 1).toLocaleString("en")} of ${data.total.toLocaleString("en")}, `
        + `${kept} of its ${n} nearest kept; ${status}`),
      element("div", { class: "code" }, ...code.map((value, m) =>
        element("span", { "data-tip": `codebook ${m}: codeword ${value}` }, String(value)))),
      element("div", { class: "sides" },
        side("Nearest before", before, slice(data.beforeCosines), after, code, "explorer-before"),
        side("Nearest after", after, slice(data.afterCosines), before, code, "explorer-after")),
      element("p", { class: "note" }, "Outlined words stand on one side only."));
  };

  const close = () => { choices.hidden = true; input.setAttribute("aria-expanded", "false"); };
  const matches = (typed) => {
    const wanted = typed.toLowerCase();
    const begin = [], within = [];
    for (const [word, place] of placeOfWord) {
      const at = word.toLowerCase().indexOf(wanted);
      if (at === 0) begin.push(place);
      else if (at > 0) within.push(place);
      if (begin.length >= CHOICES) break;
    }
    return [...begin, ...within].slice(0, CHOICES);
  };
  const pick = (place) => { input.value = data.words[place]; close(); show(place); };
  const exactly = (typed) => placeOfWord.get(typed) ?? placeOfWord.get(typed.toLowerCase());

  input.addEventListener("input", () => {
    const typed = input.value;
    const found = typed ? matches(typed) : [];
    choices.replaceChildren(...found.map((place) => {
      const item = element("li", { role: "option", "aria-selected": "false" }, nameOf(place));
      item.addEventListener("pointerdown", (event) => { event.preventDefault(); pick(place); });
      item.place = place;
      return item;
    }));
    choices.hidden = !found.length;
    input.setAttribute("aria-expanded", String(Boolean(found.length)));
    if (exactly(typed) !== undefined) show(exactly(typed));
  });
  input.addEventListener("keydown", (event) => {
    const items = [...choices.children];
    const at = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
    if (event.key === "Escape") close();
    if ((event.key !== "ArrowDown" && event.key !== "ArrowUp") || choices.hidden) return;
    event.preventDefault();
    const next = (at + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute("aria-selected", String(i === next)));
  });
  input.addEventListener("blur", close);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = [...choices.children].find((item) => item.getAttribute("aria-selected") === "true");
    const place = chosen ? chosen.place : exactly(input.value) ?? matches(input.value)[0];
    if (input.value && place !== undefined) { pick(place); return; }
    close();
    answer.replaceChildren(element("p", { class: "note" }, element("bdi", {}, JSON.stringify(input.value)),
      ` is not among the ${placeOfWord.size.toLocaleString("en")} ${data.byWord ? "words" : "rows"} of this page; `
      + "lexicode similar asks the whole file."));
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-row]");
    const place = button && placeOfRow.get(Number(button.dataset.row));
    if (place == null || !asked.has(place)) return;
    pick(place);
    if (!answer.contains(button)) document.getElementById("explore").scrollIntoView();
  });

  if (data.asked.length) pick(exactly(data.first) ?? data.asked[0]);
})();
