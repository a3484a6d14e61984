import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { requireThreshold } from '../../calls/capability/threshold.ts';
import type { Threshold } from '../../contract/eval.ts';
import { datasetError } from '../dataset-error.ts';

/**
 * Reads evaluated bounds; null counts as none. Throws DATASET_INVALID when they are not bounds of a score.
 */
export function readThreshold(value: unknown, place: string): Threshold {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw datasetError(place, 'a mapping', value);
  const { min_score: min, max_score: max } = value;
  const threshold = {
    ...readBound(min, 'min_score', place),
    ...readBound(max, 'max_score', place),
  };
  try {
    requireThreshold(threshold);
  } catch (error) {
    if (error instanceof RuntimeError)
      throw new RuntimeError('DATASET_INVALID', `${place}: ${error.message}`);
    throw error;
  }
  return threshold;
}

function readBound<Key extends 'min_score' | 'max_score'>(
  value: unknown,
  key: Key,
  place: string,
): { [K in Key]?: number } {
  const found: { [K in Key]?: number } = {};
  if (value === undefined || value === null) return found;
  if (typeof value !== 'number') throw datasetError(`${place}.${key}`, 'a number from 0 to 1', value);
  found[key] = value;
  return found;
}
