// @ts-check
// An answer of the API (JSON-stat 2.0) in the shape that the views of a result need.

/**
 * @typedef {object} Dimension
 * @property {string} id
 * @property {string} label
 * @property {string[]} ids identifiers of the categories, as JSON-stat orders them
 * @property {string[]} codes what is shown as the code of a category
 * @property {string[]} labels
 * @property {number[]} parent place of the category above, or -1
 * @property {number[]} depth how many categories stand above one, the total not counted
 * @property {string[]} level name of the level of each category; empty where there is only one
 * @property {number} total place of the total, or -1
 * @property {number[]} order places in the order of reading: total, then each parent and its parts
 * @property {boolean} geo
 * @property {boolean} chosen whether somebody chose its categories, or made groups of them
 * @property {Set<number>} own places of groups that the user made
 * @property {Set<number>} withheld places that are withheld as a whole
 * @property {number} stride
 */

/**
 * @typedef {object} Cell
 * @property {number | null} value
 * @property {string} sign
 * @property {number} parts how many published values it is a sum of
 * @property {boolean} weak whether figures that rest on it are unreliable, as the server says
 * @property {boolean} few whether it is too small for anything to be divided by it
 */

/**
 * @typedef {object} Model
 * @property {string} title
 * @property {string} unit
 * @property {number} decimals those that its numbers have; none where all are whole
 * @property {boolean} shares whether percentages of its numbers mean anything
 * @property {boolean} sums whether its numbers are sums of an amount
 * @property {boolean} adds whether its numbers can be put on top of each other
 * @property {string[]} notes
 * @property {string} source
 * @property {{country?: string, census?: string, reference_date?: string}} census
 * @property {Map<string, string>} legend meaning of each sign that occurs
 * @property {Dimension[]} dimensions without the measure
 * @property {number} size number of cells
 * @property {number} mostParts the largest number of parts of a cell
 * @property {any} more what the server says besides (extension.sdcensus)
 * @property {(offset: number) => Cell} cell
 * @property {(offset: number) => number | null} value the number of a cell alone
 * @property {(offset: number) => string} sign the sign of a cell alone
 */

/** Categories of most dimensions; those of grids are more. */
const FEW = 5000;

/** The sign beside a number that is of low reliability. */
export const LOW = "( )";

/** The sign of parts of groups that are too small to be broken down. */
export const NOT_BROKEN_DOWN = "k";

/** The sign of figures that there cannot be, such as the median of nobody. */
export const NOT_AVAILABLE = ":";

/** How the codes of groups begin that a user made. */
export const OWN = "own_";

/**
 * @param {any} dataset
 * @param {(variable: string, code: string) => string | null} [official]
 * @returns {Model}
 */
export function readDataset(dataset, official = () => null) {
  const more = dataset.extension?.sdcensus ?? {};
  const metric = new Set(dataset.role?.metric ?? []);
  const geo = new Set(dataset.role?.geo ?? []);
  const sizes = dataset.size ?? [];
  let stride = sizes.reduce((/** @type {number} */ all, /** @type {number} */ n) => all * n, 1);
  const size = stride;
  /** @type {Dimension[]} */
  const dimensions = [];
  let measure = null;
  (dataset.id ?? []).forEach((/** @type {string} */ id, /** @type {number} */ at) => {
    stride /= sizes[at] || 1;
    const found = dataset.dimension[id];
    if (metric.has(id)) measure = found;
    else dimensions.push(dimension(id, found, stride, geo.has(id), more, official));
  });
  const unit = measureOf(measure);
  const values = dataset.value ?? [];
  const status = dataset.status;
  const parts = Array.isArray(more.parts) ? more.parts : null;
  const weak = new Set(more.weak ?? []);
  const least = more.none_below ?? 1;
  const value = (/** @type {number} */ offset) => values[offset] ?? null;
  const sign = (/** @type {number} */ offset) =>
    typeof status === "string" ? status : (status?.[offset] ?? "");
  const asked = String(more.question?.measure ?? "");
  const sums = asked.startsWith("sum(");
  return {
    title: dataset.label ?? "",
    unit: unit.label,
    decimals: unit.decimals > 0 && allWhole(values) ? 0 : unit.decimals,
    shares: asked === "",
    sums,
    adds: asked === "" || sums,
    notes: [dataset.note ?? []].flat(),
    source: dataset.source ?? "",
    census: dataset.extension?.census ?? {},
    legend: legendOf(dataset),
    dimensions,
    size,
    mostParts: parts ? parts.reduce((most, one) => Math.max(most, one), 1) : 1,
    more,
    value,
    sign,
    cell: (offset) => ({
      value: value(offset),
      sign: sign(offset),
      parts: parts ? parts[offset] : 1,
      weak: weak.has(offset),
      few: Number(values[offset] ?? 0) < least,
    }),
  };
}

