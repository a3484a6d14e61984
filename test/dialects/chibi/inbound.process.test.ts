import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderOf } from '../../cli/command-line.ts';
import { askProgram, config, guard, guarded } from '../inbound/guards.ts';
import { exported, openHost } from '../inbound/round.ts';

const ask = (point: string, payload: object, cwd = guarded) =>
  askProgram(JSON.stringify(payload), {
    ...{ dialect: 'chibi', cwd, env: { ...process.env, CHIBI_HOOK: point } },
  });

const call = (command: string) => ({ tool_name: 'shell', arguments: { command } });

describe('hook chibi', () => {
  test('an allow of the guards is no opinion [DS-INBOUND-08]', () => {
    const none = { code: 0, document: {}, stderr: '' };
    expect(ask('pre_tool', call('ls'))).toEqual(none);
    expect(ask('pre_message', { prompt: 'hello' })).toEqual(none);
    expect(ask('on_start', {})).toEqual(none);
  });

  test('a denied call is blocked, a changed one continues changed, and a question denies [DS-INBOUND-08]', () => {
    expect(ask('pre_tool', call('rm -rf /'))).toEqual({
      code: 0,
      document: { block: true, message: '"tools": no deleting: "quotes" and $(touch hacked)' },
      stderr: '',
    });
    expect(ask('pre_tool', call('mail ada@example.org 12345678901234567890')).document).toEqual({
      arguments: { command: 'mail [email] 12345678901234567890' },
    });
    expect(ask('pre_tool', call('sure?')).document).toMatchObject({ block: true });
    expect(ask('pre_tool', call('crash')).document).toMatchObject({ block: true });
  });

  test('personal data is removed from prompts and results, and denied content is withheld [DS-INBOUND-08]', () => {
    expect(ask('pre_message', { prompt: 'I am ada@example.org' }).document).toEqual({
      prompt: 'I am [email]',
    });
    expect(ask('pre_message', { prompt: 'rm -rf /' }).document).toEqual({
      prompt: '[withheld: "model": no deleting: "quotes" and $(touch hacked)]',
    });
    expect(ask('pre_tool_output', { ...call('ls'), output: 'to ada@example.org' }).document).toEqual({
      output: 'to [email]',
    });
    expect(ask('pre_tool_output', { ...call('ls'), output: 'secret rm -rf' }).document).toEqual({
      ...{ block: true, message: expect.not.stringContaining('secret') },
    });
  });

  test.each(['', '{"tool_name": ', '[]', '"x"'])(
    '%j on stdin denies at every point [DS-INBOUND-08]',
    (input) => {
      const env = { ...process.env, CHIBI_HOOK: 'pre_tool' };
      expect(askProgram(input, { dialect: 'chibi', env })).toMatchObject({
        code: 0,
        document: { block: true, denied: true, prompt: expect.stringContaining('[withheld: ') },
        stderr: expect.stringContaining('signalbox: ['),
      });
    },
  );

  test('an unknown point, and a call as a tool, are refused [DS-INBOUND-08]', () => {
    expect(ask('pre_everything', {}).document).toMatchObject({ block: true, denied: true });
    const { CHIBI_HOOK: _, ...env } = process.env;
    expect(askProgram('{}', { dialect: 'chibi', env }).stderr).toContain('not as a tool');
  });

  test('the schema has the points of the config’s hooks, and all points if the config is broken [DS-INBOUND-08]', () => {
    const describe = (cwd: string) => askProgram('', { dialect: 'chibi', cwd, args: ['--schema'] }).document;
    const all = ['on_start', 'on_end', 'pre_message', 'pre_tool', 'pre_tool_output'];
    expect(describe(guarded)).toMatchObject({ hooks: all });
    const some = folderOf({
      'runtime.yaml': config.replace(/ {4}(model|audit).*\n/g, ''),
      'guard.py': guard,
    });
    expect(describe(some)).toMatchObject({ hooks: ['pre_tool', 'pre_tool_output'] });
    expect(describe(folderOf({}))).toMatchObject({ hooks: all });
  });

  test('chibi’s rules read the answers as the guards meant them [DS-INBOUND-08]', async () => {
    const program = (await exported('chibi')).replace('exec ', 'unset SIGNALBOX_OWNER\nexec ');
    const plugins = folderOf({});
    mkdirSync(join(plugins, 'plugins'));
    writeFileSync(join(plugins, 'plugins/guards'), program);
    chmodSync(join(plugins, 'plugins/guards'), 0o755);
    const host = await openHost(
      `{dialect: chibi, plugins_dir: ${join(plugins, 'plugins')}, on_failure: deny}`,
      {},
    );
    const fire = async (point: string, payload: object) =>
      await host.hooks.fire({ dialect: 'chibi', point, payload: { ...payload } });
    expect(await fire('pre_tool', call('ls'))).toMatchObject({ verdict: 'allow' });
    expect(await fire('pre_tool', call('rm -rf /'))).toMatchObject({
      verdict: 'deny',
      reason: expect.stringContaining('no deleting'),
    });
    expect(await fire('pre_tool', call('mail ada@example.org'))).toMatchObject({
      verdict: 'modify',
      replace: { args: { command: 'mail [email]' } },
    });
    expect(await fire('pre_message', { prompt: 'I am ada@example.org' })).toMatchObject({
      verdict: 'modify',
    });
  });
});
