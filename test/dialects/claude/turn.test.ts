import { expect, test } from 'vitest';
import { callRun, keep, openAgent, output, reminder, spoken } from './agent.ts';
import { command, on, specific } from './scripts.ts';

test('every event of a chat reaches its hooks, and their answers take effect [CC-5-02 CC-5-05 CC-4-03 CC-4-05 CC-4-07@oneshot CC-8-06 CC-8-07]', async () => {
  const checkTests = `#!/bin/bash
INPUT=$(cat)
echo "$INPUT" >> stop.jsonl
TRANSCRIPT=$(echo "$INPUT" | sed 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/')
if [[ "$INPUT" == *'"stop_hook_active":true'* ]]; then
  exit 0
fi
if grep '"role":"assistant"' "$TRANSCRIPT" | tail -1 | grep -q 'all done'; then
  cp "$TRANSCRIPT" transcript.jsonl
  echo "run the tests first" >&2
  exit 2
fi
`;
  const agent = await openAgent(
    {
      SessionStart: [
        on('startup', `${keep('start.jsonl')}; echo 'Branch: main'; echo "$CLAUDE_ENV_FILE" > env.txt`),
      ],
      UserPromptSubmit: [on(undefined, `${keep('prompt.jsonl')}; echo "It is noon"`)],
      PreToolUse: [
        on(
          'Bash',
          `${keep('before.jsonl')}; ${specific('PreToolUse', { additionalContext: 'mind the cwd', updatedInput: { command: 'ls -l' } })}`,
        ),
      ],
      PostToolUse: [on('Bash', `${keep('after.jsonl')}; echo "lint: 1 error" >&2; exit 2`)],
      PostToolBatch: [
        on(
          undefined,
          `${keep('batch.jsonl')}; ${specific('PostToolBatch', { additionalContext: 'one call' })}`,
        ),
      ],
      Stop: [on(undefined, '.claude/check-tests.sh')],
      SessionEnd: [
        on('other', `T=$(sed 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/'); grep -c . "$T" > ended.txt`),
      ],
    },
    {
      responses: [callRun(1), '{when: round == 2, text: "all done"}', '{text: "tests pass"}'],
      files: { '.claude/check-tests.sh': checkTests },
    },
  );
  const run = await agent.run();
  await agent.runtime.close();
  const result = '{"stdout": "1.10", "n": 12345678901234567890}';
  const toolResult = [result, ...['mind the cwd', 'lint: 1 error', 'one call'].map(reminder)].join('\n');
  expect(run.status).toBe('completed');
  expect(spoken(run)).toEqual([
    `user: ${[reminder('Branch: main'), reminder('It is noon'), 'hello'].join('\n')}`,
    'assistant: ',
    `tool: ${toolResult}`,
    'assistant: all done',
    'user: run the tests first',
    'assistant: tests pass',
  ]);
  const common = { permission_mode: 'default', cwd: agent.folder, session_id: run.run_id };
  const call = { tool_name: 'Bash', tool_use_id: expect.stringMatching(/./) };
  expect(agent.payloads('start.jsonl')).toMatchObject([
    { ...common, hook_event_name: 'SessionStart', source: 'startup' },
  ]);
  expect(agent.payloads('prompt.jsonl')).toMatchObject([{ ...common, prompt: 'hello' }]);
  expect(agent.payloads('before.jsonl')).toMatchObject([
    { ...common, ...call, tool_input: { command: 'ls' } },
  ]);
  expect(agent.payloads('after.jsonl')).toMatchObject([
    {
      ...common,
      ...call,
      tool_input: { command: 'ls -l' },
      tool_response: { stdout: '1.10' },
      duration_ms: expect.any(Number),
    },
  ]);
  expect(agent.read('after.jsonl')).toContain(`"tool_response":${result}`);
  expect(agent.payloads('batch.jsonl')).toMatchObject([
    {
      tool_calls: [
        { ...call, tool_input: { command: 'ls' }, tool_response: expect.stringContaining('lint: 1 error') },
      ],
    },
  ]);
  expect(agent.payloads('stop.jsonl')).toMatchObject([
    { stop_hook_active: false, last_assistant_message: 'all done', background_tasks: [], session_crons: [] },
    { stop_hook_active: true, last_assistant_message: 'tests pass' },
  ]);
  expect(agent.payloads('transcript.jsonl')).toMatchObject([
    {
      type: 'user',
      message: { role: 'user', content: [{ type: 'text', text: expect.stringMatching(/hello$/) }] },
    },
    { type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', name: 'Bash' }] } },
    { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: toolResult }] } },
    { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'all done' }] } },
  ]);
  // The transcript is complete when the session ends.
  expect(agent.read('ended.txt').trim()).toBe('6');
  expect(JSON.parse(agent.read('asked.json')).args).toEqual({ command: 'ls -l' });
  expect(agent.verdicts()).toEqual([
    'SessionStart-1 SessionStart allow',
    'UserPromptSubmit-1 UserPromptSubmit allow',
    'PreToolUse-1 PreToolUse modify',
    'PostToolUse-1 PostToolUse allow',
    'PostToolBatch-1 PostToolBatch allow',
    'Stop-1 Stop modify',
    'Stop-1 Stop allow',
    'SessionEnd-1 SessionEnd allow',
  ]);
});