/** Places of all categories but the total, in the order of reading. */
export function withoutTotal(/** @type {Dimension} */ dimension) {
  return dimension.order.filter((place) => place !== dimension.total);
}

/**
 * Where a dimension stands that is not drawn: at its total. Beside categories that somebody chose
 * the total is that of all others too, so that the first of them is shown; a category that is alone
 * is what the table is about.
 * @param {Dimension} dimension
 */
export function placeOf(dimension) {
  const parts = withoutTotal(dimension);
  const first = dimension.chosen || parts.length === 1 ? parts[0] : undefined;
  return first ?? dimension.order[0];
}

/**
 * Codes that lie in several of the groups that a user made of a dimension.
 * @param {Model} model
 * @param {Dimension} dimension
 * @returns {Set<string>}
 */
export function inSeveral(model, dimension) {
  const seen = new Set();
  const several = new Set();
  for (const group of model.more.own_groups?.[dimension.id] ?? []) {
    for (const code of group.codes) (seen.has(code) ? several : seen).add(code);
  }
  return several;
}

/**
 * The names of the levels of a dimension, coarsest first; one empty name where levels have none.
 * @param {Dimension} dimension
 */
export function levelsOf(dimension) {
  const found = new Map();
  for (const place of withoutTotal(dimension)) {
    const name = dimension.level[place];
    found.set(name, Math.max(found.get(name) ?? 0, dimension.depth[place]));
  }
  return [...found.keys()].sort((a, b) => found.get(a) - found.get(b));
}

/**
 * A category as somebody wants to read it.
 * @param {Dimension} dimension
 * @param {number} place
 * @param {string} how "label", "code" or "both"
 */
export function nameOf(dimension, place, how) {
  const label = dimension.labels[place];
  // The total has no code that would tell a reader something, and groups have none at all.
  if (how === "label" || place === dimension.total || dimension.own.has(place)) return label;
  const code = dimension.codes[place];
  return how === "code" || code === label ? code : `${code} ${label}`;
}

/**
 * @param {string} id
 * @param {any} found
 * @param {number} stride
 * @param {boolean} geo
 * @param {any} more
 * @param {(variable: string, code: string) => string | null} official
 * @returns {Dimension}
 */
function dimension(id, found, stride, geo, more, official) {
  const category = found.category ?? {};
  const ids = idsOf(category);
  const places = placesOf(ids, category);
  const labels = labelsOf(ids, category.label ?? {}, places);
  const extension = found.extension ?? {};
  const total = places.get(extension.total) ?? -1;
  const parent = ids.map(() => -1);
  for (const [above, below] of Object.entries(category.child ?? {})) {
    for (const one of below) {
      const place = places.get(one);
      if (place !== undefined) parent[place] = places.get(above) ?? -1;
    }
  }
  const codes = extension.code ? ids.map((one) => extension.code[one] ?? one) : [...ids];
  const own = new Set();
  (more.own_groups?.[id] ?? []).forEach((/** @type {any} */ group, /** @type {number} */ at) => {
    const place = places.get(`${OWN}${at + 1}`);
    if (place === undefined) return;
    labels[place] = group.label;
    const [only] = group.codes;
    // A code under its own label is no group of the user; headings mark all others as such.
    if (group.codes.length === 1 && official(id, only) === group.label) {
      codes[place] = only.slice(only.indexOf(":") + 1);
    } else own.add(place);
  });
  const level = ids.map((one) => (extension.level ? (extension.level[one] ?? "") : ""));
  const withheld = new Set();
  for (const part of more.withheld ?? []) {
    if (part.variable !== id) continue;
    const gone = new Set(part.codes);
    ids.forEach((_, place) => {
      const same = !part.level || !level[place] || level[place] === part.level;
      if (same && gone.has(codes[place]) && !own.has(place)) withheld.add(place);
    });
  }
  // A grid has a hundred thousand categories, and nothing but the total above them.
  const flat = category.child === undefined;
  const depth = flat ? ids.map(() => 0) : ids.map((_, place) => depthOf(place, parent, total));
  const order = flat ? flatOrder(ids.length, total) : orderOf(parent, total);
  const label = found.label || id;
  const chosen = [more.question?.codes, more.question?.groups].some((one) => one && id in one);
  return {
    id, label, ids, codes, labels, parent, depth, level, total, order, geo, chosen, own, withheld,
    stride,
  };
}

