// The words: the first twelve, the scatter plot, the table.
"use strict";

// A dozen words that are new, with their shares.
newfound.dozen = () => {
  const { el, data, format } = newfound;
  if (!data.words || !data.summary.words.length) return null;
  const n = data.n_documents;
  const share = (row, side) => row[`documents_${side}`] / n[side];
  const largest = Math.max(
    ...data.summary.words.flatMap((number) =>
      ["novel", "known"].map((side) => share(newfound.words[number], side)),
    ),
  );
  return [
    el(
      "ol",
      { class: "dozen", "aria-label": "The words that are new" },
      data.summary.words.map((number, i) => {
        const row = newfound.words[number];
        const bar = (side) => {
          const element = el("span", { class: `part ${side}`, "aria-hidden": "true" });
          element.style.width = `${newfound.barWidth(share(row, side), largest)}%`;
          return el("span", { class: "track" }, element);
        };
        const shares = ["novel", "known"].map((side) =>
          el(
            "span",
            {},
            newfound.mark(side),
            ` ${format.percent(row[`documents_${side}`] / n[side])} `,
            el("span", { class: "unseen" }, `of the ${newfound.piles[side]} documents `),
          ),
        );
        return el(
          "li",
          {},
          newfound.word(row.word, { name: data.summary.names[i] }),
          bar("novel"),
          bar("known"),
          el("small", {}, shares),
        );
      }),
    ),
    newfound.legend(
      [newfound.mark("novel"), `share of the ${newfound.piles.novel} documents that have the word`],
      [newfound.mark("known"), `share of the ${newfound.piles.known} documents that have it`],
      newfound.barScale(largest),
    ),
  ];
};

// The words are at the top only if there are no themes, which say more.
newfound.section("new", null, () => {
  const { data } = newfound;
  return [data.themes?.rows.length ? null : newfound.dozen(), data.notes.map(newfound.notice)];
});

