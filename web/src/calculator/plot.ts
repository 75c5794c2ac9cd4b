/** A line over logarithmic axes, as elements of an SVG. */

const SPACE = "http://www.w3.org/2000/svg";
const HEIGHT = 280;
const EDGE = { left: 62, right: 14, top: 14, bottom: 48 };

/** The fewest decades of epsilon that are shown. */
const FEWEST = 2;

/** Pixels that the number of a decade needs. */
const PER_NUMBER = 48;

interface Point {
  readonly n: number;
  readonly epsilon: number;
}

/** What is drawn. */
export interface Plot {
  readonly points: readonly Point[];
  /** The point that is marked, if it is on the axes. */
  readonly own: Point | undefined;
  /** The decades of n from the first to the last. */
  readonly decades: readonly [number, number];
  /** The width in pixels. */
  readonly width: number;
}

type Scale = (value: number) => number;

/** Axes, the line where epsilon is above zero, and the marked point. */
export function plotted({ points, own, decades, width }: Plot): SVGElement[] {
  const marked = own === undefined ? [] : [own];
  const shown = [...points, ...marked].map((each) => each.epsilon).filter((each) => each > 0);
  if (shown.length === 0) return [];
  const high = Math.ceil(Math.log10(Math.max(...shown)));
  const low = Math.min(high - FEWEST, Math.floor(Math.log10(Math.min(...shown))));
  const [first, last] = decades;
  const right = width - EDGE.right;
  const x: Scale = (n) =>
    EDGE.left + ((Math.log10(n) - first) / (last - first)) * (right - EDGE.left);
  const y: Scale = (epsilon) =>
    EDGE.top + ((high - Math.log10(epsilon)) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const line = points.filter((each) => each.epsilon > 0);
  const path = line.map(({ n, epsilon }) => `${x(n).toFixed(1)},${y(epsilon).toFixed(1)}`);
  const dots = marked.filter(({ n, epsilon }) => {
    return epsilon > 0 && n >= 10 ** first && n <= 10 ** last;
  });
  return [
    ...axes(x, y, [first, last], [low, high], right),
    made("polyline", { class: "curve", points: path.join(" ") }),
    ...dots.map(({ n, epsilon }) =>
      made("circle", { class: "own", cx: x(n), cy: y(epsilon), r: 5 }),
    ),
  ];
}

/** Lines and numbers of both axes. */
function axes(
  x: Scale,
  y: Scale,
  [first, last]: readonly [number, number],
  [low, high]: readonly [number, number],
  right: number,
): SVGElement[] {
  const found: SVGElement[] = [];
  const across = Math.ceil((PER_NUMBER * (last - first)) / (right - EDGE.left));
  for (let decade = first; decade <= last; decade += across) {
    const at = x(10 ** decade);
    found.push(ruler(at, EDGE.top, at, HEIGHT - EDGE.bottom));
    found.push(power(decade, at, HEIGHT - EDGE.bottom + 20, "middle"));
  }
  const down = Math.ceil((high - low) / 6);
  for (let decade = high; decade >= low; decade -= down) {
    const at = y(10 ** decade);
    found.push(ruler(EDGE.left, at, right, at));
    found.push(power(decade, EDGE.left - 8, at + 5, "end"));
  }
  found.push(label("reports in the batch (n)", (EDGE.left + right) / 2, HEIGHT - 6, "middle"));
  const title = label("epsilon", 0, 0, "middle");
  const centre = (EDGE.top + HEIGHT - EDGE.bottom) / 2;
  title.setAttribute("transform", `translate(14 ${centre}) rotate(-90)`);
  found.push(title);
  return found;
}

/** A power of ten in short: 0.01, 1, 100, and 10^5 with a raised exponent. */
function power(decade: number, x: number, y: number, anchor: string): SVGElement {
  if (Math.abs(decade) <= 2) return label(String(10 ** decade), x, y, anchor);
  const text = label("10", x, y, anchor);
  const raised = made("tspan", { "font-size": "75%", dy: "-5" });
  raised.textContent = String(decade).replace("-", "−");
  text.append(raised);
  return text;
}

function ruler(x1: number, y1: number, x2: number, y2: number): SVGElement {
  return made("line", { class: "ruler", x1, y1, x2, y2 });
}

/** Text at a place. */
export function label(text: string, x: number, y: number, anchor: string): SVGElement {
  const found = made("text", { x, y, "text-anchor": anchor });
  found.textContent = text;
  return found;
}

function made(name: string, attributes: Record<string, string | number>): SVGElement {
  const found = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, String(value));
  return found;
}
