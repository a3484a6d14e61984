import type { LanguageModelV4Content, LanguageModelV4Source } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { isObject, parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { parseMessage } from '../../../src/calls/hooks/replace.ts';
import { fromAnswer, toAnswer } from '../../../src/models/messages/answer.ts';
import { finish, usage } from '../../models/guard-bench.ts';
import { answering, asking, executing, filter, settings, user } from './support.ts';

const mail = 'ada@example.org';
const hidden = '[EMAIL_ADDRESS]';

function speaking(text: string) {
  return {
    role: 'assistant',
    content: `ask ${text}`,
    parts: [
      { type: 'text', text: `ask ${text}` },
      { type: 'document', media: { mime_type: 'a/b', filename: `${text}.pdf`, data: 'AQID' }, note: text },
    ],
    tool_calls: [{ id: 'c', name: 'find', args: { to: text }, note: text }],
    tool_result: { id: 'c', name: 'find', error: text, note: [text], parts: [{ type: 'x', note: text }] },
    tool_results: [{ id: 'c', name: 'find', content: text }],
    tool_approval: { id: 'a', approved: true, reason: text },
    sources: [{ id: 's', type: 'url', url: `https://a.example/?q=${text}&n=1`, title: text, filename: text }],
    citations: [{ id: 's', type: 'document', mime_type: 'a/b', title: text, cited_text: `"${text}"` }],
    validations: [{ validator_type: 'v', passed: true, details: { why: [text] } }],
    meta: { deep: [{ deeper: { text } }] },
    refusal: `no ${text}`,
    annotations: [text, { [text]: 1 }],
    'x y': text,
  };
}

function left(message: object, subject = filter(), request: object = {}): unknown {
  const { replace } = subject.answer(answering(request, message), 0);
  return isObject(replace) ? replace['message'] : message;
}

describe('every member of a message', () => {
  const places = 21;

  test('is rewritten in an answer', () => {
    expect(left(speaking(mail))).toEqual(speaking(hidden));
  });

  test('is rewritten in a request', () => {
    expect(filter().answer(asking([speaking(mail)]), 0)).toEqual({
      allow: true,
      replace: { messages: [speaking(hidden)] },
      metadata: { pii: { EMAIL_ADDRESS: places } },
    });
  });

  test('counts where everything is blocked', () => {
    expect(filter('block').answer(asking([speaking(mail)]), 0)).toEqual({
      allow: false,
      reason: `the request holds ${places} email addresses`,
      metadata: { pii: { EMAIL_ADDRESS: places } },
    });
  });

  test.each(Object.entries(speaking(mail)).filter(([name]) => name !== 'role'))(
    'blocks an answer by itself: %s',
    (name, value) => {
      expect(filter('block').answer(answering({}, { content: '', [name]: value }), 0)).toMatchObject({
        allow: false,
      });
    },
  );

  test('has its pseudonyms restored in an answer', () => {
    const request = { messages: [user(mail)] };
    const told = speaking('<EMAIL_ADDRESS_1>');
    expect(left(told, filter('pseudonymise'), request)).toEqual(speaking(mail));
  });

  test('is included in the numbering of a conversation', () => {
    const subject = filter('pseudonymise');
    const reply = subject.answer(asking([{ ...user('hi'), refusal: mail }, user(`to ${mail}`)]), 0);
    expect(reply).toMatchObject({
      replace: { messages: [{ refusal: '<EMAIL_ADDRESS_1>' }, { content: 'to <EMAIL_ADDRESS_1>' }] },
    });
  });
});

test.each([
  { url: 'https://a.example/?q=ada%40example.org&n=1', becomes: `https://a.example/?q=${hidden}&n=1` },
  { url: 'mailto:ada@example.org?subject=x', becomes: `mailto:${hidden}?subject=x` },
  { url: 'https://a.example/ada@example.org/', becomes: `https://a.example/${hidden}/` },
])('an address in the URL of a source is found: $url', ({ url, becomes }) => {
  expect(left({ content: '', sources: [{ id: 's', type: 'url', url }] })).toMatchObject({
    sources: [{ id: 's', type: 'url', url: becomes }],
  });
});

test('an address in a URL is masked and hashed as the address that it is', () => {
  const source = (url: string) => ({ content: '', sources: [{ url }] });
  expect(left(source('x?q=ada%40example.org'), filter('mask'))).toMatchObject(
    source('x?q=a***%40example.org'),
  );
  expect(left(source('x?q=ada%40example.org'), filter('hash'))).toEqual(
    left(source(`x?q=${mail}`), filter('hash')),
  );
});

describe('identifiers', () => {
  const kept = {
    role: 'assistant',
    id: mail,
    finish_reason: mail,
    timestamp: mail,
    latency_ms: 4111111111111111,
    content: '',
    parts: [
      {
        type: mail,
        media: {
          mime_type: mail,
          data: mail,
          sha256: mail,
          url: mail,
          file_path: mail,
          storage_reference: mail,
        },
      },
    ],
    tool_calls: [{ id: mail, name: mail, args: {} }],
    tool_result: { id: mail, name: mail, error_type: mail, latency_ms: 4111111111111111 },
    tool_results: [{ id: mail, name: mail, content: '' }],
    tool_approval: { id: mail, approved: true },
    sources: [{ id: mail, type: mail, mime_type: mail }],
    citations: [{ id: mail, type: mail, mime_type: mail }],
    validations: [{ validator_type: mail, timestamp: mail }],
    cost_info: { input_tokens: 4111111111111111, output_tokens: 4111111111111111 },
    meta: { signalbox_pii: mail },
  };

  test('are unchanged', () => {
    expect(filter('block').answer(asking([kept]), 0)).toEqual({ allow: true, metadata: { pii: {} } });
  });

  test('stay beside rewritten text, digits included', () => {
    const message = `{"role":"assistant","content":"","latency_ms":12345678901234567890,"sources":[{"id":"${mail}","score":12345678901234567890,"title":"${mail}"}]}`;
    const payload = parseLossless(
      `{"hook":"provider","phase":"after_call","request":{},"response":{"message":${message}}}`,
    );
    expect(stringifyJson(filter().answer(payload, 0))).toContain(
      `"sources":[{"score":12345678901234567890,"title":"${hidden}","id":"${mail}"}]`,
    );
  });

  test.each(['id', 'timestamp', 'finish_reason'])('hide no nested text: %s', (name) => {
    expect(filter('block').answer(asking([{ ...user(''), [name]: { deep: mail } }]), 0)).toMatchObject({
      allow: false,
    });
  });

  test('cannot be replaced by a member whose name was a pseudonym', () => {
    const subject = filter('pseudonymise');
    const request = { messages: [user('password=finish_reason')] };
    const message = { content: 'x', finish_reason: 'stop', '<SECRET_1>': 'forged' };
    expect(left(message, subject, request)).toEqual({
      role: 'assistant',
      content: 'x',
      finish_reason: 'stop',
    });
  });
});

describe('an answer of the AI SDK', () => {
  const signed = { providerMetadata: { acme: { note: mail } } };
  const link = (text: string): LanguageModelV4Source => ({
    type: 'source',
    sourceType: 'url',
    id: 's1',
    url: `https://a.example/?q=${text}`,
    title: text,
  });
  const paper = (text: string): LanguageModelV4Source => ({
    type: 'source',
    sourceType: 'document',
    id: 's2',
    mediaType: 'application/pdf',
    title: text,
    filename: `${text}.pdf`,
  });
  const content: LanguageModelV4Content[] = [
    { type: 'tool-call', toolCallId: 'c', toolName: 'search', input: '{}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 'c', toolName: 'search', result: { found: [mail], n: 1 }, ...signed },
    { ...link(mail), ...signed },
    { ...paper(mail), ...signed },
    { type: 'text', text: 'see', citations: [{ source: link(mail), citedText: mail }] },
  ];

  function filtered(subject = filter(), request: object = {}) {
    const { finishReason } = finish;
    const message = fromAnswer({ content, usage, finishReason });
    const told = parseLossless(stringifyJson(message));
    const changed = left(isObject(told) ? told : {}, subject, request);
    return toAnswer(parseMessage(stringifyJson(changed)), { content, finishReason, message }).content;
  }

  test('gets its sources and results rewritten, and loses the citations that quoted', () => {
    expect(filtered()).toEqual([
      content[0],
      { type: 'tool-result', toolCallId: 'c', toolName: 'search', result: { found: [hidden], n: 1 } },
      link(hidden),
      paper(hidden),
      { type: 'text', text: 'see' },
    ]);
  });

  test('keeps nothing of a value, whatever the action', () => {
    const actions = ['redact', 'mask', 'hash'] as const;
    const answers = actions.map((action) => JSON.stringify(filtered(filter(action))));
    expect(answers.filter((answer) => answer.includes(mail))).toEqual([]);
  });
});

describe('pseudonyms in the arguments of a tool', () => {
  test('leave values alone where arguments are restored, and hash them where they are not', () => {
    const kept = filter('pseudonymise').answer(executing({ to: mail }), 0);
    expect(kept).toEqual({ allow: true, metadata: { pii: {} } });
    const { key } = settings();
    const hashed = filter('pseudonymise', { restore: new Set(['answer']), key });
    expect(hashed.answer(executing({ to: mail }), 0)).toMatchObject({
      replace: { args: { to: '[EMAIL_ADDRESS:b0fdcbf620e93464]' } },
    });
  });
});
