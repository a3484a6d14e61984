import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { points } from '../../../src/dialects/chibi/points.ts';
import { titled } from '../../cite.ts';
import { newProject } from '../project.ts';
import { logPlugin, pythonPlugin, schemaOf, shPlugin } from './plugins.ts';
import { project, runTurn, saying } from './turns.ts';

const all = Object.keys(points);
const isTold = (point: string) =>
  Object.entries(points).some(([name, { isFilter }]) => name === point && !isFilter);

test('the points of a turn fire in chibi’s order, results in the order of the calls [CH-9-01@oneshot CH-9-03@oneshot CH-9-05@oneshot CH-7-37@oneshot CH-2-19@oneshot]', async () => {
  const files = project(
    {
      log: logPlugin('log', all),
      slow: shPlugin(schemaOf('slow', []), 'cat > /dev/null; sleep 0.2; printf slow'),
      alone: shPlugin(
        schemaOf('alone', [], { parallel: false }),
        'cat > /dev/null; printf "%s" "$(grep -c "^post_tool_output" "$CHIBI_PROJECT_ROOT/log")"',
      ),
    },
    {
      responses: [
        '{text: "", tool_calls: [{name: alone, args: {}}, {name: slow, args: {}}, {name: shell, args: {command: ls}}], when: "round == 1"}',
        '{text: done}',
      ],
      tools: ['alone', 'slow'],
    },
  );
  const { run, folder, verdicts, close } = await runTurn(files);
  expect(run).toMatchObject({ status: 'completed', output: { text: 'done' } });
  const log = await close();
  const asked = verdicts()
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => !isTold(point));
  expect(asked.slice(0, 6)).toEqual([
    ...['pre_message', 'pre_system_prompt', 'post_system_prompt'],
    ...['pre_api_tools', 'pre_api_request', 'pre_agentic_loop'],
  ]);
  // An approved call passes all filters again.
  expect(asked.slice(6, -1).toSorted()).toEqual([
    ...['pre_shell_exec', 'pre_shell_exec', 'pre_tool', 'pre_tool', 'pre_tool', 'pre_tool'],
    ...['pre_tool_output', 'pre_tool_output', 'pre_tool_output'],
  ]);
  expect(asked.at(-1)).toBe('post_tool_batch');
  const told = log.filter(({ point }) => isTold(point));
  expect(told.map(({ point, payload }) => `${point} ${payload.tool_name ?? ''}`.trim())).toEqual([
    'on_start',
    ...['post_tool_output slow', 'post_tool_output shell', 'post_tool_output alone'],
    ...['post_tool alone', 'post_tool slow', 'post_tool shell'],
    'post_message',
    'on_end',
  ]);
  expect(told[0]?.payload).toEqual({ chibi_home: folder, project_root: folder, tool_count: 4 });
});

const callShell = '{text: "", tool_calls: [{name: shell, args: {command: ls}}], when: "round == 1"}';

test('plugins can change messages, system prompt, tools, options, arguments and results [CH-7-12@oneshot CH-1-01@oneshot CH-1-03@oneshot]', async () => {
  const body = pythonPlugin(
    schemaOf('body', ['pre_api_request']),
    `
body = data["request_body"]
body["messages"][-1]["content"] += " [" + body["model"] + "]"
print(json.dumps({"request_body": {"messages": body["messages"], "temperature": 0.25}}))`,
  );
  const files = project(
    {
      body,
      hidden: shPlugin(schemaOf('hidden', []), 'cat'),
      says: saying('says', {
        pre_message: { prompt: 'changed' },
        pre_system_prompt: { inject: 'First.' },
        post_system_prompt: { inject: 'Last.' },
        pre_api_tools: { exclude: ['hidden', 'says'] },
        pre_tool: { arguments: { command: 'pwd' } },
        pre_tool_output: { output: 'FILES' },
      }),
    },
    {
      responses: [
        '{text: "", tool_calls: [{name: shell, args: {command: ls}}, {name: hidden, args: {}}], when: "round == 1"}',
        '{text: "${system} | ${messages[0].content} | ${tools[0]} ${size(tools)}"}',
      ],
      tools: ['hidden', 'says'],
    },
  );
  const record = join(newProject({}), 'record');
  const { run, folder, events } = await runTurn(files, { record });
  expect(readFileSync(record, 'utf8')).toContain('"temperature":0.25');
  expect(run).toMatchObject({
    status: 'completed',
    output: {
      text: 'First.\n\nBase.\n\nLast. | changed [m] | shell 1',
      calls: [
        { name: 'shell', status: 'ok', result: 'FILES' },
        { name: 'hidden', status: 'failed' },
      ],
    },
  });
  expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe('{"command":"pwd"}');
  expect(events.filter(({ type }) => type === 'note')).not.toContainEqual(
    expect.objectContaining({ name: 'says', level: 'warn' }),
  );
});

