// @ts-check
// What stands around every map: choices, messages, the legend, a description in words.

import { el } from "../shared/dom.js";
import { percentText } from "../shared/numbers.js";
import { plural, t } from "../shared/texts.js";
import { choice } from "./bar.js";
import { cellText } from "./cells.js";
import { fixedChoices, levelChoice } from "./chart.js";
import { NOT_BROKEN_DOWN } from "./dataset.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./layout.js").View} View
 * @typedef {import("./map-data.js").Drawn} Drawn
 */

/**
 * How a figure of a map is read.
 * @param {{language: string, decimals: number, share: boolean, legend: Map<string, string>}} style
 * @returns {(shown: import("./layout.js").Shown) => string}
 */
export function figureText(style) {
  return (shown) => {
    const figure = cellText(shown, style);
    return style.share && shown.value !== null ? percentText(figure) : figure;
  };
}

/**
 * @param {{model: Model, view: View}} shown
 * @param {Drawn} data
 * @param {any} chosen
 * @param {(part: any) => void} change
 */
export function controls({ model, view }, data, chosen, change) {
  const areas = model.dimensions.filter((one) => one.geo).map((one) => {
    return { value: one.id, label: one.label };
  });
  const measures = [
    { value: "share", label: t("result.map.share") },
    { value: "count", label: t("result.map.count") },
  ];
  const methods = ["quantile", "equal"].map((value) => ({ value, label: t(`result.map.${value}`) }));
  const counts = [3, 4, 5, 6].map((n) => {
    return { value: String(n), label: plural("result.map.classes", n) };
  });
  return el(
    "div",
    { class: "r-controls" },
    areas.length > 1 &&
      choice("map-area", t("result.map.areas"), areas, data.dimension.id, (area) =>
        change({ area, level: undefined, fixed: undefined }),
      ),
    fixedChoices(model, view, data.fixed, "map", (fixed) => change({ fixed })),
    data.shares &&
      choice("map-measure", t("result.map.measure"), measures, data.measure, (measure) =>
        change({ measure }),
      ),
    levelChoice(data.dimension, data.level, "map", (level) => change({ level })),
    choice("map-method", t("result.map.method"), methods, data.method, (method) =>
      change({ method }),
    ),
    choice("map-classes", t("result.map.number"), counts, String(chosen.classes ?? 5), (classes) =>
      change({ classes: Number(classes) })),
  );
}

/** @param {Drawn} data */
export function messages(data) {
  const gone = data.small + data.gone;
  const texts = [
    data.measure === "share" && t("result.show.computed"),
    data.measure === "count" && data.adds && t(`result.map.${data.sums ? "sums" : "counts"}_mislead`),
    gone > 0 && plural("result.map.withheld", gone),
    data.several > 0 && plural("result.map.in_two", data.several),
  ].filter(Boolean);
  return texts.length > 0 && el("p", { class: "r-message" }, texts.join(" "));
}

/** @param {Drawn} data @param {string[]} palette @param {any} how */
export function legend(data, palette, how) {
  const number = (/** @type {number} */ value) =>
    cellText({ value, sign: "", parts: 1, low: false, undefined: false }, how);
  const lines = data.classes.map((one, at) => {
    const [from, to] = [number(one.from), number(one.to)];
    const range = from === to ? from : `${from} – ${to}`;
    const numbers = how.share ? percentText(range) : range;
    const words = one.count > 0 ? numbers : `${numbers} (${t("result.map.no_area")})`;
    const style = { "background-color": palette[at] };
    return el("li", {}, el("i", { class: "r-swatch", style }), words);
  });
  const words = [
    data.small > 0 && `${NOT_BROKEN_DOWN} = ${how.legend.get(NOT_BROKEN_DOWN)}`,
    data.gone > 0 && t("result.map.gone"),
  ].filter(Boolean);
  for (const one of words) {
    lines.push(el("li", {}, el("i", { class: "r-swatch r-hatched" }), one));
  }
  return el("ul", { class: "r-classes", "aria-label": t("result.map.legend") }, lines);
}

/**
 * What a map shows, in words.
 * @param {Model} model
 * @param {Drawn} data
 * @param {number} areas how many are drawn
 */
export function describe(model, data, areas) {
  const { id } = data.dimension;
  const about = model.dimensions
    .filter((one) => one.id !== id && one.id in data.fixed)
    .map((one) => t("result.chart.fixed", { dimension: one.label, category: one.labels[data.fixed[one.id]] }));
  const title = [model.title, ...about].join(". ");
  return t("result.map.description", { title, n: areas });
}
