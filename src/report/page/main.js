"use strict";
// Draws the sections, and keeps the list of them and the theme.

function head() {
  const facts = [plan.mesh.replace(/,/g, " × ").replace(/=/g, " "), `${count(plan.ranks)} ranks`, plan.hardware, `rules ${plan.rules}`,
    plan.overlap !== "none" ? `overlap ${plan.overlap}` : "", `${count(plan.nodes)} nodes`, `${count(plan.strategies)} strategies`, `${count(plan.steps)} steps`,
    `shardwise ${doc.library}`];
  const name = doc.tree.name || "A graph";
  document.getElementById("title").textContent = `${name} on ${plan.mesh.replace(/=/g, " ").replace(/,/g, " × ")}`;
  document.title = `${name} on ${plan.mesh}: Shardwise plan`;
  document.getElementById("facts").textContent = facts.filter(Boolean).slice(1).join(" · ");
}

function theme() {
  const button = document.getElementById("theme"), wanted = matchMedia("(prefers-color-scheme: dark)");
  const set = dark => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
    document.dispatchEvent(new Event("theme"));
  };
  button.addEventListener("click", () => set(document.documentElement.dataset.theme !== "dark"));
  wanted.addEventListener("change", event => set(event.matches));
  set(wanted.matches);
}

function draw() {
  const main = document.getElementById("main"), nav = document.getElementById("nav");
  for (const {id, title, draw: drawSection} of sections) {
    const root = el("section", {id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`}, title));
    main.append(root);
    if (drawSection(root) === false) { root.remove(); continue; }
    nav.append(el("li", {}, el("a", {href: `#${id}`}, title)));
  }
  const links = new Map([...nav.querySelectorAll("a")].map(link => [link.hash.slice(1), link]));
  const seen = new Set();
  const spy = new IntersectionObserver(entries => {
    for (const {target, isIntersecting} of entries) isIntersecting ? seen.add(target.id) : seen.delete(target.id);
    const first = sections.find(s => seen.has(s.id));
    for (const [id, link] of links) first && id === first.id ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
  }, {rootMargin: "-10% 0px -70%"});
  for (const section of main.querySelectorAll("section")) spy.observe(section);
}

head();
theme();
draw();
document.documentElement.dataset.ready = "true";
