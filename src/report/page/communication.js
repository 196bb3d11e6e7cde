"use strict";
// What is sent: by module, collective and change of layout.

// What a collective does to the placement on its mesh axes.
const CHANGES = {all_gather: "S → R", reduce_scatter: "P → S", all_reduce: "P → R", all_to_all: "S → S", collective_permute: "order of shards"};

function collectiveGroups() {
  const groups = new Map();
  for (const entry of doc.entries)
    for (let i = 0; i < entry.kernel.length; ++i) {
      const axes = textOf(entry.axes[i]);
      if (!axes) continue;
      const like = {module: pattern(textOf(entry.module[i])), kernel: textOf(entry.kernel[i]), axes};
      const key = Object.values(like).join(" ");
      if (!groups.has(key)) groups.set(key, {...like, count: 0, wire: 0, us: 0});
      const group = groups.get(key);
      ++group.count;
      group.wire += entry.wire[i];
      group.us += numberOf(entry.us[i]);
    }
  return [...groups.values()];
}

// The edges that the plan pays for, those alike together. Known where a planner was asked.
function paidChanges() {
  const groups = new Map(), nodes = doc.nodes;
  doc.reasons.operands.forEach((index, node) => {
    for (const [producer, from, to, us] of operandsOf(node)) {
      if (us === 0) continue;
      const like = {module: pattern(textOf(nodes.module[node])), edge: `${textOf(nodes.op[producer])} → ${textOf(nodes.op[node])}`, change: `${from} → ${to}`};
      const key = Object.values(like).join("\n");
      if (!groups.has(key)) groups.set(key, {...like, count: 0, us: 0});
      const group = groups.get(key);
      ++group.count;
      group.us += us;
    }
  });
  return [...groups.values()];
}

// The longest bar is the dearest row.
function shareColumn(groups, total) {
  const most = Math.max(1e-9, ...groups.map(g => g.us));
  return {title: "Share", sort: false, show: g => el("div", {class: "share"}, bar([["share", g.us, "var(--comm)"], ["rest", most - g.us, "transparent"]], most,
    percent(g.us, total)), el("span", {"aria-hidden": "true"}, percent(g.us, total)))};
}

sections.push({id: "communication", title: "Communication", draw(root) {
  const groups = collectiveGroups(), total = sum(groups.map(g => g.us));
  root.append(el("p", {class: "lead"}, "What one rank does in a step. Times are of the collectives alone: some of it runs beside compute."));
  if (groups.length === 0) return void root.append(el("p", {}, "Nothing is sent."));
  root.append(sortedTable([
    {title: "Module", value: g => g.module, class: "name", show: g => g.module ? named(g.module) : (doc.graph ? "(no module)" : "(not stored)")},
    {title: "Collective", value: g => g.kernel, show: g => el("code", {}, g.kernel)},
    {title: "Mesh axes", value: g => g.axes}, {title: "Layout change", value: g => CHANGES[g.kernel] || "", show: g => CHANGES[g.kernel] || ""},
    {title: "Count", number: true, value: g => g.count, show: g => count(g.count)},
    {title: "Sent", number: true, value: g => g.wire, show: g => bytes(g.wire)},
    {title: "Time", number: true, value: g => g.us, show: g => time(g.us)}, shareColumn(groups, total),
  ], groups, {by: "Time", rows: 12, caption: "The collectives of the program", foot: ["All", "", "", "", count(sum(groups.map(g => g.count))), bytes(sum(groups.map(g => g.wire))), time(total), ""]}));
  if (!doc.graph) root.append(el("p", {class: "note"}, "The plan does not store its graph, so steps have no modules."));
  root.append(el("h3", {}, "What it is paid for"));
  if (!doc.reasons) return void root.append(el("p", {class: "note"}, "Which operands change their layout, and from what to what, is not in a plan. ",
    el("code", {}, "shardwise plan --report"), " tells it."));
  const changes = paidChanges(), paid = sum(changes.map(g => g.us));
  root.append(sortedTable([
    {title: "Into module", value: g => g.module, class: "name", show: g => g.module ? named(g.module) : "(no module)"}, {title: "Producer → consumer", value: g => g.edge, show: g => el("code", {}, g.edge)},
    {title: "Layout change", value: g => g.change, show: g => el("code", {class: "layout"}, g.change)},
    {title: "Count", number: true, value: g => g.count, show: g => count(g.count)}, {title: "Price", number: true, value: g => g.us, show: g => time(g.us)}, shareColumn(changes, paid),
  ], changes, {by: "Price", rows: 12, caption: "Operands that change their layout, as the planner prices them",
    foot: ["All", "", "", count(sum(changes.map(g => g.count))), time(paid), ""]}));
}});
