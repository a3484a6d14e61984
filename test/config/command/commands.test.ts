import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { findScript } from '../../../src/base/files/script.ts';
import { configText, folder, native, promptkit, told, write } from '../told.ts';

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
      problems: [
        `11 command: "good.sh" is not on PATH | ${folder} has a file good.sh: did you mean \`./good.sh\`?`,
      ],
    },
    {
      entry: 'command: gone.sh',
      problems: ['11 command: "gone.sh" is not on PATH | Install it, or give a path that contains a slash.'],
    },
    {
      entry: 'command: ./none.sh',
      problems: [
        `11 command: ${at('none.sh')} does not exist | Check the path; it is relative to the config file’s folder.`,
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
      problems: [expect.stringMatching(/^11 command: \/x+ cannot be reached: ENAMETOOLONG/)],
    },
    { entry: 'command: ./good.sh, cwd: scripts', problems: [] },
    {
      entry: 'command: ./good.sh, cwd: nowhere',
      problems: [
        `27 cwd: ${at('nowhere')} is not a folder | Create it, or correct \`cwd\`. A relative path starts at the config file’s folder.`,
      ],
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

describe('a script with a wrong interpreter line is refused, except in PromptKit’s files and open runtimes', () => {
  const script = (name: string, content: string | Buffer) => chmodSync(write(name, content), 0o755);
  const lineFeeds = (name: string) => `Save it with LF line ends: \`sed -i 's/\\r$//' ${at(name)}\`.`;
  beforeAll(() => {
    script('crlf.sh', '#!/bin/sh\r\necho hi\r\n');
    script('crlf-env.py', '#!/usr/bin/env python3\r\nprint(1)\r\n');
    script('no-interpreter', '#!/opt/none/bin/python3.99 -u\n');
    script('no-env-program', '#!/usr/bin/env no-such-program\n');
    script('env-two-words', '#!/usr/bin/env sh -e\n');
    script('env-split', '#!/usr/bin/env -S A=1 sh -e\n');
    script('env-split-gone', '#!/usr/bin/env -S A=1 no-such-program -u\n');
    script('spaced', '#! /bin/sh -e\n');
    script('marked.sh', '\ufeff#!/bin/sh\n');
    script('utf16.sh', Buffer.from('\ufeff#!/bin/sh\n', 'utf16le'));
    script('bare-utf16.sh', Buffer.from('#!/bin/sh\n', 'utf16le'));
    script('body.sh', 'echo hi\r\n');
  });

  test.each([
    { entry: 'command: ./spaced', problem: undefined },
    { entry: 'command: ./env-split', problem: undefined },
    {
      entry: 'command: ./crlf.sh',
      problem: () =>
        `11 command: ${at('crlf.sh')} has Windows line ends (CRLF): its #! line names "/bin/sh\\r", which is not a program | ${lineFeeds('crlf.sh')}`,
    },
    {
      entry: 'command: ./crlf-env.py',
      problem: () =>
        `11 command: ${at('crlf-env.py')} has Windows line ends (CRLF): its #! line names "/usr/bin/env python3\\r", which is not a program | ${lineFeeds('crlf-env.py')}`,
    },
    {
      entry: 'command: ./no-interpreter',
      problem: () =>
        `11 command: the interpreter of ${at('no-interpreter')}, /opt/none/bin/python3.99, does not exist | Install it, or correct the #! line; \`#!/usr/bin/env python3.99\` finds it on PATH.`,
    },
    {
      entry: 'command: ./no-env-program',
      problem: () =>
        `11 command: the interpreter of ${at('no-env-program')}, no-such-program, is not on PATH | Install no-such-program, or correct the #! line.`,
    },
    {
      entry: 'command: ./env-two-words',
      problem: () =>
        `11 command: the #! line of ${at('env-two-words')} makes env look for a program named "sh -e" | Write \`#!/usr/bin/env -S sh -e\`.`,
    },
    {
      entry: 'command: ./env-split-gone',
      problem: () =>
        `11 command: the interpreter of ${at('env-split-gone')}, no-such-program, is not on PATH | Install no-such-program, or correct the #! line.`,
    },
    {
      entry: 'command: ./env-split, env: [PATH=/nowhere]',
      problem: () =>
        `11 command: the interpreter of ${at('env-split')}, sh, is not on PATH | Install sh, or correct the #! line.`,
    },
    {
      entry: 'command: ./marked.sh',
      problem: () =>
        `11 command: ${at('marked.sh')} begins with a byte order mark, so the system sees no #! line | Save it as UTF-8 without a byte order mark.`,
    },
    {
      entry: 'command: ./utf16.sh',
      problem: () =>
        `11 command: ${at('utf16.sh')} begins with the mark of UTF-16, so the system sees no #! line | Save it as UTF-8 without a byte order mark.`,
    },
    {
      entry: 'command: ./bare-utf16.sh',
      problem: () =>
        `11 command: ${at('bare-utf16.sh')} begins with UTF-16 text, so the system sees no #! line | Save it as UTF-8 without a byte order mark.`,
    },
    {
      entry: 'command: bash, args: [-e, body.sh]',
      problem: () =>
        `28 args[1]: ${at('body.sh')} has Windows line ends (CRLF), which bash reads as parts of its commands | ${lineFeeds('body.sh')}`,
    },
    { entry: 'command: python3, args: [body.sh]', problem: undefined },
  ])('$entry', ({ entry, problem }) => {
    const ask = (version: string, refusesUnusable: boolean) => {
      const text = configText(version, `\nevals:\n  e:\n    {${entry}}`);
      const { config, problems } = told(text, { refusesUnusable });
      return { loads: config !== undefined, found: problems.map(strip) };
    };
    const found = problem === undefined ? [] : [problem()];
    expect(ask(native, true)).toEqual({ loads: found.length === 0, found });
    // The runtime still opens: a call of this entry fails, and a filter denies.
    expect(ask(native, false)).toEqual({ loads: true, found });
    expect(ask(promptkit, true)).toEqual({ loads: true, found });
  });
});

/** `warning 6:17 evals[e].command: …` becomes `11 command: …`. Columns count from the brace. */
function strip(problem: string): string {
  return problem.replace(
    /^(?:warning|error) 6:(\d+) evals\[e\]\./,
    (_all, column) => `${Number(column) - 6} `,
  );
}

describe('entries of every capability are looked up', () => {
  test.each([native, promptkit])('in %s', (apiVersion) => {
    const spec = `
tools: {t: {exec: {command: ./none}}}
evals: {e: {command: ./none}}
hooks: {h: {command: ./none, hook: eval}}`;
    const why = `${at('none')} does not exist | Check the path; it is relative to the config file’s folder.`;
    expect(told(configText(apiVersion, spec)).problems).toEqual([
      `warning 4:31 tools[t].exec.command: ${why}`,
      `warning 5:24 evals[e].command: ${why}`,
      `warning 6:24 hooks[h].command: ${why}`,
    ]);
  });
});

test('an entry that never starts is not looked up', () => {
  const spec = '\nevals: {e: {command: ./none, sandbox: box}}';
  expect(told(configText(promptkit, spec)).problems).toEqual([
    'warning 4:41 evals[e].sandbox: the sandbox "box" is not declared under spec.sandboxes; it never starts: the eval stays unscored | Declare it, such as `sandboxes: {box: {mode: bubblewrap}}`, or remove `sandbox`.',
  ]);
});

describe('the script that an interpreter runs', () => {
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
