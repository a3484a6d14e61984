import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runJson } from '../../cli/command-line.ts';
import { calls, messagesOf, openAgent, rule, runTurn, say, script, tool, work } from './turn.ts';

const blocked = 'Tool "work" was blocked by hook "guard": not today';
const deny = { 'guard.sh': script(say({ blockingError: 'not today' })) };
const responses = [calls, '{text: end}'];
const chat = 'tools: [work]';

test('a denied call is neither made nor reported as made, and the model reads why [AO-3-09@oneshot AO-8-08 AO-9-04]', async () => {
  const { view, read, events } = await runTurn({
    hooks: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure']
      .map((event, index) => rule(['guard', 'after', 'failure'][index] ?? '', event))
      .join('\n'),
    scripts: { ...work, ...deny, 'after.sh': script(''), 'failure.sh': script('') },
    responses,
    chat,
    spec: tool,
  });
  expect(messagesOf(view)).toEqual(['user: hello', 'assistant: ', `tool: ${blocked}`, 'assistant: end']);
  expect(view.tool_calls).toMatchObject([{ name: 'work', status: 'denied', result: blocked }]);
  expect(['work.sh', 'after.sh', 'failure.sh'].map(read)).toEqual([[], [], []]);
  expect(read('guard.sh')).toMatchObject([
    {
      event: 'PreToolUse',
      data: { toolName: 'work', toolInput: { text: 'x' } },
      hook_event_name: 'PreToolUse',
      tool_name: 'work',
      tool_input: { text: 'x' },
    },
  ]);
  expect(events.flatMap((event) => (event.type === 'plugin_hook_fired' ? [event] : []))).toEqual([
    {
      type: 'plugin_hook_fired',
      hook_name: 'PreToolUse',
      data: {
        outcome: 'block',
        matched_rule_count: 1,
        tool: 'work',
        added_context_count: 0,
        effect: 'deny',
      },
    },
  ]);
});

test('a call that another hook has denied is not reported before it runs [AO-3-08@oneshot]', async () => {
  const { runtime, read } = await openAgent({
    hooks: `  first: {hook: tool, phases: [before_execution], command: ./first.sh}\n${rule('guard', 'PreToolUse')}`,
    scripts: { ...work, ...deny, 'first.sh': '#!/bin/sh\necho \'{"allow": false, "reason": "closed"}\'\n' },
    spec: tool,
  });
  expect(await runtime.tools.call('work', {})).toMatchObject({ status: 'denied', hook: 'first' });
  expect(read('guard.sh')).toEqual([]);
});

test('all rules of an event run in order at the first one’s place, with the same input [AO-6-04 AO-6-05@oneshot]', async () => {
  const change = (text: string) => script(say({ hookSpecificOutput: { updatedInput: { text } } }));
  const { runtime, read, verdicts } = await openAgent({
    hooks: [
      rule('one', 'PreToolUse'),
      '  native: {hook: tool, phases: [before_execution], command: ./native.sh}',
      rule('two', 'PreToolUse'),
      '  copy: {dialect: agentao, command: ./two.sh, agentao: {event: PreToolUse}}',
    ].join('\n'),
    scripts: {
      ...work,
      'one.sh': change('of one'),
      'two.sh': change('of two'),
      'native.sh': script(say({ allow: true })),
    },
    spec: tool,
  });
  expect(await runtime.tools.call('work', { text: 'x' })).toMatchObject({ status: 'ok' });
  expect(verdicts()).toEqual([
    'one PreToolUse modify',
    'two PreToolUse modify',
    'copy PreToolUse modify',
    'native before_execution allow',
  ]);
  const inputs = [...read('one.sh'), ...read('two.sh')].map(({ data }) => data.toolInput);
  expect(inputs).toEqual([{ text: 'x' }, { text: 'x' }, { text: 'x' }]);
  expect(read('native.sh')[0].request.args).toEqual({ text: 'of two' });
  expect(read('work.sh')[0].args).toEqual({ text: 'of two' });
});

test('an ask leaves the call pending until a person consents [AO-8-17@oneshot AO-7-10@oneshot]', async () => {
  const answer = { hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'sure?' } };
  const { runtime, run, read } = await runTurn({
    hooks: rule('guard', 'PreToolUse'),
    scripts: { ...work, 'guard.sh': script(say(answer)) },
    responses,
    chat,
    spec: tool,
  });
  const message = 'Hook "guard" asks whether tool "work" may run.';
  expect([run.status, run.pending]).toMatchObject(['pending', [{ reason: 'sure?', message }]]);
  expect(read('work.sh')).toEqual([]);
  await runtime.pending.approve(run.pending[0]?.id ?? '', { by: 'ann' });
  const done = await runtime.runs.resume(run.run_id);
  expect([done.status, read('work.sh').length]).toEqual(['completed', 1]);
  const single = await runtime.tools.call('work', {});
  expect(single).toMatchObject({ status: 'pending', pending: { reason: 'sure?', message } });
});

