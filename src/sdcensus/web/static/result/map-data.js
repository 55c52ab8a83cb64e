// @ts-check
// What a map shows: a figure for each area, and the classes that colour it.

import { inSeveral, levelsOf, NOT_BROKEN_DOWN, OWN, placeOf } from "./dataset.js";
import { counted, shared } from "./layout.js";
import { placesAt } from "./chart-data.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./dataset.js").Dimension} Dimension
 */

/**
 * @typedef {object} Choice
 * @property {string} [area]
 * @property {string} [level]
 * @property {Record<string, number>} [fixed]
 * @property {"count" | "share"} [measure]
 * @property {"quantile" | "equal"} [method]
 * @property {number} [classes]
 */

/**
 * @typedef {object} Area
 * @property {number} place
 * @property {string} name
 * @property {import("./layout.js").Shown} shown
 * @property {number} class -1 where there is no number
 */

/**
 * @typedef {object} Class
 * @property {number} from the lowest number that lies in it
 * @property {number} to the highest
 * @property {number} count how many areas do
 */

/**
 * What a map is about, before any of its areas is looked at.
 * @typedef {object} Base
 * @property {Dimension} dimension
 * @property {string} level
 * @property {number[]} places of the areas
 * @property {Record<string, number>} fixed
 * @property {boolean} sums whether numbers are sums of an amount
 * @property {boolean} adds whether large areas have large numbers
 * @property {boolean} shares whether shares are possible
 * @property {"count" | "share"} measure
 * @property {"quantile" | "equal"} method
 * @property {number} step what two figures that are written differently differ by at least
 * @property {(place: number) => import("./layout.js").Shown} figure of an area
 * @property {(place: number) => number | null} number the same without its signs
 */

/**
 * What stands around a map is made of.
 * @typedef {Base & {classes: Class[], small: number, gone: number, several: number}} Drawn
 * classes from the lowest to the highest; how many areas have no figure because their group is too
 * small, and for another reason; how many lie in several groups of the user, and are not drawn
 */

/**
 * @typedef {Drawn & {areas: Area[], placeOf: Map<string, number>}} MapData
 * placeOf: place of the area that has a code, for areas and groups
 */

/**
 * @param {Model} model
 * @param {import("./layout.js").View} view
 * @param {Choice} choice
 * @returns {Base | null}
 */
export function mapBase(model, view, choice) {
  const geo = model.dimensions.filter((one) => one.geo);
  const dimension = geo.find((one) => one.id === choice.area) ?? geo[0];
  if (!dimension) return null;
  const levels = levelsOf(dimension);
  const level = levels.find((one) => one === choice.level) ?? levels[levels.length - 1];
  const others = model.dimensions.filter((one) => one !== dimension);
  const fixed = fixedPlaces(others, view, choice);
  const from = (/** @type {Record<string, number>} */ places) =>
    others.reduce((sum, one) => sum + places[one.id] * one.stride, 0);
  const totals = Object.fromEntries(others.map((one) => [one.id, one.total]));
  const part = others.some((one) => fixed[one.id] !== one.total);
  const shares = model.shares && part && others.every((one) => one.total >= 0);
  const measure = shares && choice.measure !== "count" ? "share" : "count";
  const places = placesAt(dimension, level);
  const [first, whole] = [from(fixed), from(totals)];
  const figure = (/** @type {number} */ place) => {
    const found = model.cell(first + place * dimension.stride);
    if (measure === "count") return counted(found);
    return shared(found, model.cell(whole + place * dimension.stride));
  };
  /** @param {number} place */
  const number = (place) =>
    measure === "count" ? model.value(first + place * dimension.stride) : figure(place).value;
  // Percentages are shown to the tenth, counts as exactly as they are published.
  const step = measure === "share" ? 0.001 : 10 ** -model.decimals;
  const method = choice.method ?? "quantile";
  const { adds, sums } = model;
  return { dimension, level, places, fixed, adds, sums, shares, measure, method, step, figure, number };
}

/**
 * The areas of a map with their figures and classes.
 * @param {Model} model
 * @param {Base} base
 * @param {Choice} choice
 * @returns {MapData}
 */
