import { isObject } from '../../../json/json.ts';
import type { CaseRecord, RunHeader, SuiteReport } from '../../run/record.ts';

// Checks only the members that readers of a run use: a newer version may have written more.

export function isHeader(value: unknown): value is RunHeader {
  return (
    hasTexts(value, ['run_id', 'suite', 'file', 'started_at']) &&
    isListOf(value['evals'], (entry) => hasTexts(entry, ['id', 'type', 'role', 'reducer']))
  );
}

export function isCase(value: unknown): value is CaseRecord {
  return (
    hasTexts(value, ['id', 'file']) &&
    typeof value['number'] === 'number' &&
    typeof value['line'] === 'number' &&
    typeof value['passed'] === 'boolean' &&
    isListOf(value['tags'], (tag) => typeof tag === 'string') &&
    isListOf(value['results'], (result) => hasTexts(result, ['eval', 'detail']) && hasScore(result)) &&
    isListOf(value['epochs'], isEpoch)
  );
}

export function isReport(value: unknown): value is SuiteReport {
  return (
    hasTexts(value, ['run_id', 'suite', 'status']) &&
    typeof value['cases'] === 'number' &&
    isObject(value['overall']) &&
    isObject(value['evals']) &&
    Array.isArray(value['gates']) &&
    Array.isArray(value['failures']) &&
    Array.isArray(value['problems'])
  );
}

function isEpoch(value: unknown): boolean {
  return (
    hasTexts(value, ['content']) &&
    isListOf(value['results'], (result) => hasTexts(result, ['eval', 'detail']) && hasScore(result))
  );
}

function hasScore(value: Readonly<Record<string, unknown>>): boolean {
  return value['score'] === null || typeof value['score'] === 'number';
}

function hasTexts(value: unknown, keys: readonly string[]): value is Readonly<Record<string, unknown>> {
  return isObject(value) && keys.every((key) => typeof value[key] === 'string');
}

function isListOf(value: unknown, isRight: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isRight);
}
