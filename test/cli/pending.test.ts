import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type ExpectStatic, test } from 'vitest';
import { titled } from '../cite.ts';
import {
  callThatWaits,
  config,
  fixture,
  onlyDocument,
  pipeline,
  run,
  runJson,
  runOf,
  start,
  until,
  workspace,
} from './command-line.ts';

const long = '12345678901234567890';
const silent = ['--log-level', 'silent'];
const numbers = '{type: object, properties: {amount: {type: number, maximum: 500}}}';

const spec = `
tools:
  pay:
    input_schema: ${numbers}
    output_schema: ${numbers}
    exec: {command: ${fixture('print-stdin')}}
    approval: required
  refund: {exec: {command: ${fixture('pending.sh')}}}
  seen: {exec: {command: ${fixture('print-stdin')}}, approval: required}
  brief: {exec: {command: ${fixture('echo-args')}}, approval: {expires: 1ms}}
`;

const strict = `
tools:
  pay: {exec: {command: ${fixture('print-stdin')}}, approval: {by: [mara, joe], quorum: 2}}
  send:
    input_schema: {type: object, properties: {cents: {type: integer}}}
    exec: {command: ${fixture('print-stdin')}}
    approval: {by: [joe]}
`;

interface Waiting {
  readonly folder: string;
  readonly id: string;
  readonly runId: string;
}

async function waiting(tool = 'refund', args = '{}'): Promise<Waiting> {
  const folder = workspace(spec);
  return { folder, ...(await callThatWaits(folder, tool, args)) };
}

const open = {
  by: null,
  decided_at: null,
  decision_reason: null,
  edited_args: null,
  expires_at: null,
  hook: null,
  previous: null,
  result: null,
  status: 'open',
};

test.concurrent('pending list shows waiting calls in the order of their arrival', async ({ expect }) => {
  const { folder, id: first, runId } = await waiting();
  const { id: second } = await callThatWaits(folder, 'pay', `{"amount": 20}`);
  const [people, programs] = await Promise.all([
    run('pending list', { cwd: folder }),
    runJson('pending list', { cwd: folder }),
  ]);
  expect(people.stdout.split('\n')).toEqual([
    expect.stringMatching(/^CALL +RUN +TOOL +STATUS +ASKED +QUESTION$/),
    expect.stringMatching(
      `^${first.slice(0, 16)}  ${runId.slice(0, 12)}  refund  open    \\d{4}-.*Z  Refund 250 EUR\\?$`,
    ),
    expect.stringMatching(
      `^${second.slice(0, 16)}  run_\\w{8}  pay     open    \\d{4}-.*Z  Tool "pay" needs approval\\.$`,
    ),
    '',
  ]);
  expect(programs.document).toMatchObject({ pending: [{ id: first }, { id: second }] });
});

test.concurrent('pending list --run and --all filter the list', async ({ expect }) => {
  const { folder, id, runId } = await waiting();
  const { id: second } = await callThatWaits(folder, 'pay');
  await run(`pending reject ${id} --reason no`, { cwd: folder });
  const lists = await Promise.all(
    [[], ['--all'], ['--run', runId], ['--all', '--run', runId]].map(async (more) => {
      const { document } = await runJson(['pending', 'list', ...more], { cwd: folder });
      return (document as { pending: { id: string }[] }).pending.map((each) => each.id);
    }),
  );
  expect(lists).toEqual([[second], [id, second], [], [id]]);
});

test.concurrent('pending list shows a page of the calls that a filter finds', async ({ expect }) => {
  const folder = workspace(strict);
  const ids: string[] = [];
  for (const tool of ['pay', 'send', 'pay', 'send', 'pay']) ids.push((await callThatWaits(folder, tool)).id);
  await run(`pending reject ${ids[4]} --reason no --by joe`, { cwd: folder });
  const listed = async (...more: string[]) => {
    const { document } = await runJson(['pending', 'list', ...more], { cwd: folder });
    const { pending, next } = document as { pending: { id: string }[]; next?: string };
    return { ids: pending.map(({ id }) => ids.indexOf(id)), next };
  };
  const first = await listed('--limit', '3');
  expect(first).toEqual({ ids: [0, 1, 2], next: expect.any(String) });
  expect(await listed('--limit', '3', '--after', first.next ?? '')).toEqual({ ids: [3], next: undefined });
  expect((await listed('--tool', 'send')).ids).toEqual([1, 3]);
  expect((await listed('--by', 'mara')).ids).toEqual([0, 2]);
  expect((await listed('--status', 'rejected')).ids).toEqual([4]);
  expect((await listed('--all', '--since', '1h', '--limit', '1000')).ids).toEqual([0, 1, 2, 3, 4]);
  expect((await listed('--since', '2999-01-01')).ids).toEqual([]);
  const text = await run('pending list --limit 1', { cwd: folder });
  expect(text.stderr).toMatch(/^there are more: --after \S+\n$/);
  for (const wrong of [
    '--after x',
    '--limit 0',
    '--limit 1001',
    '--all --status open',
    '--limit 1 --after x',
  ])
    expect(await run(`pending list ${wrong}`, { cwd: folder }), wrong).toMatchObject({ code: 2, stdout: '' });
});

