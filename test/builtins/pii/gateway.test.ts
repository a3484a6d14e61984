import { describe, expect, test } from 'vitest';
import { isObject } from '../../../src/base/json/json.ts';
import type { FilterReply, PiiFilter } from '../../../src/builtins/pii/filter.ts';
import { answering, asking, everyAction, filter, user } from './support.ts';

const ada = 'ada@example.org';
const bob = 'bob@example.org';
const shared = { isKeyShared: true };

function withOther(messages: readonly object[], other: object, systemPrompt = '') {
  const payload = asking(messages, {}, systemPrompt);
  return { ...payload, request: { ...payload.request, other } };
}

function sent(payload: ReturnType<typeof asking>, reply: FilterReply): Readonly<Record<string, unknown>> {
  return { ...payload.request, ...(isObject(reply['replace']) ? reply['replace'] : {}) };
}

function read(subject: PiiFilter, request: object, message: object): unknown {
  const { replace } = subject.answer(answering(request, message), 0);
  return isObject(replace) ? replace['message'] : message;
}

describe('the rest of a body', () => {
  test('is searched at any depth, and numbered before the messages', () => {
    const other = { 'tools[0].description': `Ask ${ada}`, metadata: { who: [`<${bob}>`] }, seed: 7 };
    const payload = withOther([user(`cc ${bob}`)], other);
    const reply = filter('pseudonymise').answer(payload, 0);
    expect(sent(payload, reply)).toMatchObject({
      other: {
        'tools[0].description': 'Ask <EMAIL_ADDRESS_1>',
        metadata: { who: ['<<EMAIL_ADDRESS_2>>'] },
        seed: 7,
      },
      messages: [{ content: 'cc <EMAIL_ADDRESS_2>' }],
    });
  });

  test('blocks like a message', () => {
    expect(filter('block').answer(withOther([user('hi')], { user: ada }), 0)).toMatchObject({ allow: false });
  });

  test('is unchanged without findings', () => {
    expect(filter().answer(withOther([user('hi')], { stop: ['x'], n: 12_345_678_901 }), 0)).toMatchObject({
      allow: true,
      metadata: { pii: {} },
    });
  });

  test.each(['reasoning', 'refusal', 'citations', 'other'])('%s of a message is searched', (member) => {
    const value =
      member === 'citations' ? [{ cited_text: ada }] : member === 'other' ? { x: { y: ada } } : ada;
    const reply = filter().answer(asking([{ role: 'assistant', content: 'x', [member]: value }]), 0);
    expect(JSON.stringify(reply)).not.toContain(ada);
    expect(JSON.stringify(reply)).toContain('[EMAIL_ADDRESS]');
  });
});

describe('values are restored', () => {
  test('by a process that has the key and never saw the request, and by no other', () => {
    const payload = asking([user(`I am ${ada}`)]);
    const request = sent(payload, filter('pseudonymise', shared).answer(payload, 0));
    const answer = {
      content: 'Hi <EMAIL_ADDRESS_1>',
      tool_calls: [{ id: 'c', name: 'mail', args: { to: '<EMAIL_ADDRESS_1>' } }],
    };
    expect(read(filter('pseudonymise', shared), request, answer)).toMatchObject({
      content: `Hi ${ada}`,
      tool_calls: [{ args: { to: ada } }],
    });
    const stranger = filter('pseudonymise', { ...shared, key: Buffer.alloc(32, 8) });
    expect(read(stranger, request, answer)).toEqual(answer);
    expect(JSON.stringify(request)).not.toContain(ada);
  });

  test('of the system prompt and of the rest of a body, too', () => {
    const payload = withOther([user('hello')], { user: bob }, `You are ${ada}`);
    const request = sent(payload, filter('pseudonymise', shared).answer(payload, 0));
    const answer = { content: '<EMAIL_ADDRESS_1>, <EMAIL_ADDRESS_2>' };
    expect(read(filter('pseudonymise', shared), request, answer)).toMatchObject({
      content: `${ada}, ${bob}`,
    });
  });

  test('under a mark that is the same for the same request, so that nothing else of it changes', () => {
    const payload = asking([user(`I am ${ada}`)]);
    const one = filter('pseudonymise', shared).answer(payload, 0);
    expect(filter('pseudonymise', shared).answer(payload, 5)).toEqual(one);
  });
});

function growingConversation(open: () => PiiFilter): string[][] {
  const messages: object[] = [];
  const other = { 'tools[0].description': 'Call 212-555-0142' };
  const turns: string[][] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    messages.push(
      user(
        `turn ${turn}: mail user${turn % 5}@example.org and user${turn}@example.com, card 4111 1111 1111 1111`,
      ),
    );
    const payload = withOther(messages, other, `Boss: ${bob}`);
    const request = sent(payload, open().answer(payload, turn));
    turns.push(
      [request['system_prompt'], request['other'], ...withoutMarks(request['messages'])].map((part) =>
        JSON.stringify(part),
      ),
    );
    const echoed = turns.at(-1)?.at(-1) ?? '';
    const answer = {
      role: 'assistant',
      content: `You said ${echoed}; also <EMAIL_ADDRESS_99>, new${turn}@example.net`,
    };
    const back = read(open(), request, answer);
    messages.push(isObject(back) ? back : answer);
    if (turn % 3 === 0)
      messages.push({
        role: 'tool',
        content: `{"ssn": "536-22-87${10 + turn}"}`,
        tool_result: { id: 'c', name: 't' },
      });
  }
  return turns;
}

function withoutMarks(messages: unknown): object[] {
  return Array.isArray(messages) ? messages.map(({ meta: _, ...message }) => message) : [];
}

describe.each(everyAction.filter((action) => action !== 'block'))(
  '%s of a growing conversation',
  (action) => {
    test('gives each turn the beginning of the next one, in any process', () => {
      const one = filter(action, shared);
      const kept = growingConversation(() => one);
      const fresh = growingConversation(() => filter(action, shared));
      expect(fresh).toEqual(kept);
      for (const [turn, texts] of kept.entries())
        expect(kept[turn + 1]?.slice(0, texts.length) ?? texts).toEqual(texts);
    });
  },
);
