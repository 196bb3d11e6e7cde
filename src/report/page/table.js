"use strict";
// Tables that sort by a column and show their first rows.

// columns: {title or, unseen, label, value(row), show(row), number, sort: false, main: holds the row's button, else the first column}; options: {caption, rows: number shown, by: title of the column to sort by first, select(row),
// foot: cells}. Gives the element, with `update(rows)`.
function sortedTable(columns, rows, options = {}) {
  let by = options.by ? columns.findIndex(column => column.title === options.by) : -1, falling = true, shown = options.rows || 20, chosen = null;
  const heads = columns.map((column, index) => el("th", {scope: "col", class: column.number && "number"},
    column.label ? el("span", {class: "hidden"}, column.label) : column.sort === false ? column.title : el("button", {type: "button", class: "plain", onclick: () => order(index)}, column.title)));
  const body = el("tbody"), more = el("button", {type: "button", onclick: () => { shown *= 5; draw(); }});
  const moreRow = el("p", {class: "more"}, more);

  function order(index) {
    falling = by === index ? !falling : Boolean(columns[index].number);
    by = index;
    draw();
  }
  function draw() {
    const list = by < 0 ? rows : [...rows].sort((a, b) => {
      const x = columns[by].value(a), y = columns[by].value(b);
      return (falling ? -1 : 1) * (x < y ? -1 : x > y ? 1 : 0);
    });
    heads.forEach((head, index) => columns[index].sort !== false &&
      head.setAttribute("aria-sort", index !== by ? "none" : falling ? "descending" : "ascending"));
    body.replaceChildren(...list.slice(0, shown).map(rowElement));
    moreRow.hidden = list.length <= shown;
    more.textContent = `Show more: ${count(Math.max(0, list.length - shown))} left`;
  }
  function rowElement(row) {
    const tr = el("tr", {"aria-selected": options.select && String(row === chosen)}, columns.map((column, index) => {
      const cell = column.show ? column.show(row) : String(column.value(row));
      return el("td", {class: column.number ? "number" : column.class},
        options.select && (column.main || (index === 0 && column.sort !== false)) ? el("button", {type: "button", class: "plain"}, cell) : cell);
    }));
    if (options.select) tr.addEventListener("click", () => {
      chosen = row;
      for (const other of body.children) other.setAttribute("aria-selected", String(other === tr));
      options.select(row);
    });
    return tr;
  }
  const table = el("table", {}, options.caption && el("caption", {}, el("span", {}, options.caption)), el("thead", {}, el("tr", {}, heads)), body,
    options.foot && el("tfoot", {}, el("tr", {}, options.foot.map((cell, index) => el("td", {class: columns[index].number && "number"}, cell)))));
  const whole = el("div", {}, el("div", {class: "scroll"}, table), moreRow);
  whole.update = (list, first) => { rows = list; shown = options.rows || 20; chosen = first || null; draw(); };
  whole.choose = row => { chosen = row; draw(); };
  draw();
  return whole;
}
