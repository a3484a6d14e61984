import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { parseMessage } from '../../../src/calls/hooks/replace.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import { maxMediaChars } from '../../../src/models/messages/media.ts';
import { fromPrompt, toPrompt } from '../../../src/models/messages/prompt.ts';

const options = { acme: { itemId: 'private' } };
const picture = { type: 'data', data: new Uint8Array([1, 2, 3]) } as const;

const everything: LanguageModelV4Prompt = [
  { role: 'system', content: 'Be kind.', providerOptions: options },
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'look at this', providerOptions: options },
      { type: 'file', mediaType: 'image/png', filename: 'a.png', data: picture, providerOptions: options },
      { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: btoa(' and this') } },
      {
        type: 'file',
        mediaType: 'application/pdf',
        data: { type: 'url', url: new URL('https://a.example/b.pdf') },
      },
      { type: 'file', mediaType: 'audio', data: { type: 'reference', reference: { acme: 'file-1' } } },
    ],
    providerOptions: options,
  },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', providerOptions: options },
      { type: 'text', text: 'I will ', providerOptions: options },
      { type: 'text', text: 'search.' },
      { type: 'tool-call', toolCallId: 'c0', toolName: 'search', input: { q: 'x' }, providerExecuted: true },
      { type: 'tool-result', toolCallId: 'c0', toolName: 'search', output: { type: 'text', value: 'found' } },
      { type: 'custom', kind: 'acme.note', providerOptions: options },
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'count',
        input: parseLossless('{"n":12345678901234567890}'),
      },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'count', input: {} },
    ],
    providerOptions: options,
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'c1', toolName: 'count', output: { type: 'json', value: { n: 1 } } },
      {
        type: 'tool-result',
        toolCallId: 'c2',
        toolName: 'count',
        output: { type: 'error-text', value: 'no' },
      },
      {
        type: 'tool-result',
        toolCallId: 'c3',
        toolName: 'show',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'seen' },
            { type: 'file', mediaType: 'image/png', data: picture },
          ],
        },
        providerOptions: options,
      },
      {
        type: 'tool-result',
        toolCallId: 'c4',
        toolName: 'send',
        output: { type: 'execution-denied', reason: 'no!' },
      },
      { type: 'tool-approval-response', approvalId: 'a1', approved: false, reason: 'not now' },
    ],
    providerOptions: options,
  },
  { role: 'system', content: 'Be quick.', providerOptions: options },
  { role: 'user', content: [{ type: 'text', text: 'go on' }] },
];

