// @ts-check
// A large table: only the rows and columns in sight (and some around them) are in the page. Heights
// and widths are fixed, so that the bars of the box tell the truth about the rest.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { cellText, dataCell } from "./cells.js";
import { nameOf } from "./dataset.js";
import { columnHeadings, rowHeadings } from "./headers.js";
import { isTotal } from "./layout.js";
import { boxOf, captionOf, cellStyle, headingStyle, startsGroup, withheldRow } from "./parts.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./layout.js").Layout} Layout
 * @typedef {import("./layout.js").Side} Side
 * @typedef {import("./layout.js").View} View
 */

const ROW = 31; // pixels, the same as in the style sheet
const CHARACTER = 7.8;
const PADDING = 26;
const AROUND = 12; // rows and columns beyond those in sight
const FEW_ROWS = 20; // that most screens have room for
const FEW_COLUMNS = 12;
const MOST_JUMPS = 5000; // places of a list to go to

/**
 * @param {{model: Model, layout: Layout, view: View, language: string, id: string}} shown
 * @returns {HTMLElement}
 */
export function windowedTable(shown) {
  const { layout, view } = shown;
  const { rows, columns } = layout;
  const cells = cellStyle(shown);
  const headings = headingStyle(shown, null);
  const column = columnWidth(shown);
  const stubs = stubWidths(layout, view.label);
  const levels = Math.max(columns.dimensions.length, 1);
  const table = el("table", {
    class: "r-grid r-windowed",
    "aria-rowcount": rows.count + levels,
    "aria-colcount": columns.count + stubs.length,
  });
  const box = el("div", boxOf(shown), table);
  const where = el("p", { class: "r-where" });
  const goTo = [
    rows.count > FEW_ROWS &&
      jump(shown, rows, `${shown.id}-jump`, where, (line) => box.scrollTo({ top: line * ROW })),
    columns.count > FEW_COLUMNS &&
      columns.dimensions.length > 1 &&
      jump(shown, columns, `${shown.id}-across`, where, (line) => box.scrollTo({ left: line * column })),
  ];
  const last = lastHeight(columns, view.label, column);
  const head = (levels - 1) * ROW + last;
  let drawn = "";

  const draw = () => {
    const narrow = box.clientWidth < 560;
    const most = narrow ? Math.max(64, Math.min(150, (box.clientWidth * 0.6) / stubs.length)) : 240;
    const widths = stubs.map((width) => Math.min(width, Math.round(most)));
    const stub = widths.reduce((sum, one) => sum + one, 0);
    const down = inSight(box.scrollTop, box.clientHeight, ROW, rows.count);
    const across = inSight(box.scrollLeft, box.clientWidth - stub, column, columns.count);
    fillWhere(where, {
      rows: placed(box.scrollTop, box.clientHeight - head, ROW, rows.count),
      columns: placed(box.scrollLeft, box.clientWidth - stub, column, columns.count),
    });
    const key = [down.from, down.to, across.from, across.to, narrow].join(" ");
    if (key === drawn) return;
    drawn = key;
    const before = across.from * column;
    const after = (columns.count - across.to) * column;
    const window = { ...across, before: before > 0, after: after > 0 };
    const sizes = [
      ...widths,
      ...(before > 0 ? [before] : []),
      ...Array.from({ length: across.to - across.from }, () => column),
      ...(after > 0 ? [after] : []),
    ];
    const columnOf = (/** @type {number} */ width) => el("col", { style: { width: `${width}px` } });
    const group = el("colgroup", {}, sizes.map(columnOf));
    table.style.setProperty("width", `${sizes.reduce((sum, one) => sum + one, 0)}px`);
    let left = 0;
    widths.forEach((width, at) => {
      const fits = at === 0 || left + width <= box.clientWidth * 0.55;
      table.style.setProperty(`--stub-${at}`, fits ? `${left}px` : "auto");
      if (fits) left += width;
    });
    table.style.setProperty("--stubs", `${left}px`);
    table.style.setProperty("--head", `${head}px`);
    table.style.setProperty("--last", `${last}px`);
    const body = el("tbody");
    if (down.from > 0) body.append(spacer(down.from * ROW, sizes.length));
    for (let row = down.from; row < down.to; row += 1) {
      body.append(bodyRow(row, down, window));
    }
    if (down.to < rows.count) body.append(spacer((rows.count - down.to) * ROW, sizes.length));
    const top = el("thead", {}, columnHeadings(layout, headings, window));
    table.replaceChildren(captionOf(shown), group, top, body);
  };

  /** @param {number} row @param {any} down @param {any} window */
  const bodyRow = (row, down, window) => {
    const total = isTotal(rows, row);
    const line = el("tr", { class: total ? "r-total" : null, "aria-rowindex": row + levels + 1 });
    if (startsGroup(layout, row)) line.classList.add("r-starts");
    line.append(...rowHeadings(layout, headings, row, down));
    if (window.before) line.append(el("td", { class: "r-gap", "aria-hidden": true }));
    const word = withheldRow(layout, row) ? t("result.cell.withheld") : "";
    for (let at = window.from; at < window.to; at += 1) {
      const place = { total: total || isTotal(columns, at), word: at === 0 ? word : "" };
      const cell = dataCell(layout.cell(row, at), cells, place);
      cell.setAttribute("aria-colindex", String(at + stubs.length + 1));
      line.append(cell);
    }
    if (window.after) line.append(el("td", { class: "r-gap", "aria-hidden": true }));
    return line;
  };

  let waiting = 0;
  const soon = () => {
    if (waiting) return;
    waiting = requestAnimationFrame(() => {
      waiting = 0;
      draw();
    });
  };
  box.addEventListener("scroll", soon, { passive: true });
  new ResizeObserver(soon).observe(box);
  return el("div", {}, el("div", { class: "r-jump" }, goTo, where), box);
}

