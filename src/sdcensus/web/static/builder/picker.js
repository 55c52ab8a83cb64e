// @ts-check
// The dialog in which the level of an axis, its codes and its own groups are chosen; also the
// codes of a condition. Areas can be found by their parent and on a map besides.

import { el, fill } from "../shared/dom.js";
import { language, plural, t } from "../shared/texts.js";
import { areaMap } from "./area_map.js";
import { codeList } from "./code_list.js";
import { labelled, openSheet } from "./dialog.js";
import { groupMaker, withoutSingles } from "./groups.js";
import * as schema from "./schema.js";

const MOST_PARENTS = 600;
const SEVERAL = "*"; // in the place of the name of a level: those that an address asks for together

/**
 * @typedef {import("./schema.js").Variable} Variable
 * @typedef {import("./state.js").OwnGroup} OwnGroup
 * @typedef {{variable: Variable, level: string | null, codes: string[] | null,
 *   groups: OwnGroup[] | null, except?: string[], levels?: string[]}} Choice
 *   level null: the variable is not shown at all; except: all codes but these; levels: several that
 *   are shown together, which only an address can ask for
 */

/**
 * @param {{title: string, of: string, choices: Variable[], choice: Choice, condition?: boolean,
 *   none?: boolean, onApply: (choice: Choice) => void}} options
 *   choices: variables to choose from; none: whether no variable is a choice
 */
