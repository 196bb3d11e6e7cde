"use strict";
// The mesh, and how each parameter, input and result lies on it.

function portGroups() {
  const groups = new Map(), ports = doc.ports;
  ports.name.forEach((name, i) => {
    const like = {name: pattern(name), role: textOf(ports.role[i]), type: textOf(ports.type[i]), layout: textOf(ports.layout[i])};
    const key = [like.name, like.role, like.type, like.layout].join(" ");
    if (!groups.has(key)) groups.set(key, {...like, piece: textOf(ports.piece[i]), count: 0, bytes: 0, names: []});
    const group = groups.get(key);
    ++group.count;
    group.bytes += ports.bytes[i];
    group.names.push(name);
  });
  for (const group of groups.values()) if (group.count === 1) [group.name] = group.names;
  return [...groups.values()];
}

// How many axes of the mesh run across in its picture, the others down: one of two, of more as many as fit.
function axesAcross() {
  let axes = 1, across = mesh[mesh.length - 1].size;
  while (mesh.length > 2 && axes + 1 < mesh.length && across * mesh[mesh.length - 1 - axes].size <= 16) across *= mesh[mesh.length - 1 - axes++].size;
  return [axes, across];
}
const axisNames = axes => axes.map(axis => axis.name).join(" and ");

// The ranks as a grid.
function rankGrid(group, rank, choose) {
  const [axes, across] = axesAcross(), columns = Math.min(across, 16), rows = Math.min(numRanks / across, 16);
  const cuts = cutsOf(parseLayout(group.layout), shapeOf(group.type).length), held = blocksOf(cuts, rank).join();
  const cells = [];
  for (let row = 0; row < rows; ++row)
    for (let column = 0; column < columns; ++column) {
      const r = row * across + column, same = blocksOf(cuts, r).join() === held;
      cells.push(el("button", {type: "button", class: same && "same", "aria-pressed": String(r === rank), tabindex: r === rank ? 0 : -1,
        "aria-label": `rank ${r}, ${coordinates(r).map((at, axis) => `${mesh[axis].name} ${at}`).join(", ")}${same ? ": holds the same" : ""}`,
        onclick: () => choose(r)}, columns <= 8 ? r : ""));
    }
  const grid = el("div", {class: "ranks", role: "group", "aria-label": "Ranks of the mesh",
    style: `grid-template-columns:repeat(${columns},1fr);max-width:${Math.min(columns * 38, 300)}px`}, cells);
  grid.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
    const to = cells[cells.indexOf(document.activeElement) + step];
    if (step === undefined) return;
    event.preventDefault();
    if (to) { to.click(); }
  });
  const shown = columns * rows;
  return el("div", {}, el("p", {class: "note"}, `Ranks: across ${axisNames(mesh.slice(-axes))}` +
    (mesh.length > axes ? `, down ${axisNames(mesh.slice(0, -axes))}` : "") + ". Choose one to see what it holds.",
  shown < numRanks ? ` The first ${shown} of ${numRanks} are drawn.` : ""), grid);
}

function exactPrices(group) {
  if (group.role !== "parameter") return null;
  if (!doc.reasons) return el("p", {class: "note"}, "What other layouts cost is not in a plan: ", el("code", {}, "shardwise plan --report"), " tells it.");
  const found = doc.reasons.exact.find(e => group.names.includes(e.port));
  if (!found) return el("p", {class: "note"}, "Other layouts were not solved for: there is a memory limit or no proof, or it would have taken long. Its node has lower bounds of their prices.");
  return alternativesTable(found.explanation.alternatives.map(a => ({layout: a.layout, chosen: a.chosen && group.layout, floor: a.floor,
    exact: a.forced && a.forced.possible !== false ? a.forced.objective : undefined})), found.explanation.objective, `Prices of other layouts of ${found.port}, which then does not count against the budget of parameters`);
}

function layoutPanel(group, rank, panel, focus) {
  const shape = shapeOf(group.type), dims = drawnDims(shape, cutsOf(parseLayout(group.layout), shape.length));
  const flat = dims.length < 2;
  panel.replaceChildren(...[el("h3", {}, code(group.name)),
    el("dl", {}, el("dt", {}, "whole"), el("dd", {}, el("code", {}, group.type)), el("dt", {}, "layout"), el("dd", {}, layoutChip(group.layout)),
      el("dt", {}, "in words"), el("dd", {}, layoutInWords(group.layout, shape)),
      el("dt", {}, "a piece"), el("dd", {}, el("code", {}, group.piece), `, ${bytes(group.bytes / group.count)}`)),
    tensorPicture(group.type, group.layout, rank, 240, flat ? 40 : 150, {role: "img",
      "aria-label": `The tensor and its blocks; rank ${rank} holds the one that is filled`, style: "max-width:100%"}),
    el("p", {class: "note"}, flat ? "" : `Down: dim ${dims[0]}, across: dim ${dims[1]}. `, `Filled: what rank ${rank} holds. Blue ranks hold the same.`),
    rankGrid(group, rank, r => layoutPanel(group, r, panel, true)), exactPrices(group)].filter(Boolean));
  if (focus) panel.querySelector(".ranks [aria-pressed=true]").focus();
}

sections.push({id: "layouts", title: "Mesh and layouts", draw(root) {
  const groups = portGroups(), roles = [...new Set(groups.map(g => g.role))];
  const panel = el("div", {class: "panel", "aria-live": "polite"});
  const of = role => groups.filter(g => g.role === role).sort((a, b) => b.bytes - a.bytes);
  const table = sortedTable([
    {label: "Picture", sort: false, class: "mini-cell", show: g => tensorPicture(g.type, g.layout, 0, 30, 30, {class: "mini", "aria-hidden": "true"})},
    {title: "Tensors", value: g => g.name, class: "name", main: true, show: g => [code(g.name), el("small", {}, el("code", {}, g.type))]},
    {title: "Layout", value: g => g.layout, show: g => layoutChip(g.layout)},
    {title: "Count", number: true, value: g => g.count},
    {title: "A rank holds", number: true, value: g => g.bytes, show: g => bytes(g.bytes)},
  ], of(roles[0]), {caption: "Tensors whose names differ only in numbers stand together", rows: 25, select: group => layoutPanel(group, 0, panel)});
  const select = el("select", {onchange: () => show(select.value)}, roles.map(role => el("option", {value: role}, `${role} (${count(of(role).length)})`)));
  const show = role => { table.update(of(role), of(role)[0]); layoutPanel(of(role)[0], 0, panel); };
  root.append(el("p", {class: "lead"}, `${count(numRanks)} ranks: ${mesh.map(axis => `${axis.name} ${axis.size}`).join(" × ")}. ` +
    "In a layout, R is a copy on every rank of a mesh axis, S(d) a cut of dim d along it, P a part of a sum."));
  if (groups.length === 0) return;
  root.append(el("div", {class: "row"}, el("label", {}, "Show ", select)), el("div", {class: "split"}, table, panel));
  show(roles[0]);
}});
