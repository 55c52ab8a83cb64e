// @ts-check
// Drawings by Vega-Lite. Its library is large and is fetched when the first drawing is asked for.
// Expressions are interpreted ("ast"), never compiled: the page forbids making code from text.

import { el, svg } from "../shared/dom.js";
import { numberSigns } from "../shared/numbers.js";

/** @type {Promise<any> | null} */
let library = null;

/** @returns {Promise<any>} the function that puts a drawing into an element */
function embed() {
  library ??= import(new URL("../vega.js", import.meta.url).href).then(
    () => /** @type {any} */ (window).vegaEmbed, // that is where the library puts itself
    (problem) => {
      library = null; // the next drawing tries again
      throw problem;
    },
  );
  return library;
}

/**
 * Draw into an element, which says in words what it shows. The tip follows the pointer and shows
 * texts only.
 * @param {HTMLElement} place
 * @param {any} spec
 * @returns {Promise<any>} the view of Vega
 */
export async function draw(place, spec) {
  const vegaEmbed = await embed();
  const box = el("div", { class: "r-drawing-box", "aria-hidden": true });
  const tip = el("div", { class: "r-tip", hidden: true });
  place.replaceChildren(box, tip);
  const made = await vegaEmbed(box, spec, {
    mode: "vega-lite",
    ast: true,
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    formatLocale: numberLocale(),
    tooltip: (/** @type {[any, MouseEvent, any, unknown]} */ ...[, event, , value]) =>
      showTip(place, tip, event, value),
  });
  return made.view;
}

/**
 * @param {HTMLElement} place
 * @param {HTMLElement} tip
 * @param {MouseEvent} event
 * @param {unknown} value
 */
function showTip(place, tip, event, value) {
  tip.hidden = value === null || value === undefined || value === "";
  if (tip.hidden) return;
  tip.textContent = String(value);
  const frame = place.getBoundingClientRect();
  const x = event.clientX - frame.left;
  const left = x + 14 + tip.offsetWidth > frame.width ? x - tip.offsetWidth - 10 : x + 14;
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${event.clientY - frame.top + 14}px`;
}

/** The fill of places without a figure, in a drawing beside which the pattern stands. */
export const HATCHED = "url(#result-hatch)";

/** The pattern of places without a figure. @param {any} colours */
export function hatch(colours) {
  return svg(
    "svg",
    { width: 0, height: 0, "aria-hidden": true, class: "r-offstage" },
    svg(
      "pattern",
      {
        id: "result-hatch",
        width: 7,
        height: 7,
        patternUnits: "userSpaceOnUse",
        patternTransform: "rotate(45)",
      },
      svg("rect", { width: 7, height: 7, fill: colours.line }),
      svg("rect", { width: 2, height: 7, fill: colours.soft, "fill-opacity": 0.55 }),
    ),
  );
}

/** How d3 writes numbers: as the page does. */
function numberLocale() {
  const signs = numberSigns();
  return {
    decimal: signs.decimals,
    thousands: signs.thousands,
    grouping: [3],
    currency: ["", ""],
    percent: signs.percent.replace("{n}", ""),
  };
}

/** Distinct for most readers who see colours otherwise, on light and on dark paper. */
const SERIES = {
  light: ["#0a6a72", "#c4652d", "#4f64b3", "#a7893a", "#93436b", "#6f8f3c", "#3f97c2", "#6b6f76"],
  dark: ["#5cc3c9", "#f0995f", "#95a5ee", "#d9c06a", "#dd86b2", "#a9c970", "#7cc4ea", "#a9b0b8"],
};

/** From little to much. */
const CLASSES = {
  light: ["#d9ecec", "#abd3d4", "#76b5b8", "#3f9297", "#0f6c73", "#05474d"],
  dark: ["#234a4f", "#27636a", "#317f86", "#469ba0", "#76c2c5", "#b9e7e8"],
};

/** Colours and type of the page, for drawings. */
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const kind = isDark(colour("--paper")) ? "dark" : "light";
  const soft = colour("--soft");
  const ink = colour("--ink");
  const line = colour("--line");
  const font = getComputedStyle(document.body).fontFamily;
  return {
    kind, ink, soft, line,
    paper: colour("--paper"),
    series: SERIES[kind],
    /** @param {number} count */
    classes: (count) => {
      const all = CLASSES[kind];
      const last = Math.max(1, count - 1);
      const step = (all.length - 1) / last;
      return Array.from({ length: count }, (_, at) => all[Math.round(at * step)]);
    },
    config: {
      background: "transparent",
      font,
      aria: false,
      view: { stroke: null },
      axis: {
        labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line,
        labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelPadding: 6,
      },
      legend: {
        labelColor: ink, titleColor: soft, labelFontSize: 12.5, titleFontSize: 12,
        titleFontWeight: "normal", orient: "top", direction: "horizontal", columns: 0,
        symbolType: "square", symbolSize: 110, labelLimit: 280, offset: 8,
      },
      range: { category: SERIES[kind] },
    },
  };
}

/** @param {string} colour */
function isDark(colour) {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour);
  if (!hex) return window.matchMedia("(prefers-color-scheme: dark)").matches;
  const [red, green, blue] = [0, 2, 4].map((at) => parseInt(hex[1].slice(at, at + 2), 16));
  return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
}
