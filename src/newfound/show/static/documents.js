// Documents ranked by novelty, with words marked by their contribution.
"use strict";

newfound.section("documents", "Documents", () => {
  const { el, data, format } = newfound;
  if (!data.documents || !data.documents.rows.length) {
    return data.words
      ? newfound.notice(
          "Documents and examples need the texts, which a saved model does not hold: pass known and novel to the report.",
        )
      : null;
  }
  const { rows, total } = data.documents;
  const detected = data.documents.detected;
  const most = Math.max(...rows.map((row) => Math.abs(row.score ?? 0)), 1e-9);
  let shown = 8;
  let kept = rows;
  const list = el("ol", { class: "documents" });
  const more = el("button", {
    type: "button",
    onclick: () => {
      shown += 16;
      draw();
    },
  });
  const count = el("p", { class: "count", role: "status" });
  const article = (row) => {
    const side = row.novel ? "novel" : "known";
    const bar = el("span", { class: `part ${row.score >= 0 ? "novel" : "known"}` });
    bar.style.width = `${(100 * Math.abs(row.score ?? 0)) / most}%`;
    return el(
      "li",
      { id: `document-${row.rank}`, tabindex: "-1" },
      el(
        "article",
        {},
        el(
          "header",
          {},
          el("span", { class: "rank" }, `${format.count(row.rank)}.`),
          " ",
          newfound.sideLabel(side),
          " ",
          el("bdi", { class: "name" }, row.name),
          " ",
          newfound.link(addresses.get(row), `document ${format.count(row.rank)}`),
          " ",
          el("span", { class: "meter", "aria-hidden": "true" }, bar),
          el("span", { class: "value" }, `novelty ${format.signed(row.score)}`),
          row.p_value === undefined
            ? null
            : el(
                "span",
                { class: "value", title: `Expected share of ${newfound.piles.known} documents with at least this novelty` },
                `p ${format.chance(row.p_value)}`,
              ),
          row.status && row.status !== "ok" ? el("span", { class: "value" }, row.status) : null,
          row.nearest ? el("span", { class: "value" }, "nearest: ", el("bdi", {}, row.nearest)) : null,
          row.group ? el("span", { class: "value" }, "group: ", el("bdi", {}, row.group)) : null,
        ),
        newfound.original(row),
        row.reasons && row.reasons.length
          ? el(
              "ul",
              { class: "reasons" },
              row.reasons.map((reason) => el("li", {}, reason)),
            )
          : null,
        newfound.reasons(row),
        row.without
          ? el(
              "p",
              { class: "why" },
              "would be known without ",
              row.without.flatMap((word, i) => [i ? ", " : null, newfound.word(word)]),
              row.without_more ? ` and ${newfound.plural(row.without_more, "other word")}` : null,
            )
          : null,
      ),
    );
  };
  const draw = () => {
    list.replaceChildren(...kept.slice(0, shown).map(article));
    const left = kept.length - shown;
    more.hidden = left <= 0;
    more.textContent = `Show ${format.count(Math.min(16, left))} more`;
    const found = kept.length < rows.length ? ` of ${format.count(rows.length)} in this page match` : "";
    const which = detected ? "the most novel ones" : "the most novel and the most surprising ones";
    const missing = total - rows.length;
    const absent = missing
      ? `; ${newfound.plural(missing, "other document is", "other documents are")} not in this page, which has ${which}, and ${missing === 1 ? "is" : "are"} not searched`
      : "";
    const none = `None of the ${newfound.plural(rows.length, "document")} in this page matches`;
    const part = `${format.count(Math.min(shown, kept.length))} of ${newfound.plural(kept.length, "document")} shown${found ? ` (${format.count(kept.length)}${found})` : ""}`;
    count.textContent = `${kept.length || !rows.length ? part : none}${absent}.`;
  };
  const search = el("input", { type: "search", id: "documents-search", autocomplete: "off" });
  const options = detected
    ? [
        ["", "all"],
        ["novel", "novel"],
        ["known", "not novel"],
      ]
    : [
        ["", "all"],
        ["novel", newfound.names.novel],
        ["known", newfound.names.known],
        ["surprising", "surprising"],
      ];
  const side = el(
    "select",
    { id: "documents-side" },
    options.map(([value, label]) => el("option", { value }, label)),
  );
  const groups = [...new Set(rows.map((row) => row.group).filter(Boolean))];
  const group = groups.length
    ? el("select", { id: "documents-group" }, [
        el("option", { value: "" }, "all"),
        groups.map((name) => el("option", { value: name }, name)),
      ])
    : null;
  const n = data.n_documents;
  const surprising = (row) => (row.novel ? row.rank > n.novel : row.rank <= n.novel);
  const text = (row) => row.pieces.map((piece) => (typeof piece === "string" ? piece : piece[0])).join("");
  const apply = () => {
    const wanted = search.value.trim().toLowerCase();
    kept = rows.filter(
      (row) =>
        (!side.value ||
          (side.value === "surprising" ? surprising(row) : row.novel === (side.value === "novel"))) &&
        (!group || !group.value || row.group === group.value) &&
        (!wanted || row.name.toLowerCase().includes(wanted) || text(row).toLowerCase().includes(wanted)),
    );
    shown = 8;
    draw();
  };
  for (const input of [search, side, group]) input?.addEventListener("input", apply);
  const show = (row) => {
    for (const input of [search, side, group]) if (input) input.value = "";
    kept = rows;
    shown = Math.max(8, rows.indexOf(row) + 1);
    draw();
    const item = list.children[rows.indexOf(row)];
    item.scrollIntoView();
    item.focus({ preventScroll: true });
  };
  const addresses = new Map(
    rows.map((row) => [row, newfound.target("document", row.rank, () => show(row))]),
  );
  draw();
  const records = () =>
    kept.map(({ rank, name, novel, score, p_value, nearest, status, group: own, why, ...row }) => ({
      rank,
      document: name,
      novel,
      novelty: score,
      ...(detected ? { p_value, nearest, status, group: own } : {}),
      words: why.map(([word]) => word),
      text: text(row),
    }));
  const how = detected
    ? "The incoming documents, the most novel first."
    : data.documents.held_out
      ? "The most novel first. Each document was scored by machines that were not trained on it."
      : "The most novel first, scored by their words.";
  return [
    el(
      "p",
      { class: "lead" },
      `${how} Words that indicate ${newfound.piles.novel} are `,
      el("mark", { class: "novel sample" }, "underlined"),
      `, words that indicate ${newfound.piles.known} are `,
      el("mark", { class: "known sample" }, "dotted"),
      "; a stronger colour means a larger contribution.",
    ),
    detected ? newfound.pValues(data.detection) : null,
    data.groups && data.groups.length ? newfound.groups(data.groups, data.without_group) : null,
    detected ? el("h3", {}, "The documents") : null,
    el(
      "div",
      { class: "filters", role: "search", "aria-label": "Filter the documents" },
      el("label", { for: "documents-search" }, "Search"),
      search,
      el("label", { for: "documents-side" }, "Show"),
      side,
      group ? [el("label", { for: "documents-group" }, "Group"), group] : null,
    ),
    list,
    el("div", { class: "foot" }, more, count, newfound.downloads("documents", "the documents", records)),
  ];
});

