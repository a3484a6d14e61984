import { isObject } from '../../base/json/json.ts';
import { datasetError } from '../dataset-error.ts';

// Readers of values of a mapped row; `place` is their path in it, for messages. `read…` takes absent or
// null as empty, `require…` does not. All throw DATASET_INVALID.

export type JsonObject = Readonly<Record<string, unknown>>;

export function readList(value: unknown, place: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw datasetError(place, 'a list', value);
  return value;
}

export function readObject(value: unknown, place: string): JsonObject {
  if (value === undefined || value === null) return {};
  return requireObject(value, place);
}

export function requireObject(value: unknown, place: string): JsonObject {
  if (!isObject(value) || JSON.isRawJSON(value)) throw datasetError(place, 'a mapping', value);
  return value;
}

export function readText(value: unknown, place: string): string {
  if (value === undefined || value === null) return '';
  return requireText(value, place);
}

export function requireText(value: unknown, place: string): string {
  if (typeof value !== 'string') throw datasetError(place, 'text', value);
  return value;
}

export function readIndex(value: unknown, place: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw datasetError(place, 'a whole number from 0', value);
  }
  return value;
}
