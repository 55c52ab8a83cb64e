// @ts-check
// The headings of a table: levels of columns above it, levels of rows beside it.

import { el } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { nameOf } from "./dataset.js";

/**
 * @typedef {import("./layout.js").Layout} Layout
 * @typedef {import("./layout.js").Side} Side
 * @typedef {import("./dataset.js").Dimension} Dimension
 */

/**
 * @typedef {object} Style
 * @property {"label" | "code" | "both"} label
 * @property {string} unit what the only column or row is called
 * @property {(dimension: Dimension, place: number) => number} partsOf parts of a group
 * @property {string | null} ids prefix of the ids of headings, where cells point at them
 * @property {boolean} counted whether rows and columns carry their numbers
 * @property {number} stubs how many columns of headings stand before the figures
 */

/**
 * The rows of headings above the columns from one to another.
 * @param {Layout} layout
 * @param {Style} style
 * @param {{from: number, to: number, before: boolean, after: boolean}} window
 */
export function columnHeadings(layout, style, window) {
  const { rows, columns } = layout;
  const levels = Math.max(columns.dimensions.length, 1);
  const stubs = Math.max(rows.dimensions.length, 1);
  const made = [];
  for (let level = 0; level < levels; level += 1) {
    const line = el("tr", { "aria-rowindex": style.counted ? level + 1 : null });
    line.append(...corner(layout, level, levels, stubs));
    if (window.before && level === 0) line.append(gap(levels));
    line.append(...headingsOf(columns, level, style, window));
    if (window.after && level === 0) line.append(gap(levels));
    made.push(line);
  }
  return made;
}

/** @param {number} rows */
function gap(rows) {
  return el("td", { class: "r-gap", rowspan: rows, "aria-hidden": true });
}

/** @param {Layout} layout @param {number} level @param {number} levels @param {number} stubs */
function corner(layout, level, levels, stubs) {
  const { rows, columns } = layout;
  const across = columns.dimensions[level];
  const acrossLabel = across && el("span", { class: "r-across" }, across.label);
  if (level < levels - 1) return [el("td", { class: "r-corner", colspan: stubs }, acrossLabel)];
  if (rows.dimensions.length === 0) return [el("td", { class: "r-corner" }, acrossLabel)];
  return rows.dimensions.map((one, at) => {
    const last = at === rows.dimensions.length - 1;
    const name = el("span", { class: "r-down" }, one.label);
    const attributes = { class: "r-corner", scope: "col", title: one.label, dataset: { stub: at } };
    if (!last || !acrossLabel) return el("th", attributes, name);
    // The name of the columns stands in the same corner, but is no heading of the rows.
    acrossLabel.setAttribute("aria-hidden", "true");
    return el("th", attributes, el("span", { class: "r-corner-both" }, name, acrossLabel));
  });
}

/**
 * @param {Side} columns
 * @param {number} level
 * @param {Style} style
 * @param {{from: number, to: number}} window
 */
function headingsOf(columns, level, style, window) {
  const dimension = columns.dimensions[level];
  if (!dimension) return [el("th", { scope: "col", id: idOf(style, "c", 0, 0) }, style.unit)];
  const span = columns.spans[level];
  const places = columns.places[level];
  const last = level === columns.dimensions.length - 1;
  const made = [];
  for (let at = window.from; at < window.to; ) {
    const start = at - (at % span);
    const end = Math.min(start + span, window.to);
    const place = places[(start / span) % places.length];
    made.push(
      el(
        "th",
        {
          scope: last ? "col" : "colgroup",
          colspan: end - at > 1 ? end - at : null,
          id: idOf(style, "c", level, start),
          class: headingClass(dimension, place, last ? "" : "r-group"),
          title: style.counted ? nameOf(dimension, place, style.label) : null,
          "aria-colindex": style.counted ? at + style.stubs + 1 : null,
        },
        last
          ? headingText(dimension, place, style)
          : el("span", { class: "r-group-name" }, headingText(dimension, place, style)),
      ),
    );
    at = end;
  }
  return made;
}

/**
 * The headings that begin in a row, or that a window of rows begins in the middle of.
 * @param {Layout} layout
 * @param {Style} style
 * @param {number} row
 * @param {{from: number, to: number}} window
 */
export function rowHeadings(layout, style, row, window) {
  const { rows } = layout;
  if (rows.dimensions.length === 0) {
    const alone = layout.columns.dimensions.length === 0 ? t("result.table.only") : style.unit;
    return [el("th", { scope: "row", id: idOf(style, "r", 0, 0), dataset: { stub: 0 } }, alone)];
  }
  const made = [];
  rows.dimensions.forEach((dimension, level) => {
    const span = rows.spans[level];
    if (row % span !== 0 && row !== window.from) return;
    const start = row - (row % span);
    const end = Math.min(start + span, window.to);
    const place = rows.places[level][(start / span) % rows.places[level].length];
    const last = level === rows.dimensions.length - 1;
    const depth = Math.min(dimension.depth[place], 6);
    made.push(
      el(
        "th",
        {
          scope: last ? "row" : "rowgroup",
          rowspan: end - row > 1 ? end - row : null,
          id: idOf(style, "r", level, start),
          class: `${headingClass(dimension, place, last ? "" : "r-group")} r-depth-${depth}`,
          dataset: { stub: level },
          title: style.counted ? nameOf(dimension, place, style.label) : null,
        },
        el("span", { class: "r-head" }, headingText(dimension, place, style)),
      ),
    );
  });
  return made;
}

/**
 * The ids of the headings that a cell stands under and beside.
 * @param {Layout} layout
 * @param {Style} style
 * @param {number} row
 * @param {number} column
 */
export function headingsOfCell(layout, style, row, column) {
  if (style.ids === null) return null;
  const found = [];
  for (const [name, side, line] of /** @type {[string, Side, number][]} */ ([
    ["r", layout.rows, row],
    ["c", layout.columns, column],
  ])) {
    if (side.dimensions.length === 0) found.push(idOf(style, name, 0, 0));
    side.spans.forEach((span, level) => found.push(idOf(style, name, level, line - (line % span))));
  }
  return found.join(" ");
}

/** @param {Dimension} dimension @param {number} place @param {string} more */
function headingClass(dimension, place, more) {
  const names = [more];
  if (place === dimension.total) names.push("r-total");
  if (dimension.own.has(place)) names.push("r-own");
  return names.filter(Boolean).join(" ");
}

/** @param {Dimension} dimension @param {number} place @param {Style} style */
function headingText(dimension, place, style) {
  const name = nameOf(dimension, place, style.label);
  if (!dimension.own.has(place)) return name;
  const parts = style.partsOf(dimension, place);
  const words =
    parts > 1 ? plural("result.group.of", parts) : t("result.group.mark");
  return [name, el("small", { class: "r-own-mark" }, words)];
}

/** @param {Style} style @param {string} side @param {number} level @param {number} start */
function idOf(style, side, level, start) {
  return style.ids === null ? null : `${style.ids}${side}${level}-${start}`;
}
