import { inspect } from 'node:util';
import { APICallError, JSONParseError, type LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { generateText, jsonSchema, tool } from 'ai';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import type { Decision, HookEvent } from '../../../src/contract/hook.ts';
import { createGuard } from '../../../src/models/guard/guard.ts';
import { answering, eventually, newRecord, openBench } from '../../calls/capability/bench.ts';
import {
  answeringModel,
  finish,
  fireHook,
  fireLinks,
  guarded,
  prompt,
  type Say,
  usage,
} from '../guard-bench.ts';

const leaky: Partial<LanguageModelV4GenerateResult> = {
  content: [
    { type: 'reasoning', text: 'SECRET thought', providerMetadata: { acme: { signature: 'SECRET' } } },
    { type: 'text', text: 'a SECRET', providerMetadata: { acme: { itemId: 'SECRET' } } },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'send', input: '{"to":"SECRET"}' },
    { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.example/SECRET' },
    { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: btoa('SECRET') } },
    { type: 'tool-result', toolCallId: 'c0', toolName: 'search', result: { found: 'SECRET' } },
    { type: 'custom', kind: 'acme.note', providerMetadata: { acme: { note: 'SECRET' } } },
  ],
  structuredOutputText: 'SECRET',
  usage: { ...usage, raw: { note: 'SECRET' } },
  providerMetadata: { acme: { logprobs: 'SECRET' } },
  request: { body: 'SECRET' },
  response: { id: 'r1', modelId: 'm-1', headers: { debug: 'SECRET' }, body: { text: 'SECRET' } },
};

const onPhase =
  (phase: HookEvent['phase'], said: Partial<Decision>): Say =>
  (event) =>
    event.phase === phase ? said : {};

const spell = (value: unknown) => inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true });

async function failureOf(run: PromiseLike<unknown>): Promise<RuntimeError> {
  const error = await Promise.resolve(run).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof RuntimeError) return error;
  throw new Error(`no RuntimeError but ${inspect(error)}`);
}

const fault = {
  code: 'PROCESS_EXIT',
  message: 'it printed SECRET',
  hint: '',
  details: { stderr: 'SECRET' },
} as const;

test.each<{ title: string; said: object; reason: string }>([
  { title: 'a denial', said: { verdict: 'deny', reason: 'no', metadata: new Json('{"n":1}') }, reason: 'no' },
  { title: 'a question', said: { verdict: 'ask', reason: 'may it?' }, reason: 'may it?' },
  {
    title: 'a verdict nobody knows',
    said: { verdict: 'shrug' },
    reason: 'its verdict "shrug" is not allowed here',
  },
  {
    title: 'an answer without a text',
    said: { verdict: 'respond' },
    reason: 'its verdict "respond" is not allowed here',
  },
  {
    title: 'an enforced denial without a text',
    said: { verdict: 'deny', enforced: true, reason: 'no' },
    reason: 'no',
  },
  { title: 'a denial without a reason', said: { verdict: 'deny' }, reason: 'no reason given' },
])('before the call, $title keeps the model from being called', async ({ said, reason }) => {
  const model = answeringModel(leaky);
  const fire = fireHook(onPhase('before_call', said));
  const error = await failureOf(generateText({ model: guarded(model, { fire }), prompt: 'hi' }));
  const metadata = 'metadata' in said ? { n: 1 } : {};
  expect({ code: error.code, details: error.details }).toEqual({
    code: 'DENIED',
    details: { hook: 'h', reason, metadata, phase: 'before_call' },
  });
  expect(model.doGenerateCalls).toEqual([]);
});

test.each<{ title: string; said: object; reason: string; details?: object }>([
  { title: 'a denial', said: { verdict: 'deny', reason: 'no' }, reason: 'no' },
  { title: 'a question', said: { verdict: 'ask', reason: 'may it?' }, reason: 'may it?' },
  {
    title: 'a hook that failed and quoted it',
    said: { verdict: 'deny', reason: 'hook "h" failed: it printed SECRET', error: fault },
    reason: 'the hook failed: The process ended with an exit code other than 0.',
    details: { error: 'PROCESS_EXIT' },
  },
  {
    title: 'a replacement that cannot be an answer',
    said: {
      verdict: 'modify',
      replace: new Json('{"message":{"role":"assistant","content":"","tool_calls":[{}]}}'),
    },
    reason:
      'its replacement cannot be used: the `tool_calls` of a replaced message are not a list of {id, name, args}',
  },
])('after the call, $title reveals nothing of the answer', async ({ said, reason, details }) => {
  const fire = fireHook(onPhase('after_call', said));
  const error = await failureOf(
    generateText({ model: guarded(answeringModel(leaky), { fire }), prompt: 'hi' }),
  );
  expect({ code: error.code, details: error.details }).toEqual({
    code: 'DENIED',
    details: { hook: 'h', reason, metadata: {}, phase: 'after_call', ...details },
  });
  expect(spell(error)).not.toContain('SECRET');
});