newfound.section("words", "Words", () => {
  const { el, data, format, words } = newfound;
  if (!words.length) return null;
  const columns = [
    {
      key: "word",
      label: "Word",
      text: true,
      show: (row) => [
        newfound.word(row.word, { mark: true }),
        row.forms.length > 1
          ? el(
              "small",
              { class: "forms" },
              " ",
              el(
                "bdi",
                {},
                row.forms
                  .filter((form) => form !== row.word)
                  .slice(0, 3)
                  .join(", "),
              ),
            )
          : null,
      ],
    },
    {
      key: "side",
      label: "Side",
      text: true,
      help: "The side that the word indicates; unsure where q is above 5 %, and so the interval of times includes 1, or where the novelty is below 2 in either direction.",
      show: (row) => newfound.names[row.side],
    },
    { key: "novelty", label: "Novelty", help: newfound.novelty, show: (row) => format.signed(row.novelty) },
    {
      key: "times",
      label: "Times",
      help: `How many times more frequent the word is in ${newfound.piles.novel} documents than in ${newfound.piles.known} ones, shrunk for rare words.`,
      show: (row) => format.number(row.times),
    },
    {
      key: "low",
      label: "90 % interval",
      help: "The range in which the number of times lies with a probability of 90 %.",
      show: (row) => `${format.number(row.low)} to ${format.number(row.high)}`,
    },
    {
      key: "q",
      label: "q",
      help: "Expected share of false discoveries if you stop at this word (Benjamini–Hochberg).",
      show: (row) => format.chance(row.q),
    },
    data.words.several_machines && {
      key: "stability",
      label: "Agree",
      help: "Of the machines whose rules use the word, the share that agree on its side.",
      show: (row) => format.share(row.stability),
    },
    {
      key: "score",
      label: "Score",
      help: `How many times as frequent in the rules for ${newfound.piles.novel} as in the rules for ${newfound.piles.known}; the score of the paper.`,
      show: (row) => format.number(row.score),
    },
    { key: "F_N", label: `In rules for ${newfound.piles.novel}`, help: `Number of rules in which it indicates ${newfound.piles.novel}.` },
    { key: "F_K", label: `In rules for ${newfound.piles.known}`, help: `Number of rules in which it indicates ${newfound.piles.known}.` },
    {
      key: "documents_novel",
      label: newfound.capital(`${newfound.piles.novel} documents`),
      help: `Number of ${newfound.piles.novel} documents with the word, in any form.`,
    },
    {
      key: "documents_known",
      label: newfound.capital(`${newfound.piles.known} documents`),
      help: `Number of ${newfound.piles.known} documents with the word, in any form.`,
    },
  ].filter(Boolean);
  const part =
    words.length < data.words.total
      ? `the most important of ${newfound.plural(data.words.total, "word")}`
      : "";
  const table = newfound.table({
    name: "words",
    what: "the words",
    columns,
    rows: words,
    sort: "novelty",
    note: part ? `: ${part}` : "",
    which: part,
    record: ({
      word,
      side,
      novelty,
      times,
      low,
      high,
      q,
      stability,
      score,
      F_N,
      F_K,
      documents_novel,
      documents_known,
      group,
      forms,
    }) => ({
      word,
      side,
      novelty,
      times,
      low,
      high,
      q,
      stability,
      score,
      F_N,
      F_K,
      documents_novel,
      documents_known,
      group,
      forms,
    }),
  });
  const search = el("input", {
    type: "search",
    id: "words-search",
    autocomplete: "off",
    spellcheck: "false",
  });
  const side = el(
    "select",
    { id: "words-side" },
    [
      ["", "all"],
      ["novel", newfound.names.novel],
      ["known", newfound.names.known],
      ["neither", "unsure"],
    ].map(([value, label]) => el("option", { value }, label)),
  );
  const least = el("input", { type: "number", id: "words-least", min: "1", value: "1" });
  const holder = el("div", { class: "figure" });
  let kept = words;
  const redraw = newfound.responsive(holder, (width) =>
    newfound.scatter(words, new Set(kept), width, kept.length < words.length),
  );
  const apply = () => {
    const wanted = search.value.trim().toLowerCase();
    const documents = Number(least.value) || 1;
    kept = table.filter(
      (row) =>
        (!side.value || row.side === side.value) &&
        row.documents >= documents &&
        (!wanted || row.word.includes(wanted) || row.forms.some((form) => form.includes(wanted))),
    );
    redraw();
  };
  for (const input of [search, side, least]) input.addEventListener("input", apply);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && kept.length) newfound.openCard(kept[0].number);
  });
  return [
    data.themes?.rows.length ? newfound.dozen() : null,
    el(
      "p",
      { class: "lead" },
      "Each mark is a word. Higher up means stronger evidence that it is new; further right means more documents have it. Select a word to see its sentences, rules and context.",
    ),
    el(
      "div",
      { class: "filters", role: "search", "aria-label": "Filter the words" },
      el("label", { for: "words-search" }, "Search"),
      search,
      el("label", { for: "words-side" }, "Side"),
      side,
      el("label", { for: "words-least" }, "In at least"),
      el("span", {}, least, " documents"),
    ),
    newfound.legend(
      ...["novel", "known", "neither"].map((name) => [
        newfound.mark(name),
        name === "neither" ? "unsure: may be chance" : `indicates ${newfound.piles[name]}`,
      ]),
    ),
    holder,
    table.element,
    newfound.aside(data.words),
  ];
});

// The dates, numbers and letters that were left out of all words.
newfound.aside = ({ set_aside: words, n_set_aside: n }) =>
  n
    ? newfound.el(
        "details",
        { class: "aside" },
        newfound.el("summary", {}, `Set aside: ${newfound.plural(n, "date, number or letter", "dates, numbers and letters")}`),
        newfound.el("p", {}, newfound.el("bdi", {}, words.join(", ")), words.length < n ? ", …" : null),
      )
    : null;

