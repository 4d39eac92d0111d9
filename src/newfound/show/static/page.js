// Helpers that all sections use. Text is always inserted as text, never as HTML.
"use strict";

const newfound = { sections: [] };

newfound.data = JSON.parse(document.getElementById("data").textContent);

// An element with attributes, listeners (on*) and children; strings become text.
newfound.el = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
};

// A section of the page; it is shown only if `build` returns content.
// The sections without content are in `leftOut`; "How it was made" says why.
newfound.leftOut = [];
newfound.section = (id, label, build) => newfound.sections.push({ id, label, build });

newfound.format = {
  count: (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en")),
  number: (value, digits = 3) => {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size >= 1e6 || (size > 0 && size < 1e-4)) return value.toExponential(1).replace("e", "×10^");
    return value.toLocaleString("en", { maximumSignificantDigits: digits }).replace("-", "−");
  },
  signed: (value) => {
    if (value === null || value === undefined) return "–";
    return (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(2);
  },
  share: (value) => {
    if (value === null || value === undefined) return "–";
    const percent = 100 * value;
    return `${percent > 0 && percent < 1 ? "<1" : percent > 99 && percent < 100 ? ">99" : Math.round(percent)} %`;
  },
  // A share with a decimal place below 10 %, as newfound/show/numbers.py writes it.
  percent: (value) => {
    if (value === null || value === undefined) return "–";
    const percent = 100 * value;
    if (percent > 0 && percent < 0.1) return "<0.1 %";
    return `${percent.toFixed(percent >= 9.95 || percent === 0 ? 0 : 1)} %`;
  },
  chance: (value) => {
    if (value === null || value === undefined) return "–";
    return value < 0.001 ? "<0.001" : value.toFixed(3);
  },
};

// What the sides are called: as they are, and in quotation marks before "documents".
newfound.names = { known: "known", novel: "novel", neither: "unsure" };
newfound.piles = { known: "known", novel: "novel" };
for (const [side, { name, quoted }] of Object.entries(newfound.data.names ?? {})) {
  newfound.names[side] = name;
  newfound.piles[side] = quoted;
}
newfound.capital = (text) => text.replace(/^\p{L}/u, (letter) => letter.toUpperCase());

newfound.novelty = `How sure it is that the word is new, in standard deviations: positive for ${newfound.piles.novel}, negative for ${newfound.piles.known}. For one word, chance rarely exceeds 2; among thousands, see q.`;

newfound.evidence =
  "How sure it is that the theme is new, in standard deviations, corrected for the search. Below 3 it may be chance.";

newfound.plural = (n, one, many) => `${newfound.format.count(n)} ${n === 1 ? one : (many ?? `${one}s`)}`;

// A symbol for each side, so that the page can be read without colours.
newfound.marks = { novel: "▲", known: "■", neither: "○" };
newfound.mark = (side) =>
  newfound.el("span", { class: `mark ${side}`, "aria-hidden": "true" }, newfound.marks[side] ?? "");
newfound.sideLabel = (side) =>
  newfound.el(
    "span",
    { class: `side ${side}` },
    newfound.mark(side),
    ` ${newfound.names[side] ?? side}`,
  );

// Rows of the words of the page, and their numbers by name.
newfound.words = [];
newfound.numbers = new Map();
if (newfound.data.words) {
  const columns = newfound.data.words.columns;
  newfound.words = columns.word.map((word, number) => {
    const row = { number };
    for (const name of Object.keys(columns)) row[name] = columns[name][number];
    row.documents = row.documents_known + row.documents_novel;
    newfound.numbers.set(word, number);
    return row;
  });
}

// A word as a button that opens its card, or as plain text if the page has no card for it.
newfound.word = (word, options = {}) => {
  const number = newfound.numbers.get(word);
  const name = newfound.el("bdi", {}, options.name ?? newfound.words[number]?.written ?? word);
  if (number === undefined) return newfound.el("span", { class: "word" }, name);
  const side = options.plain ? "" : newfound.words[number].side;
  return newfound.el(
    "button",
    {
      type: "button",
      class: `word ${side}`,
      "aria-haspopup": "dialog",
      onclick: () => newfound.openCard(number),
    },
    options.mark ? [newfound.mark(newfound.words[number].side), " "] : null,
    name,
  );
};

// The pieces of an excerpt. `wanted` are the words to highlight; without it, all words are
// highlighted by their weight.
newfound.pieces = (excerpt, wanted = null) => {
  const shown = excerpt.pieces.map((piece) => {
    if (typeof piece === "string") return piece.replace(/\n\s*\n/g, "\n");
    const [surface, number, own] = piece;
    const row = newfound.words[number];
    if (wanted !== null)
      return [wanted].flat().includes(number)
        ? newfound.el("strong", { class: `hit ${row.side}` }, surface)
        : surface;
    // The weight of the piece, which a detector sets, or else that of the word.
    if (own === undefined && row.side === "neither") return surface;
    const side = own === undefined ? row.side : own > 0 ? "novel" : "known";
    const weight = own ?? row.novelty;
    const share = Math.min(
      Math.abs(weight) / (own === undefined ? newfound.fullest : excerpt.fullest || newfound.fullest),
      1,
    );
    const element = newfound.el(
      "mark",
      {
        class: `${side}${share > 0.5 ? " strong" : ""}`,
        title: `${row ? row.word : surface}: ${newfound.format.signed(weight)}`,
      },
      surface,
    );
    element.style.setProperty("--weight", `${Math.round(4 + 30 * share)}%`);
    return element;
  });
  if (excerpt.newest) {
    const [first, last] = excerpt.newest;
    const title = "the newest sentence";
    const sentence = newfound.el("span", { class: "newest", title }, shown.slice(first, last));
    shown.splice(first, last - first, sentence);
  }
  return [excerpt.before ? "… " : null, shown, excerpt.after ? " …" : null];
};
newfound.fullest = newfound.words.reduce((most, row) => Math.max(most, Math.abs(row.novelty ?? 0)), 1e-9);

// The width of a bar for a share, in per cent of its track. The scale is that of the square root,
// up to the largest share shown, so that small shares can be seen and compared.
newfound.barWidth = (share, largest) => (share > 0 ? Math.max(100 * Math.sqrt(share / largest), 1.5) : 0);
newfound.barScale = (largest) => [
  newfound.el("span", { class: "track sample", "aria-hidden": "true" }, newfound.el("span", { class: "part novel" })),
  `full bar: ${newfound.format.percent(largest)}; square-root scale`,
];

// Addresses within the page: what each shows when it is opened. A name that occurs twice is
// numbered.
newfound.targets = new Map();
newfound.target = (kind, name, show) => {
  const address = `${kind}=${encodeURIComponent(name)}`;
  let own = address;
  for (let i = 2; newfound.targets.has(own); i += 1) own = `${address}~${i}`;
  newfound.targets.set(own, show);
  return `#${own}`;
};
newfound.setAddress = (hash) => {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // A frame without an address of its own: the links do not work there, the rest does.
  }
};
newfound.follow = () => {
  const address = location.hash.slice(1);
  if (!/^(word|theme|document)=/.test(address)) return;
  const show = newfound.targets.get(address);
  if (show) show();
  else
    document
      .getElementById("new-body")
      .prepend(newfound.notice("The link leads to something that is not in this page."));
};
newfound.link = (hash, what) =>
  newfound.el("a", { class: "link", href: hash, "aria-label": `Link to ${what}`, title: `Link to ${what}` }, "#");

