import { describe, expect, it } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { embeddingsCodec } from '../../../src/gateway/wire/embeddings/codec.ts';
import { strict } from './chat/rules.ts';

const redacting = { ...strict, redactsEmbeddings: true };
const open = (input: unknown, more: object = {}, rules = strict) =>
  embeddingsCodec.readRequest(JSON.stringify({ model: 'e', input, ...more }), rules);
const read = (body: unknown) => embeddingsCodec.readAnswer(JSON.stringify(body), strict, open('x'));
const unwritable = expect.objectContaining({ code: 'REPLY_MALFORMED' });

const vector = (embedding: unknown, more: object = {}) => ({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding, ...more }],
  model: 'e',
  usage: { prompt_tokens: 2, total_tokens: 2 },
});

describe('a request for embeddings', () => {
  it('shows hooks each text as a user message', () => {
    const { payload, places } = open(['a', 'b'], { user: 'ann', encoding_format: 'base64', dimensions: 3 });
    expect(payload.messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ]);
    expect(payload.other.text).toBe('{"user":"ann"}');
    expect(places).toEqual(['input[0]', 'input[1]']);
    expect(open('a').places).toEqual(['input']);
    expect(open([]).payload.messages).toEqual([]);
  });

  it.each<[unknown]>([
    [[1, 2]],
    [[[1, 2]]],
    [['a', [1]]],
    [7],
    [{ text: 'a' }],
    [null],
    [[{ type: 'text', text: 'a' }]],
  ])('is refused with %j', (input) => {
    expect(() => open(input)).toThrow(
      expect.objectContaining({ refusal: expect.objectContaining({ status: 400, code: 'unknown_content' }) }),
    );
  });

  it('is the same string unless something changes, which the config must allow', () => {
    const request = open(['a', 'b']);
    const messages = request.payload.messages.map(({ role, content }) => ({ role, content: `${content}!` }));
    expect(request.write(request.payload, 'e')).toBe('{"model":"e","input":["a","b"]}');
    expect(request.write(request.payload, 'f')).toBe('{"model":"f","input":["a","b"]}');
    expect(() => request.write({ ...request.payload, messages }, 'e')).toThrow(unwritable);
    expect(open(['a', 'b'], {}, redacting).write({ ...request.payload, messages }, 'e')).toBe(
      '{"model":"e","input":["a!","b!"]}',
    );
    for (const stray of [{ messages: [] }, { system_prompt: 's' }, { other: new Json('{"input":"x"}') }]) {
      const other = open(['a', 'b'], {}, redacting);
      expect(() => other.write({ ...other.payload, ...stray }, 'e')).toThrow(unwritable);
    }
  });
});

describe('an answer of embeddings', () => {
  const packed = Buffer.from(new Float32Array([0.1, -2.5, 3e-9]).buffer).toString('base64');

  it.each([[[0.1, -2.5, 3e-9]], [packed], [[]]])('has no text: %j', (embedding) => {
    const answer = read(vector(embedding));
    expect(answer.messages).toEqual([
      { role: 'assistant', content: '', cost_info: { input_tokens: 2, output_tokens: 0 } },
    ]);
    expect(answer.write(answer.messages)).toBe(answer.body);
    expect(answer.usage).toEqual({ input: 2, output: 0 });
  });

  it.each<[string, unknown, object]>([
    ['a text in the place of a vector', vector('my secret'), { 'data[0].embedding': 'my secret' }],
    [
      'base64 of a text',
      vector(Buffer.from('my secret 12').toString('base64')),
      { 'data[0].embedding': Buffer.from('my secret 12').toString('base64') },
    ],
    ['a text among numbers', vector([1, 'secret']), { 'data[0].embedding': [1, 'secret'] }],
    ['a member of its own', vector([1], { note: 'secret' }), { 'data[0].note': 'secret' }],
  ])('shows hooks %s', (_what, body, other) => {
    const answer = read(body);
    const told = answer.messages[0]?.['other'];
    expect(told instanceof Json ? told.value : undefined).toEqual(other);
    expect(answer.write([{ role: 'assistant', content: '' }])).not.toContain('secret');
    expect(() => answer.write([{ role: 'assistant', content: 'text' }])).toThrow(unwritable);
  });
});
