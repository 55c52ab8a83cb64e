// @ts-check
// One variable: what it is, what the file holds, its codes and groups.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { button, card, choice, field, listed, offers, spoken } from "./controls.js";
import { codeTable, lookAt } from "./codes.js";
import { distribution } from "./drawing.js";
import { groupings } from "./groups.js";

/**
 * @typedef {{change: (change: object) => void, redraw: () => void, go: (name: string) => void,
 *   accept: (next: boolean) => void, neighbour: (step: number) => string | null}} Tools
 */

/**
 * @param {any} variable
 * @param {any} state
 * @param {Tools} tools
 */
export function panel(variable, state, tools) {
  lookAt(variable.name);
  const stored = variable.form !== "none";
  return [
    head(variable, tools),
    notices(variable),
    variable.broken
      ? null
      : [
          meaning(variable, state, tools),
          card(t("editor.counts.title"), distribution(variable, tools.change)),
          stored && variable.form !== "codes" ? numbers(variable, tools) : null,
          variable.form === "codes" ? codeTable(variable, state, tools) : null,
          stored ? groupings(variable, state, tools) : null,
        ],
  ];
}

/** @param {any} variable @param {Tools} tools */
function head(variable, tools) {
  const before = tools.neighbour(-1);
  const after = tools.neighbour(1);
  const place = [variable.name, variable.column === variable.name ? null : variable.column, variable.file];
  return el(
    "div",
    { class: "panel-head" },
    el(
      "div",
      { class: "panel-title" },
      el("h1", { id: "title", tabindex: -1 }, variable.label || variable.name),
      el("p", { class: "soft small" }, place.filter(Boolean).join(" · ")),
    ),
    el(
      "div",
      { class: "row" },
      button("←", () => before !== null && tools.go(before), {
        focus: "before",
        disabled: before === null,
        label: t("editor.do.before"),
      }),
      button("→", () => after !== null && tools.go(after), {
        focus: "after",
        disabled: after === null,
        label: t("editor.do.after"),
      }),
      variable.looked_at
        ? button(t("editor.do.reopen"), () => tools.change({ what: "reopen" }), { focus: "reopen" })
        : null,
      button(t("editor.do.accept_next"), () => tools.accept(true), {
        focus: "accept-next",
        kind: "primary",
      }),
    ),
  );
}

/** @param {any} variable */
function notices(variable) {
  return [
    variable.mistakes.length > 0
      ? el(
          "div",
          { class: "notice bad", role: "alert" },
          el("ul", {}, variable.mistakes.map((/** @type {string} */ text) => el("li", {}, text))),
        )
      : null,
    variable.broken ? el("p", { class: "notice bad" }, t("editor.is.broken")) : null,
    variable.notes.length > 0
      ? el(
          "div",
          { class: "notice" },
          el("ul", {}, variable.notes.map((/** @type {any} */ note) => el("li", {}, note.text))),
        )
      : null,
  ];
}

/** @param {any} variable @param {any} state @param {Tools} tools */
function meaning(variable, state, tools) {
  /** @param {string} setting */
  const say = (setting) => (/** @type {Record<string, string>} */ value) =>
    tools.change({ what: "spoken", setting, value });
  /** @param {string} setting */
  const set = (setting) => (/** @type {any} */ value) => tools.change({ what: "plain", setting, value });
  const forms = variable.form === "none" ? ["none"] : ["codes", "range", "amount"];
  const kinds = state.units.map((/** @type {any} */ unit) => unit.entity);
  const ids = ["record-id", "household-link", "geography"];
  return card(
    t("editor.is.title"),
    el(
      "div",
      { class: "grid" },
      spoken(t("editor.is.label"), variable.labels, state.languages, "label", say("label")),
    ),
    el(
      "div",
      { class: "grid" },
      choice({
        broad: true,
        label: t("editor.is.role"),
        value: variable.role === "continuous" ? "" : variable.role,
        focus: "role",
        choices: /** @type {[string, string][]} */ (
          offers.roles.map((role) => [role, t(`editor.roles.${role || "none"}`)])
        ),
        commit: (value) => tools.change({ what: "role", value }),
      }),
      choice({
        label: t("editor.is.form"),
        value: variable.form,
        focus: "form",
        choices: /** @type {[string, string][]} */ (forms.map((form) => [form, t(`editor.forms.${form}`)])),
        commit: (value) => value !== "none" && tools.change({ what: "form", value }),
      }),
      choice({
        label: t("editor.is.entity"),
        value: variable.entity,
        focus: "entity",
        choices: [
          ["", t("editor.is.entity_file")],
          ...kinds.map((/** @type {string} */ kind) => [kind, t(`editor.entities.${kind}`)]),
        ],
        commit: set("entity"),
      }),
      variable.role !== "weight"
        ? choice({
            label: t("editor.is.empty"),
            value: variable.empty,
            focus: "empty",
            choices: /** @type {[string, string][]} */ (
              ["problem", "not_stated", "not_applicable"].map((one) => [one, t(`editor.empties.${one}`)])
            ),
            commit: set("empty"),
          })
        : null,
      ids.includes(variable.role) || variable.width !== null
        ? wholeField("width", variable.width, set("width"))
        : null,
      variable.role === "weight" ? wholeField("decimals", variable.decimals, set("decimals")) : null,
    ),
    el(
      "details",
      { dataset: { keep: "more" } },
      el("summary", {}, t("editor.is.more")),
      spoken(t("editor.is.description"), variable.descriptions, state.languages, "description", say("description")),
      spoken(t("editor.is.topic"), variable.topics, state.languages, "topic", say("topic")),
    ),
  );
}

/**
 * @param {string} name
 * @param {number | null} value
 * @param {(value: number | string | null) => void} commit
 */
function wholeField(name, value, commit) {
  return field({
    label: t(`editor.is.${name}`),
    value: value === null ? "" : String(value),
    focus: name,
    commit: (text) => commit(whole(text)),
  });
}

/** A whole number, or the text itself, of which the reader of schemas says what is wrong. */
function whole(/** @type {string} */ text) {
  const plain = text.trim();
  if (plain === "") return null;
  return /^-?\d{1,15}$/.test(plain) ? Number(plain) : plain;
}

/** @param {any} variable @param {Tools} tools */
function numbers(variable, tools) {
  /** @param {string} setting */
  const set = (setting) => (/** @type {any} */ value) => tools.change({ what: "plain", setting, value });
  const bounds = variable.range ?? [0, 0];
  return card(
    t(`editor.forms.${variable.form}`),
    el(
      "div",
      { class: "grid" },
      variable.form === "range"
        ? ["lowest", "highest"].map((name, at) =>
            wholeField(name, bounds[at], (value) =>
              set("range")(at === 0 ? [value, bounds[1]] : [bounds[0], value]),
            ),
          )
        : [
            field({
              label: t("editor.is.unit"),
              value: variable.unit,
              focus: "unit",
              commit: (text) => set("unit")(text.trim()),
            }),
            wholeField("decimals", variable.decimals, set("decimals")),
          ],
      ["not_stated", "not_applicable"].map((name) =>
        field({
          label: t(`editor.is.${name}`),
          value: variable[name].join(", "),
          focus: name,
          commit: (text) => set(name)(listed(text)),
        }),
      ),
    ),
  );
}
