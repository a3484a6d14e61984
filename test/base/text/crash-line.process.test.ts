import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crashLineOf } from '../../../src/base/text/crash-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'crash-'));

/** Programs that fail with the message in M, by their command. */
const programs: readonly {
  readonly title: string;
  readonly file: string;
  readonly text: string;
  readonly build?: readonly string[];
  readonly run: readonly string[];
}[] = [
  {
    title: 'Node, thrown',
    file: 'a.mjs',
    text: 'console.error("begun"); throw new Error(process.env.M);',
    run: ['node', 'a.mjs'],
  },
  {
    title: 'Node, rejected with a cause',
    file: 'b.cjs',
    text: 'Promise.reject(Object.assign(new TypeError(process.env.M, { cause: new Error("inner") }), { code: "E_X" }));',
    run: ['node', 'b.cjs'],
  },
  {
    title: 'Node, no error',
    file: 'c.cjs',
    text: 'throw process.env.M;',
    run: ['node', 'c.cjs'],
  },
  {
    title: 'Node, printed by itself',
    file: 'd.cjs',
    text: 'console.error(Object.assign(new RangeError(process.env.M), { errno: -2, code: "E" })); process.exit(1);',
    run: ['node', 'd.cjs'],
  },
  {
    title: 'Python, with notes and what follows',
    file: 'a.py',
    text: 'import os\ntry: 1/0\nexcept Exception: raise ValueError(os.environ["M"] + "\\nmore\\nhttps://example.org/help")',
    run: ['/usr/bin/python3', 'a.py'],
  },
  {
    title: 'Python, a group of errors',
    file: 'b.py',
    text: 'import os\nraise ExceptionGroup("several", [KeyError("x"), ValueError(os.environ["M"])])',
    run: ['/usr/bin/python3', 'b.py'],
  },
  {
    title: 'Perl, with frames',
    file: 'a.pl',
    text: 'use Carp; sub f { confess $ENV{M} } sub g { f(1, "x") } g();',
    run: ['perl', 'a.pl'],
  },
  { title: 'bash', file: 'a.sh', text: 'set -eu; : "${NOPE:?$M}"', run: ['bash', 'a.sh'] },
  {
    title: 'Ruby, with a cause',
    file: 'a.rb',
    text: 'def f; raise "inner"; end\nbegin; f; rescue; raise ArgumentError, ENV["M"]; end',
    run: ['ruby', 'a.rb'],
  },
  {
    title: 'Go',
    file: 'a.go',
    text: 'package main\nimport "os"\nfunc f() { panic(os.Getenv("M")) }\nfunc main() { go func() { select {} }(); f() }',
    build: ['go', 'build', '-o', 'a-go', 'a.go'],
    run: ['./a-go'],
  },
  {
    title: 'Rust',
    file: 'a.rs',
    text: 'fn main() { panic!("{}", std::env::var("M").unwrap()); }',
    build: ['rustc', '-o', 'a-rust', 'a.rs'],
    run: ['./a-rust'],
  },
  {
    title: 'Java, with a cause',
    file: 'A.java',
    text: 'public class A { public static void main(String[] a) { try { throw new RuntimeException("inner"); } catch (RuntimeException e) { throw new IllegalStateException(System.getenv("M"), e); } } }',
    build: ['javac', 'A.java'],
    run: ['java', 'A'],
  },
  { title: 'Bun', file: 'a.ts', text: 'throw new Error(process.env.M);', run: ['bun', 'run', 'a.ts'] },
  {
    title: 'Deno',
    file: 'e.ts',
    text: 'throw new Error(Deno.env.get("M"));',
    run: ['deno', 'run', '-A', 'e.ts'],
  },
];

function run(words: readonly string[], variables: Record<string, string> = {}) {
  const [command = '', ...args] = words;
  const program = command === 'node' ? process.execPath : command;
  const env = { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8', ...variables };
  return spawnSync(program, args, { cwd: folder, env, encoding: 'utf8', timeout: 60_000 });
}

const messages = fc
  .array(fc.constantFrom('cannot', 'reach', 'db:5432', 'at', 'line', '{', '"x"', '(no)', '=>', '10%', 'é'), {
    minLength: 2,
    maxLength: 9,
  })
  .map((words) => `it ${words.join(' ')} end`);

describe.each(programs)('$title', ({ file, text, build, run: words }) => {
  writeFileSync(join(folder, file), text);
  // Skips compilers that are missing or not set up.
  const isThere =
    (build === undefined || run(build).status === 0) &&
    !['ENOENT', 127].includes(String(run(words, { M: 'x' }).error?.message.split(' ').at(-1)));

  test.skipIf(!isThere)('the line says why it ended, whatever the message is', () => {
    fc.assert(
      fc.property(messages, fc.constantFrom('0', '1'), (message, backtrace) => {
        const { stderr } = run(words, { M: message, RUST_BACKTRACE: backtrace });
        expect(crashLineOf(stderr)).toContain(message);
        // Independent of earlier log lines and of line endings.
        expect(
          crashLineOf(`Error: old\n    at x (y:1:2)\nready\n${stderr.replaceAll('\n', '\r\n')}`),
        ).toContain(message);
      }),
      { numRuns: 4, seed: 26 },
    );
  });
});

test.each([
  {
    text: 'panic: why\n\tpanic: later\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/t.go:3 +0x31\nexit status 2\n',
    line: 'panic: why',
  },
  {
    text: "thread 'main' panicked at 'why it ended', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1`\n",
    line: 'why it ended',
  },
  {
    text: "\nthread 'main' (17) panicked at t.rs:1:13:\nwhy\nstack backtrace:\n   0: a::b\n             at /r/lib.rs:7:5\nnote: Some details are omitted.\n",
    line: 'why',
  },
  {
    text: 'Exception in thread "main" X: why\n\tat A.main(A.java:1)\nCaused by: Y: inner\n\t... 1 more\n',
    line: 'Exception in thread "main" X: why',
  },
  {
    text: '1 | f()\n    ^\nerror: why\n      at f (/x/b.ts:1:26)\n\nBun v1.4.5 (Linux x64)\n',
    line: 'error: why',
  },
  {
    text: '\u001b[31merror\u001b[0m: Uncaught (in promise) Error: why\nf()\n   ^\n    at file:///b.ts:1:1\n',
    line: 'error: Uncaught (in promise) Error: why',
  },
  { text: "sort: bad option\nTry 'sort --help' for more information.\n", line: 'sort: bad option' },
  {
    text: "Can't locate X.pm at t.pl line 1.\nBEGIN failed--compilation aborted at t.pl line 1.\n",
    line: "Can't locate X.pm at t.pl line 1.",
  },
  {
    text: `Traceback (most recent call last):\n  File "x"\nE: old\n${'ready\n'.repeat(40)}no space left\n`,
    line: 'no space left',
  },
  { text: 'Node.js v24.0.0\n', line: 'Node.js v24.0.0' },
  { text: '', line: '' },
])('of a recorded report: $line', ({ text, line }) => {
  expect(crashLineOf(text)).toBe(line);
});
