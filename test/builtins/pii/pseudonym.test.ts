import { describe, expect, test } from 'vitest';
import { isObject } from '../../../src/base/json/json.ts';
import type { FilterReply, PiiFilter } from '../../../src/builtins/pii/filter.ts';
import { actionsOf, answering, asking, executing, filter, user } from './support.ts';

const ada = 'ada@example.org';
const bob = 'bob@example.org';
const hour = 3_600_000;

function sent(payload: ReturnType<typeof asking>, reply: FilterReply): Readonly<Record<string, unknown>> {
  const { replace } = reply;
  return { ...payload.request, ...(isObject(replace) ? replace : {}) };
}

function contents(request: Readonly<Record<string, unknown>>): unknown[] {
  const { messages } = request;
  return Array.isArray(messages) ? messages.map(({ content }) => content) : [];
}

/** The text that the user reads when the model answers `content` to that request. */
function read(subject: PiiFilter, request: object, content: string, now = 0): unknown {
  const { replace } = subject.answer(answering(request, { content }), now);
  return isObject(replace) && isObject(replace['message']) ? replace['message']['content'] : content;
}

describe('numbers', () => {
  const first = [user(`I am ${ada}`)];
  const second = [...first, { role: 'assistant', content: `Hi ${ada}` }, user(`cc ${bob} and ${ada}`)];
  const expected = [
    'I am <EMAIL_ADDRESS_1>',
    'Hi <EMAIL_ADDRESS_1>',
    'cc <EMAIL_ADDRESS_2> and <EMAIL_ADDRESS_1>',
  ];

  test('follow from the messages: a fresh process gives the same as one that saw earlier rounds', () => {
    const old = filter('pseudonymise');
    old.answer(asking(first), 0);
    const inOld = sent(asking(second), old.answer(asking(second), 0));
    const inNew = sent(asking(second), filter('pseudonymise').answer(asking(second), 0));
    expect(contents(inOld)).toEqual(expected);
    expect(inNew).toEqual(inOld);
  });

  test('begin with the system prompt', () => {
    const payload = asking([user(`I am ${ada}`)], {}, `You work for ${bob}`);
    expect(sent(payload, filter('pseudonymise').answer(payload, 0))).toMatchObject({
      system_prompt: 'You work for <EMAIL_ADDRESS_1>',
      messages: [{ content: 'I am <EMAIL_ADDRESS_2>' }],
    });
  });

  test('that a model has in its own words are not given again, where nothing is restored', () => {
    const messages = [
      user(`I am ${ada}`),
      { role: 'assistant', content: 'and <EMAIL_ADDRESS_5>?' },
      user(bob),
    ];
    const subject = filter('pseudonymise', { restore: new Set() });
    const payload = asking(messages);
    expect(contents(sent(payload, subject.answer(payload, 0)))).toEqual([
      'I am <EMAIL_ADDRESS_1>',
      'and <EMAIL_ADDRESS_5>?',
      '<EMAIL_ADDRESS_6>',
    ]);
  });
});

