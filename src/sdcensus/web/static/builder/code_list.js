// @ts-check
// A list of codes to tick, with a search; only as many lines as somebody reads are drawn.

import { el, fill } from "../shared/dom.js";
import { folded } from "../shared/folding.js";
import { t } from "../shared/texts.js";

const DRAWN = 300;

/**
 * @typedef {import("./schema.js").Code} Code
 * @typedef {{has: (code: string) => boolean, set: (codes: string[], on: boolean) => void,
 *   note?: (code: string) => string}} Ticks
 */

/**
 * @param {{label: string, ticks: Ticks, onShown?: (codes: Code[]) => void}} options
 */
export function codeList({ label, ticks, onShown }) {
  /** @type {Code[]} */
  let all = [];
  /** @type {Code[]} */
  let shown = [];
  let drawn = DRAWN;
  let last = -1;
  const search = el("input", {
    type: "search",
    class: "field",
    placeholder: t("builder.codes.search"),
    "aria-label": t("builder.codes.search"),
    autocomplete: "off",
    oninput: () => {
      drawn = DRAWN;
      find();
    },
  });
  const list = el("div", { class: "code-list", role: "group", "aria-label": label });
  const found = el("span", { class: "soft small", role: "status" });
  const tools = el(
    "div",
    { class: "code-tools" },
    found,
    el("button", { type: "button", class: "button quiet", onclick: only }, t("builder.codes.tick_only")),
    el("button", { type: "button", class: "button quiet", onclick: () => every(true) }, t("builder.codes.tick_all")),
    el("button", { type: "button", class: "button quiet", onclick: () => every(false) }, t("builder.codes.tick_none")),
  );

  function every(on) {
    ticks.set(shown.map((one) => one.code), on);
  }

  /** These and no others, wherever the others are. */
  function only() {
    ticks.only(shown.map((one) => one.code));
  }

  function find() {
    const words = folded(search.value).split(/\s+/).filter(Boolean);
    shown = all.filter((one) => {
      const text = folded(`${one.code} ${one.label}`);
      return words.every((word) => text.includes(word));
    });
    last = -1;
    draw();
    onShown?.(shown);
  }

  function draw() {
    fill(found, t("builder.codes.found", { n: shown.length }));
    fill(
      list,
      shown.slice(0, drawn).map(line),
      shown.length === 0 && el("p", { class: "soft" }, t("builder.codes.none")),
      shown.length > drawn &&
        el(
          "button",
          {
            type: "button",
            class: "button quiet",
            onclick: () => {
              drawn += DRAWN * 3;
              draw();
            },
          },
          t("builder.codes.more", { n: shown.length - drawn }),
        ),
    );
  }

  /**
   * @param {Code} one
   * @param {number} at
   */
  function line(one, at) {
    const note = ticks.note?.(one.code);
    return el(
      "label",
      { class: "check" },
      el("input", {
        type: "checkbox",
        value: one.code,
        props: { checked: ticks.has(one.code) },
        onclick: (event) => {
          // With the shift key, everything since the last tick.
          const from = event.shiftKey && last >= 0 ? Math.min(last, at) : at;
          const to = event.shiftKey && last >= 0 ? Math.max(last, at) : at;
          ticks.set(shown.slice(from, to + 1).map((other) => other.code), event.target.checked);
          last = at;
        },
      }),
      el("span", {}, one.label, note ? el("span", { class: "tag" }, note) : null),
      one.code !== one.label && el("span", { class: "code" }, one.code),
    );
  }

  return {
    search,
    tools,
    list,
    /** @param {Code[]} codes */
    fill(codes) {
      all = codes;
      drawn = DRAWN;
      find();
    },
    update() {
      for (const box of list.querySelectorAll("input")) box.checked = ticks.has(box.value);
    },
    redraw: draw,
    clear() {
      search.value = "";
      find();
    },
  };
}
