// @ts-check
// The map of a grid: squares on a canvas, drawn in slices, read by pointer or by arrow keys.

import { el, fill } from "../shared/dom.js";
import { plural, t } from "../shared/texts.js";
import { focusAgain } from "./chart.js";
import { areaList } from "./map-list.js";
import { controls, describe, figureText, legend, messages } from "./map-parts.js";
import { groupsOf } from "./map-shapes.js";
import { hasGroups, highest, inSlices, nextFrame, squaresIn } from "./squares.js";
import { theme } from "./vega.js";

/**
 * @typedef {import("./squares.js").Squares} Squares
 * @typedef {import("./map-data.js").Base} Base
 */

/** Squares in the list beside the map; the table holds all of them. */
const LISTED = 100;
const TALLEST = 620; // pixels
const MOST_MARKED = 400; // squares of a group that are framed
const AT_ONCE = 1000; // squares that are drawn between two looks at the clock

/**
 * @param {HTMLElement} box
 * @param {any} shown
 * @param {Base} base
 * @param {{chosen: any, change: (part: any) => void, style: any, focused?: string}} how
 */
export async function gridView(box, shown, base, { chosen, change, style, focused }) {
  const here = el("div", { class: "r-grid-map" }, el("p", { class: "r-empty" }, t("result.map.drawing")));
  fill(box, here);
  const wanted = () => here.parentNode === box;
  // The box is put into the page first: its width decides how large squares are.
  await nextFrame();
  // A group whose squares cannot be fetched is not drawn; the table has its figures.
  const groups = hasGroups(base) ? await groupsOf(shown.model, base).catch(() => new Map()) : new Map();
  if (!wanted()) return;
  const squares = await inSlices(squaresIn(base, chosen.classes ?? 5, groups), wanted);
  if (squares === undefined) return;
  const { data } = squares;
  const colours = theme();
  const palette = colours.classes(data.classes.length);
  const text = figureText(style);
  const drawing = drawingOf(squares, { colours, palette, text, shown });
  const listed = highest(squares, LISTED).map((at) => areaOf(squares, at));
  const point = (/** @type {number} */ place) => drawing.point(squares.place.indexOf(place));
  fill(
    here,
    controls(shown, data, chosen, change),
    messages(data),
    squares.beside.length > 0 && el("p", { class: "r-message" }, besideWords(squares, text)),
    el(
      "div",
      { class: "r-map-parts" },
      el("div", {}, drawing.node, drawing.now, legend(data, palette, style)),
      areaList(listed, palette, (one) => text(one.shown), point, t("result.map.highest", { n: listed.length })),
    ),
  );
  focusAgain(box, focused);
  drawing.start();
}

/** Who is in no square. @param {Squares} squares @param {(shown: any) => string} text */
function besideWords({ data, beside }, text) {
  const { dimension, figure } = data;
  const figures = beside.slice(0, 3).map((one) => `${dimension.labels[one]}: ${text(figure(one))}`);
  return `${plural("result.map.beside", beside.length)} ${figures.join(" · ")}`;
}

/** @param {Squares} squares @param {number} at which area */
function areaOf(squares, at) {
  const place = squares.place[at];
  const { dimension, figure } = squares.data;
  return { place, name: dimension.labels[place], shown: figure(place), class: squares.class[at] };
}

/**
 * The canvas, a mark over the square or the group that is pointed at, and what is said about it.
 * @param {Squares} squares
 * @param {{colours: any, palette: string[], text: (shown: any) => string, shown: any}} how
 */
function drawingOf(squares, { colours, palette, text, shown }) {
  const canvas = el("canvas", { class: "r-squares-canvas" });
  const frame = el("div", { class: "r-squares-marks", hidden: true });
  const tip = el("div", { class: "r-tip", hidden: true });
  const now = el("p", { class: "r-square-now", role: "status" }, t("result.map.keys"));
  const plane = el("div", { class: "r-squares-plane", "aria-hidden": true }, canvas, frame, tip);
  const node = el(
    "div",
    {
      class: "r-drawing r-squares",
      role: "application",
      tabindex: 0,
      "aria-label": `${describe(shown.model, squares.data, squares.place.length)} ${t("result.map.keys")}`,
      dataset: { focus: "map-squares" },
    },
    plane,
  );
  let scale = 1;
  let chosen = -1;
  let turn = 0;
  const edges = (/** @type {number} */ piece) => ({
    left: Math.round(squares.column[piece] * scale),
    right: Math.round((squares.column[piece] + squares.span[piece]) * scale),
    top: Math.round((squares.rows - squares.span[piece] - squares.row[piece]) * scale),
    bottom: Math.round((squares.rows - squares.row[piece]) * scale),
  });
  const wordsOf = (/** @type {number} */ piece) => {
    const area = areaOf(squares, squares.area[piece]);
    return `${area.name} · ${text(area.shown)}`;
  };
  const framed = (/** @type {number} */ piece) => {
    const ratio = window.devicePixelRatio || 1;
    const { left, right, top, bottom } = edges(piece);
    const line = el("div", { class: "r-squares-mark" });
    Object.assign(line.style, {
      left: `${left / ratio - 3}px`, top: `${top / ratio - 3}px`,
      width: `${(right - left) / ratio + 6}px`, height: `${(bottom - top) / ratio + 6}px`,
    });
    return line;
  };
  let marked = NaN;
  /** @param {number} area its squares, of a group all; -1 for none */
  const markArea = (area) => {
    frame.hidden = area < 0;
    if (area === marked) return;
    marked = area;
    const lines = [];
    const end = area < 0 ? 0 : Math.min(squares.first[area + 1], squares.first[area] + MOST_MARKED);
    for (let piece = area < 0 ? 0 : squares.first[area]; piece < end; piece += 1) lines.push(framed(piece));
    fill(frame, ...lines);
  };
  const mark = (/** @type {number} */ piece) => markArea(piece < 0 ? -1 : squares.area[piece]);
  const read = (/** @type {number} */ at) => {
    chosen = at;
    mark(at);
    now.textContent = wordsOf(at);
  };
  const draw = async () => {
    turn += 1;
    const mine = turn;
    const wanted = () => mine === turn && node.isConnected;
    scale = sized(node, canvas, squares);
    await inSlices(painted(canvas, squares, edges, { colours, palette }), wanted);
    if (!wanted()) return;
    node.dataset.drawn = String(squares.place.length);
    marked = NaN; // the squares are of another size now
    mark(chosen);
  };
  node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const to = moved(squares, chosen, event.key);
    if (to === null) return;
    event.preventDefault();
    read(to);
  });
  plane.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const at = squareAt(squares, canvas, event, scale);
    tip.hidden = at < 0;
    mark(at < 0 ? chosen : at);
    if (at >= 0) showTip(plane, tip, event, wordsOf(at));
  });
  plane.addEventListener("pointerleave", () => {
    tip.hidden = true;
    mark(chosen);
  });
  plane.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const at = squareAt(squares, canvas, event, scale);
    if (at >= 0) read(at);
  });
  const start = () => {
    let width = 0;
    new ResizeObserver(() => {
      if (node.clientWidth === width) return;
      width = node.clientWidth;
      draw();
    }).observe(node);
  };
  return { node, now, start, point: markArea };
}

