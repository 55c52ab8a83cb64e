// @ts-check
// A question and a view of its answer, and both as the address of the page. Nothing here touches
// the page.

/**
 * @typedef {{label: string, codes: string[]}} OwnGroup
 * @typedef {{of: string, measure?: string, by: string[], where?: string, codes?: Record<string, string[]>,
 *   groups?: Record<string, OwnGroup[]>}} Question
 * @typedef {{rows: string[], columns: string[], layer: string[], at: Record<string, number>,
 *   show: string, label: string, totals: boolean, tab: string}} View
 * @typedef {{question: Question, view: View, broken?: string | null}} State broken: the part of an
 *   address that cannot be read
 * @typedef {{variable: string, levels: string[], total: boolean}} Axis
 */

export const ZONES = ["rows", "columns", "layer"];
const SHOWS = ["count", "row", "column"];
const LABELS = ["label", "code", "both"];
const TABS = ["table", "chart", "map"];
const AXIS = /^\s*(\w+)\s*(?:@\s*(\w+))?((?:\s*[+-]\s*\w+)*)\s*$/u;

/**
 * An axis in the grammar "variable[@level][+level…][+total|-total]". A text that is no axis is
 * taken for the name of a variable: the server will say what is wrong.
 * @param {string} text
 * @returns {Axis}
 */
export function readAxis(text) {
  const match = AXIS.exec(text);
  if (!match) return { variable: text.trim(), levels: [], total: true };
  const axis = { variable: match[1], levels: match[2] ? [match[2]] : [], total: true };
  for (const [, sign, word] of match[3].matchAll(/([+-])\s*(\w+)/gu)) {
    if (word === "total") axis.total = sign === "+";
    else axis.levels.push(word);
  }
  return axis;
}

/**
 * @param {Axis} axis
 * @returns {string}
 */
export function writeAxis(axis) {
  const plain = axis.levels.length === 0 || (axis.levels.length === 1 && axis.levels[0] === axis.variable);
  const text = plain ? axis.variable : `${axis.variable}@${axis.levels.join("+")}`;
  return axis.total ? text : `${text}-total`;
}

/**
 * The question without parts that say nothing, so that one question has one text.
 * @param {Question} question
 * @returns {Question}
 */
export function tidy(question) {
  const variables = new Set(question.by.map((one) => readAxis(one).variable));
  const kept = (parts) =>
    Object.fromEntries(
      Object.entries(parts ?? {})
        .filter(([name, list]) => variables.has(name) && Array.isArray(list) && list.length > 0)
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  /** @type {Question} */
  const made = { of: question.of, by: [...question.by] };
  if (question.measure?.trim()) made.measure = question.measure.trim();
  if (question.where?.trim()) made.where = question.where.trim();
  const codes = kept(question.codes);
  const groups = kept(question.groups);
  if (Object.keys(codes).length) made.codes = codes;
  if (Object.keys(groups).length) {
    made.groups = Object.fromEntries(
      Object.entries(groups).map(([name, list]) => [
        name,
        list.map((one) => ({ codes: one.codes, label: one.label })),
      ]),
    );
  }
  return made;
}

/**
 * The view with every axis of the question in one place, and nothing else.
 * @param {Question} question
 * @param {Partial<View>} [view]
 * @returns {View}
 */
export function arranged(question, view = {}) {
  const variables = question.by.map((one) => readAxis(one).variable);
  const open = new Set(variables);
  /** @type {Record<string, string[]>} */
  const places = { rows: [], columns: [], layer: [] };
  for (const zone of ZONES) {
    for (const name of view[zone] ?? []) if (open.delete(name)) places[zone].push(name);
  }
  for (const name of variables) {
    if (!open.delete(name)) continue;
    if (places.rows.length === 0) places.rows.push(name);
    else places[places.columns.length < 2 ? "columns" : "layer"].push(name);
  }
  const at = Object.entries(view.at ?? {}).filter(([name]) => places.layer.includes(name));
  return {
    rows: places.rows,
    columns: places.columns,
    layer: places.layer,
    at: Object.fromEntries(at),
    show: oneOf(SHOWS, view.show),
    label: oneOf(LABELS, view.label),
    totals: view.totals ?? true,
    tab: oneOf(TABS, view.tab),
  };
}

/**
 * The state that an address stands for; null where it holds no question.
 * @param {string} search the part of an address from "?" on
 * @returns {State | null}
 */
export function readAddress(search) {
  const given = new URLSearchParams(search);
  if (!given.has("of") && !given.has("by")) return null;
  const question = tidy({
    of: given.get("of") ?? "persons",
    measure: given.get("measure") ?? "",
    by: given.getAll("by").flatMap(listed),
    where: given.get("where") ?? "",
    codes: parsed(given.get("codes")),
    groups: parsed(given.get("groups")),
  });
  const at = listed(given.get("at")).map((one) => one.split(":"));
  const view = {
    rows: listed(given.get("rows")),
    columns: listed(given.get("columns")),
    layer: listed(given.get("layer")),
    at: Object.fromEntries(at.map(([name, index]) => [name, Math.max(0, Number(index) || 0)])),
    show: given.get("show") ?? undefined,
    label: given.get("label") ?? undefined,
    totals: given.get("totals") !== "0",
    tab: given.get("tab") ?? undefined,
  };
  const broken = ["codes", "groups"].find((name) => given.get(name) && !readable(given.get(name)));
  return { question, view: arranged(question, view), broken: broken ?? null };
}

/**
 * The address of a state, always the same for the same state.
 * @param {State} state
 * @param {string | null} [language] written where the address of the page has it
 * @returns {string} "?…"
 */
export function writeAddress({ question, view }, language = null) {
  const made = new URLSearchParams(questionParameters(question));
  for (const zone of ZONES) if (view[zone].length) made.set(zone, view[zone].join(","));
  const at = view.layer.filter((name) => view.at[name] !== undefined).map((name) => `${name}:${view.at[name]}`);
  if (at.length) made.set("at", at.join(","));
  if (view.show !== "count") made.set("show", view.show);
  if (view.label !== "label") made.set("label", view.label);
  if (!view.totals) made.set("totals", "0");
  if (view.tab !== "table") made.set("tab", view.tab);
  if (language) made.set("lang", language);
  return `?${made.toString().replaceAll("%2C", ",").replaceAll("%40", "@").replaceAll("%3A", ":")}`;
}

/**
 * @param {Question} question
 * @returns {[string, string][]}
 */
export function questionParameters(question) {
  const plain = tidy(question);
  /** @type {[string, string][]} */
  const made = [["of", plain.of], ...plain.by.map((one) => /** @type {[string, string]} */ (["by", one]))];
  if (plain.measure) made.splice(1, 0, ["measure", plain.measure]);
  if (plain.where) made.push(["where", plain.where]);
  if (plain.codes) made.push(["codes", JSON.stringify(plain.codes)]);
  if (plain.groups) made.push(["groups", JSON.stringify(plain.groups)]);
  return made;
}

function oneOf(allowed, value) {
  return allowed.includes(value) ? value : allowed[0];
}

function listed(text) {
  return (text ?? "").split(",").map((one) => one.trim()).filter((one) => one !== "");
}

function parsed(text) {
  return readable(text) ?? {};
}

/** The object of a text, null where there is none in it. */
function readable(text) {
  try {
    const value = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
