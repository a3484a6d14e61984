import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { open } from '../../runtime/open.ts';
import { programs, sourceOf } from './programs.ts';

const node = JSON.stringify(process.execPath);

describe.each(programs)('signalbox-$name under a runtime', ({ name, bad, kind, args }) => {
  test.each(['exec', 'server'])('works as guard, eval and tool, as %s', async (mode) => {
    const exec = `command: ${node}, args: ${JSON.stringify([sourceOf(name), ...args])}, runtime: ${mode}, timeout_ms: 60000`;
    const { runtime } = await open(`tools:
  look: {description: looks, exec: {${exec}}}
  echo: {description: echoes, exec: {command: $bin/print-stdin}}
evals:
  clean: {${exec}}
hooks:
  guard: {${exec}, hook: tool}
`);
    const decision = await runtime.hooks.fire({
      hook: 'tool',
      phase: 'after_execution',
      request: { name: 'page', args: {}, call_id: 'c' },
      response: { name: 'page', call_id: 'c', content: bad },
    });
    expect(decision).toMatchObject({ verdict: 'deny', hook: 'guard', metadata: { [name]: { [kind]: 1 } } });
    expect(await runtime.evals.call('clean', { content: bad })).toMatchObject({
      status: 'scored',
      passed: false,
    });
    expect(await runtime.evals.call('clean', { content: 'Hello.' })).toMatchObject({
      score: 1,
      passed: true,
    });
    expect(await runtime.tools.call('look', { text: 'Hello.' })).toMatchObject({
      status: 'ok',
      result: { flagged: false },
    });
  });

  test('wrong arguments deny every call', async () => {
    const { runtime } = await open(
      `hooks:\n  guard: {command: ${node}, args: ${JSON.stringify([sourceOf(name), '--scan', 'nobody'])}, hook: provider, timeout_ms: 60000}\n`,
    );
    const request = { messages: [{ role: 'user' as const, content: 'hi' }] };
    const decision = await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request });
    expect(decision).toMatchObject({ verdict: 'deny', hook: 'guard' });
  });

  test('a line in Latin-1 or UTF-16 is refused, and the next one is answered', async () => {
    const child = spawn(process.execPath, [sourceOf(name)], { stdio: ['pipe', 'pipe', 'pipe'] });
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    const line = (id: number) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'execute', params: { args: { text: 'é' } } })}\n`;
    child.stdin.write(line(1));
    child.stdin.write(Buffer.from(line(2), 'latin1'));
    child.stdin.write(Buffer.from(line(3), 'utf16le'));
    child.stdin.write('\n');
    child.stdin.end(line(4));
    const [code] = await once(child, 'exit');
    const ids = (await stdout).match(/"id":(\d|null),"\w+/g);
    expect({ code, first: ids?.at(0), last: ids?.at(-1) }).toEqual({
      code: 0,
      first: '"id":1,"result',
      last: '"id":4,"result',
    });
    expect(ids?.slice(1, -1).every((id) => id.endsWith('"error'))).toBe(true);
    expect(await stderr).not.toContain('é');
  });

  test('ends at a signal after its pending answers', async () => {
    const child = spawn(process.execPath, [sourceOf(name)], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, params: { args: { text: 'a' } } })}\n`);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([130, null]);
  });
});
