// @ts-check
// Questions and those who ask them, as the staff reads them.

import { el } from "../shared/dom.js";
import { t } from "../shared/texts.js";

/**
 * A question in short, leading to its table.
 * @param {string} question JSON
 */
export function questionLink(question) {
  if (!question) return "–";
  try {
    const asked = JSON.parse(question);
    const parameters = new URLSearchParams({ of: asked.of });
    if (asked.measure) parameters.set("measure", asked.measure);
    for (const axis of asked.by ?? []) parameters.append("by", axis);
    if (asked.where) parameters.set("where", asked.where);
    for (const name of ["codes", "groups"]) {
      if (asked[name]) parameters.set(name, JSON.stringify(asked[name]));
    }
    const axes = (asked.by ?? []).map(shortAxis).join(" × ");
    const what = asked.measure ? `${asked.of}, ${asked.measure}` : asked.of;
    return [
      el("a", { href: `/?${parameters}` }, axes ? `${what}: ${axes}` : what),
      asked.where ? el("span", { class: "soft condition" }, asked.where) : null,
      ...["codes", "groups"].filter((name) => asked[name]).map((name) =>
        el("span", { class: "soft condition" }, `${name}: ${Object.keys(asked[name]).join(", ")}`)),
    ];
  } catch {
    return question;
  }
}

/** A level that is called like its variable says nothing more. @param {string} axis */
function shortAxis(axis) {
  const [name, level] = axis.split("@");
  return name === level ? name : axis;
}

/** An account by its name; a visitor without one by a pseudonym. @param {string} who */
export function whoText(who) {
  if (who === "*" || who === "") return t("staff.alarm_everybody");
  return who.startsWith("~") ? t("staff.visitor", { id: who.slice(1, 7) }) : who;
}
