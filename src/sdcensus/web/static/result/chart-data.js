// @ts-check
// What a chart shows: which dimension runs along it, which makes series, and which kind fits.

import { inSeveral, levelsOf, placeOf, withoutTotal } from "./dataset.js";
import { counted, shared } from "./layout.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./dataset.js").Dimension} Dimension
 * @typedef {import("./layout.js").View} View
 */

/**
 * @typedef {object} Choice what somebody chose; anything may be missing
 * @property {string} [kind]
 * @property {string} [category]
 * @property {string} [series] empty for none
 * @property {"count" | "category" | "series"} [measure]
 * @property {Record<string, string>} [level]
 * @property {Record<string, number>} [fixed]
 */

/**
 * @typedef {object} Point
 * @property {number} category place
 * @property {number} series place, or -1
 * @property {import("./layout.js").Shown} shown
 */

/**
 * @typedef {object} Chart
 * @property {Dimension} category
 * @property {Dimension | null} series
 * @property {string[]} kinds that are possible
 * @property {string} kind
 * @property {string[]} measures that are possible
 * @property {"count" | "category" | "series"} measure
 * @property {Record<string, string>} level
 * @property {Record<string, number>} fixed places of the other dimensions
 * @property {number[]} categories places that are drawn
 * @property {number[]} seriesPlaces
 * @property {number} left how many categories are left out because there are too many
 * @property {number[]} unordered places that have no number in a chart of ordered numbers
 * @property {number} leftSeries how many series are left out
 * @property {Point[]} points
 */

const MOST_BARS = 40;
const MOST_SERIES = 8;

/**
 * @param {Model} model
 * @param {View} view
 * @param {Choice} choice
 * @returns {Chart | null} null where nothing can be drawn
 */
export function chartOf(model, view, choice) {
  const level = Object.fromEntries(
    model.dimensions.map((one) => [one.id, levelOf(one, choice.level?.[one.id])]),
  );
  const drawable = [...view.rows, ...view.columns, ...view.layer]
    .map((id) => /** @type {Dimension} */ (model.dimensions.find((one) => one.id === id)))
    .filter((one) => placesAt(one, level[one.id]).length > 1);
  if (drawable.length === 0) return null;
  const shown = drawable.filter((one) => !view.layer.includes(one.id));
  const first = shown.length > 0 ? shown : drawable;
  const category =
    drawable.find((one) => one.id === choice.category) ??
    first.find((one) => looksLikeAge(one) && runs(one, placesAt(one, level[one.id]))) ??
    first[0];
  const others = drawable.filter((one) => one !== category);
  const count = (/** @type {Dimension} */ one) => placesAt(one, level[one.id]).length;
  const series =
    choice.series === ""
      ? null
      : (others.find((one) => one.id === choice.series) ??
        others.find((one) => first.includes(one) && count(one) <= MOST_SERIES) ??
        null);
  const places = placesAt(category, level[category.id]);
  const allSeries = series ? placesAt(series, level[series.id]) : [-1];
  const ordered = isOrdered(category, places);
  const kinds = ["bar"];
  // One on the other they would count twice what lies in two groups.
  if (series && model.adds && inSeveral(model, series).size === 0) kinds.push("stacked");
  if (ordered) kinds.push("line");
  if (ordered && model.adds && allSeries.length === 2) kinds.push("pyramid");
  const measures = model.shares ? measuresOf(category, series) : ["count"];
  const measure = measures.includes(choice.measure ?? "")
    ? /** @type {any} */ (choice.measure)
    : usualMeasure(view, category, series, measures);
  const kind = kinds.includes(choice.kind ?? "")
    ? /** @type {string} */ (choice.kind)
    : usualKind(kinds, places.length, allSeries.length, series !== null, category, series);
  const fixed = fixedPlaces(model, view, choice, category, series);
  return {
    category, series, kinds, kind, measures, measure, level, fixed,
    ...pointsOf(model, { category, series, kind, measure, fixed, places, allSeries, ordered }),
  };
}

/**
 * The level of a dimension to draw: as chosen, or the finest that a chart can show.
 * @param {Dimension} dimension
 * @param {string | undefined} asked
 */
export function levelOf(dimension, asked) {
  const levels = levelsOf(dimension);
  if (asked !== undefined && levels.includes(asked)) return asked;
  const finest = [...levels].reverse();
  return finest.find((one) => placesAt(dimension, one).length <= MOST_BARS) ?? levels[0] ?? "";
}

/** @param {Dimension} dimension @param {string} level */
export function placesAt(dimension, level) {
  return withoutTotal(dimension).filter((place) => dimension.level[place] === level);
}

/**
 * Whether categories are numbers or ranges of numbers that go up. The numbers of areas are names.
 * @param {Dimension} dimension
 * @param {number[]} places
 */