export function mapOf(model, base, choice) {
  const { dimension, places, method, step } = base;
  const areas = places.map((place) => {
    return { place, name: dimension.labels[place], shown: base.figure(place), class: -1 };
  });
  const numbers = areas.flatMap((one) => (one.shown.value === null ? [] : [one.shown.value]));
  const classes = classesOf(numbers, method, choice.classes ?? 5, step);
  for (const one of areas) {
    if (one.shown.value !== null) one.class = classOf(one.shown.value, classes, step);
  }
  const gone = areas.filter((one) => one.shown.value === null);
  const small = gone.filter((one) => one.shown.sign === NOT_BROKEN_DOWN).length;
  return {
    ...base, areas, classes, small,
    gone: gone.length - small,
    placeOf: codesOf(model, dimension, places),
    several: inSeveral(model, dimension).size,
  };
}

/**
 * The first category of the first other dimension, and totals of the rest: a map of totals shows
 * where people live, and little else.
 * @param {Dimension[]} others
 * @param {import("./layout.js").View} view
 * @param {Choice} choice
 */
function fixedPlaces(others, view, choice) {
  /** @type {Record<string, number>} */
  const fixed = {};
  const layered = others.some((one) => one.id in view.at && view.at[one.id] !== one.total);
  let first = !layered;
  for (const one of others) {
    const asked = choice.fixed?.[one.id] ?? view.at[one.id];
    if (asked !== undefined && asked in one.ids && choice.fixed) fixed[one.id] = asked;
    else if (asked !== undefined && asked in one.ids && layered) fixed[one.id] = asked;
    else if (first) {
      fixed[one.id] = one.order.find((place) => place !== one.total) ?? one.order[0];
      first = false;
    } else fixed[one.id] = placeOf(one);
  }
  return fixed;
}

/**
 * The classes of some numbers, from the lowest to the highest: the first begins at the smallest
 * number, the last ends at the largest, and each begins one step above the end of the one before.
 * Every number that can be shown lies in exactly one.
 * @param {Iterable<number>} numbers
 * @param {string} method
 * @param {number} count how many classes are wanted; there are fewer where numbers are alike
 * @param {number} step what two numbers that are written differently differ by at least
 * @returns {Class[]}
 */
export function classesOf(numbers, method, count, step) {
  // In whole steps: sums of decimal fractions would put a number on a limit to either side of it.
  const steps = Float64Array.from(numbers, (one) => Math.round(one / step)).sort();
  if (steps.length === 0) return [];
  const low = steps[0];
  const high = steps[steps.length - 1];
  const wanted = Math.max(1, Math.min(count, 6, distinct(steps, 6)));
  const ends = [];
  for (let at = 1; at < wanted; at += 1) {
    const end =
      method === "equal"
        ? low + Math.floor(((high - low + 1) * at) / wanted) - 1
        : steps[Math.ceil((steps.length * at) / wanted) - 1];
    if (end < high && end >= (ends[ends.length - 1] ?? low - 1) + 1) ends.push(end);
  }
  ends.push(high);
  let before = 0;
  return ends.map((end, at) => {
    const begin = at === 0 ? low : ends[at - 1] + 1;
    const upTo = notAbove(steps, end);
    const inside = upTo - before;
    before = upTo;
    return { from: begin * step, to: end * step, count: inside };
  });
}

/** How many sorted numbers differ, up to a limit. @param {Float64Array} sorted @param {number} most */
function distinct(sorted, most) {
  let count = 0;
  for (let at = 0; at < sorted.length && count < most; at = notAbove(sorted, sorted[at])) count += 1;
  return count;
}

/** How many sorted numbers are not above one. @param {Float64Array} sorted @param {number} limit */
function notAbove(sorted, limit) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The class of a number.
 * @param {number} value
 * @param {Class[]} classes
 * @param {number} step
 */
export function classOf(value, classes, step) {
  return classes.findIndex((one) => Math.round(value / step) <= Math.round(one.to / step));
}

/** A code without its level. @param {string} code */
function plain(code) {
  return code.slice(code.indexOf(":") + 1);
}

/** @param {Model} model @param {Dimension} dimension @param {number[]} places */
function codesOf(model, dimension, places) {
  const made = new Map(places.map((place) => [dimension.codes[place], place]));
  /** @type {{codes: string[]}[]} */
  const groups = model.more.own_groups?.[dimension.id] ?? [];
  groups.forEach((group, at) => {
    const place = dimension.ids.indexOf(`${OWN}${at + 1}`);
    if (!places.includes(place)) return;
    for (const code of group.codes) made.set(plain(code), place);
  });
  // The colour of one group would hide that of the other.
  for (const code of inSeveral(model, dimension)) made.delete(plain(code));
  return made;
}