const halt = `echo '{"continue": false, "stopReason": "enough"}'`;
const block = `echo '{"decision": "block", "reason": "no"}'`;

const moments = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolBatch', 'Stop'];

test.each([
  { event: 'SessionStart', line: halt, reason: 'enough', verdict: 'abort' },
  { event: 'UserPromptSubmit', line: block, reason: 'no', verdict: 'deny' },
  { event: 'UserPromptSubmit', line: halt, reason: 'enough', verdict: 'abort' },
  { event: 'PreToolUse', line: halt, reason: 'enough', verdict: 'abort' },
  { event: 'PostToolUse', line: halt, reason: 'enough', verdict: 'abort' },
  { event: 'PostToolBatch', line: block, reason: 'no', verdict: 'abort' },
  { event: 'PostToolBatch', line: 'echo no >&2; exit 2', reason: 'no', verdict: 'abort' },
  { event: 'Stop', line: halt, reason: 'enough', verdict: 'abort' },
])('$line at $event ends the turn [CC-7-01 CC-5-02]', async ({ event, line, reason, verdict }) => {
  const others = Object.fromEntries(moments.map((moment) => [moment, [on(undefined, 'exec true')]]));
  const agent = await openAgent(
    { ...others, [event]: [on(undefined, line)] },
    { responses: [callRun(1), '{text: done}'] },
  );
  const { status, error } = await agent.run();
  expect([status, error?.message]).toEqual([
    'denied',
    expect.stringContaining(`hook "${event}-1": ${reason}`),
  ]);
  const before = moments.slice(0, moments.indexOf(event));
  expect(agent.verdicts()).toEqual([
    ...before.map((moment) => `${moment}-1 ${moment} allow`),
    `${event}-1 ${event} ${verdict}`,
  ]);
});

test('a Stop hook that always forces is overridden at its cap, with a warning [CC-8-02 CC-8-07]', async () => {
  const again = '{repeat: true, text: "answer ${size(messages)}"}';
  const entry = (cap: string) =>
    `hooks:\n  loop: {dialect: claude, command: "echo more >&2; exit 2", claude: {event: Stop${cap}}}\n`;
  const capped = await openAgent({}, { responses: [again], spec: entry(', stop_cap: 2') });
  const usual = await openAgent({}, { responses: [again], spec: entry(''), chat: 'max_rounds: 50' });
  const free = await openAgent(
    {},
    { responses: [again], spec: entry(', stop_cap: 0'), chat: 'max_rounds: 12' },
  );
  const texts = async (agent: typeof capped) => {
    const run = await agent.run();
    return [run.status, output(run).text];
  };
  expect(await texts(capped)).toEqual(['completed', 'answer 5']);
  expect(capped.warnings()).toContainEqual(expect.stringContaining('is not continued again'));
  expect(await texts(usual)).toEqual(['completed', 'answer 17']);
  // Then only the limit of the loop applies.
  expect(await texts(free)).toEqual(['completed', 'answer 23']);
  expect(free.warnings()).toContainEqual(expect.stringContaining('has no round left'));
});

