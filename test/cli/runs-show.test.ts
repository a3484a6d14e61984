import { expect, test } from 'vitest';
import { fixture, pipeline, run, runJson, runOf, runShown, workspace } from './command-line.ts';

const spec = `
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  hostile: {exec: {command: ./hostile.sh}}
  keyed: {exec: {command: ./keyed.sh, env: [PAY_API_KEY]}}
`;

const files = {
  'hostile.sh': `#!/bin/sh\nprintf '{"result": "\\\\u001b[2Jgone\\\\u202e %s"}' "$(awk 'BEGIN { while (i++ < 2000) printf "x" }')"\n`,
  'keyed.sh': `#!/bin/sh\nprintf '{"result": {"said": "with %s", "password": "hunter2", "size": 4}}' "$PAY_API_KEY"\n`,
  'hostile.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, tool: hostile}]\n'),
  'keyed.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: only, tool: keyed}]\n'),
};

test('a terminal shows long results shortened to its width, with control characters escaped', async () => {
  const cwd = workspace(spec, files);
  const id = await runOf(cwd, 'hostile.yaml', {});
  const { stdout, code } = await runShown(['runs', 'show', id], { cwd, terminal: 'stdout' });
  const lines = stdout.split('\n');
  expect(code).toBe(0);
  expect(lines.filter((line) => line.length > 200)).toEqual([]);
  expect(stdout).toContain('\\u001b[2Jgone\\u202e xxx');
  expect(stdout).toContain('more characters)');
  const full = await runShown(['runs', 'show', id, '--full', '--step', 'only'], {
    cwd,
    terminal: 'stdout',
  });
  expect(full.stdout).toContain('x'.repeat(2_000));
  expect(full.stdout).not.toContain('\u001b[2J');
});

test('secrets of the config, and members named like secrets, are hidden', async () => {
  const env = { PAY_API_KEY: 'sk-live-4711-0815-abcd' };
  const cwd = workspace(spec, files);
  const { document: ran } = await runJson('run keyed.yaml', { cwd, env });
  const id = (ran as { run_id: string }).run_id;
  const { document } = await runJson(`runs show ${id}`, { cwd, env });
  expect(document).toMatchObject({ steps: [{ view: { result: { size: 4 } } }] });
  const people = await run(`runs show ${id}`, { cwd, env });
  for (const text of [JSON.stringify(document), people.stdout]) {
    expect(text).not.toContain('4711');
    expect(text).not.toContain('hunter2');
  }
});

test('a step that the run does not have is reported', async () => {
  const cwd = workspace(spec, files);
  const id = await runOf(cwd, 'hostile.yaml', {});
  for (const more of [[], ['--json']]) {
    const ran = await run(['runs', 'show', id, '--step', 'other', ...more], { cwd });
    expect(ran).toMatchObject({ code: 2 });
    expect(`${ran.stdout}${ran.stderr}`).toContain(
      'has no step \\"other\\"'.replaceAll('\\', more.length ? '\\' : ''),
    );
  }
});

const many = {
  'many.yaml': pipeline(
    'runtime: ./runtime.yaml\nsteps: [{id: all, for_each: "${input.list}", tool: echo, args: {n: "${item}"}}, {id: ask, tool: pay}, {id: last, tool: echo}]\n',
  ),
};
const asking = `
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  pay: {approval: required, exec: {command: ${fixture('echo-args')}}}
`;

interface Page {
  readonly run_id: string;
  readonly steps: readonly { readonly step: string }[];
  readonly open?: readonly { readonly step: string }[];
  readonly next?: string;
}

test('pages visit each step once, also those that end between two pages, with --json as without', async () => {
  const cwd = workspace(asking, many);
  const { document: ran } = await runJson(['run', 'many.yaml', '--input', '{"list": [1, 2, 3, 4, 5, 6]}'], {
    cwd,
  });
  const { run_id: id, pending } = ran as { run_id: string; pending: { id: string }[] };
  const pageOf = async (...more: string[]) => {
    const line = ['runs', 'show', id, ...more];
    const { stdout, stderr } = await run(line, { cwd });
    return { page: (await runJson(line, { cwd })).document as Page, stdout, stderr };
  };
  const first = await pageOf('--limit', '3');
  expect(first.page).toEqual({
    ...((await runJson(['runs', 'show', id], { cwd })).document as object),
    ...{ timeline: undefined, totals: undefined },
    steps: first.page.steps,
    open: [expect.objectContaining({ step: 'ask', status: 'pending' })],
    next: expect.any(String),
  });
  expect(first.stdout).toMatch(/^run +run_[\s\S]*\n\nall\[2\] {2}tool[\s\S]*\n\nask {2}pending[\s\S]*$/);
  expect(first.stderr).toBe(`there are more: --after ${first.page.next}\n`);

  await run(['pending', 'approve', pending[0]?.id ?? '', '--resume'], { cwd });
  const pages = [first.page];
  for (let next = first.page.next; next !== undefined; next = pages.at(-1)?.next) {
    const { page, stdout, stderr } = await pageOf('--limit', '2', '--after', next);
    expect(Object.keys(page)).toEqual(
      page.next === undefined ? ['run_id', 'steps'] : ['run_id', 'steps', 'next'],
    );
    expect(stdout.match(/^\S+/gm)).toEqual(page.steps.map(({ step }) => step));
    expect(stderr).toBe(page.next === undefined ? '' : `there are more: --after ${page.next}\n`);
    pages.push(page);
  }
  expect(pages.map(({ steps }) => steps.map(({ step }) => step))).toEqual([
    ['all[0]', 'all[1]', 'all[2]'],
    ['all[3]', 'all[4]'],
    ['all[5]', 'all'],
    ['ask', 'last'],
  ]);
  const whole = (await runJson(['runs', 'show', id], { cwd })).document as Page;
  expect(pages.flatMap(({ steps }) => steps)).toEqual(whole.steps);
  expect((await pageOf('--limit', '25')).page.steps).toEqual(whole.steps);
});

test('a page that does not exist is refused before anything is printed', async () => {
  const twoSteps = 'runtime: ./runtime.yaml\nsteps: [{id: one, tool: echo}, {id: two, tool: echo}]\n';
  const cwd = workspace(spec, { ...files, 'two.yaml': pipeline(twoSteps) });
  const id = await runOf(cwd, 'hostile.yaml', {});
  const other = await runOf(cwd, 'two.yaml', {});
  const { next } = (await runJson(['runs', 'show', other, '--limit', '1'], { cwd })).document as Page;
  for (const [more, said] of [
    [['--after', 'nowhere'], '[USAGE] there is no page after "nowhere"'],
    [['--after', `${next}`], `[USAGE] there is no page after "${next}"`],
    [['--limit', '0'], '[USAGE] --limit must be a whole number from 1, not "0"'],
    [['--limit', 'abc'], '[USAGE] --limit must be a number, not "abc"'],
    [['--limit', '2', '--step', 'other'], 'has no step "other"'],
  ] as const) {
    const ran = await run(['runs', 'show', id, ...more], { cwd });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(said);
    const { code, document } = await runJson(['runs', 'show', id, ...more], { cwd });
    expect([code, document]).toMatchObject([2, { error: { code: 'USAGE' } }]);
  }
});
