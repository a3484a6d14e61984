import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { HeldBytes } from '../../../src/gateway/stream/held-bytes.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';
import { Json } from '../../../src/json/json.ts';
import { fireHook, fireOnText } from '../../provider/guard-bench.ts';
import type { Delta, Said } from './small-codec.ts';
import { rawOf, run, streamedCall } from './stream-bench.ts';

const content = (text: string, choice = 0, block?: number): Said => ({
  text: [[choice, 'content', text, ...(block === undefined ? [] : [block])] as unknown as Delta],
});
const reasoning = (text: string): Said => ({ text: [[0, 'reasoning', text]] });
const end: Said = { end: true, tokens: 3 };
const allow = fireHook(() => ({}));
const deny = fireHook(() => ({ verdict: 'deny', reason: 'no' }));
const modes = [
  { title: 'hold', settings: {} },
  { title: 'windowed', settings: { windowChars: 8 } },
];
const long: Said[] = [...'0123456789'.repeat(5)].map((char) => content(char));
const everything: Said[] = [
  { free: 'start' },
  reasoning('I think that this is good'),
  { free: 'ping' },
  content('Hello '),
  ...long,
  { echo: 'all of it' },
  { call: '{"a":1}' },
  content(' world'),
  end,
  { free: 'usage' },
];

test.each(modes)('an answer that all hooks allow leaves byte for byte ($title)', async ({ settings }) => {
  const { text, report, heldBytes } = await run({ fire: allow, said: everything, settings });
  expect(text).toBe(rawOf(everything));
  expect(report).toMatchObject({
    outcome: 'allowed',
    usage: { input: 1, output: 3 },
    refusal: undefined,
    decisions: [{ verdict: 'allow' }],
  });
  expect(heldBytes.held).toBe(0);
});

test.each(modes)(
  'an answer that is denied gives a refusal in place of a stream ($title)',
  async ({ settings }) => {
    const { refusal, report, isAbandoned } = await run({ fire: deny, said: everything, settings });
    expect(refusal).toMatchObject({
      status: 400,
      code: 'content_filter',
      isRetryable: false,
      verdict: { verdict: 'deny', hook: 'h', phase: 'after_call' },
    });
    expect(report).toMatchObject({ outcome: 'denied', times: { firstByte: null } });
    expect(isAbandoned()).toBe(true);
  },
);

test('a hook that fails is told apart from one that denies', async () => {
  const error = { code: 'INTERNAL', message: 'late', hint: '' } as const;
  const failing = fireHook(() => ({ verdict: 'deny', error }));
  const lost = () => Promise.reject(new Error('lost'));
  for (const fire of [failing, lost]) {
    const { refusal, report } = await run({ fire, said: everything });
    expect(refusal).toMatchObject({ status: 503, code: 'guard_failed', isRetryable: false });
    expect(report.outcome).toBe('failed');
  }
});

test('nothing is sent before the answer is complete, when it is held', async () => {
  let isDecided = false;
  const fire = fireHook(() => {
    isDecided = true;
    return {};
  });
  const opened = await streamedCall({ fire, said: everything }).open();
  expect(opened.kind).toBe('stream');
  expect(isDecided).toBe(true);
});

test('text flows behind its window, and in the order in which it came', async () => {
  const seen: string[] = [];
  const said: (Said | (() => void))[] = [
    { free: 'start' },
    reasoning('Reasons are many.'),
    ...long,
    () => seen.push('before the end'),
    end,
  ];
  const opened = await streamedCall({ fire: allow, said, settings: { windowChars: 8 } }).open();
  if (opened.kind !== 'stream') throw new Error('it was refused');
  let text = '';
  for await (const chunk of opened.chunks) {
    if (seen.length === 0) text += chunk;
  }
  expect(text).toBe(rawOf([{ free: 'start' }, reasoning('Reasons are many.'), ...long.slice(0, 40)]));
});

test('what a filter changes in a piece goes out changed, and nothing of the rest as it came', async () => {
  const fire = fireOnText((text) => text.replaceAll('SECRET', '[gone]'));
  const said = [
    { free: 'start' },
    ...[...'a long text with a SECRET word in it, and more of it'].map((char) => content(char)),
    { echo: 'SECRET' },
    end,
  ];
  const { text, events, report } = await run({ fire, said, settings: { windowChars: 8 } });
  expect(text).not.toContain('SECRET');
  expect(textOf(events)).toBe('a long text with a [gone] word in it, and more of it');
  expect(report.outcome).toBe('modified');
});

