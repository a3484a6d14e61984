import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDesk, pendingOf, recording } from './desk.ts';
import { loadSpec } from './validate-support.ts';

const spec = `
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  refund: {exec: ${recording('pending.sh', 'refunds')}}
  fail: {exec: ${recording('answers', 'fails', '{"error": "no wallet-of-mara here"}')}}
`;

const pipeline = `
env: [REGION, TOKEN]
vars:
  limit: 12345678901234567890
  greeting: Hello \${input.name} in \${env.REGION}
  twice: ["\${vars.greeting}", "\${run.id}"]
steps:
  - {id: wait, tool: refund, args: {limit: "\${vars.limit}"}}
  - {id: one, tool: note, args: {all: "\${vars.twice}", token: "\${env.TOKEN}", labels: "\${run.labels}", env: "\${env}"}}
output: \${vars.greeting}
`;

const env = { ...process.env, REGION: 'eu', TOKEN: 'wallet-of-mara' };

test('expressions see the run, the declared environment and vars, also after a resume [DS-RUN-10]', async () => {
  const desk = await openDesk(spec, { env });
  const paused = await desk.run(pipeline, { name: 'Ada' });
  expect(desk.lines('refunds')).toEqual(['{"args":{"limit":12345678901234567890}}']);
  const other = await desk.reopen();
  await other.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 7 });
  const end = await other.runtime.runs.resume(paused.run_id);
  expect(end).toMatchObject({ status: 'completed', output: 'Hello Ada in eu' });
  expect(JSON.parse(desk.lines('notes')[0] ?? '')).toEqual({
    args: {
      all: ['Hello Ada in eu', paused.run_id],
      token: 'wallet-of-mara',
      labels: {},
      env: { REGION: 'eu', TOKEN: 'wallet-of-mara' },
    },
  });
});

test('without a declared variable nothing runs and no run is stored, and a waiting run is unchanged [DS-RUN-10]', async () => {
  const desk = await openDesk(spec, { env: { ...process.env, REGION: 'eu' } });
  await expect(desk.run(pipeline, { name: 'Ada' })).rejects.toMatchObject({
    code: 'ENV_MISSING',
    message: expect.stringContaining('TOKEN'),
  });
  expect(await desk.runtime.runs.list()).toEqual([]);
  const whole = await desk.reopen({ env });
  const paused = await whole.run(pipeline, { name: 'Ada' });
  await whole.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 7 });
  const lacking = await whole.reopen({ env: { ...process.env } });
  await expect(lacking.runtime.runs.resume(paused.run_id)).rejects.toMatchObject({ code: 'ENV_MISSING' });
  expect(await lacking.runtime.runs.show(paused.run_id)).toMatchObject({ status: 'pending' });
  expect((await (await lacking.reopen({ env })).runtime.runs.resume(paused.run_id)).status).toBe('completed');
});

test('environment values are neither shown nor stored', async () => {
  const desk = await openDesk(spec, { env });
  const end = await desk.run(
    'env: [TOKEN]\nvars: {key: "${env.TOKEN}"}\nsteps: [{id: one, if: "${vars.key != \'\'}", tool: note}, {id: two, tool: fail}]\n',
  );
  expect(end.error?.message).toContain('no [redacted] here');
  expect(JSON.stringify([end, desk.events])).not.toContain('wallet-of-mara');
  await desk.runtime.close();
  const state = join(desk.folder, '.signalbox');
  const kept = readdirSync(state).filter((name) => name.startsWith('state.db') && !name.endsWith('.locks'));
  expect(kept.map((name) => readFileSync(join(state, name), 'latin1')).join('')).not.toContain(
    'wallet-of-mara',
  );
});

test('a value that cannot be computed fails the run before its first step', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run('vars: {far: "${input.no.where}"}\nsteps: [{id: one, tool: note}]\n');
  expect(end).toMatchObject({ status: 'failed', steps: [], error: { code: 'EXPRESSION_FAILED' } });
  expect(desk.lines('notes')).toEqual([]);
});

describe('problems that are refused before anything runs', () => {
  test.each([
    {
      title: 'a variable that is not declared, or misspelt',
      spec: 'env: [REGION]\nsteps: [{id: a, tool: t, args: {x: "${env.HOME}", y: "${env.REGOIN}"}}]',
      problems: [
        '5:38 steps[0].args.x: `env.HOME`: spec.env does not declare HOME | Add it to `spec.env`: `env: [REGION, HOME]`.',
        '5:56 steps[0].args.y: `env.REGOIN`: spec.env does not declare REGOIN | did you mean `REGION`?',
      ],
    },
    {
      title: 'a value that does not stand above',
      spec: 'vars: {a: "${vars.b}", b: "${vars.b}", c: "${vars.x}", d: "${steps.s.result}"}\nsteps: [{id: s, tool: t}]',
      problems: [
        '4:13 vars.a: `vars.b` is not available here: it is defined further down',
        '4:29 vars.b: `vars.b` is not available here: it is the value itself',
        '4:45 vars.c: `vars.x`: spec.vars has no x | known vars: a, b, c, d',
        '4:61 vars.d: `${steps.s.result}` is not a valid expression: Unknown variable: steps | Expressions see `input`, `run`, `env`, `vars` here.',
      ],
    },
    {
      title: 'a key that a run does not have',
      spec: 'steps: [{id: a, tool: t, args: {x: "${run.ids}"}}]',
      problems: ['4:38 steps[0].args.x: `run` has no `ids` | did you mean `id`?'],
    },
    {
      title: 'names that expressions cannot have',
      spec: 'env: [A=b]\nvars: {a-b: 1}\nsteps: [{id: a, tool: t}]',
      problems: [
        '4:9 env[0]: must be the name of an environment variable: letters, digits and `_`, no digit first | Write names only; `vars` is for values.',
        '5:10 vars.a-b: the name must be letters, digits and `_`, no digit first | Expressions name the value as `vars.NAME`.',
      ],
    },
  ])('$title', ({ spec: text, problems }) => {
    expect(loadSpec(text).problems).toEqual(problems);
  });
});
