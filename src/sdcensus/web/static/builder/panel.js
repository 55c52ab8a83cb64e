// @ts-check
// The smaller parts of the panel: population, areas, conditions, size.

import { el, fill } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { axisWords } from "./arrange.js";
import { readConditions } from "./condition.js";
import { keepFocus } from "./dialog.js";
import { icon } from "./icons.js";
import { levelLabel, levelOf } from "./schema.js";

/**
 * @param {HTMLElement} root
 * @param {any} app
 */
export function drawPopulation(root, app) {
  const select = el(
    "select",
    {
      class: "field",
      "aria-labelledby": "part-population",
      "data-focus": "population",
      onchange: () => app.changePopulation(select.value),
    },
    app.populations.map((one) =>
      el("option", { value: one.id, props: { selected: one.id === app.state.question.of } }, one.label),
    ),
  );
  keepFocus(root, () => fill(root, select));
}

/**
 * Counts, or what is said of an amount; nothing where only counts are offered.
 * @param {HTMLElement} root
 * @param {any} app
 */
export function drawMeasure(root, app) {
  const amounts = app.amounts();
  const asked = app.state.question.measure ?? "";
  const option = (/** @type {string} */ value, /** @type {string} */ label) =>
    el("option", { value, props: { selected: value === asked } }, label);
  const known = amounts.flatMap((/** @type {any} */ one) => one.measures);
  if (known.length === 0 && !asked) {
    fill(root);
    return;
  }
  const select = el(
    "select",
    {
      class: "field",
      id: "measure-choice",
      "data-focus": "measure",
      onchange: () => app.changeMeasure(select.value),
    },
    option("", t("builder.measure.count")),
    amounts.map((/** @type {any} */ one) =>
      el(
        "optgroup",
        { label: one.unit ? `${one.label} (${one.unit})` : one.label },
        one.measures.map((/** @type {any} */ other) => option(other.id, other.label)),
      ),
    ),
    asked && !known.some((/** @type {any} */ one) => one.id === asked) && option(asked, asked),
  );
  keepFocus(root, () =>
    fill(root, el("label", { class: "measure-label", for: "measure-choice" }, t("builder.measure.title")), select),
  );
}

/**
 * @param {HTMLElement} root
 * @param {any} app
 */
export function drawAreas(root, app) {
  const name = app.areaVariable();
  const words = name ? axisWords(app, name) : null;
  keepFocus(root, () =>
    fill(
      root,
      el(
        "div",
        { class: "pick" },
        el(
          "span",
          {},
          words ? words.label : t("builder.areas.whole"),
          el("small", {}, words ? words.detail.replace(`${words.levels} · `, "") : t("builder.areas.none")),
        ),
        app.geographies().length > 0 &&
          el(
            "button",
            { type: "button", class: "button quiet", "data-focus": "areas", onclick: () => app.editAreas() },
            t("builder.panel.change"),
            el("span", { class: "visually-hidden" }, ` ${t("builder.areas.title")}`),
          ),
      ),
    ),
  );
}

/**
 * @param {HTMLElement} root
 * @param {any} app
 */
export function drawConditions(root, app) {
  const text = app.state.question.where ?? "";
  const conditions = readConditions(text);
  const lines =
    conditions === null
      ? [conditionLine(t("builder.conditions.text"), text, 0, null, () => app.setConditions([]))]
      : conditions.map((one, at) => {
          const variable = app.variables.get(one.variable);
          const level = levelOf(variable, one.level ? [one.level] : []);
          const shown = one.codes.slice(0, 4).map((code) => app.codeLabel(one.variable, level?.name, code));
          const rest = one.codes.length - shown.length;
          const words = [...shown, ...(rest > 0 ? [t("builder.conditions.more", { n: rest })] : [])].join(", ");
          const finer = variable && level && level.name !== variable.name;
          return conditionLine(
            finer ? `${variable.label} · ${levelLabel(variable, level)}` : (variable?.label ?? one.variable),
            one.negated ? t("builder.conditions.not", { codes: words }) : words,
            at,
            () => app.editCondition(at),
            () => app.setConditions(conditions.filter((other) => other !== one)),
          );
        });
  keepFocus(root, () =>
    fill(
      root,
      lines.length > 0 && el("ul", { class: "picks" }, lines),
      conditions !== null &&
        el(
          "button",
          {
            type: "button",
            class: "button quiet",
            "data-focus": "add-condition",
            onclick: () => app.editCondition(conditions.length),
          },
          t("builder.conditions.add"),
        ),
    ),
  );
}

function conditionLine(label, detail, at, edit, remove) {
  return el(
    "li",
    { class: "pick" },
    edit
      ? el(
          "button",
          { type: "button", class: "item-main", "data-focus": `condition-${at}`, onclick: edit },
          el("span", { class: "item-label" }, label),
          el("span", { class: "visually-hidden" }, t("builder.pair", { name: "", value: "" })),
          el("small", {}, detail),
        )
      : el("span", {}, label, el("small", {}, el("code", {}, detail))),
    el(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": t("builder.conditions.remove", { label }),
        onclick: () => {
          remove();
          const next = document.querySelector('[data-focus="add-condition"]');
          if (next instanceof HTMLElement) next.focus();
        },
      },
      icon("close"),
    ),
  );
}

/**
 * @param {HTMLElement} root
 * @param {{cells: number, limit: number, variables: number, most_variables: number,
 *   areas?: {all: number, available: number} | null} | null} sizes null: not known
 * @param {{cells: number, variables: number} | null} [limits]
 */
export function drawSize(root, sizes, limits = null) {
  if (!sizes) {
    const text = limits
      ? t("builder.size.limits", { cells: limits.cells, variables: limits.variables })
      : t("builder.loading");
    fill(root, el("p", { class: "small soft" }, text));
    return;
  }
  const share = sizes.limit > 0 ? sizes.cells / sizes.limit : 0;
  const over = sizes.cells > sizes.limit;
  const text = plural("builder.size.cells", sizes.cells, { limit: sizes.limit });
  fill(
    root,
    el("p", { class: over ? "size-cells over" : "size-cells" }, text),
    el(
      "div",
      {
        class: over ? "meter over" : "meter",
        role: "meter",
        "aria-label": t("builder.size.meter"),
        "aria-valuemin": 0,
        "aria-valuemax": sizes.limit,
        "aria-valuenow": Math.min(sizes.cells, sizes.limit),
        "aria-valuetext": text,
      },
      el("i", { style: { width: `${Math.min(100, share * 100)}%` } }),
    ),
    el(
      "p",
      { class: sizes.variables > sizes.most_variables ? "size-more over" : "size-more" },
      el("span", {}, t("builder.size.variables", { n: sizes.variables, most: sizes.most_variables })),
      sizes.areas
        ? el("span", { class: sizes.areas.available < sizes.areas.all ? "size-areas withheld" : "size-areas" }, t("builder.size.areas", sizes.areas))
        : null,
    ),
  );
}

/**
 * The table in one line, for narrow screens.
 * @param {any} app
 */
export function summary(app) {
  const names = app.state.question.by.length
    ? [...app.state.view.rows, ...app.state.view.columns, ...app.state.view.layer]
    : [];
  const labels = names.map((one) => axisWords(app, one).label);
  const population = app.populations.find((one) => one.id === app.state.question.of)?.label ?? "";
  return [population, ...labels].join(" · ");
}

