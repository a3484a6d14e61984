import { RuntimeError } from '../../src/base/errors.ts';
import { Json } from '../../src/base/json/json.ts';
import type { PendingCall } from '../../src/contract/approval.ts';
import type { RunStatus } from '../../src/contract/run.ts';
import type { NewResult, NewResultRun, ResultStore } from '../../src/store/result-store.ts';
import type { NewRun, Store } from '../../src/store/store.ts';

export type Open = (...runs: string[]) => Promise<Store>;

export function withRuns(open: () => Promise<ResultStore>) {
  return async (...runs: string[]) => {
    const results = await open();
    for (const id of runs) await results.createRun(newResultRun(id));
    return results;
  };
}

export const ends: readonly RunStatus[] = ['completed', 'failed', 'denied', 'cancelled'];

/** Valid JSON that a parse and print would change: white space, a long number, an escape, the order of keys. */
export const exactText = '{"b": 12345678901234567890.50, "a":"\\u00e9\\ud83d\\ude00é", "2":1,  "1":[ ]}';

/** Strings that a database may truncate or replace. */
export const hardStrings = [
  '',
  'a\0b',
  '\0',
  '\ud800 alone',
  'é😀\u2028\r\n\t',
  'json:"x"',
  'json:',
  "'; DROP TABLE runs; --",
];

export function newRun(id: string, overrides: Partial<NewRun> = {}): NewRun {
  return {
    id,
    kind: 'pipeline',
    name: 'refund',
    file: '/srv/desk/refund.pipeline.yaml',
    source: 'kind: Pipeline\n',
    config: '/srv/desk/runtime.yaml',
    input: new Json('{"ticket": "T-1"}'),
    createdAt: 1_000,
    ...overrides,
  };
}

export function newCall(id: string, runId: string, overrides: Partial<PendingCall> = {}): PendingCall {
  return {
    id,
    runId,
    step: 'answer/refund[0]',
    callId: 'call-1',
    tool: 'refund',
    args: new Json('{"amount": 10.00}'),
    origin: 'tool',
    hook: null,
    reason: 'over_limit',
    message: 'Refund 10.00?',
    members: new Json('{"status": "pending", "reason": "over_limit"}'),
    previous: null,
    createdAt: 2_000,
    expiresAt: null,
    ...overrides,
  };
}

export function newResultRun(id: string, overrides: Partial<NewResultRun> = {}): NewResultRun {
  return {
    id,
    kind: 'suite',
    name: 'answers',
    file: '/srv/desk/answers.suite.yaml',
    fingerprint: 'f1',
    createdAt: 1_000,
    header: exactText,
    ...overrides,
  };
}

export function newResult(runId: string, overrides: Partial<NewResult> = {}): NewResult {
  return { runId, number: 1, epoch: 1, caseId: 'case-1', digest: 'd1', text: exactText, ...overrides };
}

export async function faultOf(promise: Promise<unknown>): Promise<RuntimeError> {
  const outcome = await promise.then(
    (value) => new Error(`nothing failed: ${String(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof RuntimeError) return outcome;
  throw outcome;
}