/**
 * The lines in sight and some around them. They move in steps, so that small moves draw nothing.
 * @param {number} offset
 * @param {number} room
 * @param {number} size
 * @param {number} count
 */
function inSight(offset, room, size, count) {
  const first = Math.floor(offset / size);
  const last = Math.ceil((offset + Math.max(room, 200)) / size);
  const step = Math.floor(AROUND / 2);
  const from = Math.max(0, Math.floor((first - step) / step) * step);
  return { from, to: Math.min(count, Math.ceil((last + step) / step) * step) };
}

/**
 * The height of the innermost headings of columns: one to three lines.
 * @param {Side} columns
 * @param {"label" | "code" | "both"} how
 * @param {number} width
 */
function lastHeight(columns, how, width) {
  const inner = columns.dimensions.length - 1;
  if (inner < 0) return ROW;
  const longest = longestOf(columns, inner, how);
  const lines = Math.ceil(longest / Math.max(1, (width - PADDING) / CHARACTER - 1));
  return 14 + 17 * Math.min(3, Math.max(1, lines));
}

/** @param {Side} side @param {number} at @param {"label" | "code" | "both"} how */
function longestOf(side, at, how) {
  const lengths = side.places[at].map((place) => nameOf(side.dimensions[at], place, how).length);
  return lengths.reduce((most, one) => Math.max(most, one), 0);
}

/** @param {number} height @param {number} columns */
function spacer(height, columns) {
  const cell = el("td", { class: "r-gap", colspan: columns, style: { height: `${height}px` } });
  return el("tr", { "aria-hidden": true }, cell);
}

/**
 * The first and the last line in sight, counted from one.
 * @param {number} offset
 * @param {number} room
 * @param {number} size
 * @param {number} all
 */
function placed(offset, room, size, all) {
  const from = Math.min(all, Math.round(offset / size) + 1);
  const to = Math.min(all, Math.max(from, Math.round((offset + room) / size)));
  return { from, to, all };
}

/**
 * @param {HTMLElement} where
 * @param {Record<"rows" | "columns", {from: number, to: number, all: number}>} sight
 */
function fillWhere(where, { rows, columns }) {
  const across = columns.from > 1 || columns.to < columns.all;
  where.textContent = [
    t("result.table.where", rows),
    ...(across ? [t("result.table.where_columns", columns)] : []),
  ].join(" · ");
}

/**
 * A list to go to the lines of a category of the outermost dimension of a side.
 * @param {{view: View}} shown
 * @param {Side} side
 * @param {string} id
 * @param {HTMLElement} where
 * @param {(line: number) => void} go
 */
function jump({ view }, side, id, where, go) {
  // A list of a hundred thousand squares helps nobody, and takes seconds to make.
  if (side.dimensions.length === 0 || side.places[0].length > MOST_JUMPS) return null;
  const [dimension] = side.dimensions;
  const choice = el(
    "select",
    {
      id,
      class: "field auto",
      dataset: { focus: id },
      onchange: () => {
        go(Number(choice.value) * side.spans[0]);
        where.setAttribute("role", "status");
      },
    },
    side.places[0].map((place, at) =>
      el(
        "option",
        { value: at },
        `${"\u2003".repeat(dimension.depth[place])}${nameOf(dimension, place, view.label)}`,
      ),
    ),
  );
  const label = t("result.table.jump", { dimension: dimension.label });
  return el("label", { class: "r-field", for: id }, label, " ", choice);
}

/** @param {{model: Model, layout: Layout, view: View, language: string}} shown */
function columnWidth(shown) {
  const { layout } = shown;
  const style = cellStyle(shown);
  let longest = 6;
  // The largest figures are those of totals, in the first rows; the rest is no wider.
  for (let row = 0; row < Math.min(layout.rows.count, 60); row += 1) {
    for (let at = 0; at < Math.min(layout.columns.count, 60); at += 1) {
      longest = Math.max(longest, cellText(layout.cell(row, at), style).length + 2);
    }
  }
  const inner = layout.columns.dimensions.length - 1;
  if (inner < 0) return 104;
  // A heading has three lines, and is cut where that is not enough.
  const heading = Math.min(13, longestOf(layout.columns, inner, shown.view.label) / 1.6);
  return Math.round(Math.max(longest, heading) * CHARACTER + PADDING);
}

/** @param {Layout} layout @param {"label" | "code" | "both"} how */
export function stubWidths({ rows, columns }, how) {
  // The names of the columns stand above the last one.
  const above = columns.dimensions.reduce((most, one) => Math.max(most, one.label.length), 0);
  if (rows.dimensions.length === 0) return [160];
  return rows.dimensions.map((dimension, at) => {
    const last = at === rows.dimensions.length - 1;
    const names = rows.places[at].map(
      (place) => nameOf(dimension, place, how).length + dimension.depth[place] * 2,
    );
    const least = Math.max(last ? Math.min(24, above) : 9, Math.min(16, dimension.label.length));
    const longest = names.reduce((most, one) => Math.max(most, one), least);
    return Math.round(Math.min(34, longest) * CHARACTER + PADDING);
  });
}
