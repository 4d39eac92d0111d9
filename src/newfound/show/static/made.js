// Parameters, versions, times, and what was read.
"use strict";

newfound.section("made", "How it was made", () => {
  const { el, data, format } = newfound;
  const { made } = data;
  const written = (value) =>
    value === null
      ? "none"
      : Array.isArray(value)
        ? value.join(" to ")
        : typeof value === "boolean"
          ? value
            ? "yes"
            : "no"
          : String(value);
  const list = (title, entries) =>
    el(
      "div",
      {},
      el("h3", {}, title),
      el(
        "dl",
        { class: "settings" },
        Object.entries(entries).map(([name, value]) =>
          el("div", {}, el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, written(value))),
        ),
      ),
    );
  const piles = Object.entries(made.piles).map(([side, pile]) =>
    el("li", {}, newfound.sideLabel(side), " ", el("bdi", {}, pile.summary)),
  );
  const seconds = Object.fromEntries(
    Object.entries(made.seconds ?? {}).map(([name, value]) => [name, `${value} s`]),
  );
  const n = data.n_documents;
  // Why a section is not there.
  const undescribed = "what is new was not described, because too few documents are novel or by request";
  const reasons = {
    time: data.words || data.periods ? "the documents have no dates; give --date-column, or dates in Python" : undescribed,
    rules: data.words ? "no rule is better than the base rate" : undescribed,
    senses: !data.words
      ? undescribed
      : data.senses
        ? "no word is used by both sides in a different context"
        : "it needs the texts, which a saved model does not hold",
    words: data.words ? "no word could be scored" : undescribed,
    themes: undescribed,
    context: undescribed,
    documents: "there are no texts",
    certainty: undescribed,
  };
  // A page of periods does not have all sections.
  const leftOut = newfound.leftOut.filter((id) => reasons[id] && document.getElementById(`${id}-title`));
  return [
    data.detection
      ? el(
          "p",
          { class: "lead" },
          "The detector was trained on known documents only; known documents that were held back set its threshold. The documents that it called novel were then described against the known ones.",
        )
      : null,
    data.words
      ? el(
          "p",
          { class: "lead" },
          `The documents contain ${newfound.plural(made.n_words, "word")}; all forms of a word count as one. Tsetlin Machines learned ${newfound.plural(made.n_rules, "rule")} that separate ${newfound.piles.known} from ${newfound.piles.novel} documents. Scores, phrases and context are computed from the rules, the novelty of a word from the documents that have it.`,
        )
      : null,
    data.periods
      ? el(
          "p",
          { class: "lead" },
          `Each ${data.periods.by} was described against all ${data.periods.rest ? "others" : "documents before it"}. The parameters are those of every description.`,
        )
      : null,
    piles.length || n
      ? [
          el("h3", {}, "Documents"),
          el(
            "ul",
            { class: "piles" },
            piles.length
              ? piles
              : ["known", "novel"].map((side) =>
                  el("li", {}, newfound.sideLabel(side), ` ${newfound.plural(n[side], "document")}`),
                ),
          ),
        ]
      : null,
    el(
      "div",
      { class: "columns" },
      el(
        "div",
        {},
        made.detector ? list("Detector", made.detector) : null,
        data.words || data.periods ? list(made.detector ? "Description" : "Parameters", made.parameters) : null,
      ),
      el("div", {}, list("Versions", made.versions), list("Times", { ...seconds, written: made.at })),
    ),
    leftOut.length
      ? [
          el("h3", {}, "Sections left out"),
          el(
            "ul",
            { class: "left-out" },
            leftOut.map((id) =>
              el("li", {}, `${document.getElementById(`${id}-title`).textContent}: ${reasons[id]}.`),
            ),
          ),
        ]
      : null,
    el(
      "p",
      { class: "source" },
      `Charts: ${data.periods ? "d3" : "d3 and Observable Plot"} (ISC licence), included in this file. This page loads nothing and sends nothing.`,
    ),
  ];
});
