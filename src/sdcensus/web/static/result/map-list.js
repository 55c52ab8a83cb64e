// @ts-check
// The areas of a map as a list: arrows move through it, and the map shows where one is.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";
import { NOT_BROKEN_DOWN } from "./dataset.js";

/** The code of a square may be broken before its coordinates, and not inside them. @param {string} name */
function breakable(name) {
  const [, before, after] = /^(.*RES\d+m)(N-?\d+E.*)$/.exec(name) ?? [];
  return before ? [before, el("wbr", {}), after] : name;
}

/**
 * @param {import("./map-data.js").Area[]} areas
 * @param {string[]} palette
 * @param {(area: import("./map-data.js").Area) => string} text
 * @param {(place: number) => void} point
 * @param {string} [label] what the list is called
 */
export function areaList(areas, palette, text, point, label = t("result.map.list")) {
  const size = (/** @type {import("./map-data.js").Area} */ one) => one.shown.value ?? -1;
  const sorted = [...areas].sort((a, b) => size(b) - size(a) || a.name.localeCompare(b.name));
  const lines = sorted.map((one, at) => {
    const withheld = one.class < 0;
    const named = !withheld || one.shown.sign === NOT_BROKEN_DOWN;
    const swatch = el("i", {
      class: withheld ? "r-swatch r-hatched" : "r-swatch",
      style: withheld ? {} : { "background-color": palette[one.class] },
    });
    return el(
      "li",
      {
        role: "option",
        id: `result-area-${at}`,
        "aria-selected": false,
        onclick: () => choose(at),
        onpointerenter: () => point(one.place),
      },
      swatch,
      el("span", {}, breakable(one.name)),
      el("b", {}, named ? text(one) : t("result.cell.withheld")),
    );
  });
  let chosen = -1;
  /** @param {number} at */
  const choose = (at) => {
    if (!(at in lines)) return;
    lines[chosen]?.setAttribute("aria-selected", "false");
    chosen = at;
    lines[at].setAttribute("aria-selected", "true");
    lines[at].scrollIntoView({ block: "nearest" });
    list.setAttribute("aria-activedescendant", lines[at].id);
    point(sorted[at].place);
  };
  /** @type {Record<string, () => number>} */
  const keys = {
    ArrowDown: () => Math.min(chosen + 1, lines.length - 1),
    ArrowUp: () => Math.max(chosen - 1, 0),
    PageDown: () => Math.min(chosen + 10, lines.length - 1),
    PageUp: () => Math.max(chosen - 10, 0),
    Home: () => 0,
    End: () => lines.length - 1,
  };
  const list = el(
    "ul",
    {
      class: "r-areas",
      role: "listbox",
      tabindex: 0,
      "aria-label": label,
      dataset: { focus: "map-list" },
      onfocus: () => chosen < 0 && choose(0),
      onpointerleave: () => point(chosen >= 0 ? sorted[chosen].place : -1),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const to = keys[event.key];
        if (!to) return;
        event.preventDefault();
        choose(to());
      },
    },
    lines,
  );
  return list;
}
