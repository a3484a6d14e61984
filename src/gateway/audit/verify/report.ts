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
  /** Of an audit that has a chain for each replica: what was found of each. `chain`, `first` and `last` are null then. */
  readonly chains?: readonly ChainReport[];
}

/** What a verification has found of one chain among several. */
export type ChainReport = Omit<AuditReport, 'status' | 'chains'>;

/** Collects problems, of which the first few are kept, in the words that `tell` gives them. */
export function createProblems(tell = (message: string) => message) {
  const kept: AuditProblem[] = [];
  return {
    kept,
    add: (message: string, seq: number | null = null, id: string | null = null): void => {
      if (kept.length < MOST_KEPT) kept.push({ seq, id, message: tell(message) });
    },
  };
}

export type Problems = ReturnType<typeof createProblems>;

const MOST_KEPT = 20;