// A passage of the original text, with its language and direction.
newfound.original = (excerpt, wanted = null) =>
  newfound.el(
    "p",
    { class: "original", dir: "auto", lang: newfound.data.made?.parameters?.language },
    newfound.pieces(excerpt, wanted),
  );

// Announce a message to screen readers.
newfound.say = (text) => {
  document.getElementById("said").textContent = text;
};

newfound.notice = (text) => newfound.el("p", { class: "notice" }, text);
newfound.legend = (...items) =>
  newfound.el(
    "p",
    { class: "legend" },
    items.filter(Boolean).map(([mark, text]) => newfound.el("span", { class: "key" }, mark, " ", text)),
  );

// A sample of a line, as in the charts.
newfound.strokes = {
  novel: ["var(--novel)", null],
  known: ["var(--known)", "6 4"],
  shared: ["var(--ink)", "1.5 4"],
  "shared, in known": ["var(--known)", "1.5 4"],
  "shared, in novel": ["var(--novel)", "9 3 1.5 3"],
  newfound: ["var(--novel)", null],
  "TF-IDF": ["var(--soft)", "6 4"],
};
newfound.line = (name) => {
  const [colour, dashes] = newfound.strokes[name];
  const svg = d3.create("svg").attr("width", 34).attr("height", 8).attr("aria-hidden", "true");
  svg
    .append("line")
    .attr("x1", 0)
    .attr("x2", 34)
    .attr("y1", 4)
    .attr("y2", 4)
    .attr("stroke", colour)
    .attr("stroke-width", 2.5)
    .attr("stroke-dasharray", dashes);
  return svg.node();
};

// Screen readers get a chart as one image: the names of its parts move to data attributes.
newfound.picture = (chart) => {
  chart.setAttribute("role", "img");
  for (const part of chart.querySelectorAll("g[aria-label]")) {
    part.dataset.part = part.getAttribute("aria-label");
    part.removeAttribute("aria-label");
    part.removeAttribute("aria-description");
  }
  return chart;
};

// Draw now, and again when the width changes.
newfound.responsive = (holder, draw) => {
  let width = 0;
  const redraw = () => {
    const now = Math.floor(holder.clientWidth);
    if (now > 0 && Math.abs(now - width) > 4) {
      width = now;
      holder.replaceChildren(draw(width));
    }
  };
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(holder);
  return () => {
    width = 0;
    redraw();
  };
};
