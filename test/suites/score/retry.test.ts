import { expect, test } from 'vitest';
import { catalogue, type ErrorCode, RuntimeError, toFault } from '../../../src/base/errors.ts';
import { scored, unscored } from '../../../src/contract/eval.ts';
import { type MaybeFaulty, retryFaults } from '../../../src/suites/score/retry.ts';
import { ask, openBench } from '../subject/bench.ts';

const never = new AbortController().signal;

const fault = (code: ErrorCode) => toFault(new RuntimeError(code, 'no'));

function coming(...results: readonly MaybeFaulty[]) {
  let calls = 0;
  const work = async (): Promise<MaybeFaulty> => {
    const result = results[Math.min(calls, results.length - 1)];
    calls += 1;
    if (result === undefined) throw new Error('there is no result');
    return result;
  };
  return { work, calls: () => calls };
}

test('only infrastructure faults are retried', async () => {
  const codes = Object.keys(catalogue).filter((code): code is ErrorCode => code in catalogue);
  const tried = await Promise.all(
    codes.map(async (code) => {
      const { attempts } = await retryFaults(1, never, coming({ error: fault(code) }).work, 1);
      return attempts === 2 ? [code] : [];
    }),
  );
  expect(tried.flat().sort()).toEqual([
    'PROCESS_EXIT',
    'PROCESS_SIGNAL',
    'PROCESS_START',
    'PROCESS_TIMEOUT',
    'PROVIDER_FAILED',
    'PROVIDER_TIMEOUT',
    'SERVER_BUSY',
    'SERVER_CIRCUIT_OPEN',
    'SERVER_EXIT',
  ]);
});

const lost = { outcome: unscored('no', fault('SERVER_EXIT')) };

test.each([
  { title: 'a score of 0', results: [{ outcome: scored(0, 'bad') }], attempts: 1 },
  { title: 'the own word of an eval', results: [{ outcome: unscored('cannot tell') }], attempts: 1 },
  { title: 'an answer', results: [{}], attempts: 1 },
  { title: 'a fault and then a low score', results: [lost, { outcome: scored(0.1, 'bad') }], attempts: 2 },
  { title: 'faults and then an answer', results: [lost, lost, { outcome: scored(1, '') }], attempts: 3 },
  { title: 'nothing but faults', results: [lost], attempts: 4 },
])('$title has the last result, and counts its attempts', async ({ results, attempts }) => {
  const { work, calls } = coming(...results);
  expect(await retryFaults(3, never, work, 1)).toEqual({ ...results.at(-1), attempts });
  expect(calls()).toBe(attempts);
});

test('without retries each fault is final', async () => {
  expect(await retryFaults(0, never, coming(lost).work)).toEqual({ ...lost, attempts: 1 });
});

test('an abort ends the pause, and keeps the last fault', async () => {
  const ending = new AbortController();
  const { work, calls } = coming(lost);
  const asked = retryFaults(3, ending.signal, work, 60_000);
  await expect.poll(calls).toBe(1);
  ending.abort();
  expect(await asked).toEqual({ ...lost, attempts: 1 });
});

test('work that was aborted before it began does not begin', async () => {
  const { work, calls } = coming({});
  await expect(retryFaults(3, AbortSignal.abort(), work)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(calls()).toBe(0);
});

test('an error that the work throws is not retried', async () => {
  let calls = 0;
  const work = async (): Promise<MaybeFaulty> => {
    calls += 1;
    throw new RuntimeError('STORE_FAILED', 'no');
  };
  await expect(retryFaults(3, never, work, 1)).rejects.toMatchObject({ code: 'STORE_FAILED' });
  expect(calls).toBe(1);
});

test('a tool that crashes once answers at the second attempt, and does not run a third time', async () => {
  const script =
    'cat >/dev/null\necho start >>starts\n[ "$(wc -l <starts)" -gt 1 ] || exit 3\necho \'{"result": "late"}\'\n';
  const bench = await openBench('tools: {shaky: {exec: {command: sh, args: [shaky.sh]}}}', {
    'shaky.sh': script,
  });
  const { text, attempts, error } = await ask(bench.subject('tool: shaky', { retries: 2 }), {});
  expect({ text, attempts, error, starts: bench.count('starts') }).toEqual({
    text: 'late',
    attempts: 2,
    error: undefined,
    starts: 2,
  });
});
