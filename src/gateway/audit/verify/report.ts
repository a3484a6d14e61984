/** What is wrong with an audit. */
interface AuditProblem {
  /** The number of the row; null where it is not about one. */
  readonly seq: number | null;
  /** Of the call in that row, if it can be read. */
  readonly id: string | null;
  readonly message: string;
}

/** What a verification has found. */
export interface AuditReport {
  readonly status: 'good' | 'tampered';
  readonly chain: string | null;
  /** How many rows were read, and the numbers of the first and last one. */
  readonly rows: number;
  readonly first: number | null;
  readonly last: number | null;
  /** How many rows before the first one were removed because of their age, as a row says. */
  readonly pruned: number;
  /** How many heads were compared, and how many of them are of rows that were removed since. */
  readonly heads: { readonly compared: number; readonly pruned: number };
  /** The first ones; empty where the audit is good. */
  readonly problems: readonly AuditProblem[];
}

/** Collects problems, of which the first few are kept. */
export function createProblems() {
  const kept: AuditProblem[] = [];
  return {
    kept,
    add: (message: string, seq: number | null = null, id: string | null = null): void => {
      if (kept.length < MOST_KEPT) kept.push({ seq, id, message });
    },
  };
}

export type Problems = ReturnType<typeof createProblems>;

const MOST_KEPT = 20;
