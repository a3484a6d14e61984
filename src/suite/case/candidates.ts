import { catalogue, RuntimeError } from '../../errors.ts';
import { cut } from '../../text/width.ts';
import { findNearest } from '../../yaml/suggest.ts';
import type { Row } from '../dataset/rows.ts';
import type { Suite } from '../file/model.ts';
import type { RowFault } from '../run/accumulator.ts';
import type { Candidate } from '../select/select.ts';
import { identify, SuiteFault } from './identity.ts';

type RowValue = Readonly<Record<string, unknown>>;

/** The rows of a dataset as cases with their names, or as what is wrong with them. Throws what the rows throw. */
export async function* toCandidates(suite: Suite, rows: AsyncIterable<Row>): AsyncGenerator<Candidate> {
  for await (const row of rows) {
    const { content } = row;
    if (!content.usable) {
      yield { row, problem: content.problem };
      continue;
    }
    const { value } = content;
    yield orProblem(row, value, () => ({ row, value, ...identify(suite, value, row.number) }));
  }
}

function orProblem(row: Row, value: RowValue, read: () => Candidate): Candidate {
  try {
    return read();
  } catch (error) {
    return { row, problem: problemOf(error, value) };
  }
}

/** What is wrong with a row of these members; anything but that is thrown. */
export function problemOf(error: unknown, row: RowValue): RowFault {
  if (!(error instanceof RuntimeError)) throw error;
  const { code, message, hint } = error;
  if (code !== 'DATASET_INVALID' && code !== 'EXPRESSION_FAILED' && code !== 'EVENT_INVALID') throw error;
  const place = error instanceof SuiteFault ? { place: error.place } : {};
  const said = hint === catalogue[code].hint ? undefined : hint;
  const known = [hintOfColumns(message, row), said].filter((text) => text !== undefined);
  return { message, ...place, ...(known.length === 0 ? {} : { hint: known.join(' ') }) };
}

/** Which members a row has, where an expression asks for one that it has not. */
function hintOfColumns(message: string, row: RowValue): string | undefined {
  const [, key = ''] = /No such key: (.+)$/s.exec(message) ?? [];
  const isOfRow = key !== '' && !Object.hasOwn(row, key) && message.includes('case');
  if (!isOfRow) return undefined;
  const names = Object.keys(row);
  const nearest = findNearest(key, names);
  const guess = nearest === undefined ? '' : `Did you mean ${memberText(nearest)}? `;
  const shown = names.slice(0, mostNames).map((name) => cut(name, 40));
  const more = names.length > mostNames ? `, and ${names.length - mostNames} more` : '';
  return `${guess}The row has ${shown.length === 0 ? 'no members' : shown.join(', ')}${more}.`;
}

const mostNames = 20;

function memberText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `case.${name}` : `case[${JSON.stringify(name)}]`;
}