export function isOrdered(dimension, places) {
  if (dimension.geo) return false;
  const all = places.map((place) => numberIn(dimension.labels[place]));
  const numbers = all.filter((n) => n !== null);
  if (numbers.length < 4 || numbers.length < places.length * 0.7) return false;
  return numbers.every((n, at) => at === 0 || n >= /** @type {number} */ (numbers[at - 1]));
}

/**
 * Whether a dimension is long and in order.
 * @param {Dimension} dimension
 * @param {number[]} places
 */
function runs(dimension, places) {
  return places.length >= 8 && isOrdered(dimension, places);
}

/** @param {string} label */
function numberIn(label) {
  const found = /\d+/.exec(label);
  return found ? Number(found[0]) : null;
}

/** @param {Dimension} dimension */
function looksLikeAge(dimension) {
  return [dimension.id, dimension.label].some((one) => /^(age|edad|âge|leeftijd)/i.test(one));
}

/** @param {Dimension} category @param {Dimension | null} series */
function measuresOf(category, series) {
  const made = ["count"];
  if (series) {
    if (series.total >= 0) made.push("category");
    if (category.total >= 0) made.push("series");
  } else if (category.total >= 0) made.push("series");
  return made;
}

/**
 * @param {View} view
 * @param {Dimension} category
 * @param {Dimension | null} series
 * @param {string[]} can
 */
function usualMeasure(view, category, series, can) {
  if (view.show === "count") return "count";
  const side = view.show === "row" ? view.rows : view.columns;
  const asked = series && side.includes(category.id) ? "category" : "series";
  return /** @type {any} */ (can.includes(asked) ? asked : "count");
}

/**
 * @param {string[]} kinds
 * @param {number} categories
 * @param {number} series
 * @param {boolean} several
 * @param {Dimension} category
 * @param {Dimension | null} second
 */
function usualKind(kinds, categories, series, several, category, second) {
  const sexes = /^(sex|gender|sexo|sexe|geslacht)/i.test(second?.id ?? "");
  const people = looksLikeAge(category) || sexes;
  if (kinds.includes("pyramid") && categories >= 8 && people) return "pyramid";
  if (kinds.includes("line") && categories >= (several ? 6 : 30)) return "line";
  return several && series > 3 && kinds.includes("stacked") ? "stacked" : "bar";
}

/**
 * @param {Model} model
 * @param {View} view
 * @param {Choice} choice
 * @param {Dimension} category
 * @param {Dimension | null} series
 */
function fixedPlaces(model, view, choice, category, series) {
  /** @type {Record<string, number>} */
  const fixed = {};
  for (const one of model.dimensions) {
    if (one === category || one === series) continue;
    const asked = choice.fixed?.[one.id] ?? view.at[one.id];
    fixed[one.id] = asked !== undefined && asked in one.ids ? asked : placeOf(one);
  }
  return fixed;
}

/**
 * @param {Model} model
 * @param {{category: Dimension, series: Dimension | null, kind: string, measure: string,
 *   fixed: Record<string, number>, places: number[], allSeries: number[], ordered: boolean}} of
 */
function pointsOf(model, of) {
  const { category, series } = of;
  const base = model.dimensions.reduce(
    (sum, one) => sum + (one.id in of.fixed ? of.fixed[one.id] * one.stride : 0),
    0,
  );
  const cell = (/** @type {number} */ down, /** @type {number} */ across) =>
    model.cell(base + down * category.stride + (series ? across * series.stride : 0));
  const value = (/** @type {number} */ down, /** @type {number} */ across) => {
    const found = cell(down, across);
    if (of.measure === "count") return counted(found);
    if (of.measure === "category" && series) return shared(found, cell(down, series.total));
    return shared(found, cell(category.total, across));
  };
  const inOrder = of.kind === "line" || of.kind === "pyramid";
  const numbered = of.places.filter((place) => numberIn(category.labels[place]) !== null);
  let categories = inOrder ? numbered : of.places;
  const unordered = inOrder ? of.places.filter((place) => !numbered.includes(place)) : [];
  const size = (/** @type {number} */ place) => {
    const found = value(place, series ? (series.total >= 0 ? series.total : of.allSeries[0]) : -1);
    return found.value ?? -1;
  };
  const beside = of.kind === "bar" ? of.allSeries.length : 1;
  const most = Math.max(8, Math.floor((MOST_BARS * 2) / (beside + 1)));
  let left = 0;
  if (!inOrder && categories.length > most) {
    left = categories.length - most;
    categories = [...categories].sort((a, b) => size(b) - size(a)).slice(0, most);
  } else if (!inOrder && category.geo) {
    categories = [...categories].sort((a, b) => size(b) - size(a));
  }
  const seriesPlaces = of.allSeries.slice(0, MOST_SERIES);
  const points = categories.flatMap((down) =>
    seriesPlaces.map((across) => ({ category: down, series: across, shown: value(down, across) })),
  );
  const leftSeries = of.allSeries.length - seriesPlaces.length;
  return { categories, seriesPlaces, left, leftSeries, unordered, points };
}
