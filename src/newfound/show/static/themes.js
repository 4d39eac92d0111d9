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
      : `Held out, rules find ${shares(theme.held_out_share_novel, theme.held_out_share_known)}: each half of the documents was searched with the rules that the other half gives.`;

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
      el(
        "small",
        {},
        counts(row.novel, row.known),
        row.held_out_novel + row.held_out_known
          ? `; held out ${format.count(row.held_out_novel)} and ${format.count(row.held_out_known)}`
          : null,
      ),
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

  const joined = (theme) =>
    theme.joined.length
      ? [
          el("h4", {}, "How it was joined"),
          el(
            "p",
            { class: "why" },
            `These words are in the same ${by ? "" : `${newfound.piles.novel} `}documents more often than by chance (1 is always, 0 is chance): `,
            list(
              theme.joined.map(([a, b, strength]) => [
                el("bdi", {}, a),
                " – ",
                el("bdi", {}, b),
                " ",
                el("small", {}, format.number(strength, 2)),
              ]),
              ", ",
            ),
            ".",
          ),
        ]
      : null;

  const content = (theme, address) => [
    el("h4", {}, "Words"),
    el(
      "ul",
      { class: "chips" },
      theme.words.map((word) => el("li", {}, newfound.word(word))),
    ),
    rules(theme),
    documents(theme),
    joined(theme),
    el("p", { class: "source" }, el("a", { href: address }, "Link to this theme")),
  ];

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
      { class: "theme" },
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
              when ? ` · ${when}` : null,
            ),
          ),
          el("span", { class: "theme-shares" }, bar("novel"), bar("known")),
          theme.curve ? newfound.bars(theme.curve) : null,
        ),
      ),
      body,
    );
    // Built when it is opened: most themes of a page stay closed.
    element.addEventListener("toggle", () => {
      if (element.open && !body.childNodes.length) body.replaceChildren(...[content(theme, address)].flat(Infinity).filter(Boolean));
    });
    return el("li", {}, element);
  };

  const largest = (themes) =>
    Math.max(...themes.rows.map((theme) => Math.max(theme.share_novel, theme.share_known)), 1e-9);

  newfound.themeList = (themes, level = "h3", prefix = "") => {
    const widest = largest(themes);
    return el(
      "ol",
      { class: "themes" },
      themes.rows.map((theme) => row(theme, widest, level, prefix)),
    );
  };

  // What the themes leave out, in a sentence.
  newfound.unexplained = (themes) => {
    const shown =
      themes.rows.length < themes.total
        ? `The first ${format.count(themes.rows.length)} of ${newfound.plural(themes.total, "theme")} are shown. `
        : "";
    return themes.unexplained === null
      ? shown
      : `${shown}${format.percent(themes.unexplained)} of the novelty is in documents of no theme.`;
  };

  newfound.noThemes = by
    ? `No theme was found: no group of words is more frequent in the ${by} than chance can explain.`
    : `No theme was found: no group of words is more frequent in the ${newfound.piles.novel} documents than chance can explain.`;

  newfound.section("themes", "Themes", () => {
    const { data } = newfound;
    if (!data.themes) return null;
    if (!data.themes.rows.length) return newfound.notice(newfound.noThemes);
    return [
      el(
        "p",
        { class: "lead" },
        "Words that are new together, the theme that explains most first. Open a theme for its words, rules and documents. ",
        newfound.unexplained(data.themes),
      ),
      newfound.legend(
        [newfound.mark("novel"), `share of the ${newfound.piles.novel} documents`],
        [newfound.mark("known"), `share of the ${newfound.piles.known} documents`],
        newfound.barScale(largest(data.themes)),
      ),
      newfound.themeList(data.themes),
    ];
  });
})();