// The words that contribute most to the rank of a document, for novel and for known.
newfound.reasons = ({ why, pieces, after }) => {
  const { el, format } = newfound;
  // Words of the reasons are marked in the text; a piece says by which reason.
  const marked = new Set(pieces.filter(Array.isArray).map((piece) => piece[3]));
  const hidden = (reason) => after && !marked.has(why.indexOf(reason));
  const list = (side, reasons) =>
    reasons.length
      ? el(
          "span",
          { class: "reason" },
          newfound.mark(side),
          ` for ${newfound.piles[side]}: `,
          reasons.flatMap((reason, i) => [
            i ? ", " : null,
            newfound.word(reason[0], { plain: true }),
            " ",
            el("small", {}, format.signed(reason[1]), hidden(reason) ? " (further on)" : null),
          ]),
        )
      : null;
  const parts = [
    list(
      "novel",
      why.filter(([, value]) => value > 0),
    ),
    list(
      "known",
      why.filter(([, value]) => value < 0),
    ),
  ];
  return parts.some(Boolean) ? el("p", { class: "why" }, parts) : null;
};

// The groups among the novel documents.
newfound.groups = (groups, others) => {
  const { el } = newfound;
  return [
    el("h3", {}, "Groups among the novel documents"),
    el(
      "ul",
      { class: "groups" },
      groups.map((group) =>
        el(
          "li",
          {},
          el("b", {}, el("bdi", {}, group.name)),
          ` ${newfound.plural(group.documents, "document")}`,
          group.words.length
            ? [": ", group.words.flatMap((word, i) => [i ? ", " : null, newfound.word(word)])]
            : null,
        ),
      ),
    ),
    others ? el("p", {}, others) : null,
  ];
};

// Histogram of the p-values: those of known documents are uniform, those of new ones small.
newfound.pValues = ({ p_values, alpha, n }) => {
  const { el, format } = newfound;
  const step = 1 / p_values.length;
  const bins = p_values.map((count, i) => ({ count, from: i * step, to: (i + 1) * step }));
  const holder = el("div", { class: "figure short" });
  const text = `${newfound.plural(p_values[0], "document")} of ${format.count(n)} with a p-value below ${format.number(step)}; about ${format.count(Math.round(n * step))} are expected if all are known`;
  newfound.responsive(holder, (width) =>
    newfound.picture(
      Plot.plot({
        className: "chart",
        width: Math.min(width, 720),
        height: 170,
        marginLeft: 46,
        marginBottom: 36,
        marginTop: 20,
        ariaLabel: `P-values of the incoming documents: ${text}`,
        x: { label: "p-value →", domain: [0, 1], ticks: 5 },
        y: { label: "↑ documents", grid: true, ticks: 4 },
        marks: [
          Plot.rectY(bins, {
            x1: "from",
            x2: "to",
            y: "count",
            fill: (bin) => (bin.from < alpha ? "var(--novel)" : "var(--known)"),
            fillOpacity: 0.75,
            inset: 1,
          }),
          Plot.ruleY([n * step], { stroke: "var(--ink)", strokeDasharray: "4 3" }),
          Plot.ruleX([alpha], { stroke: "var(--novel)" }),
        ],
      }),
    ),
  );
  return [
    el("h3", {}, "P-values of the incoming documents"),
    el(
      "p",
      { class: "lead" },
      `${text} (dashed line). Documents with a p-value up to ${format.number(alpha)} are called novel.`,
    ),
    holder,
  ];
};
