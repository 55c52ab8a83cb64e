// @ts-check
// The page of the API: examples for this server and this census, each with a button to copy.

import { getJson } from "../shared/api.js";
import { el } from "../shared/dom.js";
import { language } from "../shared/texts.js";
import { copyButton } from "./copying.js";

/** @type {Record<string, string>} */
const filled = { origin: window.location.origin, language, by1: "ed", by2: "sex" };

/** Axes that this census has: its areas, and a variable with few codes. */
async function findAxes() {
  const { variables } = await getJson("/api/v1/datasets/persons/variables");
  const areas = variables.find((/** @type {any} */ one) => one.kind === "geography");
  const other = variables.find((/** @type {any} */ one) => one.name === "sex") ??
    variables.find((/** @type {any} */ one) => one.kind !== "geography");
  const named = [areas, other].filter(Boolean).map(axis);
  [filled.by1, filled.by2] = [named[0] ?? "", named[1] ?? named[0] ?? ""];
}

/** @param {any} variable */
function axis(variable) {
  const level = variable.default_level;
  return level && level !== variable.name ? `${variable.name}@${level}` : variable.name;
}

/** @param {string} text */
function fillIn(text) {
  return text.replace(/\{(origin|language|by1|by2)\}/g, (_, name) => filled[name]);
}

await findAxes().catch(() => {});
for (const block of document.querySelectorAll("pre")) {
  const code = block.querySelector("code");
  if (!code || !block.hasAttribute("data-example")) continue;
  code.textContent = fillIn(code.textContent ?? "");
  const box = el("div", { class: "example" });
  block.replaceWith(box);
  box.append(block, copyButton(() => code.textContent ?? ""));
}
const link = document.querySelector("[data-example-link]");
if (link) {
  const asked = new URLSearchParams([["of", "persons"], ["by", filled.by1], ["by", filled.by2]]);
  link.setAttribute("href", `/api/v1/tables?${asked}`);
}
