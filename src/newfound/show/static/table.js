// Tables that can be sorted, filtered and saved as CSV or JSON.
"use strict";

(() => {
  const { el, format } = newfound;

  // A text that a spreadsheet would evaluate as a formula gets an apostrophe. The rule, and the
  // two classes of characters, are those of guard_formula in newfound/table.py.
  const formula =
    /^(?:[\t\r\n]|[\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff\uffa0]*[=+\-@\uff1d\uff0b\uff0d\uff20])/u;
  const number = /^[+-]?[0-9]+(?:[.,][0-9]+)*$/;
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    let text = Array.isArray(value) ? value.join("|") : String(value);
    if (formula.test(text) && !number.test(text)) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  newfound.csv = (names, records) =>
    [
      names.map(cell).join(","),
      ...records.map((record) => names.map((name) => cell(record[name])).join(",")),
    ].join("\r\n") + "\r\n";

  const download = (name, type, text) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = el("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    newfound.say(`${name} is being saved.`);
  };

  // Buttons that save the records: `records()` returns plain objects, all with the same keys.
  newfound.downloads = (name, what, records) => {
    const save = (suffix) => () => {
      const rows = records();
      const names = rows.length ? Object.keys(rows[0]) : [];
      if (suffix === "csv")
        download(`${name}.csv`, "text/csv;charset=utf-8", "\ufeff" + newfound.csv(names, rows));
      else download(`${name}.json`, "application/json", JSON.stringify(rows, null, 1));
    };
    return el(
      "span",
      { class: "downloads" },
      "Download ",
      ["csv", "json"].map((suffix) =>
        el(
          "button",
          {
            type: "button",
            class: "quiet",
            onclick: save(suffix),
            "aria-label": `Download ${what} as ${suffix.toUpperCase()}`,
          },
          suffix.toUpperCase(),
        ),
      ),
    );
  };

  // columns: {key, label, help, value(row), show(row), text: true for words, first: "ascending"}
  // sort: the key of a column, or null for the order of the rows
  // note: what follows the number of rows; which: what the rows are, said where a search is narrower
  newfound.table = ({ name, what, columns, rows, sort, descending = true, page = 25, record, note, which }) => {
    let order = { key: sort, descending };
    let shown = page;
    let kept = rows;
    const body = el("tbody");
    const more = el("button", {
      type: "button",
      onclick: () => {
        shown += 4 * page;
        draw();
      },
    });
    const count = el("p", { class: "count", role: "status" });
    const heads = columns.map((column) => {
      const button = el(
        "button",
        {
          type: "button",
          title: column.help,
          onclick: () => {
            order = {
              key: column.key,
              descending: order.key === column.key ? !order.descending : !column.text,
            };
            shown = page;
            draw();
          },
        },
        column.label,
        el("span", { class: "arrow", "aria-hidden": "true" }),
      );
      return el("th", { scope: "col", class: column.text ? "text" : "number" }, button);
    });
    const sorted = () => {
      if (!order.key) return kept; // the order that the rows were given in
      const column = columns.find((candidate) => candidate.key === order.key);
      const value = column.value ?? ((row) => row[column.key]);
      const sign = order.descending ? -1 : 1;
      return kept
        .map((row, place) => [value(row), place, row])
        .sort(([a, i], [b, j]) => {
          const noA = a === null || a === undefined;
          const noB = b === null || b === undefined;
          if (noA || noB) return noA - noB || i - j;
          return (typeof a === "string" ? a.localeCompare(b) : a - b) * sign || i - j;
        })
        .map(([, , row]) => row);
    };
    const draw = () => {
      const all = sorted();
      columns.forEach((column, i) => {
        const now = column.key === order.key;
        heads[i].setAttribute("aria-sort", now ? (order.descending ? "descending" : "ascending") : "none");
        heads[i].querySelector(".arrow").textContent = now ? (order.descending ? " ↓" : " ↑") : "";
      });
      body.replaceChildren(
        ...all.slice(0, shown).map((row) =>
          el(
            "tr",
            {},
            columns.map((column, i) =>
              el(
                i ? "td" : "th",
                { class: column.text ? "text" : "number", scope: i ? null : "row" },
                column.show ? column.show(row) : format.count(row[column.key]),
              ),
            ),
          ),
        ),
      );
      const left = all.length - Math.min(shown, all.length);
      more.hidden = left <= 0;
      more.textContent = `Show ${format.count(Math.min(left, 4 * page))} more`;
      count.textContent =
        all.length === rows.length
          ? `${newfound.plural(rows.length, "row")}${note ?? ""}`
          : `${format.count(all.length)} of ${newfound.plural(rows.length, "row")} match${which ? `; the rows are ${which}` : ""}`;
    };
    draw();
    const helps = columns.filter((column) => column.help);
    const meaning = el(
      "details",
      { class: "meaning" },
      el("summary", {}, "What the columns mean"),
      el(
        "dl",
        { class: "settings" },
        helps.map((column) => el("div", {}, el("dt", {}, column.label), el("dd", {}, column.help))),
      ),
    );
    const element = el(
      "div",
      { class: "table" },
      el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": what },
        el(
          "table",
          { id: `${name}-table` },
          el("caption", { class: "unseen" }, what),
          el("thead", {}, el("tr", {}, heads)),
          body,
        ),
      ),
      el(
        "div",
        { class: "foot" },
        more,
        count,
        newfound.downloads(name, what, () => sorted().map(record)),
      ),
      helps.length ? meaning : null,
    );
    return {
      element,
      filter: (test) => {
        kept = rows.filter(test);
        shown = page;
        draw();
        return kept;
      },
    };
  };
})();
