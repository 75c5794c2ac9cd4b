/** The texts of a plan that people read: on one line, and nothing in them is out of sight. */

import { ParameterError } from "./errors.js";
import type { Json } from "./json.js";

/** Control characters, signs without a shape, tags and half characters. */
const HIDDEN = String.raw`\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}\ud800-\udfff`;
const BLANK = String.raw` \u00a0\u115f\u1160\u1680\u180e\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0`;
/** The signs that shape their neighbours, as in emoji: blank at the beginning. */
const JOINERS = String.raw`\u034f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}`;
const ONE_LINE = new RegExp(
  `^[^${HIDDEN}${BLANK}${JOINERS}](?:[^${HIDDEN}]*[^${HIDDEN}${BLANK}])?$`,
  "u",
);
const NAME = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;
const LONGEST_NAME = 64;

/** Return a text of at most so many characters, if it is given. */
export function words(name: string, value: Json | undefined, most: number): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && isOneLine(value) && [...value].length <= most) return value;
  throw new ParameterError(name, { must: `be a text of 1 to ${most} characters, on one line` });
}

/** Return the name of a question, if it is given. */
export function questionName(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && NAME.test(value) && value.length <= LONGEST_NAME) return value;
  const must = "be letters a-z, digits, hyphens and underscores";
  throw new ParameterError("questions.name", { must });
}

export function isOneLine(text: string): boolean {
  return ONE_LINE.test(text);
}
