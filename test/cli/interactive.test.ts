import { test } from 'vitest';
import {
  callOnTerminal,
  fixture,
  hasTerminals,
  pipeline,
  run,
  runJson,
  startOnTerminal,
  workspace,
} from './command-line.ts';

const silent = ['--log-level', 'silent'];
const question = 'or [l]ater? ';

const spec = `
tools:
  pay:
    input_schema: {type: object, properties: {amount: {type: number, maximum: 500}}}
    output_schema: {type: object, properties: {amount: {type: number, maximum: 500}}}
    exec: {command: ${fixture('echo-args')}}
    approval: required
`;

const files = {
  'pay.yaml': pipeline(`
runtime: ./runtime.yaml
steps: [{id: only, tool: pay, args: {amount: 20}}]
output: \${steps.only.result}
`),
  'both.yaml': pipeline(`
runtime: ./runtime.yaml
steps:
  - id: both
    parallel:
      - {id: one, tool: pay, args: {amount: 1}}
      - {id: two, tool: pay, args: {amount: 2}}
output: \${[steps.one.result.amount, steps.two.result.amount]}
`),
};

function argsOf(file: string, more: readonly string[]) {
  return ['run', file, '--interactive', ...silent, ...more];
}

async function begin(file = 'pay.yaml', more: readonly string[] = []) {
  const folder = workspace(spec, files);
  return { folder, ...(await callOnTerminal(argsOf(file, more), { cwd: folder })) };
}

/** The program in a terminal of its own, for tests of what happens before and after a question. */
function beginForReal(file = 'pay.yaml', more: readonly string[] = []) {
  const folder = workspace(spec, files);
  return { folder, ...startOnTerminal(argsOf(file, more), { cwd: folder }) };
}

const terminalTest = test.skipIf(!hasTerminals).concurrent;

terminalTest('approve, once nothing else has been taken for an answer', async ({ expect }) => {
  const { ran, sees, type, screen } = beginForReal();
  await sees(question);
  type('\r');
  await sees(question);
  type('yes\r');
  await sees(question);
  type('a\r');
  const { code } = await ran;
  expect(code).toBe(0);
  expect(screen()).toContain('  arguments  {"amount":20}\r\n');
  expect(screen()).toMatch(/\{"amount":20\}\r\n$/);
});

terminalTest('what was typed before the question is no answer to it', async ({ expect }) => {
  const { ran, sees, type, screen } = beginForReal();
  type('a\ra\ra\r');
  await sees(question);
  type('r\r');
  await sees('reason: ');
  type('no\r');
  expect((await ran).code).toBe(1);
  expect(screen()).toContain('[REJECTED]');
});

test.concurrent('edited arguments that do not fit are reported and asked for again', async ({ expect }) => {
  const { ran, sees, type, screen } = await begin();
  await sees(question);
  type('edit\r');
  await sees('{"amount":20}');
  type('\u0015{"amount": 900}\r');
  await sees('[ARGS_INVALID]');
  await sees(question);
  type('e\r');
  await sees('{"amount":20}');
  type('\u007f.5}\r');
  expect((await ran).code).toBe(0);
  expect(screen()).toMatch(/\{"amount":20\.5\}\r\n$/);
});

test.concurrent('a result that is no JSON or does not fit is reported and asked for again', async ({
  expect,
}) => {
  const { ran, sees, type, screen } = await begin();
  await sees(question);
  type('s\r');
  await sees('result, as JSON: ');
  type('done\r');
  await sees('[USAGE]');
  await sees(question);
  type('respond\r');
  await sees('result, as JSON: ');
  type('{"amount": 900}\r');
  await sees('[RESULT_INVALID]');
  await sees(question);
  type('s\r');
  await sees('result, as JSON: ');
  type('{"amount": 7}\r');
  expect((await ran).code).toBe(0);
  expect(screen()).toMatch(/\{"amount":\s?7\}\r\n$/);
});

test.concurrent('reject takes a reason; an empty one cancels the choice', async ({ expect }) => {
  const { ran, sees, type, screen } = await begin();
  await sees(question);
  type('r\r');
  await sees('reason: ');
  type('\r');
  await sees(question);
  type('r\r');
  await sees('reason: ');
  type('too much\r');
  expect((await ran).code).toBe(1);
  expect(screen()).toMatch(/failed.*: step "only": \[REJECTED\] .*too much\r\n/);
});