test.concurrent('pending check says what approve would do, and decides nothing', async ({ expect }) => {
  const folder = workspace(strict);
  const { id } = await callThatWaits(folder, 'pay');
  const { id: other } = await callThatWaits(folder, 'send');
  const check = async (args: string) => {
    const { code, stdout, stderr } = await run(`pending check ${args}`, { cwd: folder });
    return [code, stdout, stderr];
  };
  expect(await check(id)).toEqual([
    0,
    'approve would be stored, and the call would still wait for others (approved by 0 of 2)\n',
    '',
  ]);
  await run(`pending approve ${id} --by joe`, { cwd: folder });
  expect(await check(`${id} --by mara`)).toEqual([
    0,
    'approve would let the call continue (approved by 1 of 2)\n',
    '',
  ]);
  expect(await check(`${id} --by eve`)).toEqual([
    2,
    expect.stringMatching(/^approve would be refused \(approved by 1 of 2\): "eve" may not .*\n$/),
    '',
  ]);
  expect(await check(`${other} --args '{"cents": "x"}'`)).toEqual([
    2,
    expect.stringMatching(/^approve would refuse these arguments: .*\n$/),
    '',
  ]);
  expect(await runJson(['pending', 'check', other], { cwd: folder })).toMatchObject({
    code: 0,
    document: { id: other, outcome: 'resumes' },
  });
  await run(`pending reject ${other} --reason no --by joe`, { cwd: folder });
  expect(await check(other)).toEqual([1, expect.stringMatching(/^the call is decided: .*by joe\n$/), '']);
  expect(await check('pending_0000000000000000')).toEqual([
    2,
    expect.stringMatching(/^there is no such call: /),
    '',
  ]);
});

test.concurrent('a call that needs several people offers only decisions that work', async ({ expect }) => {
  const folder = workspace(strict);
  const { id, runId } = await callThatWaits(folder, 'pay');
  const choices = `approve:  signalbox pending approve ${id}
reject:   signalbox pending reject ${id} --reason REASON
`;
  const shown = await run(`pending show ${id}`, { cwd: folder });
  expect(shown.stdout).toBe(`pending: Tool "pay" needs approval. (the config requires approval)
  id         ${id}
  run        ${runId}
  deciders   mara, joe
  tool       pay
  step       call
  arguments  {}
  approved   0 of 2
${choices}`);
  const called = await run('tool call pay', { cwd: folder });
  expect([shown.stdout, called.stderr].filter((text) => text.includes('respond'))).toEqual([]);
  expect((await run(`runs show ${runId}`, { cwd: folder })).stdout).toContain(`\n${choices}`);
});

test.concurrent('when nothing waits, text output says so and JSON is an empty list', async ({ expect }) => {
  const folder = workspace(spec);
  const ran = [await run('pending list', { cwd: folder }), await run('pending list --json', { cwd: folder })];
  expect(ran).toEqual([
    { code: 0, stdout: '', stderr: 'no call waits for a person\n' },
    { code: 0, stdout: '{"pending":[]}\n', stderr: '' },
  ]);
});

test.concurrent('pending show prints every member, digit for digit', async ({ expect }) => {
  const { folder, id, runId } = await waiting('refund', `{"id": ${long}}`);
  const { code, stdout } = await run(`pending show ${id} --json`, { cwd: folder });
  expect(code).toBe(0);
  expect(stdout).toContain(`"args":{"id": ${long}}`);
  expect(stdout).toContain(`"ticket":${long}`);
  expect(onlyDocument(stdout)).toEqual({
    ...open,
    id,
    run_id: runId,
    call_id: expect.any(String),
    tool: 'refund',
    step: 'call/call',
    args: { id: Number(long) },
    origin: 'tool',
    reason: 'requires_approval',
    message: 'Refund 250 EUR?',
    members: expect.objectContaining({ ticket: Number(long) }),
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    deciders: null,
    choices: ['approve', 'edit', 'respond', 'reject'],
    digest: expect.stringMatching(/^[\w-]{43}$/),
    use: null,
    input_schema: null,
    run: { kind: 'tool', name: 'refund', labels: {} },
    caller: null,
  });
});

