import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesWith } from '../../canary.ts';
import { open } from '../../runtime/open.ts';
import { program } from './run.ts';

const runtimes = ['exec', 'server'] as const;

function hook(kind: 'provider' | 'tool', runtime: string, args: readonly string[], more = ''): string {
  const list = JSON.stringify([program, ...args]);
  return `  pii: {command: ${JSON.stringify(process.execPath)}, args: ${list}, hook: ${kind}, runtime: ${runtime}, timeout_ms: 60000${more}}\n`;
}

const request = (content: string, metadata: object = {}) => ({
  messages: [{ role: 'user' as const, content }],
  metadata: { ...metadata },
});

describe.each(runtimes)('under a runtime, as %s', (mode) => {
  test('it redacts a request and an answer', async () => {
    const { runtime } = await open(`hooks:\n${hook('provider', mode, [])}`);
    const asked = request('I am ada@example.org');
    const before = await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request: asked });
    expect(before).toMatchObject({
      verdict: 'modify',
      hook: 'pii',
      replace: { messages: [{ content: 'I am [EMAIL_ADDRESS]' }] },
      metadata: { pii: { EMAIL_ADDRESS: 1 } },
    });
    const message = { role: 'assistant' as const, content: 'SSN 536-22-8714' };
    const after = await runtime.hooks.fire({
      hook: 'provider',
      phase: 'after_call',
      request: asked,
      response: { message },
    });
    expect(after).toMatchObject({ verdict: 'modify', replace: { message: { content: 'SSN [US_SSN]' } } });
  });

  test('it blocks, and names the kind of data but not the value', async () => {
    const { runtime } = await open(`hooks:\n${hook('provider', mode, ['--action', 'block'])}`);
    const decision = await runtime.hooks.fire({
      hook: 'provider',
      phase: 'before_call',
      request: request('card 4111 1111 1111 1111'),
    });
    expect(decision).toMatchObject({
      verdict: 'deny',
      hook: 'pii',
      reason: 'the request holds 1 credit card',
    });
    expect(JSON.stringify(decision)).not.toContain('1111');
  });

  test('it sends pseudonyms and restores the values', async () => {
    const { runtime } = await open(`hooks:\n${hook('provider', mode, ['--action', 'pseudonymise'])}`);
    const asked = request('I am ada@example.org', { session_id: 's' });
    const before = await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request: asked });
    expect(before).toMatchObject({ replace: { messages: [{ content: 'I am <EMAIL_ADDRESS_1>' }] } });
    const message = {
      role: 'assistant' as const,
      content: 'Hi <EMAIL_ADDRESS_1>',
      tool_calls: [{ id: 'c', name: 'mail', args: { to: '<EMAIL_ADDRESS_1>' } }],
    };
    const after = await runtime.hooks.fire({
      hook: 'provider',
      phase: 'after_call',
      request: asked,
      response: { message },
    });
    expect(after).toMatchObject({
      verdict: 'modify',
      replace: {
        message: { content: 'Hi ada@example.org', tool_calls: [{ args: { to: 'ada@example.org' } }] },
      },
      metadata: { restored: { EMAIL_ADDRESS: 2 } },
    });
  });

  test('it guards a tool', async () => {
    const spec = `tools:
  mail: {description: sends, exec: {command: $bin/print-stdin}}
hooks:
${hook('tool', mode, ['--action', 'redact,CREDIT_CARD=block'])}`;
    const { runtime } = await open(spec);
    const redacted = await runtime.hooks.fire({
      hook: 'tool',
      phase: 'before_execution',
      request: { name: 'mail', args: { to: 'ada@example.org', n: 12 }, call_id: 'c' },
    });
    expect(redacted).toMatchObject({
      verdict: 'modify',
      replace: { args: { to: '[EMAIL_ADDRESS]', n: 12 } },
    });
    expect(await runtime.tools.call('mail', { card: '4111111111111111' })).toMatchObject({
      status: 'denied',
      hook: 'pii',
      reason: 'the arguments hold 1 credit card',
    });
    const result = await runtime.hooks.fire({
      hook: 'tool',
      phase: 'after_execution',
      request: { name: 'mail', args: {}, call_id: 'c' },
      response: { name: 'mail', call_id: 'c', content: '{"ip":"203.0.113.7","n":12345678901234567890}' },
    });
    expect(result).toMatchObject({
      replace: { content: '{"ip":"[IP_ADDRESS]","n":12345678901234567890}' },
    });
  });

  test('a filter with wrong arguments denies, and stderr explains why', async () => {
    const { runtime, events } = await open(`hooks:\n${hook('provider', mode, ['--entities', 'EMAIL'])}`);
    const decision = await runtime.hooks.fire({
      hook: 'provider',
      phase: 'before_call',
      request: request('hi'),
    });
    expect(decision).toMatchObject({ verdict: 'deny', hook: 'pii' });
    const lines = events.flatMap((event) => (event.type === 'stderr' ? [event.line] : []));
    expect(lines.join('\n')).toContain('there is no entity "EMAIL"');
  });
});

