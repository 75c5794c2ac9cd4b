/** The windows of plans that go on: the histories that the specification gives. */

import { expect, test } from "vitest";
import { charge, readState, type State, writeState } from "../src/client/client_state.js";
import { joins, type Moment, moved, passTime, type Windowed } from "../src/client/window.js";
import type { Cost } from "../src/dummies.js";
import { type Case, vectors } from "./vectors.js";

function planOf(digest: string, own: Case): Windowed {
  return {
    digest,
    roundLength: own.every,
    window: own.window ?? undefined,
    reports: own.answers,
    cost: { epsilon: own.epsilon, delta: own.delta },
    keepsAnswer: own.is_permanent,
  };
}

/** Answer a round if window and budget allow it; null if the budget is used up for ever. */
function answered(
  state: State,
  plan: Windowed,
  attribute: string,
  budget: Cost,
  now: Moment,
): boolean | null {
  if (plan.window !== undefined) return joins(state, plan, attribute, budget, now);
  passTime(state, plan, now);
  try {
    charge(state, attribute, plan.cost, budget);
    return true;
  } catch {
    return null;
  }
}

test.each(vectors("windows").histories as Case[])("$history", (entry: Case) => {
  const plans = new Map(
    Object.entries(entry.plans).map(([name, own]) => [name, planOf(name, own)]),
  );
  let state = readState(null, "the test");
  for (const [first, second, round, clock, expected] of entry.steps) {
    const isMove = first === "move";
    const plan = plans.get(isMove ? second : first) as Windowed;
    const now = { round, clock };
    if (isMove) expect(moved(state, plan, now)).toBe(true);
    else {
      const [epsilon, delta] = entry.budgets[second];
      expect(answered(state, plan, second, { epsilon, delta }, now)).toBe(expected);
    }
    state = readState(writeState(state), "the test");
  }
  const { answered: left, spent, spent_delta } = JSON.parse(writeState(state));
  expect({ answered: left ?? {}, spent, spent_delta: spent_delta ?? {} }).toEqual(entry.memory);
});

test("an answer that counts no more is not counted from a later round on", () => {
  const plan = planOf("a", { every: 60, window: 60, answers: 1, epsilon: 1, delta: 0 });
  const state = readState(null, "the test");
  expect(joins(state, plan, "x", { epsilon: 9, delta: 0 }, { round: 0, clock: 0 })).toBe(true);
  passTime(state, { ...plan, digest: "b", roundLength: 60 }, { round: 5, clock: 300 });
  passTime(state, { ...plan, digest: "b", roundLength: 60 }, { round: 6, clock: 360 });
  expect(moved(state, plan, { round: 1, clock: 360 })).toBe(false);
});
