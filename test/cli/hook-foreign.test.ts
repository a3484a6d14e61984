import { expect, test } from 'vitest';
import { titled } from '../cite.ts';
import { run, runBothWays, runJson, workspace } from './command-line.ts';

const guard = `#!/bin/sh
read -r input
case $input in
  *'rm -rf'*) echo 'rm -rf is not allowed here' >&2; exit 2 ;;
  *Write*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "it writes"}}' ;;
  *UserPromptSubmit*) echo 'It is Monday.' ;;
esac
`;

const notes = `#!/bin/sh
if [ "$1" = --schema ]; then
  echo '{"name": "notes", "description": "", "parameters": {"type": "object", "properties": {}}, "hooks": ["pre_tool"]}'
  exit 0
fi
cat >/dev/null
case $CHIBI_HOOK in
  pre_tool) echo '{"arguments": {"command": "ls -l"}}' ;;
  *) echo '{}' ;;
esac
`;

const approver = `#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    result = {}
    if method == "hook.hello":
        result = {"ok": True, "name": "reviewer"}
    elif method == "hook.before_tool":
        result = {"action": "abort_turn", "reason": "enough for today"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`;

const desk = workspace(
  `
hooks:
  native: {command: ./guard.sh, hook: tool, phases: [before_execution]}
  shell: {dialect: claude, command: ./guard.sh, on_failure: deny, claude: {event: PreToolUse, matcher: Bash|Write}}
  day: {dialect: claude, command: ./guard.sh, claude: {event: UserPromptSubmit}}
  reviewer: {dialect: picoclaw, command: ./reviewer.py, picoclaw: {intercept: [before_tool]}}
  rules: {dialect: agentao, agentao: {event: UserPromptSubmit, prompt: Be brief.}}
imports:
  - {dialect: chibi, plugins_dir: plugins}
`,
  { 'guard.sh': guard, 'reviewer.py': approver, 'plugins/notes': notes },
);

test.concurrent('hook list shows hooks of all systems, under each system’s names', async ({ expect }) => {
  const { people, programs } = await runBothWays('hook list --log-level silent', { cwd: desk });
  expect(people).toMatchObject({ code: 0, stderr: '' });
  expect(
    people.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ['HOOK', 'DIALECT', 'KIND', 'EVENTS', 'DECLARED'],
    ['native', 'promptkit', 'tool, filter', 'before_execution', 'runtime.yaml:7'],
    ['shell', 'claude', 'on_failure: deny', 'PreToolUse', 'runtime.yaml:8'],
    ['day', 'claude', 'its own rules', 'UserPromptSubmit', 'runtime.yaml:9'],
    ['reviewer', 'picoclaw', 'its own rules', 'before_tool', 'runtime.yaml:10'],
    ['rules', 'agentao', 'its own rules', 'UserPromptSubmit', 'runtime.yaml:11'],
    ['notes', 'chibi', 'its own rules', 'pre_tool', expect.stringMatching(/^plugins\/notes:/)],
  ]);
  expect(programs).toMatchObject({
    code: 0,
    document: {
      hooks: [
        { name: 'native', hook: 'tool', mode: 'filter', points: [] },
        {
          name: 'shell',
          hook: null,
          phases: [],
          mode: null,
          points: ['PreToolUse'],
          on_failure: 'deny',
          source: { file: 'runtime.yaml', line: 8, column: expect.any(Number) },
        },
        { name: 'day', on_failure: 'own' },
        { name: 'reviewer', dialect: 'picoclaw' },
        { name: 'rules', dialect: 'agentao' },
        { name: 'notes', dialect: 'chibi' },
      ],
    },
  });
});

