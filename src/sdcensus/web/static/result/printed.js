// @ts-check
// A table on paper: all of it, in as many pieces as pages are too narrow for.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { cellText } from "./cells.js";
import { nameOf } from "./dataset.js";
import { cellStyle, headingStyle } from "./parts.js";
import { stubWidths } from "./windowed.js";

/**
 * @typedef {import("./parts.js").Shown} Shown
 * @typedef {import("./parts.js").Part} Part
 */

const MOST = 20_000; // cells; more would be hundreds of pages
const PAGE = 680; // pixels of a sheet of paper, upright, within its margins
const SMALLER = 0.8; // type on paper, as a share of that on the screen
const CHARACTER = 7.2;
const PADDING = 14;

/** @type {{root: HTMLElement, make: () => HTMLElement} | null} */
let current = null;

window.addEventListener("beforeprint", () => {
  if (!current?.root.isConnected) return;
  current.root.querySelector(".r-print")?.remove();
  current.root.append(current.make());
});

window.addEventListener("afterprint", () => current?.root.querySelector(".r-print")?.remove());

/**
 * Put the whole table into the page while it is printed.
 * @param {HTMLElement} root of the table on the screen
 * @param {Shown} shown
 * @param {(part: Part) => HTMLElement} gridOf makes a part of the table
 */
export function onPaper(root, shown, gridOf) {
  current = { root, make: () => printed(shown, gridOf) };
}

/** @param {Shown} shown @param {(part: Part) => HTMLElement} gridOf */
function printed(shown, gridOf) {
  const { layout, view } = shown;
  const { rows, columns, layers } = layout;
  const most = Math.max(1, Math.floor(MOST / columns.count));
  const down = { from: 0, to: Math.min(rows.count, most) };
  const stubs = stubWidths(layout, view.label).map((one) => Math.round(one * SMALLER));
  const room = PAGE - stubs.reduce((sum, one) => sum + one, 0);
  const width = columnWidth(shown);
  const pieces = cuts(columns, Math.max(1, Math.floor(room / width))).map((across) => {
    const widths = [...stubs, ...Array.from({ length: across.to - across.from }, () => width)];
    const table = gridOf({ down, across, headings: headingStyle(shown, null) });
    table.style.setProperty("width", `${widths.reduce((sum, one) => sum + one, 0)}px`);
    table.prepend(
      el("colgroup", {}, widths.map((one) => el("col", { style: { width: `${one}px` } }))),
    );
    return table;
  });
  const about = [
    ...layers.map((one) =>
      t("builder.pair", { name: one.label, value: one.labels[layout.at[one.id]] }),
    ),
    ...(layout.show === "count" ? [] : [t(`result.show.${layout.show}`)]),
    ...(down.to < rows.count ? [t("result.table.printed", { shown: down.to, all: rows.count })] : []),
  ];
  return el(
    "div",
    { class: "r-print" },
    about.length > 0 && el("p", {}, about.join(" · ")),
    pieces,
  );
}

/**
 * Room for the longest figure, and for the longest word of the headings above.
 * @param {Shown} shown
 */
function columnWidth(shown) {
  const { rows, columns } = shown.layout;
  const style = cellStyle(shown);
  let longest = 5;
  // The largest figures are those of totals, in the first rows; the rest is no wider.
  for (let row = 0; row < Math.min(rows.count, 40); row += 1) {
    for (let at = 0; at < Math.min(columns.count, 60); at += 1) {
      longest = Math.max(longest, cellText(shown.layout.cell(row, at), style).length);
    }
  }
  const inner = columns.dimensions.length - 1;
  for (const place of inner < 0 ? [] : columns.places[inner]) {
    const words = nameOf(columns.dimensions[inner], place, shown.view.label).split(/[\s-]+/);
    for (const word of words) longest = Math.max(longest, Math.min(13, word.length));
  }
  return Math.round(longest * CHARACTER + PADDING);
}

/**
 * Where columns are cut: between groups of them where that costs little room.
 * @param {import("./layout.js").Side} columns
 * @param {number} across how many there is room for
 */
function cuts(columns, across) {
  const group = columns.spans[columns.spans.length - 2] ?? 1;
  const step = group <= across ? across - (across % group) : across;
  const made = [];
  for (let from = 0; from < columns.count; from += step) {
    made.push({ from, to: Math.min(columns.count, from + step) });
  }
  return made;
}
