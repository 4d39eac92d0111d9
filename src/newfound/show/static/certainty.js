// Reliability: intervals, curves on held-out documents, cumulative curves, each beside TF-IDF.
"use strict";

(() => {
  const { el, data, format } = newfound;
  const common = (width, label) => ({
    className: "chart",
    width,
    height: Math.round(Math.min(width * 0.82, 330)),
    ariaLabel: label,
    marginLeft: 46,
    marginBottom: 38,
    marginTop: 22,
  });
  const figure = (title, text, draw) => {
    const holder = el("div", { class: "figure" });
    newfound.responsive(holder, (width) => newfound.picture(draw(width)));
    return el(
      "div",
      { class: "panel" },
      el("h3", {}, title),
      text ? el("p", { class: "lead" }, text) : null,
      holder,
    );
  };
  // A group of words: of one side, or shared by both.
  const called = (name) => name.replace(/known|novel/, (side) => newfound.names[side]);
  const key = (name, label) => [newfound.line(name), label];

  const curve = (which, title, x, y, guide, value) => {
    const both = data.curves.documents;
    const points = (name) => both[name][which].x.map((at, i) => ({ x: at, y: both[name][which].y[i] }));
    const text = ["newfound", "tfidf"]
      .filter((name) => both[name])
      .map((name) => `${name === "tfidf" ? "TF-IDF" : "newfound"} ${format.number(both[name][value], 4)}`)
      .join(", ");
    const panel = figure(title, text, (width) =>
      Plot.plot({
        ...common(width, `${title}: ${text}`),
        x: { label: `${x} →`, domain: [0, 1], ticks: 5 },
        y: { label: `↑ ${y}`, domain: [0, 1], ticks: 5, grid: true },
        marks: [
          guide === "diagonal"
            ? Plot.line(
                [
                  [0, 0],
                  [1, 1],
                ],
                { stroke: "var(--line)" },
              )
            : Plot.ruleY([guide], { stroke: "var(--line)" }),
          both.tfidf
            ? Plot.line(points("tfidf"), {
                x: "x",
                y: "y",
                stroke: "var(--soft)",
                strokeWidth: 1.8,
                strokeDasharray: "6 4",
              })
            : null,
          both.newfound
            ? Plot.line(points("newfound"), { x: "x", y: "y", stroke: "var(--novel)", strokeWidth: 2.4 })
            : null,
        ],
      }),
    );
    return panel;
  };

  const cumulative = (curves, title, label, type) => {
    const names = Object.keys(curves).filter((name) => curves[name].n);
    const values = names.flatMap((name) => curves[name].x);
    const panel = figure(title, null, (width) =>
      Plot.plot({
        ...common(width, `${title}: share of words with at most this score`),
        x: {
          label: `${label} →`,
          type,
          ticks:
            type === "log"
              ? d3
                  .range(-9, 10)
                  .map((power) => 10 ** power)
                  .filter((value) => value >= d3.min(values) && value <= d3.max(values))
              : 5,
          tickFormat: type === "log" ? (value) => format.number(value, 1) : undefined,
          domain: type === "log" ? d3.extent(values) : undefined,
        },
        y: { label: "↑ share of words", domain: [0, 1], ticks: 5, grid: true, percent: false },
        marks: [
          type === "log" ? Plot.ruleX([1], { stroke: "var(--line)" }) : null,
          ...names.map((name) =>
            Plot.line(
              curves[name].x.map((at, i) => ({ x: at, y: curves[name].share[i] })),
              {
                x: "x",
                y: "y",
                stroke: newfound.strokes[name][0],
                strokeWidth: 2,
                strokeDasharray: newfound.strokes[name][1],
                curve: "step-after",
              },
            ),
          ),
        ],
      }),
    );
    panel.append(
      newfound.legend(
        ...names.map((name) => key(name, `${called(name)} (${newfound.plural(curves[name].n, "word")})`)),
      ),
    );
    return panel;
  };

  const intervals = () => {
    const rows = newfound.words.filter((row) => row.new).slice(0, 20);
    return figure(
      "How many times more frequent the first words are, with 90 % intervals",
      "The bar is the range in which the true ratio lies for about nine in ten words.",
      (width) =>
        Plot.plot({
          className: "chart",
          width,
          height: 40 + 20 * rows.length,
          marginLeft: 110,
          marginBottom: 34,
          marginTop: 8,
          ariaLabel: "How many times more frequent the first words are, with their 90 % intervals",
          x: { label: `times as frequent in ${newfound.piles.novel} documents →`, type: "log", grid: true, ticks: 5 },
          y: {
            domain: rows.map((row) => row.word),
            label: null,
            tickFormat: (word) => (word.length > 15 ? `${word.slice(0, 14)}…` : word),
          },
          marks: [
            Plot.ruleX([1], { stroke: "var(--soft)" }),
            Plot.link(rows, {
              x1: "low",
              x2: "high",
              y1: "word",
              y2: "word",
              stroke: "var(--novel)",
              strokeWidth: 3,
              strokeOpacity: 0.45,
            }),
            Plot.dot(rows, { x: "times", y: "word", symbol: "triangle", fill: "var(--novel)", r: 4 }),
          ],
        }),
    );
  };

  newfound.section("certainty", "Reliability", () => {
    if (!data.curves) return null;
    const shown = [];
    const words = newfound.words.filter((row) => row.new);
    const ruled = words.filter((row) => row.stability !== null);
    if (data.words.several_machines && ruled.length) {
      const first = ruled.slice(0, 50);
      const all = first.filter((row) => row.stability === 1).length;
      shown.push(
        el(
          "p",
          { class: "lead" },
          `${newfound.plural(data.made.n_machines, "machine")} were trained, each on its own sample of the documents. All of them agree on the side of ${all} of the ${newfound.plural(first.length, "first new word")} that rules use.`,
        ),
      );
    }
    const panels = [];
    const documents = data.curves.documents;
    if (documents && Object.keys(documents).length) {
      const { newfound: ours, tfidf } = documents;
      if (!ours)
        shown.push(
          newfound.notice(
            "Curves on held-out documents need the describer that was fitted; with a saved model, only those of TF-IDF are shown.",
          ),
        );
      shown.push(
        newfound.legend(ours ? key("newfound", "newfound") : null, tfidf ? key("TF-IDF", "TF-IDF") : null),
      );
      const n = data.n_documents;
      panels.push(
        curve(
          "roc",
          "ROC on held-out documents",
          "false positive rate",
          "true positive rate",
          "diagonal",
          "auroc",
        ),
        curve(
          "pr",
          "Precision and recall",
          "recall",
          "precision",
          n.novel / (n.novel + n.known),
          "average_precision",
        ),
      );
    }
    panels.push(cumulative(data.curves.scores.newfound, "Scores of words", "score", "log"));
    if (data.curves.scores.tfidf)
      panels.push(cumulative(data.curves.scores.tfidf, "TF-IDF of words", "TF-IDF", "linear"));
    if (words.length) panels.push(intervals());
    shown.push(el("div", { class: "panels" }, panels));
    return shown;
  });
})();
