import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, messagesOf, rule, runTurn, say, script, tool, work } from './turn.ts';

const echo = '{text: "I was told: ${messages[0].content}"}';
const going = (text: string) => `user: <system-reminder>Stop hook injected this</system-reminder>\n${text}`;

test('context for a session and a prompt joins the first model call [AO-3-01 AO-3-04@oneshot AO-8-06 AO-1-05@oneshot]', async () => {
  const { run, view, read, events } = await runTurn({
    hooks: [
      rule('start', 'SessionStart'),
      rule('ask', 'UserPromptSubmit'),
      '  style: {dialect: agentao, agentao: {event: UserPromptSubmit, prompt: "Answer {userMessage} in markdown."}}',
      rule('end', 'SessionEnd'),
    ].join('\n'),
    responses: [echo],
    scripts: {
      'start.sh': script(`sleep 0.2; ${say({ additionalContext: 'closed today' })}`),
      'ask.sh': script(say({ additionalContext: ['one', 'two'] })),
      'end.sh': script(say({ blockingError: 'too late' })),
    },
  });
  const wrap = (text: string) => `<user-prompt-submit-hook>\n${text}\n</user-prompt-submit-hook>\n`;
  const start = '<system-reminder>\nclosed today\n</system-reminder>\n';
  const prompt = `${start}${wrap('one')}${wrap('two')}${wrap('Answer hello in markdown.')}hello`;
  expect([run.status, view.text]).toEqual(['completed', `I was told: ${prompt}`]);
  expect(read('start.sh')).toMatchObject([{ event: 'SessionStart', source: 'startup' }]);
  const session = read('start.sh')[0].session_id;
  expect(read('ask.sh')).toMatchObject([
    { event: 'UserPromptSubmit', data: { userMessage: 'hello', sessionId: session }, prompt: 'hello' },
  ]);
  const told = () => events.flatMap((event) => (event.type === 'plugin_hook_fired' ? [event.hook_name] : []));
  await expect.poll(told).toEqual(['SessionStart', 'UserPromptSubmit', 'SessionEnd']);
  await expect.poll(() => read('end.sh').length).toBe(1);
});

test.each([
  { answer: { blockingError: 'no' }, marker: '[Blocked by hook] no', reason: 'no' },
  {
    answer: { preventContinuation: true, stopReason: 'enough' },
    marker: '[Hook stopped] enough',
    reason: 'enough',
  },
])(
  'a prompt with the answer $answer calls no model, and the run is denied [AO-8-15@oneshot AO-8-07]',
  async ({ answer, marker, reason }) => {
    const given = {
      responses: ['{text: never}'],
      hooks: [rule('ask', 'UserPromptSubmit'), rule('stop', 'Stop')].join('\n'),
      scripts: { 'ask.sh': script(say(answer)), 'stop.sh': script('') },
    };
    const { runtime, folder, view, read } = await runTurn(given);
    expect(view).toMatchObject({
      status: 'denied',
      text: '',
      rounds: 0,
      hook: 'ask',
      reason,
      metadata: { replacement: marker },
      error: { code: 'DENIED', message: `the turn was ended by hook "ask": ${reason}` },
    });
    expect(read('stop.sh')).toEqual([]);
    const plain = await runtime.run(join(folder, 'plain.pipeline.yaml'), { text: 'hello' });
    expect([plain.status, plain.output]).toEqual(['denied', null]);
  },
);

test('a rule that fails lets the prompt pass and warns; on_failure: deny makes the run denied [AO-7-35@oneshot AO-7-36@oneshot]', async () => {
  const scripts = { 'ask.sh': '#!/bin/sh\nexit 1\n' };
  const responses = [echo];
  const open = await runTurn({ hooks: rule('ask', 'UserPromptSubmit'), responses, scripts });
  const strict = rule('ask', 'UserPromptSubmit', ', on_failure: deny');
  const closed = await runTurn({ hooks: strict, responses, scripts });
  expect([open.view.text, closed.view.status, closed.view.rounds]).toEqual([
    'I was told: hello',
    'denied',
    0,
  ]);
  expect(open.warnings()).toContainEqual(expect.stringContaining('agentao.exit_nonzero'));
});