test.concurrent('later leaves the run waiting, and so does Ctrl-D', async ({ expect }) => {
  const codes = await Promise.all(
    ['l\r', '\u0004'].map(async (keys) => {
      const { folder, ran, sees, type, screen } = await begin();
      await sees(question);
      type(keys);
      const { code } = await ran;
      const { document } = await runJson('pending list', { cwd: folder });
      return { code, shown: screen(), document };
    }),
  );
  const waits = {
    code: 3,
    shown: expect.stringContaining('then:     signalbox runs resume run_'),
    document: { pending: [expect.objectContaining({ status: 'open' })] },
  };
  expect(codes).toEqual([waits, waits]);
});

test.concurrent('later with --wait continues after a decision made elsewhere', async ({ expect }) => {
  const { folder, ran, sees, type, screen } = await begin('pay.yaml', ['--wait']);
  await sees(question);
  type('l\r');
  await sees('waiting for the decision about pending_');
  const [id = ''] = /pending_[\da-f]{16}/.exec(screen()) ?? [];
  await run(`pending approve ${id}`, { cwd: folder });
  expect((await ran).code).toBe(0);
});

terminalTest('Ctrl-C at the question sets the run down [DS-EXIT-04]', async ({ expect }) => {
  const { folder, ran, sees, type } = beginForReal();
  await sees(question);
  type('\u0003');
  const { code, stdout } = await ran;
  expect(code).toBe(130);
  expect(stdout).toContain('signalbox runs resume run_');
  const { document } = await runJson('pending list', { cwd: folder });
  expect(document).toMatchObject({ pending: [{ status: 'open' }] });
});

test.concurrent('a call that was decided elsewhere meanwhile is reported, and the run follows that decision', async ({
  expect,
}) => {
  const { folder, ran, sees, type, screen } = await begin();
  await sees(question);
  const [id = ''] = /pending_[\da-f]{16}/.exec(screen()) ?? [];
  await run(`pending reject ${id} --reason no --by ada`, { cwd: folder });
  type('a\r');
  expect((await ran).code).toBe(1);
  expect(screen()).toContain('has already been rejected by ada');
});

test.concurrent('calls that wait at once are presented one after the other', async ({ expect }) => {
  const { ran, sees, type, screen } = await begin('both.yaml');
  await sees(question);
  expect(screen().split(question).length - 1).toBe(1);
  type('a\r');
  await sees(question);
  type('a\r');
  expect((await ran).code).toBe(0);
  expect(screen()).toMatch(/\[1,2\]\r\n$/);
});

test.concurrent('with --json stdout has only the document', async ({ expect }) => {
  const { ran, sees, type, screen } = await begin('pay.yaml', ['--json']);
  await sees(question);
  type('a\r');
  expect((await ran).code).toBe(0);
  const last = screen().trimEnd().split('\r\n').at(-1) ?? '';
  expect(JSON.parse(last)).toMatchObject({ status: 'completed', output: { amount: 20 } });
  expect(screen()).not.toContain('started');
});

const streaming = {
  'talk.yaml': pipeline(`
runtime: ./runtime.yaml
steps: [{id: answer, chat: {provider: main, messages: hi, stream: windowed}}]
output: done
`),
};

const speaking = `
providers:
  - {id: main, type: mock, model: scripted, additional_config: {responses: [{chunks: ["Good ", "\\e[2Jday."]}]}}
`;

test.concurrent('a terminal shows an answer as it arrives, without control characters', async ({
  expect,
}) => {
  const folder = workspace(speaking, streaming);
  const typing = await callOnTerminal(['run', 'talk.yaml', '--no-color', ...silent], { cwd: folder });
  const { ran, screen } = typing;
  expect((await ran).code).toBe(0);
  expect(screen()).toContain('\r\nanswer: Good \\u001b[2Jday.\r\nanswer: ok in ');
  expect(screen()).toMatch(/\r\ndone\r\n$/);
});

test.concurrent('without a terminal, an answer is not shown while it arrives', async ({ expect }) => {
  const folder = workspace(speaking, streaming);
  const { code, stderr } = await run('run talk.yaml --log-level silent', { cwd: folder });
  expect(code).toBe(0);
  expect(stderr).not.toContain('Good');
});