describe('the way back', () => {
  const payload = asking([user(`I am ${ada}, friend of ${bob}`)]);

  test.each([
    { title: 'the request as it was sent', of: (reply: FilterReply) => sent(payload, reply) },
    { title: 'the request with the real values', of: () => payload.request },
  ])('knows the values from $title', ({ of }) => {
    const subject = filter('pseudonymise');
    const request = of(subject.answer(payload, 0));
    expect(read(subject, request, 'Hi <EMAIL_ADDRESS_1> and <EMAIL_ADDRESS_2>!')).toBe(
      `Hi ${ada} and ${bob}!`,
    );
  });

  test('needs no memory when the request has the real values', () => {
    expect(read(filter('pseudonymise'), payload.request, '<EMAIL_ADDRESS_2>')).toBe(bob);
  });

  test('knows a session whose messages have lost their mark', () => {
    const subject = filter('pseudonymise');
    subject.answer({ ...payload, request: { ...payload.request, metadata: { session_id: 's' } } }, 0);
    const request = { messages: [user('I am <EMAIL_ADDRESS_1>')], metadata: { session_id: 's' } };
    expect(read(subject, request, '<EMAIL_ADDRESS_2>')).toBe(bob);
  });

  test.each([
    { written: '<email_address_1>' },
    { written: '< EMAIL_ADDRESS_1 >' },
    { written: '&lt;EMAIL_ADDRESS_1&gt;' },
  ])('understands $written', ({ written }) => {
    expect(read(filter('pseudonymise'), payload.request, `to ${written}.`)).toBe(`to ${ada}.`);
  });

  test.each([
    { written: 'EMAIL_ADDRESS_1' },
    { written: '<EMAIL_ADDRESS_9>' },
    { written: '<EMAIL_ADDRESS_01>' },
  ])('leaves $written unchanged', ({ written }) => {
    expect(read(filter('pseudonymise'), payload.request, written)).toBe(written);
  });

  test('puts values in literally', () => {
    const secret = 'password=$&$1$$x9';
    const asked = asking([user(secret)]);
    expect(read(filter('pseudonymise'), asked.request, 'is <SECRET_1>')).toBe('is $&$1$$x9');
  });

  test('counts, without revealing values', () => {
    expect(
      filter('pseudonymise').answer(answering(payload.request, { content: '<EMAIL_ADDRESS_1>' }), 0),
    ).toEqual({
      allow: true,
      replace: { message: { role: 'assistant', content: ada } },
      metadata: { pii: {}, restored: { EMAIL_ADDRESS: 1 } },
    });
  });

  test('restores the arguments of tools, inside their strings', () => {
    const tool_calls = [{ id: 'c', name: 'mail', args: { to: ['<EMAIL_ADDRESS_1>'], n: 1 } }];
    expect(
      filter('pseudonymise').answer(answering(payload.request, { content: '', tool_calls }), 0),
    ).toMatchObject({
      replace: { message: { tool_calls: [{ id: 'c', name: 'mail', args: { to: [ada], n: 1 } }] } },
    });
  });

  test.each([
    { restore: ['answer'] as const, content: ada, to: '<EMAIL_ADDRESS_1>' },
    { restore: ['args'] as const, content: '<EMAIL_ADDRESS_1>', to: ada },
  ])('goes only as far as configured: $restore', ({ restore, content, to }) => {
    const subject = filter('pseudonymise', { restore: new Set(restore) });
    const tool_calls = [{ id: 'c', name: 'mail', args: { to: '<EMAIL_ADDRESS_1>' } }];
    const message = { content: '<EMAIL_ADDRESS_1>', tool_calls };
    expect(subject.answer(answering(payload.request, message), 0)).toMatchObject({
      replace: { message: { content, tool_calls: [{ args: { to } }] } },
    });
  });

  test('reaches tool hooks where their requests name the session', () => {
    const subject = filter('pseudonymise');
    subject.answer({ ...payload, request: { ...payload.request, metadata: { session_id: 's' } } }, 0);
    const args = { to: '<EMAIL_ADDRESS_1>' };
    expect(subject.answer(executing(args, { metadata: { session_id: 's' } }), 0)).toMatchObject({
      replace: { args: { to: ada } },
    });
    expect(subject.answer(executing(args), 0)).toEqual({ allow: true, metadata: { pii: {} } });
  });

  test('leaves an answer’s own values to its reader, and acts on other entities', () => {
    const actions = actionsOf('pseudonymise', { CREDIT_CARD: 'redact' });
    const subject = filter('pseudonymise', { actions });
    expect(read(subject, payload.request, `<EMAIL_ADDRESS_1> or ${bob}, 4111 1111 1111 1111`)).toBe(
      `${ada} or ${bob}, [CREDIT_CARD]`,
    );
  });
});

