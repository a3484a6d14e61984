import { expect, test } from 'vitest';
import { titled } from '../cite.ts';
import { fixture, onlyDocument, run, runBothWays, runJson, workspace } from './command-line.ts';

const long = '12345678901234567890';
const says = (reply: string) => `{command: ${fixture('prints.sh')}, args: ['${reply}'], `;

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

test.concurrent('hook list shows the hooks in their order, and where each is declared [DS-CLI-02]', async ({
  expect,
}) => {
  const { people, programs } = await runBothWays(['hook', 'list'], { cwd: desk });
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
  expect(programs.document).toMatchObject({
    hooks: [
      {
        name: 'note',
        hook: 'provider',
        phases: ['before_call', 'after_call'],
        mode: 'filter',
        dialect: 'promptkit',
        points: [],
        on_failure: 'deny',
        source: { file: 'runtime.yaml', line: 11, column: expect.any(Number) },
      },
      ...Array.from({ length: 9 }, () => ({ dialect: 'promptkit' })),
    ],
  });
});

test.concurrent('`hooks list` is the same command [DS-CLI-02]', async ({ expect }) => {
  const { code, document } = await runJson(['hooks', 'list'], { cwd: desk });
  expect({ code, document }).toEqual({ code: 0, document: { hooks: expect.any(Array) } });
});

const decisions = titled([
  {
    title: 'allow: every hook merely allowed',
    cites: 'DS-CLI-10 DS-EXIT-03 DS-JSON-07',
    args: ['--hook', 'tool', '--phase', 'before_execution', '--event', '{"request": {"name": "refund"}}'],
    code: 0,
    document: {
      verdict: 'allow',
      hook: null,
      dialect: null,
      reason: '',
      enforced: false,
      replace: null,
      result: null,
      context: [],
      abort: null,
      metadata: {},
      asked: ['allows', 'shadow'],
    },
  },
  {
    title: 'modify: each filter saw what the one before it left, and the last to change is named',
    cites: 'DS-CLI-10 DS-EXIT-03 DS-JSON-07',
    args: ['--hook', 'provider', '--phase', 'before_call', '--event', '@event.json'],
    code: 0,
    document: {
      verdict: 'modify',
      hook: 'last',
      dialect: 'promptkit',
      reason: 'looked fine',
      enforced: false,
      replace: {
        messages: [{ role: 'user', content: 'hi MARK LAST' }],
        system_prompt: 'MARK LAST',
      },
      result: null,
      context: [],
      abort: null,
      metadata: { id: Number(long) },
      asked: ['note', 'mark', 'last'],
    },
  },
  {
    title: 'deny: the first no ends the chain',
    cites: 'DS-CLI-10 DS-EXIT-03 DS-JSON-07',
    args: [
      '--hook',
      'tool',
      '--phase',
      'after_execution',
      '--event',
      '{"request": {"name": "refund"}, "response": {}}',
    ],
    code: 1,
    document: {
      verdict: 'deny',
      hook: 'limit',
      dialect: 'promptkit',
      reason: 'too much',
      enforced: false,
      replace: null,
      result: null,
      context: [],
      abort: null,
      metadata: { limit: 500 },
      asked: ['limit'],
    },
  },
  {
    title: 'deny, enforced: with what the caller is given instead',
    cites: 'DS-CLI-10 DS-EXIT-03 DS-JSON-07',
    args: [
      '--hook',
      'provider',
      '--phase',
      'after_call',
      '--event',
      '{"request": {}, "response": {"message": {"role": "assistant", "content": "…"}}}',
    ],
    code: 1,
    document: {
      verdict: 'deny',
      hook: 'stand_in',
      dialect: 'promptkit',
      reason: 'unsafe',
      enforced: true,
      replace: null,
      result: 'I cannot say that.',
      context: [],
      abort: null,
      metadata: { replacement: 'I cannot say that.' },
      asked: ['note', 'stand_in'],
    },
  },
  {
    title: 'allow: observers are told and have no say',
    cites: 'DS-CLI-10 DS-EXIT-03',
    args: ['--hook', 'session', '--phase', 'session_end', '--event', '{"event": {"session_id": "s-1"}}'],
    code: 0,
    document: expect.objectContaining({ verdict: 'allow', hook: null }),
  },
  {
    title: 'allow: an eval hook needs no phase',
    cites: 'DS-CLI-10 DS-EXIT-03',
    args: ['--hook', 'eval', '--event', '{"event": {"eval_id": "e", "type": "t", "score": 0.5}}'],
    code: 0,
    document: expect.objectContaining({ verdict: 'allow', hook: null }),
  },
]);

