import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { type Running, run, runJson, start, until, workspace } from '../cli/command-line.ts';

const slow = '#!/bin/sh\necho "$$" > slow.pid\necho "a line of its log" >&2\nexec sleep 60\n';
const spec = `
tools:
  slow: {exec: {command: ./slow.sh}}
  refund: {approval: required, exec: {command: ./slow.sh}}
`;
const folder = () => workspace(spec, { 'slow.sh': slow });

const initialize =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';
const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const callOf = (name: string, id = 2) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });

function pidIn(cwd: string): number {
  const file = join(cwd, 'slow.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

function linesOf({ stdout }: Running['child']): AsyncIterable<string> {
  if (stdout === null) throw new Error('it has no stdout');
  return createInterface(stdout);
}

test('a pipe gets its answers on stdout, one message a line, and nothing else', async () => {
  const stdin = `${initialize}\n${list}\n`;
  const { code, stdout, stderr } = await run('--log-level trace mcp', { cwd: folder(), stdin, binary: true });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const ids = stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line).id);
  expect(ids).toEqual([0, 1]);
});

test.each([
  { title: 'the end of stdin', end: 'stdin' },
  { title: 'SIGTERM', end: 'SIGTERM' },
  { title: 'SIGINT', end: 'SIGINT' },
  { title: 'the death of the client', end: 'both' },
] as const)('$title ends the program, its calls and their processes, and keeps pendings', async ({ end }) => {
  const cwd = folder();
  const { child, ran } = start(['mcp'], { cwd, stdin: null });
  // A client that dies closes its end of stdout, too.
  ran.catch(() => {});
  const ended = once(child, 'exit');
  child.stdin?.write(`${initialize}\n${callOf('refund', 2)}\n`);
  for await (const line of linesOf(child)) if (JSON.parse(line).id === 2) break;
  child.stdin?.write(`${callOf('slow', 3)}\n`);
  await until(() => pidIn(cwd) > 0);
  if (end === 'both') child.stdout?.destroy();
  if (end === 'stdin' || end === 'both') child.stdin?.end();
  else child.kill(end);
  expect(await ended).toEqual([0, null]);
  expect(existsSync(`/proc/${pidIn(cwd)}/exe`)).toBe(false);
  const { document } = await runJson('pending list', { cwd });
  expect(document).toMatchObject({ pending: [{ tool: 'refund', status: 'open' }] });
});

test('without its package, the error names the command that installs it', async () => {
  const hook = join(import.meta.dirname, '../fixtures/start/without-mcp.mjs');
  const env = { NODE_OPTIONS: `--import=${hook}` };
  const { code, stdout, stderr } = await run('mcp', { cwd: folder(), stdin: '', env, binary: true });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('"@modelcontextprotocol/server", which `signalbox mcp` needs, cannot be loaded');
  expect(stderr).toContain('npm install @modelcontextprotocol/server');
});

test('an address that is taken, and one that other machines reach, are refused', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const taken = await run(`mcp --http 127.0.0.1:${port}`, { cwd: folder() });
  other.close();
  expect(taken.code).toBe(2);
  expect(taken.stderr).toContain(`[LISTEN_FAILED] 127.0.0.1:${port}: another program listens there already`);
  const open = await run('mcp --http 0.0.0.0:0', { cwd: folder() });
  expect(open.code).toBe(2);
  expect(open.stderr).toContain('[LISTEN_FAILED]');
  const wrong = await run('mcp --http localhost', { cwd: folder() });
  expect(wrong.stderr).toContain('must be HOST:PORT, not "localhost"');
});

test('mistakes of the command line are explained', async () => {
  const none = await run('mcp --tools nothing', { cwd: folder(), stdin: '' });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('no tool matches `nothing`') });
  const both = await run('mcp --json', { cwd: folder(), stdin: '' });
  expect(both).toMatchObject({ code: 2, stdout: expect.stringContaining('"USAGE"') });
});

test('over HTTP, the first line has the address, and SIGTERM ends the program with 0', async () => {
  const { child, ran } = start(['mcp', '--http', '127.0.0.1:0', '--json'], { cwd: folder() });
  for await (const line of linesOf(child)) {
    const { url, tools } = JSON.parse(line);
    expect({ url, tools }).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      tools: ['slow', 'refund'],
    });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const answer = await fetch(url, { method: 'POST', headers, body: list });
    expect(await answer.text()).toContain('"name":"slow"');
    break;
  }
  child.kill('SIGTERM');
  expect((await ran).code).toBe(0);
});