const said = titled([
  {
    title: 'a hook of Claude Code that says something beside the prompt',
    cites: 'DS-CLI-10 DS-EXIT-03',
    at: ['claude', 'UserPromptSubmit'] as const,
    event: '{"prompt": "Hi"}',
    code: 0,
    stdout: /^allow\ncontext: It is Monday\.\nasked: day\n$/,
  },
  {
    title: 'a plugin of chibi that changes arguments',
    cites: 'DS-CLI-10 DS-EXIT-03',
    at: ['chibi', 'pre_tool'] as const,
    event: '{"tool_name": "shell", "arguments": {"command": "ls"}}',
    code: 0,
    stdout: /^modify by hook "notes"\nreplace: \{"args": ?\{"command": ?"ls -l"\}\}\nasked: notes\n$/,
  },
  {
    title: 'a process of PicoClaw that ends the turn',
    cites: 'DS-CLI-10 DS-EXIT-03',
    at: ['picoclaw', 'before_tool'] as const,
    event: '{"tool": "shell", "arguments": {}}',
    code: 1,
    stdout: /^abort by hook "reviewer": enough for today\nends the turn\n/,
  },
]);

function words([dialect, point]: readonly [string, string], event: string): string[] {
  return ['hook', 'fire', '--dialect', dialect, '--point', point, '--event', event, '--log-level', 'silent'];
}

test.concurrent.for(said)('hook fire at $title', async ({ at, event, code, stdout }, { expect }) => {
  const ran = await run(words(at, event), { cwd: desk });
  expect(ran).toEqual({ code, stdout: expect.stringMatching(stdout), stderr: '' });
});

const decided = titled([
  {
    title: 'a hook of Claude Code that blocks',
    cites: 'DS-CLI-10 DS-EXIT-03 DS-JSON-07',
    at: ['claude', 'PreToolUse'] as const,
    event: '{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}',
    code: 1,
    document: {
      verdict: 'deny',
      hook: 'shell',
      dialect: 'claude',
      reason: /rm -rf is not allowed here/,
      asked: ['shell'],
    },
  },
  {
    title: 'a hook of Claude Code that leaves it to a person',
    cites: 'DS-CLI-10 DS-EXIT-03 DS-JSON-07',
    at: ['claude', 'PreToolUse'] as const,
    event: '{"tool_name": "Write", "tool_input": {"file_path": "a"}}',
    code: 3,
    document: { verdict: 'ask', hook: 'shell', dialect: 'claude', reason: /^it writes$/, asked: ['shell'] },
  },
  {
    title: 'a rule of Agentao that is a text',
    cites: 'DS-CLI-10 DS-EXIT-03 DS-JSON-07',
    at: ['agentao', 'UserPromptSubmit'] as const,
    event: '{"userMessage": "Hi"}',
    code: 0,
    document: { dialect: 'agentao', context: ['Be brief.'], reason: /^$/, asked: ['rules'] },
  },
]);

const empty = {
  ...{ verdict: 'allow', hook: null, dialect: null, enforced: false, replace: null, result: null },
  ...{ context: [], abort: null, metadata: expect.any(Object) },
};

test.concurrent.for(decided)(
  'hook fire --json at $title',
  async ({ at, event, code, document }, { expect }) => {
    const ran = await runJson(words(at, event), { cwd: desk });
    const reason = expect.stringMatching(document.reason);
    expect(ran).toEqual({ code, document: { ...empty, ...document, reason }, stderr: '' });
  },
);

const usage = { code: 'USAGE', message: '--hook with --phase, or --dialect with --point, is required' };

const wrong = titled([
  { title: 'neither a hook nor a dialect', cites: 'DS-CLI-12', args: [], error: usage },
  {
    title: 'a native dialect',
    cites: 'DS-CLI-12',
    args: ['--dialect', 'promptkit', '--point', 'before_call'],
    error: { code: 'EVENT_INVALID', message: expect.stringContaining('promptkit') },
  },
  {
    title: 'a point that the dialect does not have',
    cites: 'DS-CLI-12',
    args: ['--dialect', 'claude', '--point', 'PreTolUse'],
    error: { code: 'EVENT_INVALID', message: expect.stringContaining('PreTolUse') },
  },
]);

test.concurrent.for(wrong)('hook fire with $title exits 2', async ({ args, error }, { expect }) => {
  const fired = ['hook', 'fire', ...args, '--event', '{}', '--log-level', 'silent'];
  expect(await runJson(fired, { cwd: desk })).toEqual({
    code: 2,
    document: { error: { ...error, hint: expect.any(String) } },
    stderr: '',
  });
});
