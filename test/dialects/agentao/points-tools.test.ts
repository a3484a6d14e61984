import { expect, test } from 'vitest';
import { bare, fire, open, told } from './points.ts';

const shell = (command: string, more = {}) => ({
  toolName: 'run_shell_command',
  toolInput: { command },
  ...more,
});
const called = (more: object) => ({
  agentao: { decision: null, reason: null, additional_contexts: [], matched_rule_count: 1, ...more },
});
const rows = [
  {
    title: 'a tool runs when the rule says nothing',
    point: 'PreToolUse',
    payload: shell('ls'),
    decision: { ...bare, metadata: called({}) },
  },
  {
    title: 'a blocking error denies the call, whatever the exit code',
    point: 'PreToolUse',
    payload: shell('rm -rf /'),
    decision: {
      ...bare,
      verdict: 'deny',
      hook: 'PreToolUse-1',
      reason: 'rm is not allowed here',
      metadata: {
        replacement: '[Blocked by hook] rm is not allowed here',
        ...called({ decision: 'deny', reason: 'rm is not allowed here' }),
      },
    },
  },
  {
    title: 'a permission decision of deny has its reason',
    point: 'PreToolUse',
    payload: shell('sudo ls'),
    decision: {
      ...bare,
      verdict: 'deny',
      hook: 'PreToolUse-1',
      reason: 'no root',
      metadata: {
        replacement: '[Blocked by hook] no root',
        ...called({ decision: 'deny', reason: 'no root' }),
      },
    },
  },
  {
    title: 'a permission decision of ask asks',
    point: 'PreToolUse',
    payload: shell('push'),
    decision: {
      ...bare,
      verdict: 'ask',
      hook: 'PreToolUse-1',
      reason: 'a push is for people',
      metadata: called({ decision: 'ask', reason: 'a push is for people' }),
    },
  },
  {
    title: 'continue: false ends the turn',
    point: 'PreToolUse',
    payload: shell('loop'),
    decision: {
      ...bare,
      verdict: 'abort',
      hook: 'PreToolUse-1',
      reason: 'this goes in circles',
      abort: 'turn',
      metadata: called({ decision: 'deny', reason: 'this goes in circles' }),
    },
  },
  {
    title: 'updatedInput changes the arguments',
    point: 'PreToolUse',
    payload: shell('curl'),
    decision: {
      ...bare,
      verdict: 'modify',
      hook: 'PreToolUse-1',
      replace: { args: { command: 'curl -fsS' } },
      context: ['made quiet'],
      metadata: called({ additional_contexts: ['made quiet'] }),
    },
  },
  {
    title: 'an unknown permission decision denies',
    point: 'PreToolUse',
    payload: shell('odd'),
    decision: {
      ...bare,
      verdict: 'deny',
      hook: 'PreToolUse-1',
      reason: expect.stringContaining('unknown permissionDecision'),
      error: expect.objectContaining({ code: 'REPLY_MALFORMED' }),
      metadata: called({ decision: 'deny', reason: expect.stringMatching(/^the hook failed: /) }),
    },
  },
  {
    title: 'a rule that breaks lets the call pass, and says so',
    point: 'PreToolUse',
    payload: shell('fail'),
    decision: {
      ...bare,
      metadata: { failed_open: { hook: 'PreToolUse-1', cause: 'agentao.exit_nonzero' }, ...called({}) },
    },
  },
  {
    title: 'a tool that the matcher does not fit passes unasked',
    point: 'PreToolUse',
    payload: { toolName: 'read_file', toolInput: { path: 'rm' } },
    decision: { ...bare, metadata: {} },
  },
  {
    title: 'a result is given text beside it, under the tool’s other name',
    point: 'PostToolUse',
    payload: shell('ls', { toolOutput: 'two files' }),
    decision: { ...bare, context: ['Bash said two files'], metadata: {} },
  },
  {
    title: 'a result with a key is withheld',
    point: 'PostToolUse',
    payload: shell('env', { toolOutput: 'AKIA1234' }),
    decision: {
      ...bare,
      verdict: 'deny',
      hook: 'PostToolUse-1',
      reason: 'the result has a key',
      metadata: { replacement: '[Blocked by hook] the result has a key' },
    },
  },
  {
    title: 'a failed call may go on with advice',
    point: 'PostToolUseFailure',
    payload: shell('ls', { error: 'timed out' }),
    decision: { ...bare, context: ['try again'], metadata: {} },
  },
  {
    title: 'a failed call may end the turn',
    point: 'PostToolUseFailure',
    payload: shell('ls', { error: 'disk full' }),
    decision: {
      ...bare,
      verdict: 'abort',
      hook: 'PostToolUseFailure-1',
      reason: 'the disk is full',
      abort: 'turn',
      metadata: {},
    },
  },
];

test('each tool event leads to one decision [AO-3-02 AO-7-18@oneshot AO-9-01]', async () => {
  const { runtime, events } = await open();
  const decisions = await Promise.all(
    rows.map(async ({ title, point, payload }) => ({ title, ...told(await fire(runtime, point, payload)) })),
  );
  expect(decisions).toEqual(rows.map(({ title, decision }) => ({ title, ...decision })));
  const fired = events.flatMap((event) => (event.type === 'plugin_hook_fired' ? [event.hook_name] : []));
  const expected = rows.filter(({ title }) => !title.includes('passes unasked')).map(({ point }) => point);
  expect(fired.toSorted()).toEqual(expected.toSorted());
});