test('new arguments reach the tool, and texts accompany the result [AO-7-13@oneshot AO-7-14@oneshot AO-7-31@oneshot]', async () => {
  const before = {
    hookSpecificOutput: { updatedInput: { text: 'y' }, additionalContext: 'seen' },
    additionalContext: ['twice'],
  };
  const { view, read } = await runTurn({
    hooks: `${rule('guard', 'PreToolUse')}\n${rule('after', 'PostToolUse')}`,
    scripts: {
      ...work,
      'guard.sh': script(say(before)),
      'after.sh': script(say({ additionalContext: 'was quick' })),
    },
    responses,
    chat,
    spec: tool,
  });
  const [seen, twice, quick] = ['seen', 'twice', 'was quick'].map(
    (text) => `<system-reminder>\n${text}\n</system-reminder>`,
  );
  expect(view.tool_calls[0].result).toBe(`done\n${seen}\n${twice}\n${quick}`);
  expect(read('work.sh')[0].args).toEqual({ text: 'y' });
  expect(read('after.sh')).toMatchObject([
    {
      event: 'PostToolUse',
      data: { toolInput: { text: 'y' }, toolOutput: 'done' },
      tool_response: 'done',
    },
  ]);
});

test('continue: false before a call ends the turn without an answer [AO-7-13@oneshot]', async () => {
  const { view, read } = await runTurn({
    hooks: `${rule('guard', 'PreToolUse')}\n${rule('stop', 'Stop')}`,
    scripts: {
      ...work,
      'guard.sh': script(say({ continue: false, stopReason: 'in circles' })),
      'stop.sh': script(''),
    },
    responses,
    chat,
    spec: tool,
  });
  expect(view).toMatchObject({ status: 'denied', text: '', rounds: 1, hook: 'guard', reason: 'in circles' });
  expect([read('work.sh'), read('stop.sh')]).toEqual([[], []]);
});

test('a result with a blocking error is withheld; one that failed ends the turn [AO-7-32@oneshot AO-3-06]', async () => {
  const given = {
    hooks: `${rule('after', 'PostToolUse')}\n${rule('failure', 'PostToolUseFailure')}`,
    responses,
    chat,
    spec: tool,
  };
  const after = { 'after.sh': script(say({ blockingError: 'it has a key' })) };
  const failure = { 'failure.sh': script(say({ blockingError: 'broken for good' })) };
  const good = await runTurn({ ...given, scripts: { ...work, ...after, ...failure } });
  expect(good.view.tool_calls).toMatchObject([
    { status: 'denied', result: 'Tool "work" was blocked by hook "after": it has a key' },
  ]);
  expect([JSON.stringify(good.run).includes('done'), good.read('failure.sh')]).toEqual([false, []]);
  const failing = { 'work.sh': '#!/bin/sh\necho "no disk" >&2\nexit 1\n' };
  const bad = await runTurn({ ...given, scripts: { ...failing, ...after, ...failure } });
  expect(bad.view).toMatchObject({ status: 'denied', hook: 'failure', reason: 'broken for good' });
  expect(bad.read('after.sh')).toEqual([]);
  expect(bad.read('failure.sh')).toMatchObject([{ event: 'PostToolUseFailure', tool_name: 'work' }]);
});

test('a crashing guard lets the call pass with a report; on_failure: deny closes it [AO-7-35@oneshot AO-7-36@oneshot]', async () => {
  const scripts = { ...work, 'guard.sh': '#!/bin/sh\nexit 2\n' };
  const open = await openAgent({ hooks: rule('guard', 'PreToolUse'), scripts, spec: tool });
  const closed = await openAgent({
    hooks: rule('guard', 'PreToolUse', ', on_failure: deny'),
    scripts,
    spec: tool,
  });
  expect(await open.runtime.tools.call('work', {})).toMatchObject({
    status: 'ok',
    result: 'done',
    metadata: { failed_open: { hook: 'guard', cause: 'agentao.exit_nonzero' } },
  });
  expect(open.warnings()).toContainEqual(
    'it exited with code 2, and the event passes by the rule agentao.exit_nonzero; `on_failure: deny` would stop it',
  );
  expect(await closed.runtime.tools.call('work', {})).toMatchObject({
    status: 'denied',
    hook: 'guard',
    metadata: { failed_closed: { hook: 'guard', cause: 'agentao.exit_nonzero' } },
  });
});

test('a rule guards the library, the command line and a pipeline’s own calls [AO-3-13@oneshot]', async () => {
  const { runtime, folder, read } = await openAgent({
    hooks: rule('guard', 'PreToolUse'),
    scripts: {
      ...work,
      ...deny,
      'call.pipeline.yaml': `apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: call}
spec:
  runtime: ./runtime.yaml
  steps: [{id: work, tool: work, args: {}}]
`,
    },
    spec: tool,
  });
  const said = { status: 'denied', hook: 'guard', reason: 'not today' };
  const config = join(folder, 'runtime.yaml');
  // Sequentially, because all calls write to one log.
  const library = await runtime.tools.call('work', {});
  const line = await runJson(['tool', 'call', 'work', '--args', '{}', '--config', config]);
  const pipeline = await runtime.run(join(folder, 'call.pipeline.yaml'), {});
  expect([library, line, pipeline]).toMatchObject([said, { code: 1, document: said }, { status: 'denied' }]);
  expect([read('guard.sh').length, read('work.sh')]).toEqual([3, []]);
});

