/** The calculator: reads the inputs, computes, and shows sentences, a curve and a command. */

import { amplified, type Question } from "../bounds/amplification.ts";
import { type DummyQuestion, withDummies } from "../bounds/dummy_answer.ts";
import { Curve } from "./curve.ts";
import { DUMMIES, readAddress, SHUFFLED, writeAddress } from "./fields.ts";
import { element, Form, type Reading } from "./form.ts";
import { dummyCommand, dummySentences, shuffledCommand, shuffledSentences } from "./sentences.ts";

/** So long after the last change an answer is read out, in milliseconds. */
const QUIET = 700;

/** So long after the last change the address is written: browsers refuse to write it often. */
const ADDRESS = 300;

/** A box with sentences and a command below it. */
class Box {
  readonly #answer: HTMLElement;
  readonly #command: HTMLElement;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(name: string) {
    this.#answer = element(`calculator-${name}-answer`);
    this.#command = element(`calculator-${name}-command`);
  }

  /** Show the answer to the latest question; read it out once inputs have stopped moving. */
  show(sentences: readonly string[], command: string): void {
    this.#answer.setAttribute("aria-busy", "true");
    this.#answer.replaceChildren(
      ...sentences.map((sentence) => {
        const paragraph = document.createElement("p");
        paragraph.append(...unbroken(sentence));
        return paragraph;
      }),
    );
    this.#command.replaceChildren(...words(command));
    const block = this.#command.closest("pre");
    for (const part of [block, block?.previousElementSibling]) {
      if (part instanceof HTMLElement) part.hidden = command === "";
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#answer.setAttribute("aria-busy", "false"), QUIET);
  }
}

/** A command of which no line ends within a word, such as an option. */
function words(command: string): (string | HTMLElement)[] {
  return command.split(/( )/).map((part) => (part === " " ? part : whole(part)));
}

/** The words of a sentence, so marked that no line ends within a number like 1e-10. */
function unbroken(sentence: string): (string | HTMLElement)[] {
  return sentence
    .split(/(\d[\d.]*e-\d+)/)
    .map((part, place) => (place % 2 === 0 ? part : whole(part)));
}

/** Text in which no line ends. */
function whole(text: string): HTMLElement {
  const found = document.createElement("span");
  found.className = "whole";
  found.textContent = text;
  return found;
}

const boxes = { shuffled: new Box("shuffled"), dummies: new Box("dummies") };
const curve = new Curve();

/** The numbers that are there if nothing is wrong with any. */
function complete<Key extends string>(
  { values }: Reading,
  fields: readonly { key: Key }[],
): Record<Key, number> {
  return Object.fromEntries(
    fields.map(({ key }) => [key, values.get(key) ?? Number.NaN]),
  ) as Record<Key, number>;
}

function answerShuffled(): void {
  const reading = shuffledForm.read();
  if (reading.complaints.length > 0) {
    curve.hide();
    boxes.shuffled.show(reading.complaints, "");
    return;
  }
  const { delta, k, max_epsilon_local: maxEpsilonLocal, n } = complete(reading, SHUFFLED);
  const question: Question = { delta, k, maxEpsilonLocal, n };
  const answer = attempt(() => amplified(question));
  if (typeof answer === "string") {
    curve.hide();
    boxes.shuffled.show([answer], "");
    return;
  }
  boxes.shuffled.show(shuffledSentences(question, answer), shuffledCommand(question));
  curve.draw(question, answer.epsilon);
}

function answerDummies(): void {
  const reading = dummyForm.read();
  if (reading.complaints.length > 0) {
    boxes.dummies.show(reading.complaints, "");
    return;
  }
  const { dummy_delta: delta, epsilon, people, reports: k } = complete(reading, DUMMIES);
  const question: DummyQuestion = { delta, epsilon, k };
  const answer = attempt(() => withDummies(question));
  if (typeof answer === "string") {
    boxes.dummies.show([answer], "");
    return;
  }
  boxes.dummies.show(dummySentences(question, answer, people), dummyCommand(question));
}

/** The result, or why there is none. */
function attempt<Result>(compute: () => Result): Result | string {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RangeError) return `No answer: ${error.message}.`;
    throw error;
  }
}

/** Calls once per frame at most, with what the inputs show then. */
function eachFrame(compute: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      compute();
      keepAddress();
    });
  };
}

let writing: ReturnType<typeof setTimeout> | undefined;

/** Write the questions into the address, so that they can be sent to somebody; none while one is not whole. */
function keepAddress(): void {
  clearTimeout(writing);
  writing = setTimeout(() => {
    const readings = [shuffledForm.read(), dummyForm.read()];
    if (readings.some(({ complaints }) => complaints.length > 0)) return;
    const values = new Map(readings.flatMap(({ values }) => [...values]));
    history.replaceState(null, "", writeAddress(values));
  }, ADDRESS);
}

/** Show the question of the address, if it has one. */
function followAddress(): boolean {
  const shuffled = readAddress(location.hash, SHUFFLED);
  const dummies = readAddress(location.hash, DUMMIES);
  shuffledForm.show(shuffled);
  dummyForm.show(dummies);
  return shuffled.size + dummies.size > 0;
}

const shuffledForm: Form = new Form(SHUFFLED, eachFrame(answerShuffled));
const dummyForm: Form = new Form(DUMMIES, eachFrame(answerDummies));
for (const form of document.querySelectorAll("form.calculator")) {
  form.addEventListener("submit", (event) => event.preventDefault());
}
addEventListener("hashchange", () => {
  if (!followAddress()) {
    keepAddress(); // a link to a section of the page
    return;
  }
  answerShuffled();
  answerDummies();
});
followAddress();
answerShuffled();
answerDummies();
