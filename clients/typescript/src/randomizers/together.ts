/** Questions together: each person answers all of them, in one report. */

import type { Bytes } from "../bytes.js";
import { Product } from "../domain.js";
import { ParameterError } from "../errors.js";
import { decimalSum } from "../numerics/decimal.js";
import type { Randomizer } from "../randomizer.js";
import { type Report, ReportFormat } from "../report.js";
import { SeveralQuestions } from "./several.js";

/** Answer every question with its own noise, and send all answers as one report. */
export class TogetherRandomizer extends SeveralQuestions {
  /** The sum of the questions', as they are written in decimals. */
  readonly maxEpsilonLocal: number;
  readonly domain: Product;
  readonly drawBounds: readonly bigint[];
  readonly reportFormat: TogetherFormat;
  override readonly variesByBatch: boolean;

  constructor(queries: readonly Randomizer[]) {
    super(queries);
    if (!queries.every((query) => Number.isFinite(query.maxEpsilonLocal))) {
      const must = "each limit epsilon: they are answered together";
      throw new ParameterError("queries", { must });
    }
    this.maxEpsilonLocal = decimalSum(queries.map((query) => query.maxEpsilonLocal));
    this.domain = new Product(queries.map((query) => query.domain));
    this.drawBounds = queries.flatMap((query) => query.drawBounds);
    this.variesByBatch = queries.some((query) => query.variesByBatch);
    this.reportFormat = new TogetherFormat(queries.map((query) => query.reportFormat));
  }

  async respond(
    indices: readonly unknown[],
    draws: readonly bigint[],
    batch: Bytes,
  ): Promise<Report> {
    let end = 0;
    const answers = this.queries.map((query, place) => {
      const start = end;
      end += query.drawBounds.length;
      return query.respond(indices[place], draws.slice(start, end), batch);
    });
    return (await Promise.all(answers)).flat();
  }
}

/** The integers of each answer, one question after the other. */
class TogetherFormat extends ReportFormat {
  constructor(private readonly answers: readonly ReportFormat[]) {
    super(answers.flatMap(({ bounds }) => bounds));
  }

  override fits(report: Report): boolean {
    if (!super.fits(report)) return false;
    let end = 0;
    return this.answers.every((own) => {
      const start = end;
      end += own.bounds.length;
      return own.fits(report.slice(start, end));
    });
  }
}
