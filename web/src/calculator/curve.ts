/** A curve of epsilon over the number of reports, drawn as SVG, and the same in a table. */

import { amplified, type Question } from "../bounds/amplification.ts";
import { written } from "./fields.ts";
import { element } from "./form.ts";
import { label, type Plot, plotted } from "./plot.ts";
import { atMost } from "./sentences.ts";

/** Decades of n from the first to the last. */
const [FIRST, LAST] = [1, 9];

/** Points per factor of ten. */
const PER_DECADE = 4;

const COUNT = (LAST - FIRST) * PER_DECADE + 1;

/** Milliseconds of one frame that the curve may take. */
const FRAME = 10;

/** One number of reports and the bound for it. */
export interface Point {
  readonly n: number;
  readonly epsilon: number;
}

/** Draws the latest question, some points per frame, and never a point of an older one. */
export class Curve {
  readonly #picture = element<SVGSVGElement>("calculator-curve");
  readonly #rows = element<HTMLTableSectionElement>("calculator-sizes");
  readonly #figure = this.#picture.closest("figure");
  #most = 0;
  #turn = 0;
  #about = "";
  #own: Point | undefined;
  #points: Point[] = [];

  constructor() {
    let width = this.#picture.clientWidth;
    new ResizeObserver(() => {
      if (this.#picture.clientWidth === width) return;
      width = this.#picture.clientWidth;
      if (this.#points.length === COUNT) this.#show();
    }).observe(this.#picture);
  }

  /** Show nothing, and no place for it. */
  hide(): void {
    this.#clear();
    if (this.#figure !== null) this.#figure.hidden = true;
  }

  #clear(): void {
    this.#turn += 1;
    this.#about = "";
    this.#points = [];
    this.#picture.replaceChildren();
    this.#picture.setAttribute("aria-label", "No curve.");
    this.#rows.replaceChildren();
  }

  /**
   * Draw the curve of a question, and the question as a dot.
   *
   * What was drawn for another curve goes at once; another n is another dot on the same curve.
   */
  draw({ delta, k, maxEpsilonLocal, n }: Question, epsilon: number): void {
    this.#own = { n, epsilon };
    const about = [delta, k, maxEpsilonLocal].join();
    if (about === this.#about) {
      if (this.#points.length === COUNT) this.#show();
      return;
    }
    this.#clear();
    this.#about = about;
    this.#most = maxEpsilonLocal;
    if (this.#figure !== null) this.#figure.hidden = false;
    const turn = this.#turn;
    const next = () => {
      if (turn !== this.#turn) return;
      const end = performance.now() + FRAME;
      do {
        const size = Math.round(10 ** (FIRST + this.#points.length / PER_DECADE));
        const found = amplified({ delta, k, maxEpsilonLocal, n: size });
        this.#points.push({ n: size, epsilon: found.epsilon });
      } while (this.#points.length < COUNT && performance.now() < end);
      if (this.#points.length < COUNT) requestAnimationFrame(next);
      else this.#show();
    };
    requestAnimationFrame(next);
  }

  #show(): void {
    const whole = this.#points.filter((_, place) => place % PER_DECADE === 0);
    this.#rows.replaceChildren(...whole.map((point) => row(point, this.#most)));
    const width = Math.max(280, this.#picture.clientWidth || 640);
    const plot: Plot = { points: this.#points, own: this.#own, decades: [FIRST, LAST], width };
    this.#picture.setAttribute("viewBox", `0 0 ${width} 280`);
    this.#picture.replaceChildren(...plotted(plot));
    const [first, last] = [whole[0], whole.at(-1)];
    if (first === undefined || last === undefined) return;
    if (first.epsilon === 0) {
      const nowhere = "epsilon is 0 for 10 reports and more.";
      this.#picture.setAttribute("aria-label", nowhere);
      this.#picture.replaceChildren(label(nowhere, width / 2, 140, "middle"));
      return;
    }
    this.#picture.setAttribute(
      "aria-label",
      `epsilon falls from ${atMost(first.epsilon, this.#most)} for ${written(first.n)} reports ` +
        `to ${atMost(last.epsilon, this.#most)} for ${written(last.n)}.`,
    );
  }
}

/** A row of the table. */
function row({ n, epsilon }: Point, most: number): HTMLTableRowElement {
  const found = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = written(n);
  const cell = document.createElement("td");
  cell.textContent = atMost(epsilon, most);
  found.append(head, cell);
  return found;
}
