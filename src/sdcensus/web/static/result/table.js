// @ts-check
// The table itself: as a whole, or by the part in sight where it is large.

import { el } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { dataCell } from "./cells.js";
import { columnHeadings, headingsOfCell, rowHeadings } from "./headers.js";
import { isTotal } from "./layout.js";
import { boxOf, captionOf, cellStyle, headingStyle, startsGroup, withheldRow } from "./parts.js";
import { onPaper } from "./printed.js";
import { windowedTable } from "./windowed.js";

/** @typedef {import("./parts.js").Shown} Shown */

/** Tables with more cells than this are drawn by the part in sight. */
export const WHOLE = 3000;

/**
 * @param {Shown} shown
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
  const root = el(
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
  onPaper(root, shown, (part) => gridOf(shown, part));
  return root;
}

/** @param {Shown} shown */
function whole(shown) {
  const { layout } = shown;
  const several = layout.rows.dimensions.length > 1 || layout.columns.dimensions.length > 1;
  const table = gridOf(shown, {
    down: { from: 0, to: layout.rows.count },
    across: { from: 0, to: layout.columns.count },
    headings: headingStyle(shown, several ? `${shown.id}-` : null),
  });
  table.prepend(captionOf(shown));
  const box = el("div", boxOf(shown), table);
  fixStubs(box, table, layout.rows.dimensions.length);
  return box;
}

/**
 * The rows and columns of a part of a table.
 * @param {Shown} shown
 * @param {import("./parts.js").Part} part
 */
function gridOf(shown, { down, across, headings: style }) {
  const { layout } = shown;
  const cells = cellStyle(shown);
  const headings = { ...style, counted: false };
  const window = { ...across, before: false, after: false };
  const totals = Array.from({ length: layout.columns.count }, (_, at) => isTotal(layout.columns, at));
  const body = el("tbody");
  for (let row = down.from; row < down.to; row += 1) {
    const total = isTotal(layout.rows, row);
    const line = el("tr", { class: total ? "r-total" : null });
    line.append(...rowHeadings(layout, headings, row, down));
    const word = withheldRow(layout, row) ? t("result.cell.withheld") : "";
    for (let column = across.from; column < across.to; column += 1) {
      const place = {
        total: total || totals[column],
        headers: headingsOfCell(layout, headings, row, column),
        word: column === across.from ? word : "",
      };
      line.append(dataCell(layout.cell(row, column), cells, place));
    }
    if (startsGroup(layout, row)) line.classList.add("r-starts");
    body.append(line);
  }
  const head = el("thead", {}, columnHeadings(layout, headings, window));
  return el("table", { class: "r-grid" }, head, body);
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
    table.style.setProperty("--stubs", `${left}px`);
    const head = /** @type {HTMLElement} */ (table.querySelector("thead"));
    table.style.setProperty("--head", `${head.offsetHeight}px`);
  };
  if (stubs > 1) new ResizeObserver(place).observe(box);
  else requestAnimationFrame(place);
}
