import type { EvalRequest } from '../contract/eval.ts';
import { isObject } from '../json.ts';
import { readContext } from './context.ts';
import { misfit } from './misfit.ts';
import type { Suite, SuiteEval } from './model.ts';

/** A row as the suite maps it, with one request for each of the suite's evals. */
export interface SuiteCase {
  readonly id: string;
  /** Each once, none empty. */
  readonly tags: readonly string[];
  readonly requests: readonly { readonly evaluation: SuiteEval; readonly request: EvalRequest }[];
}

/** Maps the row of that number. Throws DATASET_INVALID or EXPRESSION_FAILED when it does not fit. */
export function mapRow(suite: Suite, row: Readonly<Record<string, unknown>>, rowNumber: number): SuiteCase {
  const scope = { case: row };
  const mapped = suite.mapping.evaluate(scope);
  if (!isObject(mapped)) throw misfit('case', 'a mapping', mapped);
  const context = readContext(mapped['context']);
  const requests = suite.evals.map((evaluation) => {
    const { id, type, params, content } = evaluation;
    const request: EvalRequest = {
      type,
      params: readParams(params.evaluate(scope), `evals[${id}].params`),
      content:
        content === undefined
          ? readText(mapped['content'], 'content')
          : readText(content.evaluate(scope), `evals[${id}].content`),
      context,
    };
    return { evaluation, request };
  });
  return { id: readId(mapped['id'], rowNumber), tags: readTags(mapped['tags']), requests };
}

function readParams(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (isObject(value) && !JSON.isRawJSON(value)) return value;
  throw misfit(place, 'a mapping', value);
}

function readText(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  throw misfit(place, 'text', value);
}

function readId(value: unknown, rowNumber: number): string {
  if (value === undefined || value === null || value === '') return String(rowNumber);
  const id = scalarText(value);
  if (id === undefined) throw misfit('id', 'text or a number', value);
  return id;
}

function readTags(value: unknown): string[] {
  if (value === undefined || value === null) return [];
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