test('rewritten arguments that do not fit the tool deny the call [CC-7-18]', async () => {
  const agent = await openAgent(
    { PreToolUse: [on('Bash', specific('PreToolUse', { updatedInput: { command: 1 } }))] },
    { responses: [callRun(1), '{text: done}'] },
  );
  const [call] = output(await agent.run()).calls;
  expect([call.status, call.result]).toEqual(['denied', expect.stringContaining('the hook failed')]);
});

test('a refused call keeps the contexts of all handlers beside its reason [CC-7-09]', async () => {
  const agent = await openAgent(
    {
      PreToolUse: [
        on('Bash', 'echo no >&2; exit 2'),
        on('Bash', specific('PreToolUse', { additionalContext: 'use the API' })),
      ],
    },
    { responses: [callRun(1), '{text: done}'] },
  );
  const said = spoken(await agent.run());
  expect(said[2]).toBe(`tool: Tool "run" was blocked by hook "PreToolUse-1": no\n${reminder('use the API')}`);
});

test('an async handler’s text joins a later model call, and decides nothing [CC-3-15 CC-5-05]', async () => {
  const agent = await openAgent(
    {
      PreToolUse: [
        { hooks: [command(`echo '{"decision": "block", "reason": "late"}'; exit 2`, { async: true })] },
      ],
      PostToolUse: [
        {
          hooks: [
            command(`${specific('PostToolUse', { additionalContext: 'deployed' })}; touch said`, {
              async: true,
            }),
            // The next model call follows.
            command('until test -e said; do sleep 0.05; done; sleep 0.3'),
          ],
        },
      ],
    },
    { responses: [callRun(1), '{text: done}'] },
  );
  const run = await agent.run();
  expect(output(run).calls[0].status).toBe('ok');
  expect(spoken(run).slice(3)).toEqual([`user: ${reminder('deployed')}`, 'assistant: done']);
});

test('a provider’s error that ends the run reaches StopFailure by its kind [CC-5-02]', async () => {
  const agent = await openAgent(
    {
      StopFailure: [on('rate_limit', keep('failed.jsonl')), on('server_error', 'touch server')],
      Stop: [on(undefined, 'touch stopped')],
    },
    {
      responses: ['{error: {status: 429, message: "slow down"}, repeat: true}'],
    },
  );
  const run = await agent.run();
  await agent.runtime.close();
  expect(run.status).toBe('suspended');
  expect(agent.payloads('failed.jsonl')).toMatchObject([
    {
      hook_event_name: 'StopFailure',
      error: 'rate_limit',
      error_details: expect.stringContaining('slow down'),
    },
  ]);
});

test('all handlers of the dialect are one step at the first one’s place, and the last rewrite wins [CC-3-14 CC-7-10]', async () => {
  const rewrite = (text: string) => specific('PreToolUse', { updatedInput: { command: text } });
  const entry = (name: string) =>
    `  ${name}: {dialect: claude, command: ./${name}.sh, claude: {event: PreToolUse}}\n`;
  const script = (text: string) => `#!/bin/sh\ncat > ${text}.json\n${rewrite(text)}\n`;
  const agent = await openAgent(
    {},
    {
      responses: [callRun(1), '{text: done}'],
      spec: `hooks:\n${entry('one')}  native: {hook: tool, phases: [before_execution], command: ./native.sh}\n${entry('two')}`,
      files: {
        'one.sh': script('one'),
        'two.sh': script('two'),
        'native.sh': '#!/bin/sh\ncat > native.json\necho \'{"allow": true}\'\n',
      },
    },
  );
  await agent.run();
  const seen = ['one', 'two', 'native'].map((name) => JSON.parse(agent.read(`${name}.json`)));
  expect([seen[0].tool_input, seen[1].tool_input, seen[2].request.args]).toEqual([
    { command: 'ls' },
    { command: 'ls' },
    { command: 'two' },
  ]);
});
