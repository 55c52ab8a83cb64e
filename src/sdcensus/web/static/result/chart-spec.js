// @ts-check
// A chart as a specification of Vega-Lite.

import { percentText } from "../shared/numbers.js";
import { cellText, meaningOf } from "./cells.js";
import { nameOf } from "./dataset.js";
import { HATCHED } from "./vega.js";

/**
 * @typedef {import("./chart-data.js").Chart} Chart
 * @typedef {import("./dataset.js").Model} Model
 */

/**
 * @param {Chart} chart
 * @param {{model: Model, language: string, label: string, theme: any, width: number,
 *   axisTitle: string}} of
 */
export function specOf(chart, of) {
  const { theme } = of;
  const narrow = of.width < 520;
  const rows = rowsOf(chart, of);
  const gone = rows.filter((one) => one.value === null);
  // Lines have a gap where there is no number.
  const data = chart.kind === "line" ? rows : rows.filter((one) => one.value !== null);
  const share = chart.measure !== "count";
  const format = share ? ".0%" : ",.0f";
  const names = chart.categories.map((place) => nameOf(chart.category, place, of.label));
  const series = chart.series
    ? chart.seriesPlaces.map((place) => nameOf(/** @type {any} */ (chart.series), place, of.label))
    : [];
  const value = {
    field: "value",
    type: "quantitative",
    title: of.axisTitle,
    axis: { format, tickCount: narrow ? 4 : 6, grid: true, domain: false, ticks: false },
  };
  // The whole axis, also where nothing is published: what is left out would not be missed.
  const domain = chart.kind === "pyramid" ? [...names].reverse() : names;
  const category = {
    field: "category",
    type: "ordinal",
    sort: null,
    title: null,
    scale: { domain },
    axis: { labelLimit: narrow ? 120 : 240, ticks: false, labelColor: theme.ink },
  };
  const legend = { title: chart.series?.label, columns: Math.max(2, Math.floor(of.width / 150)) };
  const scale = { domain: series, range: theme.series };
  const colour =
    series.length > 0
      ? { field: "series", type: "nominal", sort: series, scale, legend }
      : { value: theme.series[0] };
  const shared = {
    config: theme.config,
    width: "container",
    autosize: { type: "fit-x", contains: "padding" },
  };
  const tooltip = { field: "text", type: "nominal" };
  const opacity = { condition: { test: "datum.low", value: 0.45 }, value: 1 };
  if (chart.kind === "line") {
    const points = names.length <= 30;
    const axis = {
      labelAngle: narrow || names.length > 14 ? -90 : 0,
      labelOverlap: true,
      labelLimit: 120,
    };
    const x = { ...category, scale: { domain, type: "band" }, axis, title: chart.category.label };
    const mark = { type: "line", strokeWidth: 2, point: points ? { size: 28 } : false, tooltip: true };
    const drawn = { data: { values: data }, mark, encoding: { x, y: value, color: colour, tooltip } };
    const whole = { y: { value: 0 }, y2: { value: "height" } };
    const withheld = hatchedAt(gone, "vertical", { x, ...whole, tooltip });
    return { ...shared, height: narrow ? 260 : 380, layer: [...withheld, drawn] };
  }
  if (chart.kind === "pyramid") {
    const most = data.reduce((largest, one) => Math.max(largest, one.value ?? 0), 0);
    return pyramid(shared, { data, gone, category, value, colour, tooltip, opacity, format, most });
  }
  const bar = { type: "bar", tooltip: true };
  const steps = chart.kind === "bar" && series.length > 1 ? series.length : 1;
  const order =
    chart.kind === "stacked" ? { order: { field: "at", type: "quantitative" } } : {};
  const along = {
    y: { ...category, scale: { domain, paddingInner: steps > 1 ? 0.3 : 0.25 } },
    ...(steps > 1 ? { yOffset: { field: "series", sort: null, scale: { domain: series } } } : {}),
  };
  const encoding = { ...along, x: value, color: colour, opacity, tooltip, ...order };
  return {
    ...shared,
    height: names.length * (steps > 1 ? steps * 11 + 7 : names.length > 25 ? 18 : 24),
    layer: [
      ...hatchedAt(gone, "horizontal", { ...along, x: { value: 0 }, x2: { value: "width" }, tooltip }),
      { data: { values: data }, mark: bar, encoding },
    ],
  };
}

/**
 * The places of figures that are not published, hatched from end to end: no length could be read.
 * @param {any[]} gone
 * @param {string} orient
 * @param {any} encoding
 */
function hatchedAt(gone, orient, encoding) {
  if (gone.length === 0) return [];
  const mark = { type: "bar", orient, color: HATCHED, stroke: null, tooltip: true };
  return [{ data: { values: gone }, mark, encoding }];
}

/** Two series back to back, the lowest numbers at the foot. @param {any} shared @param {any} of */
function pyramid(shared, { data, gone, category, value, colour, tooltip, opacity, format, most }) {
  // One scale for both sides: the same number is as long on the left as on the right.
  const scale = { domain: [-most, most], nice: true };
  const labelExpr = `format(abs(datum.value), '${format}')`;
  const { domain } = category.scale;
  const y = {
    ...category,
    scale: { domain, paddingInner: 0.12 },
    axis: { ...category.axis, labelOverlap: true },
  };
  const x = { ...value, field: "signed", stack: null, scale, axis: { ...value.axis, labelExpr } };
  const [start, middle, end] = [{ value: 0 }, { value: { expr: "width / 2" } }, { value: "width" }];
  const sides = [[start, middle], [middle, end]].flatMap(([from, to], at) =>
    hatchedAt(
      gone.filter((/** @type {any} */ one) => one.at === at),
      "horizontal",
      { y, x: from, x2: to, tooltip },
    ),
  );
  return {
    ...shared,
    height: domain.length * (domain.length > 40 ? 8 : 20),
    layer: [
      ...sides,
      {
        data: { values: data },
        mark: { type: "bar", tooltip: true },
        encoding: { y, x, color: colour, opacity, tooltip },
      },
    ],
  };
}

/**
 * @param {Chart} chart
 * @param {{model: Model, language: string, label: string}} of
 */
function rowsOf(chart, of) {
  const share = chart.measure !== "count";
  const style = { language: of.language, decimals: of.model.decimals, share };
  const made = [];
  for (const point of chart.points) {
    const category = nameOf(chart.category, point.category, of.label);
    const series = chart.series ? nameOf(chart.series, point.series, of.label) : "";
    const at = chart.seriesPlaces.indexOf(point.series);
    const figure = cellText(point.shown, style);
    const published = share ? percentText(figure) : figure;
    const text = point.shown.value === null ? meaningOf(point.shown, of.model.legend) : published;
    made.push({
      category,
      series,
      at,
      value: point.shown.value,
      signed: at === 0 ? -Number(point.shown.value) : point.shown.value,
      low: point.shown.low,
      text: [category, series, text].filter(Boolean).join(" · "),
    });
  }
  return made;
}
