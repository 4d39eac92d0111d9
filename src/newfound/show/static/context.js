// Which words rules use together: a matrix, and a network of the strongest pairs.
"use strict";

newfound.section("context", "Context", () => {
  const { el, data, format } = newfound;
  const shown = [];
  // Rules of a side are offered if at least a tenth of the pairs are in them: else all is dots.
  const filled = (side) => {
    const { F_ij } = data.context[side];
    const pairs = F_ij.flatMap((row, i) => row.slice(i + 1));
    return pairs.filter(Boolean).length >= 0.1 * pairs.length;
  };
  const sides = data.context ? ["novel", "known", "both"].filter(filled) : [];
  if (data.words && !sides.length)
    shown.push(
      newfound.notice(
        "The context matrix is left out: fewer than a tenth of the pairs of new words are in the same rule.",
      ),
    );
  if (sides.length) {
    const holder = el("div", {
      class: "scroll",
      tabindex: "0",
      role: "region",
      "aria-label": "Context matrix",
    });
    const choose = el(
      "select",
      { id: "context-side" },
      [
        ["novel", `for ${newfound.piles.novel}`],
        ["known", `for ${newfound.piles.known}`],
        ["both", "for either"],
      ]
        .filter(([value]) => sides.includes(value))
        .map(([value, label]) => el("option", { value }, label)),
    );
    const draw = () => holder.replaceChildren(newfound.matrix(data.context, choose.value));
    choose.addEventListener("input", draw);
    draw();
    const records = () => {
      const { words } = data.context;
      const side = data.context[choose.value];
      return words.flatMap((a, i) =>
        words.slice(i + 1).map((b, k) => ({
          a,
          b,
          side: choose.value,
          rules_a: side.F_i[i],
          rules_b: side.F_i[i + 1 + k],
          rules_both: side.F_ij[i][i + 1 + k],
          lift: side.lift[i][i + 1 + k],
        })),
      );
    };
    shown.push(
      el("h3", {}, "Context matrix of the new words"),
      el(
        "p",
        { class: "lead" },
        "How many times as often as expected by chance two words are in the same rule: ",
        el("b", {}, "×2"),
        " is twice as often, a dot is never. A darker cell is a higher value.",
      ),
      el("div", { class: "filters" }, el("label", { for: "context-side" }, "Rules"), choose),
      holder,
      el("div", { class: "foot" }, newfound.downloads("context", "the context matrix", records)),
    );
  }
  if (data.pairs && data.pairs.length) {
    const holder = el("div", { class: "figure" });
    newfound.responsive(holder, (width) => newfound.network(data.pairs, width));
    const table = newfound.table({
      name: "pairs",
      what: "the strongest pairs",
      rows: data.pairs,
      sort: "strength",
      page: 10,
      columns: [
        { key: "a", label: "Word", text: true, show: (row) => newfound.word(row.a, { mark: true }) },
        { key: "b", label: "With", text: true, show: (row) => newfound.word(row.b, { mark: true }) },
        { key: "side", label: "Rules for", text: true, show: (row) => newfound.names[row.side] },
        { key: "rules", label: "Rules with both" },
        { key: "lift", label: "Lift", help: "Rules with both words, divided by the number expected by chance.", show: (row) => `×${format.number(row.lift)}` },
        {
          key: "strength",
          label: "Strength",
          help: "(rules with both − 1) · logarithm of the lift",
          show: (row) => format.number(row.strength),
        },
      ],
      record: (row) => row,
    });
    shown.push(
      el("h3", {}, "The strongest pairs"),
      newfound.legend(
        [newfound.line("novel"), `together in rules for ${newfound.piles.novel}`],
        [newfound.line("known"), `together in rules for ${newfound.piles.known}`],
      ),
      holder,
      el("details", {}, el("summary", {}, "The pairs as a table"), table.element),
    );
  }
  return shown.length ? shown : null;
});

newfound.matrix = (context, side) => {
  const { el, format } = newfound;
  const { words } = context;
  const { lift, F_ij } = context[side];
  const most = Math.max(
    Math.log(2),
    ...lift
      .flat()
      .filter((value) => value > 1)
      .map(Math.log),
  );
  const cell = (i, j) => {
    if (i === j) return el("td", { class: "same" });
    const value = lift[i][j];
    if (!F_ij[i][j])
      return el("td", { class: "none", title: `${words[i]} and ${words[j]}: never together` }, "·");
    const element = el(
      "td",
      { title: `${words[i]} and ${words[j]}: together in ${newfound.plural(F_ij[i][j], "rule")}` },
      `×${format.number(value, 2)}`,
    );
    element.style.setProperty("--weight", `${Math.round((34 * Math.max(0, Math.log(value))) / most)}%`);
    return element;
  };
  return el(
    "table",
    { class: `matrix ${side}` },
    el(
      "caption",
      { class: "unseen" },
      "How many times as often as expected by chance two words are in the same rule",
    ),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("td"),
        words.map((word) => el("th", { scope: "col" }, el("span", {}, el("bdi", {}, word)))),
      ),
    ),
    el(
      "tbody",
      {},
      words.map((word, i) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, newfound.word(word)),
          words.map((_, j) => cell(i, j)),
        ),
      ),
    ),
  );
};

