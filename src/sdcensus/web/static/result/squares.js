// @ts-check
// The squares of a grid: the code of each says where it lies, so that a map needs no shapes.

import { classesOf } from "./map-data.js";
import { NOT_BROKEN_DOWN } from "./dataset.js";

/**
 * @typedef {import("./map-data.js").Base} Base
 * @typedef {import("./map-data.js").Drawn} Drawn
 */

/**
 * The areas of a grid and the pieces that are drawn: an area is a square, or a group of several.
 * Pieces of one area follow each other. Rows and columns are counted in the smallest squares.
 * @typedef {object} Squares
 * @property {Drawn} data for the legend and the messages
 * @property {number} columns from the westernmost square to the easternmost
 * @property {number} rows from the southernmost to the northernmost
 * @property {Int32Array} place of each area among the categories
 * @property {Int8Array} class of each area; -1 where there is no number
 * @property {Float64Array} value of each area; NaN where there is no number
 * @property {Int32Array} first piece of each area, and behind the last one
 * @property {Int32Array} area of each piece
 * @property {Int32Array} column of each piece
 * @property {Int32Array} row of each piece, counted from the south
 * @property {Int32Array} span of each piece: how many of the smallest squares its side is
 * @property {(column: number, row: number) => number} pieceAt the piece at a place, or -1
 * @property {number[]} beside places of codes that are no squares: of those who live in none
 */

/** CRS3035RES1000mN3210000E4321000, with or without a country before it. */
const CODE = /^(?:[A-Z]{2}_)?CRS(\d+)RES(\d+)mN(-?\d+)E(-?\d+)$/;
/** A group of several squares: its lowest one, and how many. */
const GROUP = /^(.*RES\d+mN-?\d+E-?\d+)x[1-9]\d*$/;

/** Squares that lie so far apart that there is room for more between them are kept otherwise. */
const LARGEST_ARRAY = 4_000_000;
/** Squares that are looked at between two looks at the clock. */
const AT_ONCE = 2000;
/** Milliseconds of work between two frames: far below what a reader would feel. */
const SLICE = 25;

/**
 * A square by its code.
 * @param {string} code
 * @returns {{epsg: number, side: number, south: number, west: number} | null}
 */
export function squareOf(code) {
  const found = CODE.exec(code);
  if (!found) return null;
  const [epsg, side, south, west] = found.slice(1).map(Number);
  return side > 0 ? { epsg, side, south, west } : null;
}

/**
 * Reads the codes of one grid: all begin alike, and only where they differ is looked at.
 * @returns {(code: string) => {epsg: number, side: number, south: number, west: number} | null}
 */
function reader() {
  let start = "";
  const now = { epsg: 0, side: 0, south: 0, west: 0 };
  return (code) => {
    if (start && code.startsWith(start)) {
      const east = code.indexOf("E", start.length);
      now.south = Number(code.slice(start.length, east));
      now.west = Number(code.slice(east + 1));
      if (east > start.length && Number.isInteger(now.south) && Number.isInteger(now.west)) return now;
    }
    const found = squareOf(code);
    if (found === null) return null;
    start = code.slice(0, code.lastIndexOf("N") + 1);
    return Object.assign(now, found);
  };
}

/** Whether a code is that of a group of several squares. @param {string} code */
function isGroup(code) {
  return code.includes("x") && GROUP.test(code);
}

/**
 * Whether a map is one of squares; a look at a few codes tells.
 * @param {Base} base
 */
export function isGrid({ dimension, places }) {
  // One code stands for all who live in no square, and can stand anywhere.
  const codes = places.slice(0, 3).map((place) => dimension.codes[place]);
  return codes.some((code) => squareOf(code) !== null || isGroup(code));
}

/** Whether there are groups of several squares, whose codes name one. @param {Base} base */
export function hasGroups({ dimension, places }) {
  return places.some((place) => isGroup(dimension.codes[place]));
}

/**
 * Squares with their figures and classes, in slices, so that the page can be used meanwhile.
 * Classes follow published figures only.
 * @param {Base} base
 * @param {number} count of classes
 * @param {Map<string, string[]>} groups the squares of groups of several
 * @returns {Generator<void, Squares>}
 */
export function* squaresIn(base, count, groups) {
  const { dimension, places, step, method } = base;
  const most = places.length;
  const pieces = most + [...groups.values()].reduce((sum, one) => sum + one.length, 0);
  const [place, first, value] = [new Int32Array(most), new Int32Array(most + 1), new Float64Array(most)];
  const [west, south, side] = [0, 1, 2].map(() => new Float64Array(pieces));
  const area = new Int32Array(pieces);
  let [size, drawn, small, gone] = [0, 0, 0, 0];
  const read = reader();
  const beside = [];
  for (let at = 0; at < most; at += 1) {
    if (at % AT_ONCE === 0) yield;
    const code = dimension.codes[places[at]];
    const own = groups.get(code);
    first[size] = drawn;
    for (let one = 0; one < (own ? own.length : 1); one += 1) {
      const square = read(own ? own[one] : code);
      if (square === null) continue;
      [west[drawn], south[drawn], side[drawn], area[drawn]] = [square.west, square.south, square.side, size];
      drawn += 1;
    }
    if (drawn === first[size]) {
      beside.push(places[at]);
      continue;
    }
    const number = base.number(places[at]);
    if (number === null) {
      if (base.figure(places[at]).sign === NOT_BROKEN_DOWN) small += 1;
      else gone += 1;
    }
    place[size] = places[at];
    value[size] = number ?? NaN;
    size += 1;
  }
  first[size] = drawn;
  yield;
  const classes = classesOf(value.subarray(0, size).filter((one) => one === one), method, count, step);
  const ends = classes.map((one) => Math.round(one.to / step));
  const kind = Int8Array.from(value.subarray(0, size), (one) =>
    one === one ? classAt(Math.round(one / step), ends) : -1);
  yield;
  const plane = yield* laidOut(west, south, side, drawn);
  return {
    data: { ...base, classes, small, gone, several: 0 },
    ...plane,
    class: kind,
    place: place.subarray(0, size),
    value: value.subarray(0, size),
    first: first.subarray(0, size + 1),
    area: area.subarray(0, drawn),
    beside,
  };
}

