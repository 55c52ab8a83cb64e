// @ts-check
// The table itself: as a whole, or by the part in sight where it is large.

import { el } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { dataCell } from "./cells.js";
import { columnHeadings, headingsOfCell, rowHeadings } from "./headers.js";
import { isTotal } from "./layout.js";
import { boxOf, captionOf, cellStyle, headingStyle, startsGroup, withheldRow } from "./parts.js";
import { windowedTable } from "./windowed.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./layout.js").Layout} Layout
 * @typedef {import("./layout.js").View} View
 */

/** Tables with more cells than this are drawn by the part in sight. */
export const WHOLE = 3000;

/**
 * @param {{model: Model, layout: Layout, view: View, language: string, id: string}} shown
 * @returns {HTMLElement}
 */
export function tableView(shown) {
  const { layout, model } = shown;
  const cells = layout.rows.count * layout.columns.count;
  const large = cells > WHOLE;
  const frame = large ? windowedTable(shown) : whole(shown);
  const { rows, columns } = layout;
  const names = (/** @type {import("./layout.js").Side} */ side) =>
    side.dimensions.map((one) => one.label).join(", ") || model.unit;
  const summary = t("result.table.summary", {
    rows: rows.count,
    columns: columns.count,
    down: names(rows),
    across: names(columns),
  });
  const withheld = model.dimensions.reduce((sum, one) => sum + one.withheld.size, 0);
  return el(
    "div",
    { class: "r-table" },
    el(
      "p",
      { class: "visually-hidden", id: `${shown.id}-summary` },
      summary,
      withheld > 0 && ` ${plural("result.table.summary_withheld", withheld)}`,
      large && ` ${t("result.table.summary_large")}`,
    ),
    frame,
  );
}

/** @param {{model: Model, layout: Layout, view: View, language: string, id: string}} shown */
function whole(shown) {
  const { layout } = shown;
  const cells = cellStyle(shown);
  const several = layout.rows.dimensions.length > 1 || layout.columns.dimensions.length > 1;
  const headings = { ...headingStyle(shown, several ? `${shown.id}-` : null), counted: false };
  const window = { from: 0, to: layout.columns.count, before: false, after: false };
  const totals = Array.from({ length: layout.columns.count }, (_, at) => isTotal(layout.columns, at));
  const body = el("tbody");
  const all = { from: 0, to: layout.rows.count };
  for (let row = 0; row < layout.rows.count; row += 1) {
    const total = isTotal(layout.rows, row);
    const line = el("tr", { class: total ? "r-total" : null });
    line.append(...rowHeadings(layout, headings, row, all));
    const word = withheldRow(layout, row) ? t("result.cell.withheld") : "";
    for (let column = 0; column < layout.columns.count; column += 1) {
      const place = {
        total: total || totals[column],
        headers: headingsOfCell(layout, headings, row, column),
        word: column === 0 ? word : "",
      };
      line.append(dataCell(layout.cell(row, column), cells, place));
    }
    if (startsGroup(layout, row)) line.classList.add("r-starts");
    body.append(line);
  }
  const head = el("thead", {}, columnHeadings(layout, headings, window));
  const table = el("table", { class: "r-grid" }, captionOf(shown), head, body);
  const box = el("div", boxOf(shown), table);
  fixStubs(box, table, layout.rows.dimensions.length);
  return box;
}

/**
 * Keep the columns of row headings in sight, as long as they leave room for figures.
 * @param {HTMLElement} box
 * @param {HTMLElement} table
 * @param {number} stubs
 */
function fixStubs(box, table, stubs) {
  const place = () => {
    const corners = [...table.querySelectorAll("th.r-corner[data-stub]")];
    const widths = corners.map((one) => /** @type {HTMLElement} */ (one).offsetWidth);
    let left = 0;
    widths.forEach((width, at) => {
      const fits = at === 0 || left + width <= box.clientWidth * 0.55;
      table.style.setProperty(`--stub-${at}`, fits ? `${left}px` : "auto");
      if (fits) left += width;
    });
    const head = /** @type {HTMLElement} */ (table.querySelector("thead"));
    table.style.setProperty("--head", `${head.offsetHeight}px`);
  };
  if (stubs > 1) new ResizeObserver(place).observe(box);
  else requestAnimationFrame(place);
}
