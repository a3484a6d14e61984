import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { findScript } from '../../src/config/script.ts';
import { configText, folder, native, promptkit, told, write } from './told.ts';

beforeAll(() => {
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  write('scripts/good.py', 'print(1)\n');
  write('not-executable', '#!/bin/sh\n');
  write('no-shebang', 'echo\n');
  chmodSync(write('good.sh', '#!/bin/sh\n'), 0o755);
  chmodSync(join(folder, 'no-shebang'), 0o755);
});

const at = (path: string) => join(folder, path);

describe('a command that could not start is a warning, and the file loads [PK-2-38]', () => {
  test.each([
    { entry: 'command: ./good.sh', problems: [] },
    { entry: 'command: sh', problems: [] },
    {
      entry: 'command: good.sh',
      problems: ['11 command: "good.sh" is not on PATH | Install it, or give a path with a / in it.'],
    },
    {
      entry: 'command: ./none.sh',
      problems: [
        `11 command: ${at('none.sh')} does not exist | Check the path; it starts at the config file’s folder.`,
      ],
    },
    {
      entry: 'command: ./scripts',
      problems: [`11 command: ${at('scripts')} is a folder | Name the program inside it.`],
    },
    {
      entry: 'command: ./not-executable',
      problems: [
        `11 command: ${at('not-executable')} is not executable | Run \`chmod +x ${at('not-executable')}\`.`,
      ],
    },
    {
      entry: 'command: ./no-shebang',
      problems: [
        `11 command: ${at('no-shebang')} has no #! line | Start the script with a line such as \`#!/usr/bin/env python3\`.`,
      ],
    },
    {
      entry: 'command: python3 x.py',
      problems: [
        '11 command: "python3 x.py" is not on PATH | `command` is one program name; put the other words into `args: [x.py]`.',
      ],
    },
    {
      entry: `command: /${'x'.repeat(5000)}`,
      problems: [expect.stringMatching(/^11 command: cannot be looked up: .*ENAMETOOLONG/)],
    },
    { entry: 'command: ./good.sh, cwd: scripts', problems: [] },
    {
      entry: 'command: ./good.sh, cwd: nowhere',
      problems: [`27 cwd: ${at('nowhere')} is no folder | It starts at the config file’s folder.`],
    },
    { entry: 'command: sh, args: [scripts/good.py]', problems: [] },
    {
      entry: 'command: sh, args: [-e, none.sh]',
      problems: [`26 args[1]: ${at('none.sh')} does not exist | sh starts in ${folder}.`],
    },
    { entry: 'command: sh, args: [good.py], cwd: scripts', problems: [] },
    {
      entry: 'command: sh, args: [scripts/good.py], cwd: scripts',
      problems: [
        `22 args[0]: ${at('scripts/scripts/good.py')} does not exist | sh starts in ${at('scripts')}.`,
      ],
    },
    { entry: 'command: sh, args: [-c, ./none.sh]', problems: [] },
  ])('$entry', ({ entry, problems }) => {
    const { config, problems: found } = told(configText(native, `\nevals:\n  e:\n    {${entry}}`));
    expect({ loads: config !== undefined, found: found.map(strip) }).toEqual({
      loads: true,
      found: problems,
    });
  });
});

/** `warning 6:17 evals[e].command: …` becomes `11 command: …`: columns count from its brace. */
function strip(problem: string): string {
  return problem.replace(/^warning 6:(\d+) evals\[e\]\./, (_all, column) => `${Number(column) - 6} `);
}

describe('entries of every capability are looked up', () => {
  test.each([native, promptkit])('in %s', (apiVersion) => {
    const spec = `
tools: {t: {exec: {command: ./none}}}
evals: {e: {command: ./none}}
hooks: {h: {command: ./none, hook: eval}}`;
    const why = `${at('none')} does not exist | Check the path; it starts at the config file’s folder.`;
    expect(told(configText(apiVersion, spec)).problems).toEqual([
      `warning 4:31 tools[t].exec.command: ${why}`,
      `warning 5:24 evals[e].command: ${why}`,
      `warning 6:24 hooks[h].command: ${why}`,
    ]);
  });
});

test('an entry that never starts anyway is not looked up', () => {
  const spec = '\nevals: {e: {command: ./none, sandbox: box}}';
  expect(told(configText(promptkit, spec)).problems).toEqual([
    'warning 4:41 evals[e].sandbox: references a sandbox not declared under spec.sandboxes; it never starts: the eval stays unscored',
  ]);
});

describe('the script that an interpreter is told to run', () => {
  test.each([
    ['python3', ['x.py', 'y.py'], 0],
    ['/usr/bin/python3.12', ['-u', 'x.py'], 1],
    ['python3', ['-W', 'ignore', 'x.py'], 2],
    ['python3', ['-m', 'pkg.tool'], undefined],
    ['python3', ['-c', 'import a.b'], undefined],
    ['python3', ['-', 'x.py'], undefined],
    ['python3', ['--', 'x.py'], 1],
    ['python3', [], undefined],
    ['python3', ['script'], undefined],
    ['node', ['--import', 'tsx', 'x.ts'], 2],
    ['node', ['--eval=1', 'x.js'], undefined],
    ['node', ['-pe', '1', 'x.js'], undefined],
    ['node', ['--max-old-space-size=64', './x.mjs'], 1],
    ['node', ['https://example.com/x.js'], undefined],
    ['sh', ['x.sh'], 0],
    ['bash', ['-eu', 'x.sh'], 1],
    ['bash', ['-euc', './x.sh'], undefined],
    ['bash', ['-o', 'pipefail', 'x.sh'], 2],
    ['ruby', ['-r', 'json', 'x.rb'], 2],
    ['perl', ['-e', 'print "a.b"'], undefined],
    ['perl', ['-w', 'x.pl'], 1],
    ['deno', ['run', '--allow-net', 'x.ts'], 2],
    ['deno', ['eval', 'x.ts'], undefined],
    ['bun', ['x.ts'], 0],
    ['bun', ['run', 'x.ts'], 1],
    ['bun', ['run', 'build'], undefined],
    ['tsx', ['x.ts'], 0],
    ['./tool', ['x.py'], undefined],
    ['constructor', ['x.py'], undefined],
  ] as const)('%s %j: argument %s', (command, args, index) => {
    expect(findScript(command, args)).toBe(index);
  });
});
