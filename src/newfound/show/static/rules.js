// Phrases and rules; senses of words that both sides use.
"use strict";

// How many negated words of a rule are shown at first.
newfound.negatedShown = (rule) => {
  const short = rule.plain.length ? 2 : 4;
  return rule.negated.length > short + 1 ? short : rule.negated.length;
};

// A rule as text, with its words as buttons.
newfound.rule = (rule) => {
  const { el } = newfound;
  const and = () => el("span", { class: "and" }, " and ");
  const negated = rule.negated.map((word) => [
    el("span", { class: "not" }, "not "),
    newfound.word(word, { plain: true }),
  ]);
  const parts = rule.plain.map((word) => [newfound.word(word)]);
  const beyond = rule.more
    ? [el("span", { class: "not" }, `not ${newfound.plural(rule.more, "other word")}`)]
    : null;
  // Show few negated words at first; a button shows the others.
  const hidden = negated.splice(newfound.negatedShown(rule));
  parts.push(...negated);
  if (hidden.length) {
    const rest = el("span", {});
    const show = () =>
      rest.replaceChildren(
        ...[...hidden, beyond].filter(Boolean).flatMap((part, i) => (i ? [and(), ...part] : part)),
      );
    rest.append(
      el(
        "button",
        { type: "button", class: "more", onclick: show },
        `not ${newfound.plural(hidden.length + rule.more, "other")}`,
      ),
    );
    parts.push(rest);
  } else if (beyond) parts.push(beyond);
  return el(
    "span",
    { class: "rule" },
    parts.flatMap((part, i) => (i ? [and(), part] : [part])),
    el("span", { class: "then" }, " → "),
    newfound.sideLabel(rule.side),
  );
};

newfound.support = (rule) => {
  const precision = rule.precision === null ? "" : `, precision ${newfound.format.share(rule.precision)}`;
  const base = precision ? `, base rate ${newfound.format.share(rule.base_rate)}` : "";
  return `${newfound.plural(rule.documents_novel, `${newfound.piles.novel} document`)}, ${newfound.plural(rule.documents_known, `${newfound.piles.known} document`)}${precision}${base}`;
};