test.concurrent('pending show says what to decide, and afterwards what was decided', async ({ expect }) => {
  const { folder, id, runId } = await waiting('refund', '{"n": 1}');
  const before = await run(`pending show ${id}`, { cwd: folder });
  expect(before.stdout).toBe(`pending: Refund 250 EUR? (requires_approval)
  id         ${id}
  run        ${runId}
  tool       refund
  step       call
  arguments  {"n": 1}
approve:  signalbox pending approve ${id}
reject:   signalbox pending reject ${id} --reason REASON
respond:  signalbox pending respond ${id} --result JSON
`);
  await run(`pending approve ${id} --by ada --reason 'looks fine' --args '{"n": 2.50}'`, { cwd: folder });
  const after = await run(`pending show ${id}`, { cwd: folder });
  expect(after.stdout.split('\n').slice(-5)).toEqual([
    expect.stringMatching(/^decided {4}approved by ada at \d{4}-.*Z$/),
    'reason     looks fine',
    'arguments  {"n": 2.50}',
    'use        not used yet: the run has not continued, or the caller has not come back for the call',
    '',
  ]);
  const list = async () => (await run('pending list --use not_used', { cwd: folder })).stdout;
  expect(await list()).toContain('approved (not used yet)');
  await run(`runs resume ${runId}`, { cwd: folder });
  expect(await list()).toBe('');
  const used = await run(`pending show ${id}`, { cwd: folder });
  expect(used.stdout).toMatch(/\nuse {8}used\n$/);
});

const decisions = [
  {
    title: 'approve',
    args: ['approve', '--reason', 'fine'],
    document: { status: 'approved', by: 'ada', decision_reason: 'fine', edited_args: null },
    resumed: { code: 0, status: 'completed' },
  },
  {
    title: 'approve with other arguments',
    args: ['approve', '--args', '{"amount": 15}'],
    document: { status: 'approved', by: 'ada', decision_reason: '', edited_args: { amount: 15 } },
    resumed: { code: 0, status: 'completed' },
  },
  {
    title: 'reject',
    args: ['reject', '--reason', 'too much'],
    document: { status: 'rejected', by: 'ada', decision_reason: 'too much' },
    resumed: { code: 1, status: 'failed' },
  },
  {
    title: 'respond',
    args: ['respond', '--result', '"done by hand"', '--reason', 'quicker'],
    document: { status: 'responded', by: 'ada', decision_reason: 'quicker', result: 'done by hand' },
    resumed: { code: 0, status: 'completed' },
  },
];

test.concurrent.for(decisions)(
  'pending $title stores the decision, and runs resume follows it',
  async (row, { expect }) => {
    const { folder, id, runId } = await waiting();
    const [verb = '', ...more] = row.args;
    const decided = await runJson(['pending', verb, id, '--by', 'ada', ...more], { cwd: folder });
    expect(decided).toMatchObject({ code: 0, document: { id, run_id: runId, ...row.document } });
    const { code, document } = await runJson(`runs resume ${runId} --log-level silent`, { cwd: folder });
    expect({ code, document }).toMatchObject({
      code: row.resumed.code,
      document: { run_id: runId, status: row.resumed.status, pending: [] },
    });
  },
);

test.concurrent('a decision is confirmed, and says how to continue', async ({ expect }) => {
  const { folder, id, runId } = await waiting();
  expect(await run(`pending approve ${id}`, { cwd: folder })).toEqual({
    code: 0,
    stdout: `approved: ${id} (tool "refund") by ${userInfo().username}\n`,
    stderr: `resume:   signalbox runs resume ${runId}\n`,
  });
});

test.concurrent('--resume continues at once, with the approval, and ends as run does', async ({ expect }) => {
  const { folder, id } = await waiting('pay', '{"amount": 20}');
  const { code, stdout, stderr } = await run(
    `pending respond ${id} --result '{"amount": 20.5}' --resume --log-level silent`,
    { cwd: folder },
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"amount":20.5}\n' });
  expect(stderr).toMatch(new RegExp(`^${id}: responded\npay: run_\\w+ resumed\n`));
});

test.concurrent('--resume --json prints only the document of the run', async ({ expect }) => {
  const { folder, id, runId } = await waiting();
  const ran = await runJson(`pending reject ${id} --reason no --resume --log-level silent`, { cwd: folder });
  expect(ran).toMatchObject({
    code: 1,
    document: { run_id: runId, status: 'failed', error: { code: 'REJECTED' } },
    stderr: '',
  });
});

