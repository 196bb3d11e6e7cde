"use strict";
// What the plan costs, whether that is proven, how long a step takes, and what a rank holds.

function costTile() {
  const parts = [["compute", plan.compute, "var(--compute)"], ["communication", plan.comm, "var(--comm)"],
    ["layout changes", plan.transition, "var(--other)"]];
  const gap = plan.objective > 0 ? (plan.objective - plan.bound) / plan.objective : 0;
  return el("div", {class: "tile"}, el("h3", {}, "Modelled cost of a step"),
    el("p", {class: "big", "data-tip": `${plan.objective} µs`}, time(plan.objective)), bar(parts, plan.objective), legend(parts, plan.objective, time),
    plan.proven ? el("p", {class: "proof yes"}, "✓ Proven optimal") : el("p", {class: "proof no"}, `Not proven: gap ${gap < 1e-5 ? "below 0.001" : digits(100 * gap, 3)} %`),
    el("p", {class: "note"}, plan.proven ? "Under the cost model, no other choice of layouts is cheaper." :
      `No choice of layouts costs less than ${time(plan.bound)}.`));
}

function simulatedTile(name, times) {
  const waiting = times.exposed, computing = times.queues.length > 0 ? times.queues[0].busy : 0;
  const parts = [["computing", computing, "var(--compute)"], ["waiting for communication", waiting, "var(--comm)"],
    ["idle", Math.max(0, times.us - computing - waiting - 1e-6 * times.us), "var(--other)"]];
  return el("div", {class: "tile"}, el("h3", {}, `Simulated run of ‘${name}’, with overlap`),
    el("p", {class: "big", "data-tip": `${times.us} µs`}, time(times.us)), bar(parts, times.us), legend(parts, times.us, time),
    el("p", {class: "note"}, `No order of its steps takes less than ${time(times.lower_bound)}.`));
}

function memoryTile() {
  const memory = plan.memory, kinds = Object.entries(memory.by_kind || {}).sort((a, b) => b[1] - a[1]);
  if (!memory.peak_bytes) {
    const held = Math.max(...Object.values(plan.program.simulated).map(times => times.device_peak_bytes), 0);
    return el("div", {class: "tile"}, el("h3", {}, "Memory of a rank"), el("p", {class: "big"}, bytes(held)),
      el("p", {class: "note"}, "At the fullest step of the program. The plan does not say what the planner counted."));
  }
  const parts = kinds.map(([kind, value]) => [kind, value, kindColour(kind)]);
  const whole = Math.max(memory.limit_bytes, memory.peak_bytes);
  return el("div", {class: "tile"}, el("h3", {}, "Memory of a rank at its peak"),
    el("p", {class: "big", "data-tip": `${memory.peak_bytes} bytes, at ${memory.at}`}, bytes(memory.peak_bytes)),
    bar(parts, whole, `${bytes(memory.peak_bytes)} of ${bytes(whole)}`), legend(parts, 0, bytes),
    el("p", {class: "note"}, memory.limit_bytes ? `${percent(memory.peak_bytes, memory.limit_bytes)} of the limit of ${bytes(memory.limit_bytes)}` +
      (memory.price_us_per_gib > 0 ? `; one GiB more would save about ${time(memory.price_us_per_gib)}.` : ".") : "No memory limit was set.",
    memory.program_bytes ? ` The program needs ${bytes(memory.program_bytes)}, all of its ports and the optimizer's state included.` : ""));
}

sections.push({id: "cost", title: "Overview", draw(root) {
  root.append(el("div", {class: "tiles"}, costTile(),
    Object.entries(plan.program.simulated).map(([name, times]) => simulatedTile(name, times)), memoryTile()));
}});
