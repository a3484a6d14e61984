import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../../src/base/errors.ts';
import { stringifyJson } from '../../../../src/base/json/json.ts';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import type { WireRules } from '../../../../src/gateway/wire/codec.ts';
import { responsesCodec } from '../../../../src/gateway/wire/codecs.ts';
import { RefusedCall } from '../../../../src/gateway/wire/refusal.ts';
import { fullAnswer, fullRequest, textAnswer } from './samples.ts';

const rules: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };
const request = responsesCodec.readRequest(JSON.stringify(fullRequest), rules);

function read(body: unknown) {
  return responsesCodec.readAnswer(typeof body === 'string' ? body : JSON.stringify(body), rules, request);
}

function plain(message: ChatMessage | undefined): ChatMessage {
  return JSON.parse(stringifyJson(message));
}

describe('what hooks read of a response', () => {
  it('is one message of all its items', () => {
    const answer = read(fullAnswer);
    expect(answer.messages.map(plain)).toMatchSnapshot();
    expect(answer.usage).toEqual({ input: 10, output: 20, cachedInput: 4 });
    expect(answer.toolCalls.map(({ callId, name, index }) => [callId, name, index])).toEqual([
      ['call_a', 'lookup', 0],
      ['call_b', 'lookup', 1],
      ['call_c', 'apply_patch', 2],
      ['call_d', 'shell', 7],
      ['call_e', 'apply_patch', 8],
    ]);
    expect(answer.body).toBe(JSON.stringify(fullAnswer));
    expect(answer.write(answer.messages)).toBe(answer.body);
  });

  it.each([
    ['completed', {}, 'stop'],
    ['incomplete', { incomplete_details: { reason: 'max_output_tokens' } }, 'max_output_tokens'],
    ['incomplete', { incomplete_details: { reason: 'content_filter' } }, 'safety'],
    ['failed', { error: { code: 'server_error', message: 'Broken' } }, 'error'],
    ['cancelled', {}, 'cancelled'],
  ])('has the stop reason: %s %j', (status, members, finish) => {
    const [message] = read(textAnswer('x', { status, ...members })).messages;
    expect(message?.['finish_reason']).toBe(finish);
    expect(status !== 'failed' || stringifyJson(message).includes('Broken')).toBe(true);
  });

  it('omits what repeats the request, and shows what does not', () => {
    expect(plain(read(textAnswer('x')).messages[0])['other']).toBeUndefined();
    const other = read(
      textAnswer('x', { instructions: 'Other words.', tools: [{ type: 'function', name: 'new' }] }),
    );
    expect(plain(other.messages[0])['other']).toEqual({
      instructions: 'Other words.',
      tools: [{ type: 'function', name: 'new' }],
    });
  });

  it('omits what repeats a request that hooks have changed', () => {
    const own = responsesCodec.readRequest(JSON.stringify(fullRequest), rules);
    own.write({ ...own.payload, system_prompt: 'Be P1.' }, 'gpt-5');
    const body = JSON.stringify(textAnswer('x', { instructions: 'Be P1.' }));
    expect(responsesCodec.readAnswer(body, rules, own).messages[0]?.['other']).toBeUndefined();
  });

  it('is refused for an unknown item or part, and if it is not a response', () => {
    const codeOf = (body: unknown) => {
      try {
        return read(body).body;
      } catch (error) {
        return error instanceof RefusedCall ? error.refusal.code : error;
      }
    };
    expect(codeOf({ ...fullAnswer, output: [{ type: 'telepathy', id: 'x' }] })).toBe('unknown_content');
    const content = [{ type: 'smell', text: 'x' }];
    expect(codeOf({ ...fullAnswer, output: [{ type: 'message', role: 'assistant', content }] })).toBe(
      'unknown_content',
    );
    expect(
      codeOf({ ...fullAnswer, output: [{ type: 'image_generation_call', id: 'i', result: 'AAAA' }] }),
    ).toBe('unknown_content');
    expect(codeOf('{"output":[],"output":[]}')).toBe('upstream_invalid');
    expect(codeOf('nonsense')).toBe('upstream_invalid');
  });
});