export function openPicker(options) {
  const { of, condition = false } = options;
  let { variable, level } = options.choice;
  let grouping = Boolean(options.choice.groups?.length);
  const several = (options.choice.levels?.length ?? 0) > 1 ? (options.choice.levels ?? []) : null;
  let together = several !== null; // whether the table goes on to show several levels
  /** @type {Set<string>} */
  let ticked = new Set();
  /** @type {Map<string, string>} */
  let labels = new Map();
  /** @type {Map<string, string>} */
  let foreign = new Map(); // labels of codes of other levels
  /** @type {ReturnType<typeof areaMap> | null} */
  let drawing = null;
  let round = 0; // answers to older questions are dropped

  const sheet = openSheet(options.title);
  const apply = el("button", { type: "button", class: "button primary", onclick: finish }, t("builder.apply"));
  const chosen = el("span", { class: "soft small", role: "status" });
  fill(
    sheet.foot,
    chosen,
    el("button", { type: "button", class: "button", onclick: sheet.close }, t("builder.cancel")),
    apply,
  );

  const ticks = {
    has: (code) => ticked.has(code),
    set: (codes, on) => {
      for (const code of codes) on ? ticked.add(code) : ticked.delete(code);
      refresh();
    },
    only: (codes) => {
      ticked = new Set(codes);
      refresh();
    },
    note: (code) => (grouping ? maker.groupOf(code) : ""),
  };
  const list = codeList({
    label: t("builder.codes.title"),
    ticks,
    onShown: (codes) => drawing?.show(codes.length === labels.size ? null : new Set(codes.map((one) => one.code))),
  });
  const maker = groupMaker({
    chosen: () => [...labels.keys()].filter((code) => ticked.has(code)),
    clear: () => {
      ticked = new Set();
      list.clear();
      refresh();
    },
    labels: () => labels,
    labelOf: (code) => labels.get(plain(code)) ?? foreign.get(code) ?? code,
    onChange: () => {
      list.redraw();
      refresh();
    },
  });

  const variableField = el("select", {
    class: "field",
    onchange: () => {
      variable = options.choices[Number(variableField.value)];
      level = variable.default_level;
      together = false;
      grouping = false;
      drawLevels();
      void load(null, null);
    },
  });
  const levelField = el("select", {
    class: "field",
    onchange: () => {
      together = levelField.value === SEVERAL;
      level = together ? (several?.[0] ?? null) : levelField.value || null;
      const { codes, groups } = together ? options.choice : { codes: null, groups: null };
      grouping = Boolean(groups?.length);
      void load(codes, groups);
    },
  });
  const parentField = el("select", { class: "field", onchange: () => void loadCodes() });
  const modes = el("div", { class: "segments", role: "group", "aria-label": t("builder.groups.mode") });
  const views = el("div", { class: "segments", role: "group", "aria-label": t("builder.areas.view") });
  const mapPlace = el("div", { class: "map-place", hidden: true });
  const description = el("p", { class: "soft definition" });
  const explained = el("p", { class: "soft", hidden: true }, t("builder.areas.whole_help"));
  const parentLabel = labelled(t("builder.areas.parent"), parentField);
  const middle = el(
    "div",
    { class: "picker-middle" },
    el("div", { class: "picker-bar" }, condition ? null : modes, views),
    maker.node,
    el("div", { class: "picker-find" }, list.search, parentLabel),
    list.tools,
    mapPlace,
    list.list,
  );
  fill(
    sheet.body,
    el(
      "div",
      { class: "picker-top" },
      options.choices.length > 1 && labelled(t("builder.codes.variable"), variableField),
      labelled(t("builder.codes.level"), levelField),
    ),
    description,
    explained,
    middle,
  );

  /** A code without the name of the level that is shown. @param {string} code */
  function plain(code) {
    return code.startsWith(`${level}:`) ? code.slice(`${level}:`.length) : code;
  }

  function drawLevels() {
    description.textContent = variable.description ?? "";
    description.hidden = !variable.description;
    fill(
      variableField,
      options.choices.map((one, at) =>
        el("option", { value: at, props: { selected: one.name === variable.name } }, one.label),
      ),
    );
    fill(
      levelField,
      options.none && el("option", { value: "" }, t("builder.areas.whole")),
      several && variable === options.choice.variable && el("option", { value: SEVERAL }, severalName(several)),
      variable.levels.map((one) =>
        el(
          "option",
          { value: one.name },
          t("builder.codes.level_size", { n: schema.sizeOf(one), level: schema.levelLabel(variable, one) }),
        ),
      ),
    );
    levelField.value = together ? SEVERAL : (level ?? "");
  }

  /** @param {string[]} names */
  function severalName(names) {
    const found = names.map((one) => schema.levelOf(variable, [one]));
    const list = new Intl.ListFormat(language, { type: "conjunction" });
    return t("builder.codes.level_size", {
      level: list.format(found.map((one) => (one ? schema.levelLabel(variable, one) : ""))),
      n: found.reduce((sum, one) => sum + schema.sizeOf(one), 0),
    });
  }

  function pressed(holder, entries, current, run) {
    fill(
      holder,
      entries.map(([value, text]) =>
        el("button", { type: "button", "aria-pressed": value === current, onclick: () => run(value) }, text),
      ),
    );
  }

  function drawModes() {
    pressed(
      modes,
      [[false, t("builder.groups.choose")], [true, t("builder.groups.own")]],
      grouping,
      (value) => {
        grouping = value;
        ticked = new Set(grouping ? [] : labels.keys());
        drawModes();
        modes.querySelector("[aria-pressed=true]")?.focus();
        list.redraw();
        refresh();
      },
    );
    maker.node.hidden = !grouping;
  }

  function drawViews(onMap) {
    views.hidden = drawing === null;
    if (drawing === null) return;
    pressed(views, [[false, t("builder.areas.list")], [true, t("builder.areas.map")]], onMap, (value) => {
      drawViews(value);
      views.querySelector("[aria-pressed=true]")?.focus();
    });
    mapPlace.hidden = !onMap;
    list.list.hidden = onMap;
  }

  /** Everything for a level: codes with those ticked, groups, parents, map. */
  async function load(codes, groups, except = undefined) {
    round += 1;
    const mine = round;
    drawing = null;
    drawViews(false);
    mapPlace.hidden = true;
    list.list.hidden = false;
    middle.hidden = level === null;
    middle.classList.toggle("fixed", together);
    explained.hidden = level !== null && !together;
    explained.textContent = t(together ? "builder.codes.several_help" : "builder.areas.whole_help");
    apply.disabled = level !== null;
    if (level === null) {
      chosen.textContent = "";
      return;
    }
    chosen.textContent = t("builder.loading");
    const at = level;
    let all;
    try {
      all = await schema.codes(of, variable, at);
      foreign = await otherLabels(groups ?? [], at);
    } catch {
      if (mine === round) chosen.textContent = t("builder.problem.network");
      return;
    }
    if (mine !== round) return;
    labels = new Map(all.map((one) => [one.code, one.label]));
    const given = (groups ?? []).map((one) => ({ label: one.label, codes: one.codes.map(plain) }));
    const own = together ? { groups: groups ?? [], others: false } : withoutSingles(given, labels);
    maker.fill(own.groups, own.others);
    ticked = new Set(grouping ? [] : (codes?.map(plain) ?? (condition && !except ? [] : labels.keys())));
    for (const code of except ?? []) ticked.delete(code);
    list.fill(all);
    drawModes();
    refresh();
    if (together) {
      maker.node.hidden = !grouping;
      return;
    }
    parentLabel.hidden = variable.kind !== "geography";
    if (variable.kind === "geography") {
      await Promise.all([loadParents(at, mine), loadMap(at, mine)]);
    }
  }

  /**
   * The labels of codes that a group has from other levels, which only an address can ask for.
   * @param {OwnGroup[]} groups
   * @param {string} at
   */
  async function otherLabels(groups, at) {
    const codes = groups.flatMap((one) => one.codes).filter((one) => !one.startsWith(`${at}:`));
    const names = [...(several ?? []), ...codes.map((one) => one.split(":")[0])];
    const made = new Map();
    for (const name of new Set(names)) {
      if (name === at || !variable.levels.some((one) => one.name === name)) continue;
      for (const one of await schema.codes(of, variable, name)) {
        made.set(`${name}:${one.code}`, one.label);
        if (!made.has(one.code)) made.set(one.code, one.label);
      }
    }
    return made;
  }

  async function loadParents(at, mine) {
    const size = schema.sizeOf(schema.levelOf(variable, [at]));
    const above = variable.levels.filter((one) => schema.sizeOf(one) < size && schema.sizeOf(one) <= MOST_PARENTS);
    parentLabel.hidden = above.length === 0;
    const lists = await Promise.all(above.map((one) => schema.codes(of, variable, one.name).catch(() => [])));
    if (mine !== round) return;
    fill(
      parentField,
      el("option", { value: "" }, t("builder.areas.any_parent")),
      above.map((one, index) =>
        el(
          "optgroup",
          { label: schema.levelLabel(variable, one) },
          lists[index].map((area) => el("option", { value: `${one.name}:${area.code}` }, area.label)),
        ),
      ),
    );
  }

  async function loadCodes() {
    const mine = round;
    const found = await schema.codes(of, variable, level ?? "", parentField.value).catch(() => null);
    if (mine === round && found) list.fill(found);
  }

  async function loadMap(at, mine) {
    if (schema.levelOf(variable, [at])?.map === false) return;
    const collection = await schema.map(of, variable.name, at).catch(() => null);
    if (mine !== round || !collection?.features?.length) return;
    drawing = areaMap(collection, labels, {
      has: ticks.has,
      toggle: (code) => ticks.set([code], !ticked.has(code)),
      label: t("builder.areas.on_map"),
    });
    fill(mapPlace, drawing.node);
    drawViews(false);
  }

  function refresh() {
    list.update();
    drawing?.update();
    const groups = maker.value();
    chosen.textContent = grouping
      ? plural("builder.groups.count", groups.length)
      : plural("builder.codes.chosen", ticked.size, { all: labels.size });
    apply.disabled = grouping ? groups.length === 0 : ticked.size === 0;
    if (!together) return;
    // What is left of the groups, or all codes of these levels.
    apply.disabled = false;
    if (groups.length === 0) chosen.textContent = "";
  }

  function finish() {
    if (together) {
      const groups = grouping && maker.value().length ? maker.value() : null;
      sheet.close();
      options.onApply({ ...options.choice, groups });
      return;
    }
    const everything = level === null || grouping || ticked.size === labels.size;
    const all = [...labels.keys()];
    // First, so that the focus goes back to a button that is still there.
    sheet.close();
    options.onApply({
      variable,
      level,
      codes: everything ? null : all.filter((code) => ticked.has(code)),
      groups: level !== null && grouping ? maker.value() : null,
      except: everything ? [] : all.filter((code) => !ticked.has(code)),
    });
  }

  drawLevels();
  void load(options.choice.codes, options.choice.groups, options.choice.except);
  sheet.dialog.lang = language;
}
