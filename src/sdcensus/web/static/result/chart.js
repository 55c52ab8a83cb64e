// @ts-check
// The chart of a table, with what can be chosen about it and its figures as a table.

import { el, fill } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { choice } from "./bar.js";
import { dataCell, meaningOf } from "./cells.js";
import { chartOf } from "./chart-data.js";
import { specOf } from "./chart-spec.js";
import { levelsOf, nameOf } from "./dataset.js";
import { draw, hatch, theme } from "./vega.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./layout.js").View} View
 * @typedef {import("./chart-data.js").Chart} Chart
 */

/**
 * @param {{model: Model, view: View, language: string}} shown
 * @param {import("./chart-data.js").Choice} chosen kept between drawings
 * @returns {HTMLElement}
 */
export function chartView(shown, chosen) {
  const box = el("div", { class: "r-chart" });
  const show = () => {
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.focus;
    const chart = chartOf(shown.model, shown.view, chosen);
    if (chart === null) {
      fill(box, el("p", { class: "r-empty" }, t("result.chart.nothing")));
      return;
    }
    const empty = emptyWords(chart);
    const place = empty
      ? el("div", { class: "r-drawing" }, el("p", { class: "r-empty" }, empty))
      : el(
          "div",
          { class: "r-drawing", role: "img", "aria-label": describe(shown, chart) },
          el("p", { class: "r-empty" }, t("result.chart.loading")),
        );
    const change = (/** @type {any} */ part) => {
      Object.assign(chosen, part);
      show();
    };
    const choices = controls(shown, chart, chosen, change);
    fill(box, choices, messages(chart), place, legend(shown, chart), figures(shown, chart));
    focusAgain(box, focused);
    // The width is known once the box is in the page.
    if (!empty) requestAnimationFrame(() => drawChart(place, shown, chart));
  };
  show();
  whenThemeChanges(box, show);
  return box;
}

/** Why there is nothing to draw, or nothing. @param {Chart} chart */
function emptyWords(chart) {
  if (chart.points.some((one) => one.shown.value !== null && one.shown.value !== 0)) return "";
  const zeros = chart.points.some((one) => one.shown.value === 0);
  return t(zeros ? "result.chart.zeros" : "result.chart.gone");
}

/**
 * Give the focus back to the control that had it before it was made anew.
 * @param {HTMLElement} box
 * @param {string | undefined} key
 */
export function focusAgain(box, key) {
  if (!key || box.contains(document.activeElement)) return;
  const found = box.querySelector(`[data-focus="${CSS.escape(key)}"]`);
  if (found instanceof HTMLElement) found.focus();
}

/**
 * @param {HTMLElement} box
 * @param {() => void} again
 */
export function whenThemeChanges(box, again) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const changed = () => {
    if (box.isConnected) again();
    else dark.removeEventListener("change", changed);
  };
  dark.addEventListener("change", changed);
}

/** @param {HTMLElement} place @param {any} shown @param {Chart} chart */
async function drawChart(place, shown, chart) {
  const spec = specOf(chart, {
    model: shown.model,
    language: shown.language,
    label: shown.view.label,
    theme: theme(),
    width: place.clientWidth,
    axisTitle: chart.measure === "count" ? shown.model.unit : measureName(chart, chart.measure),
  });
  try {
    await draw(place, spec);
    place.prepend(hatch(theme()));
  } catch {
    fill(place, el("p", { class: "r-empty" }, t("result.chart.failed")));
  }
}

/** @param {Chart} chart @param {string} measure */
function measureName(chart, measure) {
  if (measure === "count") return t("result.chart.count");
  if (!chart.series) return t("result.chart.share_all");
  const of = measure === "category" ? chart.category : chart.series;
  return t("result.chart.share", { dimension: of.label });
}

/**
 * @param {{model: Model, view: View}} shown
 * @param {Chart} chart
 * @param {any} chosen
 * @param {(part: any) => void} change
 */
function controls({ model, view }, chart, chosen, change) {
  const kinds = chart.kinds.map((kind) => ({ value: kind, label: t(`result.chart.kind_${kind}`) }));
  const dimensions = model.dimensions
    .filter((one) => one.ids.length > 1)
    .map((one) => ({ value: one.id, label: one.label }));
  const others = dimensions.filter((one) => one.value !== chart.category.id);
  const none = { value: "", label: t("result.chart.no_series") };
  const measures = chart.measures.map((one) => ({ value: one, label: measureName(chart, one) }));
  return el(
    "div",
    { class: "r-controls" },
    kinds.length > 1 &&
      choice("chart-kind", t("result.chart.kind"), kinds, chart.kind, (kind) => change({ kind })),
    dimensions.length > 1 &&
      choice("chart-category", t("result.chart.category"), dimensions, chart.category.id, (category) => {
        // What stood along the chart becomes the series, if that was taken.
        const series = category === chart.series?.id ? chart.category.id : chosen.series;
        change({ category, series, kind: undefined });
      }),
    others.length > 0 &&
      choice(
        "chart-series",
        t("result.chart.series"),
        [none, ...others],
        chart.series?.id ?? "",
        (series) => change({ series, kind: undefined }),
      ),
    measures.length > 1 &&
      choice("chart-measure", t("result.chart.measure"), measures, chart.measure, (measure) =>
        change({ measure }),
      ),
    [chart.category, chart.series].map(
      (one) =>
        one &&
        levelChoice(one, chart.level[one.id], "chart", (level) =>
          change({ level: { ...chart.level, [one.id]: level } }),
        ),
    ),
    fixedChoices(model, view, chart.fixed, "chart", (fixed) => change({ fixed })),
  );
}

