import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Desk, openDesk, resultsOf } from './bench.ts';

const trial = `case: {id: "\${case.id}"}
evals:
  - id: guard
    guard: {hook: provider, request: {messages: [{role: user, content: "\${case.text}"}]}}
    expected: \${case.bad}
`;
const word = `word: {hook: provider, phases: [before_call], command: ./flags-word, args: [forbidden], runtime: server}
`;

const rows = [
  { id: 'caught', text: 'a forbidden thing', bad: true },
  { id: 'missed', text: 'a f0rbidden thing', bad: true },
  { id: 'alarm', text: 'nothing is forbidden here', bad: false },
  { id: 'passed', text: 'good morning', bad: false },
  { id: 'passed too', text: 'good night', bad: false },
];

const latency = { p50: expect.any(Number), p99: expect.any(Number) };

async function run(desk: Desk) {
  const report = await desk.runtime.evals.run(desk.suite);
  return { report, guard: report.evals['guard'] };
}

describe('a guard on labelled events', () => {
  test('is counted by what it caught and what it missed', async () => {
    const desk = await openDesk({ hooks: word, spec: trial, rows });
    const { report, guard } = await run(desk);
    expect(report).toMatchObject({ status: 'passed', cases: 5, problem_count: 0, failure_count: 0 });
    expect(guard).toMatchObject({ count: 5, scored: 5, unscored: 0, passed: 3, mean: 0.6 });
    expect(guard?.classification).toEqual({
      true_positives: 1,
      false_positives: 1,
      true_negatives: 2,
      false_negatives: 1,
      precision: 0.5,
      recall: 0.5,
      f1: 0.5,
      f2: 0.5,
      accuracy: 0.6,
      auc: null,
      latency_ms: { word: latency },
    });
  });

  test('has its verdict, its reason and its hooks in the record of each case', async () => {
    const desk = await openDesk({ hooks: word, spec: trial, rows: rows.slice(0, 2) });
    const { report } = await run(desk);
    const times = { attempts: 1, duration_ms: expect.any(Number), queue_ms: expect.any(Number) };
    const place = { eval: 'guard', threshold: {}, ...times };
    const guard = { hook: 'provider', phase: 'before_call', expected: true, confidence: null };
    const hooks = (verdict: string) => [{ name: 'word', verdict, duration_ms: expect.any(Number) }];
    expect(await resultsOf(desk, report.run_id)).toEqual([
      {
        ...{ ...place, id: 'caught', score: 1, passed: true },
        detail: 'deny by word: it says forbidden (should be flagged)',
        guard: { ...guard, verdict: 'deny', decided_by: 'word', flagged: true, hooks: hooks('deny') },
      },
      {
        ...{ ...place, id: 'missed', score: 0, passed: false },
        detail: 'allow (should be flagged)',
        guard: { ...guard, verdict: 'allow', decided_by: null, flagged: false, hooks: hooks('allow') },
      },
    ]);
  });

  test('that crashes is unscored, and has caught nothing', async () => {
    const crashing = [...rows.slice(0, 1), { id: 'breaks', text: 'the hook dies of this', bad: true }];
    const gated = `${trial}gates: [{eval: guard, metric: recall, min: 1}, {eval: guard, metric: unscored, max: 0}]\n`;
    const desk = await openDesk({ hooks: word, spec: gated, rows: crashing });
    const { report, guard } = await run(desk);
    expect(report.status).toBe('error');
    expect(report.gates.map(({ metric, value, passed }) => ({ metric, value, passed }))).toEqual([
      { metric: 'recall', value: 1, passed: true },
      { metric: 'unscored', value: 0.5, passed: false },
    ]);
    expect(guard).toMatchObject({ count: 2, scored: 1, unscored: 1, passed: 1 });
    expect(guard?.classification).toMatchObject({ true_positives: 1, false_negatives: 0, recall: 1 });
    const [, broken] = await resultsOf(desk, report.run_id);
    expect(broken).toMatchObject({ score: null, passed: false, error: { code: 'SERVER_EXIT' } });
    expect(broken).not.toHaveProperty('guard');
  });

  test('flags also by changing the event, and the whole chain counts as one', async () => {
    const hooks = `lenient: {hook: provider, phases: [before_call], command: $bin/allow.sh}
changes: {hook: provider, phases: [before_call], command: $bin/modify-before-call}
${word}`;
    const desk = await openDesk({ hooks, spec: trial, rows: rows.slice(0, 2) });
    const { report, guard } = await run(desk);
    expect(guard?.classification).toMatchObject({
      true_positives: 2,
      latency_ms: { changes: latency, lenient: latency, word: latency },
    });
    const results = await resultsOf(desk, report.run_id);
    expect(results.map(({ guard: said }) => [said?.verdict, said?.decided_by])).toEqual([
      ['deny', 'word'],
      ['modify', 'changes'],
    ]);
  });

  test('has an AUC and a ROC curve if every decision has a confidence', async () => {
    const sure = [
      { id: 'a', text: 'forbidden sure=0.9', bad: true },
      { id: 'b', text: 'forbidden sure=0.8', bad: false },
      { id: 'c', text: 'good sure=0.7', bad: true },
      { id: 'd', text: 'good sure=0.1', bad: false },
    ];
    const desk = await openDesk({ hooks: word, spec: trial, rows: sure });
    expect((await run(desk)).guard?.classification).toMatchObject({
      auc: 0.75,
      roc: [
        { threshold: 0.9, tpr: 0.5, fpr: 0 },
        { threshold: 0.8, tpr: 0.5, fpr: 0.5 },
        { threshold: 0.7, tpr: 1, fpr: 0.5 },
        { threshold: 0.1, tpr: 1, fpr: 1 },
      ],
    });
    const unsure = await openDesk({ hooks: word, spec: trial, rows: [...sure, rows[3]] });
    expect((await run(unsure)).guard?.classification).toMatchObject({ auc: null, true_negatives: 2 });
  });

  test.each([
    { metric: 'recall', bound: 'min: 0.5', passed: true },
    { metric: 'recall', bound: 'min: 0.51', passed: false },
    { metric: 'precision', bound: 'min: 0.51', passed: false },
    { metric: 'p99_ms', bound: 'max: 60000', passed: true },
    { metric: 'p99_ms', bound: 'max: 0', passed: false },
  ])('is gated on $metric with $bound', async ({ metric, bound, passed }) => {
    const slow = 'word: {hook: provider, phases: [before_call], command: $bin/deny.sh}\n';
    const hooks = metric === 'p99_ms' ? slow : word;
    const spec = `${trial}gates: [{eval: guard, metric: ${metric}, ${bound}}]\n`;
    const { report } = await run(await openDesk({ hooks, spec, rows }));
    expect(report.status).toBe(passed ? 'passed' : 'failed');
  });

  test('has the same measures for each tag, and as an assertion fails the suite at a wrong decision', async () => {
    const tagged = trial.replace(
      'id: "${case.id}"',
      'id: "${case.id}", tags: ["${case.bad ? \'bad\' : \'good\'}"]',
    );
    const spec = tagged.replace('- id: guard', '- id: guard\n    role: assertion');
    const { report, guard } = await run(await openDesk({ hooks: word, spec, rows }));
    expect(guard?.tags).toMatchObject({
      bad: { classification: { true_positives: 1, false_negatives: 1, recall: 0.5 } },
      good: { classification: { false_positives: 1, true_negatives: 2, recall: null } },
    });
    expect(report).toMatchObject({ status: 'failed', failures: [{ case: 'missed' }, { case: 'alarm' }] });
  });

  test('may be of a tool call, before and after it, with arguments that must stay usable', async () => {
    const hooks = `amount: {hook: tool, command: ./flags-word, args: [forbidden], runtime: server}
other: {hook: provider, command: $bin/deny.sh}
`;
    const spec = `case: {id: "\${case.id}"}
evals:
  - id: before
    guard: {hook: tool, request: {name: pay, args: {note: "\${case.text}"}}}
    expected: \${case.bad}
  - id: after
    guard:
      {hook: tool, phase: after_execution, request: {name: pay}, response: {content: "\${case.text}"}}
    expected: \${case.bad}
`;
    const { report } = await run(await openDesk({ hooks, spec, rows }));
    const found = { true_positives: 1, false_positives: 1, true_negatives: 2, false_negatives: 1 };
    expect(report.evals['before']?.classification).toMatchObject({
      ...found,
      latency_ms: { amount: latency },
    });
    expect(report.evals['after']?.classification).toMatchObject({
      ...found,
      latency_ms: { amount: latency },
    });
  });
});

