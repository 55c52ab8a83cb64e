// @ts-check
// The table of codes, a page of them at a time: lists of thousands stay quick.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { bar } from "./drawing.js";
import { button, card, choice, field, listed } from "./controls.js";

const PAGE = 50;

/** What somebody looks at in the table; kept while the table is drawn anew. */
export const view = { name: "", page: 0, search: "", tree: -1, chosen: new Map() };

/** @param {string} name */
export function lookAt(name) {
  if (view.name === name) return;
  Object.assign(view, { name, page: 0, search: "", tree: -1, chosen: new Map() });
}

/** @param {any} row */
const keyOf = (row) => `${row.line} ${row.code}`;

/**
 * @param {any} variable
 * @param {{languages: string[]}} state
 * @param {{change: (change: object) => void, redraw: () => void}} tools
 */
export function codeTable(variable, state, tools) {
  const all = variable.codes.rows;
  const words = view.search.toLowerCase();
  const matching = all.filter(
    (/** @type {any} */ row) =>
      words === "" || `${row.code} ${Object.values(row.labels).join(" ")}`.toLowerCase().includes(words),
  );
  const pages = Math.max(Math.ceil(matching.length / PAGE), 1);
  view.page = Math.min(view.page, pages - 1);
  const first = view.page * PAGE;
  const rows = matching.slice(first, first + PAGE);
  const most = Math.max(...all.map((/** @type {any} */ row) => row.count ?? 0), 1);
  const known = new Map(all.map((/** @type {any} */ row) => [keyOf(row), row]));
  for (const key of view.chosen.keys()) if (!known.has(key)) view.chosen.delete(key);
  return card(
    t("editor.codes.title"),
    variable.codes.file
      ? el("p", { class: "soft small" }, t("editor.codes.file", { file: variable.codes.file }))
      : null,
    all.length > 10 ? finder(tools) : null,
    el(
      "div",
      { class: "scroller", tabindex: 0, role: "group", "aria-label": t("editor.codes.title") },
      el(
        "table",
        { class: "lines codes" },
        el("caption", { class: "visually-hidden" }, t("editor.codes.title")),
        el("thead", {}, head(rows, variable, state, tools)),
        el("tbody", {}, rows.map((/** @type {any} */ row) => line(row, variable, state, most, tools))),
      ),
    ),
    pages > 1 ? pager(first, rows.length, matching.length, tools) : null,
    bulk(variable, tools),
  );
}

/** @param {{redraw: () => void}} tools */
function finder(tools) {
  return field({
    label: t("editor.codes.search"),
    value: view.search,
    focus: "codes-search",
    type: "search",
    commit: (text) => {
      view.search = text.trim();
      view.page = 0;
      tools.redraw();
    },
  });
}

/**
 * @param {any[]} rows
 * @param {any} variable
 * @param {{languages: string[]}} state
 * @param {{redraw: () => void}} tools
 */
function head(rows, variable, state, tools) {
  const real = rows.filter((row) => row.line >= 0);
  const every = real.length > 0 && real.every((row) => view.chosen.has(keyOf(row)));
  return el(
    "tr",
    {},
    el(
      "td",
      {},
      el("input", {
        type: "checkbox",
        checked: every,
        "aria-label": t("editor.codes.choose_all"),
        dataset: { focus: "codes-all" },
        onchange: () => {
          for (const row of real) {
            if (every) view.chosen.delete(keyOf(row));
            else view.chosen.set(keyOf(row), row);
          }
          tools.redraw();
        },
      }),
    ),
    el("th", { scope: "col" }, t("editor.codes.code")),
    state.languages.map((language) =>
      el(
        "th",
        { scope: "col" },
        state.languages.length > 1
          ? t("editor.languages", { text: t("editor.is.label"), language })
          : t("editor.is.label"),
      ),
    ),
    el("th", { scope: "col" }, t("editor.codes.kind")),
    hasGroups(variable) ? el("th", { scope: "col" }, t("editor.codes.group")) : null,
    el("th", { scope: "col", class: "count" }, t("editor.codes.records")),
  );
}

/** @param {any} variable */
function hasGroups(variable) {
  return variable.trees.length > 1 || variable.trees[0].groups.length > 0;
}

/**
 * @param {any} row
 * @param {any} variable
 * @param {{languages: string[]}} state
 * @param {number} most
 * @param {{change: (change: object) => void, redraw: () => void}} tools
 */
