// The card of a word: forms, context, rules, and sentences of both sides.
"use strict";

(() => {
  const { el, format, data } = newfound;
  const dialog = document.getElementById("card");
  let current = null;

  const fact = (label, value, help) =>
    el("div", { class: "fact", title: help }, el("dt", {}, label), el("dd", {}, value));

  const facts = (row) => {
    const n = data.n_documents;
    return el(
      "dl",
      { class: "facts" },
      fact(
        `${newfound.piles.novel} documents`,
        `${format.count(row.documents_novel)} (${format.share(row.documents_novel / n.novel)})`,
      ),
      fact(
        `${newfound.piles.known} documents`,
        `${format.count(row.documents_known)} (${format.share(row.documents_known / n.known)})`,
      ),
      fact(
        "novelty",
        format.signed(row.novelty),
        newfound.novelty,
      ),
      fact(
        "times as frequent",
        `${format.number(row.times)} (${format.number(row.low)} to ${format.number(row.high)})`,
        `How many times more frequent in ${newfound.piles.novel} documents than in ${newfound.piles.known} ones, shrunk for rare words. In brackets: the 90 % interval.`,
      ),
      fact(
        "q",
        format.chance(row.q),
        "Expected share of false discoveries if you stop at this word (Benjamini–Hochberg).",
      ),
      data.words.several_machines
        ? fact(
            "machines that agree",
            format.share(row.stability),
            "Share of the machines that put the word on this side.",
          )
        : null,
      fact(
        "score",
        format.number(row.score),
        `How many times as frequent in the rules for ${newfound.piles.novel} as in the rules for ${newfound.piles.known}.`,
      ),
      fact(`in rules for ${newfound.piles.novel}`, format.count(row.F_N)),
      fact(`in rules for ${newfound.piles.known}`, format.count(row.F_K)),
    );
  };

  // When the word was used.
  const times = (curve) =>
    curve && curve.first
      ? [
          el("h4", {}, "Over time"),
          el("div", { class: "large-curve" }, newfound.bars(curve, { titles: true }), newfound.axis()),
          el("p", { class: "why" }, `Documents with the word by ${newfound.unit()}: ${newfound.when(curve)}.`),
        ]
      : null;

  const company = (partners, side) =>
    el(
      "div",
      {},
      el("h4", {}, newfound.sideLabel(side), " context"),
      partners.length
        ? el(
            "ul",
            { class: "chips" },
            partners.map(([word, rules, lift]) =>
              el(
                "li",
                { title: `in ${rules} rules with both words, ${lift} times as many as expected by chance` },
                newfound.word(word),
                " ",
                el("small", {}, `×${format.number(lift, 2)}`),
              ),
            ),
          )
        : el("p", { class: "none" }, "No word is in its rules more often than expected by chance."),
    );

  const sentences = (numbers, side, row) =>
    el(
      "div",
      {},
      el("h4", {}, newfound.sideLabel(side), " sentences"),
      numbers.length
        ? el(
            "ul",
            { class: "sentences" },
            numbers.map((number) => {
              const example = data.examples[number];
              return el(
                "li",
                {},
                newfound.original(example, row.number),
                el("p", { class: "source" }, el("bdi", {}, example.name)),
              );
            }),
          )
        : el(
            "p",
            { class: "none" },
            row[`documents_${side}`]
              ? `The texts of the ${newfound.piles[side]} documents with this word are not available.`
              : `No ${newfound.piles[side]} document has it.`,
          ),
    );

  const body = (row) => {
    const card = data.cards[row.number];
    if (!card)
      return el(
        "p",
        { class: "none" },
        "The report has context, rules and sentences only for the most important words; this is not one of them.",
      );
    return [
      times(card.curve),
      card.examples
        ? el(
            "div",
            { class: "pair" },
            sentences(card.examples.novel, "novel", row),
            sentences(card.examples.known, "known", row),
          )
        : el(
            "p",
            { class: "none" },
            "Sentences need the texts, which a saved model does not hold: pass known and novel to the report.",
          ),
      el(
        "div",
        { class: "pair" },
        company(card.company.novel, "novel"),
        company(card.company.known, "known"),
      ),
      el("h4", {}, "Rules with this word"),
      card.rules.length
        ? el(
            "ul",
            { class: "rules" },
            card.rules.map((number) =>
              el(
                "li",
                {},
                newfound.rule(data.rules.rows[number]),
                " ",
                el("small", {}, newfound.support(data.rules.rows[number])),
              ),
            ),
          )
        : el("p", { class: "none" }, "No rule uses this word."),
    ];
  };

  const step = (by) => {
    const next = current + by;
    if (next >= 0 && next < newfound.words.length) newfound.openCard(next);
  };

  newfound.openCard = (number) => {
    const row = newfound.words[number];
    current = number;
    const heading = el(
      "h3",
      { id: "card-word", tabindex: "-1" },
      newfound.mark(row.side),
      " ",
      el("bdi", {}, row.written ?? row.word),
    );
    const forms = row.forms.filter((form) => form !== row.word);
    dialog.replaceChildren(
      el(
        "div",
        { class: "card-bar" },
        el(
          "button",
          {
            type: "button",
            class: "quiet",
            disabled: number === 0,
            onclick: () => step(-1),
            "aria-label": "Previous word",
          },
          "←",
        ),
        el(
          "button",
          {
            type: "button",
            class: "quiet",
            disabled: number === newfound.words.length - 1,
            onclick: () => step(1),
            "aria-label": "Next word",
          },
          "→",
        ),
        el(
          "span",
          { class: "rank" },
          newfound.link(addresses[number], `the word ${row.word}`),
          ` word ${format.count(number + 1)} of ${format.count(newfound.words.length)} by novelty`,
        ),
        el(
          "button",
          {
            type: "button",
            class: "quiet close",
            onclick: () => dialog.close(),
            "aria-label": "Close the card",
          },
          "✕",
        ),
      ),
      el(
        "div",
        { class: "card-body" },
        heading,
        el(
          "p",
          { class: "forms" },
          row.side === "neither"
            ? `Neither clearly ${newfound.piles.novel} nor clearly ${newfound.piles.known}`
            : `Indicates ${newfound.piles[row.side]}`,
          forms.length
            ? [" · forms: ", row.forms.flatMap((form, i) => [i ? ", " : "", el("bdi", {}, form)])]
            : null,
        ),
        facts(row),
        body(row),
      ),
    );
    newfound.setAddress(addresses[number]);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    heading.focus();
  };

  const addresses = newfound.words.map(({ word }, number) =>
    newfound.target("word", word, () => newfound.openCard(number)),
  );
  // The address is that of the word only as long as its card is open.
  dialog.addEventListener("close", () => newfound.setAddress("#words"));

  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  });
})();
