// @ts-check
// Where the areas of a map lie: fetched once, by their level.

import { ApiError, getJson } from "../shared/api.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./map-data.js").Base} Base
 */

/** Shapes that were fetched, and those that were put on a plane, by address. @type {Map<string, Promise<any>>[]} */
const [fetched, flat] = [new Map(), new Map()];

/**
 * The shapes of the areas, on a plane.
 * @param {Model} model
 * @param {Base} base
 */
export async function shapesOf(model, base) {
  const link = await linkOf(model, base);
  return kept(flat, link, () => kept(fetched, link, () => getJson(link)).then(onPlane));
}

/**
 * The squares of groups of several, by the code of the group.
 * @param {Model} model
 * @param {Base} base
 * @returns {Promise<Map<string, string[]>>}
 */
export async function groupsOf(model, base) {
  const link = await linkOf(model, base);
  const { features } = await kept(fetched, link, () => getJson(link));
  return new Map(features.map((/** @type {any} */ { properties }) => [properties.code, properties.squares ?? []]));
}

/** @param {Model} model @param {Base} base */
async function linkOf(model, { dimension, level: chosen }) {
  const question = model.more.question ?? {};
  const start = `/api/v1/datasets/${encodeURIComponent(question.of ?? "persons")}`;
  const levels = await levelsIn(start, dimension.id);
  const name = chosen || levelIn(question.by ?? [], dimension.id) || levels[0]?.name;
  const level = levels.find((/** @type {any} */ one) => one.name === name);
  if (level?.map === false) throw new ApiError({ code: "not-found", status: 404 });
  const query = { variable: dimension.id, ...(name ? { level: name } : {}), coordinates: "map" };
  return `${start}/map?${new URLSearchParams(query)}`;
}

/**
 * What was fetched before, or is fetched now; what fails is asked for again.
 * @param {Map<string, Promise<any>>} store
 * @param {string} link
 * @param {() => Promise<any>} get
 */
function kept(store, link, get) {
  const known = store.get(link) ?? get();
  store.set(link, known);
  known.catch(() => store.delete(link));
  return known;
}

/** The levels of a geography, finest first. @param {string} base @param {string} variable */
async function levelsIn(base, variable) {
  const { variables } = await getJson(`${base}/variables`);
  return variables.find((/** @type {any} */ one) => one.name === variable)?.levels ?? [];
}

/**
 * The level of a variable in the axes of a question.
 * @param {string[]} by
 * @param {string} variable
 */
function levelIn(by, variable) {
  for (const axis of by) {
    const [, name, level] = /^\s*(\w+)\s*(?:@\s*(\w+))?/u.exec(axis) ?? [];
    if (name === variable) return level ?? "";
  }
  return "";
}

/**
 * Degrees are squeezed by their latitude, so that areas keep their shape without a projection of
 * the sphere, which would depend on the direction in which rings are drawn.
 * @param {any} collection
 */
function onPlane(collection) {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  const each = (/** @type {any} */ part, /** @type {(x: number, y: number) => number[]} */ run) => {
    if (typeof part?.[0] === "number") return run(part[0], part[1]);
    return Array.isArray(part) ? part.map((one) => each(one, run)) : part;
  };
  /** @type {any[]} */
  const all = collection.features ?? [];
  const features = all.filter((one) => one.geometry?.coordinates);
  for (const one of features) {
    each(one.geometry.coordinates, (x, y) => {
      box.west = Math.min(box.west, x);
      box.east = Math.max(box.east, x);
      box.south = Math.min(box.south, y);
      box.north = Math.max(box.north, y);
      return [x, y];
    });
  }
  const furthest = Math.max(Math.abs(box.west), Math.abs(box.east));
  const degrees = furthest <= 180 && Math.abs(box.north) <= 90;
  const squeeze = degrees ? Math.cos((((box.north + box.south) / 2) * Math.PI) / 180) : 1;
  const flat = features.map((one) => ({
    ...one,
    geometry: {
      ...one.geometry,
      coordinates: each(one.geometry.coordinates, (x, y) => [x * squeeze, y]),
    },
  }));
  const wide = (box.east - box.west) * squeeze;
  return { features: flat, aspect: wide > 0 ? (box.north - box.south) / wide : 1 };
}
