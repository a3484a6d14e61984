import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checks } from '../../src/runtime/doctor/conform/checks.ts';
import { callOnTerminal, folderOf, run, runJson, workspace } from '../cli/command-line.ts';
import { mistake, right } from './mistakes.ts';

const filter = right('filter.py');
const errorOf = (document: unknown) => (document as { error: { code: string; message: string } }).error;

test('the guide and --help name every check', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/guides/check-a-script.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (.*) \| (.*) \|$/gm)];
  const kindsOf = ({ modes, kinds }: (typeof checks)[number]) => {
    if (modes.length === 1) return modes[0] === 'server' ? 'servers' : 'one process for each call';
    return { 2: 'filters, evals', 3: 'tools, filters, evals', 4: 'all' }[kinds.length];
  };
  expect(rows.map(([, name, asked, rule]) => [name, asked, rule])).toEqual(
    checks.map((check) => [check.name, kindsOf(check), check.rule]),
  );
  const { stdout } = await run('conform --help');
  const list = stdout.slice(stdout.indexOf('Checks of all'), stdout.indexOf('Examples:'));
  for (const { name } of checks) expect(list).toMatch(new RegExp(`\\b${name}\\b`));
});

test('each check names a section of the contract', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/protocols/promptkit.md'), 'utf8');
  const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll('.', '').replaceAll(' ', '-'),
  );
  expect(sections).toEqual(
    expect.arrayContaining(
      checks.flatMap(({ section }) => (typeof section === 'string' ? section : Object.values(section))),
    ),
  );
});

test('a failed check shows what was sent, what came back, the contract and the next step', async () => {
  const { code, stdout } = await run(`conform --kind eval ${mistake('percent-score.sh')}`);
  expect(stdout.replace(/in [\d.]+ s/, 'in N s')).toBe(`passed  start            Starts without a shell.
passed  stdout           Prints one JSON object in UTF-8, and nothing else.
passed  in-time          Answers within its timeout, and asks no terminal.
passed  exit-code        Exits with 0 after its reply.
failed  shape            Replies with the members and types of its kind.
        sent:     {"type":"percent-score","params":{},"content":"sample","context":{"messages":[],"turn_index":0,"tool_calls":[],"variables":{},"metadata":{}}}
        received: [REPLY_MALFORMED] the score is outside 0..1: 85: {"score": 85}
        contract: docs/reference/protocols/promptkit.md#7-evals
        next:     Print {"score": N} with a number from 0 to 1, such as 0.85 for
                  85 %.
skipped unknown-members, no-newline, unicode, escapes, line-ends, large,
        at-once, broken

percent-score (eval, exec): 4 passed, 1 failed, 8 skipped in N s
`);
  expect(code).toBe(1);
});

test('a tool gets no made-up requests from a pipe, and only after a yes at a terminal [DS-CONFORM-03]', async () => {
  const { code, document } = await runJson(`conform ${right('tool.py')} --kind tool`);
  expect({ code, error: errorOf(document) }).toMatchObject({
    code: 2,
    error: { code: 'USAGE', message: 'the tool tool acts, so it gets no made-up requests' },
  });
  for (const [keys, expected] of [
    ['n\r', 2],
    ['y\r', 0],
  ] as const) {
    const typing = await callOnTerminal(['conform', right('tool.py'), '--kind', 'tool']);
    await typing.sees('Go on? [y]es or [n]o:');
    typing.type(keys);
    expect((await typing.ran).code).toBe(expected);
  }
});

test('an entry of the config is found by its name and by its script, with its settings [DS-CONFORM-04]', async () => {
  const folder = workspace(
    `hooks:
  guard: {command: python3, args: [guard.py], env: [MODE=strict], hook: provider, phases: [before_call, after_call]}
evals:
  grade: {command: ./grade.sh}
`,
    {
      'guard.py': `import json, os, sys
request = json.load(sys.stdin.buffer)
assert os.environ["MODE"] == "strict" and request["hook"] == "provider"
print(json.dumps({"allow": request["request"]["messages"] != []}))
`,
      'grade.sh': '#!/bin/sh\ncat >/dev/null\necho \'{"score": 1}\'\n',
    },
  );
  for (const name of ['guard', './guard.py'])
    expect(await runJson(['conform', name], { cwd: folder })).toMatchObject({
      code: 0,
      document: { name: 'guard', kind: 'filter', mode: 'exec', failed: 0 },
    });
  expect(await runJson('conform ./grade.sh', { cwd: folder })).toMatchObject({
    code: 1,
    document: { name: 'grade', kind: 'eval', failed: 1 },
  });
  const unknown = await runJson('conform other', { cwd: folder });
  expect({ code: unknown.code, error: errorOf(unknown.document) }).toMatchObject({
    code: 2,
    error: { code: 'NAME_UNKNOWN', message: 'runtime.yaml declares no native tool, eval or hook other' },
  });
});

test.each([
  [`conform ${filter} --kind filter --server --forked`, '--server and --forked exclude each other'],
  [
    `conform ${filter} --kind filter --phase before_lunch`,
    expect.stringContaining("'before_lunch' is invalid"),
  ],
  [`conform ${filter} --kind filter --request '[]'`, '--request is not a JSON object'],
  [`conform ${filter} --kind filter --request '{"args":{}}'`, '--request names no phase of a hook'],
  [`conform ${filter} --kind filter --timeout soon`, '--timeout must be a duration, not "soon"'],
])('%s is refused', async (line, message) => {
  const { code, document } = await runJson(line);
  expect(code).toBe(2);
  expect(errorOf(document)).toMatchObject({ code: 'USAGE', message });
});

test('--junit writes a testcase for each check', async () => {
  const folder = folderOf({});
  const { code } = await run(`conform ${mistake('prints-nothing.sh')} --kind filter --junit c.xml`, {
    cwd: folder,
  });
  const xml = readFileSync(join(folder, 'c.xml'), 'utf8');
  expect(xml).toContain('<testsuites name="conform prints-nothing" tests="13" failures="1" errors="0"');
  expect(xml).toContain('<testcase name="stdout" classname="prints-nothing.filter"');
  expect(xml.match(/<skipped>/g)).toHaveLength(11);
  expect(code).toBe(1);
});

test('a secret that a script prints is hidden', async () => {
  const cwd = folderOf({ 'leak.sh': '#!/bin/sh\necho "the token is $SHOP_TOKEN"\n' });
  const env = { SHOP_TOKEN: 'correct-horse-battery' };
  const { stdout } = await run('conform ./leak.sh --kind filter --env SHOP_TOKEN --json', { cwd, env });
  expect(stdout).toContain('the token is ');
  expect(stdout).not.toContain('correct-horse-battery');
});
