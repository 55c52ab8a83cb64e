// @ts-check
// Between title and table: tabs, how figures are shown, layers.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { nameOf } from "./dataset.js";
import { sharesPossible } from "./layout.js";

/**
 * @typedef {import("./dataset.js").Model} Model
 * @typedef {import("./layout.js").View} View
 * @typedef {(partial: Partial<View>) => void} OnView
 */

/**
 * @param {Model} model
 * @param {View} view
 * @param {OnView} onView
 */
export function tabsOf(model, view, onView) {
  const names = ["table", "chart"];
  if (model.dimensions.some((one) => one.geo)) names.push("map");
  const label = t("result.tabs.label");
  const list = el("div", { class: "r-tabs", role: "tablist", "aria-label": label });
  names.forEach((name, at) => {
    const chosen = name === view.tab;
    list.append(
      el(
        "button",
        {
          type: "button",
          class: "r-tab",
          role: "tab",
          id: `result-tab-${name}`,
          "aria-selected": chosen,
          "aria-controls": "result-panel",
          tabindex: chosen ? 0 : -1,
          dataset: { focus: `tab-${name}` },
          onclick: () => onView({ tab: /** @type {View["tab"]} */ (name) }),
          onkeydown: (/** @type {KeyboardEvent} */ event) => {
            const to = nextOf(event.key, at, names.length);
            if (to === null) return;
            event.preventDefault();
            const button = /** @type {HTMLElement} */ (list.children[to]);
            button.focus();
            button.click();
          },
        },
        t(`result.tabs.${name}`),
      ),
    );
  });
  return list;
}

/** @param {string} key @param {number} at @param {number} count */
function nextOf(key, at, count) {
  if (key === "ArrowRight") return (at + 1) % count;
  if (key === "ArrowLeft") return (at + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

/**
 * How figures are shown.
 * @param {Model} model
 * @param {View} view
 * @param {OnView} onView
 */
export function optionsOf(model, view, onView) {
  const shares = ["count", "row", "column"].map((kind) => {
    const can = kind === "count" || sharesPossible(model, view, /** @type {any} */ (kind));
    const label = t(`result.show.${kind}`);
    return { value: kind, label: can ? label : t("result.show.no_total", { show: label }), can };
  });
  const labels = ["label", "code", "both"].map((kind) => ({
    value: kind,
    label: t(`result.labels.${kind}`),
    can: true,
  }));
  const anyTotal = model.dimensions.some((one) => one.total >= 0);
  return el(
    "div",
    { class: "r-options" },
    model.shares && choice("show", t("result.show.title"), shares, view.show, (show) => onView({ show })),
    choice("label", t("result.labels.title"), labels, view.label, (label) => onView({ label })),
    anyTotal &&
      el(
        "label",
        { class: "r-check" },
        el("input", {
          type: "checkbox",
          dataset: { focus: "totals" },
          props: { checked: view.totals },
          onchange: (/** @type {any} */ event) => onView({ totals: event.target.checked }),
        }),
        " ",
        t("result.totals"),
      ),
    model.dimensions.length > 1 &&
      el(
        "button",
        {
          type: "button",
          class: "button quiet",
          dataset: { focus: "rotate" },
          onclick: () => onView({ rows: view.columns, columns: view.rows }),
        },
        t("result.rotate"),
      ),
  );
}

/**
 * A labelled list of choices.
 * @param {string} key
 * @param {string} label
 * @param {{value: string, label: string, can?: boolean}[]} options
 * @param {string} chosen
 * @param {(value: any) => void} onChoice
 */
export function choice(key, label, options, chosen, onChoice) {
  const list = el(
    "select",
    {
      class: "field auto",
      dataset: { focus: key },
      onchange: () => onChoice(list.value),
    },
    options.map(({ value, label: words, can }) =>
      el("option", { value, disabled: can === false, selected: value === chosen }, words),
    ),
  );
  return el("label", { class: "r-field" }, el("span", {}, label), " ", list);
}

/**
 * One pager for each layer: previous, a list, next.
 * @param {Model} model
 * @param {View} view
 * @param {OnView} onView
 */
export function layersOf(model, view, onView) {
  if (view.layer.length === 0) return null;
  const pagers = view.layer.map((id) => {
    const dimension = model.dimensions.find((one) => one.id === id);
    if (!dimension) return null;
    const { order } = dimension;
    const now = order.indexOf(view.at[id]);
    const go = (/** @type {number} */ place) => onView({ at: { ...view.at, [id]: place } });
    /** @param {number} by @param {string} name @param {string} arrow */
    const step = (by, name, arrow) =>
      el(
        "button",
        {
          type: "button",
          class: "button r-step",
          "aria-label": t(`result.layer.${name}`, { dimension: dimension.label }),
          "aria-disabled": !(now + by in order),
          dataset: { focus: `layer-${id}-${name}` },
          onclick: () => now + by in order && go(order[now + by]),
        },
        el("span", { "aria-hidden": true }, arrow),
      );
    const options = order.map((place) => ({
      value: String(place),
      label: `${"\u2003".repeat(dimension.depth[place])}${nameOf(dimension, place, view.label)}`,
    }));
    const list = choice(`layer-${id}`, dimension.label, options, String(view.at[id]), (value) =>
      go(Number(value)),
    );
    const place = t("result.layer.place", { at: now + 1, all: order.length });
    return el(
      "div",
      { class: "r-layer" },
      list,
      step(-1, "previous", "‹"),
      step(1, "next", "›"),
      el("span", { class: "r-soft" }, place),
    );
  });
  const label = t("result.layer.title");
  return el("div", { class: "r-layers", role: "group", "aria-label": label }, pagers);
}
