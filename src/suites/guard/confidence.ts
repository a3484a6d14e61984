import { isObject } from '../../base/json/json.ts';

/** The `confidence` or else the `score` in a hook's metadata; null if neither is a number from 0 to 1. */
export function readConfidence(metadata: unknown): number | null {
  if (!isObject(metadata)) return null;
  const { confidence, score } = metadata;
  for (const value of [confidence, score]) {
    if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  }
  return null;
}
