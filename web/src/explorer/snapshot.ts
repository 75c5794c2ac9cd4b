/** Write what is visible as one HTML file without scripts, links or requests. */

import { html } from "./dom.ts";
import { cellOf, type Shown, settings } from "./shown.ts";

const DROPPED =
  "details:not([open]), script, link, style, dialog, form, input, select, textarea, .ce-screen, [hidden], iframe, object, img, base, meta";
const STATE = ["aria-busy", "aria-live", "tabindex", "title", "contenteditable", "data-control"];

/** Copy an element as a document: numbers stay, buttons become text, listeners and state go. */
export function inert(element: Element): Element {
  const copy = element.cloneNode(true) as Element;
  const chosen = [...element.querySelectorAll("select")].map(
    (select) => select.selectedOptions[0]?.text ?? "",
  );
  for (const [at, select] of [...copy.querySelectorAll("select")].entries()) {
    if (select.closest("form") === null) select.replaceWith(chosen[at] ?? "");
  }
  for (const dropped of copy.querySelectorAll(DROPPED)) dropped.remove();
  for (const button of copy.querySelectorAll("button")) {
    const text = document.createElement("span");
    text.className = button.className;
    text.append(...button.childNodes);
    button.replaceWith(text);
  }
  for (const anchor of copy.querySelectorAll("a")) anchor.replaceWith(...anchor.childNodes);
  for (const each of [copy, ...copy.querySelectorAll("*")]) {
    for (const { name } of [...each.attributes]) {
      if (STATE.includes(name) || name.startsWith("on") || name === "href" || name === "src")
        each.removeAttribute(name);
    }
  }
  return copy;
}

/** The rules of this page's own sheets, without those that would make a request. */
export function rules(sheets: Iterable<CSSStyleSheet>): string {
  const texts: string[] = [];
  for (const sheet of sheets) {
    let list: CSSRule[] = [];
    try {
      list = [...sheet.cssRules];
    } catch {
      continue;
    }
    const own = list
      .map((rule) => rule.cssText)
      .filter((text) => text.includes(".croupier-explorer"));
    texts.push(...own.filter((text) => !/@import|url\(/i.test(text)));
  }
  return texts.join("\n");
}

function settingsList(shown: Shown, heading: string): HTMLElement {
  const list = html("dl", { class: "ce-settings-list" });
  for (const [label, words] of settings(shown))
    list.append(html("div", {}, html("dt", {}, label), html("dd", {}, words)));
  return html("section", { class: "ce-section ce-settings" }, html("h2", {}, heading), list);
}

/** Every setting in words, of both versions; the page itself prints it in place of the controls. */
export function settingsOf(now: Shown, held: Shown | null): HTMLElement[] {
  if (held === null) return [settingsList(now, "Settings")];
  return [settingsList(held, "Settings of version A"), settingsList(now, "Settings of version B")];
}

/** How each number is proved: what the page shows in a dialog, as a table. */
function proofs(now: Shown, metrics: Set<string>, heading: string): HTMLElement {
  const rows = now.rows.flatMap((row) =>
    [...now.columns.values()]
      .filter((column) => metrics.has(column.metric))
      .map((column) => {
        const cell = cellOf(now, column.metric, row.rung);
        const reason = [cell?.theorem, cell?.attained, cell?.reason].filter(Boolean).join(". ");
        return html(
          "tr",
          {},
          html("th", { scope: "row" }, row.name),
          html("td", {}, column.heading),
          html("td", {}, cell?.text ?? ""),
          html("td", {}, reason),
          html("td", {}, html("code", {}, cell?.command ?? "")),
        );
      }),
  );
  const heads = ["who is looking", "number", "proved", "by", "command"].map((head) =>
    html("th", { scope: "col" }, head),
  );
  return html(
    "section",
    { class: "ce-section ce-proofs" },
    html("h2", {}, heading),
    html(
      "div",
      { class: "ce-scroll" },
      html(
        "table",
        { class: "ce-proof-table" },
        html("thead", {}, html("tr", {}, ...heads)),
        html("tbody", {}, ...rows),
      ),
    ),
  );
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export interface Snapshot {
  head: Element;
  results: Element;
  now: Shown;
  held: Shown | null;
  metrics: Set<string>;
  css: string;
}

/** The whole file. */
export function snapshot({ head, results, now, held, metrics, css }: Snapshot): string {
  const body = html("div", { class: "ce-frame" });
  const content = html(
    "div",
    { class: "ce-snapshot ce-right" },
    inert(head),
    ...settingsOf(now, held),
    inert(results),
  );
  content.append(
    ...(held === null ? [] : [proofs(held, metrics, "How the numbers of version A are proved")]),
    proofs(
      now,
      metrics,
      held === null ? "How the numbers are proved" : "How the numbers of version B are proved",
    ),
  );
  body.append(content);
  const title = `${now.plan?.title ?? "plan"}, plan ${now.plan?.digest ?? ""}`;
  return [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title>`,
    `<style>${css.replaceAll("</", "<\\/")}</style>`,
    `<body class="croupier-explorer ce-page"><main>${inert(body).outerHTML}</main></body>`,
    "</html>",
    "",
  ].join("\n");
}
