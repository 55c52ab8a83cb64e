// @ts-check
// What can be asked about: asked of the server once, kept for the life of the page.

import { ApiError, getJson } from "../shared/api.js";
import { language } from "../shared/texts.js";

/**
 * @typedef {{level: string, code: string}} Parent
 * @typedef {{code: string, label: string, kind?: string, parent?: Parent | null}} Code
 * @typedef {{name: string, label?: string, map?: boolean, codes: number | Code[]}} Level
 * @typedef {{name: string, label: string, topic: string, description: string, kind: string,
 *   filter?: boolean, levels: Level[], default_level: string}} Variable
 * @typedef {{id: string, measure: string, label: string}} Measure
 * @typedef {{name: string, label: string, unit: string, measures: Measure[], variables: string[],
 *   most_variables: number | null}} Amount
 * @typedef {{id: string, label: string, variables: number, amounts: Amount[],
 *   limits: {variables: number, cells: number}}} Population
 */

const AT_A_TIME = 5000;

/** @type {Map<string, Promise<any>>} */
const asked = new Map();

/** @returns {Promise<{census: any, version: any, datasets: Population[]}>} */
export function populations() {
  return once("/api/v1/datasets");
}

/**
 * @param {string} of
 * @returns {Promise<Variable[]>}
 */
export async function variables(of) {
  return (await once(`/api/v1/datasets/${encodeURIComponent(of)}/variables`)).variables;
}

/**
 * A variable with the codes of all its levels; for ordinary variables, whose lists are short.
 * @param {string} of
 * @param {string} name
 * @returns {Promise<Variable>}
 */
export function variable(of, name) {
  return once(`/api/v1/datasets/${encodeURIComponent(of)}/variables/${encodeURIComponent(name)}`);
}

/**
 * All codes of a level, or those within a parent (areas only).
 * @param {string} of
 * @param {Variable} one
 * @param {string} level
 * @param {string} [parent] "level:code"
 * @returns {Promise<Code[]>}
 */
export async function codes(of, one, level, parent = "") {
  if (one.kind !== "geography") {
    const whole = await variable(of, one.name);
    const found = whole.levels.find((other) => other.name === level);
    return found && Array.isArray(found.codes) ? found.codes : [];
  }
  /** @type {Code[]} */
  const made = [];
  for (;;) {
    const query = new URLSearchParams({ variable: one.name, level });
    if (parent) query.set("parent", parent);
    query.set("limit", String(AT_A_TIME));
    query.set("offset", String(made.length));
    const page = await once(`/api/v1/datasets/${encodeURIComponent(of)}/areas?${query}`);
    made.push(...page.areas);
    if (page.areas.length === 0 || made.length >= page.total) return made;
  }
}

/**
 * The map of a level; null where the office has none.
 * @param {string} of
 * @param {string} name
 * @param {string} level
 * @returns {Promise<any | null>}
 */
export async function map(of, name, level) {
  const query = new URLSearchParams({ variable: name, level, coordinates: "map" });
  try {
    return await once(`/api/v1/datasets/${encodeURIComponent(of)}/map?${query}`);
  } catch (problem) {
    if (problem instanceof ApiError && problem.status === 404) return null;
    throw problem;
  }
}

/**
 * The level of an axis: the one that is asked for, else the finest.
 * @param {Variable | undefined} one
 * @param {string[]} levels
 * @returns {Level | null}
 */
export function levelOf(one, levels) {
  if (!one) return null;
  const name = levels[0] ?? one.name;
  return one.levels.find((level) => level.name === name) ?? one.levels[0] ?? null;
}

/** @param {Level | null} level */
export function sizeOf(level) {
  if (level === null) return 0;
  return Array.isArray(level.codes) ? level.codes.length : level.codes;
}

/**
 * How a level is called: as the office does, else its name in the schema, made readable. The
 * leaves of a variable are called like the variable.
 * @param {Variable} one
 * @param {Level} level
 */
export function levelLabel(one, level) {
  if (level.label) return level.label;
  if (level.name === one.name) return one.label;
  const words = level.name.replaceAll("_", " ");
  return words.charAt(0).toLocaleUpperCase(language) + words.slice(1);
}

/** @param {string} url */
function once(url) {
  let answer = asked.get(url);
  if (!answer) {
    answer = getJson(url);
    asked.set(url, answer);
    answer.catch(() => asked.delete(url)); // asked again next time
  }
  return answer;
}