// Scatter plot of frequency and novelty, with as many labels as fit without overlap.
newfound.scatter = (words, kept, width, filtered) => {
  const { el, format } = newfound;
  const narrow = width < 560;
  const height = Math.round(Math.min(Math.max(width * 0.6, 320), 560));
  const margin = { top: 24, right: narrow ? 16 : 40, bottom: 38, left: 44 };
  const rows = words.filter((row) => row.novelty !== null && row.documents > 0);
  // Words with the same number of documents would overlap: a hash of the letters shifts each a little.
  const spread = (row) => {
    let hash = 7;
    for (const letter of row.word) hash = (hash * 31 + letter.codePointAt(0)) % 9973;
    return row.documents * (0.88 + (0.24 * hash) / 9973);
  };
  const points = rows.map((row) => ({ row, x: spread(row), y: row.novelty }));
  const most = d3.max(points, (point) => point.x) ?? 1;
  const far = 1.08 * Math.max(d3.max(points, (point) => Math.abs(point.y)) ?? 1, 0.1);
  const low = (d3.min(points, (point) => point.y) ?? 0) < 0 ? -far : -0.08 * far;
  const x = d3.scaleLog(
    [0.8 * (d3.min(points, (point) => point.x) ?? 1), 1.25 * most],
    [margin.left, width - margin.right],
  );
  const y = d3.scaleLinear(
    [
      Math.max(low, 1.1 * (d3.min(points, (point) => point.y) ?? 0) - 0.06 * far),
      1.1 * (d3.max(points, (point) => point.y) ?? 1) + 0.02 * far,
    ],
    [height - margin.bottom, margin.top],
  );
  const dots = (side, symbol, options) =>
    Plot.dot(
      points.filter((point) => point.row.side === side),
      {
        x: "x",
        y: "y",
        symbol,
        r: 3.2,
        strokeWidth: 1,
        opacity: (point) => (kept.has(point.row) ? 0.85 : 0.12),
        ...options,
      },
    );
  const chart = Plot.plot({
    className: "chart",
    width,
    height,
    marginTop: margin.top,
    marginRight: margin.right,
    marginBottom: margin.bottom,
    marginLeft: margin.left,
    ariaLabel: "Scatter of words: documents that have the word against novelty",
    x: {
      type: "log",
      domain: x.domain(),
      range: x.range(),
      label: "documents with the word →",
      ticks: narrow ? 4 : 8,
      tickFormat: (value) => format.count(value),
    },
    y: { domain: y.domain(), range: y.range(), label: "↑ novelty", grid: true, ticks: 6 },
    marks: [
      Plot.ruleY([0], { stroke: "var(--soft)" }),
      dots("neither", "circle", { stroke: "var(--soft)", fill: "none", r: 2.4 }),
      dots("known", "square", { fill: "var(--known)" }),
      dots("novel", "triangle", { fill: "var(--novel)", r: 3.6 }),
      Plot.tip(
        points.filter((point) => kept.has(point.row)),
        Plot.pointer({
          x: "x",
          y: "y",
          fill: "var(--panel)",
          stroke: "var(--line)",
          maxRadius: 30,
          title: ({ row }) =>
            `${row.word}\nnovelty ${format.signed(row.novelty)}\n${format.number(row.times)} times as frequent (${format.number(row.low)} to ${format.number(row.high)})\n${newfound.plural(row.documents_novel, `${newfound.piles.novel} document`)}\n${newfound.plural(row.documents_known, `${newfound.piles.known} document`)}`,
        }),
      ),
    ],
  });
  newfound.picture(chart);
  newfound.labels(
    chart,
    points.filter((point) => kept.has(point.row) && (filtered || point.row.side !== "neither")),
    points,
    x,
    y,
    { width, height, margin, most: filtered ? 120 : Math.round(width / 9) },
  );
  chart.addEventListener("click", () => {
    if (chart.value) newfound.openCard(chart.value.row.number);
  });
  return el(
    "figure",
    {},
    chart,
    el(
      "figcaption",
      {},
      "Hover over a mark for counts, click it for its card. The table below lists the same words. Marks are shifted slightly sideways so that they do not overlap.",
    ),
  );
};

