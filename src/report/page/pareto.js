"use strict";
// Step time against memory, where it was asked for.

function paretoChart(points, width) {
  const height = 280, left = 78, right = 14, bottom = 40, xs = points.map(p => p.peak_bytes), ys = points.map(p => p.objective);
  const span = list => { const low = Math.min(...list), high = Math.max(...list), room = (high - low || high || 1) * .08; return [low - room, high + room]; };
  const [x0, x1] = span([...xs, plan.memory.peak_bytes || xs[0]]), [y0, y1] = span([...ys, plan.objective]);
  const x = v => left + (v - x0) / (x1 - x0) * (width - left - right), y = v => 12 + (y1 - v) / (y1 - y0) * (height - bottom - 12);
  const ticks = (low, high, n) => { const step = upTo(high - low, n)[1] || high - low, list = []; for (let t = Math.ceil(low / step) * step; t <= high; t += step) list.push(t); return list; };
  const unit = x1 >= 1024 ** 3 ? 1024 ** 3 : x1 >= 1024 ** 2 ? 1024 ** 2 : 1024, order = [...points].sort((a, b) => a.peak_bytes - b.peak_bytes);
  const line = order.map((p, i) => (i ? `H${x(p.peak_bytes)}V${y(p.objective)}` : `M${x(p.peak_bytes)} ${y(p.objective)}`)).join("");
  return svg("svg", {viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "Step time against memory; the table below has the numbers"},
    ticks(y0, y1, 5).map(t => [svg("line", {class: "grid", x1: left, x2: width - right, y1: y(t), y2: y(t)}), svg("text", {class: "soft", x: left - 8, y: y(t) + 4, "text-anchor": "end"}, time(t))]),
    ticks(x0 / unit, x1 / unit, Math.max(2, Math.floor(width / 140))).map(t => svg("text", {class: "soft", x: x(t * unit), y: height - 22, "text-anchor": "middle"}, bytes(t * unit))),
    svg("text", {class: "soft", x: width - right, y: height - 4, "text-anchor": "end"}, "memory of a rank at its peak"),
    svg("path", {d: `${line}H${width - right}`, fill: "none", stroke: "var(--compute)", "stroke-width": 2}),
    points.map(p => svg("circle", {cx: x(p.peak_bytes), cy: y(p.objective), r: 5, fill: p.proven ? "var(--compute)" : "var(--paper)", stroke: "var(--compute)", "stroke-width": 2,
      "data-tip": `${bytes(p.peak_bytes)}: ${time(p.objective)}${p.proven ? ", proven" : ""}`})),
    plan.memory.peak_bytes > 0 && svg("rect", {x: x(plan.memory.peak_bytes) - 6, y: y(plan.objective) - 6, width: 12, height: 12, fill: "none", stroke: "var(--comm)", "stroke-width": 3,
      transform: `rotate(45 ${x(plan.memory.peak_bytes)} ${y(plan.objective)})`, "data-tip": "this plan"}));
}

sections.push({id: "pareto", title: "Time against memory", draw(root) {
  if (!doc.pareto) return false;
  const place = el("div", {class: "chart"}), {points} = doc.pareto;
  root.append(el("p", {class: "lead"}, "The cheapest plan under each of a series of memory limits. Filled points are proven optimal; the diamond is this plan."), place, sortedTable([
    {title: "Limit", number: true, value: p => p.limit_bytes || Infinity, show: p => p.limit_bytes ? bytes(p.limit_bytes) : "none"},
    {title: "Peak", number: true, value: p => p.peak_bytes, show: p => bytes(p.peak_bytes)}, {title: "Cost of a step", number: true, value: p => p.objective, show: p => time(p.objective)},
    {title: "Over the cheapest", number: true, value: p => p.objective, show: p => percent(p.objective - points[0].objective, points[0].objective)},
    {title: "Bound", number: true, value: p => p.bound, show: p => p.proven ? "proven" : time(p.bound)},
  ], points, {rows: 30}));
  const draw = () => place.replaceChildren(paretoChart(points, Math.max(300, place.clientWidth || 800)));
  draw();
  new ResizeObserver(draw).observe(root);
}});
