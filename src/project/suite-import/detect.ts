import { extname } from 'node:path';
import { isObject } from '../../json/json.ts';
import { tryParse } from '../../json/try-parse.ts';
import { readResultRows } from '../promptfoo/results/result-rows.ts';
import type { SampleKind } from './import-samples.ts';

export const importKinds = [
  'promptfoo',
  'promptfoo-results',
  'inspect',
  'ragas',
  'deepeval',
  'arena',
] as const;
export type ImportKind = (typeof importKinds)[number];

/** Whose file it is, by what is in it; a promptfooconfig where nothing speaks for another. */
export function detectKind(file: string, text: string): ImportKind {
  const ending = extname(file);
  if (['.yaml', '.yml'].includes(ending))
    return /^apiVersion:\s*promptkit\.altairalabs\.ai\//m.test(text) ? 'arena' : 'promptfoo';
  if (!['.json', '.jsonl', '.ndjson'].includes(ending)) return 'promptfoo';
  if (readResultRows(text) !== undefined) return 'promptfoo-results';
  const [first = ''] = text.trimStart().split('\n', 1);
  const whole = ending === '.json' ? tryParse(text) : tryParse(first);
  return sampleKind(Array.isArray(whole) ? whole[0] : inner(whole)) ?? 'promptfoo';
}

function inner(value: unknown): unknown {
  if (!isObject(value)) return value;
  const list = value['test_cases'] ?? value['testCases'] ?? value['goldens'] ?? value['samples'];
  return Array.isArray(list) ? list[0] : value;
}

function sampleKind(row: unknown): SampleKind | undefined {
  if (!isObject(row)) return undefined;
  const has = (...names: readonly string[]) => names.some((name) => name in row);
  if (has('user_input') || (has('question') && has('contexts', 'ground_truth', 'answer'))) return 'ragas';
  if (!has('input')) return undefined;
  const isCase = has(
    'actual_output',
    'actualOutput',
    'expected_output',
    'expectedOutput',
    'retrieval_context',
    'expected_tools',
  );
  return isCase ? 'deepeval' : 'inspect';
}
