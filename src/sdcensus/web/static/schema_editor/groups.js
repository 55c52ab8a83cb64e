// @ts-check
// Groups of codes in trees, and levels of numbers by their bounds.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { view } from "./codes.js";
import { bar } from "./drawing.js";
import { button, card, choice, field, listed, spoken } from "./controls.js";

/** What is being typed for a grouping, a group or a level that is not made yet. */
const draft = { of: "", name: "", label: {}, group: "", code: "", groupLabel: {}, bounds: "" };

function forget() {
  Object.assign(draft, { name: "", label: {}, group: "", code: "", groupLabel: {}, bounds: "" });
}

/**
 * @param {any} variable
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void, redraw: () => void}} tools
 */
export function groupings(variable, state, tools) {
  if (draft.of !== variable.name) {
    forget();
    draft.of = variable.name;
  }
  if (variable.form === "codes") return codeGroups(variable, state, tools);
  return numberLevels(variable, state, tools);
}

/**
 * @param {any} variable
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void, redraw: () => void}} tools
 */
function codeGroups(variable, state, tools) {
  view.tree = Math.min(view.tree, variable.trees.length - 2);
  const tree = variable.trees[view.tree + 1];
  const trees = variable.trees.map((/** @type {any} */ one) => [
    String(one.tree),
    one.tree < 0 ? t("editor.groups.own") : one.name,
  ]);
  return card(
    t("editor.groups.title"),
    el("p", { class: "soft small" }, t("editor.groups.lead_codes")),
    el(
      "div",
      { class: "row bottom" },
      choice({
        label: t("editor.groups.tree"),
        value: String(view.tree),
        choices: trees,
        focus: "tree",
        commit: (value) => {
          view.tree = Number(value);
          tools.redraw();
        },
      }),
      tree.tree >= 0
        ? button(
            t("editor.groups.drop"),
            () => {
              const gone = tree.tree;
              view.tree = -1;
              tools.change({ what: "no_grouping", tree: gone });
            },
            { focus: "drop-grouping" },
          )
        : null,
    ),
    groupList(tree, state, tools),
    putting(tree, state, tools),
    tree.groups.length > 0
      ? field({
          label: t("editor.groups.levels"),
          value: tree.levels.join(", "),
          focus: "tree-levels",
          commit: (text) => tools.change({ what: "tree_levels", tree: tree.tree, levels: listed(text) }),
        })
      : null,
    newGrouping(variable, state, tools),
  );
}

/**
 * @param {any} tree
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void}} tools
 */
function groupList(tree, state, tools) {
  if (tree.groups.length === 0) return el("p", { class: "small" }, t("editor.groups.no_groups"));
  return el(
    "table",
    { class: "lines" },
    el("caption", { class: "visually-hidden" }, t("editor.groups.title")),
    el(
      "tbody",
      {},
      tree.groups.slice(0, 100).map((/** @type {any} */ group) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, group.code),
          state.languages.map((language) =>
            el(
              "td",
              {},
              field({
                label: `${group.code}, ${t("editor.groups.group_label")} (${language})`,
                hidden: true,
                value: group.labels[language] ?? "",
                focus: `group-${tree.tree}-${group.code}-${language}`,
                lang: language,
                commit: (text) =>
                  tools.change({
                    what: "code_label",
                    tree: tree.tree,
                    code: group.code,
                    line: group.line,
                    value: { [language]: text },
                  }),
              }),
            ),
          ),
          el("td", { class: "small" }, t("editor.groups.inside", { n: group.count })),
        ),
      ),
    ),
  );
}

/**
 * Putting the chosen codes into a group.
 * @param {any} tree
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void, redraw: () => void}} tools
 */
function putting(tree, state, tools) {
  const rows = [...view.chosen.values()].map((row) => ({ code: row.code, line: lineIn(row, tree) }));
  if (rows.length === 0) return null;
  const known = tree.groups.map((/** @type {any} */ group) => [
    group.code,
    `${group.code} ${Object.values(group.labels)[0] ?? ""}`.trim(),
  ]);
  const isNew = draft.group === "";
  const put = () => {
    const group = isNew ? draft.code.trim() : draft.group;
    if (!group) return;
    tools.change({ what: "group", tree: tree.tree, rows, group, label: draft.groupLabel });
    view.chosen.clear();
    forget();
  };
  return el(
    "div",
    { class: "row bottom" },
    el("span", { class: "small" }, t("editor.codes.chosen", { n: rows.length })),
    choice({
      label: t("editor.groups.group"),
      value: draft.group,
      choices: [["", t("editor.groups.new_group")], ...known],
      focus: "put-group",
      commit: (value) => {
        draft.group = value;
        tools.redraw();
      },
    }),
    isNew
      ? [
          field({
            label: t("editor.groups.group_code"),
            value: draft.code,
            focus: "put-code",
            commit: (text) => {
              draft.code = text;
            },
          }),
          spoken(t("editor.groups.group_label"), draft.groupLabel, state.languages, "put-label", (label) => {
            Object.assign(draft.groupLabel, label);
          }),
        ]
      : null,
    button(t("editor.groups.put"), put, { focus: "put", kind: "primary" }),
    button(
      t("editor.groups.take"),
      () => {
        tools.change({ what: "group", tree: tree.tree, rows, group: "", label: {} });
        view.chosen.clear();
      },
      { focus: "take" },
    ),
  );
}

