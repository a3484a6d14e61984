import { expect, test } from 'vitest';
import { stringifyJson } from '../../../src/base/json/json.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import { passGate } from '../../../src/calls/hooks/gate.ts';
import { reconcileMessages } from '../../../src/calls/hooks/replace.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import { openDesk } from '../../pipelines/desk.ts';
import { answering, openBench } from '../capability/bench.ts';

const user = (content: string, ...texts: readonly string[]): ChatMessage => ({
  role: 'user',
  content,
  ...(texts.length > 0 && { parts: texts.map((text) => ({ type: 'text', text })) }),
});
const image = { type: 'image', media: { url: 'https://x/y.png' } };
const pictured = (content: string, ...texts: readonly string[]): ChatMessage => ({
  role: 'user',
  content,
  parts: [image, ...texts.map((text) => ({ type: 'text', text }))],
});
const result = (content: string, text: string): ChatMessage => ({
  role: 'tool',
  content,
  tool_result: { id: '1', name: 'w', parts: [{ type: 'text', text }] },
});

interface Row {
  readonly title: string;
  readonly sent: readonly ChatMessage[];
  readonly back: readonly ChatMessage[];
  readonly becomes: readonly ChatMessage[];
}

const changed: readonly Row[] = [
  {
    title: 'the content changed',
    sent: [user('My card is 4111', 'My card is 4111')],
    back: [user('My card is [card]', 'My card is 4111')],
    becomes: [user('My card is [card]', 'My card is [card]')],
  },
  {
    title: 'the parts changed',
    sent: [user('My card is 4111', 'My card is 4111')],
    back: [user('My card is 4111', 'My card is [card]')],
    becomes: [user('My card is [card]', 'My card is [card]')],
  },
  {
    title: 'both changed alike',
    sent: [user('4111', '4111')],
    back: [user('[card]', '[card]')],
    becomes: [user('[card]', '[card]')],
  },
  {
    title: 'nothing changed',
    sent: [user('4111', '4111')],
    back: [user('4111', '4111')],
    becomes: [user('4111', '4111')],
  },
  {
    title: 'the content of several text parts changed',
    sent: [pictured('ab', 'a', 'b')],
    back: [pictured('[x]', 'a', 'b')],
    becomes: [pictured('[x]', '[x]')],
  },
  {
    title: 'one of several text parts changed',
    sent: [pictured('ab', 'a', 'b')],
    back: [pictured('ab', 'a', '[x]')],
    becomes: [pictured('a[x]', 'a', '[x]')],
  },
  {
    title: 'the text part was taken away',
    sent: [pictured('4111', '4111')],
    back: [pictured('4111')],
    becomes: [pictured('')],
  },
  {
    title: 'the content was emptied',
    sent: [user('4111', '4111')],
    back: [user('', '4111')],
    becomes: [user('', '')],
  },
  {
    title: 'the parts were left out',
    sent: [user('4111', '4111')],
    back: [user('[card]')],
    becomes: [user('[card]')],
  },
  {
    title: 'the content of a tool result changed',
    sent: [result('card 4111', 'card 4111')],
    back: [result('card [x]', 'card 4111')],
    becomes: [result('card [x]', 'card [x]')],
  },
  {
    title: 'the parts of a tool result changed',
    sent: [result('card 4111', 'card 4111')],
    back: [result('card 4111', 'card [x]')],
    becomes: [result('card [x]', 'card [x]')],
  },
  {
    title: 'the content became what another message has',
    sent: [user('[card]', '[card]'), user('4111', '4111')],
    back: [user('[card]', '[card]'), user('[card]', '4111')],
    becomes: [user('[card]', '[card]'), user('[card]', '[card]')],
  },
  {
    title: 'earlier messages were dropped',
    sent: [user('hello', 'hello'), user('4111', '4111')],
    back: [user('[card]', '4111')],
    becomes: [user('[card]', '[card]')],
  },
  {
    title: 'the order changed',
    sent: [user('a', 'a'), user('b', 'b')],
    back: [user('[x]', 'b'), user('a', 'a')],
    becomes: [user('[x]', '[x]'), user('a', 'a')],
  },
  {
    title: 'the content was emptied, and the list is shorter',
    sent: [user('4111', '4111'), { role: 'assistant', content: '' }, user('b')],
    back: [user('', '4111')],
    becomes: [user('', '')],
  },
  {
    title: 'a caption that never stood in the parts stays',
    sent: [pictured('a cat')],
    back: [pictured('a cat')],
    becomes: [pictured('a cat')],
  },
  {
    title: 'a message was added',
    sent: [user('a', 'a')],
    back: [{ role: 'system', content: 'Be kind.' }, pictured('a cat'), user('a', 'a')],
    becomes: [{ role: 'system', content: 'Be kind.' }, pictured('a cat'), user('a', 'a')],
  },
  {
    title: 'what differed before and was not touched stays',
    sent: [user('summary', 'the long text'), user('b')],
    back: [user('summary', 'the long text'), user('[x]')],
    becomes: [user('summary', 'the long text'), user('[x]')],
  },
];

