"use strict";
// The document, and what all parts of the page share. Each part adds a section; main.js draws them.

const doc = JSON.parse(document.getElementById("document").textContent);
const plan = doc.plan;
const sections = [];  // {id, title, draw(root)}; draw gives false where there is nothing to show

const textOf = index => doc.texts[index];
const numberOf = index => doc.numbers[index];
const sum = list => list.reduce((a, b) => a + b, 0);

// ---- Elements ----

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== false));
  return element;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// ---- Units ----

const digits = (value, places) => value.toLocaleString("en", {minimumFractionDigits: places, maximumFractionDigits: places});
const count = value => value.toLocaleString("en");

// Three significant digits or a few more.
function scaled(value) {
  const size = Math.abs(value);
  return digits(value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}
function time(us) {
  const size = Math.abs(us);
  if (size === 0) return "0 µs";
  if (size >= 1e6) return scaled(us / 1e6) + " s";
  return size >= 1e3 ? scaled(us / 1e3) + " ms" : scaled(us) + " µs";
}
function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; Math.abs(value) >= 1024 && unit + 1 < units.length; ++unit) value /= 1024;
  return (unit === 0 ? value : digits(value, 2)) + " " + units[unit];
}
const percent = (part, whole) => whole > 0 ? digits(100 * part / whole, part > 0 && part / whole < 0.1 ? 1 : 0) + " %" : "0 %";
// A long name, which may break after its dots and underscores.
const named = name => name.split(/(?<=[._])/).flatMap((part, i) => i ? [el("wbr"), part] : [part]);
const code = name => el("code", {}, named(name));
// "layers.3.wq" → "layers.*.wq": the same module of all layers.
const pattern = path => path.replace(/(^|\.)\d+(?=\.|$)/g, "$1*");

// ---- Bars ----

// parts: [label, value, colour]
function bar(parts, whole, label) {
  return el("div", {class: "bar", role: "img", "aria-label": label || parts.map(([name, value]) => `${name} ${percent(value, whole)}`).join(", ")},
    parts.filter(([, value]) => value > 0).map(([, value, colour]) => el("span", {style: `flex:0 0 ${100 * value / whole}%;background:${colour}`})));
}
function legend(parts, whole, show) {
  return el("ul", {class: "legend"}, parts.filter(([, value]) => value > 0).map(([name, value, colour]) =>
    el("li", {}, el("span", {class: "swatch", style: `background:${colour}`}), `${name} ${show(value)}`, whole ? ` (${percent(value, whole)})` : "")));
}
const KINDS = ["parameters", "gradients", "optimizer state", "buffers", "inputs", "results", "session memory", "activations", "collective results",
  "temporaries"];
const kindColour = kind => `var(--k${Math.max(0, KINDS.indexOf(kind) < 0 ? 9 : KINDS.indexOf(kind))})`;

// ---- Tooltips: what data-tip says, for mouse and focus ----

const tip = document.getElementById("tip");
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = (y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : y + 16) + "px";
}
const hideTip = () => { tip.hidden = true; };
document.addEventListener("mousemove", event => {
  const at = event.target.closest && event.target.closest("[data-tip]");
  if (at) showTip(at.dataset.tip, event.clientX, event.clientY);
  else if (!event.target.closest || !event.target.closest("canvas")) hideTip();
});
document.addEventListener("focusin", event => {
  const at = event.target.closest("[data-tip]");
  if (!at || !event.target.matches(":focus-visible")) return hideTip();
  const box = at.getBoundingClientRect();
  showTip(at.dataset.tip, box.left, box.bottom - 10);
});
document.addEventListener("keydown", event => { if (event.key === "Escape") hideTip(); });
document.addEventListener("scroll", hideTip, {passive: true});
