// @ts-check
// The list of variables by file, what is left of them, and the progress.

import { el } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { field } from "./controls.js";

export const REST = "";
/** Which variables are listed. */
export const filter = { show: "all", search: "", open: false };

/** @type {Record<string, (line: any) => boolean>} */
const SHOWS = {
  all: () => true,
  open: (line) => !line.looked_at,
  guessed: (line) => line.guessed,
  mistakes: (line) => line.mistakes > 0,
};

/** @param {any} state @returns {any[]} */
export function listedVariables(state) {
  const words = filter.search.toLowerCase();
  return state.variables.filter(
    (/** @type {any} */ line) =>
      SHOWS[filter.show](line) && `${line.name} ${line.label}`.toLowerCase().includes(words),
  );
}

/** @param {any} state */
export function progress(state) {
  const all = state.variables.length;
  const text = t("editor.progress", { n: state.looked_at, all });
  const share = all > 0 ? (100 * state.looked_at) / all : 0;
  return [
    el("span", { class: "small" }, text),
    el("div", { class: "meter", "aria-hidden": true }, el("i", { style: { width: `${share}%` } })),
  ];
}

/**
 * @param {any} state
 * @param {string} current
 * @param {{redraw: () => void}} tools
 */
export function list(state, current, tools) {
  const shown = listedVariables(state);
  return el(
    "details",
    {
      class: "list-box",
      open: filter.open || window.matchMedia("(min-width: 861px)").matches,
      ontoggle: (/** @type {any} */ event) => {
        filter.open = event.target.open;
      },
    },
    el("summary", {}, t("editor.do.show_list")),
    field({
      label: t("editor.search"),
      value: filter.search,
      focus: "search",
      type: "search",
      commit: (text) => {
        filter.search = text.trim();
        tools.redraw();
      },
    }),
    el(
      "div",
      { class: "segments", role: "group", "aria-label": t("editor.variables") },
      Object.keys(SHOWS).map((show) =>
        el(
          "button",
          {
            type: "button",
            "aria-pressed": filter.show === show,
            dataset: { focus: `show-${show}` },
            onclick: () => {
              filter.show = show;
              tools.redraw();
            },
          },
          t(`editor.show.${show}`),
        ),
      ),
    ),
    el(
      "ul",
      { class: "plain-list" },
      el("li", {}, link(REST, t("editor.rest.title"), "", current, [
        state.mistakes.length > 0 ? badge(plural("editor.mistakes", state.mistakes.length), "bad") : null,
        state.notes.length > 0 ? badge(t("editor.guessed"), "warn") : null,
      ])),
    ),
    shown.length === 0 ? el("p", { class: "soft" }, t("editor.none")) : null,
    byFile(state, shown).map(([file, lines]) => [
      el("h2", { class: "file-name" }, file.name, " ", el("span", { class: "soft" }, plural("editor.rows", file.rows))),
      el(
        "ul",
        { class: "plain-list" },
        lines.map((line) => el("li", {}, link(line.name, line.label || line.name, line.name, current, badges(line)))),
      ),
    ]),
  );
}

/** @param {any} line */
function badges(line) {
  return [
    line.mistakes > 0 ? badge(plural("editor.mistakes", line.mistakes), "bad") : null,
    line.guessed ? badge(t("editor.guessed"), "warn") : null,
    line.looked_at ? el("span", { class: "done", role: "img", "aria-label": t("editor.looked_at") }, "✓") : null,
  ];
}

/** @param {string} text @param {string} kind */
function badge(text, kind) {
  return el("span", { class: `badge ${kind}` }, text);
}

/**
 * @param {string} name
 * @param {string} title
 * @param {string} below
 * @param {string} current
 * @param {any[]} marks
 */
function link(name, title, below, current, marks) {
  return el(
    "a",
    {
      href: `#${encodeURIComponent(name)}`,
      "aria-current": name === current ? "true" : null,
      dataset: { focus: `go-${name}` },
    },
    el("span", { class: "titles" }, el("span", {}, title), below && below !== title ? el("span", { class: "soft small" }, below) : null),
    el("span", { class: "marks" }, marks),
  );
}

/** @param {any} state @param {any[]} lines @returns {[any, any[]][]} */
function byFile(state, lines) {
  const files = [...state.files, { name: "", rows: 0 }];
  const known = new Set(state.files.map((/** @type {any} */ file) => file.name));
  return /** @type {[any, any[]][]} */ (
    files
      .map((file) => [file, lines.filter((line) => (known.has(line.file) ? line.file : "") === file.name)])
      .filter(([, own]) => own.length > 0)
  );
}

