// @ts-check
// Elements made node by node: text from the server or from a user is only ever text.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element.
 *
 * Attributes that are null, undefined or false are left out; true writes an empty attribute (but
 * "true" for aria-*); a function is a listener ("onclick"); "dataset", "style" and "props" take
 * objects. Styles go through the CSSOM, which a policy without inline style allows.
 *
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children text, numbers, nodes, or lists of them; null and false are left out
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * Make an element of a drawing; otherwise as el.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 * @returns {any}
 */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Put these children in the place of those that a node has.
 * @param {Element} node
 * @param {...any} children
 */
export function fill(node, ...children) {
  node.replaceChildren(...flat(children));
}

/**
 * Call a function once calls have stopped for a while.
 * @template {any[]} A
 * @param {(...values: A) => void} run
 * @param {number} wait milliseconds
 * @returns {(...values: A) => void}
 */
export function debounced(run, wait) {
  let timer = 0;
  return (...values) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => run(...values), wait);
  };
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) set(node, name, value);
  node.append(...flat(children));
  return node;
}

function set(node, name, value) {
  if (value === null || value === undefined) return;
  if (typeof value === "function" && name.startsWith("on")) {
    node.addEventListener(name.slice(2).toLowerCase(), value);
  } else if (name === "dataset") {
    for (const [key, one] of Object.entries(value)) node.dataset[key] = String(one);
  } else if (name === "style") {
    for (const [key, one] of Object.entries(value)) node.style.setProperty(key, String(one));
  } else if (name === "props") {
    Object.assign(node, value);
  } else if (name.startsWith("aria-")) {
    node.setAttribute(name, String(value));
  } else if (value !== false) {
    node.setAttribute(name, value === true ? "" : String(value));
  }
}

function flat(children) {
  return children
    .flat(Infinity)
    .filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => (one instanceof Node ? one : document.createTextNode(String(one))));
}