/**
 * The place of a category. To note those of a hundred thousand squares takes longer than to look for
 * the few that somebody asks for.
 * @param {string[]} ids
 * @param {any} category
 * @returns {{get: (id: string) => number | undefined}}
 */
function placesOf(ids, category) {
  if (category.child === undefined && ids.length > FEW) {
    return {
      get: (id) => {
        const place = ids.indexOf(id);
        return place < 0 ? undefined : place;
      },
    };
  }
  const places = new Map();
  ids.forEach((one, place) => places.set(one, place));
  return places;
}

/**
 * @param {string[]} ids
 * @param {Record<string, string>} known labels; a category without one is called as its code is
 * @param {{get: (id: string) => number | undefined}} places
 */
function labelsOf(ids, known, places) {
  const named = Object.keys(known);
  if (ids.length <= FEW || named.length > 20) return ids.map((one) => known[one] ?? one);
  const labels = [...ids];
  for (const one of named) {
    const place = places.get(one);
    if (place !== undefined) labels[place] = known[one];
  }
  return labels;
}

/** @param {any} category @returns {string[]} */
function idsOf(category) {
  const index = category.index;
  if (Array.isArray(index)) return index;
  if (index) return Object.keys(index).sort((a, b) => index[a] - index[b]);
  return Object.keys(category.label ?? {});
}

/** @param {number} place @param {number[]} parent @param {number} total */
function depthOf(place, parent, total) {
  let depth = 0;
  // A ring of parents would be a fault of the server; it must not hang the page.
  for (let above = parent[place]; above >= 0 && above !== total; above = parent[above]) {
    depth += 1;
    if (depth > parent.length) return 0;
  }
  return depth;
}

/** The total, then all others as they are. @param {number} size @param {number} total */
function flatOrder(size, total) {
  const order = Array.from({ length: size }, (_, place) => place);
  if (total > 0) order.splice(total, 1);
  if (total > 0) order.unshift(total);
  return order;
}

/** @param {number[]} parent @param {number} total */
function orderOf(parent, total) {
  /** @type {Map<number, number[]>} */
  const below = new Map();
  parent.forEach((above, place) => {
    if (place === total) return;
    const key = above === total ? -1 : above;
    const there = below.get(key);
    if (there) there.push(place);
    else below.set(key, [place]);
  });
  /** @type {number[]} */
  const order = total >= 0 ? [total] : [];
  const seen = new Set(order);
  /** @param {number} place */
  const visit = (place) => {
    if (seen.has(place)) return;
    seen.add(place);
    order.push(place);
    (below.get(place) ?? []).forEach(visit);
  };
  (below.get(-1) ?? []).forEach(visit);
  parent.forEach((_, place) => visit(place));
  return order;
}

/** Whether no number has anything behind the point. @param {any} values */
function allWhole(values) {
  return Object.values(values).every((one) => one === null || Number.isInteger(one));
}

/** @param {any} measure */
function measureOf(measure) {
  const category = measure?.category ?? {};
  const one = idsOf(category)[0];
  const unit = category.unit?.[one] ?? {};
  return {
    label: unit.label || category.label?.[one] || "",
    decimals: unit.decimals ?? 0,
  };
}

/** @param {any} dataset @returns {Map<string, string>} */
function legendOf(dataset) {
  const meanings = dataset.extension?.status?.label ?? {};
  const status = dataset.status ?? {};
  const used = new Set(typeof status === "string" ? [status] : Object.values(status));
  used.delete("");
  used.delete(null);
  return new Map([...used].map((sign) => [sign, meanings[sign] ?? ""]));
}
