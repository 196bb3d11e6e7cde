// What an audit of accessibility finds in the page, as a list of texts. Evaluated in the page.
(() => {
  const found = [];
  const shown = e => e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && !e.closest(".hidden, .skip, [aria-hidden=true]");

  // Ids, and what refers to them.
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  for (const id of new Set(ids)) if (ids.filter(other => other === id).length > 1) found.push(`id ${id} is there twice`);
  for (const e of document.querySelectorAll("[aria-labelledby]"))
    if (!document.getElementById(e.getAttribute("aria-labelledby"))) found.push(`${e.tagName} is labelled by what is not there`);
  for (const e of document.querySelectorAll("a[href^='#']")) if (!document.getElementById(e.hash.slice(1))) found.push(`link to ${e.hash} leads nowhere`);

  // Headings go down by one.
  let level = 0;
  for (const h of document.querySelectorAll("h1, h2, h3, h4")) {
    if (+h.tagName[1] > level + 1) found.push(`heading "${h.textContent}" is ${h.tagName} after H${level}`);
    level = +h.tagName[1];
  }
  if (document.querySelectorAll("h1").length !== 1 || document.querySelectorAll("main").length !== 1) found.push("there must be one h1 and one main");
  if (!document.documentElement.lang || !document.title) found.push("no language or title");

  // Tables have heads; fields have labels.
  for (const t of document.querySelectorAll("table")) if (!t.querySelector("th[scope=col]")) found.push(`a table has no heads: ${t.textContent.slice(0, 60)}`);
  for (const f of document.querySelectorAll("input, select"))
    if (!f.labels.length && !f.getAttribute("aria-label")) found.push(`a field has no label: ${f.outerHTML.slice(0, 80)}`);

  // Contrast of texts: 4.5, of large ones 3. (WCAG 2, 1.4.3)
  const channels = colour => (colour.match(/[\d.]+/g) || []).map(Number);
  const light = colour => channels(colour).slice(0, 3).map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return getComputedStyle(e).backgroundColor; }
    return "rgb(255,255,255)";
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let checked = 0;
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement, style = getComputedStyle(e);
    if (!texts.currentNode.data.trim() || ["SCRIPT", "NOSCRIPT", "OPTION"].includes(e.tagName) || !shown(e) || e.closest("[disabled]")) continue;
    const svg = e.closest("svg"), ink = light(svg ? style.fill : style.color);
    // Labels of the treemap lie on its rectangles: on the last one before them that covers their place.
    let paper = behind(svg || e);
    if (svg && svg.classList.contains("treemap")) {
      const box = e.getBoundingClientRect(), y = box.top + box.height / 2;
      for (const rect of e.parentElement.querySelectorAll("rect:not(.frame)")) {
        const r = rect.getBoundingClientRect();
        if (r.top <= y && y <= r.bottom) paper = getComputedStyle(rect).fill;
      }
    }
    const other = light(paper), contrast = (Math.max(ink, other) + .05) / (Math.min(ink, other) + .05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 600);
    ++checked;
    if (contrast < (large ? 3 : 4.5)) found.push(`contrast ${contrast.toFixed(2)} of "${texts.currentNode.data.trim().slice(0, 40)}" (${e.className || e.tagName})`);
  }
  if (checked < 100) found.push(`only ${checked} texts were looked at`);

  // Nothing sticks out of the page to the right, and no two texts of a chart overlap.
  if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}`);
  for (const chart of document.querySelectorAll(".chart svg")) {
    const boxes = [...chart.querySelectorAll("text")].filter(t => t.textContent).map(t => [t, t.getBoundingClientRect()]);
    boxes.forEach(([a, x], i) => boxes.slice(i + 1).forEach(([b, y]) => {
      if (x.left < y.right - 1 && y.left < x.right - 1 && x.top < y.bottom - 2 && y.top < x.bottom - 2) found.push(`"${a.textContent}" overlaps "${b.textContent}"`);
    }));
  }
  return found;
})()
