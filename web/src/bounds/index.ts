/** The bounds that the calculator computes, each question answered by the function it is about. */

import { type Answer, amplified, type Question } from "./amplification.ts";
import { type DummyAnswer, type DummyQuestion, withDummies } from "./dummy_answer.ts";

export { type Answer, amplified, type Question } from "./amplification.ts";
export { type DummyAnswer, type DummyQuestion, withDummies } from "./dummy_answer.ts";

/** A question and what it is about, as the test vectors write it. */
export type AnyQuestion =
  | ({ readonly about: "k-rr" } & Question)
  | ({ readonly about: "dummies" } & DummyQuestion);

/** Answer one question. */
export function answered(question: AnyQuestion): Answer | DummyAnswer {
  return question.about === "k-rr" ? amplified(question) : withDummies(question);
}