test.concurrent.for(decisions)('hook fire --json: $title', async ({ args, code, document }, { expect }) => {
  const fired = ['hook', 'fire', ...args, '--log-level', 'silent'];
  expect(await runJson(fired, { cwd: desk })).toEqual({ code, document, stderr: '' });
});

const response = '{"request": {}, "response": {"message": {"role": "assistant", "content": "…"}}}';

const words = titled([
  {
    title: 'allow',
    cites: 'DS-EXIT-03',
    args: ['--hook', 'session', '--phase', 'session_end', '--event', '{"event": {"session_id": "s-1"}}'],
    code: 0,
    stdout: 'allow\nasked: told\n',
  },
  {
    title: 'deny',
    cites: 'DS-EXIT-03',
    args: [
      '--hook',
      'tool',
      '--phase',
      'after_execution',
      '--event',
      '{"request": {"name": "refund"}, "response": {}}',
    ],
    code: 1,
    stdout: 'deny by hook "limit": too much\nmetadata: {"limit": 500}\nasked: limit\n',
  },
  {
    title: 'deny, enforced',
    cites: 'DS-EXIT-03',
    args: ['--hook', 'provider', '--phase', 'after_call', '--event', response],
    code: 1,
    stdout:
      'deny (enforced) by hook "stand_in": unsafe\nresult: I cannot say that.\nmetadata: {"replacement": "I cannot say that."}\nasked: note, stand_in\n',
  },
]);

test.concurrent.for(words)('hook fire: $title', async ({ args, code, stdout }, { expect }) => {
  const fired = ['hook', 'fire', ...args, '--log-level', 'silent'];
  expect(await run(fired, { cwd: desk })).toEqual({ code, stdout, stderr: '' });
});

test.concurrent('hook fire: ask, when a hook leaves it to a person [DS-EXIT-03]', async ({ expect }) => {
  const folder = workspace(
    `hooks: {limit: ${says('{"allow": false, "ask": true, "reason": "above the limit"}')} hook: tool, phases: [before_execution]}}\n`,
  );
  const event = ['--phase', 'before_execution', '--event', '{"request": {"name": "refund"}}'];
  const fired = ['hook', 'fire', '--hook', 'tool', ...event, '--log-level', 'silent'];
  const { people, programs } = await runBothWays(fired, { cwd: folder });
  expect(people).toEqual({
    code: 3,
    stdout: 'ask by hook "limit": above the limit\nasked: limit\n',
    stderr: '',
  });
  expect(programs).toMatchObject({
    code: 3,
    document: { verdict: 'ask', hook: 'limit', reason: 'above the limit' },
  });
});

const exact = workspace(`
hooks:
  one: {command: ${fixture('allow-metadata.sh')}, args: [one, '${long}'], hook: tool}
  two: {command: ${fixture('prints.sh')}, args: ['{"allow": true, "replace": {"args": {"id": ${long}}}}'], hook: tool}
`);

test.concurrent('long integers in metadata and replace keep their digits, in both outputs [DS-JSON-07]', async ({
  expect,
}) => {
  const event = `{"request": {"name": "x", "args": {"id": ${long}}}}`;
  const fired = ['hook', 'fire', '--hook', 'tool', '--phase', 'before_execution', '--event', event];
  const [people, programs] = await Promise.all([
    run(fired, { cwd: exact }),
    run([...fired, '--json'], { cwd: exact }),
  ]);
  expect(people.stdout).toBe(
    `modify by hook "two": looked fine\nreplace: {"args":{"id": ${long}}}\nmetadata: {"one":${long}}\nasked: one, two\n`,
  );
  expect(programs.stdout).toContain(`"replace":{"args":{"id": ${long}}}`);
  expect(programs.stdout).toContain(`"metadata":{"one":${long}}`);
});

test.concurrent('long integers of --event reach the hook [DS-CLI-08 DS-CLI-11]', async ({ expect }) => {
  const folder = workspace(
    `hooks: {stdin: {command: ./deny-with-stdin, hook: tool, phases: [before_execution]}}\n`,
    {
      'deny-with-stdin': `#!/usr/bin/env python3
import json, sys
print(json.dumps({"allow": False, "reason": sys.stdin.read()}))
`,
    },
  );
  const args = ['hook', 'fire', '--hook', 'tool', '--phase', 'before_execution', '--event', '-'];
  const { document } = await runJson(args, {
    cwd: folder,
    stdin: `{"request": {"name": "x", "args": {"id": ${long}}, "call_id": "c-1"}}`,
  });
  expect(document).toMatchObject({
    verdict: 'deny',
    reason: `{"hook":"tool","phase":"before_execution","request":{"name":"x","args":{"id":${long}},"call_id":"c-1"}}\n`,
  });
});