test.each(modes)('what a filter changes is written anew ($title)', async ({ settings }) => {
  const fire = fireOnText((text) => text.replaceAll('3', 'x'));
  const { text, events } = await run({ fire, said: everything, settings });
  expect(text).not.toContain('3');
  expect(textOf(events)).toBe(`Hello ${'012x456789'.repeat(5)} world`);
});

test('a denial in the middle ends the stream with an error, and the upstream', async () => {
  const fire = fireOnText((text) => (text.includes('SECRET') ? undefined : text));
  const said = [...long, ...[...'SECRET'].map((char) => content(char)), ...long, end];
  const call = await run({ fire, said, settings: { windowChars: 8 } });
  const { events, report, read, isAbandoned, text } = call;
  expect(events.at(-1)).toEqual({ failed: 'content_filter' });
  expect(textOf(events)).toMatch(/^(0123456789)+/);
  expect(text).not.toContain('"S"');
  expect(report).toMatchObject({ outcome: 'denied', refusal: { code: 'content_filter' } });
  expect(isAbandoned()).toBe(true);
  expect(read()).toBeLessThan(said.length);
});

test('observers are told of a stopped answer as far as it came', async () => {
  const heard: unknown[] = [];
  const fire = fireHook((event, { filtersOnly }) => {
    if (event.phase !== 'after_call') return {};
    const { message } = event.response;
    if (filtersOnly !== true) heard.push(message);
    return message.content.includes('4') ? { verdict: 'deny', reason: 'no' } : {};
  });
  await run({ fire, said: [reasoning('why'), ...long, end], settings: { windowChars: 4 } });
  expect(heard).toEqual([
    { role: 'assistant', content: '01234', reasoning: 'why', finish_reason: 'interrupted' },
  ]);
});

test('a denial is the native refusal where that is asked for, as long as nothing is out', async () => {
  const settings = { onDeny: 'answer' } as const;
  const held = await run({ fire: deny, said: everything, settings });
  expect(held.events).toEqual([
    { rest: { '0 content': 'hook "h" withheld the model’s answer: no', '0 end': 'refused' } },
  ]);
  expect(held.report).toMatchObject({ outcome: 'denied', refusal: { code: 'content_filter' } });
  const fire = fireOnText((text) => (text.includes('SECRET') ? undefined : text));
  const said = [...long, content(' SECRET SECRET'), end];
  const windowed = await run({ fire, said, settings: { ...settings, windowChars: 4 } });
  expect(windowed.events.at(-1)).toEqual({ failed: 'content_filter' });
});

test.each([
  {
    title: 'an enforced denial',
    said: { verdict: 'deny', enforced: true } as const,
    end: 'refused',
    outcome: 'denied',
  },
  { title: 'a response', said: { verdict: 'respond' } as const, end: 'stop', outcome: 'modified' },
])('$title stands in for the answer', async ({ said, end: ending, outcome }) => {
  const result = Json.from('Withheld.');
  const held = await run({ fire: fireHook(() => ({ ...said, result })), said: everything });
  expect(held.events).toEqual([{ rest: { '0 content': 'Withheld.', '0 end': ending } }]);
  expect(held.report.outcome).toBe(outcome);
  const fire = fireHook((event) =>
    event.phase === 'after_call' && event.response.message.content.includes('SECRET')
      ? { ...said, result }
      : {},
  );
  const windowed = await run({
    fire,
    said: [...long, content(' SECRET SECRET'), end],
    settings: { windowChars: 4 },
  });
  expect(windowed.events.at(-1)).toEqual({
    rest: { '0 content': expect.stringMatching(/^\d*\n\nWithheld\.$/), '0 end': ending },
  });
});

test('every choice is asked about, and one that is denied stops all', async () => {
  const fire = fireOnText((text) => (text.includes('SECRET') ? undefined : text));
  const said = [content('good', 0), content('a SECRET', 1), end];
  expect((await run({ fire, said })).refusal?.code).toBe('content_filter');
  const asked = await run({ fire, said: [content('good', 0), content('better', 1), end] });
  expect(asked.report.decisions).toHaveLength(2);
});

test('a whole answer that contradicts what is out ends with an error', async () => {
  const fire = fireHook((event, { filtersOnly }) =>
    event.phase === 'after_call' && filtersOnly !== true
      ? { verdict: 'modify', replace: Json.from({ message: { role: 'assistant', content: 'other' } }) }
      : {},
  );
  const { events } = await run({ fire, said: [...long, end], settings: { windowChars: 4 } });
  expect(events.at(-1)).toEqual({ failed: 'content_filter' });
});

