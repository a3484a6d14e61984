import { RuntimeError } from '../base/errors.ts';
import { toCandidates } from './case/candidates.ts';
import { openRows } from './dataset/rows.ts';
import type { Gate, Suite } from './file/model.ts';
import { gatesOfVariants } from './matrix/gates.ts';
import type { RowProblem } from './record.ts';
import { compileSelection, type Selection } from './select/select.ts';

export interface SuitePlan {
  readonly suite: string;
  readonly gates: readonly PlannedGate[];
  readonly variants?: readonly string[] | undefined;
  readonly rows: readonly PlannedRow[];
  readonly hasMore: boolean;
}

type PlannedGate = Gate & { readonly variant?: string };

export interface PlannedRow {
  readonly number: number;
  readonly file: string;
  readonly line: number;
  readonly content: { readonly id: string } | { readonly problem: RowProblem };
}

export interface PlanOptions {
  readonly select?: Selection | undefined;
  readonly maxRows: number;
}

/**
 * Reads the cases of a suite without running them. Throws FILE_UNREADABLE and DATASET_INVALID. Throws USAGE for stdin,
 * which a run could not read again.
 */
export async function planSuite(suite: Suite, { select = {}, maxRows }: PlanOptions): Promise<SuitePlan> {
  const { dataset, name } = suite;
  const variants = suite.variants?.map((variant) => variant.name);
  const plan = { suite: name, gates: gatesOf(suite, variants), ...(variants && { variants }) };
  if (dataset.kind === 'file' && dataset.path === '-') {
    throw new RuntimeError(
      'USAGE',
      'a dataset on stdin can be read only once, so its cases cannot be listed first',
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
