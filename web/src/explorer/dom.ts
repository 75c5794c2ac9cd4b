/** Make elements: HTML and SVG, with attributes, listeners and children in one call. */

type Child = Node | string | null | undefined | false;
type Attribute = string | number | boolean | null | undefined | ((event: never) => void);
type Attributes = Record<string, Attribute>;

const SVG = "http://www.w3.org/2000/svg";

function fill<T extends Element>(element: T, attributes: Attributes, children: Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as unknown as EventListener);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  put(element, children);
  return element;
}

/** Append children, skipping what is null or false. */
/** Put these elements into a parent, in this order; those that stand right are not touched. */
export function arrange(parent: HTMLElement, wanted: HTMLElement[]): void {
  for (const child of [...parent.children]) {
    if (!wanted.includes(child as HTMLElement)) child.remove();
  }
  wanted.forEach((child, at) => {
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
  });
}

export function put(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

export function html<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

let mounts = 0;

/** Make ids and labels of landmarks that are unique per mount, however many explorers a notebook shows. */
export function identifiers(): { id: (name: string) => string; label: (words: string) => string } {
  mounts += 1;
  const mount = mounts;
  return {
    id: (name) => `ce${mount}-${name.replace(/[^A-Za-z0-9_-]/g, "-")}`,
    label: (words) => (mount === 1 ? words : `${words} (${mount})`),
  };
}

/** Set text only where it differs, so that screen readers and layout stay quiet. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export const WAIT = "…";
