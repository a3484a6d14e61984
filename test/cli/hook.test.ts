import { expect, test } from 'vitest';
import { fixture, run, runBothWays, runJson, workspace } from './command-line.ts';

const long = '12345678901234567890';
const says = (reply: string) => `{command: ${fixture('prints.sh')}, args: ['${reply}'], `;
const fire = (moment: string, event: string) =>
  `hook fire --hook ${moment} --event '${event}' --log-level silent`;

const desk = workspace(
  `
tools:
  refund:
    input_schema: {type: object, properties: {amount: {type: number}}}
    exec: {command: sh}
hooks:
  note: {command: ${fixture('allow-metadata.sh')}, args: [id, '${long}'], hook: provider}
  mark: {command: ${fixture('modify-before-call')}, args: [MARK], hook: provider, phases: [before_call]}
  last: {command: ${fixture('modify-before-call')}, args: [LAST], hook: provider, phases: [before_call]}
  stand_in: {command: ${fixture('deny-enforced')}, hook: provider, phases: [after_call]}
  never: {command: ${fixture('deny.sh')}, hook: provider, phases: [after_call]}
  allows: {command: ${fixture('allow.sh')}, hook: tool, phases: [before_execution]}
  shadow: {command: ${fixture('deny.sh')}, hook: tool, phases: [before_execution], mode: shadow}
  limit: ${says('{"allow": false, "reason": "too much", "metadata": {"limit": 500}}')} hook: tool, phases: [after_execution]}
  told: {command: ${fixture('record-event')}, env: [RECORD_FILE=record], hook: session}
  scores: {command: ${fixture('record-event')}, env: [RECORD_FILE=record], hook: eval}
`,
  { 'event.json': '{"request": {"messages": [{"role": "user", "content": "hi"}]}}' },
);

test.concurrent('hook list shows the hooks in order, and where each is declared [DS-CLI-02]', async ({
  expect,
}) => {
  const { people, programs } = await runBothWays('hook list', { cwd: desk });
  expect(people.stdout.split('\n')).toEqual([
    'HOOK      DIALECT    KIND              EVENTS                                      DECLARED',
    'note      promptkit  provider, filter  before_call, after_call                     runtime.yaml:11',
    'mark      promptkit  provider, filter  before_call                                 runtime.yaml:12',
    'last      promptkit  provider, filter  before_call                                 runtime.yaml:13',
    'stand_in  promptkit  provider, filter  after_call                                  runtime.yaml:14',
    'never     promptkit  provider, filter  after_call                                  runtime.yaml:15',
    'allows    promptkit  tool, filter      before_execution                            runtime.yaml:16',
    'shadow    promptkit  tool, shadow      before_execution                            runtime.yaml:17',
    'limit     promptkit  tool, filter      after_execution                             runtime.yaml:18',
    'told      promptkit  session, observe  session_start, session_update, session_end  runtime.yaml:19',
    'scores    promptkit  eval, observe     scored                                      runtime.yaml:20',
    '',
  ]);
  const first = {
    ...{ name: 'note', hook: 'provider', phases: ['before_call', 'after_call'], mode: 'filter' },
    ...{ dialect: 'promptkit', points: [], on_failure: 'deny' },
    source: { file: 'runtime.yaml', line: 11, column: expect.any(Number) },
  };
  const others = Array.from({ length: 9 }, () => ({ dialect: 'promptkit' }));
  expect(programs.document).toMatchObject({ hooks: [first, ...others] });
  expect(await runJson('hooks list', { cwd: desk })).toEqual(programs);
});

const allowed = {
  ...{ verdict: 'allow', hook: null, dialect: null, reason: '', enforced: false, replace: null },
  ...{ result: null, context: [], abort: null, metadata: {} },
};
const answer = '{"request": {}, "response": {"message": {"role": "assistant", "content": "…"}}}';

