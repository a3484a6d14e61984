import { expect, test } from 'vitest';
import { fireAll, type Row, source } from './points.ts';

const bash = (line: string) => ({ tool_name: 'Bash', tool_input: { command: line } });
const call = (tool_name: string, tool_input: object = {}) => ({ tool_name, tool_input });

const rows: readonly Row[] = [
  {
    title: 'a command is refused with stderr as the reason',
    cites: 'CC-6-01@oneshot CC-3-10@oneshot',
    point: 'PreToolUse',
    payload: bash('rm -rf build'),
    means: { verdict: 'deny', hook: 'PreToolUse-1', reason: 'Destructive command blocked by hook' },
  },
  {
    title: 'the first of two refusals names itself',
    cites: 'CC-3-14 CC-6-01@oneshot',
    point: 'PreToolUse',
    payload: bash('rm -rf x; grep y'),
    means: { verdict: 'deny', hook: 'PreToolUse-1', reason: 'Destructive command blocked by hook' },
  },
  {
    title: 'a handler in Python refuses',
    cites: 'CC-6-01@oneshot',
    point: 'PreToolUse',
    payload: bash('grep foo bar'),
    means: {
      verdict: 'deny',
      hook: 'PreToolUse-2',
      reason: "• Use 'rg' (ripgrep) instead of 'grep' for better performance and features",
    },
  },
  {
    title: 'silence is no decision',
    cites: 'CC-6-04@oneshot',
    point: 'PreToolUse',
    payload: bash('ls'),
    means: {},
  },
  {
    title: 'an allow says why',
    cites: 'CC-7-05',
    point: 'PreToolUse',
    payload: call('Read', { file_path: 'README.md' }),
    means: { reason: 'Documentation file auto-approved' },
  },
  {
    title: 'arguments are rewritten whole',
    cites: 'CC-7-07',
    point: 'PreToolUse',
    payload: call('Shell', { command: 'npm publish' }),
    means: {
      verdict: 'modify',
      hook: 'PreToolUse-4',
      replace: { args: { command: 'npm publish --dry-run' } },
    },
  },
  {
    title: 'a question says where it comes from',
    cites: 'CC-7-05',
    point: 'PreToolUse',
    payload: call('Fetch'),
    means: { verdict: 'ask', hook: 'PreToolUse-5', reason: 'outside', metadata: { source } },
  },
  {
    title: 'defer asks',
    cites: 'CC-7-06',
    point: 'PreToolUse',
    payload: call('Later'),
    means: { verdict: 'ask', hook: 'PreToolUse-6', metadata: { deferred: true, source } },
  },
  {
    title: 'the older form blocks',
    cites: 'CC-7-08',
    point: 'PreToolUse',
    payload: call('Old'),
    means: { verdict: 'deny', hook: 'PreToolUse-7', reason: 'deprecated' },
  },
  {
    title: 'a person’s question is answered with other arguments',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    payload: bash('rm x'),
    means: { verdict: 'modify', hook: 'PermissionRequest-1', replace: { args: { command: 'ls' } } },
  },
  {
    title: 'or with a no',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    payload: call('Write'),
    means: { verdict: 'deny', hook: 'PermissionRequest-2', reason: 'read only' },
  },
  {
    title: 'or is left to the person',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    payload: call('Edit'),
    means: { verdict: 'ask' },
  },
  {
    title: 'a denied call is tried again',
    cites: 'CC-5-08',
    point: 'PermissionDenied',
    payload: bash('ls'),
    means: { verdict: 'modify', hook: 'PermissionDenied-1', replace: { retry: true } },
  },
  {
    title: 'a block stands beside the result',
    cites: 'CC-7-11',
    point: 'PostToolUse',
    payload: { ...call('Edit'), tool_response: 'ok' },
    means: { context: ['lint: 1 error'] },
  },
  {
    title: 'and so does exit code 2',
    cites: 'CC-7-11',
    point: 'PostToolUse',
    payload: { ...bash('ls'), tool_response: { stdout: '' } },
    means: { context: ['tests fail now'] },
  },
  {
    title: 'a result is replaced',
    cites: 'CC-7-12',
    point: 'PostToolUse',
    payload: { ...call('mcp__crm__find'), tool_response: { user: 'ann' } },
    means: { verdict: 'modify', hook: 'PostToolUse-2', replace: { content: { user: '[hidden]' } } },
  },
  {
    title: 'a failure gets a hint',
    cites: 'CC-5-01',
    point: 'PostToolUseFailure',
    payload: { ...bash('npm test'), error: 'exit 1' },
    means: { context: ['try npm ci'] },
  },
  {
    title: 'a batch ends the loop',
    cites: 'CC-5-01',
    point: 'PostToolBatch',
    payload: { tool_calls: [] },
    means: { verdict: 'abort', abort: 'turn', hook: 'PostToolBatch-1', reason: 'enough' },
  },
];

test('the events of a tool call, fired by a host, mean what the reference says', async () => {
  const { fired, expected } = await fireAll(rows);
  expect(fired).toEqual(expected);
});
