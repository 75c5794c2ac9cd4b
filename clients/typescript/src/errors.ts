/**
 * The errors that the client throws.
 *
 * Messages say what must hold and what to do next. They never contain a person's value.
 */

/** The root of every error that is thrown on purpose. */
export class CroupierError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** A parameter outside its range. */
export class ParameterError extends CroupierError {
  constructor(
    readonly parameter: string,
    { must, hint = "" }: { must: string; hint?: string },
  ) {
    super(`\`${parameter}\` must ${must}.${hint && ` ${hint}`}`);
  }
}

/** A value, or a report, that does not fit. */
export class DataError extends CroupierError {}

/** Bytes that are not a report of the plan. */
export class MalformedReportError extends CroupierError {
  constructor(readonly reason: "length" | "version" | "kind" | "padding" | "body") {
    super(`Not a report of this plan: its ${reason} is wrong. Refuse it.`);
  }
}

/** A document not signed by a party that the plan names. */
export class UntrustedError extends CroupierError {
  constructor(
    readonly what: string,
    readonly problem: string,
    advice = "Do not use it; ask its operator.",
  ) {
    super(`${what} ${problem}. ${advice}`);
  }
}

/**
 * A plan was superseded: its shuffler's root has signed which plan took its place.
 *
 * Nobody is moved to the other plan by this error, because people agree to one plan.
 */
export class SupersededError extends CroupierError {
  constructor(
    /** The digest of the plan that took its place. */
    readonly successor: string,
    /** The day that the pointer names, if any. */
    readonly date?: string,
  ) {
    super(
      `This plan was superseded by plan ${successor.slice(0, 16)}…: install the version of the ` +
        "app that has it.",
    );
  }
}

/** A server, or a mirror of it, answers that it does not have a plan, or a round of it. */
export class NotOfferedError extends CroupierError {
  constructor(
    readonly status: number,
    { who = "server", what = "the plan" }: { who?: string; what?: string } = {},
  ) {
    super(
      `This ${who} does not offer ${what} (${status}). Check the address and the plan's digest.`,
    );
  }
}

/** A connection cannot be trusted, and asking again does not help; browsers do not tell. */
export class CertificateError extends CroupierError {
  constructor(
    readonly host: string,
    /** The reason in a few words, such as "self-signed certificate". */
    readonly reason: string,
    hint: string,
  ) {
    super(`The connection to ${host} cannot be trusted: ${reason}. ${hint}`);
  }
}

/** An issuer does not give this device a credential; its own words are not repeated. */
export class NotAdmittedError extends CroupierError {
  constructor(readonly status: number) {
    const said: Record<number, string> = {
      403: "The issuer does not admit this device (403). Check the proof of enrolment.",
      409: "The invitation was used by another device (409). Ask for another one.",
    };
    super(said[status] ?? `The issuer does not enrol devices (${status}). Check its address.`);
  }
}

/** The memory holds no token for a round, so that nothing can be sent in it. */
export class NoTokenError extends CroupierError {
  constructor(readonly roundNumber: number) {
    super(
      `There is no token for round ${roundNumber}. Nothing was randomised. Tokens of a round are ` +
        "given out before it opens: fetch the next one.",
    );
  }
}

/** A report would cost more than is left of a person's budget for an attribute. */
export class BudgetError extends CroupierError {
  constructor(
    readonly attribute: string,
    readonly cost: number,
    readonly budget: number,
    /** The chance that a report's nats do not hold, and the largest sum of such chances. */
    readonly delta = 0,
    readonly budgetDelta = 0,
  ) {
    const chance = ` The chance that they do not hold may be ${budgetDelta} in all; a report costs ${delta}.`;
    super(
      `${attribute} may cost ${budget} nats in all and a report costs ${cost}, more than is left.` +
        `${delta > 0 ? chance : ""} Nothing was randomised. Stay away, or ask the person for more.`,
    );
  }
}

/** A client's memory cannot be read; it must not start afresh and randomise again. */
export class StateError extends CroupierError {
  constructor(readonly place: string) {
    super(`${place} is not a client's memory. Restore it; nothing was randomised.`);
  }
}
