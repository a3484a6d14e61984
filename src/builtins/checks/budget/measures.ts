import { Json } from '../../../base/json/json.ts';
import type { EvalContext } from '../../../contract/eval.ts';

/** What a call took, or why that is not known. */
export type Measure = { readonly value: number } | { readonly missing: string };

/** The first of these members of the metadata that is there: a number of at least 0. */
export function readMeasure({ metadata }: EvalContext, names: readonly string[]): Measure {
  const name = names.find((candidate) => isPresent(metadata[candidate]));
  if (name === undefined) return { missing: `metadata.${names.join(' or metadata.')} is not there` };
  const value = toNumber(metadata[name]);
  return value === undefined ? { missing: `metadata.${name} is not a number of at least 0` } : { value };
}

/** 1 up to the limit, and beyond it the share of what was used that the limit is; never divides by 0. */
export function scoreLimit(used: number, limit: number): number {
  return used <= limit ? 1 : limit / used;
}

function isPresent(value: unknown): boolean {
  const plain = value instanceof Json ? value.value : value;
  return plain !== undefined && plain !== null;
}

function toNumber(value: unknown): number | undefined {
  const plain = value instanceof Json ? value.value : value;
  const number = JSON.isRawJSON(plain) ? Number(plain.rawJSON) : plain;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}
