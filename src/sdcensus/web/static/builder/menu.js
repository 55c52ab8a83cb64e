// @ts-check
// A button that opens a list of actions; arrows, Home, End and Escape as screen readers expect.

import { el } from "../shared/dom.js";
import { icon } from "./icons.js";

/**
 * @typedef {{text: string, run: () => void} | null} Action null is a line between actions
 */

/** @type {(() => void) | null} */
let closeOpen = null;

/**
 * @param {string} label what the actions are for
 * @param {string} key name of the button for keeping the focus
 * @param {() => Action[]} actions asked when the menu opens
 * @returns {HTMLElement}
 */
export function menuButton(label, key, actions) {
  const button = el(
    "button",
    {
      type: "button",
      class: "icon-button",
      "aria-label": label,
      "aria-haspopup": "menu",
      "aria-expanded": false,
      "data-focus": key,
    },
    icon("more"),
  );
  const holder = el("div", { class: "menu-holder" }, button);
  const open = (last = false) => {
    closeOpen?.();
    const items = actions();
    const list = el(
      "ul",
      { class: "menu", role: "menu", "aria-label": label },
      items.map((one) =>
        one === null
          ? el("li", { role: "separator" })
          : el(
              "li",
              { role: "none" },
              el(
                "button",
                {
                  type: "button",
                  role: "menuitem",
                  tabindex: -1,
                  onclick: () => {
                    close();
                    button.focus();
                    one.run();
                  },
                },
                one.text,
              ),
            ),
      ),
    );
    const outside = (event) => {
      if (!holder.contains(event.target)) close();
    };
    const close = () => {
      list.remove();
      button.setAttribute("aria-expanded", "false");
      document.removeEventListener("pointerdown", outside);
      closeOpen = null;
    };
    closeOpen = close;
    list.addEventListener("keydown", (event) => moved(event, list, close, button));
    list.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !holder.contains(event.relatedTarget)) close();
    });
    document.addEventListener("pointerdown", outside);
    holder.append(list);
    button.setAttribute("aria-expanded", "true");
    if (list.getBoundingClientRect().bottom > window.innerHeight - 8) list.classList.add("above");
    const entries = list.querySelectorAll("[role=menuitem]");
    entries[last ? entries.length - 1 : 0]?.focus();
  };
  button.addEventListener("click", () => (holder.querySelector(".menu") ? closeOpen?.() : open()));
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open(event.key === "ArrowUp");
  });
  return holder;
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} list
 * @param {() => void} close
 * @param {HTMLElement} button
 */
function moved(event, list, close, button) {
  const entries = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[role=menuitem]")]);
  const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const target = {
    ArrowDown: (at + 1) % entries.length,
    ArrowUp: (at - 1 + entries.length) % entries.length,
    Home: 0,
    End: entries.length - 1,
  }[event.key];
  if (target !== undefined) {
    event.preventDefault();
    entries[target].focus();
  } else if (event.key === "Escape") {
    event.preventDefault();
    event.stopPropagation();
    close();
    button.focus();
  }
}