/** The line of a code in a tree: in others than its own, codes are told apart by themselves. */
function lineIn(/** @type {any} */ row, /** @type {any} */ tree) {
  return tree.tree < 0 ? row.line : (row.lines?.[tree.tree] ?? 0);
}

/**
 * @param {any} variable
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void}} tools
 */
function newGrouping(variable, state, tools) {
  const make = () => {
    if (!draft.name.trim()) return;
    view.tree = variable.trees.length - 1;
    tools.change({ what: "grouping", grouping: draft.name.trim(), label: draft.label });
    forget();
  };
  return el(
    "details",
    { dataset: { keep: "new-grouping" } },
    el("summary", {}, t("editor.groups.new")),
    el(
      "div",
      { class: "row bottom" },
      nameField(),
      spoken(t("editor.groups.label"), draft.label, state.languages, "grouping-label", (label) => {
        Object.assign(draft.label, label);
      }),
      button(t("editor.groups.make"), make, { focus: "make-grouping" }),
    ),
  );
}

function nameField() {
  return field({
    label: t("editor.groups.name"),
    value: draft.name,
    focus: "grouping-name",
    commit: (text) => {
      draft.name = text;
    },
  });
}

/**
 * @param {any} variable
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void, redraw: () => void}} tools
 */
function numberLevels(variable, state, tools) {
  const high = variable.range ? variable.range[1] : 1000;
  const low = variable.range ? variable.range[0] : 0;
  /** @type {[string, string, string][]} */
  const usual =
    variable.form === "range" && low === 0 && high >= 90
      ? [
          ["five_year", t("editor.groups.five"), "0,5,...,85+"],
          ["ten_year", t("editor.groups.ten"), "0,10,...,80+"],
          ["broad", t("editor.groups.broad"), "0,15,65+"],
        ]
      : [];
  const taken = new Set(variable.levels.map((/** @type {any} */ level) => level.name));
  return card(
    t("editor.groups.title"),
    el("p", { class: "soft small" }, t("editor.groups.lead_numbers")),
    variable.levels.map((/** @type {any} */ level) => levelView(level, state, tools)),
    el(
      "div",
      { class: "row" },
      usual
        .filter(([name]) => !taken.has(name))
        .map(([name, text, bounds]) =>
          button(`+ ${text}`, () => tools.change({ what: "level", level: name, bounds, label: {} }), {
            focus: `usual-${name}`,
          }),
        ),
    ),
    newLevel(state, tools),
  );
}

/**
 * @param {any} level
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void}} tools
 */
function levelView(level, state, tools) {
  const most = Math.max(...level.groups.map((/** @type {any} */ one) => one.count ?? 0), 1);
  return el(
    "div",
    { class: "level" },
    el("h3", {}, level.name),
    el(
      "div",
      { class: "row bottom" },
      field({
        label: t("editor.groups.bounds"),
        value: level.bounds,
        focus: `bounds-${level.name}`,
        commit: (bounds) => tools.change({ what: "level", level: level.name, bounds, label: {} }),
      }),
      spoken(t("editor.groups.label"), level.label, state.languages, `level-${level.name}`, (label) =>
        tools.change({ what: "level_label", level: level.name, label }),
      ),
      button(t("editor.remove"), () => tools.change({ what: "no_level", level: level.name }), {
        focus: `drop-${level.name}`,
        label: `${t("editor.remove")}: ${level.name}`,
      }),
    ),
    level.groups.length > 0
      ? el(
          "details",
          { dataset: { keep: `level-${level.name}` } },
          el(
            "summary",
            { class: "small" },
            level.groups
              .slice(0, 6)
              .map((/** @type {any} */ one) => one.code)
              .join(", ") + (level.groups.length > 6 ? " …" : ""),
          ),
          el(
            "table",
            { class: "lines" },
            el("caption", { class: "visually-hidden" }, level.name),
            el(
              "tbody",
              {},
              level.groups.map((/** @type {any} */ one) =>
                el("tr", {}, el("th", { scope: "row" }, one.code), bar(one.count, most)),
              ),
            ),
          ),
        )
      : null,
  );
}

/**
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void}} tools
 */
function newLevel(state, tools) {
  const make = () => {
    const level = draft.name.trim();
    if (!level || !draft.bounds.trim()) return;
    tools.change({ what: "level", level, bounds: draft.bounds, label: draft.label });
    forget();
  };
  return el(
    "details",
    { dataset: { keep: "new-level" } },
    el("summary", {}, t("editor.groups.new")),
    el(
      "div",
      { class: "row bottom" },
      nameField(),
      field({
        label: t("editor.groups.bounds"),
        value: draft.bounds,
        focus: "new-bounds",
        commit: (text) => {
          draft.bounds = text;
        },
      }),
      spoken(t("editor.groups.label"), draft.label, state.languages, "grouping-label", (label) => {
        Object.assign(draft.label, label);
      }),
      button(t("editor.groups.make_level"), make, { focus: "make-level" }),
    ),
  );
}
