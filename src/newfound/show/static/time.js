// Documents over time: small curves, and a strip with all documents and all themes.
"use strict";

(() => {
  const { el, format, data } = newfound;
  const { time } = data;
  const most = 40; // rows of the strip
  const day = (text) => Date.parse(`${text}T00:00:00Z`);

  // The places of the bins on an axis from 0 to 100, so that every curve has the same axis.
  const edges = time ? [...time.starts, time.end].map(day) : [];
  const place = (at) => (100 * (at - edges[0])) / (edges.at(-1) - edges[0]);

  newfound.bin = (number) => {
    const name = time.names[number];
    if (time.joined > 1) return `${time.joined} ${time.by}s from ${name}`;
    return time.by === "week" ? `week of ${name}` : name;
  };
  newfound.unit = () => (time.joined > 1 ? `${time.joined} ${time.by}s` : time.by);

  const totals = (curve) => curve.known.map((count, i) => count + curve.novel[i] + (curve.later?.[i] ?? 0));

  const shape = (name, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  // Bars of one curve. The picture stretches to its place; texts beside it say the same.
  newfound.bars = (curve, { titles = false } = {}) => {
    const counts = totals(curve);
    const top = Math.max(...counts, 1);
    const svg = shape("svg", {
      class: "bars",
      viewBox: "0 0 100 100",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    });
    counts.forEach((count, i) => {
      const left = place(edges[i]);
      const wide = place(edges[i + 1]) - left;
      let bottom = 100;
      for (const side of ["known", "novel", "later"]) {
        const high = (98 * (curve[side]?.[i] ?? 0)) / top;
        if (!high) continue;
        bottom -= high;
        const bar = { class: side, x: left + 0.08 * wide, y: bottom, width: 0.84 * wide, height: high };
        svg.append(shape("rect", bar));
      }
      if (!titles) return;
      const all = time.known[i] + time.novel[i];
      const share = all && curve !== time ? ` of ${format.count(all)}` : "";
      const text = `${newfound.bin(i)}: ${format.count(count)}${share} documents`;
      svg.append(
        shape(
          "rect",
          { class: "hover", x: left, y: 0, width: wide, height: 100 },
          shape("title", {}, document.createTextNode(text)),
        ),
      );
    });
    svg.append(shape("line", { class: "floor", x1: 0, x2: 100, y1: 100, y2: 100 }));
    if (time.boundary) {
      const at = place(day(time.boundary));
      svg.append(shape("line", { class: "boundary", x1: at, x2: at, y1: 0, y2: 100 }));
    }
    return svg;
  };

  // When something was first seen, and when most.
  const peakOf = (curve) => {
    const [bin, documents] = curve.peak;
    return `peak${curve.later ? " until then" : ""} in ${bin} (${format.count(documents)})`;
  };
  newfound.when = (curve) =>
    curve && curve.first ? `first seen ${curve.first}, ${peakOf(curve)}` : null;

  // The days under the bars.
  newfound.axis = () => {
    const scale = d3.scaleUtc([edges[0], edges.at(-1)], [0, 100]);
    const days = (edges.at(-1) - edges[0]) / 864e5;
    const written = d3.utcFormat(days > 1500 ? "%Y" : days > 200 ? "%b %Y" : "%-d %b");
    return el(
      "div",
      { class: "axis", "aria-hidden": "true" },
      scale
        .ticks(6)
        .filter((tick) => scale(tick) < 92) // a later label would stick out
        .map((tick, i) => {
          const label = el("span", { class: i % 2 ? "second" : null }, written(tick));
          label.style.left = `${scale(tick)}%`;
          return label;
        }),
    );
  };

  newfound.timeLegend = () => {
    const swatch = (name) => el("span", { class: `swatch ${name}`, "aria-hidden": "true" });
    if (data.periods)
      return newfound.legend(
        [swatch("known"), `before the ${data.periods.by}`],
        [swatch("novel"), `in the ${data.periods.by}`],
        [swatch("later"), "after it"],
      );
    return newfound.legend(
      [swatch("novel"), `${newfound.piles.novel} documents`],
      [swatch("known"), `${newfound.piles.known} documents`],
      time.boundary && [swatch("boundary"), `the ${newfound.piles.novel} documents begin on ${time.boundary}`],
    );
  };

  const row = (name, curve, note) =>
    el(
      "li",
      {},
      el("div", { class: "of" }, el("bdi", {}, name), el("small", {}, note)),
      newfound.bars(curve, { titles: true }),
    );

  // The strip: all documents, and beneath each other the curves that are passed.
  newfound.strip = (curves) => {
    return el(
      "div",
      { class: "strip" },
      el(
        "ul",
        {},
        row("All documents", time, peakOf(time)),
        curves.map(([name, curve]) => row(name, curve, curve.first ? peakOf(curve) : "no dates")),
      ),
      newfound.axis(),
    );
  };

  newfound.section("time", "Time", () => {
    if (!time) return null;
    // Themes beyond chance; on a page of periods, the first one of each.
    const all = data.periods
      ? data.periods.rows.flatMap(({ name, themes }) =>
          themes.rows.slice(0, 1).filter((theme) => !theme.may_be_chance).map((theme) => ({ ...theme, name: `${name}: ${theme.name}` })),
        )
      : (data.themes?.rows ?? []).filter((theme) => !theme.may_be_chance);
    const themes = all.filter((theme) => theme.curve).slice(-most);
    const rows = time.names.map((name, i) => ({
      bin: name,
      all: time.known[i] + time.novel[i],
      known: time.known[i],
      novel: time.novel[i],
      ...Object.fromEntries(themes.map((theme, k) => [`theme ${k + 1}`, totals(theme.curve)[i]])),
    }));
    const table = newfound.table({
      name: "time",
      what: "the documents over time",
      rows,
      sort: "bin",
      descending: false,
      columns: [
        { key: "bin", label: `First day of the ${newfound.unit()}`, text: true, show: (row) => row.bin },
        { key: "all", label: "All documents" },
        { key: "known", label: newfound.capital(newfound.names.known) },
        { key: "novel", label: newfound.capital(newfound.names.novel) },
        ...themes.map((theme, k) => ({ key: `theme ${k + 1}`, label: theme.name })),
      ],
      record: (row) =>
        Object.fromEntries(
          Object.entries(row).map(([key, value]) => [
            key.startsWith("theme ") ? themes[Number(key.slice(6)) - 1].name : key,
            value,
          ]),
        ),
    });
    return [
      el(
        "p",
        { class: "lead" },
        `Documents by ${newfound.unit()}${themes.length ? `, and below ${data.periods ? `the first theme of each ${data.periods.by}` : "the themes"}, each with its own scale` : ""}.`,
        time.missing ? ` ${newfound.plural(time.missing, "document")} without a date are left out.` : null,
      ),
      newfound.timeLegend(),
      newfound.strip(themes.map((theme) => [theme.name, theme.curve])),
      el("details", { class: "figures" }, el("summary", {}, "The figures"), table.element),
    ];
  });
})();
