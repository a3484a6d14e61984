import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recorded } from '../../runtime/open.ts';
import { type Desk, hookRecording, openDesk, recording } from '../desk.ts';

/** `judge` scores an answer with `good` as 1, others as 0. `asked` has a line for every model call. */
function specOf(responses: readonly string[], more = ''): string {
  return `
state_store: {type: memory}
tools: {note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}}
evals:
  judge: ${recording('judges-text.sh', 'judged', 'good')}
  asleep: {command: $bin/crash.sh}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
${responses.map((response) => `        - {${response}}\n`).join('')}
hooks:
  asked: {hook: provider, phases: [before_call], ${hookRecording('answers', 'asked', '{"allow": true}')}}
  session: {hook: session, ${hookRecording('record-event', 'session')}}
${more}
`;
}

const chat = (more: string) => `
steps: [{id: answer, on_error: continue, chat: {provider: main, messages: Hello., tools: [note], ${more}}}]
output: \${steps.answer}
`;

const secret = 'text: The secret is swordfish.';
const fine = 'text: All good.';
const withheld = 'This response was withheld by a guardrail.';

async function allTold(desk: Desk, end: unknown): Promise<string> {
  await desk.runtime.close();
  return JSON.stringify([end, desk.events, recorded(join(desk.folder, 'session'))]);
}

const enforce = 'guardrails: [{eval: judge}]';

const streams = ['', 'stream: hold, ', 'stream: windowed, '];

test.each(streams)('an answer that fails a guardrail reaches nobody (%s) [DS-CHAT-02]', async (stream) => {
  const desk = await openDesk(specOf([secret]));
  const end = await desk.run(chat(`${stream}${enforce}`));
  expect(end.output).toEqual({
    status: 'denied',
    text: withheld,
    rounds: 1,
    finish_reason: 'stop',
    provider: 'main',
    model: 'scripted',
    usage: { input_tokens: null, output_tokens: null },
    tool_calls: [],
    messages: [{ role: 'user', content: 'Hello.' }],
    guardrails: [{ id: 'judge', action: 'enforce', score: 0, passed: false, detail: 'says nothing good' }],
    metadata: expect.objectContaining({ phase: 'after_call', verdict: 'allow' }),
    error: {
      code: 'THRESHOLD_MISSED',
      message: 'eval "judge" scored 0, which is not at least 1: says nothing good',
      hint: 'The message has the score and the detail from the eval.',
    },
  });
  expect(await allTold(desk, end)).not.toMatch(/secret|swordfish/);
});

test('a guardrail gets the conversation, the measures of the answer, variables and metadata [DS-CHAT-02]', async () => {
  const priced = specOf([
    'when: round == 1, tool_calls: [{name: note}], usage: {input_tokens: 5, output_tokens: 7}',
    `${fine}, usage: {input_tokens: 50, output_tokens: 70}`,
  ])
    .replace('model: scripted', 'model: scripted\n    pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}')
    .replace('evals:', `evals:\n  spy: ${recording('answers', 'seen', '{"score": 1}')}`);
  const desk = await openDesk(priced);
  const context =
    'context: {variables: {shop: "${vars.shop}", mood: calm}, metadata: {lane: fast, cost_usd: 9}}';
  const guardrails = `guardrails: [{eval: spy, ${context}}, {eval: cost_budget, params: {max_cost_usd: 0.209, max_total_tokens: 132}}, {eval: latency_budget, params: {max_ms: 60000}}]`;
  const end = await desk.run(`vars: {shop: bicycles}${chat(guardrails)}`);
  expect(end.output).toMatchObject({
    guardrails: [{ score: 1 }, { score: 1, passed: true }, { score: 1, passed: true }],
  });
  await desk.runtime.close();
  expect(recorded(join(desk.folder, 'seen'))).toMatchObject([
    {
      content: 'All good.',
      context: {
        messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }, { role: 'assistant' }],
        tool_calls: [{ name: 'note', index: 1 }],
        variables: { shop: 'bicycles', mood: 'calm' },
        metadata: {
          ...{ lane: 'fast', input_tokens: 55, output_tokens: 77, total_tokens: 132, cost_usd: 0.209 },
          ...{ provider: 'main', model: 'scripted', latency_ms: expect.any(Number) },
        },
      },
    },
  ]);
});

