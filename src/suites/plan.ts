import { RuntimeError } from '../base/errors.ts';
import { toCandidates } from './case/candidates.ts';
import { openRows } from './dataset/rows.ts';
import type { Gate, Suite } from './file/model.ts';
import { gatesOfVariants } from './matrix/gates.ts';
import type { RowProblem } from './record.ts';
import { compileSelection, type Selection } from './select/select.ts';

/** What a run of a suite would judge. */
export interface SuitePlan {
  readonly suite: string;
  /** As they will be judged: of a matrix once for each variant that they hold for. */
  readonly gates: readonly PlannedGate[];
  /** The variants of a matrix, in the order of the suite. */
  readonly variants?: readonly string[] | undefined;
  /** In the order in which they would run. */
  readonly rows: readonly PlannedRow[];
  /** There are more rows than `maxRows`; `rows` has the first ones. */
  readonly hasMore: boolean;
}

type PlannedGate = Gate & { readonly variant?: string };

export interface PlannedRow {
  /** From 1. */
  readonly number: number;
  readonly file: string;
  readonly line: number;
  /** The id of the case, or why the row cannot be used. */
  readonly content: { readonly id: string } | { readonly problem: RowProblem };
}

export interface PlanOptions {
  readonly select?: Selection | undefined;
  /** Rows to read at most. */
  readonly maxRows: number;
}

/**
 * Reads which cases a suite has, and runs none. Throws FILE_UNREADABLE, USAGE for a dataset on stdin, which cannot be
 * read again by a run, and DATASET_INVALID.
 */
export async function planSuite(suite: Suite, { select = {}, maxRows }: PlanOptions): Promise<SuitePlan> {
  const { dataset, name } = suite;
  const variants = suite.variants?.map((variant) => variant.name);
  const plan = { suite: name, gates: gatesOf(suite, variants), ...(variants && { variants }) };
  if (dataset.kind === 'file' && dataset.path === '-') {
    throw new RuntimeError(
      'USAGE',
      'a dataset on stdin can be read once, not first for the names of its cases',
    );
  }
  const reading = new AbortController();
  const rows: PlannedRow[] = [];
  const candidates = toCandidates(suite, openRows(dataset, reading.signal).rows);
  try {
    for await (const candidate of compileSelection(select)(candidates)) {
      if (rows.length === maxRows) return { ...plan, rows, hasMore: true };
      const { number, file, line } = candidate.row;
      const content =
        'problem' in candidate
          ? { problem: { file, line, column: 1, ...candidate.problem } }
          : { id: candidate.id };
      rows.push({ number, file, line, content });
    }
  } finally {
    reading.abort();
  }
  return { ...plan, rows, hasMore: false };
}

function gatesOf({ gates }: Suite, variants: readonly string[] | undefined): PlannedGate[] {
  if (variants === undefined) return [...gates];
  return gatesOfVariants(gates, variants).map(({ gate, variant }) => ({ ...gate, variant }));
}
