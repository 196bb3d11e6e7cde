"use strict";
// What a rank holds while a step runs, by kind.

// By step, from runs [bytes, steps, …].
function curveOf(runs, steps) {
  const values = new Float64Array(steps);
  for (let k = 0, at = 0; k < runs.length; k += 2) { values.fill(runs[k], at, at + runs[k + 1]); at += runs[k + 1]; }
  return values;
}
// When each step counts: not before the compute steps in front of it begin.
function timesOf(entry) {
  let now = 0;
  return entry.start.map((start, i) => now = entry.queue[i] === 0 ? Math.max(now, start) : now);
}
const endOf = entry => entry.start.reduce((end, start, i) => Math.max(end, start + numberOf(entry.us[i])), 1e-9);
const upTo = (value, ticks) => {
  const step = Math.pow(10, Math.floor(Math.log10(value / ticks))), nice = [1, 2, 5, 10].find(n => value / (n * step) <= ticks) * step;
  return Array.from({length: Math.floor(value / nice) + 1}, (_, i) => i * nice);
};

function memoryData(entry) {
  const steps = entry.kernel.length, at = timesOf(entry);
  const curves = entry.memory.map(({kind, runs}) => ({kind, bytes: curveOf(runs, steps)}));
  const total = new Float64Array(steps);
  for (const curve of curves) curve.bytes.forEach((value, i) => { total[i] += value; });
  let peak = 0;
  total.forEach((value, i) => { if (value > total[peak]) peak = i; });
  return {entry, steps, at, curves, total, peak, end: endOf(entry)};
}

// For each pixel column the fullest step in it.
function columnsOf(data, width) {
  const columns = [];
  for (let i = 0; i < data.steps; ++i) {
    const x = Math.floor(data.at[i] / data.end * (width - 1));
    if (columns[x] === undefined || data.total[i] > data.total[columns[x]]) columns[x] = i;
  }
  for (let x = 0, last = 0; x < width; ++x) last = columns[x] = columns[x] ?? last;
  return columns;
}

function memoryChart(data, width, limit) {
  const height = 280, left = 66, bottom = 24, w = Math.max(100, Math.floor(width - left - 6)), h = height - bottom - 14;
  const top = Math.max(data.total[data.peak] || 1, limit) * 1.04, y = value => 14 + h - value / top * h;
  const columns = columnsOf(data, w), gib = 1024 ** 3, unit = top >= gib ? gib : top >= 1024 ** 2 ? 1024 ** 2 : 1024;
  const below = new Float64Array(w), areas = data.curves.map(curve => {
    let upper = "", lower = "";
    for (let x = 0; x < w; ++x) {
      lower = `L${left + x} ${y(below[x]).toFixed(1)}` + lower;
      below[x] += curve.bytes[columns[x]];
      upper += `${x ? "L" : "M"}${left + x} ${y(below[x]).toFixed(1)}`;
    }
    return svg("path", {d: upper + lower + "Z", fill: kindColour(curve.kind)});
  });
  const ticks = upTo(top / unit, 5).map(t => t * unit), times = upTo(data.end, Math.max(3, Math.floor(w / 130)));
  const peakX = left + columns.findIndex(i => data.total[i] === data.total[data.peak]);
  return {left, w, columns, element: svg("svg", {viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true"},
    ticks.map(t => [svg("line", {class: "grid", x1: left, x2: left + w, y1: y(t), y2: y(t)}), svg("text", {class: "soft", x: left - 8, y: y(t) + 4, "text-anchor": "end"}, bytes(t).replace(".00", ""))]),
    areas,
    limit > 0 && [svg("line", {class: "limit", x1: left, x2: left + w, y1: y(limit), y2: y(limit)}), svg("text", {x: left + w, y: y(limit) - 5, "text-anchor": "end"}, `limit ${bytes(limit)}`)],
    times.map((t, i) => svg("text", {class: "soft", x: left + t / data.end * w, y: height - 6, "text-anchor": i === 0 ? "start" : t / data.end > .97 ? "end" : "middle"}, time(t))),
    svg("circle", {cx: peakX, cy: y(data.total[data.peak]), r: 4, fill: "var(--paper)", stroke: "var(--ink)", "stroke-width": 2}),
    svg("line", {class: "cursor", x1: left, x2: left, y1: 14, y2: 14 + h, stroke: "var(--ink)"}))};
}

function memoryOf(entry, place) {
  const data = memoryData(entry);
  if (data.steps === 0 || data.curves.length === 0) return place.append(el("p", {}, "It holds nothing."));
  const chart = el("div", {class: "chart"}), readout = el("div", {class: "details"});
  const slider = el("input", {type: "range", min: 0, "aria-label": `Time in ${entry.name}`});
  let drawn;
  // The slider counts columns of the chart; in each, the fullest step speaks.
  function read() {
    const i = drawn.columns[+slider.value], module = textOf(entry.module[i]);
    const x = drawn.left + +slider.value, cursor = drawn.element.querySelector(".cursor");
    cursor.setAttribute("x1", x); cursor.setAttribute("x2", x);
    slider.setAttribute("aria-valuetext", `step ${i}, ${time(data.at[i])}: ${bytes(data.total[i])}`);
    readout.replaceChildren(el("p", {}, el("strong", {}, bytes(data.total[i])), ` at step ${count(i)} of ${count(data.steps)}, after ${time(data.at[i])}: `,
      el("code", {}, textOf(entry.kernel[i])), module ? ` of ${module}` : "", i === data.peak ? ", the peak" : "", "."),
    legend(data.curves.map(c => [c.kind, c.bytes[i], kindColour(c.kind)]), data.total[i], bytes));
  }
  function toPeak() {
    slider.value = drawn.columns.findIndex(i => data.total[i] === data.total[data.peak]);
    read();
  }
  function draw() {
    drawn = memoryChart(data, Math.max(300, chart.clientWidth || 800), plan.memory.limit_bytes);
    chart.replaceChildren(drawn.element);
    slider.max = drawn.w - 1;
    slider.style.marginLeft = drawn.left - 8 + "px";
    slider.style.width = drawn.w + 16 + "px";
    toPeak();
  }
  chart.addEventListener("mousemove", event => {
    slider.value = event.clientX - chart.getBoundingClientRect().left - drawn.left;
    read();
  });
  slider.addEventListener("input", read);
  place.append(chart, slider, readout, el("div", {class: "row"}, el("button", {type: "button", onclick: toPeak}, "Go to the peak")));
  draw();
  let last = chart.clientWidth;
  new ResizeObserver(() => { if (chart.clientWidth !== last) { last = chart.clientWidth; draw(); } }).observe(chart);
}

// Entries, one at a time.
function entryPicker(root, draw) {
  const place = el("div"), entries = doc.entries, show = index => { place.replaceChildren(); draw(entries[index], place); };
  const select = el("select", {onchange: () => show(select.value)}, entries.map((entry, i) => el("option", {value: i}, entry.name)));
  if (entries.length > 1) root.append(el("div", {class: "row"}, el("label", {}, "Entry ", select)));
  root.append(place);
  if (entries.length > 0) show(0);
}

sections.push({id: "memory", title: "Memory over time", draw(root) {
  root.append(el("p", {class: "lead"}, "What one rank holds while the program runs. Activations are made in the forward and read in the backward phase. " +
    (plan.memory.limit_bytes ? "" : "No memory limit was set.")));
  entryPicker(root, memoryOf);
}});