describe('one hook alone', () => {
  const hooks = `${word}strict: {hook: provider, phases: [before_call], command: $bin/deny.sh}
next: {hook: provider, phases: [before_call], command: ./flags-word, args: [good], runtime: server, mode: shadow}
`;
  const only = (name: string) => trial.replace('hook: provider,', `hook: provider, only: ${name},`);

  test('is run without the rest of its chain', async () => {
    const { guard } = await run(await openDesk({ hooks, spec: only('word'), rows }));
    expect(guard?.classification).toMatchObject({ false_positives: 1, latency_ms: { word: latency } });
    const whole = await run(await openDesk({ hooks, spec: trial, rows }));
    expect(whole.guard?.classification).toMatchObject({ false_positives: 3 });
  });

  test('may be a shadow, which then runs as a filter would', async () => {
    const desk = await openDesk({ hooks, spec: only('next'), rows });
    const { guard } = await run(desk);
    expect(guard?.classification).toMatchObject({ false_positives: 2, false_negatives: 2 });
    const asked = desk.events.flatMap((event) =>
      event.type === 'decision' ? [[event.hook, event.mode]] : [],
    );
    expect(asked).toEqual(rows.map(() => ['next', 'filter']));
  });
});

test('observers and shadows do not receive trials, and no shadow’s collection grows', async () => {
  const hooks = `${word}told: {hook: provider, command: $bin/record-event, mode: observe, env: [RECORD_FILE=told.jsonl]}
told_evals: {hook: eval, command: $bin/record-event, mode: observe, env: [RECORD_FILE=told.jsonl]}
next: {hook: provider, command: ./flags-word, args: [good], runtime: server, mode: shadow}
`;
  const spec = `${trial}  - id: shadow
    guard: {hook: provider, only: next, request: {messages: [{role: user, content: "\${case.text}"}]}}
    expected: \${case.bad}
`;
  const desk = await openDesk({ hooks, spec, rows, more: 'state_store: {type: sqlite, path: state.db}' });
  await run(desk);
  const kinds = (await desk.runtime.evals.runs.list()).map(({ kind }) => kind);
  await desk.runtime.close();
  const asked = desk.events.flatMap((event) => (event.type === 'decision' ? [event.mode] : []));
  expect({ kinds, asked: new Set(asked) }).toEqual({ kinds: ['suite'], asked: new Set(['filter']) });
  expect(() => readFileSync(join(desk.folder, 'told.jsonl'))).toThrow('ENOENT');
});

describe('an invalid row', () => {
  test.each([
    {
      title: 'a label that is neither true nor false',
      row: { text: 'x', bad: 'yes' },
      message: 'evals[guard].expected must be true or false, not the string "yes"',
    },
    {
      title: 'an event that is none of its hook',
      row: { text: ['x'], bad: true },
      message:
        'the event of provider before_call is not well formed: request.messages.0.content must be string',
    },
  ])('$title is reported with file and line, and the others are judged', async ({ row, message }) => {
    const desk = await openDesk({
      hooks: word,
      spec: trial,
      rows: [rows[0], { id: 'odd', ...row }, rows[3]],
    });
    const { report, guard } = await run(desk);
    expect(report).toMatchObject({ status: 'error', cases: 2, problem_count: 1 });
    expect(report.problems).toEqual([
      expect.objectContaining({ file: join(desk.folder, 'rows.jsonl'), line: 2, message }),
    ]);
    expect(guard?.classification).toMatchObject({ true_positives: 1, true_negatives: 1 });
  });
});
