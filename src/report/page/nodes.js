"use strict";
// Every node of the graph: its layouts, what it costs, and why.

const parsed = new Map();
const parsedText = index => {
  if (!parsed.has(index)) parsed.set(index, JSON.parse(textOf(index)));
  return parsed.get(index);
};
// [producer, from, to, µs] of each operand.
function operandsOf(node) {
  const flat = parsedText(doc.reasons.operands[node]), list = [];
  for (let k = 0; k < flat.length; k += 4) list.push([node + flat[k], textOf(flat[k + 1]), textOf(flat[k + 2]), numberOf(flat[k + 3])]);
  return list;
}
// {layout, over} of each layout of its result; over is null where no plan has it.
function alternativesOf(node) {
  const flat = parsedText(doc.reasons.alternatives[node]), list = [];
  for (let k = 0; k < flat.length; k += 2) list.push({layout: textOf(flat[k]), over: flat[k + 1]});
  return list;
}
let userLists;
function usersOf(node) {
  if (!userLists) {
    userLists = doc.nodes.name.map(() => []);
    doc.reasons.operands.forEach((_, user) => { for (const [producer, from, to, us] of operandsOf(user)) userLists[producer].push([user, from, to, us]); });
  }
  return userLists[node];
}

const difference = us => (us < 0 ? "−" : "+") + time(Math.abs(us));

// rows: {layout: in any order of cuts, chosen: the plan's layout if it is this one, floor: µs of a plan at least, exact: µs}
const chosenAs = ({layout, chosen}) => !chosen ? [] : chosen === layout ? [" chosen"] : [" chosen, as ", layoutChip(chosen)];

function alternativesTable(rows, objective, caption) {
  const over = row => (row.exact ?? row.floor) - objective, most = Math.max(1e-9, ...rows.map(row => Number.isFinite(over(row)) ? over(row) : 0));
  return sortedTable([
    {title: "Layout", value: r => r.layout, show: r => [layoutChip(r.layout), ...chosenAs(r)]},
    {title: "A plan with it costs", number: true, value: r => r.floor ?? Infinity, show: r => r.floor === null ? "excluded" : r.chosen ? "this plan" :
      r.exact !== undefined ? difference(over(r)) : over(r) === 0 ? "as much or more" : `at least ${difference(over(r))}`},
    {label: "Chart", sort: false, show: r => Number.isFinite(over(r)) && r.floor !== null ? bar([["more", Math.max(0, over(r)), "var(--other)"],
      ["rest", most - Math.max(0, over(r)), "transparent"]], most, "") : ""},
  ], rows, {rows: 10, caption});
}

function edgeTable(rows, title, choose) {
  return sortedTable([
    {title, sort: false, class: "name", show: ([node]) => el("button", {type: "button", class: "plain", onclick: () => choose(node)}, code(doc.nodes.name[node]))},
    {title: "Layout", sort: false, show: ([, from, to]) => from === to ? layoutChip(from) : [layoutChip(from), " → ", layoutChip(to)]},
    {title: "Price", number: true, value: row => row[3], show: row => row[3] ? time(row[3]) : "–"},
  ], rows, {rows: 8});
}

function why(node) {
  const n = doc.nodes, name = n.name[node], compute = numberOf(n.compute[node]), comm = numberOf(n.comm[node]);
  if (!doc.reasons) return [el("h3", {}, "Why this layout"), el("p", {}, comm > 0 ?
    `Its operands pay ${time(comm)} to be in the layouts that it reads, and it computes for ${time(compute)}.` :
    `Its operands are in the layouts that it reads, so nothing is sent for it; it computes for ${time(compute)}.`),
  el("p", {class: "note"}, "A plan holds the layouts that were chosen, not the prices of those that were not. ",
    el("code", {}, "shardwise plan GRAPH … --report"), " asks the planner for them, and ", el("code", {}, `shardwise explain GRAPH ${name}`), " solves for this node.")];
  const operands = operandsOf(node), users = usersOf(node), paid = operands.filter(o => o[3] > 0), given = users.filter(u => u[3] > 0);
  // Of a tuple the first layout; an order of cuts has a comma without a space.
  const results = textOf(n.result[node]), chosen = (results.startsWith("(") ? results.slice(1, -1) : results).split(", ")[0], rows = alternativesOf(node);
  const isChosen = row => row.layout === chosen.split("|")[0];
  const other = rows.find(row => !isChosen(row) && row.over !== null), story = [];
  story.push(paid.length ? `${paid.length === 1 ? "One operand changes its" : `${paid.length} operands change their`} layout for it, for ${time(comm)}.` :
    operands.length ? "Its operands come in the layouts that it reads: nothing is sent for it." : "It has no operands.");
  if (users.length) story.push(given.length ? `${given.length} of its ${users.length} users change${given.length === 1 ? "s" : ""} its result's layout, for ${time(sum(given.map(u => u[3])))}.` :
    "All its users read its result as it is.");
  if (other) story.push(other.over > 0 ? `Any plan with another layout of its result costs at least ${time(other.over)} more.` :
    `Plans with layout ${other.layout} may cost the same.`);
  else story.push("Its result can have no other layout.");
  return [el("h3", {}, "Why this layout"), el("p", {}, story.join(" ")),
    alternativesTable(rows.map(row => ({layout: row.layout, chosen: isChosen(row) && chosen, floor: row.over === null ? null : plan.objective + row.over})), plan.objective,
      "Layouts of its result, without the order of cuts. Prices are proven lower bounds: solving for one may find more. Excluded: no plan within the constraints and budgets has it."),
    operands.length > 0 && edgeTable(operands, "Operand", choose), users.length > 0 && edgeTable(users, "User", choose)];
}
let choose = () => {};

