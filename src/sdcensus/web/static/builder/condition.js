// @ts-check
// Conditions that the page can show as lists of ticks, and their text in the language of
// conditions. Everything else stays text, shown as it is.

/**
 * @typedef {{variable: string, level: string | null, codes: string[], negated: boolean}} Condition
 */

const TOKEN =
  /\s*(?:(?<text>'[^']*'|"[^"]*")|(?<number>-?\d+(?![\w.]))|(?<mark>==|!=|[(),@])|(?<word>[^\W\d]\w*))/uy;

/**
 * The conditions of a text that joins comparisons by "and"; null where it says anything else.
 * @param {string} text
 * @returns {Condition[] | null}
 */
export function readConditions(text) {
  if (text.trim() === "") return [];
  const tokens = tokensOf(text);
  if (tokens === null) return null;
  const made = [];
  let at = 0;
  const take = (kind, value) => {
    const one = tokens[at];
    if (!one || one.kind !== kind || (value && one.text.toLowerCase() !== value)) return null;
    at += 1;
    return one.text;
  };
  const value = () => {
    const quoted = take("text", "");
    return quoted === null ? take("number", "") : quoted.slice(1, -1);
  };
  for (;;) {
    const variable = take("word", "");
    if (variable === null) return null;
    const level = take("mark", "@") ? take("word", "") : null;
    let negated = take("word", "not") !== null;
    const codes = [];
    if (take("word", "in")) {
      if (!take("mark", "(")) return null;
      do {
        const code = value();
        if (code === null) return null;
        codes.push(code);
      } while (take("mark", ","));
      if (!take("mark", ")")) return null;
    } else {
      const sign = take("mark", "==") ?? take("mark", "!=");
      const code = sign === null || negated ? null : value();
      if (code === null) return null;
      negated = sign === "!=";
      codes.push(code);
    }
    made.push({ variable, level, codes, negated });
    if (at === tokens.length) return made;
    if (!take("word", "and")) return null;
  }
}

/**
 * @param {Condition[]} conditions
 * @returns {string}
 */
export function writeConditions(conditions) {
  return conditions.map(written).join(" and ");
}

/** @param {Condition} one */
function written(one) {
  const operand = one.level && one.level !== one.variable ? `${one.variable}@${one.level}` : one.variable;
  if (one.codes.length === 1) {
    return `${operand} ${one.negated ? "!=" : "=="} ${quoted(one.codes[0])}`;
  }
  return `${operand} ${one.negated ? "not in" : "in"} (${one.codes.map(quoted).join(", ")})`;
}

function quoted(code) {
  return code.includes("'") ? `"${code}"` : `'${code}'`;
}

function tokensOf(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  const whole = text.trimEnd();
  while (TOKEN.lastIndex < whole.length) {
    const match = TOKEN.exec(whole);
    if (match === null) return null;
    const [kind, value] = Object.entries(match.groups ?? {}).find(([, one]) => one !== undefined) ?? ["", ""];
    tokens.push({ kind, text: value });
  }
  return tokens;
}
