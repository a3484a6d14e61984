import { catalogue, RuntimeError } from '../../base/errors.ts';
import { findNearest } from '../../base/text/suggest.ts';
import { cut } from '../../base/text/width.ts';
import type { Row, RowFault } from '../dataset/row.ts';
import type { Suite } from '../file/model.ts';
import type { Candidate } from '../select/select.ts';
import { identifyCase, SuiteFileError } from './case-identity.ts';

type RowValue = Readonly<Record<string, unknown>>;

/** Maps each row to a case with its id and tags, or to a row fault. Rethrows errors from `rows`. */
export async function* toCandidates(suite: Suite, rows: AsyncIterable<Row>): AsyncGenerator<Candidate> {
  for await (const row of rows) {
    const { content } = row;
    if (!content.usable) {
      yield { row, problem: content.problem };
      continue;
    }
    const { value } = content;
    yield withProblem(row, value, () => ({ row, value, ...identifyCase(suite, value, row.number) }));
  }
}

function withProblem(row: Row, value: RowValue, read: () => Candidate): Candidate {
  try {
    return read();
  } catch (error) {
    return { row, problem: toRowFault(error, value) };
  }
}

/**
 * Turns DATASET_INVALID, EXPRESSION_FAILED and EVENT_INVALID into a fault of `row`, with a hint about its columns.
 * Rethrows every other error.
 */
export function toRowFault(error: unknown, row: RowValue): RowFault {
  if (!(error instanceof RuntimeError)) throw error;
  const { code, message, hint } = error;
  if (code !== 'DATASET_INVALID' && code !== 'EXPRESSION_FAILED' && code !== 'EVENT_INVALID') throw error;
  const located = error instanceof SuiteFileError ? { location: error.location } : {};
  const ownHint = hint === catalogue[code].hint ? undefined : hint;
  const hints = [hintOfColumns(message, row), ownHint].filter((text) => text !== undefined);
  return { message, ...located, ...(hints.length === 0 ? {} : { hint: hints.join(' ') }) };
}

function hintOfColumns(message: string, row: RowValue): string | undefined {
  const [, key = ''] = /No such key: (.+)$/s.exec(message) ?? [];
  const isOfRow = key !== '' && !Object.hasOwn(row, key) && message.includes('case');
  if (!isOfRow) return undefined;
  const names = Object.keys(row);
  const nearest = findNearest(key, names);
  const guess = nearest === undefined ? '' : `Did you mean ${memberText(nearest)}? `;
  const shown = names.slice(0, maxNames).map((name) => cut(name, 40));
  const more = names.length > maxNames ? `, and ${names.length - maxNames} more` : '';
  return `${guess}The row has ${shown.length === 0 ? 'no members' : shown.join(', ')}${more}.`;
}

const maxNames = 20;

function memberText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `case.${name}` : `case[${JSON.stringify(name)}]`;
}