const fails = { status: 'denied', error: { code: 'DENIED' } };
const blocked = (hook: string, reason: string) => `Tool "shell" was blocked by hook "${hook}": ${reason}`;
const refused = (hook: string, reason: string) => ({
  status: 'completed',
  output: { text: 'done', calls: [{ status: 'denied', result: blocked(hook, reason) }] },
});
const turns = [
  {
    title: 'a block at pre_tool reaches the model, and the points behind it',
    cites: 'CH-9-01@oneshot',
    plugins: { gate: saying('gate', { pre_tool: { block: true, message: 'not now' } }) },
    is: refused('gate', 'not now'),
    log: [
      ['pre_tool_output', { output: 'not now' }],
      ['post_tool', { result: 'not now' }],
    ],
  },
  {
    title: 'arguments that are no object deny',
    cites: 'CH-7-34@oneshot',
    plugins: { gate: saying('gate', { pre_tool: { arguments: 'pwd' } }) },
    is: {
      output: { calls: [{ status: 'denied', result: expect.stringContaining('the hook failed') }] },
    },
  },
  {
    title: 'arguments that do not fit the parameters deny',
    cites: 'CH-7-34@oneshot',
    plugins: { gate: saying('gate', { pre_tool: { arguments: { command: 7 } } }) },
    is: {
      output: { calls: [{ status: 'denied', result: expect.stringContaining('the hook failed') }] },
    },
  },
  {
    title:
      'a denial at a permission point passes through the points of a result, of a shell with the bare reason',
    cites: 'CH-6-14@oneshot CH-6-04@oneshot',
    plugins: { gate: saying('gate', { pre_shell_exec: { denied: true, reason: 'no shell' } }) },
    is: refused('gate', 'no shell'),
    log: [
      ['pre_tool_output', { output: 'no shell', arguments: { command: 'ls' } }],
      ['post_tool', { result: 'no shell' }],
    ],
  },
  {
    title: 'a question that a person answers lets the tool run',
    cites: 'CH-6-02@oneshot',
    plugins: { gate: saying('gate', { pre_shell_exec: {} }) },
    is: { output: { calls: [{ status: 'ok', result: 'files' }] } },
  },
  {
    title: 'a permission point sees the call as all filters left it',
    cites: 'CH-6-13@oneshot',
    plugins: {
      gate: shPlugin(
        schemaOf('gate', ['pre_shell_exec']),
        `grep -q '"command":"pwd"' && printf '%s' '{"denied": true, "reason": "saw pwd"}'`,
      ),
      turns: saying('turns', { pre_tool: { arguments: { command: 'pwd' } } }),
    },
    is: refused('gate', 'saw pwd'),
  },
  {
    title: 'all hooks run behind a refusal, each with the same payload, and the first decides',
    cites: 'CH-4-03@oneshot CH-4-04@oneshot',
    plugins: {
      a: saying('a', { pre_tool: { arguments: { command: 'pwd' } } }),
      b: saying('b', { pre_tool: { block: true, message: 'first' } }),
      c: saying('c', { pre_tool: { block: true, message: 'second' } }),
      log: logPlugin('log', ['pre_tool', 'pre_tool_output', 'post_tool']),
    },
    is: refused('b', 'first'),
    log: [
      ['pre_tool', { arguments: { command: 'ls' } }],
      ['pre_tool_output', { output: 'first' }],
      ['post_tool', { arguments: { command: 'ls' } }],
    ],
  },
  {
    title: 'a plugin that hangs ends the turn, and nothing behind it runs',
    cites: 'CH-5-01@oneshot',
    timeoutMs: 300,
    plugins: {
      a: shPlugin(schemaOf('a', ['pre_message']), 'sleep 9'),
      b: saying('b', { pre_message: { prompt: 'never' } }),
    },
    is: {
      ...fails,
      error: {
        message: expect.stringContaining('the hook failed: The process did not answer within timeout_ms.'),
      },
    },
  },
  {
    title: 'fuel is the rounds that are left',
    cites: 'CH-7-13@oneshot',
    plugins: { loop: saying('loop', { pre_agentic_loop: { fuel: 1 } }) },
    is: { status: 'failed', error: { code: 'ROUNDS_EXHAUSTED' } },
  },
  {
    title: 'a shape of the request that cannot be read ends the turn',
    cites: 'CH-7-12@oneshot',
    plugins: { body: saying('body', { pre_api_request: { request_body: { messages: 'none' } } }) },
    is: fails,
  },
];