/**
 * Pieces on a plane of the smallest squares among them, each found again by where it lies.
 * @param {Float64Array} west
 * @param {Float64Array} south
 * @param {Float64Array} side
 * @param {number} drawn how many pieces there are
 */
function* laidOut(west, south, side, drawn) {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity, side: Infinity };
  const sides = new Set();
  for (let at = 0; at < drawn; at += 1) {
    box.west = Math.min(box.west, west[at]);
    box.south = Math.min(box.south, south[at]);
    box.east = Math.max(box.east, west[at] + side[at]);
    box.north = Math.max(box.north, south[at] + side[at]);
    if (!sides.has(side[at])) sides.add(side[at]);
  }
  box.side = Math.min(...sides);
  // Every square starts at a multiple of its side: counted from there, not from the first one.
  const [left, low] = [Math.round(box.west / box.side), Math.round(box.south / box.side)];
  const columns = drawn ? Math.round(box.east / box.side) - left : 0;
  const rows = drawn ? Math.round(box.north / box.side) - low : 0;
  const spans = [...sides].sort((a, b) => a - b).map((one) => Math.round(one / box.side));
  const [column, row, span] = [0, 1, 2].map(() => new Int32Array(drawn));
  const held = lookUp(columns * rows);
  for (let at = 0; at < drawn; at += 1) {
    if (at % AT_ONCE === 0) yield;
    column[at] = Math.round(west[at] / box.side) - left;
    row[at] = Math.round(south[at] / box.side) - low;
    span[at] = Math.round(side[at] / box.side);
    held.set(row[at] * columns + column[at], at);
  }
  const corner = (/** @type {number} */ from, /** @type {number} */ start, /** @type {number} */ wide) =>
    Math.floor((from + start) / wide) * wide - start;
  const pieceAt = (/** @type {number} */ x, /** @type {number} */ y) => {
    if (x < 0 || x >= columns || y < 0 || y >= rows) return -1;
    for (const wide of spans) {
      const [west, south] = [corner(x, left, wide), corner(y, low, wide)];
      const found = west < 0 || south < 0 ? undefined : held.get(south * columns + west);
      if (found !== undefined && span[found] === wide) return found;
    }
    return -1;
  };
  return { columns, rows, column, row, span, pieceAt };
}

/** The class of a number of steps. @param {number} steps @param {number[]} ends of classes */
function classAt(steps, ends) {
  let at = 0;
  while (at < ends.length - 1 && steps > ends[at]) at += 1;
  return at;
}

/**
 * @typedef {{get: (key: number) => number | undefined, set: (key: number, value: number) => unknown}}
 *   LookUp
 */

/** Squares by where they lie: an array where it is small enough. @param {number} size @returns {LookUp} */
function lookUp(size) {
  if (size > LARGEST_ARRAY) return new Map();
  const held = new Int32Array(size).fill(-1);
  return {
    get: (key) => (held[key] >= 0 ? held[key] : undefined),
    set: (key, value) => (held[key] = value),
  };
}

/**
 * Squares with the highest figures, at most so many, highest first.
 * @param {Squares} squares
 * @param {number} most
 * @returns {number[]} which squares
 */
export function highest({ value }, most) {
  const sorted = value.filter((one) => one === one).sort();
  const least = sorted[Math.max(0, sorted.length - most)];
  const chosen = [];
  for (let at = 0; at < value.length; at += 1) if (value[at] >= least) chosen.push(at);
  return chosen.sort((a, b) => value[b] - value[a] || a - b).slice(0, most);
}

/**
 * Run work in slices, one before each frame.
 * @template Result
 * @param {Generator<void, Result>} work
 * @param {() => boolean} wanted whether somebody still waits for it
 * @returns {Promise<Result | undefined>} nothing where nobody does
 */
export async function inSlices(work, wanted) {
  for (;;) {
    if (!wanted()) return undefined;
    const end = performance.now() + SLICE;
    do {
      const next = work.next();
      if (next.done) return next.value;
    } while (performance.now() < end);
    await nextFrame();
  }
}

/** The next frame; a page that nobody looks at has none, and goes on all the same. */
export function nextFrame() {
  return new Promise((resolve) => {
    if (document.hidden) window.setTimeout(resolve, 0);
    else requestAnimationFrame(resolve);
  });
}