/**
 * Make the canvas as large as there is room for; says how many of its pixels a square is wide.
 * @param {HTMLElement} node
 * @param {HTMLCanvasElement} canvas
 * @param {Squares} squares
 */
function sized(node, canvas, { columns, rows }) {
  const ratio = window.devicePixelRatio || 1;
  const style = getComputedStyle(node);
  const room = node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const wide = Math.max(120, Math.min(room, (TALLEST * columns) / rows));
  const scale = (wide * ratio) / columns;
  canvas.width = Math.ceil(columns * scale);
  canvas.height = Math.ceil(rows * scale);
  canvas.style.width = `${canvas.width / ratio}px`;
  canvas.style.height = `${canvas.height / ratio}px`;
  return scale;
}

/**
 * Paint squares, part by part. A square is at least one pixel, however many there are.
 * @param {HTMLCanvasElement} canvas
 * @param {Squares} squares
 * @param {(at: number) => {left: number, right: number, top: number, bottom: number}} edges
 * @param {{colours: any, palette: string[]}} how
 */
function* painted(canvas, squares, edges, { colours, palette }) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const withheld = hatchOf(context, colours);
  for (let piece = 0; piece < squares.area.length; piece += 1) {
    if (piece % AT_ONCE === 0) yield;
    const { left, right, top, bottom } = edges(piece);
    const kind = squares.class[squares.area[piece]];
    context.fillStyle = kind < 0 ? withheld : palette[kind];
    context.fillRect(left, top, Math.max(1, right - left), Math.max(1, bottom - top));
  }
}

/** The pattern of squares without a figure. @param {CanvasRenderingContext2D} context @param {any} colours */
function hatchOf(context, colours) {
  const tile = document.createElement("canvas");
  tile.width = 4;
  tile.height = 4;
  const on = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  on.fillStyle = colours.line;
  on.fillRect(0, 0, 4, 4);
  on.fillStyle = colours.soft;
  for (let at = 0; at < 4; at += 1) on.fillRect(at, 3 - at, 1, 1);
  return context.createPattern(tile, "repeat") ?? colours.soft;
}

/**
 * The piece under a pointer, or -1.
 * @param {Squares} squares
 * @param {HTMLCanvasElement} canvas
 * @param {MouseEvent} event
 * @param {number} scale
 */
function squareAt({ rows, pieceAt }, canvas, event, scale) {
  const frame = canvas.getBoundingClientRect();
  const ratio = canvas.width / frame.width;
  const column = Math.floor(((event.clientX - frame.left) * ratio) / scale);
  const row = rows - 1 - Math.floor(((event.clientY - frame.top) * ratio) / scale);
  return pieceAt(column, row);
}

/**
 * Where an arrow key leads: to the next area in its direction, over gaps; null for other keys.
 * @param {Squares} squares
 * @param {number} from a piece
 * @param {string} key
 */
function moved({ pieceAt, area, column, row, span, columns, rows }, from, key) {
  /** @type {Record<string, [number, number]>} */
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (area.length === 0) return null;
  if (key === "Home") return 0;
  if (key === "End") return area.length - 1;
  const way = ways[key];
  if (!way) return null;
  if (from < 0) return 0;
  const wide = span[from];
  let x = column[from] + (way[0] > 0 ? wide : way[0]);
  let y = row[from] + (way[1] > 0 ? wide : way[1]);
  while (x >= 0 && x < columns && y >= 0 && y < rows) {
    const next = pieceAt(x, y);
    if (next >= 0 && area[next] !== area[from]) return next;
    const far = next >= 0 ? span[next] : 1;
    [x, y] = [x + way[0] * far, y + way[1] * far];
  }
  return from;
}

/**
 * @param {HTMLElement} plane
 * @param {HTMLElement} tip
 * @param {MouseEvent} event
 * @param {string} words
 */
function showTip(plane, tip, event, words) {
  tip.textContent = words;
  const frame = plane.getBoundingClientRect();
  const x = event.clientX - frame.left;
  const left = x + 14 + tip.offsetWidth > frame.width ? x - tip.offsetWidth - 10 : x + 14;
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${event.clientY - frame.top + 14}px`;
}