test.each(titled(turns))('$title', async ({ plugins, is, log = [], timeoutMs }) => {
  const logger = { log: logPlugin('log', ['pre_tool_output', 'post_tool', 'on_end']) };
  const files = project(
    { ...logger, ...plugins },
    { responses: [callShell, '{text: done}'], ...(timeoutMs && { timeoutMs }) },
  );
  const { run, close } = await runTurn(files);
  expect(run).toMatchObject(is);
  const written = (await close()).filter(({ point }) => log.some(([name]) => name === point));
  expect(written).toMatchObject(log.map(([point, payload]) => ({ point, payload })));
});

test('on_end fires after a failure too [CH-7-02@oneshot]', async () => {
  const plugins = { log: logPlugin('log', ['on_start', 'on_end', 'post_message']) };
  const { run, folder, close } = await runTurn(
    project(plugins, { responses: ['{error: {status: 400, message: no}}'] }),
  );
  expect(run.status).toBe('failed');
  const payload = { chibi_home: folder, project_root: folder, tool_count: 2 };
  expect(await close()).toEqual([
    { point: 'on_start', payload },
    { point: 'on_end', payload },
  ]);
});

test('call_agent runs again for each request of a hook, from the loop’s starting state [CH-9-02@oneshot CH-7-37@oneshot CH-7-04@oneshot]', async () => {
  const again = ['pre_api_tools', 'pre_api_request', 'pre_agentic_loop'];
  const plugins = {
    // It answers each hook once; the answers hold for that one loop.
    loop: shPlugin(
      schemaOf('loop', again),
      `cat > /dev/null
[ -e "$CHIBI_PROJECT_ROOT/asked.$CHIBI_HOOK" ] && exec printf '{}'
touch "$CHIBI_PROJECT_ROOT/asked.$CHIBI_HOOK"
case "$CHIBI_HOOK" in
  pre_api_tools) printf '{"exclude": ["hidden"]}' ;;
  pre_api_request) printf '{"request_body": {"temperature": 0.5}}' ;;
  *) printf '{"fallback": "call_agent"}' ;;
esac`,
    ),
    hidden: shPlugin(schemaOf('hidden', []), 'cat'),
    log: logPlugin('log', ['pre_message', 'pre_system_prompt', ...again, 'post_message']),
    greet: saying('greet', { pre_message: { prompt: 'greeted' } }),
  };
  const { run, close } = await runTurn(
    project(plugins, {
      responses: [
        '{text: "one of ${size(tools)}", when: "round == 1"}',
        '{text: "two of ${size(tools)}", repeat: true}',
      ],
      tools: ['hidden'],
      chat: 'max_rounds: 8',
    }),
  );
  const goOn = '[reengaged (fuel: 7/8) via call_user. call_user(<message>) to end turn.]';
  expect(run).toMatchObject({
    status: 'completed',
    output: {
      text: 'two of 2',
      messages: [
        { content: 'greeted' },
        { content: 'one of 1' },
        { role: 'user', content: 'greeted' },
        { content: 'two of 2' },
      ],
    },
  });
  const log = await close();
  const told = (point: string) => log.filter((line) => line.point === point).map(({ payload }) => payload);
  expect(log.map(({ point }) => point)).toEqual([
    ...['pre_message', 'pre_system_prompt', ...again, 'post_message'],
    ...['pre_message', ...again, 'post_message'],
  ]);
  expect(told('pre_message').map(({ prompt }) => prompt)).toEqual(['hi', goOn]);
  expect(told('pre_agentic_loop').map((each) => [each.fuel_remaining, each.fuel_total])).toEqual([
    [8, 8],
    [7, 8],
  ]);
  expect(told('pre_api_request').map(({ request_body: { temperature } }) => temperature)).toEqual([
    undefined,
    undefined,
  ]);
  expect(told('post_message')).toMatchObject([
    { prompt: 'greeted', original_prompt: 'hi', response: 'one of 1' },
    { prompt: 'greeted', original_prompt: goOn, response: 'two of 2' },
  ]);
});