test('a prompt in native form has everything for its model, and nothing provider-specific', () => {
  expect(JSON.parse(stringifyJson(fromPrompt(everything)))).toEqual({
    system_prompt: 'Be kind.\n\nBe brief.',
    messages: [
      {
        role: 'user',
        content: 'look at this and this',
        parts: [
          { type: 'text', text: 'look at this' },
          {
            type: 'image',
            media: { mime_type: 'image/png', filename: 'a.png', size_bytes: 3, data: 'AQID' },
          },
          { type: 'document', text: ' and this', media: { mime_type: 'text/plain' } },
          { type: 'document', media: { mime_type: 'application/pdf', url: 'https://a.example/b.pdf' } },
          { type: 'audio', media: { mime_type: 'audio', storage_reference: 'acme:file-1' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I will search.',
        tool_calls: [
          { id: 'c0', name: 'search', args: { q: 'x' } },
          { id: 'c1', name: 'count', args: { n: expect.any(Number) } },
          { id: 'c2', name: 'count', args: {} },
        ],
        reasoning: 'hm',
      },
      { role: 'tool', content: 'found', tool_result: { id: 'c0', name: 'search', latency_ms: 0 } },
      { role: 'tool', content: '{"n":1}', tool_result: { id: 'c1', name: 'count', latency_ms: 0 } },
      { role: 'tool', content: 'no', tool_result: { id: 'c2', name: 'count', error: 'no', latency_ms: 0 } },
      {
        role: 'tool',
        content: 'seen',
        tool_result: {
          id: 'c3',
          name: 'show',
          parts: [
            { type: 'text', text: 'seen' },
            { type: 'image', media: { mime_type: 'image/png', size_bytes: 3, data: 'AQID' } },
          ],
          latency_ms: 0,
        },
      },
      {
        role: 'tool',
        content: 'no!',
        tool_result: { id: 'c4', name: 'send', error: 'no!', error_type: 'approval', latency_ms: 0 },
      },
      { role: 'tool', content: 'not now', tool_approval: { id: 'a1', approved: false } },
      { role: 'system', content: 'Be quick.' },
      { role: 'user', content: 'go on' },
    ],
  });
});

test('arguments keep their digits to hooks and back', () => {
  const digits = '"n":12345678901234567890';
  const sent = fromPrompt(everything.slice(3, 4));
  expect(stringifyJson(sent)).toContain(digits);
  expect(JSON.stringify(rebuild(everything, (messages) => replaceText(messages, (same) => same)))).toContain(
    digits,
  );
  expect(JSON.stringify(toPrompt({ ...sent, messages: sent.messages.slice(0, 1) }))).toContain(digits);
});

test('a long file is described by its size and digest', () => {
  const data = new Uint8Array(maxMediaChars);
  const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data } } as const;
  const [message] = fromPrompt([{ role: 'user', content: [file] }]).messages;
  expect(message?.['parts']).toEqual([
    {
      type: 'image',
      media: {
        mime_type: 'image/png',
        size_bytes: maxMediaChars,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    },
  ]);
});

function replaceText(messages: readonly ChatMessage[], change: (text: string) => string): ChatMessage[] {
  return messages.map((message) => parseMessage(change(stringifyJson(message))));
}

function rebuild(
  prompt: LanguageModelV4Prompt,
  change: (messages: readonly ChatMessage[]) => readonly ChatMessage[],
): LanguageModelV4Prompt {
  const sent = fromPrompt(prompt);
  const { system_prompt, messages } = sent;
  return toPrompt({ system_prompt, messages: change(messages) }, { prompt, messages });
}

test.each<{ title: string; change: (messages: readonly ChatMessage[]) => readonly ChatMessage[] }>([
  { title: 'the same', change: (messages) => messages },
  { title: 'copies', change: (messages) => replaceText(messages, (text) => text) },
  {
    title: 'copies with other spaces and escapes',
    change: (messages) =>
      messages.map((message) => parseMessage(JSON.stringify(message, null, 1).replaceAll('i', '\\u0069'))),
  },
])('a prompt whose messages come back $title is the prompt that was sent', ({ change }) => {
  const rebuilt = rebuild(everything, change);
  expect(rebuilt.every((message, index) => message === everything[index])).toBe(true);
  expect(rebuilt).toHaveLength(everything.length);
});

const text = (content: string): LanguageModelV4Message => ({
  role: 'user',
  content: [{ type: 'text', text: content }],
});

test.each<{
  title: string;
  change: (messages: readonly ChatMessage[]) => readonly ChatMessage[];
  kept: readonly number[];
}>([
  { title: 'one is left out', change: (messages) => messages.slice(1), kept: [0, 1, 3, 4, 5, 6] },
  {
    title: 'one is put before them',
    change: (messages) => [{ role: 'user', content: 'first' }, ...replaceText(messages, (same) => same)],
    kept: [0, 1, 2, 3, 4, 5, 6],
  },
  {
    title: 'one of them is changed',
    change: (messages) => replaceText(messages, (same) => same.replace('go on', 'stop')),
    kept: [0, 1, 2, 3, 4, 5],
  },
  {
    title: 'one result of several is changed',
    change: (messages) => replaceText(messages, (same) => same.replaceAll('not now', 'later')),
    kept: [0, 1, 2, 3, 5, 6],
  },
])('in a prompt of which $title the other messages are unchanged', ({ change, kept }) => {
  const rebuilt = rebuild(everything, change);
  const found = everything.flatMap((message, index) => (rebuilt.includes(message) ? [index] : []));
  expect(found).toEqual(kept);
});

test('a changed assistant message loses the provider’s stored parts, and the rest stays in place', () => {
  const [, , , assistant] = rebuild(everything, (messages) =>
    replaceText(messages, (same) => same.replaceAll('search.', 'look.').replaceAll('found', 'lost')),
  );
  const [, , , old] = everything;
  expect(assistant).toEqual({
    role: 'assistant',
    content: [
      old?.content[0],
      { type: 'text', text: 'I will look.' },
      old?.content[3],
      { type: 'tool-result', toolCallId: 'c0', toolName: 'search', output: { type: 'text', value: 'lost' } },
      old?.content[6],
      old?.content[7],
    ],
  });
});

test('a changed user message keeps its files and its place', () => {
  const [, , user] = rebuild(everything, (messages) =>
    replaceText(messages, (same) => same.replaceAll('look at', 'see').replaceAll('and this', 'and that')),
  );
  const [, , old] = everything;
  expect(user).toEqual({
    ...old,
    content: [
      { type: 'text', text: 'see this', providerOptions: options },
      old?.content[1],
      { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: btoa(' and that') } },
      old?.content[3],
      old?.content[4],
    ],
  });
});

test.each([
  {
    title: 'JSON stays JSON',
    from: '{\\"n\\":1}',
    to: '{\\"n\\":2}',
    output: { type: 'json', value: { n: 2 } },
  },
  { title: 'JSON becomes text', from: '{\\"n\\":1}', to: '***', output: { type: 'text', value: '***' } },
])('the changed result of a tool: $title', ({ from, to, output }) => {
  const tools = rebuild(everything, (messages) =>
    replaceText(messages, (same) => same.replaceAll(from, to)),
  )[4];
  expect(tools?.content[0]).toEqual({ type: 'tool-result', toolCallId: 'c1', toolName: 'count', output });
  expect(tools?.content.slice(1)).toEqual(everything[4]?.content.slice(1));
});

test('a failed result changed in `error` alone is changed', () => {
  const [tool] = rebuild([{ role: 'tool', content: [failedResult] }], ([message]) => [
    parseMessage(stringifyJson({ ...message, tool_result: { id: 'c', name: 'n', error: '***' } })),
  ]);
  expect(tool).toEqual({
    role: 'tool',
    content: [{ ...failedResult, output: { type: 'error-text', value: '***' } }],
  });
});

const failedResult = {
  type: 'tool-result',
  toolCallId: 'c',
  toolName: 'n',
  output: { type: 'error-text', value: 'SECRET' },
} as const;

test.each([
  { title: 'an empty text', given: '', system: [] },
  { title: 'another text', given: 'x', system: [{ role: 'system', content: 'x', providerOptions: options }] },
])('$title in place of the system prompt', ({ given, system }) => {
  const prompt: LanguageModelV4Prompt = [
    { role: 'system', content: 'a', providerOptions: options },
    text('b'),
  ];
  const { messages } = fromPrompt(prompt);
  expect(toPrompt({ messages, system_prompt: given }, { prompt, messages })).toEqual([...system, prompt[1]]);
});

test('native messages alone form a prompt', () => {
  const messages: ChatMessage[] = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: '', tool_calls: [{ id: 'c1', name: 'n', args: { a: 1 } }] },
    { role: 'tool', content: '1', tool_result: { id: 'c1', name: 'n' } },
    { role: 'tool', content: 'no', tool_result: { id: 'c2', name: 'n', error: 'no' } },
    {
      role: 'user',
      content: '',
      parts: [{ type: 'image', media: { mime_type: 'image/png', data: 'AQID' } }],
    },
  ];
  expect(toPrompt({ messages, system_prompt: 'Be kind.' })).toEqual([
    { role: 'system', content: 'Be kind.' },
    text('hi'),
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'n', input: { a: 1 } }] },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'c1', toolName: 'n', output: { type: 'text', value: '1' } },
        { type: 'tool-result', toolCallId: 'c2', toolName: 'n', output: { type: 'error-text', value: 'no' } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } }],
    },
  ]);
});