test.concurrent.for([
  {
    title: 'allow: every hook merely allowed',
    line: fire('tool --phase before_execution', '{"request": {"name": "refund"}}'),
    code: 0,
    document: { ...allowed, asked: ['allows', 'shadow'] },
    stdout: 'allow\nasked: allows, shadow\n',
  },
  {
    title: 'modify: each filter saw what the one before it left, and the last to change is named',
    line: fire('provider --phase before_call', '@event.json'),
    code: 0,
    document: {
      ...{ ...allowed, verdict: 'modify', hook: 'last', dialect: 'promptkit', reason: 'looked fine' },
      replace: { messages: [{ role: 'user', content: 'hi MARK LAST' }], system_prompt: 'MARK LAST' },
      ...{ metadata: { id: Number(long) }, asked: ['note', 'mark', 'last'] },
    },
    stdout: expect.stringMatching(/^modify by hook "last": looked fine\nreplace: .*\nmetadata: .*\nasked: /),
  },
  {
    title: 'deny: the first no ends the chain',
    line: fire('tool --phase after_execution', '{"request": {"name": "refund"}, "response": {}}'),
    code: 1,
    document: {
      ...{ ...allowed, verdict: 'deny', hook: 'limit', dialect: 'promptkit', reason: 'too much' },
      ...{ metadata: { limit: 500 }, asked: ['limit'] },
    },
    stdout: 'deny by hook "limit": too much\nmetadata: {"limit": 500}\nasked: limit\n',
  },
  {
    title: 'deny, enforced: with what the caller is given instead',
    line: fire('provider --phase after_call', answer),
    code: 1,
    document: {
      ...{ ...allowed, verdict: 'deny', hook: 'stand_in', dialect: 'promptkit', reason: 'unsafe' },
      ...{ enforced: true, result: 'I cannot say that.' },
      ...{ metadata: { replacement: 'I cannot say that.' }, asked: ['note', 'stand_in'] },
    },
    stdout:
      'deny (enforced) by hook "stand_in": unsafe\nresult: I cannot say that.\nmetadata: {"replacement": "I cannot say that."}\nasked: note, stand_in\n',
  },
  {
    title: 'allow: observers are told and have no say',
    line: fire('session --phase session_end', '{"event": {"session_id": "s-1"}}'),
    code: 0,
    document: { ...allowed, asked: ['told'] },
    stdout: 'allow\nasked: told\n',
  },
  {
    title: 'allow: an eval hook needs no phase',
    line: fire('eval', '{"event": {"eval_id": "e", "type": "t", "score": 0.5}}'),
    code: 0,
    document: { ...allowed, asked: ['scores'] },
    stdout: 'allow\nasked: scores\n',
  },
])(
  'hook fire: $title [DS-CLI-10 DS-EXIT-03 DS-JSON-07]',
  async ({ line, code, document, stdout }, { expect }) => {
    expect(await runBothWays(line, { cwd: desk })).toEqual({
      people: { code, stdout, stderr: '' },
      programs: { code, document, stderr: '' },
    });
  },
);

test.concurrent('hook fire: ask, when a hook asks for a person’s decision [DS-EXIT-03]', async ({
  expect,
}) => {
  const cwd = workspace(
    `hooks: {limit: ${says('{"allow": false, "ask": true, "reason": "above the limit"}')} hook: tool, phases: [before_execution]}}\n`,
  );
  const line = fire('tool --phase before_execution', '{"request": {"name": "refund"}}');
  const { people, programs } = await runBothWays(line, { cwd });
  const stdout = 'ask by hook "limit": above the limit\nasked: limit\n';
  expect(people).toEqual({ code: 3, stdout, stderr: '' });
  const document = { verdict: 'ask', hook: 'limit', reason: 'above the limit' };
  expect(programs).toMatchObject({ code: 3, document });
});

test.concurrent('long integers in metadata and replace keep their digits, in both outputs [DS-JSON-07]', async ({
  expect,
}) => {
  const cwd = workspace(`
hooks:
  one: {command: ${fixture('allow-metadata.sh')}, args: [one, '${long}'], hook: tool}
  two: {command: ${fixture('prints.sh')}, args: ['{"allow": true, "replace": {"args": {"id": ${long}}}}'], hook: tool}
`);
  const line = fire('tool --phase before_execution', `{"request": {"name": "x", "args": {"id": ${long}}}}`);
  expect((await run(line, { cwd })).stdout).toBe(
    `modify by hook "two": looked fine\nreplace: {"args":{"id": ${long}}}\nmetadata: {"one":${long}}\nasked: one, two\n`,
  );
  const { stdout } = await run(`${line} --json`, { cwd });
  expect(stdout).toContain(`"replace":{"args":{"id": ${long}}}`);
  expect(stdout).toContain(`"metadata":{"one":${long}}`);
});

