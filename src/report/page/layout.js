"use strict";
// Layouts: what their text says, and their pictures.

const mesh = doc.mesh.map(([name, size]) => ({name, size}));
const numRanks = mesh.reduce((ranks, axis) => ranks * axis.size, 1);

// "S(0)S(0)|1,0" → by mesh axis {kind, dim, factor}, and the order in which axes cut.
function parseLayout(text) {
  const [placements, order] = text.split("|");
  const axes = [...placements.matchAll(/SS\((\d+),(\d+)\)|S\((\d+)\)|P(\(\w+\))?|M|R/g)].map(([all, strided, factor, shard]) => {
    if (strided !== undefined) return {kind: "strided", dim: +strided, factor: +factor};
    if (shard !== undefined) return {kind: "shard", dim: +shard};
    return {kind: all === "R" ? "replicate" : "partial"};
  });
  return {axes, order: order ? order.split(",").map(Number) : axes.map((_, axis) => axis)};
}

// "f32[4096,1024]" → [4096, 1024]
const shapeOf = type => (type.match(/\[([\d,]*)\]/) || ["", ""])[1].split(",").filter(Boolean).map(Number);

// Of each tensor dim: into how many blocks it is cut, and by which axes, the outermost cut first. Strided shards cut last.
function cutsOf(layout, rank) {
  return Array.from({length: rank}, (_, dim) => {
    const cutters = [...layout.order.filter(a => layout.axes[a] && layout.axes[a].kind === "shard" && layout.axes[a].dim === dim),
      ...layout.order.filter(a => layout.axes[a] && layout.axes[a].kind === "strided" && layout.axes[a].dim === dim)];
    return {cutters, blocks: cutters.reduce((n, axis) => n * mesh[axis].size, 1)};
  });
}
const coordinates = rank => {
  const at = [];
  for (let axis = mesh.length - 1; axis >= 0; --axis) {
    at[axis] = rank % mesh[axis].size;
    rank = Math.floor(rank / mesh[axis].size);
  }
  return at;
};
// The block of each dim that a rank holds.
const blocksOf = (cuts, rank) => {
  const at = coordinates(rank);
  return cuts.map(({cutters}) => cutters.reduce((block, axis) => block * mesh[axis].size + at[axis], 0));
};

// In words: "dim 0 over dp, then tp; a copy on each tp".
function layoutInWords(text, shape) {
  const layout = parseLayout(text);
  const parts = cutsOf(layout, shape.length).map(({cutters, blocks}, dim) => cutters.length === 0 ? "" :
    `dim ${dim} in ${blocks} blocks over ${cutters.map(axis => mesh[axis].name).join(", then ")}`).filter(Boolean);
  const named = kind => layout.axes.flatMap((p, axis) => p.kind === kind && mesh[axis] ? [mesh[axis].name] : []).join(" and ");
  if (named("replicate")) parts.push(`a copy on each rank of ${named("replicate")}`);
  if (named("partial")) parts.push(`a part of the sum on each rank of ${named("partial")}`);
  return parts.join("; ") || "whole";
}

// The two dims to draw: those that are cut, else the last ones.
function drawnDims(shape, cuts) {
  const cut = cuts.flatMap((c, dim) => c.blocks > 1 ? [dim] : []);
  for (let dim = shape.length - 1; dim >= 0 && cut.length < 2; --dim) if (!cut.includes(dim)) cut.push(dim);
  return cut.slice(0, 2).sort((a, b) => a - b);
}

// The tensor with its blocks, and the one that `rank` holds.
function tensorPicture(type, layoutText, rank, width, height, attributes) {
  const shape = shapeOf(type), cuts = cutsOf(parseLayout(layoutText), shape.length), dims = drawnDims(shape, cuts);
  const [rows, columns] = dims.length === 2 ? dims : [undefined, dims[0]];
  const blocks = dim => dim === undefined ? 1 : cuts[dim].blocks;
  const held = blocksOf(cuts, rank), at = dim => dim === undefined ? 0 : held[dim];
  const w = (width - 2) / blocks(columns), h = (height - 2) / blocks(rows), lines = [];
  if (w >= 2.5) for (let i = 1; i < blocks(columns); ++i) lines.push(svg("line", {x1: 1 + i * w, x2: 1 + i * w, y1: 1, y2: height - 1}));
  if (h >= 2.5) for (let i = 1; i < blocks(rows); ++i) lines.push(svg("line", {y1: 1 + i * h, y2: 1 + i * h, x1: 1, x2: width - 1}));
  return svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, ...attributes},
    svg("rect", {x: 1, y: 1, width: width - 2, height: height - 2, fill: "var(--paper)"}),
    svg("rect", {x: 1 + at(columns) * w, y: 1 + at(rows) * h, width: Math.max(w, 1.5), height: Math.max(h, 1.5), fill: "var(--compute)"}),
    svg("g", {stroke: "var(--edge)", "stroke-width": .5}, lines),
    svg("rect", {x: 1, y: 1, width: width - 2, height: height - 2, fill: "none", stroke: "var(--edge)"}));
}

// One placement an axis, told apart by more than colour: the text itself.
const layoutChip = text => el("code", {class: "layout"}, text || "–");
