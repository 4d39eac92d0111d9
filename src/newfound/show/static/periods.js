// Several periods: an index to jump from, then the themes and words of each.
"use strict";

(() => {
  const { el, format, data } = newfound;
  const { rows, total, rest } = data.periods;
  const by = rest ? "value" : data.periods.by;
  const id = (number) => `period-${number + 1}`;

  newfound.section("new", null, () => [
    rows.length < total
      ? newfound.notice(`The report has the last ${format.count(rows.length)} of ${newfound.plural(total, by)}.`)
      : null,
    el(
      "nav",
      { "aria-label": `Index of the ${by}s` },
      el(
        "ol",
        { class: "index" },
        rows.map((period, number) =>
          el(
            "li",
            {},
            el("a", { href: `#${id(number)}` }, period.name),
            el(
              "span",
              { class: "new-themes" },
              period.themes.rows.some((theme) => !theme.may_be_chance)
                ? period.themes.rows
                    .filter((theme) => !theme.may_be_chance)
                    .slice(0, 3)
                    .flatMap((theme, i) => [i ? el("span", { class: "and" }, " · ") : null, el("bdi", {}, theme.name)])
                : el("span", { class: "none" }, period.themes.rows.length ? "no theme beyond chance" : "no theme"),
            ),
            el("small", {}, newfound.plural(period.n_novel, "document")),
          ),
        ),
      ),
    ),
  ]);

  const words = (period) =>
    newfound.table({
      name: `words-${period.name}`,
      what: `the words of ${period.name}`,
      rows: period.words,
      sort: "novelty",
      page: 10,
      note: `; ${newfound.plural(period.new, "word is", "words are")} new: novelty of at least 2, q of at most 5 % (▲)`,
      columns: [
        {
          key: "word",
          label: "Word",
          text: true,
          show: (row) => [newfound.mark(row.side), " ", el("bdi", {}, row.word)],
        },
        {
          key: "times",
          label: "Times more frequent",
          help: `How many times more frequent the word is than ${rest ? "in the others" : "before"}, shrunk for rare words.`,
          show: (row) => format.number(row.times),
        },
        {
          key: "low",
          label: "90 % interval",
          help: "The range in which the number of times lies with a probability of 90 %.",
          show: (row) => `${format.number(row.low)} to ${format.number(row.high)}`,
        },
        { key: "novelty", label: "Novelty", help: newfound.novelty, show: (row) => format.signed(row.novelty) },
        { key: "documents_novel", label: "Documents", help: `Number of documents of the ${by} with the word.` },
        {
          key: "documents_known",
          label: rest ? "Others" : "Before",
          help: `Number of ${rest ? "other" : "earlier"} documents with the word.`,
        },
        period.words.some((row) => row.curve) && {
          key: "curve",
          label: "Over time",
          text: true,
          value: (row) => row.curve?.first ?? null,
          help: "Documents with the word; sorted by when it was first seen.",
          show: (row) =>
            row.curve
              ? [newfound.bars(row.curve), el("span", { class: "unseen" }, newfound.when(row.curve))]
              : "–",
        },
      ].filter(Boolean),
      record: ({ curve, ...row }) => ({ period: period.name, ...row, first: curve?.first ?? null }),
    }).element;

  const article = (period, number) => {
    const heading = `${id(number)}-title`;
    return el(
      "article",
      { id: id(number), class: "period", "aria-labelledby": heading },
      el("h2", { id: heading }, period.name),
      el(
        "p",
        { class: "lead" },
        `${newfound.plural(period.n_novel, "document")}, compared with ${format.count(period.n_known)} ${rest ? "others" : "before"}. `,
        period.themes.rows.length ? newfound.unexplained(period.themes) : null,
      ),
      period.themes.rows.length ? newfound.themeList(period.themes, "h3", `${period.name}: `) : newfound.notice(newfound.noThemes),
      newfound.loose(period.themes),
      period.words.length
        ? [el("h3", {}, "Words"), words(period)]
        : el("p", { class: "none" }, `No word is more frequent than ${rest ? "in the others" : "before"}.`),
      el("p", { class: "source" }, el("a", { href: "#new" }, `Back to the index of the ${by}s`)),
    );
  };

  newfound.section("periods", `By ${data.periods.by}`, () => rows.map(article));
})();
