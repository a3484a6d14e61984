import { expect, test } from 'vitest';
import { rowsOf } from '../../table.ts';
import { fireAll, type Row, source } from './points.ts';

const bash = (line: string) => ({ tool_name: 'Bash', tool_input: { command: line } });
const call = (tool_name: string, tool_input: object = {}) => ({ tool_name, tool_input });

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | point | payload | means
  silence is no decision | CC-6-04@oneshot | PreToolUse | ${bash('ls')} | ${{}}
  an allow says why | CC-7-05 | PreToolUse | ${call('Read', { file_path: 'README.md' })} | ${{ reason: 'Documentation file auto-approved' }}
  a question says where it comes from | CC-7-05 | PreToolUse | ${call('Fetch')} | ${{ verdict: 'ask', hook: 'PreToolUse-5', reason: 'outside', metadata: { source } }}
  defer asks | CC-7-06 | PreToolUse | ${call('Later')} | ${{ verdict: 'ask', hook: 'PreToolUse-6', metadata: { deferred: true, source } }}
  the older form blocks | CC-7-08 | PreToolUse | ${call('Old')} | ${{ verdict: 'deny', hook: 'PreToolUse-7', reason: 'deprecated' }}
  or with a no | CC-7-13 | PermissionRequest | ${call('Write')} | ${{ verdict: 'deny', hook: 'PermissionRequest-2', reason: 'read only' }}
  or is left to the person | CC-7-13 | PermissionRequest | ${call('Edit')} | ${{ verdict: 'ask' }}
  a denied call is tried again | CC-5-08 | PermissionDenied | ${bash('ls')} | ${{ verdict: 'modify', hook: 'PermissionDenied-1', replace: { retry: true } }}
  a block stands beside the result | CC-7-11 | PostToolUse | ${{ ...call('Edit'), tool_response: 'ok' }} | ${{ context: ['lint: 1 error'] }}
  and so does exit code 2 | CC-7-11 | PostToolUse | ${{ ...bash('ls'), tool_response: { stdout: '' } }} | ${{ context: ['tests fail now'] }}
  a failure gets a hint | CC-5-01 | PostToolUseFailure | ${{ ...bash('npm test'), error: 'exit 1' }} | ${{ context: ['try npm ci'] }}
  a batch ends the loop | CC-5-01 | PostToolBatch | ${{ tool_calls: [] }} | ${{ verdict: 'abort', abort: 'turn', hook: 'PostToolBatch-1', reason: 'enough' }}
`,
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
    title: 'a person’s question is answered with other arguments',
    cites: 'CC-7-13',
    point: 'PermissionRequest',
    payload: bash('rm x'),
    means: { verdict: 'modify', hook: 'PermissionRequest-1', replace: { args: { command: 'ls' } } },
  },
  {
    title: 'a result is replaced',
    cites: 'CC-7-12',
    point: 'PostToolUse',
    payload: { ...call('mcp__crm__find'), tool_response: { user: 'ann' } },
    means: { verdict: 'modify', hook: 'PostToolUse-2', replace: { content: { user: '[hidden]' } } },
  },
];

test('the events of a tool call, fired by a host, mean what the reference says', async () => {
  const { fired, expected } = await fireAll(rows);
  expect(fired).toEqual(expected);
});