describe('a text in an original that looks like a pseudonym', () => {
  test('is hidden from the model and restored', () => {
    const payload = asking([user(`<EMAIL_ADDRESS_1> is how ${ada} is shown`)]);
    const subject = filter('pseudonymise');
    const request = sent(payload, subject.answer(payload, 0));
    expect(contents(request)).toEqual(['<LITERAL_1> is how <EMAIL_ADDRESS_1> is shown']);
    expect(read(subject, request, '<LITERAL_1>, <EMAIL_ADDRESS_1>')).toBe(`<EMAIL_ADDRESS_1>, ${ada}`);
  });
});

describe('no conversation learns the values of another', () => {
  const ask = (subject: PiiFilter, mail: string, metadata: object = {}, now = 0) => {
    const payload = asking([user(`I am ${mail}`)], metadata);
    return sent(payload, subject.answer(payload, now));
  };

  test('with the same words, at the same time, without a session', () => {
    const subject = filter('pseudonymise');
    const [one, other] = [ask(subject, ada), ask(subject, bob)];
    expect(contents(one)).toEqual(contents(other));
    expect([one, other].map((request) => read(subject, request, '<EMAIL_ADDRESS_1>'))).toEqual([ada, bob]);
  });

  test('a request that carries no mark and no session gets no value at all', () => {
    const subject = filter('pseudonymise');
    ask(subject, ada);
    const stranger = { messages: [user('I am <EMAIL_ADDRESS_1>')] };
    expect(read(subject, stranger, '<EMAIL_ADDRESS_1>')).not.toContain(ada);
  });

  test('nor does another session', () => {
    const subject = filter('pseudonymise');
    ask(subject, ada, { session_id: 'a' });
    const stranger = { messages: [user('hi')], metadata: { session_id: 'b' } };
    expect(read(subject, stranger, '<EMAIL_ADDRESS_1>')).toBe('<EMAIL_ADDRESS_1>');
  });

  test('two conversations of one session that use a pseudonym differently get none without their mark', () => {
    const subject = filter('pseudonymise');
    ask(subject, ada, { session_id: 's' });
    ask(subject, bob, { session_id: 's' });
    const request = { messages: [user('hi')], metadata: { session_id: 's' } };
    expect(read(subject, request, '<EMAIL_ADDRESS_1>')).toBe('<EMAIL_ADDRESS_1>');
  });

  test('a forged mark opens nothing', () => {
    const subject = filter('pseudonymise');
    ask(subject, ada);
    const messages = [{ ...user('hi'), meta: { signalbox_pii: '0'.repeat(32) } }];
    expect(read(subject, { messages }, '<EMAIL_ADDRESS_1>')).toBe('<EMAIL_ADDRESS_1>');
  });
});

describe('memory', () => {
  const ask = (subject: PiiFilter, mail: string, now: number) => {
    const payload = asking([user(`I am ${mail}`)]);
    return sent(payload, subject.answer(payload, now));
  };

  test('forgets conversations that are idle for an hour, and keeps used ones', () => {
    const subject = filter('pseudonymise');
    const request = ask(subject, ada, 0);
    expect(read(subject, request, '<EMAIL_ADDRESS_1>', hour)).toBe(ada);
    expect(read(subject, request, '<EMAIL_ADDRESS_1>', 2 * hour)).toBe(ada);
    expect(read(subject, request, '<EMAIL_ADDRESS_1>', 3 * hour + 1)).not.toContain(ada);
  });

  test('is swept, so that values do not wait for the next request', () => {
    const subject = filter('pseudonymise');
    const request = ask(subject, ada, 0);
    subject.sweep(hour + 1);
    expect(read(subject, request, '<EMAIL_ADDRESS_1>', 0)).not.toContain(ada);
  });

  test('keeps the thousand conversations that were used last', () => {
    const subject = filter('pseudonymise');
    const requests = Array.from({ length: 1001 }, (_, index) => ask(subject, `u${index}@example.org`, 0));
    const seen = [0, 1, 1000].map((index) => read(subject, requests[index] ?? {}, '<EMAIL_ADDRESS_1>'));
    expect(seen).toEqual(['<EMAIL_ADDRESS_1>', 'u1@example.org', 'u1000@example.org']);
  });
});
