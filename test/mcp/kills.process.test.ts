import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { run, runJson, start, until, workspace } from '../cli/command-line.ts';

/** Notes each start, and ends when the file `go` exists. */
const pays = `#!/bin/sh
cat > /dev/null
echo run >> runs.txt
until [ -e go ]; do sleep 0.02; done
echo '{"result": "paid"}'
`;

const folder = (more: string) =>
  workspace(`tools: {refund: {approval: required, ${more} exec: {command: ./pays.sh}}}`, { 'pays.sh': pays });

const initialize =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';

/** Starts a server for one call, as an agent does. */
function callIn(cwd: string, toolUseId: string) {
  const params = { name: 'refund', arguments: { order: 17 }, _meta: { 'claudecode/toolUseId': toolUseId } };
  const { child, ran } = start(['mcp'], { cwd, stdin: null });
  ran.catch(() => {});
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  child.stdin?.write(`${initialize}\n${call}\n`);
  const answer = async (): Promise<unknown> => {
    if (child.stdout === null) throw new Error('it has no stdout');
    for await (const line of createInterface(child.stdout)) {
      const { id, result } = JSON.parse(line);
      if (id === 1) return result;
    }
    throw new Error('it ended without an answer');
  };
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { answer, kill };
}

function runsIn(cwd: string): number {
  const file = join(cwd, 'runs.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}

const waits = { isError: true, content: [{ text: expect.stringContaining('signalbox pending approve') }] };
const paid = { content: [{ type: 'text', text: 'paid' }] };

async function pendingsIn(cwd: string): Promise<readonly { readonly id: string }[]> {
  const { document } = await runJson('pending list', { cwd });
  return (document as { readonly pending: readonly { readonly id: string }[] }).pending;
}

async function approveIn(cwd: string): Promise<void> {
  const [waiting] = await pendingsIn(cwd);
  expect(await run(`pending approve ${waiting?.id} --by mara`, { cwd })).toMatchObject({ code: 0 });
}

test('a server killed between the call and the decision loses nothing, and the tool runs once', async () => {
  const cwd = folder('');
  for (const id of ['one', 'one', 'two']) {
    const { answer, kill } = callIn(cwd, id);
    expect(await answer()).toMatchObject(waits);
    await kill();
  }
  expect(await pendingsIn(cwd)).toHaveLength(1);
  await approveIn(cwd);
  expect(runsIn(cwd)).toBe(0);
  writeFileSync(join(cwd, 'go'), '');
  for (const id of ['three', 'one']) {
    const { answer, kill } = callIn(cwd, id);
    expect(await answer()).toMatchObject(paid);
    await kill();
  }
  expect(runsIn(cwd)).toBe(1);
});

test.each([
  { more: '', answer: paid, runs: 2 },
  { more: 'idempotent: false,', answer: waits, runs: 1 },
])('a server killed while the tool runs: $more', async ({ more, answer, runs }) => {
  const cwd = folder(more);
  const first = callIn(cwd, 'one');
  expect(await first.answer()).toMatchObject(waits);
  await first.kill();
  await approveIn(cwd);
  const second = callIn(cwd, 'two');
  await until(() => runsIn(cwd) === 1);
  await second.kill();
  writeFileSync(join(cwd, 'go'), '');
  const third = callIn(cwd, 'three');
  expect(await third.answer()).toMatchObject(answer);
  await third.kill();
  expect(runsIn(cwd)).toBe(runs);
});
