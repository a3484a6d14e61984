import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import type { Suite } from '../file/model.ts';
import { misfit } from './dataset-error.ts';

/** Which case a row is. */
export interface CaseIdentity {
  readonly id: string;
  /** Each once, none empty. */
  readonly tags: readonly string[];
}

/** Reads who the case of that row is. Throws DATASET_INVALID or EXPRESSION_FAILED when it does not fit. */
export function identify(
  suite: Suite,
  row: Readonly<Record<string, unknown>>,
  rowNumber: number,
): CaseIdentity {
  const mapped = suite.mapping.identity.evaluate({ case: row });
  if (!isObject(mapped)) throw misfit('case', 'a mapping', mapped);
  return { id: readId(mapped['id'], rowNumber), tags: readTags(mapped['tags'], suite) };
}

function readId(value: unknown, rowNumber: number): string {
  if (value === undefined || value === null || value === '') return String(rowNumber);
  const id = scalarText(value);
  if (id === undefined) throw misfit('id', 'text or a number', value);
  return id;
}

/** What the suite, rather than the row, has to be corrected for. */
export class SuiteFault extends RuntimeError {
  readonly place: { readonly file: string; readonly line: number };

  constructor(place: SuiteFault['place'], { message, hint }: { message: string; hint: string }) {
    super('DATASET_INVALID', message, { hint });
    this.place = place;
  }
}

function readTags(value: unknown, { file, mapping }: Suite): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string' && mapping.tagsLine !== undefined) {
    const message = 'case.tags must be a list, and is a text';
    const hint = 'Put it into brackets, as in tags: ["${case.topic}"]: a list of one.';
    throw new SuiteFault({ file, line: mapping.tagsLine }, { message, hint });
  }
  if (!Array.isArray(value)) throw misfit('tags', 'a list', value);
  const tags = value.map((tag: unknown, index) => {
    const text = tag === null ? '' : scalarText(tag);
    if (text === undefined) throw misfit(`tags[${index}]`, 'text', tag);
    return text;
  });
  return [...new Set(tags)].filter((tag) => tag !== '');
}

/** Names and groups are often numbers or flags in a dataset; their text is unmistakable. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'object' && value !== null && JSON.isRawJSON(value) ? value.rawJSON : undefined;
}
