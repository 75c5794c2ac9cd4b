/** Randomizers that ask several questions in one batch. */

import { ParameterError } from "../errors.js";
import { Randomizer } from "../randomizer.js";

/** A mechanism whose values are rows with an answer to each of several questions. */
export abstract class SeveralQuestions extends Randomizer<readonly unknown[]> {
  constructor(protected readonly queries: readonly Randomizer[]) {
    super();
    const isOther = (query: Randomizer) =>
      query instanceof SeveralQuestions || query.permanent !== undefined;
    if (queries.length === 0 || queries.some(isOther)) {
      const must =
        "be at least one, none of them several questions itself or with a permanent answer";
      throw new ParameterError("queries", { must });
    }
  }
}
