/** Answers as sentences, every number in three digits, rounded up. */

import type { Answer, Question } from "../bounds/amplification.ts";
import type { DummyAnswer, DummyQuestion } from "../bounds/dummy_answer.ts";
import { ceilingDigits, raised } from "../bounds/outward.ts";
import { typed, written } from "./fields.ts";

/**
 * An upper bound with the words for it.
 *
 * One that is the number asked for is repeated as it was typed: 0.1 is a double slightly above a
 * tenth, which rounded up in three digits would be 0.101.
 */
export function atMost(value: number, asked?: number): string {
  if (value === 0) return "0";
  return `at most ${value === asked ? typed(value) : ceilingDigits(value)}`;
}

/** The answer about a shuffled batch: one sentence per entry. */
export function shuffledSentences(question: Question, answer: Answer): string[] {
  const reports = question.n === 1 ? "one report" : `${written(question.n)} reports`;
  const local = `epsilon_local is ${atMost(answer.epsilonLocal, question.maxEpsilonLocal)}`;
  const found: string[] = [];
  if (answer.method === "none") {
    found.push(
      `In a shuffled batch of ${reports}, epsilon is 0 at delta ${typed(question.delta)}.`,
    );
  } else {
    const bound = `epsilon is ${atMost(answer.epsilon, question.maxEpsilonLocal)} at delta ${typed(question.delta)}`;
    found.push(`In a shuffled batch of ${reports}, ${bound}.`);
  }
  if (answer.method === "epsilon_local") {
    found.push(`Shuffling proves nothing beyond one report here: ${local}.`);
  } else {
    found.push(`If the shuffler is not honest, ${local}.`);
  }
  if (!answer.sharp) found.push("The bound may be looser than that of the command below.");
  return found;
}

/** The command that proves the same from both sides. */
export function shuffledCommand({ k, maxEpsilonLocal, n, delta }: Question): string {
  const mechanism = `--mechanism k-rr --k ${k} --max-epsilon-local ${typed(maxEpsilonLocal)}`;
  return `croupier amplify ${mechanism} --n ${typed(n)} --delta ${typed(delta)}`;
}

/** The answer about dummies. */
export function dummySentences(question: DummyQuestion, answer: DummyAnswer, people: number) {
  const proved = atMost(answer.epsilon, question.epsilon);
  const bound = `epsilon is ${proved} at delta ${typed(question.delta)}`;
  const share = raised(answer.standardDeviation / people, 4);
  const dummies = answer.mean === 1 ? "dummy" : "dummies";
  const each = `${written(answer.mean)} ${dummies} per possible report on average`;
  const crowd = people === 1 ? "one person" : `${written(people)} people`;
  const found = [
    `With ${each}, ${bound}, whatever the number of people.`,
    `That is ${written(Math.ceil(answer.dummies))} dummies per batch.`,
    `A count gets a standard deviation of ${atMost(answer.standardDeviation)}; ` +
      `a share among ${crowd}, ${atMost(share)}.`,
    "Whoever runs the shuffler knows its dummies: against them, they are no protection.",
  ];
  if (!answer.sharp) found.push("The table may be enough for a smaller epsilon as well.");
  return found;
}

/** The command that finds the same table. */
export function dummyCommand({ k, epsilon, delta }: DummyQuestion): string {
  const asked = `k=${k}, epsilon=${typed(epsilon)}, delta=${typed(delta)}`;
  return `python -c 'from croupier import solve; print(solve("plain", ${asked}))'`;
}
