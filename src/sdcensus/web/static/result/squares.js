// @ts-check
// The squares of a grid: the code of each says where it lies, so that a map needs no shapes.

import { classesOf } from "./map-data.js";
import { NOT_BROKEN_DOWN } from "./dataset.js";

/**
 * @typedef {import("./map-data.js").Base} Base
 * @typedef {import("./map-data.js").Drawn} Drawn
 */

/**
 * @typedef {object} Squares
 * @property {Drawn} data for the legend and the messages
 * @property {number} side of a square in metres
 * @property {number} epsg
 * @property {number} columns from the westernmost square to the easternmost
 * @property {number} rows from the southernmost to the northernmost
 * @property {Int32Array} place of each square among the categories
 * @property {Int32Array} column
 * @property {Int32Array} row counted from the south
 * @property {Int8Array} class -1 where there is no number
 * @property {Float64Array} value NaN where there is no number
 * @property {LookUp} at the square at a row and a column (row × columns + column)
 * @property {number[]} beside places of codes that are no squares: of those who live in none
 */

/** CRS3035RES1000mN3210000E4321000, with or without a country before it. */
const CODE = /^(?:[A-Z]{2}_)?CRS(\d+)RES(\d+)mN(-?\d+)E(-?\d+)$/;

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

/**
 * Whether a map is one of squares; a look at a few codes tells.
 * @param {Base} base
 */
export function isGrid({ dimension, places }) {
  // One code stands for all who live in no square, and can stand anywhere.
  return places.slice(0, 3).some((place) => squareOf(dimension.codes[place]) !== null);
}

/**
 * Squares with their figures and classes, in slices, so that the page can be used meanwhile.
 * Classes follow published figures only.
 * @param {Base} base
 * @param {number} count of classes
 * @returns {Generator<void, Squares | null>} nothing where squares are of several sizes
 */
export function* squaresIn(base, count) {
  const { dimension, places, step, method } = base;
  const most = places.length;
  const place = new Int32Array(most);
  const west = new Float64Array(most);
  const south = new Float64Array(most);
  const value = new Float64Array(most);
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  const found = { epsg: 0, side: 0 };
  let [size, small, gone] = [0, 0, 0];
  const read = reader();
  const beside = [];
  for (let at = 0; at < most; at += 1) {
    if (at % AT_ONCE === 0) yield;
    const square = read(dimension.codes[places[at]]);
    if (square === null) {
      beside.push(places[at]);
      continue;
    }
    if (size === 0) Object.assign(found, { epsg: square.epsg, side: square.side });
    if (square.side !== found.side || square.epsg !== found.epsg) return null;
    const number = base.number(places[at]);
    if (number === null) {
      if (base.figure(places[at]).sign === NOT_BROKEN_DOWN) small += 1;
      else gone += 1;
    }
    place[size] = places[at];
    west[size] = square.west;
    south[size] = square.south;
    value[size] = number ?? NaN;
    if (square.west < box.west) box.west = square.west;
    if (square.west > box.east) box.east = square.west;
    if (square.south < box.south) box.south = square.south;
    if (square.south > box.north) box.north = square.south;
    size += 1;
  }
  yield;
  const classes = classesOf(value.subarray(0, size).filter((one) => one === one), method, count, step);
  const columns = Math.round((box.east - box.west) / found.side) + 1;
  const rows = Math.round((box.north - box.south) / found.side) + 1;
  const at = lookUp(columns * rows);
  const [column, row, kind] = [new Int32Array(size), new Int32Array(size), new Int8Array(size)];
  const ends = classes.map((one) => Math.round(one.to / step));
  for (let one = 0; one < size; one += 1) {
    if (one % AT_ONCE === 0) yield;
    column[one] = Math.round((west[one] - box.west) / found.side);
    row[one] = Math.round((south[one] - box.south) / found.side);
    kind[one] = value[one] === value[one] ? classAt(Math.round(value[one] / step), ends) : -1;
    at.set(row[one] * columns + column[one], one);
  }
  return {
    data: { ...base, classes, small, gone, several: 0 },
    ...found, columns, rows, column, row, at,
    class: kind,
    place: place.subarray(0, size),
    value: value.subarray(0, size),
    beside,
  };
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
