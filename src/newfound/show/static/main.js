// Build the sections, the navigation and the switch of colours.
"use strict";

(() => {
  const { el } = newfound;
  const nav = document.getElementById("sections");
  const links = [];
  for (const { id, label, build } of newfound.sections) {
    const content = [build()].flat(Infinity).filter(Boolean);
    if (!content.length) {
      newfound.leftOut.push(id);
      continue;
    }
    document.getElementById(id).hidden = false;
    document.getElementById(`${id}-body`).replaceChildren(...content);
    if (label) links.push(el("a", { href: `#${id}` }, label));
  }
  nav.replaceChildren(...links);

  // Mark the link of the section in view.
  const seen = new Map();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) seen.set(entry.target.id, entry.isIntersecting);
      const now = links.findLast((link) => seen.get(link.hash.slice(1)));
      for (const link of links) {
        if (link === now) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-15% 0px -70% 0px" },
  );
  for (const link of links) watcher.observe(document.getElementById(link.hash.slice(1)));

  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const show = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.setAttribute("aria-label", `Colours: ${theme}`);
    button.replaceChildren("◐", el("span", {}, ` ${theme}`));
  };
  button.addEventListener("click", () =>
    show(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % 3]),
  );
  show("system");
  document.documentElement.dataset.ready = "true";
  newfound.follow();
  window.addEventListener("hashchange", newfound.follow);
})();