test('a guardrail of a chat and a suite’s eval of the same chat get the same context', async () => {
  const responses = [
    'when: round == 1, tool_calls: [{name: note}, {name: note}], usage: {input_tokens: 5, output_tokens: 7}, repeat: true',
    `${fine}, usage: {input_tokens: 50, output_tokens: 70}, repeat: true`,
  ];
  const spying = specOf(responses)
    .replace('model: scripted', 'model: scripted\n    pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}')
    .replace('evals:', `evals:\n  spy: ${recording('answers', 'seen', '{"score": 1}')}`);
  const desk = await openDesk(spying);
  const context = 'context: {variables: {shop: bicycles}, metadata: {lane: fast}}';
  await desk.run(chat(`guardrails: [{eval: spy, ${context}}]`));
  const file = join(desk.folder, 'same.suite.yaml');
  writeFileSync(
    file,
    `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: same}
spec:
  cases: [{id: one}]
  subject: {chat: {provider: main, messages: Hello., tools: [note]}}
  case: {${context}}
  evals: [{id: spy, type: spy}]
`,
  );
  await desk.runtime.evals.run(file, { keep: false });
  await desk.runtime.close();
  const [guardrail, suite] = recorded(join(desk.folder, 'seen')).map((request) =>
    JSON.parse(JSON.stringify(request), (key, value: unknown) =>
      /^(latency_ms|session_id|turn_index|call_id|id)$/.test(key) ? typeof value : value,
    ),
  );
  const { session_id: _, ...ofGuardrail } = guardrail.context;
  const { session_id: __, ...ofSuite } = suite.context;
  expect(ofSuite).toEqual(ofGuardrail);
  expect(ofGuardrail).toMatchObject({
    tool_calls: [{ index: 1 }, { index: 1 }],
    metadata: { lane: 'fast', total_tokens: 132, latency_ms: 'number' },
  });
});

test('a denied answer denies the run', async () => {
  const desk = await openDesk(specOf([secret]));
  const end = await desk.run(chat(enforce).replace('on_error: continue, ', ''));
  expect(end).toMatchObject({ status: 'denied', output: null, error: { code: 'THRESHOLD_MISSED' } });
});

test.each(streams)(
  'an answer that passes becomes the turn’s answer, and is reported (%s)',
  async (stream) => {
    const desk = await openDesk(specOf([fine]));
    const end = await desk.run(chat(`${stream}${enforce}`));
    expect(end.output).toMatchObject({
      status: 'ok',
      text: 'All good.',
      guardrails: [{ id: 'judge', action: 'enforce', score: 1, passed: true, detail: '' }],
    });
    const texts = desk.events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
    expect(texts.join('')).toBe(stream === '' ? '' : 'All good.');
  },
);

test.each(streams)(
  'a failed answer is requested again, and only the good one is shown (%s) [DS-CHAT-02]',
  async (stream) => {
    const desk = await openDesk(specOf([secret, secret, fine]));
    const end = await desk.run(chat(`${stream}${enforce}, retries: 2`));
    expect(end.output).toMatchObject({
      status: 'ok',
      text: 'All good.',
      rounds: 3,
      messages: [
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: 'All good.' },
      ],
      guardrails: [{ passed: true }],
    });
    expect(desk.lines('asked').map((line) => JSON.parse(line).request.messages.length)).toEqual([1, 3, 5]);
    const last = JSON.parse(desk.lines('asked')[2] ?? '').request.messages;
    const feedback =
      'Your answer did not pass these checks. Answer again, so that it does.\n- judge: says nothing good';
    expect(last.map(({ content }: { content: string }) => content)).toEqual([
      'Hello.',
      'The secret is swordfish.',
      feedback,
      'The secret is swordfish.',
      feedback,
    ]);
    expect(await allTold(desk, end)).not.toMatch(/secret|swordfish|did not pass/);
  },
);

