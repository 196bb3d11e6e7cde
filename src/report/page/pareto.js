"use strict";
// Step time against memory, where it was asked for.

// What the curve is drawn of: with --overlap simulated the simulated step and what its program takes.
const paretoTime = p => p.step ?? p.objective, paretoBytes = p => p.step === undefined ? p.peak_bytes : p.program_bytes;

function paretoChart(points, width) {
  const height = 280, left = 78, right = 14, bottom = 40, xs = points.map(p => paretoBytes(p)), ys = points.map(p => paretoTime(p));
  const span = list => { const low = Math.min(...list), high = Math.max(...list), room = (high - low || high || 1) * .08; return [low - room, high + room]; };
  const simulated = points[0].step !== undefined;  // then the plan is none of objectives
  const [x0, x1] = span(simulated ? xs : [...xs, plan.memory.peak_bytes || xs[0]]), [y0, y1] = span(simulated ? ys : [...ys, plan.objective]);
  const x = v => left + (v - x0) / (x1 - x0) * (width - left - right), y = v => 12 + (y1 - v) / (y1 - y0) * (height - bottom - 12);
  const ticks = (low, high, n) => { const step = upTo(high - low, n)[1] || high - low, list = []; for (let t = Math.ceil(low / step) * step; t <= high; t += step) list.push(t); return list; };
  const unit = x1 >= 1024 ** 3 ? 1024 ** 3 : x1 >= 1024 ** 2 ? 1024 ** 2 : 1024, order = [...points].sort((a, b) => paretoBytes(a) - paretoBytes(b));
  const line = order.map((p, i) => (i ? `H${x(paretoBytes(p))}V${y(paretoTime(p))}` : `M${x(paretoBytes(p))} ${y(paretoTime(p))}`)).join("");
  return svg("svg", {viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "Step time against memory; the table below has the numbers"},
    ticks(y0, y1, 5).map(t => [svg("line", {class: "grid", x1: left, x2: width - right, y1: y(t), y2: y(t)}), svg("text", {class: "soft", x: left - 8, y: y(t) + 4, "text-anchor": "end"}, time(t))]),
    ticks(x0 / unit, x1 / unit, Math.max(2, Math.floor(width / 140))).map(t => svg("text", {class: "soft", x: x(t * unit), y: height - 22, "text-anchor": "middle"}, bytes(t * unit))),
    svg("text", {class: "soft", x: width - right, y: height - 4, "text-anchor": "end"}, "memory of a rank at its peak"),
    svg("path", {d: `${line}H${width - right}`, fill: "none", stroke: "var(--compute)", "stroke-width": 2}),
    points.map(p => svg("circle", {cx: x(paretoBytes(p)), cy: y(paretoTime(p)), r: 5, fill: p.proven ? "var(--compute)" : "var(--paper)", stroke: "var(--compute)", "stroke-width": 2,
      "data-tip": `${bytes(paretoBytes(p))}: ${time(paretoTime(p))}${p.proven ? ", proven" : ""}`})),
    !simulated && plan.memory.peak_bytes > 0 && svg("rect", {x: x(plan.memory.peak_bytes) - 6, y: y(plan.objective) - 6, width: 12, height: 12, fill: "none", stroke: "var(--comm)", "stroke-width": 3,
      transform: `rotate(45 ${x(plan.memory.peak_bytes)} ${y(plan.objective)})`, "data-tip": "this plan"}));
}

sections.push({id: "pareto", title: "Time against memory", draw(root) {
  if (!doc.pareto) return false;
  const place = el("div", {class: "chart"}), {points} = doc.pareto, simulated = points[0].step !== undefined;
  root.append(el("p", {class: "lead"}, simulated ? "The fastest plan found under each of a series of memory limits, in the simulator."
    : "The cheapest plan under each of a series of memory limits. Filled points are proven optimal; the diamond is this plan."), place, sortedTable([
    {title: "Limit", number: true, value: p => p.limit_bytes || Infinity, show: p => p.limit_bytes ? bytes(p.limit_bytes) : "none"},
    {title: simulated ? "Memory" : "Peak", number: true, value: paretoBytes, show: p => bytes(paretoBytes(p))},
    {title: simulated ? "Simulated step" : "Cost of a step", number: true, value: paretoTime, show: p => time(paretoTime(p))},
    {title: simulated ? "Over the fastest" : "Over the cheapest", number: true, value: paretoTime, show: p => percent(paretoTime(p) - paretoTime(points[0]), paretoTime(points[0]))},
    !simulated && {title: "Bound", number: true, value: p => p.bound, show: p => p.proven ? "proven" : time(p.bound)},
  ].filter(Boolean), points, {rows: 30}));
  const draw = () => place.replaceChildren(paretoChart(points, Math.max(300, place.clientWidth || 800)));
  draw();
  new ResizeObserver(draw).observe(root);
}});