describe('a response that hooks have changed', () => {
  it('loses everything that a text-only message does not repeat', () => {
    const answer = read(fullAnswer);
    const body: unknown = JSON.parse(answer.write([{ role: 'assistant', content: 'No.' }]));
    const part = { type: 'output_text', annotations: [], logprobs: [] };
    expect(body).toEqual({
      ...fullAnswer,
      output: [
        {
          id: 'msg_2',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          phase: 'commentary',
          content: [{ ...part, text: 'No.' }],
        },
        { id: 'mcpl_2', type: 'mcp_list_tools', server_label: 'deep' },
        {
          id: 'msg_3',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          phase: 'final_answer',
          content: [{ ...part, text: '' }],
        },
      ],
    });
  });

  it('gets a message where it had only calls', () => {
    const call = {
      type: 'function_call',
      id: 'fc',
      call_id: 'c',
      name: 'f',
      arguments: '{}',
      status: 'completed',
    };
    const answer = read({ ...fullAnswer, output: [call] });
    const body = JSON.parse(answer.write([{ role: 'assistant', content: 'Blocked.' }]));
    expect(body.output).toEqual([
      {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Blocked.' }],
      },
    ]);
  });

  it('keeps texts in their places where a filter changes one of them', () => {
    const answer = read(fullAnswer);
    const message = plain(answer.messages[0]);
    const { parts: _, ...rest } = message;
    const content = message.content
      .replace('found about Ulm', 'found about [CITY]')
      .replace('in Ulm', 'in [CITY]');
    const texts = JSON.parse(answer.write([{ ...rest, role: 'assistant', content }])).output.flatMap(
      ({ type, content: list }: { type: string; content: { type: string; text?: string }[] }) =>
        type === 'message' ? list.flatMap(({ text }) => text ?? []) : [],
    );
    expect(texts).toEqual(['Here is what I found about [CITY].', 'It rains in [CITY].']);
  });

  it('loses the tokens of a changed text', () => {
    const logprobs = [{ token: 'secret', logprob: -1, bytes: [1], top_logprobs: [] }];
    const content = [{ type: 'output_text', text: 'secret', annotations: [], logprobs }];
    const answer = read({
      ...fullAnswer,
      output: [{ id: 'm', type: 'message', role: 'assistant', status: 'completed', content }],
    });
    const body = answer.write([{ ...plain(answer.messages[0]), content: '[X]' }]);
    expect(body).not.toContain('secret');
  });

  it('changes the arguments of one call, and keeps the digits of another', () => {
    const answer = read(fullAnswer);
    const message = answer.messages[0];
    if (message === undefined) throw new Error('no message');
    const calls = message['tool_calls'] as { id: string }[];
    const changed = calls.map((call) => (call.id === 'call_a' ? { ...call, args: { city: 'Rom' } } : call));
    const body = answer.write([{ ...message, tool_calls: changed }]);
    expect(body).toBe(answer.body.replace('{\\"city\\":\\"Ulm\\"}', '{\\"city\\":\\"Rom\\"}'));
  });

  it.each([
    ['a call that was not there', { tool_calls: [{ id: 'new', name: 'f', args: {} }] }],
    ['a refusal where none was', { refusal: 'No' }],
    ['another role', { role: 'user' }],
    ['a member of its own', { mood: 'good' }],
    ['an `other` of its own', { other: { more: 1 } }],
  ])('is not written with %s', (_, members) => {
    const answer = read(textAnswer('x'));
    expect(() => answer.write([{ ...plain(answer.messages[0]), ...members } as ChatMessage])).toThrow(
      RuntimeError,
    );
  });

  it('loses the encrypted reasoning and every copy of the tokens with what a filter changes', () => {
    const sealed = Buffer.from(Array.from({ length: 60 }, (_, index) => 255 - index)).toString('base64');
    const tokens = ['Ask', ' Anna'].map((token) => ({
      token,
      logprob: -1,
      bytes: [...Buffer.from(token)],
      top_logprobs: [],
    }));
    const content = [{ type: 'output_text', text: 'Ask Anna', annotations: [], logprobs: tokens }];
    const thought = { id: 'rs_1', type: 'reasoning', encrypted_content: sealed };
    const summary = [{ type: 'summary_text', text: 'Anna knows.' }];
    const answer = read({
      ...fullAnswer,
      output: [
        { ...thought, summary },
        { id: 'm', type: 'message', role: 'assistant', status: 'completed', content },
      ],
    });
    const message = plain(answer.messages[0]);
    expect(stringifyJson(message).includes(sealed)).toBe(false);
    const ofText: unknown = JSON.parse(answer.write([{ ...message, content: 'Ask [X]' }]));
    expect(ofText).toMatchObject({
      output: [{ ...thought, summary }, { content: [{ text: 'Ask [X]', logprobs: [] }] }],
    });
    const ofThought: unknown = JSON.parse(answer.write([{ ...message, reasoning: '[X] knows.' }]));
    expect(ofThought).toMatchObject({
      output: [
        { summary: [{ text: '[X] knows.' }], encrypted_content: null },
        { content: [{ logprobs: [] }] },
      ],
    });
  });

  it('repeats its text in `output_text` where an upstream has that', () => {
    const answer = read(textAnswer('one', { output_text: 'one' }));
    expect(JSON.parse(answer.write([{ role: 'assistant', content: 'two' }])).output_text).toBe('two');
  });
});