// Put labels beside points, those farthest from 0 first. The strongest words always get one, if
// need be at a distance and with a line; the others where there is room.
newfound.labels = (chart, points, all, x, y, { width, height, margin, most }) => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "12px system-ui, sans-serif";
  const boxes = [];
  const marks = all.map((point) => [x(point.x), y(point.y)]);
  const covers = (box, px, py) =>
    marks.some(
      ([mx, my]) =>
        mx > box.left - 3 &&
        mx < box.right + 3 &&
        my > box.top - 2 &&
        my < box.bottom + 2 &&
        (mx !== px || my !== py),
    );
  const free = (box) =>
    box.left > margin.left &&
    box.right < width - 2 &&
    box.top > 8 &&
    box.bottom < height - margin.bottom &&
    boxes.every(
      (other) =>
        box.right < other.left || box.left > other.right || box.bottom < other.top || box.top > other.bottom,
    );
  const ordered = [...points].sort(
    (a, b) => Math.abs(b.y) - Math.abs(a.y) || b.row.documents - a.row.documents,
  );
  // The two sides take turns, so that both get labels.
  const novel = ordered.filter((point) => point.y > 0);
  const known = ordered.filter((point) => point.y <= 0);
  const turns = [];
  while (novel.length || known.length) turns.push(...novel.splice(0, 2), ...known.splice(0, 1));
  const layer = d3.select(chart).append("g").attr("class", "labels").attr("aria-hidden", "true");
  const strongest = new Set(turns.slice(0, width < 560 ? 6 : 15));
  const near = [
    ["start", 7, 4],
    ["end", -7, 4],
    ["middle", 0, -8],
    ["middle", 0, 16],
  ];
  const far = d3.range(14, 200, 8).flatMap((away) =>
    d3.range(8).map((turn) => {
      const dx = Math.round(1.4 * away * Math.cos((turn * Math.PI) / 4));
      const dy = Math.round(away * Math.sin((turn * Math.PI) / 4));
      return [dx > 4 ? "start" : dx < -4 ? "end" : "middle", dx, dy + 4];
    }),
  );
  let placed = 0;
  for (const point of turns) {
    const { row, x: at, y: value } = point;
    if (placed >= most) break;
    const name = row.word.length > 24 ? `${row.word.slice(0, 23)}…` : row.word;
    const long = pen.measureText(name).width + 3;
    const px = x(at);
    const py = y(value);
    const places = near.map((place) => [...place, false]);
    if (strongest.has(point)) {
      places.push(...far.map((place) => [...place, false]));
      places.push(...[...near, ...far].map((place) => [...place, true])); // on other marks
    }
    for (const [anchor, dx, dy, onMarks] of places) {
      const left = px + dx - (anchor === "end" ? long : anchor === "middle" ? long / 2 : 0);
      const box = { left, right: left + long, top: py + dy - 11, bottom: py + dy + 3 };
      if (!free(box) || (!onMarks && covers(box, px, py))) continue;
      if (Math.hypot(dx, dy - 4) > 13)
        layer
          .append("line")
          .attr("class", row.side)
          .attr("x1", px)
          .attr("y1", py)
          .attr("x2", px + dx - Math.sign(dx) * (anchor === "middle" ? 0 : 2))
          .attr("y2", dy > 4 && anchor === "middle" ? py + dy - 10 : py + dy - 4 + (anchor === "middle" ? 6 : 0));
      boxes.push(box, { left: px - 3, right: px + 3, top: py - 3, bottom: py + 3 });
      layer
        .append("text")
        .attr("x", px + dx)
        .attr("y", py + dy)
        .attr("text-anchor", anchor)
        .attr("class", row.side)
        .text(name);
      placed += 1;
      break;
    }
  }
};
