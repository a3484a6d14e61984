import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime, type Runtime } from '../../src/index.ts';
import { compareRuns } from '../../src/suites/compare/compare.ts';
import { findRegressions } from '../../src/suites/compare/regressions.ts';
import { renderComparison, renderComparisonMarkdown } from '../../src/suites/compare/render.ts';
import { summarize } from '../../src/suites/run-accumulator.ts';
import { run } from '../cli/command-line.ts';
import { open } from './open.ts';

const hooks = `
state_store: {type: sqlite, path: state.db}
hooks:
  real: {command: $bin/allow.sh, hook: tool, phases: [before_execution]}
  old: {command: sh, args: [$folder/over, '5'], hook: tool, mode: shadow, phases: [before_execution]}
  new: {command: sh, args: [$folder/over, '2'], hook: tool, mode: shadow, phases: [before_execution]}
`;

/** Denies an amount over its argument. At 9 it fails and prints its whole input to stdout and stderr. */
const over = `#!/bin/sh
event=$(cat)
amount=\${event##*amount\\":}
amount=\${amount%%[!0-9]*}
[ "$amount" = 9 ] && { printf '%s' "$event" | tee /dev/stderr; exit 0; }
if [ "$amount" -gt "$1" ]; then echo '{"allow": false, "reason": "too much"}'; else echo '{"allow": true}'; fi
`;

const secret = 'ada-4111-1111';

async function openDesk(spec = hooks) {
  return await open(spec, {}, { over });
}

async function fire(runtime: Runtime, ...amounts: readonly number[]) {
  for (const amount of amounts) {
    const request = { name: 'refund', args: { whose: secret, amount } };
    await runtime.hooks.fire({ hook: 'tool', phase: 'before_execution', request });
  }
}

async function kept(folder: string) {
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  onTestFinished(() => runtime.close());
  const { runs } = runtime.evals;
  const infos = await runs.list();
  const sources = await Promise.all(infos.map(({ id }) => runs.open(id)));
  return await Promise.all(
    sources.map(async (source, index) => ({ info: infos[index], source, cases: await casesOf(source) })),
  );
}

async function casesOf(source: Awaited<ReturnType<Runtime['evals']['runs']['open']>>) {
  const found = [];
  for await (const record of source.cases()) found.push(record);
  return found;
}

async function named(folder: string, name: string) {
  const found = (await kept(folder)).find(({ info }) => info?.suite === name);
  if (found === undefined) throw new Error(`no collection of ${name}`);
  return found;
}

const anId = expect.stringMatching(/^event_[\da-f-]{36} before_execution$/);

test('each shadow has a collection of its would-be decisions, with the same cases in both', async () => {
  const { runtime, folder } = await openDesk();
  await fire(runtime, 1, 4, 7);
  await runtime.close();
  const old = await named(folder, 'old');
  const next = await named(folder, 'new');
  expect(old.info).toEqual({
    id: expect.stringMatching(/^shadow-old-[\da-f]{8}$/),
    kind: 'shadow',
    suite: 'old',
    status: 'running',
    started_at: expect.any(String),
    cases: 3,
    pass_rate: null,
  });
  const said = ({ cases }: typeof old) => cases.map(({ results }) => results.map(({ detail }) => detail));
  expect({ old: said(old), next: said(next) }).toEqual({
    old: [['allow'], ['allow'], ['deny: too much']],
    next: [['allow'], ['deny: too much'], ['deny: too much']],
  });
  expect(old.cases.map(({ id }) => id)).toEqual([anId, anId, anId]);
  expect(next.cases.map(({ id }) => id)).toEqual(old.cases.map(({ id }) => id));
  expect(old.cases[2]).toMatchObject({ number: 3, tags: ['tool', 'before_execution'], passed: true });
  expect(old.cases[2]?.epochs[0]?.results[0]?.guard).toEqual({
    hook: 'tool',
    phase: 'before_execution',
    verdict: 'deny',
    decided_by: 'old',
    expected: null,
    flagged: true,
    confidence: null,
    hooks: [{ name: 'old', verdict: 'deny', duration_ms: expect.any(Number) }],
  });
});

test('a shadow that crashes has decided nothing, and its latencies and shares are reported', async () => {
  const { runtime, folder } = await openDesk();
  await fire(runtime, 1, 7, 9);
  await runtime.close();
  const { source } = await named(folder, 'old');
  const { kind, status, cases, evals, duration_ms } = await summarize(source);
  expect({ kind, status, cases, duration_ms, would_deny: evals['would_deny'] }).toMatchObject({
    ...{ kind: 'shadow', status: 'running', duration_ms: null },
    cases: 3,
    would_deny: {
      ...{ count: 3, scored: 2, unscored: 1, mean: 0.5 },
      classification: { latency_ms: { old: { p50: expect.any(Number), p99: expect.any(Number) } } },
    },
  });
});

