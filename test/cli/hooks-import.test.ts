import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { config, folderOf, run, runBothWays, runJson } from './command-line.ts';

const block = '#!/bin/sh\ncat >/dev/null\necho "not here" >&2\nexit 2\n';

const settings = `{
  "permissions": {"deny": ["WebFetch"]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "$CLAUDE_PROJECT_DIR/block.sh $HOUSE", "timeout": 5},
        {"type": "prompt", "prompt": "Is this safe?"},
        {"type": "command", "command": "python3 gone.py"}
      ]},
      {"matcher": "Bash(", "hooks": [{"type": "command", "command": "./block.sh"}]}
    ]
  }
}
`;

const good = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./block.sh"}]}]}}';

const entry = {
  dialect: 'claude',
  command: '$CLAUDE_PROJECT_DIR/block.sh $HOUSE',
  cwd: '.',
  env: ['CLAUDE_PROJECT_DIR=.', 'HOUSE'],
  timeout_ms: 5000,
  claude: { event: 'PreToolUse', matcher: 'Bash' },
};

const printed = `spec:
  hooks:
    PreToolUse-1:
      dialect: claude
      command: $CLAUDE_PROJECT_DIR/block.sh $HOUSE
      cwd: .
      env:
        - CLAUDE_PROJECT_DIR=.
        - HOUSE
      timeout_ms: 5000
      claude:
        event: PreToolUse
        matcher: Bash
`;

const refused =
  "hook type 'prompt' asks a model to judge, which Signalbox does not do; use a command or http handler";

test.concurrent('hooks import prints the entries, and what it omits with its place: exit code 1 [CC-1-07 CC-10-04 CC-10-05 CC-10-06]', async ({
  expect,
}) => {
  const cwd = folderOf({ '.claude/settings.json': settings, 'block.sh': block });
  const { people, programs } = await runBothWays('hooks import .claude/settings.json', { cwd });
  const places = people.stderr.split('\n').filter((line) => line.startsWith('.claude'));
  expect({ ...people, stderr: places }).toEqual({
    code: 1,
    stdout: printed,
    stderr: [
      '.claude/settings.json:2:3 note: permissions: rules are not hooks, and are not imported',
      `.claude/settings.json:7:9 hooks.PreToolUse[0].hooks[1]: ${refused}`,
      expect.stringMatching(/^\.claude\/settings\.json:8:\d+ hooks\.PreToolUse\[0\]\.hooks\[2\].*gone\.py/),
      expect.stringMatching(/^\.claude\/settings\.json:10:\d+ hooks\.PreToolUse\[1\]\.matcher/),
    ],
  });
  expect(people.stderr).toContain('\n    hint: ');
  expect(programs).toEqual({
    code: 1,
    document: {
      config: 'runtime.yaml',
      entries: [{ section: 'hooks', name: 'PreToolUse-1', value: entry }],
      added: [],
      problems: [
        expect.objectContaining({ severity: 'note', line: 2, column: 3 }),
        expect.objectContaining({ severity: 'error', line: 7, column: 9 }),
        expect.objectContaining({ severity: 'error', line: 8 }),
        expect.objectContaining({ severity: 'error', line: 10 }),
      ],
    },
    stderr: '',
  });
  expect(existsSync(join(cwd, 'runtime.yaml'))).toBe(false);
});

const commented = `# The desk.
apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  hooks:
    mine: {command: ./block.sh, hook: tool} # stays
`;

test.concurrent('--write merges into the config, keeps its comments and adds nothing twice; validate then reports what fails open [CC-10-01 PC-2-20 PC-9-01]', async ({
  expect,
}) => {
  const gate = { enabled: true, command: ['python3', 'gate.py'], intercept: ['before_tool'] };
  const files = {
    'runtime.yaml': commented,
    'hooks.json': good,
    'config.json': JSON.stringify({ hooks: { processes: { gate, off: { ...gate, enabled: false } } } }),
    'gate.py': '',
    'block.sh': block,
  };
  const cwd = folderOf(files);
  const first = await run('hooks import hooks.json --write', { cwd });
  const second = await run('hooks import hooks.json --write', { cwd });
  const third = await runJson('hooks import config.json --write', { cwd });
  expect([first, second]).toEqual([
    { code: 0, stdout: 'added PreToolUse-1\n', stderr: '' },
    { code: 0, stdout: '1 of 1 already in runtime.yaml\n', stderr: '' },
  ]);
  expect(third).toMatchObject({ code: 0, document: { added: ['gate'] } });
  const text = readFileSync(join(cwd, 'runtime.yaml'), 'utf8');
  expect(text.startsWith(commented)).toBe(true);
  const validated = await run('validate', { cwd });
  expect(validated.stdout.split('\n')).toEqual([
    'runtime.yaml:7:5 note: hooks[PreToolUse-1]: lets the event pass when it fails: an exit code other than 0 and 2, an answer that is not valid, a timeout, a failed start',
    '    hint: Set `on_failure: deny` to deny the event instead.',
    expect.stringMatching(
      /^runtime\.yaml:\d+:5 note: hooks\[gate\]: lets the event pass when it fails: a timeout, an error, its death, an answer without a known action$/,
    ),
    '    hint: Set `on_failure: deny` to deny the event instead.',
    '',
  ]);
  expect(validated).toMatchObject({ code: 0, stderr: '1 file: 0 errors, 0 warnings\n' });
});

test.concurrent('--write creates a missing config, whose hooks run', async ({ expect }) => {
  const cwd = folderOf({ 'hooks.json': good, 'block.sh': block });
  const written = await run('hooks import hooks.json --config new.yaml --write', { cwd });
  expect(written).toEqual({ code: 0, stdout: 'wrote new.yaml\nadded PreToolUse-1\n', stderr: '' });
  const event = '{"tool_name": "Bash", "tool_input": {}}';
  const fire = ['hooks', 'fire', '--dialect', 'claude', '--point', 'PreToolUse', '--event', event];
  const fired = await runJson([...fire, '--config', 'new.yaml'], { cwd });
  expect(fired).toMatchObject({
    code: 1,
    document: { verdict: 'deny', hook: 'PreToolUse-1', dialect: 'claude', reason: 'not here' },
  });
});

test.concurrent('a file that the config already imports is not written into it a second time', async ({
  expect,
}) => {
  const runtime = config('imports: [{file: hooks.json}]\n');
  const cwd = folderOf({ 'runtime.yaml': runtime, 'hooks.json': good, 'block.sh': block });
  const { code, stdout } = await run('hooks import ./hooks.json --write', { cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '1 of 1 already in runtime.yaml\n' });
  expect(readFileSync(join(cwd, 'runtime.yaml'), 'utf8')).toBe(runtime);
});

const wrongCalls = [
  { title: 'a file that is not there', args: ['gone.json'], code: 'FILE_UNREADABLE' },
  {
    title: 'a config that is none',
    args: ['hooks.json', '--config', 'a.pipeline.yaml', '--write'],
    code: 'CONFIG_INVALID',
  },
];

const wrong = folderOf({ 'hooks.json': good, 'block.sh': block, 'a.pipeline.yaml': 'kind: Pipeline\n' });

test.concurrent.for(wrongCalls)(
  '$title is a usage error: exit code 2',
  async ({ args, code }, { expect }) => {
    const ran = await runJson(['hooks', 'import', ...args], { cwd: wrong });
    expect(ran).toMatchObject({ code: 2, document: { error: { code } } });
  },
);
