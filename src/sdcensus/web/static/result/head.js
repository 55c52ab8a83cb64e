// @ts-check
// Above the table: its title, what is counted, which areas are there, and what would help.

import { el } from "../shared/dom.js";
import { formatPercent } from "../shared/numbers.js";
import { plural, t } from "../shared/texts.js";
import { NOT_AVAILABLE } from "./dataset.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {(question: object) => void} OnQuestion
 */

/** @param {Model} model */
export function titleOf(model) {
  // The title of sums begins with what they are sums of.
  const unit = model.sums ? "" : model.unit;
  return el(
    "header",
    { class: "r-title" },
    el("h2", { tabindex: -1, dataset: { focus: "title" } }, model.title),
    el(
      "p",
      { class: "r-sub" },
      unit && [unit, " · "],
      t("result.head.protected"),
      " ",
      el("a", { href: "#result-notes" }, t("result.head.how")),
    ),
  );
}

/**
 * Which areas are available, how much is withheld, and what would help.
 * @param {Model} model
 * @param {string} language
 * @param {OnQuestion} onQuestion
 */
export function statusOf(model, language, onQuestion) {
  const { areas, reasons = [], remedies = [] } = model.more;
  const gone = areas ? areas.all - areas.available : 0;
  if (gone === 0 && reasons.length === 0) {
    const all = areas && areas.all > 0 ? plural("result.status.all", areas.all) : "";
    const share = withheldShare(model, language);
    const words = [all, share].filter(Boolean).join(" ");
    return el("p", { class: share ? "r-status r-partly" : "r-status", role: "status" }, words);
  }
  const help = reasons.length + remedies.length > 0;
  return el(
    "div",
    { class: "r-withheld" },
    el(
      "p",
      { role: "status" },
      areas && el("strong", {}, t("result.status.some", areas)),
      gone > 0 && [" ", plural("result.status.withheld", gone)],
      " ",
      withheldShare(model, language),
    ),
    help &&
      el(
        "details",
        { dataset: { keep: "help" } },
        el("summary", { dataset: { focus: "help" } }, t("result.status.help")),
        helpOf(reasons, remedies, onQuestion),
        withheldOf(model),
      ),
  );
}

/**
 * How many cells have no figure because it is withheld, in words; nothing where none is.
 * @param {Model} model
 * @param {string} language
 */
function withheldShare(model, language) {
  let n = 0;
  for (let cell = 0; cell < model.size; cell += 1) {
    if (model.value(cell) === null && model.sign(cell) !== NOT_AVAILABLE) n += 1;
  }
  if (n === 0) return "";
  const share = n / model.size;
  // Some are not none, and most are not all.
  const decimals = share < 0.01 || (share > 0.99 && share < 1) ? 1 : 0;
  const figure = formatPercent(Math.min(Math.max(share, 0.001), n < model.size ? 0.999 : 1), language, decimals);
  return t("result.status.cells", { share: figure, n, all: model.size });
}

/**
 * @param {any[]} reasons
 * @param {any[]} remedies
 * @param {OnQuestion} onQuestion
 */
export function helpOf(reasons, remedies, onQuestion) {
  return el(
    "div",
    { class: "r-help" },
    reasons.length > 0 && el("ul", { class: "r-reasons" }, reasons.map((one) => el("li", {}, one.text))),
    remedies.length > 0 && el("p", { class: "r-lead" }, t("result.status.remedies")),
    remedies.length > 0 &&
      el(
        "ul",
        { class: "r-remedies" },
        remedies.map((one) =>
          el(
            "li",
            {},
            el(
              "button",
              { type: "button", class: "button", onclick: () => onQuestion(one.question) },
              one.text,
            ),
          ),
        ),
      ),
  );
}

/** @param {Model} model */
function withheldOf(model) {
  const gone = model.dimensions.flatMap((dimension) =>
    [...dimension.withheld].map((place) => dimension.labels[place]),
  );
  if (gone.length === 0) return null;
  const most = 30;
  const more = gone.length - most;
  return el(
    "p",
    { class: "r-gone" },
    t("result.status.which"),
    " ",
    gone.slice(0, most).join(", "),
    more > 0 && ` ${plural("result.status.more", more)}`,
  );
}