function line(row, variable, state, most, tools) {
  const key = keyOf(row);
  const listedHere = row.line >= 0;
  return el(
    "tr",
    { class: row.group ? "is-group" : null },
    el(
      "td",
      {},
      listedHere
        ? el("input", {
            type: "checkbox",
            checked: view.chosen.has(key),
            "aria-label": t("editor.codes.choose", { code: row.code }),
            dataset: { focus: `choose-${key}` },
            onchange: () => {
              if (view.chosen.has(key)) view.chosen.delete(key);
              else view.chosen.set(key, row);
              tools.redraw();
            },
          })
        : null,
    ),
    el("th", { scope: "row" }, row.code),
    listedHere
      ? state.languages.map((language) => el("td", {}, labelField(row, language, tools)))
      : el("td", { colspan: state.languages.length, class: "soft" }, t("editor.codes.unlisted")),
    el("td", {}, row.group ? t("editor.codes.is_group") : kindChoice(row, tools)),
    hasGroups(variable) ? el("td", {}, groupOf(row, variable)) : null,
    bar(row.count, most),
  );
}

/**
 * @param {any} row
 * @param {string} language
 * @param {{change: (change: object) => void}} tools
 */
function labelField(row, language, tools) {
  return field({
    label: `${row.code}, ${t("editor.is.label")} (${language})`,
    hidden: true,
    value: row.labels[language] ?? "",
    focus: `label-${row.line}-${row.code}-${language}`,
    lang: language,
    spellcheck: true,
    commit: (text) =>
      tools.change({
        what: "code_label",
        tree: -1,
        code: row.code,
        line: row.line,
        value: { [language]: text },
      }),
  });
}

/**
 * @param {any} row
 * @param {{change: (change: object) => void}} tools
 */
function kindChoice(row, tools) {
  return choice({
    label: `${row.code}, ${t("editor.codes.kind")}`,
    hidden: true,
    value: row.kind,
    focus: `kind-${row.line}-${row.code}`,
    choices: kinds(),
    commit: (value) => tools.change({ what: "kind", codes: [row.code], value }),
  });
}

/** @returns {[string, string][]} */
const kinds = () =>
  /** @type {[string, string][]} */ (
    ["valid", "not_stated", "not_applicable"].map((kind) => [kind, t(`editor.kinds.${kind}`)])
  );

/** @param {any} row @param {any} variable */
function groupOf(row, variable) {
  const parent = row.parents[view.tree + 1];
  const group = variable.trees[view.tree + 1]?.groups.find((/** @type {any} */ one) => one.code === parent);
  return parent ? `${parent} ${Object.values(group?.labels ?? {})[0] ?? ""}`.trim() : "";
}

/**
 * @param {number} first
 * @param {number} count
 * @param {number} all
 * @param {{redraw: () => void}} tools
 */
function pager(first, count, all, tools) {
  /** @param {number} by */
  const turn = (by) => () => {
    view.page += by;
    tools.redraw();
  };
  return el(
    "div",
    { class: "row" },
    button("←", turn(-1), { focus: "page-before", disabled: first === 0, label: t("editor.codes.before") }),
    el("span", { class: "small" }, t("editor.codes.page", { first: first + 1, last: first + count, all })),
    button("→", turn(1), {
      focus: "page-after",
      disabled: first + count >= all,
      label: t("editor.codes.after"),
    }),
  );
}

/**
 * What can be done with the chosen codes.
 * @param {any} variable
 * @param {{change: (change: object) => void}} tools
 */
function bulk(variable, tools) {
  const codes = [...view.chosen.values()].map((row) => row.code);
  const kind = choice({
    label: t("editor.codes.set_kind"),
    value: "",
    focus: "bulk-kind",
    choices: [["", "…"], ...kinds()],
    commit: (value) => {
      if (value) tools.change({ what: "kind", codes, value });
    },
  });
  return el(
    "div",
    { class: "row bottom" },
    field({
      label: t("editor.codes.new"),
      value: "",
      focus: "new-code",
      commit: (text) => {
        if (listed(text).length) tools.change({ what: "add_codes", codes: listed(text) });
      },
    }),
    codes.length > 0
      ? [
          el("span", { class: "small" }, t("editor.codes.chosen", { n: codes.length })),
          kind,
          button(t("editor.codes.remove"), () => tools.change({ what: "remove_codes", codes }), {
            focus: "remove-codes",
          }),
        ]
      : null,
  );
}