const wrongEvents = titled([
  {
    title: 'a phase that the hook does not have',
    cites: 'DS-OUT-04 DS-CLI-12',
    args: ['--hook', 'provider', '--phase', 'before_execution', '--event', '{"request": {}}'],
    error: {
      code: 'EVENT_INVALID',
      message: 'a provider hook has no phase "before_execution"; it has before_call, after_call',
    },
  },
  {
    title: 'no phase',
    cites: 'DS-OUT-04 DS-CLI-11',
    args: ['--hook', 'tool', '--event', '{"request": {"name": "x"}}'],
    error: {
      code: 'EVENT_INVALID',
      message: 'a tool hook needs its --phase',
      hint: 'Its phases are: before_execution, after_execution.',
    },
  },
  {
    title: 'a part that is missing',
    cites: 'DS-OUT-04 DS-CLI-11',
    args: ['--hook', 'provider', '--phase', 'after_call', '--event', '{"request": {}}'],
    error: { code: 'EVENT_INVALID', message: 'the event of provider after_call has no `response`' },
  },
  {
    title: 'a part that is misspelt',
    cites: 'DS-OUT-04 DS-CLI-11',
    args: ['--hook', 'provider', '--phase', 'before_call', '--event', '{"request": {}, "responce": {}}'],
    error: { code: 'EVENT_INVALID', message: '--event: unknown key "responce" beside `request`' },
  },
  {
    title: 'the envelope around the payload',
    cites: 'DS-OUT-04 DS-CLI-11',
    args: [
      '--hook',
      'tool',
      '--phase',
      'before_execution',
      '--event',
      '{"hook": "tool", "request": {"name": "x"}}',
    ],
    error: { code: 'EVENT_INVALID', message: '--event: unknown key "hook" beside `request`' },
  },
  {
    title: 'a member of the wrong type',
    cites: 'DS-OUT-04',
    args: ['--hook', 'provider', '--phase', 'before_call', '--event', '{"request": {"messages": "hi"}}'],
    error: { code: 'EVENT_INVALID', message: expect.stringContaining('messages must be array') },
  },
  {
    title: 'an event that is no JSON',
    cites: 'DS-CLI-08',
    args: ['--hook', 'eval', '--event', '{"event":'],
    error: { code: 'USAGE', message: expect.stringMatching(/^--event is not JSON: /) },
  },
  {
    title: 'an event that is a number too long for a double',
    cites: 'DS-CLI-08',
    args: ['--hook', 'eval', '--event', long],
    error: { code: 'USAGE', message: '--event is not a JSON object' },
  },
  {
    title: 'an event in a file that is not UTF-8',
    cites: 'DS-CLI-08',
    args: ['--hook', 'eval', '--event', `@${process.execPath}`],
    error: { code: 'USAGE', message: `--event: ${process.execPath} is not UTF-8` },
  },
]);

test.concurrent.for(wrongEvents)('hook fire with $title exits 2', async ({ args, error }, { expect }) => {
  const { code, stdout, stderr } = await run(['hook', 'fire', ...args, '--json'], { cwd: desk });
  expect({ code, document: onlyDocument(stdout), stderr }).toEqual({
    code: 2,
    document: { error: { ...error, hint: expect.any(String) } },
    stderr: '',
  });
});

test.concurrent('where no hook hears of the moment, hook fire says so [DS-CLI-10]', async ({ expect }) => {
  const cwd = workspace(
    `hooks: {pii: {command: ${fixture('crash.sh')}, hook: provider, phases: [before_call]}}\n`,
  );
  const fire = async (hook: string, phase: string, event: string) =>
    await runBothWays(
      ['hook', 'fire', '--hook', hook, '--phase', phase, '--event', event, '--log-level', 'silent'],
      { cwd },
    );
  const unheard = await fire('tool', 'before_execution', '{"request": {"name": "x"}}');
  expect(unheard.people).toEqual({
    code: 0,
    stdout:
      'allow\nasked: nobody; no hook hears tool before_execution\nhint: `signalbox hook list` shows what each one hears.\n',
    stderr: '',
  });
  expect(unheard.programs.document).toMatchObject({ verdict: 'allow', asked: [] });
  // What --json has as a hint, people read too.
  const failed = await fire('provider', 'before_call', '{"request": {"messages": []}}');
  expect(failed.people.stdout).toMatch(/^deny: \[[A-Z_]+\] hook "pii" .*\nasked: pii\n$/);
  expect(failed.people.stderr).toBe('hint: Correct the program: its stderr says why.\n');
});