test.each(changed)(
  'where $title, the changed copy has won [PK-6-10@oneshot]',
  async ({ sent, back, becomes }) => {
    const { decision, event } = await pass(sent, back);
    expect(decision.verdict).toBe('modify');
    expect(decision.replace?.value).toEqual({ messages: becomes });
    expect(JSON.parse(stringifyJson('request' in event && event.request))).toMatchObject({
      messages: becomes,
    });
  },
);

const denied: readonly Omit<Row, 'becomes'>[] = [
  { title: 'both changed, differently', sent: [user('4111', '4111')], back: [user('[a]', '[b]')] },
  {
    title: 'two of three copies changed, differently',
    sent: [{ ...result('4111', '4111'), parts: [{ type: 'text', text: '4111' }] }],
    back: [{ ...result('[a]', '4111'), parts: [{ type: 'text', text: '[b]' }] }],
  },
  { title: 'both changed in a tool result', sent: [result('4111', '4111')], back: [result('[a]', '[b]')] },
  {
    title: 'a new message says two things',
    sent: [user('4111', '4111')],
    back: [user('a', 'a'), user('[a]', '[b]')],
  },
  {
    title: 'either may be the changed one',
    sent: [user('a', 'a'), user('b', 'b'), user('c', 'c')],
    back: [user('a', 'b')],
  },
];

test.each(denied)('where $title, the filter denies [PK-6-11@oneshot]', async ({ sent, back }) => {
  const { decision } = await pass(sent, back);
  expect(decision).toMatchObject({
    verdict: 'deny',
    hook: 'mask',
    reason: 'the hook failed: The reply is not the one JSON object that the dialect requires.',
    error: { code: 'REPLY_MALFORMED' },
  });
});

test.each(changed)('copies are reconciled where $title', ({ sent, back, becomes }) => {
  expect(reconcileMessages(sent, back)).toEqual(becomes);
  expect(reconcileMessages(becomes, becomes)).toEqual(becomes);
});

test.each(denied)('copies cannot be reconciled where $title', ({ sent, back }) => {
  expect(() => reconcileMessages(sent, back)).toThrow();
});

function pass(sent: readonly ChatMessage[], back: readonly ChatMessage[]) {
  const says = JSON.stringify({ allow: true, replace: { messages: back } });
  const link = openBench().links.filter({ ...answering('oneshot', says), name: 'mask', kind: 'provider' });
  const event = readEvent({ hook: 'provider', phase: 'before_call', request: { messages: sent } });
  return passGate([link], event, { call: 'c' });
}

const answers = [
  { title: 'content', back: { role: 'assistant', content: '[x]', parts: [{ type: 'text', text: '4111' }] } },
  { title: 'parts', back: { role: 'assistant', content: '4111', parts: [{ type: 'text', text: '[x]' }] } },
];

test.each(answers)(
  'an answer whose $title changed has the change in both [PK-6-10@oneshot]',
  async ({ back }) => {
    const says = JSON.stringify({ allow: true, replace: { message: back } });
    const link = openBench().links.filter({ ...answering('oneshot', says), kind: 'provider' });
    const message = { content: '4111', parts: [{ type: 'text', text: '4111' }] };
    const event = readEvent({ hook: 'provider', phase: 'after_call', request: {}, response: { message } });
    const { decision } = await passGate([link], event, { call: 'c' });
    const becomes = { role: 'assistant', content: '[x]', parts: [{ type: 'text', text: '[x]' }] };
    expect(decision.replace?.value).toEqual({ message: becomes });
  },
);

