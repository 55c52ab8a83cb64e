// @ts-check
// A small table of an answer: the last axis in columns, all others in rows.

import { el } from "../shared/dom.js";
import { formatNumber } from "../shared/numbers.js";
import { language, t } from "../shared/texts.js";

const MOST_ROWS = 200;

/**
 * @param {any} dataset JSON-stat
 * @returns {any[]} nodes
 */
export function preview(dataset) {
  const axes = axesOf(dataset);
  // One axis stands in rows: it is read from above, and fits a narrow screen.
  const columns = axes.length > 1 ? axes[axes.length - 1] : oneColumn(dataset);
  const rowAxes = axes.length > 1 ? axes.slice(0, -1) : axes;
  const rows = rowAxes.reduce((size, axis) => size * axis.codes.length, 1);
  const width = columns.codes.length;
  const decimals = decimalsOf(dataset);
  const shown = Math.min(rows, MOST_ROWS);
  const body = [];
  for (let row = 0; row < shown; row += 1) {
    const heads = rowLabels(rowAxes, row).map((text, at) =>
      el("th", { scope: "row", class: at === 0 ? "head first" : "head" }, text),
    );
    const cells = [];
    for (let column = 0; column < width; column += 1) {
      cells.push(el("td", {}, cellText(dataset, row * width + column, decimals)));
    }
    body.push(el("tr", {}, heads, cells));
  }
  const headings = [
    ...rowAxes.map((axis) => el("th", { scope: "col", class: "head" }, axis.label)),
    ...columns.labels.map((text) => el("th", { scope: "col" }, text)),
  ];
  const parts = [
    el("div", { class: "table-scroll", tabindex: "0", role: "group", "aria-label": dataset.label },
      el("table", {}, el("caption", {}, dataset.label),
        el("thead", {}, el("tr", {}, headings)), el("tbody", {}, body))),
  ];
  if (shown < rows) {
    parts.push(el("p", { class: "soft small" }, t("commands.more_rows", { shown, all: rows })));
  }
  return parts;
}

/**
 * @param {any} dataset
 * @returns {{name: string, label: string, codes: string[], labels: string[]}[]}
 */
function axesOf(dataset) {
  const metric = new Set(dataset.role?.metric ?? []);
  return dataset.id
    .filter((/** @type {string} */ name) => !metric.has(name))
    .map((/** @type {string} */ name) => {
      const dimension = dataset.dimension[name];
      const index = dimension.category.index;
      const codes = Array.isArray(index)
        ? index
        : Object.keys(index).sort((one, other) => index[one] - index[other]);
      return {
        name,
        label: dimension.label ?? name,
        codes,
        labels: codes.map((code) => dimension.category.label?.[code] ?? code),
      };
    });
}

/** @param {{labels: string[]}[]} axes @param {number} row */
function rowLabels(axes, row) {
  const labels = [];
  let rest = row;
  for (const axis of [...axes].reverse()) {
    labels.unshift(axis.labels[rest % axis.labels.length]);
    rest = Math.floor(rest / axis.labels.length);
  }
  return labels;
}

/** The column of a table with one axis or none: what is counted. @param {any} dataset */
function oneColumn(dataset) {
  const measure = dataset.dimension[dataset.role?.metric?.[0] ?? ""];
  const labels = Object.values(measure?.category?.label ?? { "": dataset.label });
  return { codes: [""], labels };
}

/** How many digits stand behind the point. @param {any} dataset */
function decimalsOf(dataset) {
  const measure = dataset.dimension[dataset.role?.metric?.[0] ?? ""];
  const units = Object.values(measure?.category?.unit ?? {});
  return /** @type {any} */ (units[0])?.decimals ?? 0;
}

/** @param {any} dataset @param {number} cell @param {number} decimals */
function cellText(dataset, cell, decimals) {
  const value = dataset.value[cell] ?? null;
  const sign = dataset.status?.[cell] ?? "";
  if (value === null) return sign || "–";
  // Figures below each other have the same number of digits.
  const text = formatNumber(value, language, decimals, decimals);
  return sign === "( )" ? `(${text})` : text;
}
