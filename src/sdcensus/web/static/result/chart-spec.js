// @ts-check
// A chart as a specification of Vega-Lite.

import { percentText } from "../shared/numbers.js";
import { cellText } from "./cells.js";
import { nameOf } from "./dataset.js";

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
  const data = rowsOf(chart, of);
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
  const category = {
    field: "category",
    type: "ordinal",
    sort: names,
    title: null,
    axis: { labelLimit: narrow ? 120 : 240, ticks: false, labelColor: theme.ink },
  };
  const legend = { title: chart.series?.label, columns: Math.max(2, Math.floor(of.width / 150)) };
  const scale = { domain: series, range: theme.series };
  const colour =
    series.length > 0
      ? { field: "series", type: "nominal", sort: series, scale, legend }
      : { value: theme.series[0] };
  const shared = {
    data: { values: data },
    config: theme.config,
    width: "container",
    autosize: { type: "fit-x", contains: "padding" },
  };
  const tooltip = { field: "text", type: "nominal" };
  const opacity = { condition: { test: "datum.low", value: 0.45 }, value: 1 };
  if (chart.kind === "line") {
    const points = names.length <= 30;
    return {
      ...shared,
      height: narrow ? 260 : 380,
      mark: { type: "line", strokeWidth: 2, point: points ? { size: 28 } : false, tooltip: true },
      encoding: {
        x: {
          ...category,
          axis: {
            labelAngle: narrow || names.length > 14 ? -90 : 0,
            labelOverlap: true,
            labelLimit: 120,
          },
          title: chart.category.label,
        },
        y: value,
        color: colour,
        tooltip,
      },
    };
  }
  if (chart.kind === "pyramid") {
    const most = data.reduce((largest, one) => Math.max(largest, one.value ?? 0), 0);
    return pyramid(shared, { category, value, colour, tooltip, opacity, format, most });
  }
  const bar = { type: "bar", tooltip: true };
  const steps = chart.kind === "bar" && series.length > 1 ? series.length : 1;
  const order =
    chart.kind === "stacked" ? { order: { field: "at", type: "quantitative" } } : {};
  return {
    ...shared,
    height: names.length * (steps > 1 ? steps * 11 + 7 : names.length > 25 ? 18 : 24),
    mark: bar,
    encoding: {
      y: { ...category, scale: { paddingInner: steps > 1 ? 0.3 : 0.25 } },
      x: value,
      color: colour,
      opacity,
      tooltip,
      ...order,
      ...(steps > 1 ? { yOffset: { field: "series", sort: series } } : {}),
    },
  };
}

/** Two series back to back, the lowest numbers at the foot. @param {any} shared @param {any} of */
function pyramid(shared, { category, value, colour, tooltip, opacity, format, most }) {
  // One scale for both sides: the same number is as long on the left as on the right.
  const scale = { domain: [-most, most], nice: true };
  const labelExpr = `format(abs(datum.value), '${format}')`;
  return {
    ...shared,
    height: category.sort.length * (category.sort.length > 40 ? 8 : 20),
    mark: { type: "bar", tooltip: true },
    encoding: {
      y: {
        ...category,
        sort: [...category.sort].reverse(),
        scale: { paddingInner: 0.12 },
        axis: { ...category.axis, labelOverlap: true },
      },
      x: { ...value, field: "signed", stack: null, scale, axis: { ...value.axis, labelExpr } },
      color: colour,
      opacity,
      tooltip,
    },
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
    // Lines have a gap where there is no number; nothing is drawn there otherwise.
    if (point.shown.value === null && chart.kind !== "line") continue;
    const category = nameOf(chart.category, point.category, of.label);
    const series = chart.series ? nameOf(chart.series, point.series, of.label) : "";
    const at = chart.seriesPlaces.indexOf(point.series);
    const figure = cellText(point.shown, style);
    const text = share ? percentText(figure) : figure;
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
