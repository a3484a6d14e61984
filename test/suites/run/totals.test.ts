import { expect, test } from 'vitest';
import { fits } from '../../../src/base/json/shape.ts';
import type { EpochRecord } from '../../../src/suites/record.ts';
import { describeTotals, explainGate } from '../../../src/suites/report/wording.ts';
import { judgeGates } from '../../../src/suites/run/gates.ts';
import { newTotalsTally, totalsState } from '../../../src/suites/run/totals.ts';
import { caseOf, epochOf, noStats, reportOf } from '../report/reports.ts';
import { loadSpec, run, toLines } from '../support.ts';

const subject = { status: 'ok', duration_ms: 100, queue_ms: 10, cached: false, attempts: 1 } as const;
const usage = { input_tokens: 1000, output_tokens: 20, cost_usd: 0.1 };

function tallyOf(epochs: readonly Partial<EpochRecord>[]) {
  const tally = newTotalsTally();
  for (const epoch of epochs) tally.add(caseOf([], { epochs: [epochOf([], epoch)] }));
  return tally;
}

const made = Array.from({ length: 10 }, (_, index) => ({
  subject: { ...subject, duration_ms: 100 * (index + 1) },
  metadata: usage,
}));
const cached = { subject: { ...subject, cached: true, duration_ms: 0, queue_ms: 0 }, metadata: usage };
const failed = { subject: { ...subject, status: 'failed' as const }, metadata: {} };

test('tokens and cost cover all answers, times only generated answers', () => {
  expect(tallyOf([...made, cached]).totals()).toEqual({
    ...{ answers: 11, cached: 1, failed: 0, input_tokens: 11_000, output_tokens: 220, cost_usd: 1.1 },
    unknown: { tokens: 0, cost_usd: 0 },
    answer_ms: {
      p50: expect.closeTo(500, -1),
      p95: expect.closeTo(1000, -1),
      p99: expect.closeTo(1000, -1),
      sum: 5500,
    },
    queue_ms: { p50: 9.99, p95: 9.99, p99: 9.99, sum: 100 },
  });
});

test('recorded answers count if they report usage, and invalid amounts are ignored', () => {
  const odd = { input_tokens: 'many', cost_usd: -1, latency_ms: Number.NaN };
  expect(tallyOf([{ metadata: odd }, { metadata: {} }]).totals()).toBeUndefined();
  expect(tallyOf([{ metadata: { latency_ms: 7, cost_usd: 2 } }]).totals()).toEqual({
    ...{ answers: 1, cached: 0, failed: 0, input_tokens: null, output_tokens: null, cost_usd: 2 },
    unknown: { tokens: 1, cost_usd: 0 },
    answer_ms: { p50: expect.closeTo(7, 0), p95: expect.closeTo(7, 0), p99: expect.closeTo(7, 0), sum: 7 },
    queue_ms: null,
  });
});

test('tallies of parts sum to that of the whole', () => {
  const whole = tallyOf([...made, cached, failed]);
  const parts = [tallyOf([failed, ...made.slice(6)]), tallyOf([...made.slice(0, 6), cached])];
  const merged = newTotalsTally();
  for (const part of parts) {
    const state: unknown = JSON.parse(JSON.stringify(part.state()));
    if (!fits(totalsState, state)) throw new Error('the state does not fit');
    merged.merge(state);
  }
  expect(merged.totals()).toEqual(whole.totals());
});

test('a gate checks the sum against its bound, and is missed if one answer reports none', () => {
  const judge = (epochs: readonly Partial<EpochRecord>[], metric: string, max: number) => {
    const totals = tallyOf(epochs).totals();
    const [gate] = judgeGates([{ metric, max }], {
      ...{ overall: { ...noStats, tags: {} }, evals: {}, totals },
    });
    return gate && [gate.passed, gate.value, explainGate(gate)];
  };
  expect(judge(made, 'cost_usd', 1)).toEqual([true, 1, '1, wanted at most 1']);
  expect(judge([...made, cached], 'cost_usd', 1)).toEqual([false, 1.1, '1.1, but wanted at most 1']);
  const unknown = [false, null, 'unknown, because some answers do not report it, wanted at most 1'];
  expect(judge([...made.slice(0, 1), failed], 'cost_usd', 1)).toEqual(unknown);
  expect(judge([], 'cost_usd', 1)).toEqual(unknown);
  expect(judge(made, 'answer_p95_ms', 500)?.[0]).toBe(false);
  expect(judge([], 'answer_p95_ms', 500)).toEqual([false, null, 'no data, wanted at most 500']);
});

test('the sentence of the totals says what is missing', () => {
  const totals = tallyOf([...made, cached, failed]).totals();
  expect(totals && describeTotals(totals)).toBe(
    '12 answers, 1 cached, 1 failed: 11,000 tokens in, 220 out (1 of 12 unknown), $1.10 (1 of 12 unknown); p50 499 ms, p95 1.0 s, p99 1.0 s; 100 ms in queues',
  );
  const one = tallyOf([{ metadata: { cost_usd: 0.000_31 } }]).totals();
  expect(one && describeTotals(one)).toBe('1 answer: $0.00031');
});

test('a run has the totals of its answers, and one without answers has none', async () => {
  const spec =
    'dataset: {path: rows.jsonl}\ncase: {content: x}\nevals: [{id: a, type: t, params: {score: 1}}]\n';
  const suite = loadSpec(`${spec}gates: [{metric: cost_usd, max: 0.1}]\n`, toLines([{}, {}]));
  const answer = {
    ...{ text: 'x', result: null, messages: [], tool_calls: [], metadata: usage },
    ...{ duration_ms: 5, queue_ms: 0, cached: false, attempts: 1 },
  };
  const report = await run(suite, { subject: { answer: async () => answer } });
  expect([report.status, report.totals?.cost_usd, report.gates[0]?.value]).toEqual(['failed', 0.2, 0.2]);
  expect(await run(loadSpec(spec, toLines([{}])))).not.toHaveProperty('totals');
  expect(reportOf({})).not.toHaveProperty('totals');
});