test('a replacement that cannot be written denies, and names its hook', async () => {
  const fire = fireOnText(() => 'UNWRITABLE');
  const { refusal } = await run({ fire, said: [...long, end] });
  expect(refusal).toMatchObject({ code: 'content_filter', verdict: { hook: 'h' } });
});

test('tool calls are judged when the hooks have let the answer pass', async () => {
  const refusal = { status: 400, code: 'content_filter', message: 'not this tool', isRetryable: false };
  const judgeCalls = () => Promise.reject(new RefusedCall(refusal));
  const refused = await run({ fire: allow, said: everything, judgeCalls });
  expect(refused.refusal).toEqual(refusal);
  const changed = await run({
    fire: allow,
    said: everything,
    judgeCalls: async (_, messages) => messages.map((message) => ({ ...message, content: 'changed' })),
  });
  expect(changed.events).toMatchObject([{ rest: { '0 content': 'changed' } }]);
});

const faults: { title: string; said: (Said | (() => unknown))[]; code: string }[] = [
  { title: 'breaks off', said: [...long, content('more')], code: 'upstream_failed' },
  {
    title: 'fails',
    said: [
      ...long,
      () => {
        throw new Error('SECRET socket');
      },
    ],
    code: 'upstream_failed',
  },
  { title: 'says what nobody knows', said: [...long, { unknown: 'x' }, end], code: 'unknown_content' },
];

test.each(
  modes.flatMap((mode) =>
    faults.map((fault) => ({ ...fault, ...mode, mode: mode.title, what: fault.title })),
  ),
)(
  'an upstream that $what is an error, and nothing held is told ($mode)',
  async ({ said, code, settings, mode }) => {
    const { refusal, events, report, text } = await run({ fire: allow, said, settings });
    expect(mode === 'hold' ? refusal : events.at(-1)).toMatchObject(
      mode === 'hold' ? { code } : { failed: code },
    );
    expect(text).not.toContain('more');
    expect(text).not.toContain('SECRET');
    expect(report.outcome).toBe('failed');
  },
);

test('an error that the upstream tells is judged, and told as it came', async () => {
  const said: Said[] = [{ free: 'start' }, content('held'), { error: 'a SECRET reason' }];
  const passed = await run({ fire: allow, said });
  expect(passed.text).toBe(rawOf([{ free: 'start' }, { error: 'a SECRET reason' }]));
  expect(passed.report).toMatchObject({ outcome: 'failed', refusal: { code: 'upstream_failed' } });
  const fire = fireOnText((text) => text.replaceAll('SECRET', 'x'));
  const changed = await run({ fire, said });
  expect(changed.refusal?.code).toBe('upstream_failed');
  expect((await run({ fire: deny, said })).refusal?.code).toBe('content_filter');
});

test('what fails after the complete answer does not matter', async () => {
  const said = [
    ...everything,
    () => {
      throw new Error('reset');
    },
  ];
  expect((await run({ fire: allow, said })).text).toBe(rawOf(everything));
});

test('an answer larger than its budget is refused, and gives its bytes back', async () => {
  const heldBytes = new HeldBytes({ perStream: 200, inTotal: 1000 });
  const { refusal } = await run({ fire: allow, said: everything, settings: { heldBytes } });
  expect(refusal).toMatchObject({ status: 502, code: 'answer_too_large', isRetryable: false });
  expect(heldBytes.held).toBe(0);
  const shared = new HeldBytes({ perStream: 1000, inTotal: 300 });
  const other = shared.open();
  other.add(250);
  const full = await run({ fire: allow, said: everything, settings: { heldBytes: shared } });
  expect(full.refusal).toMatchObject({ status: 503, code: 'overloaded', isRetryable: true });
  expect(shared.held).toBe(250);
  other.end();
  other.end();
  expect(shared.held).toBe(0);
});

test('a client that waits is kept awake with what tells nothing of the answer', async () => {
  const said = [{ free: 'start' } as const, content('held'), () => sleep(60), end];
  const { events } = await run({ fire: deny, said, settings: { waitMs: 10 } });
  expect(events.slice(0, 2)).toEqual([{ free: 'start' }, { wait: true }]);
  expect(events.at(-1)).toEqual({ failed: 'content_filter' });
  const passed = await run({ fire: allow, said, settings: { waitMs: 10 } });
  expect(passed.text.replaceAll('data: {"wait":true}\n\n', '')).toBe(
    rawOf([{ free: 'start' }, content('held'), end]),
  );
});

