import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CassetteOptions, openRuntime } from '../../../src/index.ts';
import { type Desk, openDesk, resultsOf } from './bench.ts';

const hooks = `word: {hook: provider, phases: [before_call], command: ./flags-word, args: [forbidden], runtime: server}
late: {hook: provider, phases: [before_call], command: ./flags-word, args: [late], runtime: server}
`;
const spec = `case: {id: "\${case.id}"}
evals:
  - id: guard
    guard: {hook: provider, request: {messages: [{role: user, content: "\${case.text}"}]}}
    expected: \${case.bad}
`;
const rows = [
  { id: 'caught', text: 'a forbidden thing', bad: true },
  { id: 'missed', text: 'a f0rbidden thing', bad: true },
  { id: 'second', text: 'it is too late', bad: true },
  { id: 'passed', text: 'good morning', bad: false },
];

async function recorded() {
  const desk = await openDesk({ hooks, spec, rows });
  await desk.runtime.close();
  return { desk, ...(await runAgain(desk, { record: join(desk.folder, 'tape') })) };
}

/** Runs a desk's suite with a cassette, and drops the latencies. */
async function runAgain(desk: Desk, cassette: CassetteOptions) {
  const started: string[] = [];
  await using runtime = await openRuntime(desk.file, {
    ...{ log: false, cassette },
    onEvent: (event) => {
      if (event.type === 'process.started') started.push(event.name);
    },
  });
  const { status, run_id, evals } = await runtime.evals.run(desk.suite);
  const { latency_ms, ...classification } = evals['guard']?.classification ?? { latency_ms: {} };
  const results = await resultsOf({ ...desk, runtime }, run_id);
  const decisions = results.map(({ id, detail, score }) => ({ id, detail, score }));
  const hooksSeen = Object.keys(latency_ms);
  return { status, classification, decisions, hooksSeen, started: started.toSorted() };
}

test('a replay has the same decisions and measures, without the recorded program', async () => {
  const { desk, started, ...first } = await recorded();
  expect(started).toEqual(['late', 'word']);
  expect(first.classification).toMatchObject({ true_positives: 2, false_negatives: 1, true_negatives: 1 });
  rmSync(join(desk.folder, 'flags-word'));
  const again = await runAgain(desk, { replay: join(desk.folder, 'tape') });
  expect(again).toEqual({ ...first, started: [] });
});

test('an unrecorded event is unscored and no catch, and makes the run an error', async () => {
  const { desk } = await recorded();
  const file = join(desk.folder, 'rows.jsonl');
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"id": "new", "text": "forbidden too", "bad": true}\n`);
  const again = await runAgain(desk, { replay: join(desk.folder, 'tape') });
  expect(again).toMatchObject({ status: 'error', classification: { true_positives: 2, false_negatives: 1 } });
  expect(again.decisions.at(-1)).toMatchObject({ id: 'new', score: null });
});

test('a changed guard alone is run on the recording, and the rest of its chain is replayed', async () => {
  const { desk } = await recorded();
  writeFileSync(desk.file, readFileSync(desk.file, 'utf8').replace('[forbidden]', '[f0rbidden]'));
  const tape = join(desk.folder, 'tape');
  const changed = await runAgain(desk, { replay: tape, live: ['word'], record: join(desk.folder, 'today') });
  expect(changed).toMatchObject({ status: 'error', started: ['word'] });
  expect(changed.decisions.map(({ id, score }) => [id, score])).toEqual([
    // The first hook now allows it, and the recording has no request to the second hook.
    ['caught', null],
    ['missed', 1],
    ['second', 1],
    ['passed', 1],
  ]);
});
