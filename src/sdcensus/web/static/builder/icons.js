// @ts-check
// The few signs of the page, drawn here so that no font is needed.

import { svg } from "../shared/dom.js";

const PATHS = {
  close: ["M4 4l8 8M12 4l-8 8"],
  info: ["M8 7.5v4", "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z"],
  add: ["M8 3.5v9M3.5 8h9"],
  swap: ["M3 5.5h9.5M10 3l2.5 2.5L10 8", "M13 10.5H3.5M6 8l-2.5 2.5L6 13"],
};

const DOTS = {
  more: [[8, 3], [8, 8], [8, 13]],
  grip: [[6, 3.5], [6, 8], [6, 12.5], [10, 3.5], [10, 8], [10, 12.5]],
  info: [[8, 5]],
};

/**
 * @param {string} name
 * @returns {SVGElement}
 */
export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": true, focusable: "false" },
    (PATHS[name] ?? []).map((d) => svg("path", { d })),
    (DOTS[name] ?? []).map(([cx, cy]) => svg("circle", { class: "dot", cx, cy, r: 1.3 })),
  );
}