test.concurrent('long integers of --event reach the hook [DS-CLI-08 DS-CLI-11]', async ({ expect }) => {
  const cwd = workspace(
    'hooks: {stdin: {command: ./deny-with-stdin, hook: tool, phases: [before_execution]}}\n',
    {
      'deny-with-stdin':
        '#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps({"allow": False, "reason": sys.stdin.read()}))\n',
    },
  );
  const stdin = `{"request": {"name": "x", "args": {"id": ${long}}, "call_id": "c-1"}}`;
  const { document } = await runJson(fire('tool --phase before_execution', '-'), { cwd, stdin });
  expect(document).toMatchObject({
    verdict: 'deny',
    reason: `{"hook":"tool","phase":"before_execution","request":{"name":"x","args":{"id":${long}},"call_id":"c-1"}}\n`,
  });
});

const before = 'provider --phase before_call';

test.concurrent.for([
  {
    title: 'a phase that the hook does not have',
    line: fire('provider --phase before_execution', '{"request": {}}'),
    message: 'a provider hook has no phase "before_execution"; it has before_call, after_call',
  },
  {
    title: 'no phase',
    line: fire('tool', '{"request": {"name": "x"}}'),
    message: 'a tool hook needs its --phase',
    hint: 'Its phases are: before_execution, after_execution.',
  },
  {
    title: 'a part that is missing',
    line: fire('provider --phase after_call', '{"request": {}}'),
    message: 'the event of provider after_call has no `response`',
  },
  {
    title: 'a part that is misspelt',
    line: fire(before, '{"request": {}, "responce": {}}'),
    message: '--event: unknown key "responce" beside `request`',
  },
  {
    title: 'the envelope around the payload',
    line: fire('tool --phase before_execution', '{"hook": "tool", "request": {"name": "x"}}'),
    message: '--event: unknown key "hook" beside `request`',
  },
  {
    title: 'a member of the wrong type',
    line: fire(before, '{"request": {"messages": "hi"}}'),
    message: expect.stringContaining('messages must be array'),
  },
  {
    title: 'an event that is no JSON',
    line: fire('eval', '{"event":'),
    error: 'USAGE',
    message: expect.stringMatching(/^--event is not JSON: /),
  },
  {
    title: 'an event that is a number too long for a double',
    line: fire('eval', long),
    error: 'USAGE',
    message: '--event is not a JSON object',
  },
  {
    title: 'an event in a file that is not UTF-8',
    line: fire('eval', `@${process.execPath}`),
    error: 'USAGE',
    message: `--event: ${process.execPath} is not UTF-8`,
  },
])('hook fire with $title exits 2 [DS-OUT-04 DS-CLI-08 DS-CLI-11 DS-CLI-12]', async (row, { expect }) => {
  const { line, error = 'EVENT_INVALID', message, hint = expect.any(String) } = row;
  const document = { error: { code: error, message, hint } };
  expect(await runJson(line, { cwd: desk })).toEqual({ code: 2, document, stderr: '' });
});

test.concurrent('hook fire reports if no hook receives the event [DS-CLI-10]', async ({ expect }) => {
  const cwd = workspace(
    `hooks: {pii: {command: ${fixture('crash.sh')}, hook: provider, phases: [before_call]}}\n`,
  );
  const line = fire('tool --phase before_execution', '{"request": {"name": "x"}}');
  const unheard = await runBothWays(line, { cwd });
  expect(unheard.people).toEqual({
    code: 0,
    stdout:
      'allow\nasked: none; no hook receives tool before_execution\nhint: `signalbox hook list` shows the events of each hook.\n',
    stderr: '',
  });
  expect(unheard.programs.document).toMatchObject({ verdict: 'allow', asked: [] });
  // The hint of --json is also in the text output.
  const failed = await run(fire(before, '{"request": {"messages": []}}'), { cwd });
  expect(failed.stdout).toMatch(/^deny: \[[A-Z_]+\] hook "pii" .*\nasked: pii\n$/);
  expect(failed.stderr).toBe('hint: Correct the program: its stderr says why.\n');
});
