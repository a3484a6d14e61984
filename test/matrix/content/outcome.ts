/**
 * The outcome of an answer. `change`: passes with a change or a replacement. `open`: passes by a documented rule for
 * failures. `ask`: a person decides. `deny`: ends the call, the turn or the session.
 */
export type Outcome = 'pass' | 'change' | 'open' | 'ask' | 'open ask' | 'deny';

export interface Place {
  readonly point: string;
  readonly payload: unknown;
  /** The example answers of the protocol pages, each a JSON object on one line. */
  readonly answers: readonly string[];
}

export interface Vocabulary {
  readonly dialect: string;
  readonly places: readonly Place[];
  /** The allowed outcomes for these bytes. `isClosed` stands for `on_failure: deny`. */
  expect(point: string, bytes: Uint8Array, isClosed: boolean): readonly Outcome[];
}

export function outcomeOf(decision: {
  readonly verdict: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}): Outcome {
  const isOpen = decision.metadata['failed_open'] !== undefined;
  switch (decision.verdict) {
    case 'allow':
      return isOpen ? 'open' : 'pass';
    case 'modify':
    case 'respond':
      return isOpen ? 'open' : 'change';
    case 'ask':
      return isOpen ? 'open ask' : 'ask';
    default:
      return 'deny';
  }
}