describe('a call that the client could run', () => {
  const calls = [
    { type: 'function_call', name: 'send', arguments: '{}' },
    { type: 'custom_tool_call', name: 'send', input: 'x' },
    { type: 'local_shell_call', action: { type: 'exec', command: ['ls'] } },
    { type: 'shell_call', action: { commands: ['ls'] } },
    { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a' } },
    { type: 'computer_call', action: { type: 'screenshot' } },
    { type: 'tool_search_call', arguments: { query: 'x' } },
  ];
  const environment = { type: 'container_reference', container_id: 'c' };
  const lies = [
    {},
    { execution: 'server' },
    { environment },
    { execution: 'server', environment },
    { caller: { type: 'program', caller_id: 'p' } },
    { status: 'completed', created_by: 'server' },
  ];
  const shell = (type: string) => ({ type: 'shell', environment: { type } });
  const of = (call: object, tools: readonly object[]) => {
    const own = responsesCodec.readRequest(JSON.stringify({ model: 'm', input: 'x', tools }), rules);
    const item = { id: 'i', call_id: 'c', status: 'completed', ...call };
    return responsesCodec.readAnswer(JSON.stringify({ ...fullAnswer, output: [item] }), rules, own).toolCalls;
  };

  it.each(calls)('is judged whatever other members it has: $type', (call) => {
    for (const lie of lies)
      for (const tools of [[], [shell('local')], [{ type: 'shell' }, shell('container_auto')]])
        expect(of({ ...call, ...lie }, tools)).toHaveLength(1);
  });

  it('is not one of the hosted tools that the request declares', () => {
    expect(of({ type: 'shell_call', action: {}, environment }, [shell('container_auto')])).toHaveLength(0);
    expect(of({ type: 'shell_call', action: {} }, [shell('container_auto')])).toHaveLength(1);
    const search = { type: 'tool_search_call', arguments: {}, execution: 'server' };
    expect(of(search, [{ type: 'tool_search' }])).toHaveLength(0);
    expect(of(search, [{ type: 'tool_search', execution: 'client' }])).toHaveLength(1);
  });
});
