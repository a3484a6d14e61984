import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { RefusedCall } from '../../../src/gateway/wire/refusal.ts';
import { fireHook, fireOnText } from '../../models/guard-bench.ts';
import { allow, content, deny, end, everything, long, modes, reasoning } from './said.ts';
import type { Said } from './small-codec.ts';
import { rawOf, run, streamedCall } from './stream-bench.ts';

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

test.each(modes)('a denied answer becomes a refusal in place of a stream ($title)', async ({ settings }) => {
  const { refusal, report, isAbandoned } = await run({ fire: deny, said: everything, settings });
  expect(refusal).toMatchObject({
    status: 400,
    code: 'content_filter',
    isRetryable: false,
    verdict: { verdict: 'deny', hook: 'h', phase: 'after_call' },
  });
  expect(report).toMatchObject({ outcome: 'denied' });
  expect(isAbandoned()).toBe(true);
});

test('a failing hook is distinguished from one that denies', async () => {
  const error = { code: 'INTERNAL', message: 'late', hint: '' } as const;
  const failing = fireHook(() => ({ verdict: 'deny', error }));
  const lost = () => Promise.reject(new Error('lost'));
  for (const fire of [failing, lost]) {
    const { refusal, report } = await run({ fire, said: everything });
    expect(refusal).toMatchObject({ status: 503, code: 'guard_failed', isRetryable: false });
    expect(report.outcome).toBe('failed');
  }
});

test('a held answer sends nothing before it is complete', async () => {
  let isDecided = false;
  const fire = fireHook(() => {
    isDecided = true;
    return {};
  });
  const opened = await streamedCall({ fire, said: everything }).open();
  expect(opened.kind).toBe('stream');
  expect(isDecided).toBe(true);
});

test('text is sent after its window has passed, and in order', async () => {
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

test('a piece that a filter changes goes out changed, and the unchanged rest is not sent', async () => {
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

test('the beginning of a stream passes unchanged, even when the first piece is changed', async () => {
  const fire = fireOnText((text) => text.replaceAll('SECRET', '[gone]'));
  const said = [
    { free: 'start' },
    ...[...'SECRET words, and more of them'].map((char) => content(char)),
    end,
  ];
  const { text, events } = await run({ fire, said, settings: { windowChars: 8 } });
  expect(text.startsWith(rawOf([{ free: 'start' }]))).toBe(true);
  expect(textOf(events)).toBe('[gone] words, and more of them');
});

test.each(modes)('what a filter changes is rewritten ($title)', async ({ settings }) => {
  const fire = fireOnText((text) => text.replaceAll('3', 'x'));
  const { text, events } = await run({ fire, said: everything, settings });
  expect(text).not.toContain('3');
  expect(textOf(events)).toBe(`Hello ${'012x456789'.repeat(5)} world`);
});

test('a denial in the middle ends the stream with an error, and stops the upstream', async () => {
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

test('observers receive a stopped answer up to where it stopped', async () => {
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

test('a denial is the API’s own refusal if configured, as long as nothing was sent', async () => {
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
])('$title replaces the answer', async ({ said, end: ending, outcome }) => {
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

test('filters judge every choice, and one denial stops all', async () => {
  const fire = fireOnText((text) => (text.includes('SECRET') ? undefined : text));
  const said = [content('good', 0), content('a SECRET', 1), end];
  expect((await run({ fire, said })).refusal?.code).toBe('content_filter');
  const asked = await run({ fire, said: [content('good', 0), content('better', 1), end] });
  expect(asked.report.decisions).toHaveLength(2);
});

test('a whole answer that contradicts what was sent ends with an error', async () => {
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

test('tool calls are judged after the hooks have allowed the answer', async () => {
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
