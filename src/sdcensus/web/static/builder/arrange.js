// @ts-check
// Rows, columns and layer: what stands where, moved by dragging, by keys or from a menu.

import { announce } from "../shared/announce.js";
import { el, fill } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { keepFocus } from "./dialog.js";
import { draggable } from "./drag.js";
import { icon } from "./icons.js";
import { menuButton } from "./menu.js";
import { levelLabel, levelOf, sizeOf } from "./schema.js";
import { ZONES, readAxis } from "./state.js";

/**
 * @param {HTMLElement} root
 * @param {any} app
 */
export function drawArrangement(root, app) {
  keepFocus(root, () => {
    fill(
      root,
      ZONES.map((zone) => {
        const names = app.state.view[zone];
        return el(
          "div",
          { class: "zone", "data-zone": zone },
          el("h4", { id: `zone-${zone}` }, t(`builder.arrange.${zone}`)),
          el(
            "ol",
            { "aria-labelledby": `zone-${zone}` },
            names.map((name, at) => line(root, app, zone, name, at)),
            names.length === 0 && el("li", { class: "empty" }, t("builder.arrange.empty")),
          ),
        );
      }),
    );
  });
}

/**
 * What an axis shows, in a few words.
 * @param {any} app
 * @param {string} name
 */
export function axisWords(app, name) {
  const { question } = app.state;
  const axis = question.by.map(readAxis).find((one) => one.variable === name);
  const variable = app.variables.get(name);
  if (!axis || !variable) return { label: name, detail: "", levels: "" };
  const levels = (axis.levels.length ? axis.levels : [variable.name]).map((one) => levelOf(variable, [one]));
  const called = [...new Set(levels.map((one) => (one ? levelLabel(variable, one) : "")))].join(", ");
  const all = levels.reduce((sum, one) => sum + sizeOf(one), 0);
  const groups = question.groups?.[name];
  const codes = question.codes?.[name];
  const area = variable.kind === "geography";
  let detail = plural(area ? "builder.arrange.areas" : "builder.arrange.all", all);
  const own = groups?.filter((one) => one.codes.length > 1).length || groups?.length; // not singles
  if (own) detail = plural("builder.arrange.groups", own);
  else if (codes) detail = plural("builder.arrange.some", all, { some: codes.length });
  const label = area ? called : variable.label;
  return { label, detail: called === label ? detail : `${called} · ${detail}`, levels: called };
}

function line(root, app, zone, name, at) {
  const { label, detail } = axisWords(app, name);
  const grip = el(
    "button",
    {
      type: "button",
      class: "grip",
      "aria-label": t("builder.arrange.grip", { label }),
      "aria-describedby": "arrange-help",
      "data-focus": `grip-${name}`,
      onkeydown: (event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        shift(app, zone, name, at, step);
      },
    },
    icon("grip"),
  );
  const item = el(
    "li",
    { class: "item" },
    grip,
    el(
      "button",
      {
        type: "button",
        class: "item-main",
        "data-focus": `edit-${name}`,
        onclick: () => app.editAxis(name),
      },
      el("span", { class: "item-label" }, label),
      el("span", { class: "visually-hidden" }, ", "),
      el("small", {}, detail),
    ),
    menuButton(t("builder.arrange.menu", { label }), `menu-${name}`, () => actions(app, zone, name, at)),
  );
  draggable(grip, item, root, (place) => put(app, name, place.zone, place.at));
  return item;
}

function actions(app, zone, name, at) {
  const moves = [
    { text: t("builder.arrange.up"), run: () => shift(app, zone, name, at, -1) },
    { text: t("builder.arrange.down"), run: () => shift(app, zone, name, at, 1) },
    ...ZONES.filter((one) => one !== zone).map((one) => ({
      text: t(`builder.arrange.to_${one}`),
      run: () => put(app, name, one, app.state.view[one].length),
    })),
  ];
  return [
    { text: t("builder.arrange.edit"), run: () => app.editAxis(name) },
    null,
    ...moves,
    null,
    { text: t("builder.arrange.remove"), run: () => app.removeAxis(name) },
  ];
}

/** One step up or down, over the border of a zone where there is nothing more in it. */
function shift(app, zone, name, at, step) {
  const { view } = app.state;
  const inside = at + step;
  if (inside >= 0 && inside < view[zone].length) {
    put(app, name, zone, inside);
    return;
  }
  const next = ZONES[ZONES.indexOf(zone) + step];
  if (next) put(app, name, next, step < 0 ? view[next].length : 0);
}

function put(app, name, zone, at) {
  const { view } = app.state;
  const places = Object.fromEntries(ZONES.map((one) => [one, view[one].filter((other) => other !== name)]));
  places[zone].splice(at, 0, name);
  app.look(places);
  const { label } = axisWords(app, name);
  announce(
    t("builder.arrange.moved", {
      label,
      zone: t(`builder.arrange.${zone}`),
      at: places[zone].indexOf(name) + 1,
      of: places[zone].length,
    }),
  );
}