const paying = pipeline('steps: [{id: first, tool: pay}, {id: second, tool: hang}]\n');
const payTool = `tools:\n  pay: {exec: {command: ${fixture('echo-args')}}, approval: required}\n`;
const hangTool = "  hang: {exec: {command: sleep, args: ['30']}}\n";

test.concurrent('a decision is reported as stored if its run no longer fits the config', async ({
  expect,
}) => {
  const folder = workspace(`${payTool}${hangTool}`, { 'pay.yaml': paying });
  const run_id = await runOf(folder, 'pay.yaml');
  const id = await firstPending(folder);
  writeFileSync(join(folder, 'runtime.yaml'), config(payTool));
  const ran = await runJson(`pending approve ${id} --by ada --resume --log-level silent`, { cwd: folder });
  expect(ran).toEqual({ code: 2, ...keptAs('CONFIG_INVALID', { id, run_id }, expect) });
  const people = await run(`pending approve ${id} --resume --log-level silent`, { cwd: folder });
  expect(people.stderr).toMatch(/^error: \[PENDING_DECIDED\] /);
});

test.concurrent('a decision is reported as stored if another process executes its run', async ({
  expect,
}) => {
  const folder = workspace(`${payTool}${hangTool}`, { 'pay.yaml': paying });
  const { child, ran: waiter } = start(['run', 'pay.yaml', '--wait', '--json', ...silent], { cwd: folder });
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  await until(() => told.endsWith('\n'));
  const id = await firstPending(folder);
  const ran = await runJson(`pending approve ${id} --by ada --resume --log-level silent`, { cwd: folder });
  child.kill('SIGINT');
  const document = onlyDocument((await waiter).stdout);
  const { run_id } = (document as { error: { run_id: string } }).error;
  expect(ran).toEqual({ code: 1, ...keptAs('RUN_BUSY', { id, run_id }, expect) });
});

