import { expect, onTestFinished, test } from 'vitest';
import { type Fake, openFake, type Turn } from '../models/wire/fake.ts';
import { openDesk, recording } from './desk.ts';

async function openModel(script: readonly Turn[]): Promise<{ fake: Fake; spec: string }> {
  const fake = await openFake('openai', script);
  onTestFinished(() => fake.close());
  const spec = `
state_store: {type: memory}
tools:
  note: {input_schema: {properties: {n: {type: integer}}}, exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
providers: [{id: main, type: openai-compatible, model: m, base_url: "${fake.url}"}]
`;
  return { fake, spec };
}

/** A turn that calls `note` with the model's verbatim arguments. */
function calling(args: string): Turn {
  const call = { id: 'call_1', type: 'function', function: { name: 'note', arguments: args } };
  const choice = {
    index: 0,
    message: { role: 'assistant', content: null, tool_calls: [call] },
    finish_reason: 'tool_calls',
  };
  const body = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] };
  return { fault: { kind: 'body', status: 200, body: JSON.stringify(body) } };
}

const chat =
  'steps: [{id: answer, chat: {provider: main, messages: Hello., tools: [note]}}]\noutput: ${steps.answer}\n';

const wrong = [
  { title: 'are no JSON', args: '{"n": 1', says: 'the arguments are not JSON' },
  { title: 'are a list', args: '[1]', says: 'the arguments are not a JSON object' },
  { title: 'have a key twice', args: '{"n": 1, "n": 2}', says: 'duplicate argument "n"' },
  { title: 'do not fit', args: '{"n": "one"}', says: 'the arguments do not fit input_schema' },
];

test.each(wrong)(
  'a model whose arguments $title is informed, and the tool does not run [DS-CHAT-01]',
  async ({ args, says }) => {
    const { fake, spec } = await openModel([calling(args), { text: 'Sorry.' }]);
    const desk = await openDesk(spec);
    const end = await desk.run(chat);
    expect(end.output).toMatchObject({
      status: 'ok',
      text: 'Sorry.',
      rounds: 2,
      tool_calls: [{ name: 'note', status: 'failed', error: expect.stringContaining(says) }],
    });
    expect(desk.lines('notes')).toEqual([]);
    const last = JSON.stringify(fake.requests[1]?.body['messages']);
    expect(last).toContain(JSON.stringify(`Tool "note" failed: tool "note": ${says}`).slice(1, -1));
  },
);

test('long numbers of a model’s arguments reach the tool with their digits [DS-RUN-02]', async () => {
  const { spec } = await openModel([calling('{"n":12345678901234567890,"rate":1.10}'), { text: 'Done.' }]);
  const desk = await openDesk(spec);
  expect(await desk.run(chat)).toMatchObject({ status: 'completed' });
  expect(desk.lines('notes')).toEqual(['{"args":{"n":12345678901234567890,"rate":1.10}}']);
});

test('an aborted API call in the middle of its answer leaves the run resumable [DS-RUN-06]', async () => {
  const { fake, spec } = await openModel([{ fault: { kind: 'hang' } }, { text: 'Done.' }]);
  const desk = await openDesk(spec);
  const giveUp = new AbortController();
  const running = desk.run(chat, {}, { signal: giveUp.signal });
  running.catch(() => {});
  await expect.poll(() => fake.requests.length, { timeout: 15_000 }).toBe(1);
  giveUp.abort();
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  const [run] = await desk.runtime.runs.list();
  expect(await desk.runtime.runs.resume(run?.run_id ?? '')).toMatchObject({
    output: { text: 'Done.', rounds: 1 },
  });
  expect(fake.requests).toHaveLength(2);
});

test('a model call that takes longer than its step fails the step', async () => {
  const { spec } = await openModel([{ fault: { kind: 'hang' } }]);
  const desk = await openDesk(spec);
  const end = await desk.run(chat.replace('{id: answer,', '{id: answer, timeout_ms: 300,'));
  expect(end).toMatchObject({ status: 'failed', error: { code: 'STEP_TIMEOUT' } });
});

const silent: Turn = { text: 'Hello.', usage: null };

test.each([
  { title: 'of every round', script: [silent], rounds: 1 },
  {
    title: 'of one round',
    script: [{ toolCalls: [{ name: 'note', args: {} }], usage: null }, { text: 'Done.' }],
    rounds: 2,
  },
])('usage that an API omits $title is unknown, and so is the cost', async ({ script, rounds }) => {
  const { spec } = await openModel(script);
  const priced = spec.replace(
    'model: m,',
    'model: m, pricing: {input_cost_per_1k: 1, output_cost_per_1k: 1},',
  );
  const { output } = await (await openDesk(priced)).run(chat);
  expect(output).toMatchObject({ rounds, usage: { input_tokens: null, output_tokens: null } });
  expect(JSON.stringify(output)).not.toContain('cost_usd');
});

test.each([
  { title: 'that an API refused is 0', fault: { kind: 'status', status: 400 } as const, tokens: 0 },
  { title: 'that an API broke off is unknown', fault: { kind: 'hang-up' } as const, tokens: null },
])('the usage of a call $title', async ({ fault, tokens }) => {
  const { spec } = await openModel([{ fault }]);
  const once = spec.replace('model: m,', 'model: m, additional_config: {max_retries: 0},');
  const desk = await openDesk(once);
  const failing = chat.replace('tools: [note]}', 'tools: [note]}, on_error: continue');
  expect((await desk.run(failing)).output).toMatchObject({
    usage: { input_tokens: tokens, output_tokens: tokens },
  });
});

test.each([
  { title: 'whole', more: '' },
  { title: 'streamed', more: ', stream: hold' },
  { title: 'streamed behind a window', more: ', stream: windowed' },
])('calls of an answer that comes $title with repeated ids are distinguished', async ({ more }) => {
  const calls = [1, 2].map((n) => ({ id: 'call_1', name: 'note', args: { n } }));
  const { fake, spec } = await openModel([{ toolCalls: calls }, { toolCalls: calls }, { text: 'Done.' }]);
  const desk = await openDesk(spec);
  expect(await desk.run(chat.replace('tools: [note]', `tools: [note]${more}`))).toMatchObject({
    status: 'completed',
  });
  const sent = JSON.stringify(fake.requests[2]?.body['messages']);
  const asked = [...sent.matchAll(/{"id":"([^"]+)"/g)].map(([, id]) => id);
  const given = [...sent.matchAll(/"tool_call_id":"([^"]+)"/g)].map(([, id]) => id);
  expect(given).toEqual(asked);
  expect(new Set(asked).size).toBe(4);
});