test.each<{ title: string; message: ChatMessage }>([
  { title: 'a tool’s without its result', message: { role: 'tool', content: '1' } },
  {
    title: 'a tool’s whose result has no id',
    message: { role: 'tool', content: '1', tool_result: { name: 'n' } },
  },
  { title: 'calls that are no list', message: { role: 'assistant', content: '', tool_calls: {} } },
  {
    title: 'a call without args',
    message: { role: 'assistant', content: '', tool_calls: [{ id: 'a', name: 'b' }] },
  },
  {
    title: 'a user’s calls',
    message: { role: 'user', content: '', tool_calls: [{ id: 'a', name: 'b', args: {} }] },
  },
  { title: 'reasoning that is no text', message: { role: 'assistant', content: '', reasoning: [] } },
  { title: 'parts that are no list', message: { role: 'user', content: '', parts: {} } },
  {
    title: 'a file that is nowhere',
    message: { role: 'user', content: '', parts: [{ type: 'image', media: {} }] },
  },
  {
    title: 'a file on a disk',
    message: {
      role: 'user',
      content: '',
      parts: [{ type: 'image', media: { mime_type: 'image/png', file_path: '/a' } }],
    },
  },
  {
    title: 'two texts that differ',
    message: { role: 'user', content: 'a', parts: [{ type: 'text', text: 'b' }] },
  },
  {
    title: 'an approval of nothing',
    message: { role: 'tool', content: '', tool_approval: { approved: true } },
  },
])('no prompt is made of $title', ({ message }) => {
  expect(() => toPrompt({ messages: [message], system_prompt: '' })).toThrow(
    expect.objectContaining({ code: 'REPLY_MALFORMED' }),
  );
});

