/**
 * What came of an answer: it lets pass as it is, with a change or with what stands in its place; it passes by a rule for
 * failures, which the decision names; a person is asked; or it denies, whether that ends the call, the turn or the session.
 */
export type Outcome = 'pass' | 'change' | 'open' | 'ask' | 'open ask' | 'deny';

/** A point of a dialect at which a program is asked or told. */
export interface Place {
  readonly point: string;
  readonly payload: unknown;
  /** What the pages of the dialect show as answers there, each a JSON object on one line. */
  readonly answers: readonly string[];
}

/** What a dialect's pages say of its answers. */
export interface Vocabulary {
  readonly dialect: string;
  readonly places: readonly Place[];
  /** What may come of these bytes, with `on_failure: deny` where `isClosed`. */
  expect(point: string, bytes: Uint8Array, isClosed: boolean): readonly Outcome[];
}

/** The outcome of a decision document. */
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
