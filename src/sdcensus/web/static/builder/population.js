// @ts-check
// Another population: what it has as well is kept, the rest waits until it can come back. Nothing
// here touches the page.

import { readConditions, writeConditions } from "./condition.js";
import { readAxis, tidy, writeAxis } from "./state.js";

/**
 * @typedef {import("./state.js").Question} Question
 * @typedef {import("./schema.js").Variable} Variable
 * @typedef {{question: Question, view: any}} Asked
 */

/**
 * @typedef {object} Left what a change of the population left out
 * @property {Asked} before the question that lost it
 * @property {Question} after the question that it became
 * @property {string[]} by axes
 * @property {string[]} where conditions
 */

/**
 * @typedef {object} Moved
 * @property {Asked} asked the question to another population
 * @property {Left[]} left everything that waits, the latest last
 * @property {string[]} dropped variables that were left out now
 * @property {string[]} text conditions that were left out and have no variable that could be named
 * @property {string[]} returned variables that came back
 */

/**
 * @param {Asked} asked
 * @param {string} of the other population
 * @param {Variable[]} list its variables
 * @param {Left[]} left what waits
 * @param {number} most how many variables a table may have
 * @param {string[]} [measures] what can be asked of its amounts
 * @returns {Moved}
 */
export function moved(asked, of, list, left, most, measures = []) {
  const last = left[left.length - 1];
  // Back without a change in between: the table is the one that it was.
  if (last && last.before.question.of === of && same(last.after, asked.question)) {
    const returned = [...variablesOf(last.by, last.where)];
    return { asked: last.before, left: left.slice(0, -1), dropped: [], text: [], returned };
  }
  const there = new Set(list.map((one) => one.name));
  const conditions = readConditions(asked.question.where ?? "");
  const fits = (/** @type {string} */ name) => there.has(name);
  let by = asked.question.by.filter((one) => fits(readAxis(one).variable));
  const where = (conditions ?? []).filter((one) => fits(one.variable));
  const gone = asked.question.by.filter((one) => !fits(readAxis(one).variable));
  const unmet = (conditions ?? []).filter((one) => !fits(one.variable)).map((one) => writeConditions([one]));
  // A condition that was written by hand is left out as a whole: what is in it is not known here.
  if (conditions === null && asked.question.where) unmet.push(asked.question.where);
  const used = new Set([...by.map((one) => readAxis(one).variable), ...where.map((one) => one.variable)]);
  const codes = { ...asked.question.codes };
  const groups = { ...asked.question.groups };
  /** @type {string[]} */
  const returned = [];
  const present = variablesOf(asked.question.by, conditions === null ? [] : [asked.question.where ?? ""]);
  let byHand = ""; // a condition that cannot be taken apart comes back to where it was written
  const waiting = left.map((one) => {
    const back = one.by.filter((axis) => comesBack(readAxis(axis).variable));
    by.push(...back);
    for (const axis of back) {
      const name = readAxis(axis).variable;
      const { question } = one.before;
      if (question.codes?.[name]) codes[name] = question.codes[name];
      if (question.groups?.[name]) groups[name] = question.groups[name];
    }
    const met = one.where.filter((text) => (readConditions(text) ?? []).some((part) => comesBack(part.variable)));
    where.push(...met.flatMap((text) => readConditions(text) ?? []));
    if (one.before.question.of === of) byHand ||= one.where.find((text) => readConditions(text) === null) ?? "";
    const waits = (/** @type {string} */ name) => !returned.includes(name) && !present.has(name);
    return {
      ...one,
      by: one.by.filter((axis) => waits(readAxis(axis).variable)),
      where: one.where.filter((text) => text !== byHand && (readConditions(text) ?? []).every((part) => waits(part.variable))),
    };
  });
  /** @param {string} name */
  function comesBack(name) {
    if (!fits(name) || used.has(name) || used.size >= most) return false;
    used.add(name);
    returned.push(name);
    return true;
  }
  if (by.length === 0) {
    const first = list.find((one) => one.kind === "geography") ?? list[0];
    by = first ? [writeAxis({ variable: first.name, levels: [first.default_level], total: true })] : [];
  }
  const joined = [writeConditions(where), byHand && where.length > 0 ? `(${byHand})` : byHand];
  // A sum of what the others have not is a count of them.
  const measure = measures.includes(asked.question.measure ?? "") ? asked.question.measure : "";
  const question = tidy({ of, measure, by, where: joined.filter(Boolean).join(" and "), codes, groups });
  const kept = waiting.filter((one) => one.by.length + one.where.length > 0);
  if (gone.length + unmet.length > 0) kept.push({ before: asked, after: question, by: gone, where: unmet });
  return {
    asked: { question, view: asked.view },
    left: kept,
    dropped: [...variablesOf(gone, unmet)],
    text: unmet.filter((one) => readConditions(one) === null),
    returned,
  };
}

/** @param {string[]} by @param {string[]} where */
function variablesOf(by, where) {
  const conditions = where.flatMap((one) => readConditions(one) ?? []);
  return new Set([...by.map((one) => readAxis(one).variable), ...conditions.map((one) => one.variable)]);
}

/** @param {Question} one @param {Question} other */
function same(one, other) {
  return JSON.stringify(tidy(one)) === JSON.stringify(tidy(other));
}
