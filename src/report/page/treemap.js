"use strict";
// Where the cost is: areas in proportion to it.

const MEASURES = {
  cost: {title: "cost", value: moduleCost, show: time}, compute: {title: "compute", value: m => m.compute, show: time},
  communication: {title: "communication", value: m => m.comm, show: time},
  memory: {title: "memory at the peak", value: m => m.peak_bytes, show: bytes},
};
const HEADER = 18;

// The modules in it, and what is its own.
function partsOf(module, measure) {
  const parts = module.modules.map(child => ({module: child, value: measure.value(child)}));
  const own = measure.value(module) - sum(parts.map(part => part.value));
  if (parts.length > 0 && own > measure.value(module) * 1e-9) {
    const inner = key => module[key] - sum(module.modules.map(child => child[key]));
    parts.push({value: own, module: {name: "(its own)", count: 1, modules: [], parameters: [], nodes: inner("nodes"), compute: inner("compute"),
      comm: inner("comm"), transition: inner("transition"), peak_bytes: inner("peak_bytes")}});
  }
  return parts.filter(part => part.value > 0).sort((a, b) => b.value - a.value);
}

// Rows of rectangles that are as square as the next one allows.
function squarify(parts, x, y, w, h) {
  const placed = [], total = sum(parts.map(part => part.value));
  let list = parts.map(part => ({...part, area: part.value / total * w * h}));
  while (list.length > 0 && w > 0 && h > 0) {
    const side = Math.min(w, h), worst = (row, area) => Math.max(...row.map(part => {
      const along = area / side, across = part.area / along;
      return Math.max(along / across, across / along);
    }));
    let n = 1, area = list[0].area;
    while (n < list.length && worst(list.slice(0, n + 1), area + list[n].area) <= worst(list.slice(0, n), area)) area += list[n++].area;
    const thick = area / side;
    let along = 0;
    for (const part of list.slice(0, n)) {
      const length = part.area / thick;
      placed.push(w >= h ? {...part, x, y: y + along, w: thick, h: length} : {...part, x: x + along, y, w: length, h: thick});
      along += length;
    }
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    list = list.slice(n);
  }
  return placed;
}

const fits = (text, width) => {
  const letters = Math.floor((width - 10) / 6.8);
  return text.length <= letters ? text : letters >= 4 ? text.slice(0, letters - 1) + "…" : "";
};
const titleOf = module => (module.name || "model") + (module.count > 1 ? ` × ${module.count}` : "");

function treemapBox(part, measure, depth, open) {
  const {module, x, y, w, h} = part, share = module.compute + module.comm > 0 ? module.compute / (module.compute + module.comm) : 1;
  const said = `${titleOf(module)}: ${measure.show(part.value)}; compute ${time(module.compute)}, communication ${time(module.comm)}, ` +
    `memory ${bytes(module.peak_bytes)}`;
  const nested = depth > 0 && module.modules.length > 0 && w > 60 && h > 50;
  const box = svg("g", {tabindex: 0, role: "button", "aria-label": said, "data-tip": said});
  if (nested) {
    box.append(svg("rect", {x, y, width: w, height: h, fill: "var(--raised)"}), svg("text", {x: x + 5, y: y + 13, class: "group"}, fits(titleOf(module), w)),
      svg("rect", {class: "frame", x: x + .5, y: y + .5, width: Math.max(0, w - 1), height: Math.max(0, h - 1)}));
  } else {
    box.append(svg("rect", {x, y, width: w, height: h, fill: "var(--comm)"}),
      svg("rect", {x, y, width: w, height: h * share, fill: "var(--compute)"}),
      svg("rect", {class: "frame", x: x + .5, y: y + .5, width: Math.max(0, w - 1), height: Math.max(0, h - 1)}));
    if (h > 30 && h * share > 16) box.append(svg("text", {x: x + 5, y: y + 13, class: "label"}, fits(titleOf(module), w)));
    else if (h > 16 && h * (1 - share) > 16) box.append(svg("text", {x: x + 5, y: y + h - 5, class: "label", style: "fill:var(--on-comm)"}, fits(titleOf(module), w)));
  }
  box.addEventListener("click", () => open(module));
  box.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(module); } });
  const inside = nested ? squarify(partsOf(module, measure), x + 3, y + HEADER, w - 6, h - HEADER - 3)
    .map(child => treemapBox(child, measure, depth - 1, open)) : [];
  return [box, inside];
}

sections.push({id: "treemap", title: "Where the cost is", draw(root) {
  let measure = MEASURES.cost, path = [doc.tree];
  const place = el("div", {class: "chart"}), crumbs = el("div", {class: "row crumbs"});
  function draw(focus) {
    const width = Math.max(300, place.clientWidth || 900), height = Math.max(300, Math.min(460, width * .55)), module = path[path.length - 1];
    const inside = partsOf(module, measure), whole = [{module, value: measure.value(module)}].filter(part => part.value > 0);
    const parts = squarify(inside.length ? inside : whole, 0, 0, width, height);
    place.replaceChildren(svg("svg", {class: "treemap", viewBox: `0 0 ${width} ${height}`, height, role: "group",
      "aria-label": `Modules of ${titleOf(module)} by ${measure.title}`}, parts.map(part => treemapBox(part, measure, 3, open))));
    crumbs.replaceChildren(...path.flatMap((m, i) => [i > 0 ? "›" : "", i + 1 < path.length ?
      el("button", {type: "button", class: "plain", onclick: () => { path = path.slice(0, i + 1); draw(true); }}, titleOf(m)) :
      el("span", {}, `${titleOf(m)}: ${measure.show(measure.value(m))}`)]));
    if (focus) { const first = place.querySelector("[tabindex]"); if (first) first.focus(); }
  }
  function open(module) {
    if (module.modules.length === 0) return;
    path = [...pathTo(doc.tree, module)];
    draw(true);
  }
  const pathTo = (from, to) => {
    if (from === to) return [from];
    for (const child of from.modules) { const rest = pathTo(child, to); if (rest) return [from, ...rest]; }
    return null;
  };
  const buttons = Object.entries(MEASURES).map(([key, m]) => el("button", {type: "button", "aria-pressed": String(m === measure), onclick: event => {
    measure = MEASURES[key];
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.target));
    draw(false);
  }}, m.title));
  root.append(el("p", {class: "lead"}, "Areas are in proportion. Of each, blue is compute and orange communication. Choose a module to look into it."),
    el("div", {class: "row", role: "group", "aria-label": "Measure"}, buttons), crumbs, place);
  draw(false);
  new ResizeObserver(() => draw(false)).observe(root);
}});
