// @ts-check
// Which cell stands where: rows, columns and layers of a view, and shares of published totals.

import { LOW, placeOf } from "./dataset.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./dataset.js").Dimension} Dimension
 */

/**
 * @typedef {object} View
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string[]} layer
 * @property {Record<string, number>} at place of each layer among its categories
 * @property {"count" | "row" | "column"} show
 * @property {"label" | "code" | "both"} label
 * @property {boolean} totals
 * @property {"table" | "chart" | "map"} tab
 */

/**
 * @typedef {object} Side one side of a table
 * @property {Dimension[]} dimensions
 * @property {number[][]} places for each dimension the places that are shown
 * @property {number[]} spans how many lines one place of each dimension covers
 * @property {number} count how many lines there are
 */

/**
 * @typedef {object} Layout
 * @property {Side} rows
 * @property {Side} columns
 * @property {Dimension[]} layers
 * @property {Record<string, number>} at
 * @property {"count" | "row" | "column"} show what is shown, which may be less than what was asked
 * @property {(row: number, column: number) => Shown} cell
 * @property {boolean} divided whether a share has a total of 0 to be divided by
 */

/**
 * @typedef {object} Shown
 * @property {number | null} value a number, or a share where shares are shown
 * @property {string} sign
 * @property {number} parts
 * @property {boolean} low
 * @property {boolean} undefined whether the total of a share is 0
 */

/**
 * A view with every dimension in one place, whatever was asked.
 * @param {Model} model
 * @param {Partial<View>} view
 * @returns {View}
 */
export function completeView(model, view) {
  const known = new Map(model.dimensions.map((one) => [one.id, one]));
  const taken = new Set();
  const pick = (/** @type {string[] | undefined} */ ids) =>
    (ids ?? []).filter((id) => known.has(id) && !taken.has(id) && taken.add(id));
  const rows = pick(view.rows);
  const columns = pick(view.columns);
  const layer = pick(view.layer);
  const rest = model.dimensions.map((one) => one.id).filter((id) => !taken.has(id));
  for (const id of rest) (rows.length ? columns : rows).push(id);
  /** @type {Record<string, number>} */
  const at = {};
  for (const id of layer) {
    const one = /** @type {Dimension} */ (known.get(id));
    const asked = view.at?.[id];
    const there = Number.isInteger(asked) && asked !== undefined && asked in one.ids;
    at[id] = there ? asked : placeOf(one);
  }
  return {
    rows, columns, layer, at,
    show: view.show ?? "count",
    label: view.label ?? "label",
    totals: view.totals ?? true,
    tab: view.tab ?? "table",
  };
}

/**
 * Whether shares of this kind can be computed: the totals must be published.
 * @param {Model} model
 * @param {View} view
 * @param {"row" | "column"} kind
 */
export function sharesPossible(model, view, kind) {
  const across = kind === "row" ? view.columns : view.rows;
  return model.shares && across.length > 0 && across.every((id) => find(model, id).total >= 0);
}

/**
 * @param {Model} model
 * @param {View} view complete
 * @returns {Layout}
 */
export function layoutOf(model, view) {
  const rows = side(model, view.rows, view.totals);
  const columns = side(model, view.columns, view.totals);
  const layers = view.layer.map((id) => find(model, id));
  const base = layers.reduce((sum, one) => sum + one.stride * view.at[one.id], 0);
  const show = view.show !== "count" && sharesPossible(model, view, view.show) ? view.show : "count";
  const rowOffsets = offsets(rows);
  const columnOffsets = offsets(columns);
  const rowTotal = totalOffset(rows);
  const columnTotal = totalOffset(columns);
  const lines = show === "row" ? rowOffsets : show === "column" ? columnOffsets : [];
  const whole = show === "row" ? columnTotal : rowTotal;
  return {
    rows, columns, layers, at: view.at, show,
    divided: lines.some((/** @type {number} */ line) => isFew(model.cell(base + line + whole))),
    cell: (row, column) => {
      const down = rowOffsets[row];
      const across = columnOffsets[column];
      const found = model.cell(base + down + across);
      if (show === "count") return counted(found);
      return shared(found, model.cell(base + whole + (show === "row" ? down : across)));
    },
  };
}

/**
 * The places of the dimensions of a side in one of its lines.
 * @param {Side} one
 * @param {number} line
 */
export function placesOf(one, line) {
  return one.places.map((places, at) => places[Math.floor(line / one.spans[at]) % places.length]);
}

/**
 * Whether a line is one of totals: the innermost of its dimensions says so.
 * @param {Side} one
 * @param {number} line
 */
export function isTotal(one, line) {
  const inner = one.dimensions.length - 1;
  return inner >= 0 && one.places[inner][line % one.places[inner].length] === one.dimensions[inner].total;
}

/** @param {import("./dataset.js").Cell} found @returns {Shown} */
export function counted(found) {
  return { ...found, low: found.sign === LOW, undefined: false };
}

/**
 * A share to the tenth of a percent, ties to the even one, as plans and programs round it.
 * @param {number} part
 * @param {number} whole
 */
export function roundedShare(part, whole) {
  const down = Math.floor((part * 1000) / whole);
  const twice = 2 * (part * 1000 - down * whole);
  const up = twice > whole || (twice === whole && down % 2 === 1);
  return Math.min(down + (up ? 1 : 0), 1000) / 1000;
}

/**
 * A published value as a share of a published total, never above the whole.
 * @param {import("./dataset.js").Cell} found
 * @param {import("./dataset.js").Cell} whole
 * @returns {Shown}
 */
export function shared(found, whole) {
  const low = found.weak || whole.weak;
  const parts = Math.max(found.parts, whole.parts);
  if (found.value === null) return { ...found, low: false, undefined: false };
  if (whole.value === null) {
    return { value: null, sign: whole.sign, parts, low: false, undefined: false };
  }
  if (isFew(whole)) return { value: null, sign: "", parts, low: false, undefined: true };
  const value = roundedShare(found.value, whole.value);
  return { value, sign: found.sign, parts, low, undefined: false };
}

/** Whether nothing is divided by a number. @param {import("./dataset.js").Cell} cell */
function isFew(cell) {
  return cell.value !== null && cell.few;
}

/** @param {Model} model @param {string} id */
export function find(model, id) {
  return /** @type {Dimension} */ (model.dimensions.find((one) => one.id === id));
}

/** @param {Model} model @param {string[]} ids @param {boolean} totals @returns {Side} */
function side(model, ids, totals) {
  const dimensions = ids.map((id) => find(model, id));
  const places = dimensions.map((one) => {
    const without = one.order.filter((place) => place !== one.total);
    return totals || without.length === 0 ? one.order : without;
  });
  const spans = places.map(() => 1);
  for (let at = places.length - 2; at >= 0; at -= 1) spans[at] = spans[at + 1] * places[at + 1].length;
  return { dimensions, places, spans, count: places.reduce((all, one) => all * one.length, 1) };
}

/** @param {Side} one */
function offsets(one) {
  let made = [0];
  one.dimensions.forEach((dimension, at) => {
    made = made.flatMap((sum) => one.places[at].map((place) => sum + place * dimension.stride));
  });
  return Int32Array.from(made);
}

/** @param {Side} one */
function totalOffset(one) {
  return one.dimensions.reduce((sum, dimension) => sum + dimension.total * dimension.stride, 0);
}
