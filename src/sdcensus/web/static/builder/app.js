// @ts-check
// What one can do to a table: each action makes a new question or a new view and hands it on.

import { announce } from "../shared/announce.js";
import { language, t } from "../shared/texts.js";
import { axisWords } from "./arrange.js";
import { readConditions, writeConditions } from "./condition.js";
import { openPicker } from "./picker.js";
import { moved } from "./population.js";
import * as schema from "./schema.js";
import { readAxis, writeAxis } from "./state.js";

/**
 * @param {{state: import("./state.js").State, onQuestion: (question: any, view?: any) => void,
 *   onView: (view: any) => void, onChange: (sentences: string[]) => void,
 *   onTrouble: (problem: any, retry: () => void) => void}} options onChange: what a change of the
 *   population left out or brought back
 */
export function makeApp({ state, onQuestion, onView, onChange, onTrouble }) {
  /** @type {Map<string, string>} */
  const labels = new Map();
  let wanted = ""; // the population that was chosen last
  const app = {
    state,
    /** @type {import("./schema.js").Population[]} */
    populations: [],
    /** What other populations had not. @type {import("./population.js").Left[]} */
    left: [],
    /** @type {Map<string, import("./schema.js").Variable>} */
    variables: new Map(),
    look: onView,
    limits,
    isFull,
    geographies: () => [...app.variables.values()].filter((one) => one.kind === "geography"),
    areaVariable: () => axes().find((one) => app.variables.get(one.variable)?.kind === "geography")?.variable ?? null,
    codeLabel: (variable, level, code) => labels.get(`${variable} ${level} ${code}`) ?? code,
    learn,
    learnGroups,
    official,
    title,
    addAxis,
    removeAxis,
    editAxis,
    editAreas,
    editCondition,
    setConditions,
    changePopulation,
    changeMeasure,
    amounts,
  };

  const axes = () => app.state.question.by.map(readAxis);

  function limits() {
    const found = app.populations.find((one) => one.id === app.state.question.of);
    return found?.limits ?? app.populations[0]?.limits ?? null;
  }

  /** Variables of the condition count as well as those that are shown. */
  function used() {
    const conditions = readConditions(app.state.question.where ?? "") ?? [];
    return new Set([...axes(), ...conditions].map((one) => one.variable));
  }

  function isFull() {
    return used().size >= (limits()?.variables ?? Infinity);
  }

  function title() {
    const { view, question } = app.state;
    const measured = amounts().flatMap((one) => one.measures).find((one) => one.id === question.measure);
    const units = app.populations.find((one) => one.id === question.of)?.label ?? question.of;
    const population = measured?.label ?? units;
    const names = [...view.columns, ...view.layer, ...view.rows].map((one) => softened(axisWords(app, one).label));
    if (names.length === 0) return population;
    const list = new Intl.ListFormat(language, { type: "conjunction" }).format(names);
    return t("builder.result.name", { population, variables: list });
  }

  /** The labels of codes in the condition, which the question has as codes only. */
  async function learn() {
    const { of } = app.state.question;
    let more = false;
    for (const one of readConditions(app.state.question.where ?? "") ?? []) {
      const variable = app.variables.get(one.variable);
      const level = schema.levelOf(variable, one.level ? [one.level] : [])?.name;
      if (!variable || !level || labels.has(`${one.variable} ${level} ${one.codes[0]}`)) continue;
      for (const code of await schema.codes(of, variable, level).catch(() => [])) {
        labels.set(`${one.variable} ${level} ${code.code}`, code.label);
        more = true;
      }
    }
    return more;
  }

  /** The labels of codes that stand alone among groups, to tell them from names of the reader. */
  async function learnGroups() {
    const { of, groups } = app.state.question;
    for (const [name, list] of Object.entries(groups ?? {})) {
      const variable = app.variables.get(name);
      if (!variable || !list.some((one) => one.codes.length === 1)) continue;
      for (const level of levelsOf(name)) {
        for (const one of await schema.codes(of, variable, level).catch(() => [])) {
          labels.set(`${name} ${level} ${one.code}`, one.label);
        }
      }
    }
  }

  /** The label of a code by itself, as far as it is known. */
  function official(name, code) {
    const [level, plain] = code.includes(":") ? code.split(":") : [null, code];
    const found = (level ? [level] : levelsOf(name)).map((one) => labels.get(`${name} ${one} ${plain}`));
    return found.find((one) => one !== undefined) ?? null;
  }

  function levelsOf(name) {
    const axis = axes().find((one) => one.variable === name);
    return axis?.levels.length ? axis.levels : [schema.levelOf(app.variables.get(name), [])?.name ?? name];
  }

  function addAxis(variable) {
    const axis = { variable: variable.name, levels: [variable.default_level ?? variable.name], total: true };
    const { question } = app.state;
    onQuestion({ ...question, by: [...question.by, writeAxis(axis)] });
    announce(t("builder.variables.added", { label: variable.label }));
  }

  function removeAxis(name) {
    const { label } = axisWords(app, name);
    const { question } = app.state;
    const list = [...document.querySelectorAll("[data-focus^='menu-']")].map((one) => one.getAttribute("data-focus"));
    const next = list[list.indexOf(`menu-${name}`) + 1] ?? list[list.indexOf(`menu-${name}`) - 1];
    const { view } = app.state;
    const [rows, columns] = [view.rows, view.columns].map((one) => one.filter((other) => other !== name));
    // A table without rows is one long line: the first of the columns takes their place.
    const turned = rows.length === 0 && columns.length > 0;
    onQuestion(
      { ...question, by: question.by.filter((one) => readAxis(one).variable !== name) },
      turned ? { ...view, rows: columns.slice(0, 1), columns: columns.slice(1) } : view,
    );
    announce(t("builder.arrange.removed", { label }));
    const target = document.querySelector(next ? `[data-focus="${next}"]` : "#variables input");
    if (target instanceof HTMLElement) target.focus();
  }

  /** An axis in the place of another (or of none), with its codes and groups. */
  function setAxis(old, choice) {
    const { question } = app.state;
    const by = [...question.by];
    const at = old === null ? -1 : by.findIndex((one) => readAxis(one).variable === old);
    const total = at < 0 ? true : readAxis(by[at]).total;
    const levels = choice.levels ?? [choice.level];
    const text = choice.level === null ? null : writeAxis({ variable: choice.variable.name, levels, total });
    if (at >= 0) by.splice(at, 1, ...(text === null ? [] : [text]));
    else if (text !== null) by.unshift(text);
    const codes = { ...question.codes };
    const groups = { ...question.groups };
    for (const name of [old, choice.variable.name]) {
      if (name === null) continue;
      delete codes[name];
      delete groups[name];
    }
    if (choice.codes) codes[choice.variable.name] = choice.codes;
    if (choice.groups) groups[choice.variable.name] = choice.groups;
    const { view } = app.state;
    const swapped = (names) => names.map((one) => (one === old ? choice.variable.name : one));
    const rows = swapped(view.rows);
    onQuestion(
      { ...question, by, codes, groups },
      {
        ...view,
        rows: old === null && text !== null ? [choice.variable.name, ...rows] : rows,
        columns: swapped(view.columns),
        layer: swapped(view.layer),
      },
    );
  }

  function choiceOf(name) {
    const axis = axes().find((one) => one.variable === name);
    const variable = app.variables.get(name);
    const { question } = app.state;
    return {
      variable,
      level: schema.levelOf(variable, axis?.levels ?? [])?.name ?? null,
      codes: question.codes?.[name] ?? null,
      groups: question.groups?.[name] ?? null,
      ...((axis?.levels.length ?? 0) > 1 ? { levels: axis?.levels } : {}),
    };
  }

  function editAxis(name) {
    const variable = app.variables.get(name);
    if (!variable) return;
    if (variable.kind === "geography") {
      editAreas(name);
      return;
    }
    openPicker({
      title: variable.label,
      of: app.state.question.of,
      choices: [variable],
      choice: choiceOf(name),
      onApply: (choice) => setAxis(name, choice),
    });
  }

  function editAreas(given = null) {
    const name = given ?? app.areaVariable();
    const choices = app.geographies();
    const taken = used();
    openPicker({
      title: t("builder.areas.dialog"),
      of: app.state.question.of,
      choices: choices.filter((one) => one.name === name || !taken.has(one.name)),
      choice: name ? choiceOf(name) : { variable: choices[0], level: null, codes: null, groups: null },
      none: true,
      onApply: (choice) => setAxis(name, choice),
    });
  }

  function setConditions(conditions) {
    onQuestion({ ...app.state.question, where: writeConditions(conditions) });
  }

  function editCondition(at) {
    const conditions = readConditions(app.state.question.where ?? "") ?? [];
    const old = conditions[at] ?? null;
    const full = isFull(); // then only variables that count already
    const choices = [...app.variables.values()].filter(
      (one) => one.filter !== false && (!full || used().has(one.name)),
    );
    if (choices.length === 0) return;
    const variable = app.variables.get(old?.variable ?? "") ?? choices[0];
    openPicker({
      title: t("builder.conditions.dialog"),
      of: app.state.question.of,
      choices,
      choice: {
        variable,
        level: old ? (schema.levelOf(variable, old.level ? [old.level] : [])?.name ?? null) : variable.default_level,
        codes: old && !old.negated ? old.codes : null,
        groups: null,
        except: old?.negated ? old.codes : undefined,
      },
      condition: true,
      onApply: (choice) => {
        const next = [...conditions];
        const { codes, except = [] } = choice;
        const negated = codes !== null && except.length < codes.length; // the shorter text
        next[at] = { variable: choice.variable.name, level: choice.level, codes: negated ? except : (codes ?? []), negated };
        if (codes === null) next.splice(at, 1); // everybody: no condition
        setConditions(next);
      },
    });
  }

  /** The amounts of a population of which more than counts is offered. */
  function amounts(of = app.state.question.of) {
    return app.populations.find((one) => one.id === of)?.amounts ?? [];
  }

  /** Counts, or the sum, mean or median of an amount. @param {string} measure empty for counts */
  function changeMeasure(measure) {
    onQuestion({ ...app.state.question, measure });
    const found = amounts().flatMap((one) => one.measures).find((one) => one.id === measure);
    announce(t("builder.measure.changed", { label: found?.label ?? t("builder.measure.count") }));
  }

  /** Another population: the table follows; what it has not is said, and comes back with the old one. */
  async function changePopulation(of) {
    wanted = of;
    const known = app.variables;
    let list;
    try {
      list = await schema.variables(of);
    } catch (problem) {
      if (wanted === of) onTrouble(problem, () => void changePopulation(of));
      return;
    }
    if (wanted !== of) return; // another one was chosen meanwhile
    const most = app.populations.find((one) => one.id === of)?.limits.variables ?? Infinity;
    const measures = amounts(of).flatMap((one) => one.measures.map((other) => other.id));
    const asked = { question: app.state.question, view: app.state.view };
    const next = moved(asked, of, list, app.left, most, measures);
    app.left = next.left;
    onQuestion(next.asked.question, next.asked.view);
    const names = new Map([...known, ...list.map((one) => /** @type {const} */ ([one.name, one]))]);
    const label = (name) => names.get(name)?.label ?? name;
    const listed = (parts) => new Intl.ListFormat(language, { type: "conjunction" }).format(parts);
    const population = app.populations.find((one) => one.id === of)?.label ?? of;
    const dropped = [...next.dropped.map(label), ...next.text];
    onChange([
      ...(dropped.length > 0 ? [t("builder.population.dropped", { population, names: listed(dropped) })] : []),
      ...(next.returned.length > 0 ? [t("builder.population.returned", { names: listed(next.returned.map(label)) })] : []),
    ]);
  }

  return app;
}

/** A label inside a sentence: small, unless it is an abbreviation. */
function softened(label) {
  if (/^\p{Lu}[\p{Lu}\d]/u.test(label)) return label;
  return label.charAt(0).toLocaleLowerCase(language) + label.slice(1);
}
