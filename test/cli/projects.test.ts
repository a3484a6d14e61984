import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf, run, suite } from './command-line.ts';

const runtime = 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n';
const demo = suite(
  'cases: [{id: one, content: x}]\nevals: [{id: has, type: contains, params: {patterns: [x]}}]\n',
);

/** A folder with two projects, each with a run of a suite of the same name. */
async function twoProjects() {
  const folder = folderOf(
    Object.fromEntries(
      ['one', 'two'].flatMap((name) => [
        [`${name}/runtime.yaml`, runtime],
        [`${name}/demo.suite.yaml`, demo],
      ]),
    ),
  );
  for (const name of ['one', 'two']) {
    const { code, stderr } = await run('eval run demo.suite.yaml', { cwd: join(folder, name) });
    expect(code, stderr).toBe(0);
  }
  return folder;
}

test('without a config a command names the stores that it reads, and a list has the config of each run', async () => {
  const cwd = await twoProjects();
  const listed = await run('eval list', { cwd });
  expect(listed.stderr.split('\n').toSorted().join('\n').trim()).toBe(
    ['one', 'two']
      .map((name) => `reading ${name}/.signalbox/evals.db, the store of ${name}/runtime.yaml`)
      .join('\n'),
  );
  const [names = '', ...rows] = listed.stdout.trimEnd().split('\n');
  expect(names).toMatch(/^RUN +STARTED +STATUS +KIND +SUITE +CASES +PASSED +CONFIG$/);
  expect(rows.map((row) => row.split(/ {2,}/).at(-1)).toSorted()).toEqual([
    'one/runtime.yaml',
    'two/runtime.yaml',
  ]);
  const shown = await run('eval show last', { cwd });
  expect(shown.stderr).toContain('reading two/.signalbox/evals.db, the store of two/runtime.yaml');
});

test('eval diff refuses runs of two projects whose suites have the same name', async () => {
  const cwd = await twoProjects();
  const { code, stderr } = await run('eval diff last~1 last', { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /both runs are of a suite "demo", but of different projects: \S+one\/runtime\.yaml and \S+two\/runtime\.yaml/,
  );
  expect(stderr).toMatch(/hint: Name the project: --config /);
});

test('other commands accept the ids that a list shows', async () => {
  const cwd = join(await twoProjects(), 'one');
  const list = await run('eval list', { cwd });
  const id = /^[\da-f]{8}\b/m.exec(list.stdout)?.[0] ?? '';
  for (const args of [
    ['eval', 'show', id],
    ['eval', 'html', id],
    ['eval', 'run', '--again', 'all', id],
  ])
    expect(await run(args, { cwd }), args.join(' ')).toMatchObject({ code: 0, stderr: expect.any(String) });
  // The run was found, because the error says that it has ended.
  const resumed = await run(`eval run demo.suite.yaml --resume ${id}`, { cwd });
  expect(resumed.stderr).not.toContain('RUN_UNKNOWN');
});
