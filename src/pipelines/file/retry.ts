import type { ErrorCode } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { integerAt, itemsAt, millisecondsAt, numberAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { parseDuration } from '../../config/duration.ts';

export interface Retry {
  readonly max: number;
  /** The pause before the first retry. Each later pause is `factor` times as long, up to `maxMs`. */
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  readonly on: readonly string[];
}

/** `attempt` starts at 1. In milliseconds. */
export function pauseBefore({ initialMs, factor, maxMs }: Retry, attempt: number): number {
  return Math.round(Math.min(maxMs, initialMs * factor ** (attempt - 1)));
}

/** Failures that may not recur. Denials, rejections and errors in the file are not among them. */
export const retriedCodes: readonly ErrorCode[] = [
  'TOOL_ERROR',
  'RESULT_INVALID',
  'PROCESS_START',
  'PROCESS_EXIT',
  'PROCESS_SIGNAL',
  'PROCESS_TIMEOUT',
  'OUTPUT_LIMIT',
  'LIMIT_EXCEEDED',
  'REPLY_MALFORMED',
  'SERVER_EXIT',
  'SERVER_CIRCUIT_OPEN',
  'SERVER_BUSY',
  'PROVIDER_FAILED',
  'PROVIDER_TIMEOUT',
  'STEP_TIMEOUT',
  'THRESHOLD_MISSED',
];

export function readRetry(document: YamlDocument, path: Path): Retry | undefined {
  if (!isObject(valueAt(document, path))) return undefined;
  const on = itemsAt(document, [...path, 'on']).map((item) => textAt(document, item) ?? '');
  return {
    max: integerAt(document, [...path, 'max']) ?? 1,
    ...readBackoff(document, [...path, 'backoff']),
    on: on.length === 0 ? retriedCodes : on,
  };
}

function readBackoff(document: YamlDocument, path: Path): Pick<Retry, 'initialMs' | 'factor' | 'maxMs'> {
  if (!isObject(valueAt(document, path))) {
    const plain = parseDuration(textAt(document, path) ?? '');
    return plain === undefined
      ? { initialMs: 1000, factor: 2, maxMs: LONGEST_MS }
      : { initialMs: plain, factor: 1, maxMs: plain };
  }
  const initialMs = millisecondsAt(document, [...path, 'initial_ms']) ?? 1000;
  return {
    initialMs,
    factor: Math.max(1, numberAt(document, [...path, 'factor']) ?? 2),
    maxMs: millisecondsAt(document, [...path, 'max_ms']) ?? Math.max(initialMs, LONGEST_MS),
  };
}

const LONGEST_MS = 60_000;
