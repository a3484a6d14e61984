import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { fixture, pipeline, processesWith, run, signalbox, start, until, workspace } from './command-line.ts';

const pii = fileURLToPath(new URL('../../src/cli/pii/main.ts', import.meta.url));
const lastLine = (stderr: string) => stderr.trimEnd().split('\n').at(-1);
const stopTimeout = expect.stringMatching(/^error: \[STOP_TIMEOUT\] /);

function startUnread([program, ...args]: readonly [string, ...string[]], cwd: string) {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, stderr: text(child.stderr) };
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  const [code] = await once(child, 'exit');
  child.stdout?.destroy();
  return code;
}

function openFiles(pid: number | undefined): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return []; // It has closed a descriptor meanwhile.
  }
}

test.concurrent.for(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
  'a process that does not end in time after %s is killed [DS-STOP-01]',
  async (signal, { expect }) => {
    const marker = `stop-${process.pid}-${signal}`;
    const deaf = `{exec: {command: ./deaf.sh, grace_ms: 60000, env: [MARK=${marker}]}}`;
    const cwd = workspace(`tools: {deaf: ${deaf}}`, {
      // Ignores SIGTERM before it reports that it runs.
      'deaf.sh': "#!/bin/sh\ntrap '' TERM\n: >seen\nwhile :; do sleep 1; done\n",
    });
    const { child, ran } = start(['tool', 'call', 'deaf', '--stop-timeout', '300ms'], { cwd });
    await until(() => existsSync(join(cwd, 'seen')));
    child.kill(signal);
    const { code, stderr } = await ran;
    expect({ code, last: lastLine(stderr) }).toEqual({ code: 130, last: stopTimeout });
    await until(() => processesWith(marker).length === 0);
  },
);

test.concurrent('a reader that does not read does not delay the end [DS-STOP-01]', async ({ expect }) => {
  const cwd = workspace('tools: {much: {exec: {command: ./much.py}}}', {
    'much.py': `#!/usr/bin/env python3\nimport sys\nopen('seen', 'w')\nprint('{"result": "%s"}' % ('x' * 1000000))\n`,
  });
  const { child, stderr } = startUnread(
    [...signalbox, 'tool', 'call', 'much', '--stop-timeout', '300ms'],
    cwd,
  );
  await until(() => child.stdout.readableLength > 0);
  child.kill('SIGTERM');
  expect(await exitOf(child)).toBe(130);
  expect(lastLine(await stderr)).toEqual(stopTimeout);
});

test.concurrent('a locked store does not delay the end [DS-STOP-01]', async ({ expect }) => {
  const cwd = workspace(`tools: {quick: {exec: {command: ${fixture('null-result.sh')}}}}`, {
    'one.pipeline.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: one, tool: quick}]'),
  });
  mkdirSync(join(cwd, '.signalbox'), { recursive: true });
  expect((await run('run one.pipeline.yaml', { cwd, binary: true })).code).toBe(0);
  const holder = new DatabaseSync(join(cwd, '.signalbox/state.db'));
  holder.exec('BEGIN EXCLUSIVE');
  const { child, ran } = start(['run', 'one.pipeline.yaml', '--stop-timeout', '1s'], { cwd });
  await until(() => openFiles(child.pid).some((file) => file.endsWith('/state.db')));
  child.kill('SIGTERM');
  const { code } = await ran;
  expect(code).toBe(130);
  holder.close();
});

test.concurrent('signalbox-pii answers what it has read, then ends at a signal [DS-STOP-02]', async ({
  expect,
}) => {
  const { child, stderr } = startUnread([process.execPath, pii], process.cwd());
  const request = {
    jsonrpc: '2.0',
    id: 1,
    method: 'execute',
    params: { hook: 'provider', phase: 'before_call', request: { messages: [] } },
  };
  child.stdin.write(`${JSON.stringify(request)}\n`);
  await until(() => child.stdout.readableLength > 0);
  child.kill('SIGTERM');
  expect(await exitOf(child)).toBe(130);
  expect(await stderr).toBe('');
});
