import { catalogue, RuntimeError } from '../errors.ts';
import type { Row } from './dataset/rows.ts';
import { identify } from './identity.ts';
import type { RowFault } from './ledger.ts';
import type { Suite } from './model.ts';
import type { Candidate } from './select/select.ts';

/** The rows of a dataset as cases with their names, or as what is wrong with them. Throws what the rows throw. */
export async function* toCandidates(suite: Suite, rows: AsyncIterable<Row>): AsyncGenerator<Candidate> {
  for await (const row of rows) {
    const { content } = row;
    if (!content.usable) {
      yield { row, problem: content.problem };
      continue;
    }
    const { value } = content;
    yield orProblem(row, () => ({ row, value, ...identify(suite, value, row.number) }));
  }
}

function orProblem(row: Row, read: () => Candidate): Candidate {
  try {
    return read();
  } catch (error) {
    return { row, problem: problemOf(error) };
  }
}

/** What is wrong with a row; anything but that is thrown. */
export function problemOf(error: unknown): RowFault {
  if (!(error instanceof RuntimeError)) throw error;
  const { code, message, hint } = error;
  if (code !== 'DATASET_INVALID' && code !== 'EXPRESSION_FAILED' && code !== 'EVENT_INVALID') throw error;
  return hint === catalogue[code].hint ? { message } : { message, hint };
}