test.concurrent('text output reports the stored decision and the error', async ({ expect }) => {
  const folder = workspace(`${payTool}${hangTool}`, { 'pay.yaml': paying });
  const runId = await runOf(folder, 'pay.yaml');
  const id = await firstPending(folder);
  writeFileSync(join(folder, 'runtime.yaml'), config(payTool));
  const { code, stdout, stderr } = await run(`pending approve ${id} --resume --log-level silent`, {
    cwd: folder,
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.split('\n').slice(0, 3)).toEqual([
    `${id}: approved`,
    `the decision about ${id} is stored (approved): when the run can continue, run \`signalbox runs resume ${runId}\``,
    expect.stringMatching(/^error: \[CONFIG_INVALID\] /),
  ]);
});

async function firstPending(folder: string): Promise<string> {
  const { document } = await runJson('pending list', { cwd: folder });
  return (document as { pending: { id: string }[] }).pending[0]?.id ?? '';
}

/** The JSON output for a stored decision whose run could not continue. */
function keptAs(code: string, { id, run_id }: { id: string; run_id: string }, expect: ExpectStatic) {
  const decision = expect.objectContaining({ id, run_id, status: 'approved', by: 'ada' });
  return {
    document: { error: expect.objectContaining({ code, decision }) },
    stderr: expect.stringMatching(
      `^the decision about ${id} is stored \\(approved\\): .*\`signalbox runs resume ${run_id}\`\n$`,
    ),
  };
}

test.concurrent('the tool receives the approval, and the edited arguments byte for byte', async ({
  expect,
}) => {
  const { folder, id } = await waiting('seen');
  const args = `{ "id": ${long} }`;
  const ran = await run(`pending approve ${id} --args - --by ada --reason ok --resume --log-level silent`, {
    cwd: folder,
    stdin: args,
  });
  const approval = `{"id":"${id}","decision":"approved","by":"ada","reason":"ok"}`;
  expect(ran).toMatchObject({ code: 0, stdout: `{"args":${args},"approval":${approval}}\n\n` });
});

const refused = titled([
  {
    title: 'arguments that do not fit',
    cites: 'DS-CLI-12',
    tool: 'pay',
    args: ['approve', '--args', '{"amount": 900}'],
    code: 'ARGS_INVALID',
  },
  {
    title: 'arguments that are no object',
    cites: 'DS-CLI-12',
    tool: 'pay',
    args: ['approve', '--args', '[1]'],
    code: 'ARGS_INVALID',
  },
  {
    title: 'a result that does not fit',
    cites: 'DS-CLI-12',
    tool: 'pay',
    args: ['respond', '--result', '{"amount": 900}'],
    code: 'RESULT_INVALID',
  },
  {
    title: 'a result that is no JSON',
    cites: 'DS-CLI-12',
    tool: 'pay',
    args: ['respond', '--result', 'done'],
    code: 'USAGE',
  },
  {
    title: 'a file that is not there',
    cites: 'DS-CLI-12',
    tool: 'pay',
    args: ['approve', '--args', '@gone.json'],
    code: 'FILE_UNREADABLE',
  },
]);

test.concurrent.for(refused)(
  'a decision with $title exits 2, and the call still waits',
  async (row, { expect }) => {
    const { folder, id } = await waiting(row.tool);
    const [verb = '', ...more] = row.args;
    const { code, document } = await runJson(['pending', verb, id, ...more], { cwd: folder });
    expect({ code, document }).toMatchObject({ code: 2, document: { error: { code: row.code } } });
    expect(await runJson(`pending show ${id}`, { cwd: folder })).toMatchObject({ document: open });
  },
);

test.concurrent.for(['reject', 'respond'])('pending %s needs more arguments', async (verb, { expect }) => {
  expect(await runJson(['pending', verb, 'pending_1234'], { cwd: workspace(spec) })).toMatchObject({
    code: 2,
    document: { error: { code: 'USAGE' } },
  });
});

test.concurrent('one of several decisions wins, and the others are told which', async ({ expect }) => {
  const { folder, id } = await waiting();
  const names = ['ada', 'bob', 'eve'];
  const ran = await Promise.all(
    names.map((by) => runJson(['pending', 'reject', id, '--reason', 'no', '--by', by], { cwd: folder })),
  );
  const winner = names[ran.findIndex(({ code }) => code === 0)];
  const message = `${id} (tool "refund") has already been rejected by ${winner}`;
  const lost = ran.filter(({ code }) => code !== 0);
  const decision = expect.objectContaining({ id, status: 'rejected', by: winner });
  expect(lost).toEqual(
    Array.from({ length: 2 }, () => ({
      code: 1,
      document: { error: { code: 'PENDING_DECIDED', message, hint: expect.any(String), decision } },
      stderr: '',
    })),
  );
  const people = await run(`pending approve ${id}`, { cwd: folder });
  expect(people).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
});

test.concurrent('an expired call can no longer be decided, and its run fails', async ({ expect }) => {
  const { folder, id, runId } = await waiting('brief');
  const late = await runJson(`pending approve ${id}`, { cwd: folder });
  expect(late).toMatchObject({ code: 1, document: { error: { code: 'PENDING_EXPIRED' } } });
  const resumed = await runJson(`runs resume ${runId} --log-level silent`, { cwd: folder });
  expect(resumed).toMatchObject({
    code: 1,
    document: { status: 'failed', error: { code: 'PENDING_EXPIRED' } },
  });
});

test.concurrent('an id may be shortened to a unique prefix', async ({ expect }) => {
  const { folder, id } = await waiting();
  const given = [id.slice(0, 14), id.slice('pending_'.length, 14), id.slice(0, 11), 'pending_'];
  const ran = await Promise.all(given.map((each) => runJson(['pending', 'show', each], { cwd: folder })));
  expect(ran.map(({ code }) => code)).toEqual([0, 0, 2, 2]);
  expect(ran.slice(0, 2)).toMatchObject([{ document: { id } }, { document: { id } }]);
  expect(ran.slice(2)).toMatchObject([
    { document: { error: { code: 'RUN_UNKNOWN' } } },
    { document: { error: { code: 'RUN_UNKNOWN' } } },
  ]);
});

test.concurrent.for(['show', 'approve'])('pending %s of an unknown id exits 2', async (verb, { expect }) => {
  expect(await run(['pending', verb, 'pending_0123456789abcdef'], { cwd: workspace(spec) })).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^error: \[RUN_UNKNOWN\] .*pending_0123456789abcdef.*\nhint: /),
  });
});

test.concurrent.for([
  { verb: 'approve', more: [] },
  { verb: 'reject', more: ['--reason', 'no'] },
  { verb: 'respond', more: ['--result', '1'] },
])('pending $verb --by "" is refused, and the call still waits', async ({ verb, more }, { expect }) => {
  const { folder, id } = await waiting();
  const refused = await runJson(['pending', verb, id, '--by', '', ...more], { cwd: folder });
  expect(refused).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
  const shown = await runJson(`pending show ${id}`, { cwd: folder });
  expect(shown).toMatchObject({ document: { status: 'open', by: null } });
});