test('a forced turn keeps its answer, continues with a reminder, and informs the rule [AO-8-09 AO-8-10 AO-8-16@oneshot AO-5-04@oneshot]', async () => {
  const { view, read, events } = await runTurn({
    hooks: rule('stop', 'Stop'),
    responses: ['{text: half}', '{text: whole}'],
    scripts: {
      'stop.sh': `#!/usr/bin/env python3
import json, sys

event = json.load(sys.stdin)
with open(sys.argv[0] + ".log", "a") as log:
    print(json.dumps(event), file=log)
if event["last_assistant_message"] == "half":
    print(json.dumps({"force_continue": True, "follow_up_message": "go on"}))
else:
    print(json.dumps({"additionalContext": "checked"}))
`,
    },
  });
  const end = 'whole\n<stop-hook>\nchecked\n</stop-hook>';
  expect([view.text, messagesOf(view)]).toEqual([
    end,
    ['user: hello', 'assistant: half', going('go on'), `assistant: ${end}`],
  ]);
  const flat = { hook_event_name: 'Stop', turn_end_reason: 'final_response', at_max_iter: false };
  expect(read('stop.sh')).toMatchObject([
    { ...flat, last_assistant_message: 'half', stop_hook_active: false },
    { ...flat, last_assistant_message: 'whole', stop_hook_active: true },
  ]);
  const fired = events.flatMap((event) => (event.type === 'plugin_hook_fired' ? [event.data] : []));
  expect(fired).toMatchObject([
    { outcome: 'continue', effect: 'continue' },
    { outcome: 'allow', effect: 'modify' },
  ]);
});

test('a rule that always forces is overridden after three times, and the answer stays [AO-8-11]', async () => {
  const { view, warnings, events } = await runTurn({
    hooks: rule('stop', 'Stop'),
    responses: [1, 2, 3, 4].map((each) => `{text: answer ${each}}`),
    scripts: { 'stop.sh': '#!/bin/sh\necho "not yet" >&2\nexit 2\n' },
  });
  expect([view.status, view.text, view.rounds]).toEqual(['ok', 'answer 4', 4]);
  expect(warnings()).toContainEqual(
    'it continued the turn 3 times, which is `agentao.stop_reentry_cap`: the answer is final',
  );
  const outcomes = events.flatMap((event) =>
    event.type === 'plugin_hook_fired' ? [event.data['outcome']] : [],
  );
  expect(outcomes).toEqual(['continue', 'continue', 'continue', 'reentry_capped']);
});

test('a forced turn at the round limit makes exactly one more round, whose answer passes the rules again [AO-8-12@oneshot AO-3-07 AO-5-05]', async () => {
  const { view, read, events } = await runTurn({
    hooks: rule('stop', 'Stop'),
    responses: [calls, '{text: summary}'],
    chat: 'tools: [work]\nmax_rounds: 1',
    spec: tool,
    scripts: {
      ...work,
      'stop.sh': script(
        `tail -n 1 "$0.log" | grep -q '"at_max_iter": true' && ${say({ forceContinue: true, followUpMessage: 'sum up' })}`,
      ),
    },
  });
  expect([view.status, view.text, view.rounds]).toEqual(['ok', 'summary', 2]);
  expect(messagesOf(view).slice(-2)).toEqual([going('sum up'), 'assistant: summary']);
  expect(read('stop.sh')).toMatchObject([
    { turn_end_reason: 'max_iterations', at_max_iter: true, stop_hook_active: false },
    { turn_end_reason: 'final_response', at_max_iter: false, stop_hook_active: true },
  ]);
  const outcomes = events.flatMap((event) =>
    event.type === 'plugin_hook_fired' ? [event.data['outcome']] : [],
  );
  expect(outcomes[0]).toBe('continue_at_max_iter');
});

