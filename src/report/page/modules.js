"use strict";
// The tree of modules; numbered modules that are alike are one row.

const moduleCost = module => module.compute + module.comm + module.transition;

function moduleRows(module, level, rows, parent) {
  const row = {module, level, parent, open: level < 3, children: []};
  rows.push(row);
  if (parent) parent.children.push(row);
  for (const parameter of module.parameters) {
    const leaf = {parameter, level: level + 1, parent: row, children: []};
    rows.push(leaf);
    row.children.push(leaf);
  }
  for (const child of module.modules) moduleRows(child, level + 1, rows, row);
  return rows;
}

function moduleCells(row, whole) {
  const {module} = row;
  return [el("td", {class: "number"}, count(module.nodes)), el("td", {class: "number"}, time(module.compute)),
    el("td", {class: "number"}, time(module.comm)), el("td", {class: "number"}, bytes(module.peak_bytes)),
    el("td", {}, bar([["compute", module.compute, "var(--compute)"], ["communication", module.comm, "var(--comm)"],
      ["rest", Math.max(0, whole - module.compute - module.comm), "transparent"]], whole,
    `${percent(moduleCost(module), whole)} of the cost`))];
}
function parameterCells({parameter}) {
  return [el("td", {colspan: 3}, layoutChip(parameter.layout), " ", el("code", {}, parameter.type)),
    el("td", {class: "number"}, bytes(parameter.bytes_per_rank)), el("td", {}, "of one, a rank")];
}

function moduleRow(row, whole, toggle) {
  const {module, parameter, level, children} = row;
  const name = module ? module.name || "model" : "." + parameter.name;
  const tr = el("tr", {role: "row", tabindex: -1, class: parameter && "parameter", "aria-level": level,
    "aria-expanded": children.length ? String(row.open) : null},
  el("td", {role: "rowheader", style: `padding-left:${(level - 1) * 1.1}rem`}, el("span", {class: "twist", "aria-hidden": "true"},
    children.length ? (row.open ? "▾" : "▸") : ""), name, module && module.count > 1 && el("span", {class: "times"}, `× ${module.count}`)),
  module ? moduleCells(row, whole) : parameterCells(row));
  for (const cell of tr.children) if (!cell.hasAttribute("role")) cell.setAttribute("role", "gridcell");
  if (children.length) tr.addEventListener("click", () => toggle(row));
  return tr;
}

function moduleTree(tree) {
  const rows = moduleRows(tree, 1, []), whole = moduleCost(tree), body = el("tbody", {role: "rowgroup"});
  let shown = [], at = 0;
  const visible = row => !row.parent || (row.parent.open && visible(row.parent));
  function draw(focus) {
    shown = rows.filter(visible);
    at = Math.min(at, shown.length - 1);
    body.replaceChildren(...shown.map(row => moduleRow(row, whole, toggle)));
    body.children[at].tabIndex = 0;
    if (focus) body.children[at].focus();
  }
  function move(to) {
    body.children[at].tabIndex = -1;
    at = Math.max(0, Math.min(shown.length - 1, to));
    body.children[at].tabIndex = 0;
    body.children[at].focus();
  }
  function toggle(row) {
    row.open = !row.open;
    at = shown.indexOf(row);
    draw(true);
  }
  const keys = {
    ArrowDown: () => move(at + 1), ArrowUp: () => move(at - 1), Home: () => move(0), End: () => move(shown.length - 1),
    ArrowRight: () => shown[at].children.length && (shown[at].open ? move(at + 1) : toggle(shown[at])),
    ArrowLeft: () => shown[at].open && shown[at].children.length ? toggle(shown[at]) : shown[at].parent && move(shown.indexOf(shown[at].parent)),
    Enter: () => shown[at].children.length && toggle(shown[at]),
  };
  body.addEventListener("keydown", event => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  body.addEventListener("focusin", event => {
    const index = [...body.children].indexOf(event.target.closest("tr"));
    if (index >= 0) at = index;
  });
  draw(false);
  const setAll = open => { for (const row of rows) row.open = open || row.level === 1; draw(false); };
  const head = ["Module", "Nodes", "Compute", "Communication", "At the memory peak", "Share of the cost"].map((title, i) =>
    el("th", {scope: "col", role: "columnheader", class: i > 0 && i < 5 && "number"}, title));
  return el("div", {}, el("div", {class: "row"}, el("button", {type: "button", onclick: () => setAll(true)}, "Unfold all"),
    el("button", {type: "button", onclick: () => setAll(false)}, "Fold all")),
  el("div", {class: "scroll"}, el("table", {role: "treegrid", "aria-label": "Modules"},
    el("thead", {role: "rowgroup"}, el("tr", {role: "row"}, head)), body)));
}

sections.push({id: "modules", title: "Modules", draw(root) {
  root.append(el("p", {class: "lead"}, "Each with all that is in it. Numbered modules that are alike are one row, with the cost of all. " +
    "Arrow keys walk and unfold."), moduleTree(doc.tree));
}});