/**
 * The level of a dimension that has several.
 * @param {import("./dataset.js").Dimension} dimension
 * @param {string} chosen
 * @param {string} key
 * @param {(level: string) => void} onChoice
 */
export function levelChoice(dimension, chosen, key, onChoice) {
  const levels = levelsOf(dimension);
  if (levels.length < 2) return null;
  const options = levels.map((one) => ({ value: one, label: one.replace(/_/g, " ") }));
  const label = t("result.chart.level", { dimension: dimension.label });
  return choice(`${key}-level-${dimension.id}`, label, options, chosen, onChoice);
}

/**
 * The places of dimensions that are not drawn.
 * @param {Model} model
 * @param {View} view
 * @param {Record<string, number>} fixed
 * @param {string} key
 * @param {(fixed: Record<string, number>) => void} onChoice
 */
export function fixedChoices(model, view, fixed, key, onChoice) {
  return Object.entries(fixed).map(([id, place]) => {
    const dimension = model.dimensions.find((one) => one.id === id);
    if (!dimension || dimension.ids.length < 2) return null;
    const options = dimension.order.map((one) => ({
      value: String(one),
      label: `${"\u2003".repeat(dimension.depth[one])}${nameOf(dimension, one, view.label)}`,
    }));
    return choice(`${key}-fixed-${id}`, dimension.label, options, String(place), (value) =>
      onChoice({ ...fixed, [id]: Number(value) }),
    );
  });
}

/** @param {Chart} chart */
function messages(chart) {
  const low = chart.points.some((one) => one.shown.low);
  const drawn = chart.categories.length;
  const unordered = chart.unordered.map((one) => chart.category.labels[one]);
  const texts = [
    chart.left > 0 && t("result.chart.top", { shown: drawn, all: drawn + chart.left }),
    chart.leftSeries > 0 && plural("result.chart.top_series", chart.leftSeries),
    chart.unordered.length > 0 &&
      t("result.chart.unordered", { names: unordered.join(", ") }),
    low && chart.kind !== "line" && t("result.chart.low"),
    chart.measure !== "count" && t("result.show.computed"),
  ].filter(Boolean);
  return texts.length > 0 && el("p", { class: "r-message" }, texts.join(" "));
}

/** What hatching means: why there is no figure, and at how many places. @param {any} shown @param {Chart} chart */
function legend({ model }, chart) {
  /** @type {Map<string, number>} */
  const meanings = new Map();
  for (const { shown } of chart.points) {
    if (shown.value !== null) continue;
    const words = meaningOf(shown, model.legend);
    meanings.set(words, (meanings.get(words) ?? 0) + 1);
  }
  if (meanings.size === 0) return null;
  const lines = [...meanings].map(([meaning, n]) =>
    el("li", {}, el("i", { class: "r-swatch r-hatched" }), plural("result.chart.hatched", n, { meaning })),
  );
  return el("ul", { class: "r-classes", "aria-label": t("result.map.legend") }, lines);
}

/** @param {{model: Model}} shown @param {Chart} chart */
function describe({ model }, chart) {
  const gone = chart.points.filter((one) => one.shown.value === null).length;
  const words = describeDrawn(model, chart);
  return gone > 0 ? `${words} ${plural("result.chart.withheld", gone)}` : words;
}

/** @param {Model} model @param {Chart} chart */
function describeDrawn(model, chart) {
  return t("result.chart.description", {
    kind: t(`result.chart.kind_${chart.kind}`),
    title: model.title,
    measure: [measureName(chart, chart.measure), ...fixedWords(model, chart)].join(". "),
    n: chart.points.filter((one) => one.shown.value !== null).length,
  });
}

/** What the whole chart is about, besides its title. @param {Model} model @param {Chart} chart */
function fixedWords(model, chart) {
  return model.dimensions
    .filter((one) => one.id in chart.fixed)
    .map((one) => t("result.chart.fixed", { dimension: one.label, category: one.labels[chart.fixed[one.id]] }));
}

/** The figures that are drawn, as a table. @param {any} shown @param {Chart} chart */
function figures(shown, chart) {
  const { model, view, language } = shown;
  const share = chart.measure !== "count";
  const style = { language, decimals: model.decimals, share, legend: model.legend };
  const heads = chart.series
    ? chart.seriesPlaces.map((place) => nameOf(/** @type {any} */ (chart.series), place, view.label))
    : [share ? measureName(chart, chart.measure) : model.unit];
  const across = chart.seriesPlaces.length;
  const table = el(
    "table",
    { class: "r-grid" },
    el("caption", { class: "visually-hidden" }, describe(shown, chart)),
    el(
      "thead",
      {},
      el("tr", {}, el("th", { scope: "col", class: "r-corner" }, chart.category.label),
        heads.map((one) => el("th", { scope: "col" }, one))),
    ),
    el(
      "tbody",
      {},
      chart.categories.map((place, at) =>
        el("tr", {}, el("th", { scope: "row" }, nameOf(chart.category, place, view.label)),
          chart.points
            .slice(at * across, (at + 1) * across)
            .map((one) => dataCell(one.shown, style))),
      ),
    ),
  );
  return el(
    "details",
    { class: "r-figures", dataset: { keep: "figures" } },
    el("summary", {}, t("result.chart.figures")),
    el(
      "div",
      { class: "r-scroll", tabindex: 0, role: "region", "aria-label": t("result.chart.figures") },
      table,
    ),
  );
}

