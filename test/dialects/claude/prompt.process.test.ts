import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { openRuntime } from '../../../src/index.ts';

interface Judging {
  /** The judge's answers, as YAML. */
  readonly responses: string;
  readonly handler?: object;
  readonly provider?: string;
}

function write({ responses, handler = {}, provider = 'judge' }: Judging) {
  const folder = mkdtempSync(join(tmpdir(), 'prompt-'));
  mkdirSync(join(folder, '.claude'));
  writeFileSync(join(folder, 'look.sh'), '#!/bin/sh\ncat > /dev/null\necho \'{"result": "looked"}\'\n');
  chmodSync(join(folder, 'look.sh'), 0o755);
  const hook = { type: 'prompt', prompt: 'Is this harmless? $ARGUMENTS', ...handler };
  const hooks = { PreToolUse: [{ hooks: [hook] }] };
  writeFileSync(join(folder, '.claude/settings.json'), JSON.stringify({ hooks }, null, 2));
  writeFileSync(
    join(folder, 'runtime.yaml'),
    `apiVersion: signalbox/v1
kind: RuntimeConfig
metadata: {name: prompts}
spec:
  providers:
    - {id: judge, type: mock, model: scripted, additional_config: {responses: ${responses}}}
  tools:
    look: {description: looks, exec: {command: ./look.sh}}
  imports:
    - {dialect: claude, file: .claude/settings.json, prompt_provider: ${provider}, env: [PATH]}
`,
  );
  return {
    file: join(folder, 'runtime.yaml'),
    env: process.env,
  };
}

async function callTool(judging: Judging) {
  const { file, env } = write(judging);
  const runtime = await openRuntime(file, { log: false, env });
  const outcome = await runtime.tools.call('look', { text: 'a $& b' });
  await runtime.close();
  return outcome;
}

describe('a prompt handler calls the provider of its import [CC-1-12@oneshot]', () => {
  test('lets the call continue after a yes', async () => {
    expect(await callTool({ responses: `[{text: '{"ok": true}'}]` })).toMatchObject({
      status: 'ok',
      result: 'looked',
    });
  });

  test('sends the model the event in place of $ARGUMENTS', async () => {
    const responses = `[{when: 'messages[0].content.contains("Is this harmless? {") && messages[0].content.contains("a $& b")', text: '{"ok": true}'}, {text: '{"ok": false, "reason": "not asked about the call"}'}]`;
    expect(await callTool({ responses })).toMatchObject({ status: 'ok' });
  });

  test.each([
    ['a no', `[{text: '{"ok": false, "reason": "it deletes"}'}]`, 'it deletes'],
    ['a no without a reason', `[{text: '{"ok": false}'}]`, 'the condition of the hook is not met'],
    ['no verdict', '[{text: I would rather not say}]', 'REPLY_MALFORMED'],
    ['both verdicts', `[{text: '{"ok": true} or {"ok": false}'}]`, 'REPLY_MALFORMED'],
    ['a word for a verdict', `[{text: '{"ok": "true"}'}]`, 'neither true nor false'],
    ['a provider that is down', '[{error: {status: 500, message: down}}]', 'PROVIDER_FAILED'],
  ])('%s denies', async (_, responses, reason) => {
    const outcome = await callTool({ responses });
    expect(outcome).toMatchObject({ status: 'denied' });
    expect(JSON.stringify(outcome)).toContain(reason);
  });

  test('denies before its time is up when a model is too slow', async () => {
    const outcome = await callTool({
      responses: `[{text: '{"ok": true}', delay_ms: 60000}]`,
      handler: { timeout: 8 },
    });
    expect(outcome).toMatchObject({ status: 'denied' });
    expect(JSON.stringify(outcome)).toContain('PROVIDER_TIMEOUT');
  });
});

test('denies when its program is killed', async () => {
  const { file, env } = write({ responses: `[{text: '{"ok": true}', delay_ms: 60000}]` });
  const runtime = await openRuntime(file, {
    log: false,
    env,
    onEvent: (event) => {
      if (event.type === 'process.started') process.kill(event.pid, 'SIGKILL');
    },
  });
  expect(await runtime.tools.call('look', { text: '' })).toMatchObject({ status: 'denied' });
  await runtime.close();
});

test('reports an unknown provider at its place, with the nearest name', () => {
  const { file } = write({ responses: '[]', provider: 'jugde' });
  const { problems } = loadConfig(file, process.env['PATH'] ?? '');
  expect(problems).toContainEqual(
    expect.objectContaining({
      severity: 'error',
      line: 10,
      message: expect.stringContaining('no provider "jugde" is declared'),
      hint: expect.stringContaining('judge'),
    }),
  );
});
