// @ts-check
// Below the table: why figures do not add up, what signs mean, and all notes.

import { el } from "../shared/dom.js";
import { formatNumber } from "../shared/numbers.js";
import { known, plural, t } from "../shared/texts.js";
import { dayText } from "../shared/times.js";
import { LOW } from "./dataset.js";

/** @typedef {import("./dataset.js").Model} Model */

/**
 * @param {Model} model
 * @param {string} language
 */
export function notesOf(model, language) {
  return el(
    "div",
    { class: "r-notes", id: "result-notes" },
    el(
      "section",
      { class: "card", "aria-labelledby": "result-notes-title" },
      aboutAdding(model),
      exampleOf(model, language),
      sumsOf(model, language),
    ),
    el(
      "section",
      { class: "card r-small", "aria-labelledby": "result-all-notes-title" },
      el("h3", { id: "result-all-notes-title" }, t("result.notes.all")),
      legendOf(model),
      el("ul", { class: "r-all-notes" }, otherNotes(model).map((one) => el("li", {}, one))),
      sourceOf(model, language),
    ),
  );
}

/** Why figures do not add up; of means and medians, how they are computed. @param {Model} model */
function aboutAdding(model) {
  const keys = model.adds
    ? ["title", "why", "do_not_add"]
    : ["computed_title", "computed", "computed_do_not_add"];
  const [title, why, never] = keys.map((key) => t(`result.notes.${key}`));
  return [
    el("h3", { id: "result-notes-title" }, title),
    el("p", {}, why, " ", el("strong", {}, never)),
  ];
}

/** The signs that stand in the place of figures, with what they mean. @param {Model} model */
export function signsOf(model) {
  return [...model.legend].filter(([sign, meaning]) => sign !== LOW && meaning);
}

/** The notes without those that say what a sign means, as the legend does. @param {Model} model */
function otherNotes(model) {
  const meanings = new Set(signsOf(model).map(([sign, meaning]) => `${sign} = ${meaning}.`));
  return model.notes.filter((one) => !meanings.has(one));
}

/** What is said of figures that are sums. @param {Model} model @param {string} language */
function sumsOf(model, language) {
  return [
    model.mostParts > 1 && el("p", {}, plural("result.notes.sums", model.mostParts, times(model, language))),
    Object.keys(model.more.own_groups ?? {}).length > 0 && el("p", {}, t("result.notes.own")),
  ];
}

/** How much larger the error of the largest sum is. @param {Model} model @param {string} language */
function times(model, language) {
  return { times: formatNumber(Math.sqrt(model.mostParts), language, 1) };
}

/** @param {Model} model @param {string} language */
function exampleOf(model, language) {
  const example = model.more.example;
  if (!example || !Array.isArray(example.parts) || example.parts.length === 0) return null;
  const number = (/** @type {number} */ n) => formatNumber(n, language, model.decimals);
  const parts = example.parts.map((/** @type {any} */ one) => `${one.label} (${number(one.value)})`);
  const list = new Intl.ListFormat(language, { type: "conjunction" }).format(parts);
  const values = {
    place: (example.place ?? []).map((/** @type {any} */ one) => one.label ?? one).join(", "),
    parts: list,
    sum: number(example.sum),
    total: number(example.total),
  };
  const kind = example.sum === example.total ? "same" : "example";
  const form = values.place ? kind : `${kind}_everywhere`;
  return el(
    "p",
    { class: "r-example" },
    t(`result.notes.${form}`, values),
    kind === "example" && [" ", el("strong", {}, t("result.notes.use_total"))],
  );
}

/** @param {Model} model */
function legendOf(model) {
  const lines = [...model.legend].map(([sign, meaning]) => [
    sign,
    sign === LOW ? t("result.legend.low") : meaning || t("result.cell.withheld"),
  ]);
  if (lines.length === 0) return null;
  return [
    el("h4", { class: "visually-hidden" }, t("result.legend.title")),
    el(
      "dl",
      { class: "r-legend" },
      lines.map(([sign, meaning]) => el("div", {}, el("dt", {}, sign), el("dd", {}, meaning))),
    ),
  ];
}

/** @param {Model} model @param {string} language */
function sourceOf(model, language) {
  const versions = Object.entries(model.more.versions ?? {})
    .filter(([name, one]) => one !== null && known(`result.version.${name}`))
    .map(([name, one]) => `${t(`result.version.${name}`)} ${one}`);
  const { country, census, reference_date: date } = model.census;
  const about = [census, country, date && t("result.notes.reference_date", { date: dayText(date, language) })];
  const facts = about.filter(Boolean).join(" · ");
  if (!model.source && !facts && versions.length === 0) return null;
  return el(
    "p",
    { class: "r-soft" },
    model.source && [t("result.notes.source", { source: model.source }), el("br")],
    facts && [facts, el("br")],
    versions.length > 0 && [
      t("result.notes.version"),
      " ",
      versions.join(" · "),
    ],
  );
}