test.each([{ phase: 'before_call' }, { phase: 'after_call' }] as const)(
  'hooks that cannot run at $phase deny',
  async ({ phase }) => {
    const fire = fireHook((event) => {
      if (event.phase === phase) throw new Error('SECRET');
      return {};
    });
    const error = await failureOf(guarded(answeringModel(leaky), { fire }).doGenerate(prompt));
    expect(error.details).toEqual({
      hook: null,
      reason: 'the hooks could not run: Signalbox itself failed.',
      metadata: {},
      phase,
    });
    expect(spell(error)).not.toContain('SECRET');
  },
);

const report = (said: object) => ({ hook: 'h', reason: '', enforced: false, metadata: {}, ...said });
const allowed = report({ verdict: 'allow' });

test.each<{ phase: 'before_call' | 'after_call'; used: object }>([
  { phase: 'before_call', used: { inputTokens: 0, outputTokens: 0 } },
  { phase: 'after_call', used: { inputTokens: 7, outputTokens: 5 } },
])('an enforced denial at $phase returns its replacement', async ({ phase, used }) => {
  const metadata = new Json('{"replacement":"Withheld."}');
  const result = Json.from('Withheld.');
  const said = { verdict: 'deny', enforced: true, reason: 'no', result, metadata } as const;
  const model = answeringModel(leaky);
  const fire = fireHook(onPhase(phase, said));
  const answer = await generateText({ model: guarded(model, { fire }), prompt: 'hi' });
  const { text, finishReason, rawFinishReason, providerMetadata, usage: tokens } = answer;
  const decision = report({
    verdict: 'deny',
    reason: 'no',
    enforced: true,
    metadata: { replacement: 'Withheld.' },
  });
  expect({ text, finishReason, rawFinishReason, providerMetadata }).toEqual({
    text: 'Withheld.',
    finishReason: 'content-filter',
    rawFinishReason: 'signalbox: denied by h',
    providerMetadata: {
      signalbox: {
        phase,
        ...decision,
        before_call: phase === 'before_call' ? decision : allowed,
        after_call: phase === 'before_call' ? null : decision,
      },
    },
  });
  expect(tokens).toMatchObject(used);
  expect(model.doGenerateCalls).toHaveLength(phase === 'before_call' ? 0 : 1);
  expect(spell(answer)).not.toContain('SECRET');
});

test.each([{ phase: 'before_call' }, { phase: 'after_call' }] as const)(
  'a hook that responds at $phase answers in the model’s place',
  async ({ phase }) => {
    const said = { verdict: 'respond', result: Json.from('Ask a colleague.') } as const;
    const fire = fireHook(onPhase(phase, said));
    const result = await guarded(answeringModel(leaky), { fire }).doGenerate(prompt);
    const { content, finishReason } = result;
    expect({ content, finishReason }).toEqual({
      content: [{ type: 'text', text: 'Ask a colleague.' }],
      finishReason: { unified: 'stop', raw: 'signalbox: answered by h' },
    });
    expect(spell(result)).not.toContain('SECRET');
  },
);

test('a replaced answer contains nothing of the old one', async () => {
  const replace = new Json('{"message":{"role":"assistant","content":"a ***"}}');
  const fire = fireHook(onPhase('after_call', { verdict: 'modify', replace }));
  const model = answeringModel({ ...leaky, finishReason: { unified: 'tool-calls', raw: 'tool_use' } });
  const result = await guarded(model, { fire }).doGenerate(prompt);
  const modified = report({ verdict: 'modify' });
  expect(result).toEqual({
    content: [{ type: 'text', text: 'a ***' }],
    finishReason: { unified: 'stop', raw: undefined },
    usage,
    warnings: [],
    response: { id: 'r1', modelId: 'm-1' },
    providerMetadata: {
      signalbox: { phase: 'after_call', ...modified, before_call: allowed, after_call: modified },
    },
  });
});

