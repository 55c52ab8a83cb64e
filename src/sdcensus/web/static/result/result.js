// @ts-check
// The result side of the table builder: a table with its chart, map, notes, files and calls.

import { el, fill } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { layersOf, optionsOf, tabsOf } from "./bar.js";
import { UNDEFINED } from "./cells.js";
import { chartView } from "./chart.js";
import { callsOf, copyButton } from "./copying.js";
import { readDataset } from "./dataset.js";
import { downloadsOf } from "./downloads.js";
import { feedbackForm } from "./feedback.js";
import { statusOf, titleOf } from "./head.js";
import { completeView, layoutOf } from "./layout.js";
import { mapView } from "./map.js";
import { notesOf, signsOf } from "./notes.js";
import { refusalOf } from "./refusal.js";
import { tableView } from "./table.js";

/**
 * @typedef {import("./layout.js").View} View
 */

/**
 * @typedef {object} Options
 * @property {any} dataset an answer of the API
 * @property {(variable: string, code: string) => string | null} [official] labels of codes, to tell
 *   those that stand alone among groups from names of the user
 * @property {Partial<View>} view
 * @property {Record<string, string>} [texts] of no effect: the words are those of the page
 * @property {string} language
 * @property {string} apiLink path of the API call that gives this table
 * @property {string} pageLink address that shows this page again
 * @property {(partial: Partial<View>) => void} onView asks for another view
 * @property {(question: object) => void} [onQuestion] asks for another table; without it, the root
 *   gets an event "sdcensus:question" whose detail is the question
 */

/**
 * What a root holds between calls, so that words typed and choices made are kept.
 * @typedef {object} Kept
 * @property {any} dataset
 * @property {import("./dataset.js").Model} model
 * @property {Options} options
 * @property {Record<string, HTMLElement>} nodes
 * @property {any} chart
 * @property {any} map
 * @property {string} call
 */

/** @type {WeakMap<HTMLElement, Kept>} */
const kept = new WeakMap();

/**
 * Show a table in a root, in the place of what stood there.
 * @param {HTMLElement} root
 * @param {Options} options
 */
export function showResult(root, options) {
  const state = stateOf(root, options);
  const fresh = state.dataset !== options.dataset;
  if (fresh) {
    const shape = shapeOf(state.model);
    state.dataset = options.dataset;
    state.model = readDataset(options.dataset, options.official);
    if (shapeOf(state.model) !== shape) Object.assign(state, { chart: {}, map: {} });
  }
  const before = state.options.view;
  const same =
    String(before.rows) === String(options.view.rows) &&
    String(before.columns) === String(options.view.columns);
  state.options = options;
  const { model, nodes } = state;
  const view = completeView(model, options.view);
  if (view.tab === "map" && !model.dimensions.some((one) => one.geo)) view.tab = "table";
  const focused = focusIn(root);
  const scrolled = same && !fresh ? scrollIn(nodes.panel) : null;
  root.classList.add("result");
  if (fresh) {
    const open = openIn(root);
    fill(nodes.head, titleOf(model), statusOf(model, options.language, (question) => askFor(root, state, question)));
    fill(nodes.notes, notesOf(model, options.language));
    for (const one of root.querySelectorAll("details[data-keep]")) {
      if (open.has(/** @type {HTMLElement} */ (one).dataset.keep)) one.setAttribute("open", "");
    }
  }
  if (fresh || !nodes.actions.firstChild) {
    fill(
      nodes.actions,
      copyButton({ key: "copy-link", label: t("result.copy.link") }, () =>
        absolute(state.options.pageLink),
      ),
      downloadsOf({
        apiLink: options.apiLink,
        language: options.language,
        cells: model.size,
        shares: model.shares,
        forms: model.more.formats,
      }),
    );
  }
  fill(nodes.tabs, tabsOf(model, view, options.onView));
  const controls = view.tab === "table" ? [optionsOf, layersOf] : [];
  fill(nodes.options, controls.map((one) => one(model, view, options.onView)));
  fill(nodes.panel, panelOf(state, view));
  nodes.panel.setAttribute("aria-labelledby", `result-tab-${view.tab}`);
  fill(
    nodes.calls,
    callsOf(model.more.question ?? {}, options.apiLink, {
      chosen: state.call,
      onChoice: (name) => (state.call = name),
    }),
  );
  if (!root.contains(nodes.bar)) {
    root.replaceChildren(nodes.head, nodes.bar, nodes.panel, nodes.below);
  }
  if (focused !== null) focusOn(root, focused);
  if (scrolled) restoreScroll(nodes.panel, scrolled);
}