// A network: names are pushed apart until none overlap, lines connect words of the same rules.
newfound.network = (pairs, width) => {
  const { el } = newfound;
  const shown = width < 560 ? pairs.slice(0, 24) : pairs;
  const names = [...new Set(shown.flatMap((pair) => [pair.a, pair.b]))];
  const height = Math.round(
    Math.min(Math.max(width * 0.56, 60 + 13 * names.length, 280), width < 560 ? 560 : 640),
  );
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "13px system-ui, sans-serif";
  const nodes = names.map((name) => {
    const text = name.length > 24 ? `${name.slice(0, 23)}…` : name;
    const row = newfound.words[newfound.numbers.get(name)];
    return { name, text, row, w: pen.measureText(text).width / 2 + 15, h: 12 };
  });
  const places = new Map(names.map((name, i) => [name, i]));
  const links = shown.map((pair) => ({ source: places.get(pair.a), target: places.get(pair.b), ...pair }));
  const apart = () => {
    for (let i = 0; i < nodes.length; i += 1) {
      for (let j = i + 1; j < nodes.length; j += 1) {
        const [a, b] = [nodes[i], nodes[j]];
        const dx = b.x - a.x || 0.01;
        const dy = b.y - a.y || 0.01;
        const overX = a.w + b.w + 4 - Math.abs(dx);
        const overY = a.h + b.h + 4 - Math.abs(dy);
        if (overX <= 0 || overY <= 0) continue;
        if (overX < overY) {
          a.x -= (Math.sign(dx) * overX) / 2;
          b.x += (Math.sign(dx) * overX) / 2;
        } else {
          a.y -= (Math.sign(dy) * overY) / 2;
          b.y += (Math.sign(dy) * overY) / 2;
        }
      }
    }
    for (const node of nodes) {
      node.x = Math.max(node.w + 2, Math.min(width - node.w - 2, node.x));
      node.y = Math.max(node.h + 2, Math.min(height - node.h - 2, node.y));
    }
  };
  d3.forceSimulation(nodes)
    .randomSource(d3.randomLcg(7))
    .force("link", d3.forceLink(links).distance(90).strength(0.25))
    .force("charge", d3.forceManyBody().strength(-420))
    .force("x", d3.forceX(width / 2).strength(0.1))
    .force("y", d3.forceY(height / 2).strength(0.16))
    .stop()
    .tick(300);
  // Use the whole area, then push overlapping names apart.
  for (const [axis, size] of [
    ["x", width - 120],
    ["y", height - 40],
  ]) {
    const [least, greatest] = d3.extent(nodes, (item) => item[axis]);
    const offset = axis === "x" ? 60 : 20;
    for (const item of nodes)
      item[axis] =
        greatest > least ? offset + (size * (item[axis] - least)) / (greatest - least) : offset + size / 2;
  }
  for (let i = 0; i < 200; i += 1) apart();
  const most = d3.max(links, (link) => link.strength);
  const svg = d3
    .create("svg")
    .attr("class", "chart network")
    .attr("role", "img")
    .attr("width", width)
    .attr("height", height)
    .attr("viewBox", `0 0 ${width} ${height}`)
    .attr(
      "aria-label",
      `Network of ${shown.length} pairs of words that rules use together; the table below lists them`,
    );
  svg
    .append("g")
    .selectAll("line")
    .data(links)
    .join("line")
    .attr("class", (link) => `link ${link.side}`)
    .attr("x1", (link) => link.source.x)
    .attr("y1", (link) => link.source.y)
    .attr("x2", (link) => link.target.x)
    .attr("y2", (link) => link.target.y)
    .attr("stroke-width", (link) => 1 + 3.5 * Math.sqrt(link.strength / most));
  const node = svg
    .append("g")
    .selectAll("g")
    .data(nodes)
    .join("g")
    .attr("class", (item) => `node ${item.row ? item.row.side : ""}`)
    .attr("transform", (item) => `translate(${item.x},${item.y})`)
    .on("click", (event, item) => item.row && newfound.openCard(item.row.number));
  node
    .append("rect")
    .attr("x", (item) => -item.w + 1)
    .attr("y", -11)
    .attr("width", (item) => 2 * item.w - 2)
    .attr("height", 22)
    .attr("rx", 11);
  node
    .append("text")
    .attr("dy", "0.34em")
    .text((item) => `${newfound.marks[item.row?.side] ?? ""} ${item.text}`);
  return el("figure", {}, svg.node());
};