test('settings reach it through env', async () => {
  const env = ', env: ["SIGNALBOX_PII_ENTITIES=US_SSN", "SIGNALBOX_PII_ACTION=mask"]';
  const { runtime } = await open(`hooks:\n${hook('provider', 'server', [], env)}`);
  const decision = await runtime.hooks.fire({
    hook: 'provider',
    phase: 'before_call',
    request: request('ada@example.org 536-22-8714'),
  });
  expect(decision).toMatchObject({ replace: { messages: [{ content: 'ada@example.org ***-**-8714' }] } });
});

test('in shadow mode it only reports what it would have done', async () => {
  const { runtime } = await open(
    `hooks:\n${hook('provider', 'server', ['--action', 'block'], ', mode: shadow')}`,
  );
  const decision = await runtime.hooks.fire({
    hook: 'provider',
    phase: 'before_call',
    request: request('536-22-8714'),
  });
  expect(decision).toMatchObject({ verdict: 'allow', hook: null });
});

test('a message that contains its text twice comes back with both copies changed', async () => {
  const { runtime } = await open(`hooks:\n${hook('provider', 'server', [])}`);
  const content = 'I am ada@example.org';
  const parts = [
    { type: 'text', text: 'I am ada@' },
    { type: 'text', text: 'example.org' },
  ];
  const decision = await runtime.hooks.fire({
    hook: 'provider',
    phase: 'before_call',
    request: { messages: [{ role: 'user', content, parts }] },
  });
  expect(decision).toMatchObject({
    verdict: 'modify',
    replace: {
      messages: [
        { content: 'I am [EMAIL_ADDRESS]', parts: [{ text: 'I am [EMAIL_ADDRESS]' }, { text: '' }] },
      ],
    },
  });
});

test('the values of pseudonyms are written to no file', async () => {
  const home = mkdtempSync(join(tmpdir(), 'home-'));
  const env = { ...process.env, HOME: home, TMPDIR: home };
  const { runtime } = await open(`hooks:\n${hook('provider', 'server', ['--action', 'pseudonymise'])}`, {
    env,
  });
  const asked = request('I am xanthippe@zwiebel.example', { session_id: 's' });
  await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request: asked });
  const message = { role: 'assistant' as const, content: 'Hi <EMAIL_ADDRESS_1>' };
  const after = () =>
    runtime.hooks.fire({ hook: 'provider', phase: 'after_call', request: asked, response: { message } });
  // The value comes back, so the filter has kept it.
  expect(await after()).toMatchObject({ replace: { message: { content: 'Hi xanthippe@zwiebel.example' } } });
  expect(filesWith(['xanthippe@zwiebel'], tmpdir())).toEqual([]);
  await runtime.close();
  expect(filesWith(['xanthippe@zwiebel'], tmpdir())).toEqual([]);
});
