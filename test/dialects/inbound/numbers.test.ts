import { expect, test } from 'vitest';
import { folderOf, run } from '../../cli/command-line.ts';

const args = '{"id":12345678901234567890,"sum":0.12345678901234567890,"list":[{"at":-12345678901234567890}]}';
const folder = folderOf({
  'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  hooks:
    tools: {command: ./change.sh, hook: tool, phases: [before_execution]}
`,
  'change.sh': `#!/bin/sh\ncat > /dev/null\necho '{"allow": true, "replace": {"args": ${args}}}'\n`,
});

test.each([
  {
    dialect: 'claude',
    event: {
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_use_id: 'u1',
    },
  },
  { dialect: 'chibi', event: { tool_name: 'shell', arguments: { command: 'ls' } } },
  {
    dialect: 'picoclaw',
    event: { jsonrpc: '2.0', id: 1, method: 'hook.before_tool', params: { tool: 'shell', arguments: {} } },
  },
])(
  'hook $dialect passes long numbers of changed arguments with all their digits',
  async ({ dialect, event }) => {
    const { stdout } = await run(['hook', dialect, '--log-level', 'silent'], {
      cwd: folder,
      stdin: `${JSON.stringify({ session_id: 's1', cwd: '/', ...event })}\n`,
      env: { CHIBI_HOOK: 'pre_tool' },
    });
    expect(stdout).toContain(args);
  },
);
