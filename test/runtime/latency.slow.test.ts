import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import type { CaseRecord } from '../../src/suites/record.ts';

const slow = fileURLToPath(new URL('../fixtures/bin/slow-allow', import.meta.url));

const cases = 6;

const runtimeYaml = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  concurrency: 1
  state_store: {type: memory}
  tools:
    slow_tool: {mode: exec, exec: {command: ${slow}}}
  evals:
    slow_eval: {command: ${slow}}
  hooks:
    slow_hook: {command: ${slow}, hook: provider, phases: [before_call]}
    watcher: {command: ${slow}, hook: tool, phases: [after_execution], mode: observe}
`;

const suiteOf = (spec: string) => `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  cases: [${Array.from({ length: cases }, (_, index) => `{n: ${index}}`).join(', ')}]
  ${spec}
`;

/**
 * Runs a suite through one slot. The sum of process times must be close to the run time. If waits counted, it would be
 * three times that.
 */
async function measure(spec: string) {
  const folder = mkdtempSync(join(tmpdir(), 'latency-'));
  writeFileSync(join(folder, 'runtime.yaml'), runtimeYaml);
  writeFileSync(join(folder, 'demo.suite.yaml'), suiteOf(spec));
  await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  const records: CaseRecord[] = [];
  const report = await runtime.evals.run(join(folder, 'demo.suite.yaml'), {
    keep: false,
    reporter: {
      begin: async () => {},
      onCase: async (record) => void records.push(record),
      onProblem: async () => {},
      end: async () => {},
    },
  });
  expect(records).toHaveLength(cases);
  return { report, epochs: records.flatMap((record) => record.epochs) };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Each process sleeps 200 ms; timers may fire slightly early. */
const least = 190;

test('an eval’s duration is that of its process, without the wait for its slot', async () => {
  const { report, epochs } = await measure('case: {content: hello}\n  evals: [{id: slow, type: slow_eval}]');
  const took = epochs.flatMap(({ results }) => results.map(({ duration_ms }) => duration_ms));
  const waited = epochs.flatMap(({ results }) => results.map(({ queue_ms = 0 }) => queue_ms));
  expect(took.every((ms) => ms >= least)).toBe(true);
  expect(sum(took)).toBeLessThan(2 * report.duration_ms);
  expect(Math.max(...waited)).toBeGreaterThan(2 * least);
  expect(report.evals['slow']?.queue_ms?.p99).toBeGreaterThan(2 * least);
});

test('several evals of one check are each measured from their own slot', async () => {
  const { report, epochs } = await measure(
    'case: {content: hello}\n  evals: [{id: slow, all_of: [{type: slow_eval}, {type: slow_eval, params: {again: true}}]}]',
  );
  const took = epochs.flatMap(({ results }) => results.map(({ duration_ms }) => duration_ms));
  expect(took.every((ms) => ms >= least)).toBe(true);
  expect(sum(took)).toBeLessThan(2 * report.duration_ms);
});

test('a subject’s duration is that of its process, in its record and for latency_budget', async () => {
  const { report, epochs } = await measure(
    'subject: {tool: slow_tool}\n  evals: [{id: quick, type: latency_budget, params: {max_ms: 100000}}]',
  );
  const took = epochs.map(({ subject }) => subject?.duration_ms ?? 0);
  expect(took.every((ms) => ms >= least)).toBe(true);
  expect(sum(took)).toBeLessThan(2 * report.duration_ms);
  expect(epochs.map(({ metadata }) => metadata['latency_ms'])).toEqual(took);
  expect(Math.max(...epochs.map(({ subject }) => subject?.queue_ms ?? 0))).toBeGreaterThan(2 * least);
});

test('a guard’s duration is that of its hooks', async () => {
  const { report, epochs } = await measure(
    'case: {content: hello}\n  evals: [{id: guard, guard: {hook: provider, request: {messages: []}}, expected: false}]',
  );
  const results = epochs.flatMap(({ results }) => results);
  const took = results.map(({ duration_ms }) => duration_ms);
  expect(took.every((ms) => ms >= least)).toBe(true);
  expect(sum(took)).toBeLessThan(2 * report.duration_ms);
  expect(Math.max(...results.map(({ queue_ms = 0 }) => queue_ms))).toBeGreaterThan(2 * least);
});

test('hooks receive a tool’s duration, without its wait for a slot', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'latency-'));
  const seen = join(folder, 'seen.jsonl');
  const keep = join(folder, 'keep.sh');
  writeFileSync(keep, `#!/bin/sh\ncat >> '${seen}'\necho '{"allow": true}'\n`, { mode: 0o755 });
  const hook = `    kept: {command: ${keep}, hook: tool, phases: [after_execution]}\n`;
  writeFileSync(join(folder, 'runtime.yaml'), runtimeYaml + hook);
  const startedAt = performance.now();
  {
    await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
    const calls = Array.from({ length: 4 }, () => runtime.tools.call('slow_tool', {}));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(4).fill('ok'));
  }
  const wallMs = performance.now() - startedAt;
  const told = readFileSync(seen, 'utf8').trim().split('\n');
  const latencies = told.map((line) => JSON.parse(line).response.latency_ms as number);
  expect(latencies).toHaveLength(4);
  expect(sum(latencies)).toBeLessThan(1.5 * wallMs);
});
