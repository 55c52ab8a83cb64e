// @ts-check
// The census itself, its files, and how units are known and linked.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { button, card, choice, field, listed } from "./controls.js";
import { number } from "./drawing.js";

/**
 * @param {any} state
 * @param {{change: (change: object) => void}} tools
 */
export function restPanel(state, tools) {
  return [
    el("div", { class: "panel-head" }, el("h1", { id: "title", tabindex: -1 }, t("editor.rest.title"))),
    state.mistakes.length > 0
      ? el(
          "div",
          { class: "notice bad", role: "alert" },
          el("h2", {}, t("editor.rest.mistakes")),
          el("ul", {}, state.mistakes.map((/** @type {string} */ text) => el("li", {}, text))),
        )
      : null,
    state.notes.length > 0
      ? el(
          "div",
          { class: "notice" },
          el("h2", {}, t("editor.rest.guesses")),
          el(
            "ul",
            {},
            state.notes.map((/** @type {any} */ note) => el("li", {}, `${note.where}: ${note.text}`)),
          ),
          button(t("editor.rest.accept"), () => tools.change({ what: "accept_rest" }), { focus: "accept-rest" }),
        )
      : null,
    census(state.census, tools),
    files(state.files),
    units(state, tools),
  ];
}

/** @param {any} known @param {{change: (change: object) => void}} tools */
function census(known, tools) {
  /**
   * @param {string} setting
   * @param {string} text
   * @param {string} value
   * @param {(text: string) => any} read
   */
  const part = (setting, text, value, read) =>
    field({
      label: t(`editor.rest.${text}`),
      value,
      focus: `census-${setting}`,
      commit: (typed) => tools.change({ what: "census", setting, value: read(typed) }),
    });
  const plain = (/** @type {string} */ text) => text.trim();
  const parts = (/** @type {string} */ text) => {
    const several = listed(text);
    return several.length > 1 ? several : (several[0] ?? "");
  };
  return card(
    t("editor.rest.census"),
    el(
      "div",
      { class: "grid" },
      part("name", "name", known.name, plain),
      part("country", "country", known.country, plain),
      part("code", "code", known.code.join(", "), parts),
      part("reference_date", "date", known.reference_date, plain),
      part("languages", "languages", known.languages.join(", "), listed),
    ),
  );
}

/** @param {any[]} known */
function files(known) {
  return card(
    t("editor.rest.files"),
    el(
      "table",
      { class: "lines" },
      el("caption", { class: "visually-hidden" }, t("editor.rest.files")),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["file", "units", "records"].map((name) => el("th", { scope: "col" }, t(`editor.rest.${name}`))),
        ),
      ),
      el(
        "tbody",
        {},
        known.map((file) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, file.paths.join(", ") || file.name),
            el("td", {}, file.entity ? t(`editor.entities.${file.entity}`) : ""),
            el("td", {}, file.problem || number(file.rows)),
          ),
        ),
      ),
    ),
  );
}

/** @param {any} state @param {{change: (change: object) => void}} tools */
function units(state, tools) {
  const kinds = state.units.map((/** @type {any} */ unit) => unit.entity);
  return card(
    t("editor.rest.links"),
    state.units.map((/** @type {any} */ unit) => {
      /** @param {string} setting */
      const set = (setting) => (/** @type {any} */ value) =>
        tools.change({ what: "unit", entity: unit.entity, setting, value });
      return el(
        "fieldset",
        {},
        el("legend", {}, t(`editor.entities.${unit.entity}`)),
        el(
          "div",
          { class: "grid" },
          field({
            label: t("editor.rest.id"),
            value: unit.id.join(", "),
            focus: `id-${unit.entity}`,
            commit: (text) => set("id")(listed(text)),
          }),
          choice({
            label: t("editor.rest.within"),
            value: unit.within,
            focus: `within-${unit.entity}`,
            choices: [
              ["", t("editor.rest.nothing")],
              ...kinds
                .filter((/** @type {string} */ kind) => kind !== unit.entity)
                .map((/** @type {string} */ kind) => [kind, t(`editor.entities.${kind}`)]),
            ],
            commit: set("within"),
          }),
          unit.within
            ? [
                field({
                  label: `${t("editor.rest.link")} (${t("editor.rest.link_same")})`,
                  value: unit.link.join(", "),
                  focus: `link-${unit.entity}`,
                  commit: (text) => set("link")(listed(text)),
                }),
                el(
                  "label",
                  { class: "check" },
                  el("input", {
                    type: "checkbox",
                    checked: unit.optional,
                    dataset: { focus: `optional-${unit.entity}` },
                    onchange: () => set("optional")(!unit.optional),
                  }),
                  t("editor.rest.optional"),
                ),
              ]
            : null,
        ),
      );
    }),
  );
}