test('when no attempt passes, none is shown [DS-CHAT-02]', async () => {
  const desk = await openDesk(specOf([secret]));
  const end = await desk.run(chat(`${enforce}, retries: 1`));
  expect(end.output).toMatchObject({
    status: 'denied',
    text: withheld,
    rounds: 2,
    messages: [{ role: 'user' }],
  });
  expect(await allTold(desk, end)).not.toMatch(/secret|swordfish|did not pass/);
});

test('a failed answer stays hidden when the next one cannot be obtained [DS-CHAT-02]', async () => {
  const desk = await openDesk(specOf([secret, 'error: {status: 400, message: overloaded}']));
  const end = await desk.run(chat(`${enforce}, retries: 1`));
  expect(end.output).toMatchObject({ status: 'failed', text: '', error: { code: 'PROVIDER_FAILED' } });
  expect(await allTold(desk, end)).not.toMatch(/secret|swordfish|did not pass/);
});

test('a failed answer stays hidden when the rounds run out [DS-CHAT-02]', async () => {
  const desk = await openDesk(specOf([secret, 'text: once more, tool_calls: [{name: note}]']));
  const end = await desk.run(chat(`${enforce}, retries: 1, max_rounds: 2`));
  expect(end.output).toMatchObject({ status: 'failed', text: '', error: { code: 'ROUNDS_EXHAUSTED' } });
  expect(await allTold(desk, end)).not.toMatch(/secret|swordfish|did not pass/);
});

test('a guardrail that only monitors lets the answer pass, and reports it', async () => {
  const desk = await openDesk(specOf([secret]));
  const end = await desk.run(chat('guardrails: [{id: tone, eval: judge, action: monitor}]'));
  expect(end.output).toMatchObject({
    status: 'ok',
    text: 'The secret is swordfish.',
    guardrails: [{ id: 'tone', action: 'monitor', score: 0, passed: false, detail: 'says nothing good' }],
  });
});

test('all guardrails judge the answer, and the first enforcing one that fails is the error', async () => {
  const desk = await openDesk(specOf([secret]));
  const guardrails = [
    '{id: first, eval: judge, action: monitor}',
    '{id: second, eval: judge, threshold: {max_score: 0.5}}',
    '{id: third, eval: judge, threshold: {min_score: 0.5}}',
    '{id: fourth, eval: judge}',
  ];
  const end = await desk.run(chat(`guardrails: [${guardrails.join(', ')}]`));
  expect(end.output).toMatchObject({
    status: 'denied',
    guardrails: [
      { id: 'first', passed: false },
      { id: 'second', passed: true },
      { id: 'third', passed: false },
      { id: 'fourth', passed: false },
    ],
    error: { message: 'eval "third" scored 0, which is not at least 0.5: says nothing good' },
  });
});

test('an answer that could not be judged is withheld', async () => {
  const desk = await openDesk(specOf([fine]));
  const end = await desk.run(chat('guardrails: [{eval: asleep, threshold: {min_score: 0}}]'));
  expect(end.output).toMatchObject({
    status: 'denied',
    text: withheld,
    guardrails: [{ id: 'asleep', score: null, passed: false }],
    error: { code: 'THRESHOLD_MISSED', message: expect.stringContaining('returned no score') },
  });
});

test('a guardrail sees the conversation and the tool calls of the turn', async () => {
  const desk = await openDesk(
    specOf(['when: round == 1, text: Wait., tool_calls: [{name: note, args: {n: 7}}]', fine]),
  );
  const end = await desk.run(chat('guardrails: [{eval: judge, params: {city: "${input.city}"}}]'), {
    city: 'Oslo',
  });
  expect(end.output).toMatchObject({ status: 'ok' });
  const [line = ''] = desk.lines('judged');
  expect(JSON.parse(line)).toMatchObject({
    type: 'judge',
    params: { city: 'Oslo' },
    content: 'All good.',
    context: {
      session_id: end.run_id,
      turn_index: 0,
      messages: [
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: 'Wait.' },
        { role: 'tool', content: 'noted' },
        { role: 'assistant', content: 'All good.' },
      ],
      tool_calls: [{ name: 'note', args: { n: 7 }, result: 'noted', error: '', index: 1 }],
    },
  });
});