test('an answer that all hooks allow is unchanged, with the report beside it', async () => {
  const result = { ...leaky, structuredOutputText: 'a SECRET' };
  const fire = fireHook(({ phase }) => ({ hook: null, metadata: new Json(`{"${phase}":true}`) }));
  const { providerMetadata, ...rest } = await guarded(answeringModel(result), { fire }).doGenerate(prompt);
  const { providerMetadata: own, ...original } = {
    ...result,
    finishReason: finish.finishReason,
    warnings: [],
  };
  expect(rest).toEqual(original);
  expect(providerMetadata).toEqual({
    ...own,
    signalbox: {
      phase: 'after_call',
      ...allowed,
      hook: null,
      metadata: { before_call: true, after_call: true },
      before_call: { ...allowed, hook: null, metadata: { before_call: true } },
      after_call: { ...allowed, hook: null, metadata: { after_call: true } },
    },
  });
});

test('a structured output text that hooks have not seen is omitted', async () => {
  const model = answeringModel({ content: [{ type: 'text', text: '{}' }], structuredOutputText: '{"a":1}' });
  const result = await guarded(model, { fire: fireHook(() => ({})) }).doGenerate(prompt);
  expect(result).not.toHaveProperty('structuredOutputText');
});

test('hooks read the request, and the model gets it as they changed it', async () => {
  const asked: HookEvent[] = [];
  const replace = new Json(
    '{"messages":[{"role":"user","content":"my card is ****"}],"system_prompt":"Be brief."}',
  );
  const fire = fireHook((event) => {
    asked.push(event);
    return event.phase === 'before_call' ? { verdict: 'modify', replace } : {};
  });
  const model = answeringModel({ content: [{ type: 'text', text: 'ok' }] });
  await generateText({
    model: guarded(model, { fire, providerId: 'main' }),
    instructions: 'Be kind.',
    messages: [{ role: 'user', content: 'my card is 4111' }],
    providerOptions: { signalbox: { metadata: { session_id: 's1' } }, acme: { effort: 'low' } },
  });
  const request = {
    provider_id: 'main',
    model: 'm-1',
    messages: [{ role: 'user', content: 'my card is 4111' }],
    system_prompt: 'Be kind.',
    round: 1,
    metadata: { session_id: 's1' },
    tools: [],
    options: {},
  };
  const changed = { messages: [{ role: 'user', content: 'my card is ****' }], system_prompt: 'Be brief.' };
  const message = {
    role: 'assistant',
    content: 'ok',
    finish_reason: 'stop',
    cost_info: { input_tokens: 7, output_tokens: 5 },
  };
  const answered = { provider_id: 'main', model: 'm-1', message, round: 1, latency_ms: expect.any(Number) };
  expect(asked).toEqual([
    { hook: 'provider', phase: 'before_call', request },
    { hook: 'provider', phase: 'after_call', request: { ...request, ...changed }, response: answered },
  ]);
  expect(model.doGenerateCalls[0]).toMatchObject({
    prompt: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'my card is ****' }] },
    ],
    providerOptions: { acme: { effort: 'low' } },
  });
  expect(model.doGenerateCalls[0]?.providerOptions).not.toHaveProperty('signalbox');
});

test('a replaced prompt that no model accepts denies, and names the hook', async () => {
  const replace = new Json('{"messages":[{"role":"tool","content":"42"}]}');
  const fire = fireHook(onPhase('before_call', { verdict: 'modify', replace }));
  const model = answeringModel({});
  const error = await failureOf(guarded(model, { fire }).doGenerate(prompt));
  expect(error.details).toMatchObject({ hook: 'h', phase: 'before_call' });
  expect(error.code).toBe('DENIED');
  expect(model.doGenerateCalls).toEqual([]);
});

const call = (id: string) => ({ type: 'tool-call', toolCallId: id, toolName: 'send', input: '{}' }) as const;

