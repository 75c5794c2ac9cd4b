/**
 * The window of a plan that goes on: so many answers of one person within any such time.
 *
 * Nothing here sees a value. An answer counts until the rounds of the server and the clock of the
 * device agree that the window has passed. A plan counts its own answers by its own rounds alone.
 */

import type { Cost } from "../dummies.js";
import type { Plan } from "../plan.js";
import { type Answered, leftOf, type State } from "./client_state.js";

/** The time at which a client looks: a round, and the seconds that its clock shows. */
export interface Moment {
  readonly round: number;
  readonly clock: number;
}

/** The part of a plan that its window depends on. */
export type Windowed = Pick<
  Plan,
  "digest" | "roundLength" | "window" | "reports" | "cost" | "keepsAnswer"
>;

/** Count one more answer in the plan's window; return false if it or the budget allows none. */
export function joins(
  state: State,
  plan: Windowed,
  attribute: string,
  budget: Cost,
  now: Moment,
): boolean {
  const { digest, cost, window: length = 0, keepsAnswer } = plan;
  passTime(state, plan, now);
  let own = state.answered[digest] ?? [];
  const but = keepsAnswer ? digest : undefined;
  if (own.length >= plan.reports) return false;
  if (own.length > 0 && !keepsAnswer) {
    // Another plan may have stopped counting them.
    own = own.map((entry) => ({ ...entry, ...cost }));
    state.answered[digest] = own;
  }
  if (!leftOf(state, attribute, cost, budget, but)) return false;
  // The latest report of a permanent answer stands for all of them.
  const isCovered = (entry: Answered) => keepsAnswer && entry.attribute === attribute;
  const earlier = own.map((entry) =>
    isCovered(entry) ? { ...entry, epsilon: 0, delta: 0 } : entry,
  );
  const made = { attribute, ...cost, at: now.clock, length, rounds: { [digest]: now.round } };
  state.answered[digest] = [...earlier, made];
  return true;
}

/** Forget the answers of this plan that have left their window, and the costs of others'. */
export function passTime(
  state: State,
  { digest, roundLength }: Windowed,
  { round, clock }: Moment,
): void {
  const hasLeft = ({ at, length, rounds }: Answered) => {
    const passed = (round - (rounds[digest] as number)) * roundLength;
    return passed >= length && clock - at >= length - roundLength;
  };
  for (const [plan, entries] of Object.entries(state.answered)) {
    const left = entries
      // A clock that shows less than it did has been set back: the window counts from now on.
      .map((entry) => ({
        ...entry,
        at: Math.min(entry.at, clock),
        rounds: { [digest]: round, ...entry.rounds },
      }))
      .filter((entry) => plan !== digest || !hasLeft(entry))
      .map((entry) => (hasLeft(entry) ? { ...entry, epsilon: 0, delta: 0 } : entry));
    if (left.length > 0) state.answered[plan] = left;
    else delete state.answered[plan];
  }
}

/**
 * Count the latest answer from now on: it is sealed again, for a later round.
 *
 * Return false if no answer counts any more, so that it must not be sealed again.
 */
export function moved(state: State, { digest }: Windowed, { round, clock }: Moment): boolean {
  const earlier = [...(state.answered[digest] ?? [])];
  const last = earlier.pop();
  if (last === undefined || last.epsilon === 0) return false;
  const own = { ...last, at: Math.max(last.at, clock), rounds: { [digest]: round } };
  state.answered[digest] = [...earlier, own];
  return true;
}