async function run(reply: string, phase: 'before_call' | 'after_call', stream = '') {
  const hook = `  gate: {hook: provider, phases: [${phase}], command: $bin/answers, args: ['${reply}']}`;
  const desk = await openDesk(
    specOf(['text: The secret is swordfish., tool_calls: [{name: note}]', fine], hook),
  );
  const end = await desk.run(chat(stream));
  return { desk, end, told: await allTold(desk, end) };
}

test.each(streams)('a model call that a hook denies is not made (%s)', async (stream) => {
  const { end, told } = await run('{"allow": false, "reason": "no cards"}', 'before_call', stream);
  expect(end.output).toMatchObject({
    status: 'denied',
    text: '',
    rounds: 0,
    error: { code: 'DENIED', message: expect.stringContaining('no cards') },
  });
  expect(told).not.toContain('swordfish');
});

const standIn = '"enforced": true, "reason": "no cards", "metadata": {"replacement": "Ask me later."}';

test.each(
  streams.flatMap((stream) => [
    { stream, phase: 'before_call' as const },
    { stream, phase: 'after_call' as const },
  ]),
)(
  'an answer that a hook enforces at $phase replaces the model’s, and no tool runs ($stream)',
  async ({ phase, stream }) => {
    const { desk, end, told } = await run(`{"allow": false, ${standIn}}`, phase, stream);
    expect(end.output).toMatchObject({
      status: 'ok',
      text: 'Ask me later.',
      rounds: 1,
      tool_calls: [],
      messages: [
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: 'Ask me later.' },
      ],
      metadata: { phase, verdict: 'deny', hook: 'gate', enforced: true },
    });
    expect(told).not.toContain('swordfish');
    expect(desk.lines('notes')).toEqual([]);
  },
);

test.each(streams)('an answer that a hook denies ends the chat, and no tool runs (%s)', async (stream) => {
  const { desk, end, told } = await run('{"allow": false, "reason": "no cards"}', 'after_call', stream);
  expect(end.output).toMatchObject({ status: 'denied', text: '', error: { code: 'DENIED' } });
  expect(told).not.toContain('swordfish');
  expect(desk.lines('notes')).toEqual([]);
});

test.each(streams)(
  'the conversation continues with an answer that a hook replaced (%s) [DS-CHAT-03]',
  async (stream) => {
    const message = '{"role": "assistant", "content": "It is good.", "tool_calls": []}';
    const { desk, end, told } = await run(
      `{"allow": true, "replace": {"message": ${message}}}`,
      'after_call',
      stream,
    );
    expect(end.output).toMatchObject({ status: 'ok', text: 'It is good.', rounds: 1, tool_calls: [] });
    expect(told).not.toContain('swordfish');
    expect(desk.lines('notes')).toEqual([]);
  },
);

test('the model receives messages that a hook replaced, and the conversation keeps the original ones [DS-CHAT-03]', async () => {
  const replaced = '{"messages": [{"role": "user", "content": "masked"}], "system_prompt": "Be brief."}';
  const hook = `  gate: {hook: provider, phases: [before_call], command: $bin/answers, args: ['{"allow": true, "replace": ${replaced}}']}`;
  const desk = await openDesk(specOf(["text: 'good: ${system} ${messages.map(m, m.content)}'"], hook));
  const end = await desk.run(chat('system: Be kind.'));
  expect(end.output).toMatchObject({
    text: 'good: Be brief. ["masked"]',
    messages: [{ role: 'user', content: 'Hello.' }, { role: 'assistant' }],
  });
});

test('only the journal contains a withheld answer', async () => {
  const desk = await openDesk(specOf([secret]).replace('{type: memory}', '{type: sqlite, path: state.db}'));
  const { run_id } = await desk.run(chat(enforce));
  const shown = JSON.stringify([
    await desk.runtime.runs.show(run_id),
    await desk.runtime.runs.list(),
    await desk.runtime.runs.resume(run_id),
  ]);
  expect(shown).not.toContain('swordfish');
  await desk.runtime.close();
  expect(readFileSync(join(desk.folder, 'state.db')).includes('swordfish')).toBe(true);
});