test('only the tool calls that a replaced answer repeats run, in rounds that are counted', async () => {
  const rounds: number[] = [];
  const fire = fireHook((event) => {
    if (event.hook !== 'provider') return {};
    if (event.phase === 'before_call') rounds.push(event.request.round);
    if (event.phase !== 'after_call' || event.request.round > 1) return {};
    const replace = new Json(
      '{"message":{"role":"assistant","content":"","tool_calls":[{"id":"c2","name":"send","args":{"n":12345678901234567890}}]}}',
    );
    return { verdict: 'modify', replace };
  });
  const ran: string[] = [];
  const send = tool({
    inputSchema: jsonSchema<object>({ type: 'object' }),
    execute: (_, { toolCallId }) => {
      ran.push(toolCallId);
      return 'sent';
    },
  });
  const first = {
    content: [call('c1'), call('c2')],
    finishReason: { unified: 'tool-calls', raw: undefined },
  } as const;
  const answers = [
    first,
    { content: [{ type: 'text', text: 'done' } as const], finishReason: finish.finishReason },
  ];
  const model = answeringModel({});
  model.doGenerate = async () => {
    const { content, finishReason } = answers.shift() ?? first;
    return { content: [...content], finishReason, usage, warnings: [] };
  };
  const { text, steps } = await generateText({
    model: guarded(model, { fire }),
    prompt: 'hi',
    tools: { send },
    stopWhen: ({ steps: taken }) => taken.length === 2,
  });
  expect({ text, ran, rounds, finish: steps.map((step) => step.finishReason) }).toEqual({
    text: 'done',
    ran: ['c2'],
    rounds: [1, 2],
    finish: ['tool-calls', 'stop'],
  });
});

test.each([
  { title: 'its API refused passes as it is', thrown: apiError(529), isSame: true },
  { title: 'its API answered unreadably', thrown: apiError(200), isSame: false },
  {
    title: 'its answer was no JSON',
    thrown: new JSONParseError({ text: 'SECRET', cause: new Error('x') }),
    isSame: false,
  },
])('of a model that failed because $title', async ({ thrown, isSame }) => {
  const model = answeringModel({});
  model.doGenerate = () => Promise.reject(thrown);
  const error: unknown = await guarded(model, { fire: fireHook(() => ({})) })
    .doGenerate(prompt)
    .then(undefined, (caught: unknown) => caught);
  expect(error === thrown).toBe(isSame);
  expect(spell(error).includes('SECRET')).toBe(isSame);
});

function apiError(statusCode: number): APICallError {
  const responseBody = 'SECRET';
  return new APICallError({ message: 'x', url: 'http://a', requestBodyValues: {}, statusCode, responseBody });
}

test('a caller that aborts during hooks gets its abort', async () => {
  const controller = new AbortController();
  const fire = fireHook(() => {
    controller.abort(new Error('enough'));
    return { verdict: 'deny', reason: 'aborted' };
  });
  const run = guarded(answeringModel({}), { fire }).doGenerate({ ...prompt, abortSignal: controller.signal });
  await expect(run).rejects.toThrow('enough');
});

test.each([0, 1.5, -1, Number.NaN])('a window of %s characters is refused', (windowChars) => {
  expect(() => createGuard({ fire: fireHook(() => ({})), windowChars })).toThrow(
    expect.objectContaining({ code: 'USAGE' }),
  );
});

test('real hooks redact a prompt, change the answer and deny', async () => {
  const bench = openBench();
  const record = newRecord();
  const links = [
    bench.links.filter({ runs: ['modify-before-call'], kind: 'provider', phases: ['before_call'] }),
    bench.links.filter({
      runs: ['modify-after-call', '[checked]'],
      kind: 'provider',
      phases: ['after_call'],
      name: 'a',
    }),
    bench.links.observe({ runs: ['record-event'], kind: 'provider', env: record.env }),
  ];
  const model = answeringModel({ content: [{ type: 'text', text: 'ok' }] });
  const { text } = await generateText({ model: guarded(model, { fire: fireLinks(links) }), prompt: 'hi' });
  expect(text).toBe('ok [checked]');
  expect(model.doGenerateCalls[0]?.prompt).not.toEqual(prompt.prompt);
  expect(await eventually(record.lines, 2)).toHaveLength(2);
  const deny = bench.links.filter({
    ...answering('server', '{"allow":false,"reason":"no"}'),
    kind: 'provider',
    name: 'b',
  });
  const error = await failureOf(
    generateText({ model: guarded(model, { fire: fireLinks([deny]) }), prompt: 'hi' }),
  );
  expect(error.details).toEqual({ hook: 'b', reason: 'no', metadata: {}, phase: 'before_call' });
});