test('reconciling copies keeps the digits of other members', async () => {
  const message =
    '{"role":"user","content":"[x]","parts":[{"type":"text","text":"4111","id":12345678901234567890}],"meta":{"p":1.10}}';
  const says = `{"allow": true, "replace": {"messages": [${message}]}}`;
  const link = openBench().links.filter({ ...answering('oneshot', says), kind: 'provider' });
  const event = readEvent({
    hook: 'provider',
    phase: 'before_call',
    request: { messages: [user('4111', '4111')] },
  });
  const { decision } = await passGate([link], event, { call: 'c' });
  expect(decision.replace?.text).toBe(
    '{"messages":[{"role":"user","content":"[x]","parts":[{"type":"text","text":"[x]","id":12345678901234567890}],"meta":{"p":1.10}}]}',
  );
});

const toolResult = (content: string, more: object = {}): ChatMessage => ({
  role: 'tool',
  content,
  tool_result: { id: '1', name: 'w', ...more },
});

test.each([
  { title: 'its content', back: user('[x]', '4111') },
  { title: 'its parts', back: user('4111', '[x]') },
  { title: 'both', back: user('[x]', '[x]') },
  { title: 'its content, and leaves the parts out', back: user('[x]') },
])(
  'a message without own parts has none after a filter changed $title [PK-6-10@oneshot]',
  async ({ back }) => {
    const settled = [user('[x]'), user('b')];
    expect(reconcileMessages([user('4111'), user('b')], [back, user('b', 'b')])).toEqual(settled);
    const { decision } = await pass([user('4111'), user('b')], [back, user('b', 'b')]);
    expect(decision.replace?.value).toEqual({ messages: [user('[x]'), user('b')] });
  },
);

test('a message without own parts denies when both copies were changed differently [PK-6-11@oneshot]', async () => {
  expect(() => reconcileMessages([user('4111')], [user('[a]', '[b]')])).toThrow();
  const { decision } = await pass([user('4111')], [user('[a]', '[b]')]);
  expect(decision).toMatchObject({ verdict: 'deny', error: { code: 'REPLY_MALFORMED' } });
});

test('a result without own parts has none, whichever copy was changed [PK-6-10@oneshot]', async () => {
  const parts = (text: string) => ({ parts: [{ type: 'text', text }] });
  const sent = [toolResult('4111'), toolResult('b'), toolResult('c')];
  const back = [toolResult('4111', parts('[x]')), toolResult('[y]', parts('b')), toolResult('c', parts('c'))];
  const settled = [toolResult('[x]'), toolResult('[y]'), toolResult('c')];
  expect(reconcileMessages(sent, back)).toEqual(settled);
  const { decision } = await pass(sent, back);
  expect(decision.replace?.value).toEqual({ messages: settled });
});

test('a filter may add a file beside a text that had none', async () => {
  const back = { ...user('a'), parts: [{ type: 'text', text: 'a' }, image] };
  expect(reconcileMessages([user('a')], [back])).toEqual([back]);
  const { decision } = await pass([user('a')], [back]);
  expect(decision.replace?.value).toEqual({ messages: [back] });
});

const told = (text: string) => ({ tool_result: { id: '1', name: 'w', parts: [{ type: 'text', text }] } });
const thrice = (text: string): ChatMessage => ({ ...result(text, text), parts: [{ type: 'text', text }] });

