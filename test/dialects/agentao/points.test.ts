import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bare, fire, open, told } from './points.ts';

const prompted = (more: object) => ({
  agentao: {
    blocking_error: null,
    prevent_continuation: false,
    stop_reason: null,
    additional_contexts: [],
    ...more,
  },
});
const ended = (more: object) => ({
  agentao: {
    blocking_error: null,
    force_continue: false,
    follow_up_message: null,
    additional_contexts: [],
    stop_reason: null,
    suppress_output: false,
    system_message: null,
    matched_rule_count: 1,
    ...more,
  },
});

const rows = [
  {
    title: 'a prompt is given the texts of both rules, in order',
    point: 'UserPromptSubmit',
    payload: { userMessage: 'deploy' },
    decision: {
      ...bare,
      context: ['It is UserPromptSubmit.', 'The repository is frozen.', 'Answer "deploy" in markdown.'],
      metadata: prompted({
        additional_contexts: [
          'It is UserPromptSubmit.',
          'The repository is frozen.',
          'Answer "deploy" in markdown.',
        ],
        messages: [
          ['hook_additional_context', { context: ['It is UserPromptSubmit.', 'The repository is frozen.'] }],
          ['hook_additional_context', { context: 'Answer "deploy" in markdown.', source: 'prompt_hook' }],
        ],
      }),
    },
  },
  {
    title: 'plain text is a context',
    point: 'UserPromptSubmit',
    payload: { userMessage: 'bare' },
    decision: {
      ...bare,
      context: ['The user works at night.', 'Answer "bare" in markdown.'],
      metadata: prompted({
        additional_contexts: ['The user works at night.', 'Answer "bare" in markdown.'],
        messages: [
          ['hook_additional_context', { context: 'The user works at night.' }],
          ['hook_additional_context', { context: 'Answer "bare" in markdown.', source: 'prompt_hook' }],
        ],
      }),
    },
  },
  {
    title: 'a blocked prompt ends the loop',
    point: 'UserPromptSubmit',
    payload: { userMessage: 'my password is x' },
    decision: {
      ...bare,
      verdict: 'deny',
      hook: 'UserPromptSubmit-1',
      reason: 'no passwords in prompts',
      metadata: {
        replacement: '[Blocked by hook] no passwords in prompts',
        ...prompted({
          blocking_error: 'no passwords in prompts',
          messages: [['hook_blocking_error', { error: 'no passwords in prompts' }]],
        }),
      },
    },
  },
  {
    title: 'a stopped prompt has its own marker',
    point: 'UserPromptSubmit',
    payload: { userMessage: 'enough' },
    decision: {
      ...bare,
      verdict: 'deny',
      hook: 'UserPromptSubmit-1',
      reason: 'that was the last one',
      metadata: {
        replacement: '[Hook stopped] that was the last one',
        ...prompted({
          prevent_continuation: true,
          stop_reason: 'that was the last one',
          messages: [['hook_stopped_continuation', { reason: 'that was the last one' }]],
        }),
      },
    },
  },
  {
    title: 'a session that begins is given text',
    point: 'SessionStart',
    payload: {},
    decision: { ...bare, context: ['Today the shop is closed.'], metadata: {} },
  },
  {
    title: 'a session that ends is told, whatever the rule answers',
    point: 'SessionEnd',
    payload: {},
    decision: { ...bare, metadata: {} },
  },
  {
    title: 'an answer is let go, with text behind it',
    point: 'Stop',
    payload: { last_assistant_message: 'done' },
    decision: {
      ...bare,
      context: ['checked'],
      metadata: ended({
        additional_contexts: ['checked'],
        messages: [['hook_additional_context', { context: 'checked' }]],
      }),
    },
  },
  {
    title: 'an answer is let go quietly',
    point: 'Stop',
    payload: { last_assistant_message: 'quiet' },
    decision: {
      ...bare,
      metadata: ended({
        additional_contexts: ['checked'],
        suppress_output: true,
        messages: [['hook_additional_context', { context: 'checked' }]],
      }),
    },
  },
  {
    title: 'a turn is made to go on',
    point: 'Stop',
    payload: { last_assistant_message: 'TODO: all of it' },
    decision: {
      ...bare,
      verdict: 'modify',
      hook: 'Stop-1',
      reason: 'Finish every TODO.',
      replace: { follow_up: 'Finish every TODO.' },
      metadata: ended({
        force_continue: true,
        follow_up_message: 'Finish every TODO.',
        stop_reason: 'Finish every TODO.',
        messages: [['hook_stopped_continuation', { reason: 'Finish every TODO.' }]],
      }),
    },
  },
  {
    title: 'exit 2 makes a turn go on with what stderr says',
    point: 'Stop',
    payload: { last_assistant_message: 'tests' },
    decision: {
      ...bare,
      verdict: 'modify',
      hook: 'Stop-1',
      reason: '2 tests fail',
      replace: { follow_up: '2 tests fail' },
      metadata: ended({
        force_continue: true,
        follow_up_message: '2 tests fail',
        stop_reason: '2 tests fail',
        messages: [['hook_stopped_continuation', { reason: '2 tests fail', via: 'exit2' }]],
      }),
    },
  },
  {
    title: 'an answer is withheld',
    point: 'Stop',
    payload: { last_assistant_message: 'the key is x' },
    decision: {
      ...bare,
      verdict: 'deny',
      hook: 'Stop-1',
      reason: 'the answer has a key',
      metadata: {
        replacement: '[Blocked by Stop hook] the answer has a key',
        ...ended({
          blocking_error: 'the answer has a key',
          messages: [['hook_blocking_error', { error: 'the answer has a key' }]],
        }),
      },
    },
  },
  {
    title: 'a compaction is told, whatever the rule answers',
    point: 'PreCompact',
    payload: { trigger: 'manual' },
    decision: { ...bare, metadata: {} },
  },
];

