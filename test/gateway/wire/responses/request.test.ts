import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../../src/base/errors.ts';
import { stringifyJson } from '../../../../src/base/json/json.ts';
import type { WireRules } from '../../../../src/gateway/wire/codec.ts';
import { responsesCodec } from '../../../../src/gateway/wire/codecs.ts';
import { RefusedCall } from '../../../../src/gateway/wire/refusal.ts';
import { fullRequest, textRequest } from './samples.ts';

const rules: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };

function read(body: unknown, more: Partial<Record<'opaque' | 'references', string[]>> = {}) {
  const given = { ...rules, opaque: new Set(more.opaque), references: new Set(more.references) };
  return responsesCodec.readRequest(typeof body === 'string' ? body : JSON.stringify(body), given);
}

function refusalOf(body: unknown, more = {}) {
  try {
    read(body, more);
  } catch (error) {
    if (error instanceof RefusedCall) return error.refusal;
    throw error;
  }
  return undefined;
}

describe('what hooks read of a request for a response', () => {
  it('is a message for each item, and everything else in `other`', () => {
    const { payload, places, toolResults, maxTokens, isStream } = read(fullRequest);
    const plain: unknown = JSON.parse(stringifyJson(payload.messages));
    expect(plain).toMatchSnapshot();
    expect(JSON.parse(stringifyJson(payload.other))).toEqual({
      tools: fullRequest.tools,
      text: fullRequest.text,
      metadata: fullRequest.metadata,
      user: 'user-7',
      prompt_cache_key: 'cache-1',
    });
    expect(payload.system_prompt).toBe('Be brief.');
    expect(payload.round).toBe(1);
    expect(payload.tools.map(({ name }) => name)).toEqual(['lookup', 'apply_patch']);
    expect(places.slice(0, 2)).toEqual(['input[0]', 'input[1]']);
    expect(toolResults.map(({ callId, call, content }) => [callId, call?.name, content])).toEqual([
      ['call_1', 'lookup', 'It rains.'],
      ['call_2', 'apply_patch', 'done'],
      ['call_3', 'local_shell', 'a b c'],
      ['call_4', 'shell', '/homewarned'],
      ['call_5', 'apply_patch', 'no such file'],
      ['call_8', 'program', '42'],
    ]);
    expect([maxTokens, isStream]).toEqual([400, false]);
  });

  it('is the user’s message for an input that is a text', () => {
    const { payload, places } = read(textRequest);
    expect(payload.messages).toEqual([{ role: 'user', content: 'Hello' }]);
    expect(places).toEqual(['input']);
  });

  it('counts consecutive texts and calls of a model as one round', () => {
    const input = [
      { role: 'user', content: 'go' },
      { type: 'reasoning', id: 'rs', summary: [] },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: '1' },
      { type: 'function_call_output', call_id: 'b', output: '2' },
    ];
    expect(read({ model: 'm', input }).payload.round).toBe(2);
  });

  it('shows pictures as parts without their bytes, where the config lets them pass', () => {
    const content = [
      { type: 'input_text', text: 'Look:' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
      { type: 'input_image', image_url: 'https://pictures.example/cat.png' },
    ];
    const body = { model: 'm', input: [{ role: 'user', content }] };
    expect(refusalOf(body)).toMatchObject({ status: 400, code: 'unknown_content' });
    expect(read(body, { opaque: ['image'] }).payload.messages[0]?.['parts']).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image', media: { mime_type: 'image/png', size_bytes: 3, sha256: expect.any(String) } },
      { type: 'image', media: { mime_type: 'image/*', url: 'https://pictures.example/cat.png' } },
    ]);
  });

  it('has the text of files of text, which hooks can change', () => {
    const data = `data:text/plain;base64,${Buffer.from('Dear Anna').toString('base64')}`;
    const content = [{ type: 'input_file', filename: 'letter.txt', file_data: data }];
    const request = read({ model: 'm', input: [{ role: 'user', content }] });
    const [message] = request.payload.messages;
    expect(message?.content).toBe('Dear Anna');
    const changed: unknown = JSON.parse(stringifyJson(message).replaceAll('Anna', 'P1'));
    const body = request.write({ ...request.payload, messages: [changed as never] }, 'm');
    expect(body).toContain(Buffer.from('Dear P1').toString('base64'));
  });
});