const twice = (point: string, says: string) =>
  shPlugin(
    schemaOf('level', [point]),
    `cat >> "$CHIBI_PROJECT_ROOT/fuel"; echo >> "$CHIBI_PROJECT_ROOT/fuel"; echo '${says}'`,
  );
const askForever = '{text: "", tool_calls: [{name: shell, args: {command: ls}}], repeat: true}';
const levelsIn = (folder: string) =>
  readFileSync(join(folder, 'fuel'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).fuel_remaining);

test('fuel is charged after post_tool_batch, which receives the earlier level [CH-7-13@oneshot]', async () => {
  const { run, folder } = await runTurn(
    project({ fuel: twice('post_tool_batch', '{}') }, { responses: [askForever], chat: 'max_rounds: 3' }),
  );
  expect(run).toMatchObject({ status: 'failed', error: { code: 'ROUNDS_EXHAUSTED' } });
  expect(levelsIn(folder)).toEqual([3, 2, 1]);
});

test('fuel that post_tool_batch sets is charged too [CH-7-13@oneshot CH-7-14@oneshot]', async () => {
  const { run, folder } = await runTurn(
    project(
      { fuel: twice('post_tool_batch', '{"fuel_delta": -2}') },
      { responses: [askForever], chat: 'max_rounds: 7' },
    ),
  );
  expect(run).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('after 3 rounds') },
  });
  expect(levelsIn(folder)).toEqual([7, 4, 1]);
});

test('a turn without fuel makes one call, whose answer stays [CH-7-13@oneshot]', async () => {
  const empty = { fuel: saying('fuel', { pre_agentic_loop: { fuel: 0 } }) };
  const { run } = await runTurn(project(empty, { responses: ['{text: hello}'] }));
  expect(run).toMatchObject({ status: 'completed', output: { text: 'hello' } });
  const more = await runTurn(project(empty, { responses: [callShell, '{text: never}'] }));
  expect(more.run).toMatchObject({
    status: 'failed',
    error: { code: 'ROUNDS_EXHAUSTED', message: expect.stringContaining('hook "fuel" set this limit') },
  });
  expect(existsSync(join(more.folder, 'seen'))).toBe(true);
});

