import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { builtProgram } from '../../built.ts';
import { folderOf, run } from '../../cli/command-line.ts';
import { guarded } from '../inbound/guards.ts';
import { exported, openHost } from '../inbound/round.ts';

function keep(args: readonly string[] = [], cwd = guarded) {
  const child = spawn(
    process.execPath,
    [builtProgram, 'hook', 'picoclaw', '--log-level', 'silent', ...args],
    { cwd },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const waiting = new Map<
    number,
    (message: { readonly result?: unknown; readonly error?: unknown }) => void
  >();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let id = 0;
  const write = (line: string) => void child.stdin.write(`${line}\n`);
  const ask = async (method: string, params: object = {}) => {
    id += 1;
    const { promise, resolve } = Promise.withResolvers<{
      readonly result?: unknown;
      readonly error?: unknown;
    }>();
    waiting.set(id, resolve);
    write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const { result, error } = await promise;
    return error ?? result;
  };
  return { child, ask, write };
}

const call = (command: string) => ({ tool: 'shell', arguments: { command } });
const result = (for_llm: string) => ({
  for_llm,
  for_user: for_llm,
  silent: false,
  is_error: false,
  media: ['f'],
});

describe('hook picoclaw', () => {
  test('judges each stage, many concurrently, in PicoClaw’s words [DS-INBOUND-09]', async () => {
    const { ask, write, child } = keep();
    expect(await ask('hook.hello', { name: 'x', version: 1, modes: ['tool'] })).toEqual({
      ok: true,
      name: 'signalbox',
    });
    write('no JSON');
    write('{"jsonrpc":"2.0","method":"hook.event","params":{}}');
    const [allowed, denied, changed, question, crashed, approved, refused] = await Promise.all([
      ask('hook.before_tool', call('ls')),
      ask('hook.before_tool', call('rm -rf /')),
      ask('hook.before_tool', call('mail ada@example.org')),
      ask('hook.before_tool', call('sure?')),
      ask('hook.before_tool', call('crash')),
      ask('hook.approve_tool', call('ls')),
      ask('hook.approve_tool', call('mail ada@example.org')),
    ]);
    expect(allowed).toEqual({ action: 'continue' });
    expect(denied).toEqual({
      ...{ action: 'deny_tool', reason: '"tools": no deleting: "quotes" and $(touch hacked)' },
    });
    expect(changed).toEqual({
      action: 'modify',
      call: { tool: 'shell', arguments: { command: 'mail [email]' } },
    });
    expect([question, crashed]).toMatchObject([{ action: 'deny_tool' }, { action: 'deny_tool' }]);
    expect([approved, refused]).toMatchObject([{ approved: true }, { approved: false }]);
    const nameless = { tool: { toString: null }, arguments: {} };
    expect(await ask('hook.before_tool', nameless)).toMatchObject({ action: 'deny_tool' });
    expect(await ask('hook.approve_tool', nameless)).toMatchObject({ approved: false });
    child.stdin.end();
    expect((await once(child, 'close'))[0]).toBe(0);
  });

  test('removes personal data from requests and results, and withholds denied content [DS-INBOUND-09]', async () => {
    const { ask } = keep();
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'I am ada@example.org', media: ['a.png'] },
    ];
    expect(await ask('hook.before_llm', { model: 'm', messages, tools: [], options: {} })).toEqual({
      action: 'modify',
      request: {
        ...{ model: 'm', tools: [], options: {} },
        messages: [messages[0], { role: 'user', content: 'I am [email]' }],
      },
    });
    expect(
      await ask('hook.before_llm', { model: 'm', messages: [{ role: 'user', content: 'rm -rf' }] }),
    ).toMatchObject({
      action: 'abort_turn',
    });
    expect(await ask('hook.after_llm', { model: 'm', response: { content: 'run rm -rf' } })).toMatchObject({
      action: 'abort_turn',
    });
    expect(
      await ask('hook.after_tool', { ...call('ls'), result: result('to ada@example.org'), duration: 5 }),
    ).toEqual({
      action: 'modify',
      result: {
        ...{ ...call('ls'), duration: 5 },
        result: { ...result('to [email]'), for_user: '', media: [] },
      },
    });
    const withheld = await ask('hook.after_tool', { ...call('ls'), result: result('secret rm -rf') });
    expect(withheld).toMatchObject({
      action: 'modify',
      result: { result: { is_error: true, for_user: '' } },
    });
    expect(JSON.stringify(withheld)).not.toContain('secret');
    expect(await ask('hook.before_everything')).toMatchObject({ code: -32_601 });
  });

  test('denies requests that take too long, and answers that are too long for PicoClaw [DS-INBOUND-09]', async () => {
    const { ask } = keep(['--answer-within', '500ms']);
    expect(await ask('hook.before_tool', call('hang'))).toMatchObject({ action: 'deny_tool' });
    expect(await ask('hook.approve_tool', call('hang'))).toMatchObject({ approved: false });
    const long = keep();
    expect(await long.ask('hook.before_tool', call(`ada@example.org ${'x'.repeat(1 << 20)}`))).toEqual({
      ...{ action: 'deny_tool', reason: 'what a hook has left is too long for PicoClaw to read' },
    });
  });

  test('does not start with a broken config, or for its own runtime [DS-INBOUND-09]', async () => {
    const broken = keep([], folderOf({}));
    expect((await once(broken.child, 'close'))[0]).toBe(2);
    const own = await run(['hook', 'picoclaw'], {
      ...{ cwd: guarded, env: { SIGNALBOX_OWNER: 'x' } },
    });
    expect(own.code).toBe(2);
  });

  test('PicoClaw’s rules read the answers as the guards meant them [DS-INBOUND-09]', async () => {
    const settings = JSON.parse(await exported('picoclaw'));
    const { processes } = settings.hooks;
    expect(processes.signalbox.intercept).toEqual([
      'before_llm',
      'after_llm',
      'before_tool',
      'approve_tool',
      'after_tool',
    ]);
    processes.signalbox.command = ['env', '-u', 'SIGNALBOX_OWNER', ...processes.signalbox.command];
    const host = await openHost('{dialect: picoclaw, file: ./config.json}', {
      'config.json': JSON.stringify(settings),
    });
    const fire = async (point: string, payload: object) =>
      await host.hooks.fire({ dialect: 'picoclaw', point, payload: { ...payload } });
    expect(await fire('before_tool', call('ls'))).toMatchObject({ verdict: 'allow' });
    expect(await fire('before_tool', call('rm -rf /'))).toMatchObject({
      ...{ verdict: 'deny', reason: expect.stringContaining('no deleting') },
    });
    expect(await fire('before_tool', call('mail ada@example.org'))).toMatchObject({ verdict: 'modify' });
    expect(await fire('approve_tool', call('rm -rf /'))).toMatchObject({ verdict: 'deny' });
    const { metadata } = await fire('after_tool', { ...call('ls'), result: result('fine') });
    expect(metadata).not.toHaveProperty('failed_open');
  });
});