test.each([
  {
    title: 'a message without parts was added to some that have none',
    ...{ sent: [user('a')], back: [user('new'), user('a')], becomes: [user('new'), user('a')] },
  },
  {
    title: 'a new message has parts where no other had',
    ...{ sent: [user('a'), user('b')], back: [user('x', 'x')], becomes: [user('x')] },
  },
  {
    title: 'a new message has parts where others had',
    ...{ sent: [user('a', 'a'), user('b', 'b')], back: [user('x', 'x')], becomes: [user('x', 'x')] },
  },
  {
    title: 'a new message has a picture alone beside its text',
    ...{
      sent: [user('a', 'a')],
      back: [user('a', 'a'), pictured('x')],
      becomes: [user('a', 'a'), pictured('x')],
    },
  },
  {
    title: 'the parts are joined by line ends',
    ...{ sent: [user('a\nb', 'a', 'b')], back: [user('a\nb', 'a', 'b')], becomes: [user('a\nb', 'a', 'b')] },
  },
  {
    title: 'one part of those joined by line ends was changed alike in the content',
    ...{ sent: [user('a\nb', 'a', 'b')], back: [user('a\nx', 'a', 'x')], becomes: [user('a\nx', 'a', 'x')] },
  },
  {
    title: 'of one message twice the second was changed',
    ...{
      sent: [user('a', 'a'), user('a', 'a')],
      back: [user('a', 'a'), user('[x]', 'a')],
      becomes: [user('a', 'a'), user('[x]', '[x]')],
    },
  },
  {
    title: 'of one message twice one is left, changed',
    ...{ sent: [user('a', 'a'), user('a', 'a')], back: [user('[x]', 'a')], becomes: [user('[x]', '[x]')] },
  },
  {
    title: 'a new message has parts where the second had none',
    ...{ sent: [user('a', 'a'), user('b')], back: [user('x', 'x')], becomes: [user('x')] },
  },
  {
    title: 'of one text the first message had no parts',
    ...{ sent: [user('a'), user('a', 'a')], back: [user('[x]', 'a')], becomes: [user('[x]')] },
  },
  {
    title: 'content and parts changed, and the tool result did not',
    ...{ sent: [thrice('4111')], back: [{ ...thrice('[x]'), ...told('4111') }], becomes: [thrice('[x]')] },
  },
  {
    title: 'one of two messages of the same content has the parts of the other',
    ...{ sent: [user('a', 'p'), user('a', 'q')], back: [user('a', 'p'), user('a', 'p')] },
    becomes: [user('a', 'p'), user('p', 'p')],
  },
  {
    title: 'one of two messages of the same content is left as it was',
    ...{ sent: [user('a', 'a'), user('a', 'b'), user('c', 'c')], back: [user('a', 'a')] },
    becomes: [user('a', 'a')],
  },
  {
    title: 'a place without text was put beside what changed',
    ...{ sent: [user('a', 'a')], back: [{ ...user('[x]', 'a'), tool_result: { parts: [] } }] },
    becomes: [{ ...user('[x]', '[x]'), tool_result: { parts: [] } }],
  },
])('copies are unchanged where $title', ({ sent, back, becomes }) => {
  expect(reconcileMessages(sent, back)).toEqual(becomes);
});

test('a new message has the same text in all places', () => {
  const two = { ...thrice('x'), ...told('y') };
  expect(() => reconcileMessages([user('a', 'a')], [user('a', 'a'), two])).toThrow();
  expect(reconcileMessages([user('a', 'a')], [user('a', 'a'), thrice('x')])).toHaveLength(2);
});

test('two messages without content have nothing in common', () => {
  expect(() => reconcileMessages([user('', 'a')], [user('', '[x]')])).toThrow();
});

test('an unchanged message is the same message', () => {
  const sent = [user('a'), user('b', 'b')];
  const settled = reconcileMessages(sent, sent);
  expect([settled[0] === sent[0], settled[1] === sent[1]]).toEqual([true, true]);
});

test.each(['promptkit', 'promptkit-go'])(
  'a policy that reads only the parts of an answer withholds it, as a %s hook',
  async (dialect) => {
    const desk = await openDesk(`
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: 'A guaranteed return!'}]}}]
hooks: {policy: {dialect: ${dialect}, hook: provider, phases: [after_call], command: $bin/reads-parts}}
`);
    const answer = 'steps: [{id: answer, chat: {provider: main, messages: "Where to?"';
    const ends = ['', ', stream: hold', ', stream: windowed'].map((more) =>
      desk.run(`${answer}${more}}}]\n`),
    );
    const message = 'hook "policy" withheld the model’s answer: financial advice';
    const denied = { status: 'denied', error: { message } };
    expect(await Promise.all(ends)).toMatchObject([denied, denied, denied]);
  },
);

test('a filter that changes every message of a long conversation, and omits one, is reconciled quickly', () => {
  const sent = Array.from({ length: 20_000 }, (_, n) => user(`card ${n}`));
  const back = sent.slice(1).map(({ content }) => user(content.replace('card', '[x]'), content));
  const started = process.cpuUsage();
  const settled = reconcileMessages(sent, back);
  const { user: spent, system } = process.cpuUsage(started);
  expect(settled.at(-1)).toEqual(user('[x] 19999'));
  // Comparing all pairs would take minutes.
  expect((spent + system) / 1e6).toBeLessThan(20);
});
