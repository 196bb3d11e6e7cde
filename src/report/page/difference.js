"use strict";
// How another plan differs from this one.

function figureRows(before, after) {
  const all = (a, b) => [...new Set([...Object.keys(a || {}), ...Object.keys(b || {})])];
  const row = (name, show, pick) => ({name, show, before: pick(before) ?? 0, after: pick(after) ?? 0});
  const rows = [["cost of a step", p => p.objective], ["compute", p => p.compute], ["communication", p => p.comm], ["proven bound", p => p.bound]].map(([name, pick]) => row(name, time, pick));
  for (const name of all(before.program.simulated, after.program.simulated)) rows.push(row(`simulated run of ${name}`, time, p => (p.program.simulated[name] || {}).us));
  rows.push(row("memory at the peak", bytes, p => p.memory.peak_bytes), row("memory of the program", bytes, p => p.memory.program_bytes));
  for (const kind of all(before.memory.by_kind, after.memory.by_kind)) rows.push(row(`${kind} at the peak`, bytes, p => (p.memory.by_kind || {})[kind]));
  for (const kind of all(before.collectives, after.collectives)) rows.push(row(`${kind}: count`, count, p => (p.collectives[kind] || {}).count),
    row(`${kind}: sent`, bytes, p => (p.collectives[kind] || {}).wire_bytes_per_rank));
  return rows;
}
// Rounding apart.
const same = row => Math.abs(row.after - row.before) <= 1e-9 * Math.abs(row.before);
const described = p => `${p.mesh}, ${p.hardware}, rules ${p.rules}` + (p.memory.limit_bytes ? `, limit ${bytes(p.memory.limit_bytes)}` : "");

sections.push({id: "difference", title: "Another plan", draw(root) {
  if (!doc.other) return false;
  const {diff} = doc.other, other = doc.other.plan, signed = row => (row.after >= row.before ? "+" : "−") + row.show(Math.abs(row.after - row.before));
  root.append(el("p", {class: "lead"}, `This plan: ${described(plan)}. The other: ${described(other)}.`), sortedTable([
    {label: "Figure", value: r => r.name, sort: false}, {title: "This plan", number: true, sort: false, value: r => r.before, show: r => r.show(r.before)},
    {title: "The other", number: true, sort: false, value: r => r.after, show: r => r.show(r.after)},
    {title: "Difference", number: true, sort: false, value: r => r.after - r.before, show: r => same(r) ? "–" : signed(r)},
    {title: "in %", number: true, sort: false, value: r => 0, show: r => r.before && !same(r) ? (r.after > r.before ? "+" : "−") + percent(Math.abs(r.after - r.before), r.before) : ""},
  ], figureRows(plan, other), {rows: 60}), el("h3", {}, "Layouts that differ"));
  const {changes} = diff, others = [[diff.unchanged, "lie alike"], [diff.operands_only.length, "read their operands in other layouts, and give the same result"],
    [diff.only_before.length, "are in this plan only"], [diff.only_after.length, "are in the other only"]].filter(([nodes]) => nodes > 0);
  if (others.length) root.append(el("p", {class: "note"}, `Of the nodes, ${others.map(([nodes, what]) => `${count(nodes)} ${what}`).join("; ")}.`));
  root.append(changes.length === 0 ? el("p", {}, "The result of every node that both have lies alike.") : sortedTable([
    {title: "This plan", value: c => c.from, show: c => layoutChip(c.from)}, {title: "The other", value: c => c.to, show: c => layoutChip(c.to)},
    {title: "Nodes", number: true, value: c => c.nodes.length, show: c => count(c.nodes.length)},
    {title: "Which", sort: false, class: "name", show: c => el("details", {}, el("summary", {}, el("code", {}, c.nodes.slice(0, 3).join(", ")), c.nodes.length > 3 ? " …" : ""),
      el("p", {class: "mono"}, c.nodes.slice(0, 400).join(", "), c.nodes.length > 400 ? ` and ${count(c.nodes.length - 400)} more` : ""))},
  ], changes, {by: "Nodes", rows: 15}));
}});
