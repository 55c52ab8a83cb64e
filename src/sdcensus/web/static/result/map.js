// @ts-check
// The map of a table: areas coloured by class, a legend, and the same as a list for the keyboard.

import { el, fill } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { focusAgain, whenThemeChanges } from "./chart.js";
import { gridView } from "./grid-map.js";
import { areaList } from "./map-list.js";
import { mapBase, mapOf } from "./map-data.js";
import { controls, describe, figureText, legend, messages } from "./map-parts.js";
import { shapesOf } from "./map-shapes.js";
import { isGrid } from "./squares.js";
import { draw, hatch, HATCHED, theme } from "./vega.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./layout.js").View} View
 * @typedef {import("./map-data.js").MapData} MapData
 */

/**
 * @param {{model: Model, view: View, language: string}} shown
 * @param {import("./map-data.js").Choice} chosen kept between drawings
 */
export function mapView(shown, chosen) {
  const box = el("div", { class: "r-map" });
  const areas = shown.model.dimensions.filter((one) => one.geo).map((one) => one.id);
  let asked = chosen.area !== undefined;
  const show = () => {
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.focus;
    const base = mapBase(shown.model, shown.view, chosen);
    if (base === null) {
      fill(box, el("p", { class: "r-empty" }, t("result.map.nothing")));
      return;
    }
    const change = (/** @type {any} */ part) => {
      asked = asked || part.area !== undefined;
      Object.assign(chosen, part);
      show();
    };
    const share = base.measure === "share";
    const { decimals, legend: meanings } = shown.model;
    const style = { language: shown.language, decimals, share, legend: meanings };
    // The code of a square tells where it lies: nothing is fetched, and there may be many.
    if (isGrid(base)) {
      gridView(box, shown, base, { chosen, change, style, focused });
      return;
    }
    const data = mapOf(shown.model, base, chosen);
    const figure = figureText(style);
    const text = (/** @type {any} */ one) => figure(one.shown);
    const colours = theme();
    const palette = colours.classes(data.classes.length);
    const place = el(
      "div",
      { class: "r-drawing", role: "img", "aria-label": describe(shown.model, data, data.areas.length) },
      el("p", { class: "r-empty" }, t("result.map.loading")),
    );
    /** @type {{view: any}} */
    const drawn = { view: null };
    const point = (/** @type {number} */ at) => drawn.view?.signal("pointed", at).runAsync();
    // Of several geographies the first that has a map, unless somebody asks for another.
    const other = () => {
      const next = areas[areas.indexOf(data.dimension.id) + 1];
      if (asked || next === undefined) return false;
      chosen.area = next;
      show();
      return true;
    };
    fill(
      box,
      controls(shown, data, chosen, change),
      messages(data),
      el(
        "div",
        { class: "r-map-parts" },
        el("div", {}, place, legend(data, palette, style)),
        areaList(data.areas, palette, text, point),
      ),
    );
    focusAgain(box, focused);
    requestAnimationFrame(() => drawMap(place, shown, data, { colours, palette, text, drawn, other }));
  };
  show();
  whenThemeChanges(box, show);
  return box;
}

/** @param {HTMLElement} place @param {any} shown @param {MapData} data @param {any} of */
async function drawMap(place, shown, data, { colours, palette, text, drawn, other }) {
  let found;
  try {
    found = await shapesOf(shown.model, data);
  } catch (problem) {
    const missing = /** @type {any} */ (problem).status === 404;
    if (missing && other()) return;
    const words = t(missing ? "result.map.no_shapes" : "result.map.failed");
    fill(place, el("p", { class: "r-empty" }, words));
    return;
  }
  const byPlace = new Map(data.areas.map((one) => [one.place, one]));
  const features = [];
  for (const feature of found.features) {
    const at = data.placeOf.get(String(feature.properties?.code ?? feature.id));
    const area = at === undefined ? undefined : byPlace.get(at);
    features.push({
      type: "Feature",
      geometry: feature.geometry,
      place: area ? area.place : -1,
      fill: !area ? "transparent" : area.class < 0 ? HATCHED : palette[area.class],
      text: area ? `${area.name} · ${text(area)}` : "",
    });
  }
  // Areas that lie inside others are drawn later, and stay visible.
  const width = Math.max(240, place.clientWidth);
  const height = Math.round(Math.min(Math.max(width * found.aspect, 240), 560));
  try {
    drawn.view = await draw(place, specOf(features, colours, height));
    place.prepend(hatch(colours));
  } catch {
    fill(place, el("p", { class: "r-empty" }, t("result.chart.failed")));
  }
}

/** @param {any[]} features @param {any} colours @param {number} height */
function specOf(features, colours, height) {
  const pointed = "datum.place >= 0 && datum.place === pointed";
  return {
    data: { values: features },
    config: colours.config,
    width: "container",
    height,
    autosize: { type: "fit-x", contains: "padding" },
    projection: { type: "identity", reflectY: true },
    params: [{ name: "pointed", value: -1 }],
    mark: { type: "geoshape", tooltip: true, strokeJoin: "round" },
    encoding: {
      fill: { field: "fill", type: "nominal", scale: null },
      stroke: { condition: { test: pointed, value: colours.ink }, value: colours.paper },
      strokeWidth: { condition: { test: pointed, value: 2.5 }, value: 0.8 },
      tooltip: { field: "text", type: "nominal" },
    },
  };
}
