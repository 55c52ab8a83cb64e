// @ts-check
// What whole and windowed tables have in common.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { placesOf } from "./layout.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./dataset.js").Dimension} Dimension
 * @typedef {import("./layout.js").Layout} Layout
 * @typedef {import("./layout.js").View} View
 */

/**
 * @typedef {{model: Model, layout: Layout, view: View, language: string, id: string}} Shown a table
 *   and how it is looked at
 * @typedef {{down: {from: number, to: number}, across: {from: number, to: number},
 *   headings: import("./headers.js").Style}} Part of a table
 */

/**
 * The attributes of the box that a table scrolls in.
 * @param {{model: Model, id: string}} shown
 */
export function boxOf(shown) {
  return {
    class: "r-scroll",
    tabindex: 0,
    role: "region",
    "aria-label": t("result.table.region", { title: shown.model.title }),
    "aria-describedby": `${shown.id}-summary`,
    dataset: { focus: "table" },
  };
}

/**
 * The caption; eyes have the title above.
 * @param {{model: Model, layout: Layout}} shown
 */
export function captionOf({ model, layout }) {
  const layers = layout.layers.map((one) =>
    t("builder.pair", { name: one.label, value: one.labels[layout.at[one.id]] }),
  );
  const share = layout.show === "count" ? [] : [t(`result.show.${layout.show}`)];
  return el("caption", { class: "visually-hidden" }, [model.title, ...layers, ...share].join(". "));
}

/**
 * How cells are written.
 * @param {{model: Model, layout: Layout, language: string}} shown
 */
export function cellStyle({ model, layout, language }) {
  const share = layout.show !== "count";
  return { language, decimals: model.decimals, share, legend: model.legend };
}

/**
 * How headings are written.
 * @param {{model: Model, layout: Layout, view: View}} shown
 * @param {string | null} ids
 */
export function headingStyle({ model, layout, view }, ids) {
  return {
    label: view.label,
    unit: layout.show === "count" ? model.unit : t(`result.show.${layout.show}`),
    // Of the totals of everything else: a condition can make sums of other cells as well.
    partsOf: (/** @type {Dimension} */ dimension, /** @type {number} */ place) =>
      model.cell(
        model.dimensions.reduce(
          (sum, one) => sum + (one === dimension ? place : one.order[0]) * one.stride,
          0,
        ),
      ).parts,
    ids,
    counted: ids === null,
    stubs: Math.max(layout.rows.dimensions.length, 1),
  };
}

/** Which rows are withheld as a whole. @param {Layout} layout @param {number} row */
export function withheldRow({ rows }, row) {
  return placesOf(rows, row).some((place, at) => rows.dimensions[at].withheld.has(place));
}

/** Whether a row is the first of a group of rows. @param {Layout} layout @param {number} row */
export function startsGroup({ rows }, row) {
  return rows.dimensions.length > 1 && row > 0 && row % rows.spans[rows.spans.length - 2] === 0;
}