describe('a request for a response that is written', () => {
  it('is the same text when nothing was changed, whatever its spelling', () => {
    const spelt = ` ${JSON.stringify(fullRequest, null, 2).replace('0.5', '5.0e-1')}\n`;
    const request = read(spelt);
    expect(request.write(request.payload, 'gpt-5')).toBe(spelt);
    const copied = {
      ...request.payload,
      messages: request.payload.messages.map((one) => ({ ...one, meta: { a: 1 } })),
    };
    expect(request.write(copied, 'gpt-5')).toBe(spelt);
    expect(request.write(request.payload, 'other')).toBe(spelt.replace('"gpt-5"', '"other"'));
  });

  it('loses messages that hooks remove, and gets those that they add', () => {
    const request = read(fullRequest);
    const [first, ...others] = request.payload.messages;
    const added = { role: 'user', content: 'Mind the gap.' } as const;
    const body: unknown = JSON.parse(
      request.write({ ...request.payload, messages: [added, ...others] }, 'gpt-5'),
    );
    expect(first).toBeDefined();
    expect(body).toEqual({ ...fullRequest, input: [added, ...fullRequest.input.slice(1)] });
  });

  it('turns a text input into a list when a message is added', () => {
    const request = read(textRequest);
    const messages = [{ role: 'system', content: 'Rules' }, ...request.payload.messages] as const;
    expect(JSON.parse(request.write({ ...request.payload, messages }, 'gpt-5'))).toEqual({
      model: 'gpt-5',
      input: [
        { role: 'system', content: 'Rules' },
        { role: 'user', content: 'Hello' },
      ],
    });
    const changed = [{ role: 'user', content: 'Hi "you"' }] as const;
    expect(request.write({ ...request.payload, messages: changed }, 'gpt-5')).toBe(
      '{"model":"gpt-5","input":"Hi \\"you\\""}',
    );
  });

  it.each([
    [
      'a call that was not there',
      { role: 'user', content: 'Hello', tool_calls: [{ id: 'x', name: 'y', args: {} }] },
    ],
    ['a member of its own', { role: 'user', content: 'Hello', more: 'x' }],
  ])('cannot be written with %s in a message', (_, message) => {
    const request = read({
      model: 'm',
      input: [
        { role: 'user', content: 'Hello' },
        { role: 'user', content: 'x' },
      ],
    });
    const messages = [message as never, ...request.payload.messages.slice(1)];
    expect(() => request.write({ ...request.payload, messages }, 'm')).toThrow(RuntimeError);
  });
});

describe('a request for a response is refused', () => {
  it.each<[string, unknown, string[], string]>([
    [
      'previous_response_id',
      { previous_response_id: 'resp_0' },
      ['previous_response_id'],
      'previous_response_id',
    ],
    ['a conversation', { conversation: { id: 'conv_1' } }, ['conversation'], 'conversation'],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }, ['prompt'], 'prompt'],
    ['background', { background: true }, ['background'], 'background'],
    [
      'an item reference',
      { input: [{ type: 'item_reference', id: 'msg_1' }] },
      ['item_reference'],
      'input[0]',
    ],
    ['an item reference without type', { input: [{ id: 'msg_1' }] }, ['item_reference'], 'input[0]'],
    [
      'a file that is kept upstream',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
      ['file_id'],
      'input[0].content[0].file_id',
    ],
  ])('for %s, unless the config lists it', (_, members, names, param) => {
    const body = { ...textRequest, ...(members as object) };
    const opaque = names[0] === 'file_id' ? ['file'] : [];
    expect(refusalOf(body, { opaque })).toMatchObject({ status: 400, code: 'unreadable_reference', param });
    expect(refusalOf(body, { references: names, opaque })).toBeUndefined();
  });

  it('but not for store, which keeps only what hooks have read', () => {
    expect(refusalOf({ ...textRequest, store: true })).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ['an unknown kind of item', { input: [{ type: 'telepathy', text: 'x' }] }, 'unknown_content'],
    [
      'an unknown kind of part',
      { input: [{ role: 'user', content: [{ type: 'smell' }] }] },
      'unknown_content',
    ],
    ['an unknown role', { input: [{ role: 'oracle', content: 'x' }] }, 'invalid_request'],
    ['an item that is none', { input: ['x'] }, 'invalid_request'],
    ['an input that is none', { input: 5 }, 'invalid_request'],
    ['a model that is none', { model: 5 }, 'invalid_request'],
  ])('for %s', (_, members, code) => {
    expect(refusalOf({ ...textRequest, ...(members as object) })).toMatchObject({ status: 400, code });
  });

  it.each([
    ['a key twice', '{"model":"m","input":"a","input":"b"}'],
    ['a broken body', '{"model":"m","input":"a"'],
    ['a list', '[]'],
  ])('for %s', (_, body) => {
    expect(refusalOf(body)).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});
