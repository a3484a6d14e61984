import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, openBench, steady } from './bench.ts';

const nothing = { text: '', result: null, messages: [], tool_calls: [], cached: false, attempts: 1 };

const spec = (hooks = '') => `
tools:
  echo: {exec: {command: $bin/echo-args}}
  says: {exec: {command: sh, args: [says.sh]}}
  crash: {exec: {command: $bin/crash.sh}}
  fails: {exec: {command: $bin/error-text.sh}}
  asks: {exec: {command: $bin/pending.sh}}
  hangs: {exec: {command: $bin/hang.sh}}
  strict:
    exec: {command: $bin/echo-args}
    input_schema: {type: object, required: [city], properties: {city: {type: string}}}
  approved: {exec: {command: $bin/echo-args}, approval: {message: 'May it?'}}
${hooks}`;

const says = { 'says.sh': 'cat >/dev/null\nprintf \'{"result": "It rains."}\'\n' };

test('a text result is judged unchanged, and any other as its JSON', async () => {
  const bench = await openBench(spec(), says);
  const text = await ask(bench.subject('tool: says'), {});
  expect(steady(text)).toEqual({ ...nothing, text: 'It rains.', result: 'It rains.', metadata: {} });
  const row = { city: 'Oslo', id: JSON.rawJSON('12345678901234567890') };
  const echo = await ask(
    bench.subject("tool: echo\nargs: {q: '${case.city}', id: '${case.id}', n: '${epoch}'}"),
    row,
  );
  expect(echo.text).toBe('{"q":"Oslo","id":12345678901234567890,"n":1}');
  expect(JSON.stringify(echo.result)).toBe(echo.text);
});

test('an answer reports its duration', async () => {
  const bench = await openBench(spec(), says);
  const { duration_ms: took, metadata } = await ask(bench.subject('tool: says'), {});
  expect([took > 0, Number.isInteger(took), metadata]).toEqual([true, true, { latency_ms: took }]);
});

test.each([
  { tool: 'crash', says: /^PROCESS_EXIT: / },
  { tool: 'fails', says: /^TOOL_ERROR: / },
  { tool: 'strict', says: /^ARGS_INVALID: .*city/ },
])('a call of $tool has no answer, and the fault gives the reason', async ({ tool, says: words }) => {
  const bench = await openBench(spec(), says);
  const answer = steady(
    await ask(bench.subject(`tool: ${tool}\nargs: {city: '\${case.city}'}`), { city: 5 }),
  );
  expect(answer).toEqual({ ...nothing, metadata: {}, error: expect.stringMatching(words) });
});

test('an expression that cannot be evaluated is reported, and nothing runs', async () => {
  const bench = await openBench(spec(), says);
  const answer = await ask(bench.subject("tool: echo\nargs: {q: '${case.town}'}"), { city: 'Oslo' });
  expect(steady(answer)).toEqual({
    ...nothing,
    attempts: 0,
    metadata: {},
    error: expect.stringMatching(/^EXPRESSION_FAILED: .*town/),
  });
  expect(bench.events).toEqual([]);
});

test.each([
  { tool: 'asks', words: 'Refund 250 EUR? (requires_approval)' },
  { tool: 'approved', words: 'May it? (approval)' },
])('nobody is asked to approve $tool, and nothing is left waiting', async ({ tool, words }) => {
  const bench = await openBench(spec(), says);
  const answer = await ask(bench.subject(`tool: ${tool}`), {});
  expect(answer.error).toMatchObject({
    code: 'PENDING_EXPIRED',
    message: expect.stringContaining(`tool "${tool}" needs an approval, which a suite cannot give`),
  });
  expect(answer.error?.message).toContain(words.slice(0, 7));
  expect(bench.events.filter(({ type }) => type === 'pending.opened')).toEqual([]);
  expect(existsSync(join(bench.folder, '.signalbox'))).toBe(false);
});

test('the hooks of a tool apply as in a call', async () => {
  const hooks = 'hooks:\n  guard: {command: $bin/deny.sh, hook: tool, phases: [before_execution]}\n';
  const bench = await openBench(spec(hooks), says);
  expect(steady(await ask(bench.subject('tool: says'), {}))).toEqual({
    ...nothing,
    metadata: { rule: 'weekday' },
    error: 'DENIED: tool "says" was denied by hook "guard": not today',
  });
});

test('a signal ends the call and its process', async () => {
  const bench = await openBench(spec(), says);
  const ending = new AbortController();
  const asked = ask(bench.subject('tool: hangs'), {}, { signal: ending.signal });
  await expect.poll(() => bench.events.some(({ type }) => type === 'process.started')).toBe(true);
  ending.abort();
  await expect(asked).rejects.toMatchObject({ code: 'ABORTED' });
});