test('fuel set by a hook outlives an answer that a guardrail rejects [CH-7-13@oneshot]', async () => {
  const chat = 'max_rounds: 8\nretries: 5\nguardrails: [{eval: contains, params: {patterns: [nowhere]}}]';
  const { run, folder, events } = await runTurn(
    project(
      { fuel: saying('fuel', { pre_agentic_loop: { fuel: 3 } }), level: twice('post_tool_batch', '{}') },
      { responses: [callShell, '{text: "answer", repeat: true}'], chat },
    ),
  );
  expect(run).toMatchObject({ status: 'denied' });
  expect(levelsIn(folder)).toEqual([3]);
  // One round for the tool, two for answers.
  const checks = events.filter((event) => event.type === 'call.started' && event.capability === 'eval');
  expect(checks).toHaveLength(2);
});

const callAgain = '{text: "", tool_calls: [{name: shell, args: {command: ls}}]}';

test('property: whatever plugins answer, a turn makes no more model calls than max_rounds [CH-7-13@oneshot]', async () => {
  const answer = fc.record(
    {
      fuel: fc.nat({ max: 1_000_000 }),
      fuel_delta: fc.integer({ min: -5, max: 1_000_000 }),
      fallback: fc.constantFrom('call_agent', 'call_user'),
    },
    { requiredKeys: [] },
  );
  const turns = {
    loop: answer,
    batch: answer,
    response: fc.constantFrom(callAgain, '{text: more}'),
    maxRounds: fc.integer({ min: 1, max: 4 }),
  };
  const again = { fallback: 'call_agent' as const, fuel: 3 };
  const example = { loop: again, batch: again, response: '{text: more}' as const, maxRounds: 3 };
  await fc.assert(
    fc.asyncProperty(fc.record(turns), async ({ loop, batch, response, maxRounds }) => {
      const plugins = { fuel: saying('fuel', { pre_agentic_loop: loop, post_tool_batch: batch }) };
      const responses = [...Array(maxRounds).fill(response), '{error: {status: 400, message: one too many}}'];
      const files = project(plugins, { responses, chat: `max_rounds: ${maxRounds}` });
      const { run, close } = await runTurn(files);
      await close();
      expect(JSON.stringify(run)).not.toContain('one too many');
    }),
    { numRuns: 8, examples: [[example], [{ ...example, response: callAgain }]] },
  );
}, 60_000);

const flowTool = (name: string, endsTurn: boolean) =>
  shPlugin(
    schemaOf(name, [], { flow_control: true, ends_turn: endsTurn }),
    'touch "$CHIBI_PROJECT_ROOT/started"',
  );
const handOver =
  '{text: "", tool_calls: [{name: call_user, args: {message: your turn}}], when: "round == 1"}';
const told = ['post_tool_output', 'post_tool', 'post_message'];

test('a tool that ends the turn comes last and does not start, and neither post_tool nor post_message fires [CH-9-04@oneshot CH-2-16@oneshot]', async () => {
  const plugins = { call_user: flowTool('call_user', true), log: logPlugin('log', told) };
  const { run, folder, close } = await runTurn(
    project(plugins, {
      responses: [handOver.replace('], when', ', {name: shell, args: {command: ls}}], when'), '{text: more}'],
      tools: ['call_user'],
    }),
  );
  expect(run).toMatchObject({ status: 'completed', output: { text: 'your turn' } });
  expect((await close()).map(({ point, payload }) => `${point} ${payload.tool_name}`)).toEqual([
    'post_tool_output shell',
    'post_tool_output call_user',
    'post_tool shell',
  ]);
  expect(existsSync(join(folder, 'started'))).toBe(false);
});

test('a block at pre_tool stops a flow-control tool [CH-7-38@oneshot]', async () => {
  const plugins = {
    call_user: flowTool('call_user', true),
    gate: saying('gate', { pre_tool: { block: true } }),
    log: logPlugin('log', told),
  };
  const { run, close } = await runTurn(
    project(plugins, { responses: [handOver, '{text: more}'], tools: ['call_user'] }),
  );
  expect(run).toMatchObject({ output: { text: 'more', calls: [{ name: 'call_user', status: 'denied' }] } });
  expect((await close()).map(({ point }) => point)).toEqual(['post_tool_output', 'post_message']);
});
