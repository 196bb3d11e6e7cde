"use strict";
// A step in time: one row for each queue of a rank, and where compute waits.

const ROW = 34, AXIS = 22, GAP = 8;

class Timeline {
  constructor(entry, canvas, details) {
    Object.assign(this, {entry, canvas, details, chosen: -1});
    this.us = entry.us.map(i => Math.max(0, numberOf(i)));
    this.end = endOf(entry);
    this.critical = new Set(entry.critical);
    this.rows = entry.queues.map(() => []);
    entry.queue.forEach((queue, i) => this.rows[queue].push(i));
    this.stalls = this.findStalls();
    this.fit();
  }
  // Compute stands still from the end of one of its steps to the beginning of the next.
  findStalls() {
    const stalls = [];
    let end = 0;
    for (const i of this.rows[0] || []) {
      if (this.entry.start[i] - end > 1e-3) stalls.push([end, this.entry.start[i]]);
      end = Math.max(end, this.entry.start[i] + this.us[i]);
    }
    if (this.end - end > 1e-3) stalls.push([end, this.end]);
    return stalls;
  }
  fit() { this.from = 0; this.to = this.end; }
  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.max(Math.min(this.end, .5), Math.min(this.end, (this.to - this.from) * factor));
    const share = (at - this.from) / (this.to - this.from);
    this.from = at - share * span;
    this.to = this.from + span;
    this.pan(0);
  }
  pan(share) {
    const span = this.to - this.from;
    this.from = Math.max(0, Math.min(this.end - span, this.from + share * span));
    this.to = this.from + span;
    this.draw();
  }
  x(us) { return this.left + (us - this.from) / (this.to - this.from) * (this.width - this.left); }

  draw() {
    const css = getComputedStyle(document.documentElement), colour = name => css.getPropertyValue(name).trim();
    const {canvas} = this, scale = window.devicePixelRatio || 1, width = canvas.parentElement.clientWidth || 800;
    const height = AXIS + this.rows.length * (ROW + GAP) + 4;
    canvas.width = width * scale; canvas.height = height * scale; canvas.style.height = height + "px";
    this.width = width; this.left = width > 500 ? 92 : 62;
    const c = canvas.getContext("2d");
    c.scale(scale, scale);
    c.clearRect(0, 0, width, height);
    c.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    c.textBaseline = "middle";
    this.drawAxis(c, height, colour);
    c.save();
    c.beginPath(); c.rect(this.left, 0, width - this.left, height); c.clip();
    this.drawStalls(c, colour);
    this.rows.forEach((steps, row) => this.drawRow(c, steps, row, colour));
    c.restore();
    this.entry.queues.forEach((name, row) => {
      c.fillStyle = colour("--ink");
      c.fillText(name, 6, AXIS + row * (ROW + GAP) + ROW / 2, this.left - 10);
    });
  }
  drawAxis(c, height, colour) {
    const span = this.to - this.from, step = upTo(span, Math.max(3, Math.floor((this.width - this.left) / 120)))[1] || span;
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = this.x(t), label = time(t);
      c.fillStyle = colour("--line"); c.fillRect(Math.round(x), AXIS - 4, 1, height);
      c.fillStyle = colour("--soft");
      if (x + c.measureText(label).width + 4 < this.width) c.fillText(label, x + 3, 9);
    }
  }
  drawStalls(c, colour) {
    c.strokeStyle = colour("--edge"); c.lineWidth = 1;
    for (const [from, to] of this.stalls) {
      const x = this.x(from), w = this.x(to) - x;
      if (w < 3 || x > this.width || x + w < this.left) continue;
      c.save();
      c.beginPath(); c.rect(x, AXIS, w, ROW); c.clip();
      c.beginPath();
      for (let at = Math.max(x, this.left - 40) - ROW; at < Math.min(x + w, this.width); at += 6) { c.moveTo(at, AXIS + ROW); c.lineTo(at + ROW, AXIS); }
      c.stroke();
      c.restore();
    }
  }
  // Steps narrower than a pixel are drawn as one.
  drawRow(c, steps, row, colour) {
    const y = AXIS + row * (ROW + GAP), fill = colour(row === 0 ? "--compute" : "--comm"), ink = colour(row === 0 ? "--on-compute" : "--on-comm");
    let drawn = -1;
    for (const i of steps) {
      const x = this.x(this.entry.start[i]), right = this.x(this.entry.start[i] + this.us[i]);
      if (right < this.left || x > this.width || right <= drawn) continue;
      const w = Math.max(right - x - (right - x > 4 ? 1 : 0), .8);
      c.fillStyle = fill;
      c.fillRect(x, y, w, ROW);
      if (this.critical.has(i)) { c.fillStyle = colour("--ink"); c.fillRect(x, y + ROW - 3, w, 3); }
      if (i === this.chosen) { c.strokeStyle = colour("--ink"); c.lineWidth = 3; c.strokeRect(x, y, Math.max(w, 3), ROW); }
      if (w > 46) {
        const from = Math.max(x, this.left), room = Math.min(right, this.width) - from - 8;
        c.fillStyle = ink;
        if (room > 30) c.fillText(fits(textOf(this.entry.kernel[i]), room + 8), from + 4, y + ROW / 2, room);
      }
      drawn = Math.floor(right * 2) / 2;
    }
  }
  at(px, py) {
    const row = Math.floor((py - AXIS) / (ROW + GAP)), us = this.from + (px - this.left) / (this.width - this.left) * (this.to - this.from);
    if (px < this.left || !this.rows[row]) return -1;
    const slack = (this.to - this.from) / this.width;
    let best = -1, distance = 2 * slack;
    for (const i of this.rows[row]) {
      const start = this.entry.start[i], far = Math.max(start - us, us - start - this.us[i], 0);
      if (far < distance) { best = i; distance = far; }
    }
    return best;
  }
  say(i) {
    const {entry} = this, module = textOf(entry.module[i]);
    return `${textOf(entry.kernel[i])}${module ? " of " + module : ""}\n${time(this.us[i])} from ${time(entry.start[i])}, ${entry.queues[entry.queue[i]]}` +
      (entry.wire[i] ? `, ${bytes(entry.wire[i])} sent` : "");
  }
  choose(i) {
    const {entry} = this;
    this.chosen = i;
    const start = entry.start[i], span = this.to - this.from;
    if (start < this.from || start + this.us[i] > this.to) { this.from = Math.max(0, Math.min(this.end - span, start - span / 3)); this.to = this.from + span; }
    this.draw();
    const pairs = [["step", `${count(i)}: ${textOf(entry.kernel[i])}`], ["node", textOf(entry.node[i]) || "not stored"], ["module", textOf(entry.module[i]) || "none"],
      ["phase", entry.phase[i] ? "backward" : "forward"], ["when", `from ${time(start)} for ${time(this.us[i])}, on ${entry.queues[entry.queue[i]]}`],
      ...(entry.wire[i] ? [["sends", `${bytes(entry.wire[i])} over ${textOf(entry.axes[i])}`]] : []),
      ["critical path", this.critical.has(i) ? "yes: the step would end earlier if this took less" : "no"]];
    this.details.replaceChildren(el("dl", {}, pairs.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
  }
  // The next step in time of the same queue, or the nearest in another one.
  walk(by) {
    const row = this.rows[this.chosen < 0 ? 0 : this.entry.queue[this.chosen]], at = row.indexOf(this.chosen) + by;
    if (row.length > 0) this.choose(row[Math.max(0, Math.min(row.length - 1, at))]);
  }
  change(by) {
    const from = this.chosen < 0 ? 0 : this.entry.queue[this.chosen], to = from + by, now = this.chosen < 0 ? this.from : this.entry.start[this.chosen];
    const row = this.rows[to];
    if (row && row.length) this.choose(row.reduce((best, i) => Math.abs(this.entry.start[i] - now) < Math.abs(this.entry.start[best] - now) ? i : best));
  }
}

function timelineOf(entry, place) {
  if (entry.kernel.length === 0) return place.append(el("p", {}, "It has no steps."));
  const details = el("div", {class: "details", "aria-live": "polite"}, el("p", {class: "note"}, "Choose a step to see what it is."));
  const canvas = el("canvas", {tabindex: 0, role: "application", "aria-roledescription": "timeline",
    "aria-label": `Timeline of ${entry.name}: left and right walk through the steps of a queue, up and down change the queue, plus and minus zoom, 0 shows all`});
  const line = new Timeline(entry, canvas, details);
  const keys = {ArrowRight: () => line.walk(1), ArrowLeft: () => line.walk(-1), ArrowDown: () => line.change(1), ArrowUp: () => line.change(-1),
    "+": () => line.zoom(.5, centre()), "=": () => line.zoom(.5, centre()), "-": () => line.zoom(2, centre()), 0: () => { line.fit(); line.draw(); },
    PageDown: () => line.pan(.8), PageUp: () => line.pan(-.8)};
  const centre = () => line.chosen >= 0 ? entry.start[line.chosen] : (line.from + line.to) / 2;
  canvas.addEventListener("keydown", event => { if (keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); } });
  let drag = null;
  canvas.addEventListener("pointerdown", event => { drag = {x: event.offsetX, moved: false}; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", event => {
    if (drag && Math.abs(event.offsetX - drag.x) > 3) {
      line.pan((drag.x - event.offsetX) / (line.width - line.left));
      drag = {x: event.offsetX, moved: true};
    }
    const i = line.at(event.offsetX, event.offsetY);
    if (i >= 0 && !drag) showTip(line.say(i), event.clientX, event.clientY); else hideTip();
  });
  canvas.addEventListener("pointerup", event => {
    const i = line.at(event.offsetX, event.offsetY);
    if (drag && !drag.moved && i >= 0) line.choose(i);
    drag = null;
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    line.zoom(Math.exp(event.deltaY / 300), line.from + (event.offsetX - line.left) / (line.width - line.left) * (line.to - line.from));
  }, {passive: false});
  const button = (title, act) => el("button", {type: "button", onclick: act}, title);
  const times = plan.program.simulated[entry.name];
  place.append(el("div", {class: "row"}, button("Zoom in", () => line.zoom(.5, centre())), button("Zoom out", () => line.zoom(2, centre())),
    button("Earlier", () => line.pan(-.5)), button("Later", () => line.pan(.5)), button("Show all", () => { line.fit(); line.draw(); })),
  legend([["compute", 1, "var(--compute)"], ["collectives", 1, "var(--comm)"]], 0, () => ""), el("div", {class: "chart"}, canvas), details);
  place.querySelector(".legend").append(el("li", {}, "▨ compute waits"), el("li", {}, "▁ critical path"));
  if (times) place.append(sortedTable([
    {title: "Queue", value: q => q.name}, {title: "Steps", number: true, value: q => q.steps, show: q => count(q.steps)},
    {title: "Busy", number: true, value: q => q.busy, show: q => time(q.busy)},
    {title: "Compute waits for it", number: true, value: q => q.exposed, show: q => time(q.exposed)},
    {title: "Share of the step", sort: false, show: q => bar([["busy", q.busy, q.name === "compute" ? "var(--compute)" : "var(--comm)"],
      ["rest", Math.max(0, times.us - q.busy), "transparent"]], times.us, percent(q.busy, times.us))},
  ], times.queues, {rows: 40, caption: `${time(times.us)} in all, of which compute waits ${time(times.exposed)} for collectives`}));
  line.draw();
  new ResizeObserver(() => line.draw()).observe(canvas.parentElement);
  document.addEventListener("theme", () => line.draw());
}

sections.push({id: "timeline", title: "A step in time", draw(root) {
  root.append(el("p", {class: "lead"}, "The simulated run of one rank; all ranks run alike. Drag or use the arrow keys, zoom with the buttons or Ctrl and the wheel."));
  entryPicker(root, timelineOf);
}});