/**
 * Show why there is no table, and what would help.
 * @param {HTMLElement} root
 * @param {{error: any, texts?: Record<string, string>, onQuestion?: (question: object) => void,
 *   onRetry?: () => void}} options
 */
export function showRefusal(root, { error, onQuestion, onRetry }) {
  root.classList.add("result");
  const ask = onQuestion ?? ((/** @type {object} */ question) => dispatch(root, question));
  root.replaceChildren(refusalOf(error, ask, onRetry));
}

/** @param {HTMLElement} root @param {Options} options @returns {Kept} */
function stateOf(root, options) {
  const there = kept.get(root);
  if (there) return there;
  const nodes = {
    head: el("div", { class: "r-top" }),
    tabs: el("div", { class: "r-tabs-box" }),
    actions: el("div", { class: "r-actions" }),
    options: el("div", { class: "r-options-box" }),
    panel: el("div", { class: "r-view", id: "result-panel", role: "tabpanel" }),
    notes: el("div"),
    calls: el("div"),
  };
  const made = /** @type {Kept} */ (
    /** @type {unknown} */ ({ dataset: null, model: null, options, chart: {}, map: {}, call: "curl" })
  );
  const form = feedbackForm(() => made.model?.more.question ?? null);
  const top = el("div", { class: "r-bar-top" }, nodes.tabs, nodes.actions);
  const side = el("div", { class: "r-side" }, nodes.calls, form);
  made.nodes = {
    ...nodes,
    bar: el("div", { class: "r-bar" }, top, nodes.options),
    below: el("div", { class: "r-below" }, nodes.notes, side),
  };
  kept.set(root, made);
  return made;
}

/** @param {Kept} state @param {View} view */
function panelOf(state, view) {
  const { model, options } = state;
  const shown = { model, view, language: options.language, id: "result" };
  if (view.tab === "chart") return chartView(shown, state.chart);
  if (view.tab === "map") return mapView(shown, state.map);
  const layout = layoutOf(model, view);
  return [
    tableView({ ...shown, layout }),
    el(
      "p",
      { class: "r-foot" },
      t(model.adds ? "result.table.foot" : "result.notes.computed_do_not_add"),
      layout.show !== "count" && ` ${t("result.show.computed")}`,
      layout.divided && ` ${UNDEFINED} ${t("result.legend.undefined")}.`,
      view.show !== layout.show && ` ${t("result.show.not_possible")}`,
      signsOf(model).map(([sign, meaning]) => ` ${sign} = ${meaning}.`),
    ),
  ];
}

/** @param {import("./dataset.js").Model | null} model */
function shapeOf(model) {
  return model ? model.dimensions.map((one) => `${one.id} ${one.ids.join(",")}`).join(";") : "";
}

/** @param {HTMLElement} root @param {Kept} state @param {object} question */
function askFor(root, state, question) {
  if (state.options.onQuestion) state.options.onQuestion(question);
  else dispatch(root, question);
}

/** @param {HTMLElement} root @param {object} question */
function dispatch(root, question) {
  root.dispatchEvent(new CustomEvent("sdcensus:question", { detail: question, bubbles: true }));
}

/** @param {string} link */
function absolute(link) {
  return new URL(link, window.location.href).href;
}

/** @param {HTMLElement} root */
function focusIn(root) {
  const now = document.activeElement;
  if (!(now instanceof HTMLElement) || !root.contains(now)) return null;
  return now.dataset.focus ?? null;
}

/** @param {HTMLElement} root @param {string} key */
function focusOn(root, key) {
  const now = document.activeElement;
  if (now && now !== document.body && root.contains(now)) return;
  const there = root.querySelector(`[data-focus="${CSS.escape(key)}"]`);
  if (there instanceof HTMLElement) there.focus({ preventScroll: true });
}

/** @param {HTMLElement} root */
function openIn(root) {
  const found = [...root.querySelectorAll("details[data-keep][open]")];
  // The reasons of one table are not those of the next.
  const keys = found.map((one) => /** @type {HTMLElement} */ (one).dataset.keep);
  return new Set(keys.filter((key) => key !== "help"));
}

/** @param {HTMLElement} panel */
function scrollIn(panel) {
  const box = panel.querySelector(".r-table .r-scroll");
  return box && { left: box.scrollLeft, top: box.scrollTop };
}

/** @param {HTMLElement} panel @param {{left: number, top: number}} scrolled */
function restoreScroll(panel, scrolled) {
  const box = panel.querySelector(".r-table .r-scroll");
  if (!box) return;
  requestAnimationFrame(() => box.scrollTo(scrolled.left, scrolled.top));
}