test('each event of a turn or a session leads to one decision [AO-3-02 AO-7-30@oneshot AO-9-01 AO-9-05]', async () => {
  const { folder, runtime, events } = await open();
  const decisions = await Promise.all(
    rows.map(async ({ title, point, payload }) => ({ title, ...told(await fire(runtime, point, payload)) })),
  );
  expect(decisions).toEqual(rows.map(({ title, decision }) => ({ title, ...decision })));
  await runtime.close();
  const log = readFileSync(join(folder, 'hooks/log'), 'utf8').trim().split('\n').toSorted();
  expect(log.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'SessionEnd', data: { cwd: folder }, hook_event_name: 'SessionEnd' },
    { hook_event_name: 'PreCompact', trigger: 'manual', reason: 'manual_cli', cwd: folder },
  ]);
  const fired = events.flatMap((event) => (event.type === 'plugin_hook_fired' ? [event.hook_name] : []));
  const expected = rows.map(({ point }) => point);
  expect(fired.toSorted()).toEqual(expected.toSorted());
});

test('an unknown point, or an invalid payload, is refused by name [AO-3-03]', async () => {
  const { runtime } = await open();
  const refusals = [
    fire(runtime, 'PreToolUs', {}),
    fire(runtime, 'PreToolUse', { toolName: '' }),
    fire(runtime, 'Stop', []),
  ].map((fired) => fired.catch(({ code, message, hint }) => ({ code, message, hint })));
  expect(await Promise.all(refusals)).toEqual([
    { code: 'EVENT_INVALID', message: 'agentao has no point "PreToolUs"', hint: 'Did you mean PreToolUse?' },
    expect.objectContaining({
      message: 'the `toolName` (or `tool_name`) of PreToolUse is not a string that is not empty',
    }),
    expect.objectContaining({ message: 'the payload of agentao Stop is not an object' }),
  ]);
});
