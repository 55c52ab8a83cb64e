// @ts-check
// Example programs with variables that this census really has.

import { getJson } from "../shared/api.js";
import { t } from "../shared/texts.js";

/** @returns {Promise<{title: string, program: string}[]>} */
export async function examplePrograms() {
  const found = await names();
  const { area, first, second, condition } = found;
  const examples = [];
  if (first) {
    examples.push({
      title: t("commands.example_frequency"),
      program: `TABLE T1\n    AS FREQUENCY OF person.${first}\n`,
    });
  }
  if (first && second) {
    examples.push({
      title: t("commands.example_crosstab"),
      program:
        `TABLE T2\n    AS CROSSTABS OF person.${second} BY person.${first}\n` +
        (condition ? `    FOR ${condition}\n` : ""),
    });
  }
  if (area && first) {
    examples.push({
      title: t("commands.example_areas"),
      program: `TABLE T3\n    AS COUNT OF person BY person.${area} BY person.${first}\n` +
        "    PERCENT ROW\n",
    });
  }
  if (found.ages) {
    examples.push({
      title: t("commands.example_recode"),
      program:
        'DEFINE person.ages AS RECODE person.age\n    (0-14 = 1 "0-14")\n' +
        '    (15-64 = 2 "15-64")\n    (65-HIGHEST = 3 "65+")\n' +
        `TABLE T4\n    AS CROSSTABS OF person.ages BY person.${first}\n`,
    });
  }
  return examples;
}

/** Variables to show: areas, one with few codes, one with more, and a condition. */
async function names() {
  const none = { area: "", first: "", second: "", condition: "", ages: false };
  try {
    const { variables } = await getJson("/api/v1/datasets/persons/variables");
    /** @param {string} name */
    const named = (name) => variables.find((/** @type {any} */ one) => one.name === name);
    const areas = variables.find((/** @type {any} */ one) => one.kind === "geography");
    const others = variables.filter((/** @type {any} */ one) => one.kind !== "geography");
    const first = named("sex") ?? others[0];
    const second = named("age") ?? others.find((/** @type {any} */ one) => one !== first);
    return {
      area: areas ? axis(areas) : "",
      first: first ? first.name : "",
      second: second ? axis(second) : "",
      condition: named("age")?.filter ? "person.age >= 15" : "",
      ages: Boolean(named("age")),
    };
  } catch {
    return none;
  }
}

/** @param {any} variable */
function axis(variable) {
  const level = variable.default_level;
  return level && level !== variable.name ? `${variable.name}@${level}` : variable.name;
}