test('no prompt is made when a provider’s result loses the message of its call', () => {
  expect(() =>
    rebuild(everything, (messages) => messages.filter(({ role }) => role !== 'assistant')),
  ).toThrow(expect.objectContaining({ code: 'REPLY_MALFORMED' }));
});

test('a document whose text is removed is not sent', () => {
  const file = { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'SECRET' } } as const;
  const without = ([message]: readonly ChatMessage[]): ChatMessage[] => [
    {
      role: 'user',
      content: '',
      parts: [{ type: 'document', media: { mime_type: 'text/plain' } }],
      n: message?.role,
    },
  ];
  expect(() => rebuild([{ role: 'user', content: [file] }], without)).toThrow(
    expect.objectContaining({ code: 'REPLY_MALFORMED' }),
  );
});

/** Messages with SECRET in places that hooks read, and in private places that refer to them. */
const word = fc.constantFrom('SECRET', 'a', 'b', 'a SECRET b');
const secretOptions = { acme: { itemId: 'SECRET' } };
const someText = word.map((value) => ({ type: 'text' as const, text: value }));
const someFile = word.map((value) => ({
  type: 'file' as const,
  mediaType: 'text/plain',
  data: { type: 'data' as const, data: btoa(value) },
}));
const call = fc.tuple(fc.constantFrom('c1', 'c2'), word).map(([toolCallId, q]) => ({
  type: 'tool-call' as const,
  toolCallId,
  toolName: 'n',
  input: { q },
}));
const result = fc
  .tuple(fc.constantFrom('c1', 'c2'), word, fc.nat({ max: 3 }))
  .map(([toolCallId, value, kind]) => ({
    type: 'tool-result' as const,
    toolCallId,
    toolName: 'n',
    output: [
      { type: 'text' as const, value },
      { type: 'json' as const, value: { a: [value] } },
      { type: 'error-text' as const, value },
      { type: 'content' as const, value: [{ type: 'text' as const, text: value }] },
    ][kind] ?? { type: 'text' as const, value },
  }));
const message: fc.Arbitrary<LanguageModelV4Message> = fc.oneof(
  fc
    .array(fc.oneof(someText, someFile), { maxLength: 3 })
    .map((content) => ({ role: 'user' as const, content })),
  fc
    .array(
      fc.oneof(
        someText.map((part) => ({
          ...part,
          ...(part.text.includes('SECRET') && { providerOptions: secretOptions }),
        })),
        word.map((value) => ({ type: 'reasoning' as const, text: value })),
        call,
        result,
      ),
      { maxLength: 5 },
    )
    .map((content) => ({ role: 'assistant' as const, content })),
  fc.array(result, { minLength: 1, maxLength: 3 }).map((content) => ({ role: 'tool' as const, content })),
  word.map((content) => ({ role: 'system' as const, content })),
);

test('a prompt with all secrets redacted has none, and one without secrets is unchanged', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), (prompt) => {
      const sent = fromPrompt(prompt);
      const redact = (value: string) => value.replaceAll('SECRET', '***');
      const messages = replaceText(sent.messages, redact);
      const rebuilt = toPrompt(
        { messages, system_prompt: redact(sent.system_prompt) },
        { prompt, messages: sent.messages },
      );
      expect(JSON.stringify(rebuilt)).not.toContain('SECRET');
      expect(JSON.stringify(rebuilt)).not.toContain(btoa('SECRET').slice(0, 6));
      expect(stringifyJson(fromPrompt(rebuilt))).toBe(redact(stringifyJson(sent)));
    }),
    { numRuns: 500 },
  );
}, 60_000);
