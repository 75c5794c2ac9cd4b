/** The pipeline from devices to what is published, with what one adversary sees or runs filled in. */

import type { Row } from "../asking/protocol.ts";
import { svg } from "../dom.ts";

interface Station {
  part: string;
  label: string;
  glyph: (seen: boolean, some: boolean) => SVGElement[];
}

const PITCH = 36;
const LABELS = 28;
const HEIGHT = 30;

const shape = (d: string, className: string) => svg("path", { d, class: className });

/** Three phones; "some" fills one of them: clients that the adversary controls. */
const devices = (seen: boolean, some: boolean) =>
  [-9, -2.5, 4].map((x, at) =>
    svg("rect", {
      x,
      y: -7,
      width: 5,
      height: 14,
      rx: 1.5,
      class: seen || (some && at === 0) ? "ce-seen" : "ce-unseen",
    }),
  );

const bodied = (outline: string, inner: string) => (seen: boolean) => [
  shape(outline, seen ? "ce-seen" : "ce-unseen"),
  shape(inner, seen ? "ce-inner-seen" : "ce-inner"),
];

const BOX = "M-8-9H8a2 2 0 0 1 2 2V7a2 2 0 0 1-2 2H-8a2 2 0 0 1-2-2V-7a2 2 0 0 1 2-2Z";
const DISC = "M-10.5 0a10.5 10.5 0 1 0 21 0a10.5 10.5 0 1 0-21 0Z";
const ENVELOPE = "M-10-7H10V7H-10Z";

const network = bodied(ENVELOPE, "M-10-7L0 1.5L10-7");
const shuffler = bodied(
  DISC,
  "M-6-3.5H-3L3 3.5H6M-6 3.5H-3L3-3.5H6M4-5.5L6-3.5L4-1.5M4 1.5L6 3.5L4 5.5",
);
const analyzer = bodied(BOX, "M5-5H-4.5L1 0L-4.5 5H5");
const published = bodied("M-8-10H8V10H-8Z", "M-4.5 6V1M0 6V-5M4.5 6V-1.5");
const batch = (seen: boolean) =>
  [-8, -2.5, 3].map((y) =>
    svg("rect", { x: -9, y, width: 18, height: 4.5, rx: 1, class: seen ? "ce-seen" : "ce-unseen" }),
  );

/** The stations of a pipeline with as many shufflers as the rows speak of. */
export function stations(rows: Row[]): Station[] {
  const two = rows.some((row) => row.parts.includes("shuffler_2"));
  const all: (Station | null)[] = [
    { part: "device", label: "devices", glyph: devices },
    { part: "network", label: "network", glyph: network },
    { part: "shuffler_1", label: two ? "shuffler 1" : "shuffler", glyph: shuffler },
    two ? { part: "shuffler_2", label: "shuffler 2", glyph: shuffler } : null,
    { part: "reports", label: "batch", glyph: batch },
    { part: "analyzer", label: "analyzer", glyph: analyzer },
    { part: "published", label: "published", glyph: published },
  ];
  return all.filter((station) => station !== null);
}

/** What the picture says, for those who do not see it. */
export function pictureWords(line: Station[], parts: string[]): string {
  const seen = line
    .filter((station) => parts.includes(station.part))
    .map((station) => station.label);
  if (parts.includes("clients")) seen.unshift("some of the devices");
  return seen.length === 0 ? "Sees nothing." : `Sees or runs: ${seen.join(", ")}.`;
}

/** Labels stand in two rows, so that they are as large as other small print. */
function label(text: string, x: number, low: boolean): SVGElement[] {
  const y = HEIGHT + (low ? 24 : 10);
  const name = svg("text", { x, y, "text-anchor": "middle", class: "ce-station" }, text);
  return low ? [svg("path", { d: `M${x} ${HEIGHT - 1}v14`, class: "ce-leader" }), name] : [name];
}

function pipeline(line: Station[], parts: string[], labelled: boolean): SVGSVGElement {
  const width = line.length * PITCH;
  const height = labelled ? HEIGHT + LABELS : HEIGHT;
  const middle = HEIGHT / 2;
  const picture = svg("svg", {
    class: labelled ? "ce-pipeline ce-labelled" : "ce-pipeline",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": labelled
      ? `A report goes from ${line.map((station) => station.label).join(" to ")}.`
      : pictureWords(line, parts),
  });
  picture.append(
    svg("path", { d: `M${PITCH / 2} ${middle}H${width - PITCH / 2}`, class: "ce-flow" }),
  );
  line.forEach((station, at) => {
    const x = (at + 0.5) * PITCH;
    picture.append(
      svg(
        "g",
        { transform: `translate(${x} ${middle})` },
        ...station.glyph(parts.includes(station.part), parts.includes("clients")),
      ),
    );
    if (labelled) picture.append(...label(station.label, x, at % 2 === 1));
  });
  return picture;
}

export const pictogram = (line: Station[], parts: string[]) => pipeline(line, parts, false);
export const pictogramKey = (line: Station[]) => pipeline(line, [], true);