function nodePanel(node, panel) {
  const n = doc.nodes, pairs = [["op", el("code", {}, textOf(n.op[node]))], ["module", named(textOf(n.module[node]) || "none")], ["phase", n.phase[node] ? "backward" : "forward"],
    ["strategy", el("code", {}, `(${textOf(n.operands[node])}) → ${textOf(n.result[node])}`)], ["compute", time(numberOf(n.compute[node]))],
    ["communication", time(numberOf(n.comm[node]))]];
  panel.replaceChildren(...[el("h3", {}, code(n.name[node])), el("dl", {}, pairs.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])), why(node)]
    .flat().filter(Boolean));
}

sections.push({id: "nodes", title: "Nodes", draw(root) {
  const n = doc.nodes, all = n.name.map((_, i) => i), panel = el("div", {class: "panel", "aria-live": "polite"});
  if (all.length === 0) return void root.append(el("p", {}, "The plan has no nodes of a graph."));
  const haystack = all.map(i => [n.name[i], textOf(n.op[i]), textOf(n.module[i]), textOf(n.result[i])].join(" ").toLowerCase());
  const cost = all.map(i => numberOf(n.compute[i]) + numberOf(n.comm[i]) + numberOf(n.transition[i]));
  const table = sortedTable([
    {title: "Node", value: i => n.name[i], class: "name", show: i => [code(n.name[i]), el("small", {}, named(textOf(n.module[i])))]},
    {title: "Op", value: i => textOf(n.op[i])},
    {title: "Layout", value: i => textOf(n.result[i]), class: "short", show: i => el("span", {"data-tip": textOf(n.result[i])}, layoutChip(textOf(n.result[i])))},
    {title: "Cost", number: true, value: i => cost[i], show: i => time(cost[i])},
  ], all, {by: "Cost", rows: 20, select: node => nodePanel(node, panel)});
  const search = el("input", {type: "search", placeholder: "name, op, module or layout", "aria-label": "Search nodes"}), found = el("span", {class: "note", role: "status"});
  const paying = el("input", {type: "checkbox"}), phase = el("select", {}, ["both phases", "forward", "backward"].map((name, i) => el("option", {value: i}, name)));
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const list = all.filter(i => words.every(word => haystack[i].includes(word)) && (!paying.checked || numberOf(n.comm[i]) > 0) &&
      (phase.value === "0" || n.phase[i] === phase.value - 1));
    found.textContent = `${count(list.length)} of ${count(all.length)}, ${time(sum(list.map(i => cost[i])))}`;
    table.update(list);
  }
  for (const input of [search, paying, phase]) input.addEventListener("input", filter);
  choose = node => { nodePanel(node, panel); table.choose(node); panel.querySelector("h3").scrollIntoView({block: "nearest"}); };
  root.append(el("p", {class: "lead"}, "The graph after the rewrites. Choose a node to see why it has its layout" + (doc.reasons ? ", and what every other one would cost." : ".")),
    el("div", {class: "row"}, search, el("label", {}, paying, "communicates"), el("label", {}, "of ", phase), found), el("div", {class: "split"}, table, panel));
  filter();
  nodePanel(all.reduce((best, i) => cost[i] > cost[best] ? i : best), panel);
}});