test('an endless forced turn has one more round, and no second one [AO-8-12@oneshot AO-8-18]', async () => {
  const hooks = rule('stop', 'Stop');
  const scripts = { ...work, 'stop.sh': '#!/bin/sh\necho "more" >&2\nexit 2\n' };
  const given = { hooks, scripts, spec: tool };
  const busy = await runTurn({ ...given, responses: [calls], chat: 'tools: [work]\nmax_rounds: 2' });
  expect([busy.view.status, busy.view.error.code, busy.view.rounds]).toEqual([
    'failed',
    'ROUNDS_EXHAUSTED',
    3,
  ]);
  const calm = await runTurn({
    ...given,
    responses: ['{text: answer 1}', '{text: answer 2}'],
    chat: 'max_rounds: 1',
  });
  expect([calm.view.status, calm.view.text, calm.view.rounds]).toEqual(['ok', 'answer 2', 2]);
  const dropped = 'it would continue the turn, but no round is left: the answer is final';
  expect([busy.warnings().includes(dropped), calm.warnings()]).toEqual([false, [dropped]]);
  const outcomes = calm.events.flatMap((event) =>
    event.type === 'plugin_hook_fired' ? [event.data['outcome']] : [],
  );
  expect(outcomes).toEqual(['continue', 'reentry_capped']);
});

test('forced and dropped texts of one attempt do not affect the next one [AO-8-18]', async () => {
  const { view, warnings } = await runTurn({
    hooks: rule('stop', 'Stop'),
    responses: ['{text: bad 1}', '{text: bad 2}', '{text: good 1}', '{text: good 2}'],
    chat: 'max_rounds: 1\nguardrails: [{eval: judge}]\nretries: 1',
    spec: 'evals:\n  judge: {command: ./judge.sh}',
    scripts: {
      'stop.sh': '#!/bin/sh\necho "more" >&2\nexit 2\n',
      'judge.sh':
        '#!/bin/sh\ngrep -q \'"content":"good\' && echo \'{"score": 1}\' || echo \'{"score": 0}\'\n',
    },
  });
  expect([view.text, view.rounds, warnings().length]).toEqual(['good 2', 4, 2]);
});

const stopped = [
  { title: 'a blocking error', body: say({ blockingError: 'it has a key' }), why: 'it has a key', more: '' },
  {
    title: 'a failure with on_failure: deny',
    body: 'exit 1',
    why: 'hook "stop" exited with code 1',
    more: ', on_failure: deny',
  },
];

test.each(stopped)(
  '$title at Stop withholds the answer [AO-8-14 AO-7-26@oneshot AO-7-36@oneshot]',
  async ({ body, why, more }) => {
    const { run, view, events } = await runTurn({
      hooks: rule('stop', 'Stop', more),
      responses: ['{text: the key is swordfish}'],
      scripts: { 'stop.sh': `#!/bin/sh\n${body}\n` },
    });
    expect(view).toMatchObject({ status: 'denied', text: '', hook: 'stop', reason: why });
    expect(JSON.stringify([run, events])).not.toContain('swordfish');
  },
);

test.each(['hold', 'windowed'])(
  'nothing of a stream (%s) is released before the rules have seen it [AO-8-14]',
  async (stream) => {
    const given = {
      hooks: rule('stop', 'Stop'),
      responses: ['{text: swordfish}'],
      chat: `stream: ${stream}`,
    };
    const stop = (answer: unknown) => ({ 'stop.sh': `#!/bin/sh\n${say(answer)}\n` });
    const denied = await runTurn({ ...given, scripts: stop({ blockingError: 'no' }) });
    const passed = await runTurn({ ...given, scripts: stop({ additionalContext: 'fine' }) });
    const texts = [denied, passed].map(({ events }) =>
      events.flatMap((event) => (event.type === 'text' ? [event.text] : [])),
    );
    expect(texts).toEqual([[], ['swordfish\n<stop-hook>\nfine\n</stop-hook>']]);
  },
);

test('the marker of a withheld answer replaces it [AO-7-26@oneshot]', async () => {
  const { view } = await runTurn({
    hooks: rule('stop', 'Stop'),
    responses: ['{text: x}'],
    scripts: { 'stop.sh': `#!/bin/sh\n${say({ blockingError: 'no' })}\n` },
  });
  expect(view.metadata.replacement).toBe('[Blocked by Stop hook] no');
});

test('Stop is not fired after an error of the provider, nor at a call of a tool [AO-3-10@oneshot AO-3-07]', async () => {
  const { view, read } = await runTurn({
    hooks: rule('stop', 'Stop'),
    responses: [calls, '{error: {status: 400, message: broken}}'],
    chat: 'tools: [work]',
    spec: tool,
    scripts: { ...work, 'stop.sh': script('') },
  });
  expect([view.status, read('stop.sh')]).toEqual(['failed', []]);
});