test('no traffic is in the file, even when a hook leaks it and crashes', async () => {
  const { runtime, folder, events } = await openDesk();
  await fire(runtime, 1, 7, 9);
  await runtime.close();
  // The secret was available to leak.
  expect(JSON.stringify(events)).toContain(secret);
  const files = readdirSync(folder).filter((name) => name.startsWith('evals.db'));
  expect(files).toContain('evals.db');
  const bytes = files.map((name) => readFileSync(join(folder, name), 'latin1')).join('');
  expect(bytes).toContain('too much');
  expect(bytes).not.toContain(secret);
  const broken = (await named(folder, 'old')).cases[2]?.epochs[0]?.results[0];
  expect(broken).toMatchObject({
    score: null,
    detail: 'deny: the hook failed with REPLY_MALFORMED',
    error: { code: 'REPLY_MALFORMED', message: 'the hook failed with REPLY_MALFORMED' },
  });
});

test('other arguments start another collection, and the same ones continue theirs', async () => {
  const { runtime, folder } = await openDesk();
  await fire(runtime, 1);
  await runtime.close();
  const file = join(folder, 'runtime.yaml');
  const again = await openRuntime(file, { log: false });
  await fire(again, 1, 4);
  await again.close();
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace("'5'", "'6'"));
  const other = await openRuntime(file, { log: false });
  await fire(other, 7);
  await other.close();
  const counts = (await kept(folder)).map(({ info }) => `${info?.suite} ${info?.cases}`);
  expect(counts.toSorted()).toEqual(['new 4', 'old 1', 'old 3']);
});

test('an unwritable store is reported once, and does no harm', async () => {
  const { runtime, folder, events } = await openDesk();
  mkdirSync(join(folder, 'evals.db'));
  await fire(runtime, 1, 7);
  const request = { name: 'refund', args: { amount: 8 } };
  const decision = await runtime.hooks.fire({ hook: 'tool', phase: 'before_execution', request });
  await runtime.close();
  expect(decision).toMatchObject({ verdict: 'allow' });
  const notes = events.flatMap((event) => (event.type === 'note' ? [event.message] : []));
  expect(notes).toEqual([
    expect.stringMatching(/^decisions of shadows are no longer recorded until the runtime opens again: /),
  ]);
  const asked = events.filter((event) => event.type === 'decision' && event.mode === 'shadow');
  expect(asked).toHaveLength(6);
});

test('with a memory store nothing is collected or reported', async () => {
  const { runtime, events } = await openDesk(hooks.replace('type: sqlite, path: state.db', 'type: memory'));
  await fire(runtime, 7);
  expect(await runtime.evals.runs.list()).toEqual([]);
  await runtime.close();
  expect(events.filter(({ type }) => type === 'note')).toEqual([]);
});

test('a collection that was pruned while its shadow lives starts again', async () => {
  const { runtime, folder } = await openDesk();
  await fire(runtime, 1, 7);
  await expect.poll(async () => (await runtime.evals.runs.list()).map(({ cases }) => cases)).toEqual([2, 2]);
  expect(await runtime.evals.runs.prune({ olderThanMs: -1000 })).toBe(2);
  await fire(runtime, 7);
  await runtime.close();
  expect((await kept(folder)).map(({ info }) => info?.cases)).toEqual([1, 1]);
});