newfound.section("rules", "Rules", () => {
  const { el, data, format } = newfound;
  if (!data.rules || !data.rules.rows.length) return null;
  const sides = (rows) =>
    el(
      "select",
      {},
      [
        ["", "both sides"],
        ["novel", newfound.names.novel],
        ["known", newfound.names.known],
      ].map(([value, label]) => el("option", { value }, label)),
    );
  const filtered = (table, id, text) => {
    const search = el("input", {
      type: "search",
      id: `${id}-search`,
      autocomplete: "off",
      spellcheck: "false",
    });
    const side = sides();
    side.id = `${id}-side`;
    const apply = () =>
      table.filter(
        (row) =>
          (!side.value || row.side === side.value) && text(row).includes(search.value.trim().toLowerCase()),
      );
    for (const input of [search, side]) input.addEventListener("input", apply);
    return el(
      "div",
      { class: "filters", role: "search", "aria-label": `Filter the ${id}` },
      el("label", { for: search.id }, "Search"),
      search,
      el("label", { for: side.id }, "Side"),
      side,
    );
  };
  const counts = [
    { key: "documents_novel", label: newfound.capital(`${newfound.piles.novel} documents`) },
    { key: "documents_known", label: newfound.capital(`${newfound.piles.known} documents`) },
    {
      key: "precision",
      label: "Precision",
      help: "Share of the matched documents that are on its side.",
      show: (row) => format.share(row.precision),
    },
    {
      key: "held_out_precision",
      label: "Held-out precision",
      help: "The precision on documents that no machine was trained on.",
      show: (row) => format.share(row.held_out_precision),
    },
  ];
  const learned = { key: "count", label: "Count", help: "Number of learned rules with these words." };
  const known = (rows) =>
    counts.filter(
      (column) => column.key !== "held_out_precision" || rows.some((row) => row.held_out_precision != null),
    );
  const listed = data.rules.rows.filter((row) => row.listed);
  const written = (row) => [...row.plain, ...row.negated.map((word) => `NOT ${word}`)].join(" AND ");
  // The search finds a rule by the words that are shown, not by those behind "not 14 others".
  const shownOf = (row) =>
    written({ plain: row.plain, negated: row.negated.slice(0, newfound.negatedShown(row)) });
  const rules = newfound.table({
    name: "rules",
    what: "the rules",
    rows: listed,
    sort: null,
    page: 12,
    note: `: those that separate the sides best, of ${newfound.plural(data.rules.total, "rule")}; variants of a rule, rules of negated words only and rules no better than the base rate are left out`,
    columns: [
      { key: "rule", label: "Rule", text: true, value: written, show: newfound.rule },
      {
        key: "gain",
        label: "Gain",
        help: "Share of its own side's documents that it matches, minus that of the other side's; documents that were held out do not count.",
        show: (row) => format.share(row.gain),
      },
      ...known(listed),
      {
        key: "base_rate",
        label: "Base rate",
        help: "Share of all documents that are on its side: the precision of a rule that says nothing.",
        show: (row) => format.share(row.base_rate),
      },
      {
        key: "variants",
        label: "Variants",
        help: "Number of other rules with almost the same words, which are left out.",
      },
    ],
    record: ({
      more,
      side,
      documents_novel,
      documents_known,
      precision,
      held_out_precision,
      base_rate,
      variants,
      ...row
    }) => ({
      rule: written(row),
      words_left_out: more,
      side,
      documents_novel,
      documents_known,
      precision,
      held_out_precision,
      base_rate,
      variants,
    }),
  });
  const shown = [
    el(
      "p",
      { class: "lead" },
      "A rule matches a document that has its words and none of the words after “not”. Scores, phrases and context are computed from the rules; novelty is computed from the documents.",
    ),
  ];
  if (data.phrases && data.phrases.rows.length) {
    const phrases = newfound.table({
      name: "phrases",
      what: "the phrases",
      rows: data.phrases.rows,
      sort: "strength",
      page: 12,
      note: data.phrases.rows.length < data.phrases.total ? ` of ${format.count(data.phrases.total)}` : "",
      columns: [
        {
          key: "phrase",
          label: "Phrase",
          text: true,
          show: (row) => [
            newfound.mark(row.side),
            " ",
            row.words.flatMap((word, i) => [
              i ? el("span", { class: "and" }, " and ") : null,
              newfound.word(word),
            ]),
          ],
        },
        { key: "side", label: "Side", text: true, show: (row) => newfound.names[row.side] },
        {
          key: "strength",
          label: "Strength",
          help: "The smaller of two values: the novelty of the phrase, and how much more often its words occur together on its side than by chance.",
          show: (row) => format.number(row.strength),
        },
        {
          key: "novelty",
          label: "Novelty",
          help: newfound.novelty,
          show: (row) => format.signed(row.novelty),
        },
        ...known(data.phrases.rows),
        learned,
      ],
      record: (row) => row,
    });
    shown.push(
      el("h3", {}, "Words that occur together"),
      filtered(phrases, "phrases", (row) => row.phrase.toLowerCase()),
      phrases.element,
    );
  }
  shown.push(
    el("h3", {}, "Rules"),
    filtered(rules, "rules", (row) => shownOf(row).toLowerCase()),
    rules.element,
  );
  return shown;
});

newfound.section("senses", "Senses", () => {
  const { el, data, format } = newfound;
  if (!data.senses || !data.senses.length) return null;
  const use = (sense, name) =>
    el(
      "div",
      {},
      el("h4", {}, newfound.sideLabel(name), " use"),
      el(
        "ul",
        { class: "senses" },
        sense[name].map((row) => {
          const both = [sense.word, row.word].map((word) => newfound.numbers.get(word));
          return el(
            "li",
            {},
            el("span", { class: "with" }, "with "),
            newfound.word(row.word),
            " ",
            el(
              "small",
              {},
              `together in ${format.count(row.documents_novel)} ${newfound.piles.novel} and ${newfound.plural(row.documents_known, `${newfound.piles.known} document`)}`,
            ),
            row.example ? newfound.original(row.example, both) : null,
          );
        }),
      ),
    );
  const list = el("div", {});
  let shown = 4;
  const more = el("button", { type: "button", onclick: () => draw((shown = data.senses.length)) });
  const draw = () => {
    list.replaceChildren(
      ...data.senses
        .slice(0, shown)
        .map((sense) =>
          el(
            "article",
            { class: "sense" },
            el("h3", {}, newfound.word(sense.word, { plain: true })),
            el("div", { class: "pair" }, use(sense, "novel"), use(sense, "known")),
          ),
        ),
    );
    more.hidden = shown >= data.senses.length;
    more.textContent = `Show ${format.count(data.senses.length - shown)} more`;
  };
  draw();
  return [
    el(
      "p",
      { class: "lead" },
      "Words that both sides use, but with different words around them. The largest differences come first.",
    ),
    list,
    el("div", { class: "foot" }, more),
  ];
});
