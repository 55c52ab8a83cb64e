// @ts-check
// Areas to tick on a map. One stop for the tabulator; arrows go from area to area.

import { svg } from "../shared/dom.js";

const WIDTH = 640;
const MOST_HEIGHT = 420;
const FINEST = 0.4; // points nearer to each other than this are one

/**
 * @param {any} collection GeoJSON whose features have a code
 * @param {Map<string, string>} labels
 * @param {{has: (code: string) => boolean, toggle: (code: string) => void, label: string}} ticks
 * @returns {{node: SVGElement, update: () => void, show: (codes: Set<string> | null) => void}}
 */
export function areaMap(collection, labels, ticks) {
  const features = collection.features.filter((one) => one.geometry && labels.has(codeOf(one)));
  const { place, height } = projection(features);
  const boxes = new Map(features.map((one) => [codeOf(one), boxOf(one.geometry, place)]));
  const shapes = features.map((one, at) => {
    const code = codeOf(one);
    const label = labels.get(code) ?? code;
    return svg(
      "path",
      {
        d: outline(one.geometry, place),
        class: "area",
        role: "checkbox",
        tabindex: at === 0 ? 0 : -1,
        "aria-label": `${label} (${code})`,
        "aria-checked": ticks.has(code),
        "data-code": code,
        onclick: () => ticks.toggle(code),
      },
      svg("title", {}, `${label} · ${code}`),
    );
  });
  const ring = svg("path", { class: "ring", d: "", "aria-hidden": true }); // above all neighbours
  const node = svg(
    "svg",
    { class: "area-map", viewBox: `0 0 ${WIDTH} ${Math.ceil(height)}`, role: "group", "aria-label": ticks.label },
    shapes,
    ring,
  );
  node.addEventListener("focusin", (event) => {
    const there = event.target.matches?.(":focus-visible") ? event.target.getAttribute("d") : null;
    ring.setAttribute("d", there ?? "");
  });
  node.addEventListener("focusout", () => ring.setAttribute("d", ""));
  node.addEventListener("keydown", (event) => {
    const open = shapes.filter((one) => !one.classList.contains("outside"));
    const at = open.indexOf(event.target);
    if (at < 0) return;
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      ticks.toggle(open[at].getAttribute("data-code"));
      return;
    }
    const target = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: open.length - 1,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const next = open[(target + open.length) % open.length];
    for (const one of shapes) one.setAttribute("tabindex", one === next ? "0" : "-1");
    next.focus();
  });
  return {
    node,
    update: () => {
      for (const one of shapes) {
        one.setAttribute("aria-checked", String(ticks.has(one.getAttribute("data-code"))));
      }
    },
    show: (codes) => {
      for (const one of shapes) {
        one.classList.toggle("outside", codes !== null && !codes.has(one.getAttribute("data-code")));
      }
      const seen = codes === null ? [] : [...codes].flatMap((one) => boxes.get(one) ?? []);
      node.setAttribute("viewBox", sight(seen, height));
      const first = shapes.find((one) => !one.classList.contains("outside"));
      for (const one of shapes) one.setAttribute("tabindex", one === first ? "0" : "-1");
    },
  };
}

/**
 * The part of the drawing around some boxes, in the shape of the whole, with what lies next to them.
 * @param {{left: number, top: number, right: number, bottom: number}[]} boxes none: the whole
 * @param {number} height
 */
function sight(boxes, height) {
  const whole = `0 0 ${WIDTH} ${Math.ceil(height)}`;
  if (boxes.length === 0) return whole;
  const left = Math.min(...boxes.map((one) => one.left));
  const right = Math.max(...boxes.map((one) => one.right));
  const top = Math.min(...boxes.map((one) => one.top));
  const bottom = Math.max(...boxes.map((one) => one.bottom));
  const share = Math.max(0.2, ((right - left) / WIDTH) * 1.25, ((bottom - top) / height) * 1.25);
  if (share >= 0.9) return whole;
  const [wide, high] = [WIDTH * share, height * share];
  const within = (middle, size, most) => Math.min(Math.max(0, middle - size / 2), most - size);
  const x = within((left + right) / 2, wide, WIDTH);
  const y = within((top + bottom) / 2, high, height);
  return [x, y, wide, high].map((one) => one.toFixed(1)).join(" ");
}

/**
 * @param {any} geometry
 * @param {(point: number[]) => number[]} place
 */
function boxOf(geometry, place) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const point of rings(geometry).flat()) {
    const [x, y] = place(point);
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  }
  return box;
}

/** @param {any} feature */
function codeOf(feature) {
  return String(feature.properties?.code ?? feature.id ?? "");
}

/** @param {any[]} features */
function projection(features) {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const one of features) {
    for (const ring of rings(one.geometry)) {
      for (const [x, y] of ring) {
        west = Math.min(west, x);
        east = Math.max(east, x);
        south = Math.min(south, y);
        north = Math.max(north, y);
      }
    }
  }
  if (!(east > west)) return { place: () => [0, 0], height: 1 };
  // Degrees get shorter to the poles; metres do not.
  const degrees = Math.abs(east) <= 180 && Math.abs(west) <= 180 && Math.abs(north) <= 90;
  const squeeze = degrees ? Math.cos((((north + south) / 2) * Math.PI) / 180) : 1;
  const scale = Math.min((WIDTH - 4) / ((east - west) * squeeze), MOST_HEIGHT / (north - south || 1));
  const left = (WIDTH - (east - west) * squeeze * scale) / 2;
  return {
    place: ([x, y]) => [left + (x - west) * squeeze * scale, 2 + (north - y) * scale],
    height: (north - south) * scale + 4,
  };
}

/** @param {any} geometry */
function rings(geometry) {
  if (geometry.type === "Polygon") return geometry.coordinates;
  if (geometry.type === "MultiPolygon") return geometry.coordinates.flat();
  return [];
}

/**
 * @param {any} geometry
 * @param {(point: number[]) => number[]} place
 */
function outline(geometry, place) {
  return rings(geometry)
    .map((ring) => {
      const points = [];
      let last = [-9, -9];
      for (const point of ring) {
        const [x, y] = place(point);
        if (Math.abs(x - last[0]) < FINEST && Math.abs(y - last[1]) < FINEST) continue;
        last = [x, y];
        points.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
      }
      return `M${points.join("L")}Z`;
    })
    .join("");
}