test('an upstream is read no faster than its client reads', async () => {
  const call = streamedCall({ fire: allow, said: [...long, end], settings: { windowChars: 4 } });
  const opened = await call.open();
  if (opened.kind !== 'stream') throw new Error('it was refused');
  await opened.chunks.next();
  const read = call.read();
  await sleep(20);
  expect(call.read()).toBe(read);
  await opened.chunks.return?.();
  expect(call.isAbandoned()).toBe(true);
  expect((await opened.report).outcome).toBe('aborted');
});

test('an answer that its client has only in part was broken off', async () => {
  const said = [...Array.from({ length: 400 }, () => long).flat(), end];
  const opened = await streamedCall({ fire: allow, said, settings: {} }).open();
  if (opened.kind !== 'stream') throw new Error('it was refused');
  await opened.chunks.next();
  await opened.chunks.return?.();
  expect(await opened.report).toMatchObject({ outcome: 'aborted', decisions: [{ verdict: 'allow' }] });
});

test('an answer on which nobody decides goes out as it comes, and is told at the end', async () => {
  const heard: unknown[] = [];
  const fire = fireHook((event) => {
    if (event.phase === 'after_call') heard.push(event.response.message.content);
    return {};
  });
  const call = streamedCall({ fire, said: everything, isJudged: false, settings: { windowChars: 4 } });
  const opened = await call.open();
  if (opened.kind !== 'stream') throw new Error('it was refused');
  expect(call.read()).toBe(1);
  let text = '';
  for await (const chunk of opened.chunks) text += chunk;
  expect(text).toBe(rawOf(everything));
  expect(heard).toEqual([`Hello ${'0123456789'.repeat(5)} world`]);
});

const forever = () => new Promise<never>(() => {});

test('a client that goes away ends an upstream that says nothing', async () => {
  const gone = new AbortController();
  const call = streamedCall({ fire: allow, said: [...long, forever], signal: gone.signal });
  const opened = call.open();
  setTimeout(() => gone.abort(new Error('gone')), 10);
  await expect(opened).rejects.toThrow('gone');
  expect(call.isAbandoned()).toBe(true);
  expect(call.heldBytes.held).toBe(0);
});

test('a reader that cancels ends a hook that says nothing', async () => {
  const { promise: isAborted, resolve } = Promise.withResolvers<boolean>();
  const fire = fireHook((event, { signal }) => {
    if (event.phase !== 'after_call' || !event.response.message.content.includes('END')) return {};
    signal?.addEventListener('abort', () => resolve(true));
    return forever();
  });
  const said = [...long, content('END of it all, and more'), ...long, end];
  const opened = await streamedCall({ fire, said, settings: { windowChars: 4 } }).open();
  if (opened.kind !== 'stream') throw new Error('it was refused');
  await opened.chunks.next();
  const next = (async () => {
    for await (const _ of opened.chunks);
  })();
  await sleep(20);
  await opened.chunks.return?.();
  await next;
  expect(await isAborted).toBe(true);
});

test('a client that goes away in the middle ends a hook that says nothing', async () => {
  const gone = new AbortController();
  let isAborted = false;
  const fire = fireHook((event, { signal }) => {
    signal?.addEventListener('abort', () => {
      isAborted = true;
    });
    return event.phase === 'after_call' && event.response.message.content.includes('END') ? forever() : {};
  });
  const said = [...long, content('END of it all'), end];
  const call = streamedCall({ fire, said, settings: { windowChars: 4 }, signal: gone.signal });
  const opened = await call.open();
  if (opened.kind !== 'stream') throw new Error('it was refused');
  setTimeout(() => gone.abort(new Error('gone')), 10);
  for await (const _ of opened.chunks);
  expect((await opened.report).outcome).toBe('aborted');
  expect(call.isAbandoned()).toBe(true);
  expect(isAborted).toBe(true);
});

function textOf(events: readonly unknown[]): string {
  return events
    .map((event) => {
      const { text = [], rest = {} } = event as {
        text?: [number, string, string][];
        rest?: Record<string, string>;
      };
      const deltas = text.filter(([choice, member]) => choice === 0 && member === 'content');
      return deltas.map(([, , one]) => one).join('') + (rest['0 content'] ?? '');
    })
    .join('');
}
