// @ts-check
// What a map shows: a figure for each area, and the classes that colour it.

import { levelsOf, OWN } from "./dataset.js";
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
 * @typedef {object} MapData
 * @property {Dimension} dimension
 * @property {string} level
 * @property {Record<string, number>} fixed
 * @property {boolean} shares whether shares are possible
 * @property {"count" | "share"} measure
 * @property {"quantile" | "equal"} method
 * @property {{from: number, to: number, count: number}[]} classes from the lowest to the highest
 * @property {Area[]} areas
 * @property {Map<string, number>} placeOf place of the area that has a code, for areas and groups
 */

/**
 * @param {Model} model
 * @param {import("./layout.js").View} view
 * @param {Choice} choice
 * @returns {MapData | null}
 */
export function mapOf(model, view, choice) {
  const geo = model.dimensions.filter((one) => one.geo);
  const dimension = geo.find((one) => one.id === choice.area) ?? geo[0];
  if (!dimension) return null;
  const levels = levelsOf(dimension);
  const level = levels.find((one) => one === choice.level) ?? levels[levels.length - 1];
  const others = model.dimensions.filter((one) => one !== dimension);
  const fixed = fixedPlaces(others, view, choice);
  const anywhere = (/** @type {Record<string, number>} */ places, /** @type {number} */ area) =>
    model.cell(
      others.reduce((sum, one) => sum + places[one.id] * one.stride, area * dimension.stride),
    );
  const totals = Object.fromEntries(others.map((one) => [one.id, one.total]));
  const part = others.some((one) => fixed[one.id] !== one.total);
  const shares = part && others.every((one) => one.total >= 0);
  const measure = shares && choice.measure !== "count" ? "share" : "count";
  const places = placesAt(dimension, level);
  const areas = places.map((place) => {
    const found = anywhere(fixed, place);
    const shown = measure === "share" ? shared(found, anywhere(totals, place)) : counted(found);
    return { place, name: dimension.labels[place], shown, class: -1 };
  });
  const method = choice.method ?? "quantile";
  const numbers = areas.flatMap((one) => (one.shown.value === null ? [] : [one.shown.value]));
  const limits = limitsOf(numbers, method, choice.classes ?? 5);
  for (const one of areas) {
    if (one.shown.value !== null) one.class = classOf(one.shown.value, limits);
  }
  return {
    dimension, level, fixed, shares, measure, method, areas,
    classes: classesOf(areas, limits),
    placeOf: codesOf(model, dimension, places),
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
    } else fixed[one.id] = one.order[0];
  }
  return fixed;
}

/**
 * Upper limits of all classes but the last.
 * @param {number[]} numbers
 * @param {string} method
 * @param {number} count
 */
export function limitsOf(numbers, method, count) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const distinct = new Set(sorted).size;
  const classes = Math.max(1, Math.min(count, 6, distinct));
  const low = sorted[0];
  const high = sorted[sorted.length - 1];
  const limits = [];
  for (let at = 1; at < classes; at += 1) {
    const limit =
      method === "equal"
        ? low + ((high - low) * at) / classes
        : sorted[Math.ceil((sorted.length * at) / classes) - 1];
    if (limit < high) limits.push(limit);
  }
  return [...new Set(limits)];
}

/** @param {number} value @param {number[]} limits */
function classOf(value, limits) {
  const at = limits.findIndex((limit) => value <= limit);
  return at < 0 ? limits.length : at;
}

/** What is found in each class. @param {Area[]} areas @param {number[]} limits */
function classesOf(areas, limits) {
  const made = [...limits, Infinity].map(() => ({ from: Infinity, to: -Infinity, count: 0 }));
  for (const one of areas) {
    if (one.class < 0 || one.shown.value === null) continue;
    const into = made[one.class];
    into.from = Math.min(into.from, one.shown.value);
    into.to = Math.max(into.to, one.shown.value);
    into.count += 1;
  }
  return made;
}

/** @param {Model} model @param {Dimension} dimension @param {number[]} places */
function codesOf(model, dimension, places) {
  const made = new Map(places.map((place) => [dimension.codes[place], place]));
  /** @type {{codes: string[]}[]} */
  const groups = model.more.own_groups?.[dimension.id] ?? [];
  groups.forEach((group, at) => {
    const place = dimension.ids.indexOf(`${OWN}${at + 1}`);
    if (!places.includes(place)) return;
    for (const code of group.codes) made.set(code.slice(code.indexOf(":") + 1), place);
  });
  return made;
}
