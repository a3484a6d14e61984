import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findMissingScript } from '../../../src/base/files/missing-script.ts';
import { variablesOf } from '../../../src/base/files/shell-line.ts';
import { fillPlaceholders, handlerVariables } from '../../../src/dialects/claude/config/process.ts';

const cwd = mkdtempSync(join(tmpdir(), 'line-'));
for (const name of ['here.sh', 'with space.py']) writeFileSync(join(cwd, name), '');
for (const name of ['windows.sh', 'windows.py']) writeFileSync(join(cwd, name), '#!/bin/sh\r\nexit 2\r\n');
const searchPath = process.env.PATH ?? '';

describe('a missing script', () => {
  test.each([
    './gone.sh',
    'sh gone.sh',
    'python3 -u gone.py --x',
    "python3 'gone.py'",
    'A=1 B="x y" env C=2 ./gone.sh arg',
    './gone.sh > out.log 2>&1',
    'uv run gone.py',
    'node --import ./x.mjs gone.mjs',
  ])('is found in %s', (command) => {
    const script = /gone\.\w+/.exec(command)?.[0] ?? '';
    expect(findMissingScript({ command, cwd, folder: cwd, searchPath })).toBe(
      `${join(cwd, script)} does not exist`,
    );
  });

  test('a program with an extension is looked for on PATH', () => {
    expect(findMissingScript({ command: 'gone-tool.sh x', cwd, folder: cwd, searchPath })).toBe(
      '"gone-tool.sh" is not on PATH',
    );
    expect(
      findMissingScript({ command: 'gone-tool.sh x', cwd, folder: cwd, searchPath: '' }),
    ).toBeUndefined();
  });

  test.each([
    './here.sh',
    'sh ./here.sh',
    'python3 "with space.py"',
    'jq .tool_input.command',
    'python3 -c "import gone.py"',
    'if test -f ./gone.sh; then ./gone.sh; fi',
    './gone.sh && ./here.sh',
    'cat | ./gone.sh',
    '"$HOME"/gone.sh',
    '~/gone.sh',
    'python3 $DIR/gone.py',
    'exit 2',
    "echo 'open",
    '',
  ])('is not looked for, or exists: %j', (command) => {
    expect(findMissingScript({ command, cwd, folder: cwd, searchPath })).toBeUndefined();
  });

  test.each([
    { command: './gone', args: [], missing: `${join(cwd, 'gone')} does not exist` },
    { command: 'no-such-program', args: [], missing: '"no-such-program" is not on PATH' },
    { command: 'python3', args: ['gone.py'], missing: `${join(cwd, 'gone.py')} does not exist` },
    { command: 'sh', args: ['here.sh'], missing: undefined },
    { command: 'sh', args: ['-c', './gone.sh'], missing: undefined },
    { command: '${CLAUDE_PLUGIN_ROOT}/x', args: [], missing: undefined },
  ])('in the exec form of $command $args', ({ command, args, missing }) => {
    expect(findMissingScript({ command, args, cwd, folder: cwd, searchPath })).toBe(missing);
  });
});

describe('a script with Windows line ends, which silently disables a guard', () => {
  const misread = `${join(cwd, 'windows.sh')} has Windows line ends (CRLF)`;

  test.each([
    { command: './windows.sh', said: `${misread}: its #! line names "/bin/sh\\r", which is not a program` },
    {
      command: 'A=1 ./windows.sh x',
      said: `${misread}: its #! line names "/bin/sh\\r", which is not a program`,
    },
    { command: 'sh windows.sh', said: `${misread}, which sh reads as parts of its commands` },
    { command: 'python3 windows.py', said: undefined },
  ])('$command', ({ command, said }) => {
    expect(findMissingScript({ command, cwd, folder: cwd, searchPath })).toBe(said);
  });

  test('in the exec form', () => {
    const started = { cwd, folder: cwd, searchPath, args: [] };
    expect(findMissingScript({ ...started, command: './windows.sh' })).toBe(
      `${misread}: its #! line names "/bin/sh\\r", which is not a program`,
    );
  });
});

test.each([
  { line: 'curl -H "X: $TOKEN" ${HOST}/x', names: ['TOKEN', 'HOST'] },
  { line: 'A=$B; echo $A ${A}', names: ['B'] },
  { line: 'for f in $FILES; do read -r line; echo $f $line; done', names: ['FILES'] },
  { line: "awk '{print $NF}' \\$no $HOME $PATH ${CLAUDE_PROJECT_DIR} $1 $? $LC_ALL", names: [] },
  { line: `echo "it's $ONE and it's $TWO" ${'${#THREE}'}`, names: ['ONE', 'TWO', 'THREE'] },
])('variables of $line', ({ line, names }) => {
  expect(variablesOf(line, handlerVariables)).toEqual(names);
});

test.each([
  {
    text: '${CLAUDE_PROJECT_DIR}/x ${CLAUDE_PLUGIN_ROOT} ${OTHER}',
    projectDir: '/a b',
    isLine: true,
    filled: '/a b/x ${CLAUDE_PLUGIN_ROOT} ${OTHER}',
  },
  { text: '${CLAUDE_PROJECT_DIR}/x', projectDir: '/a$(rm)', isLine: true, filled: '${CLAUDE_PROJECT_DIR}/x' },
  { text: '${CLAUDE_PROJECT_DIR}/x', projectDir: '/a$(rm)', isLine: false, filled: '/a$(rm)/x' },
])('placeholders of $text in $projectDir', ({ text, projectDir, isLine, filled }) => {
  expect(fillPlaceholders(text, { projectDir }, isLine)).toBe(filled);
});