test('two processes add to one collection, and neither loses anything', async () => {
  const { runtime, folder } = await openDesk();
  await runtime.close();
  const count = 400;
  const writer = join(import.meta.dirname, 'shadow-writer.ts');
  const children = ['a', 'b'].map((prefix) =>
    spawn(process.execPath, [writer, join(folder, 'runtime.yaml'), 'old', prefix, String(count)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const ends = children.map(async (child) => (await once(child, 'close'))[0]);
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  for (const child of children) child.stdin.end('go\n');
  expect(await Promise.all(ends)).toEqual([0, 0]);
  const { cases } = await named(folder, 'old');
  const all = ['a', 'b'].flatMap((prefix) =>
    Array.from({ length: count }, (_none, index) => `${prefix}-${index} before_execution`),
  );
  expect(new Set(cases.map(({ id }) => id))).toEqual(new Set(all));
  expect(cases.map(({ number }) => number)).toEqual(all.map((_id, index) => index + 1));
});

async function comparison() {
  const { runtime, folder } = await openDesk();
  await fire(runtime, 1, 3, 4, 7, 9);
  await runtime.close();
  const [old, next] = [await named(folder, 'old'), await named(folder, 'new')];
  return { old: { ...old, folder }, next, compared: await compareRuns(old.source, next.source) };
}

function steady(text: string): string {
  return text
    .replaceAll(/event_[\da-f]{8}-[\da-f-]{27}/g, 'CALL')
    .replaceAll(/-[\da-f]{8}\b/g, '-DIGEST')
    .replaceAll(/ +[\d.]+ m?s\b/g, ' TIME')
    .replaceAll(/ +p50 +p99/g, ' p50 p99');
}

test('two shadows are compared: interference rates, speed, and differences', async () => {
  const { compared } = await comparison();
  expect(compared.cases).toBe(null);
  const counts = { modify: 0, ask: 0, respond: 0, abort: 0, failed: 1 };
  const latency_ms = { p50: expect.any(Number), p99: expect.any(Number) };
  expect(compared.evals[0]?.decisions).toEqual({
    a: { ...counts, allow: 3, deny: 1, latency_ms },
    b: { ...counts, allow: 1, deny: 3, latency_ms },
  });
  expect(steady(renderComparison(compared, false))).toBe(`A: shadow old, run shadow-old-DIGEST, 5 cases
B: shadow new, run shadow-new-DIGEST, 5 cases

      events  allow  modify  deny  ask  failed p50 p99
A          5      3       0     1    0       1 TIME TIME
B          5      1       0     3    0       1 TIME TIME

A would interfere with 2 of 5 (40.00%), B with 4 of 5 (80.00%); p = 0.5000
both 2, only A 0, only B 2, neither 1

only B would interfere: 2 events:
  CALL before_execution: A allow → B deny: too much
  CALL before_execution: A allow → B deny: too much
`);
  expect(steady(renderComparisonMarkdown(compared))).toBe(`### Shadows compared

A: \`shadow old, run shadow-old-DIGEST, 5 cases\`\\
B: \`shadow new, run shadow-new-DIGEST, 5 cases\`

|  | events | allow | modify | deny | ask | failed | p50 | p99 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| A | 5 | 3 | 0 | 1 | 0 | 1 | TIME | TIME |
| B | 5 | 1 | 0 | 3 | 0 | 1 | TIME | TIME |

- A would interfere with 2 of 5 (40.00%), B with 4 of 5 (80.00%); p = 0.5000
- both 2, only A 0, only B 2, neither 1

only B would interfere: 2 events:

- \`CALL before_execution: A allow → B deny: too much\`
- \`CALL before_execution: A allow → B deny: too much\`
`);
});

test('a shadow’s confidence is stored with its decision', async () => {
  const sure = `command: $bin/allow-metadata.sh, args: [confidence, '0.25']`;
  const { runtime, folder } = await openDesk(hooks.replace("command: sh, args: [$folder/over, '5']", sure));
  await fire(runtime, 1);
  await runtime.close();
  const { cases } = await named(folder, 'old');
  expect(cases[0]?.epochs[0]?.results[0]?.guard).toMatchObject({ verdict: 'allow', confidence: 0.25 });
});

test('the command line shows a collection, and says if the second of two is worse', async () => {
  const { old, next } = await comparison();
  const cwd = old.folder;
  const [shown, diff] = await Promise.all([
    run(['eval', 'show', old.source.header.run_id], { cwd }),
    run(['eval', 'diff', 'shadow-old', 'shadow-new', '--fail-on-regression'], { cwd }),
  ]);
  expect({ code: shown.code, stderr: shown.stderr }).toEqual({ code: 0, stderr: '' });
  expect(shown.stdout).toMatch(/^shadow old: 5 events\n/);
  expect(shown.stdout).not.toMatch(/missed|false alarms|per second/);
  expect(shown.stdout).toMatch(/would_deny +5 /);
  expect({ code: diff.code, id: next.info?.id }).toEqual({ code: 1, id: expect.any(String) });
  expect(diff.stdout).toContain('only B would interfere: 2 events:');
  expect(diff.stderr).toContain('worse: would_deny: 2 regressions');
});

test('in reverse order the same events are those that only the other one stops', async () => {
  const { old, next } = await comparison();
  const compared = await compareRuns(next.source, old.source);
  expect(renderComparison(compared, false)).toContain('only A would interfere: 2 events:');
  expect(findRegressions(compared, 'any')).toEqual([]);
  expect(findRegressions(await compareRuns(old.source, next.source), 'any')).toEqual([
    'would_deny: 2 regressions',
  ]);
});
