// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of configs
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import { compileMatch } from '../../../src/calls/hooks/match.ts';
import type { NativeEvent } from '../../../src/contract/hook.ts';
import { openRuntime } from '../../../src/index.ts';
import { config, folderOf } from '../../cli/command-line.ts';
import { configText, native, told } from '../../config/told.ts';

const call = (name: string, args = '{}'): NativeEvent =>
  readEvent({
    hook: 'tool',
    phase: 'before_execution',
    request: { name, args: new Json(args), call_id: 'c' },
  });
const asking = (provider_id: string, model: string): NativeEvent =>
  readEvent({ hook: 'provider', phase: 'before_call', request: { provider_id, model, messages: [] } });

describe('an entry’s match selects the events of its hook [DS-HOOK-10]', () => {
  test.each([
    [{ tools: ['bash', 'fs_*'] }, call('fs_write'), true],
    [{ tools: ['bash', 'fs_*'] }, call('refund'), false],
    [{ providers: ['main'] }, asking('main', 'm'), true],
    [{ providers: ['main'], models: ['gpt-*'] }, asking('main', 'claude-4'), false],
    [{ when: '${event.request.args.amount > 100}' }, call('refund', '{"amount": 101}'), true],
    [{ when: '${event.request.args.amount > 100}' }, call('refund', '{"amount": 100}'), false],
    [
      { when: '${event.request.args.id == 12345678901234567890u}' },
      call('r', '{"id": 12345678901234567890}'),
      true,
    ],
    [{ tools: ['other'], when: '${true}' }, call('refund'), false],
    [{ when: '${event.request.model == "m"}' }, asking('main', 'm'), true],
  ])('%j of %j: %s', (match, event, hears) => {
    expect(compileMatch(match)(event)).toBe(hears);
  });

  test('an alias of a tool is a name of it', () => {
    const event = call('Shell');
    const aliased = { ...event, request: { name: 'Shell', args: {}, call_id: 'c', aliases: ['Bash'] } };
    expect(compileMatch({ tools: ['Bash'] })(aliased as NativeEvent)).toBe(true);
  });
});

test.each([
  ['${event.request.args.amount > 100}', '{}'],
  ['${event.request.args.amount > 100}', '{"amount": "much"}'],
  ['${event.request.args.all(key, event.request.args.all(other, key == other + "x"))}', '"no mapping"'],
  ['${event.request.args.flag}', '{"flag": "false"}'],
  ['${event.request.args.flag}', '{"flag": null}'],
])('an event that cannot be decided is judged: %s of %s [DS-HOOK-11]', (when, args) => {
  expect(compileMatch({ when })(call('refund', args))).toBe(true);
});

test('no process starts for an event that a hook excludes, and one that judges decides [DS-HOOK-10]', async () => {
  const cwd = folderOf({
    'runtime.yaml': config(
      [
        'tools:',
        '  small: {description: d, input_schema: {type: object}, exec: {command: ./ok.sh}}',
        '  large: {description: d, input_schema: {type: object}, exec: {command: ./ok.sh}}',
        'hooks:',
        '  guard: {command: ./guard.sh, dialect: promptkit, hook: tool, phases: [before_execution], match: {tools: [large]}}',
        '  told: {command: ./told.sh, dialect: promptkit, hook: tool, phases: [before_execution], mode: observe, match: {tools: [large]}}',
        '  when: {command: ./guard.sh, dialect: promptkit, hook: tool, phases: [before_execution], match: {when: "${event.request.args.bad}"}}',
        '',
      ].join('\n'),
    ),
    'ok.sh': '#!/bin/sh\necho \'{"result": 1}\'\n',
    'guard.sh': '#!/bin/sh\necho asked >> asked.txt\necho \'{"allow": false, "reason": "no"}\'\n',
    'told.sh': '#!/bin/sh\necho told >> told.txt\n',
  });
  const runtime = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
  const passed = await runtime.tools.call('small', { bad: false });
  expect({ passed: passed.status, asked: existsSync(join(cwd, 'asked.txt')) }).toEqual({
    passed: 'ok',
    asked: false,
  });
  // Without the argument, `when` fails.
  const [large, unknown] = [
    await runtime.tools.call('large', { bad: false }),
    await runtime.tools.call('small'),
  ];
  await runtime.close();
  expect([large, unknown]).toMatchObject([
    { status: 'denied', hook: 'guard' },
    { status: 'denied', hook: 'when' },
  ]);
  expect(readFileSync(join(cwd, 'told.txt'), 'utf8')).toBe('told\n');
});

test('validate reports errors in a match with their place [DS-HOOK-12]', () => {
  const { problems } = told(
    configText(
      native,
      `
providers: [{id: main, type: openai, model: m}]
tools: {refund: {description: d, exec: {command: cat}}}
hooks:
  a: {command: cat, dialect: promptkit, hook: tool, match: {tools: [refnd], models: [m]}}
  b: {command: cat, dialect: promptkit, hook: tool, match: {when: "\${args.x > 1}"}}
  c: {command: cat, dialect: promptkit, hook: tool, match: {tool: [refund]}}
  d: {command: cat, dialect: promptkit, hook: tool, match: {when: "\${1}"}}
  e: {command: cat, dialect: claude, claude: {event: PreToolUse}, match: {tools: [refund]}}
  f: {command: cat, dialect: promptkit, hook: tool, match: {when: "\${env:X}"}}`,
    ),
  );
  expect(problems.filter((problem) => !problem.startsWith('note'))).toMatchInlineSnapshot(`
    [
      "error 7:71 hooks[a].match.tools[0]: no tool is declared as "refnd", so the hook never runs for it | Did you mean \`refund\`? Set \`external: true\` on the hook if a client or an agent brings the tool.",
      "error 7:79 hooks[a].match.models: only events of provider hooks have models (hook: tool) | Use \`when\`, an expression over the \`event\`.",
      "error 8:69 hooks[b].match.when: \`\${args.x > 1}\` is not a valid expression: Unknown variable: args | The expression sees the event as \`event\`.",
      "error 9:63 hooks[c].match.tool: unknown key | did you mean \`tools\`?",
      "error 10:69 hooks[d].match.when: must give true or false, but \`\${1}\` gives a value of type int | Write a single expression, such as \`\${event.amount > 100}\`.",
      "error 11:76 hooks[e].match: is not allowed here",
      "error 12:69 hooks[f].match.when: variables are not replaced here: the value would be read as part of the text | Write the value itself.",
    ]
  `);
});
