// The themes: each opens to its words, rules and documents.
"use strict";

(() => {
  const { el, format } = newfound;

  const list = (parts, separator) => parts.flatMap((part, i) => (i ? [separator, part] : [part]));

  // How the two sides are called: on a page of periods, novel is what is in the period.
  const by = newfound.data.periods?.by;
  const others = newfound.data.periods?.rest ? "other" : "earlier";
  const shares = (novel, known) =>
    by
      ? `${format.percent(novel)} of the documents of the ${by}, ${format.percent(known)} of the ${others} ones`
      : `${format.percent(novel)} of the ${newfound.piles.novel} documents, ${format.percent(known)} of the ${newfound.piles.known} ones`;
  const counts = (novel, known) =>
    by
      ? `${newfound.plural(novel, "document")} of the ${by}, ${format.count(known)} ${others}`
      : `${newfound.plural(novel, `${newfound.piles.novel} document`)}, ${newfound.plural(known, `${newfound.piles.known} document`)}`;

  const held = (theme) =>
    theme.held_out_share_novel === null || theme.held_out_share_novel === undefined
      ? "A half of the documents alone does not give this theme, so there are no held-out figures."
      : `Among documents left out, it is ${shares(theme.held_out_share_novel, theme.held_out_share_known)}: each half of the documents chose a theme like this, and the other half was counted.`;

  const rule = (row, first) =>
    el(
      "li",
      {},
      el(
        "span",
        { class: "rule" },
        first ? null : el("span", { class: "and" }, "or "),
        list(
          row.words.map((word) => newfound.word(word)),
          el("span", { class: "and" }, " and "),
        ),
      ),
      " ",
      el("small", {}, counts(row.novel, row.known)),
    );

  const rules = (theme) => [
    el("h4", {}, "Rules"),
    el(
      "p",
      { class: "why" },
      "A document belongs to the theme if it has all words of one line. ",
      held(theme),
    ),
    el(
      "ul",
      { class: "rules" },
      theme.rules.map((row, i) => rule(row, i === 0)),
    ),
    theme.rules.length < theme.n_rules
      ? el("p", { class: "none" }, `and ${newfound.plural(theme.n_rules - theme.rules.length, "other rule")}`)
      : null,
  ];

  const documents = (theme) =>
    theme.documents && theme.documents.length
      ? [
          el("h4", {}, "Typical documents"),
          el(
            "ul",
            { class: "sentences" },
            theme.documents.map((row) =>
              el(
                "li",
                {},
                newfound.original(row),
                el("p", { class: "source" }, el("bdi", {}, row.name), row.date ? `, ${row.date}` : null),
              ),
            ),
          ),
        ]
      : null;

  const content = (theme, address, parts) => [
    parts,
    documents(theme),
    el("h4", {}, "Words"),
    el(
      "ul",
      { class: "chips" },
      theme.words.map((word) => el("li", {}, newfound.word(word))),
    ),
    rules(theme),
    el("p", { class: "source" }, el("a", { href: address }, "Link to this theme")),
  ];

  // A line of a document.
  const example = (text) => (text ? el("span", { class: "example" }, el("bdi", {}, text)) : null);

  // One theme as a row that opens. `widest` is the largest share among the themes.
  const row = (theme, widest, level, prefix) => {
    const bar = (side) => {
      const part = el("span", { class: `part ${side}` });
      part.style.width = `${newfound.barWidth(theme[`share_${side}`], widest)}%`;
      return el("span", { class: "track", "aria-hidden": "true" }, part);
    };
    const body = el("div", { class: "theme-body" });
    const address = newfound.target("theme", `${prefix}${theme.name}`, () => {
      element.open = true;
      element.scrollIntoView();
    });
    const when = newfound.when(theme.curve);
    const element = el(
      "details",
      { class: theme.gone ? "theme gone" : "theme" },
      el(
        "summary",
        {},
        el(
          "span",
          { class: "theme-row" },
          el(
            "span",
            { class: "theme-text" },
            el(level, {}, el("bdi", {}, theme.name)),
            example(theme.example),
            el(
              "span",
              { class: "theme-figures" },
              shares(theme.share_novel, theme.share_known),
            ),
            el(
              "small",
              { title: newfound.evidence },
              `evidence ${format.number(theme.evidence, 3)}`,
              theme.may_be_chance ? ", may be chance" : null,
              theme.parts.length ? ` · ${newfound.plural(theme.parts.length, "part")}` : null,
              when ? ` · ${when}` : null,
            ),
          ),
          el("span", { class: "theme-shares" }, bar("novel"), bar("known")),
          theme.curve ? newfound.bars(theme.curve) : null,
        ),
      ),
      body,
    );
    const parts = () =>
      theme.parts.length
        ? [
            el("h4", {}, "Parts"),
            el(
              "ol",
              { class: "themes" },
              theme.parts.map((part) => row(part, widest, "h4", `${prefix}${theme.name}: `)),
            ),
          ]
        : null;
    // Built when it is opened: most themes of a page stay closed.
    element.addEventListener("toggle", () => {
      if (!element.open || body.childNodes.length) return;
      body.replaceChildren(...[content(theme, address, parts())].flat(Infinity).filter(Boolean));
    });
    return el("li", {}, element);
  };

  const largest = (rows) =>
    Math.max(...rows.map((theme) => Math.max(theme.share_novel, theme.share_known)), 1e-9);

  const listOf = (rows, level, prefix, widest) =>
    el(
      "ol",
      { class: "themes" },
      rows.map((theme) => row(theme, widest, level, prefix)),
    );

  // Those that may be chance stand apart, closed.
  newfound.themeList = (themes, level = "h3", prefix = "") => {
    const widest = largest(themes.rows);
    const [sure, unsure] = [false, true].map((chance) =>
      themes.rows.filter((theme) => theme.may_be_chance === chance),
    );
    return [
      sure.length ? listOf(sure, level, prefix, widest) : null,
      unsure.length
        ? el(
            "details",
            { class: "chance" },
            el("summary", {}, `${newfound.plural(themes.may_be_chance, sure.length ? "more theme" : "theme")} may be chance`),
            listOf(unsure, level, prefix, widest),
          )
        : null,
    ];
  };

  // What is new, but in no theme: words, each with a document.
  newfound.loose = (themes) =>
    themes.loose.length
      ? el(
          "details",
          { class: "chance loose" },
          el("summary", {}, `Also new, mostly in no sure theme: ${newfound.plural(themes.n_loose, "word")}`),
          el(
            "ul",
            {},
            themes.loose.map((row) => el("li", {}, newfound.word(row.word), " ", example(row.example))),
          ),
          themes.loose.length < themes.n_loose
            ? el("p", { class: "none" }, `and ${newfound.plural(themes.n_loose - themes.loose.length, "other word")}`)
            : null,
        )
      : null;

  // What the themes leave out, in a sentence.
  newfound.unexplained = (themes) => {
    const shown =
      themes.rows.length < themes.total
        ? `The first ${format.count(themes.rows.length)} of ${newfound.plural(themes.total, "theme")} are shown. `
        : "";
    return themes.unexplained === null
      ? shown
      : `${shown}Of the documents with a word that is surely new, ${format.percent(themes.unexplained)} are in no sure theme.`;
  };

  newfound.noThemes = by
    ? `No theme was found: no group of words is more frequent in the ${by} than chance can explain.`
    : `No theme was found: no group of words is more frequent in the ${newfound.piles.novel} documents than chance can explain.`;

  newfound.section("themes", "Themes", () => {
    const { themes } = newfound.data;
    if (!themes) return null;
    const gone = themes.gone.length
      ? [
          el("h3", {}, newfound.data.time?.boundary ? "Less than before" : "Less frequent"),
          listOf(themes.gone, "h4", "less: ", largest(themes.gone)),
        ]
      : null;
    if (!themes.rows.length) return [newfound.notice(newfound.noThemes), newfound.loose(themes), gone];
    return [
      el(
        "p",
        { class: "lead" },
        "Documents that belong together and are more frequent, the surest theme first. Open a theme for its parts, documents, words and rules. ",
        newfound.unexplained(themes),
      ),
      newfound.legend(
        [newfound.mark("novel"), `share of the ${newfound.piles.novel} documents`],
        [newfound.mark("known"), `share of the ${newfound.piles.known} documents`],
        newfound.barScale(largest(themes.rows)),
      ),
      newfound.themeList(themes),
      newfound.loose(themes),
      gone,
    ];
  });
})();