test('a rule may call a tool by either name of its alias, and reads Claude’s [AO-4-03 AO-4-10 AO-5-02@oneshot AO-5-08 AO-9-04]', async () => {
  const { runtime, read, events } = await openAgent({
    hooks: [
      ...['run_shell_*', 'Bash', 'work', '^(Bash|Write)$', 'Edit'].map(
        (name, index) =>
          `  rule-${index}: {dialect: agentao, command: ./seen.sh ${index}, agentao: {event: PreToolUse, matcher: {tool_name: ${JSON.stringify(name)}}}}`,
      ),
    ].join('\n'),
    scripts: { ...work, 'seen.sh': script('echo "$1" >> seen') },
    spec: tool.replace('description:', 'aliases: [run_shell_command], description:'),
  });
  await runtime.tools.call('work', { command: 'ls' });
  const common = {
    transcript_path: expect.stringMatching(/transcript\.jsonl$/),
    permission_mode: 'workspace-write',
  };
  const call = { data: { toolName: 'Bash', toolInput: { command: 'ls' } }, tool_name: 'Bash' };
  expect(read('seen.sh')).toMatchObject([0, 1, 2, 3].map(() => ({ ...common, ...call })));
  const fired = events.flatMap((event) => (event.type === 'plugin_hook_fired' ? [event.data] : []));
  expect(fired).toMatchObject([{ tool: 'run_shell_command', matched_rule_count: 4 }]);
});

test('a person is asked about the arguments as the rules changed them [AO-8-17@oneshot AO-7-13@oneshot]', async () => {
  const answer = { hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { text: 'y' } } };
  const { runtime, run, read } = await runTurn({
    hooks: rule('guard', 'PreToolUse'),
    scripts: { ...work, 'guard.sh': script(say(answer)) },
    responses,
    chat,
    spec: tool,
  });
  const [waiting] = await runtime.pending.list();
  expect(waiting).toMatchObject({ args: { text: 'y' } });
  await runtime.pending.approve(waiting?.id ?? '', { by: 'ann' });
  expect((await runtime.runs.resume(run.run_id)).status).toBe('completed');
  expect(read('work.sh').map(({ args }) => args)).toEqual([{ text: 'y' }]);
});

test('a deny takes precedence over an ask and ends the round, which is still counted [AO-7-17 AO-9-02]', async () => {
  const permission = (decision: string) =>
    script(say({ hookSpecificOutput: { permissionDecision: decision, reason: decision } }));
  const { runtime, verdicts, events } = await openAgent({
    hooks: ['one', 'two', 'three'].map((name) => rule(name, 'PreToolUse')).join('\n'),
    scripts: {
      ...work,
      'one.sh': permission('ask'),
      'two.sh': permission('deny'),
      'three.sh': permission('allow'),
    },
    spec: tool,
  });
  expect(await runtime.tools.call('work', {})).toMatchObject({ status: 'denied', hook: 'two' });
  expect(verdicts()).toEqual(['one PreToolUse ask', 'two PreToolUse deny']);
  const fired = events.flatMap((event) => (event.type === 'plugin_hook_fired' ? [event.data] : []));
  expect(fired).toMatchObject([{ outcome: 'block', effect: 'deny', matched_rule_count: 3 }]);
});

test('a tool that does not exist reaches no rule, and a hook’s answer in its place does [AO-3-12]', async () => {
  const gate = `#!/usr/bin/env node
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answers = params?.tool === 'answered' ? { action: 'respond', result: { for_llm: 'made up' } } : { action: 'continue' };
  if (id) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'hook.hello' ? { ok: true } : answers }));
});
`;
  const { view, read } = await runTurn({
    hooks: [
      rule('before', 'PreToolUse'),
      rule('after', 'PostToolUse'),
      rule('failed', 'PostToolUseFailure'),
      '  gate: {dialect: picoclaw, command: ./gate, picoclaw: {intercept: [before_tool]}}',
    ].join('\n'),
    responses: [
      '{when: round == 1, tool_calls: [{name: gone, args: {}}, {name: answered, args: {}}]}',
      '{text: done}',
    ],
    scripts: {
      gate,
      'before.sh': script('true'),
      'after.sh': script('true'),
      'failed.sh': script('true'),
    },
  });
  const told = ['before.sh', 'after.sh', 'failed.sh'].map((name) =>
    read(name).map(({ data }) => [data.toolName, data.toolOutput]),
  );
  expect([view.status, told]).toEqual(['ok', [[], [['answered', 'made up']], []]]);
});
