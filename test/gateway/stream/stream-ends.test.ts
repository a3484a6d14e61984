import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { HeldBytes } from '../../../src/gateway/stream/stream-call.ts';
import { fireHook, fireOnText } from '../../models/guard-bench.ts';
import { allow, content, deny, end, everything, long, modes } from './said.ts';
import type { Said } from './small-codec.ts';
import { rawOf, run, streamedCall } from './stream-bench.ts';

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
  'an upstream that $what is an error, and nothing held is sent ($mode)',
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

test('an upstream error is judged and forwarded unchanged', async () => {
  const said: Said[] = [{ free: 'start' }, content('held'), { error: 'a SECRET reason' }];
  const passed = await run({ fire: allow, said });
  expect(passed.text).toBe(rawOf([{ free: 'start' }, { error: 'a SECRET reason' }]));
  expect(passed.report).toMatchObject({ outcome: 'failed', refusal: { code: 'upstream_failed' } });
  const fire = fireOnText((text) => text.replaceAll('SECRET', 'x'));
  const changed = await run({ fire, said });
  expect(changed.refusal?.code).toBe('upstream_failed');
  expect((await run({ fire: deny, said })).refusal?.code).toBe('content_filter');
});

test('a failure after the complete answer has no effect', async () => {
  const said = [
    ...everything,
    () => {
      throw new Error('reset');
    },
  ];
  expect((await run({ fire: allow, said })).text).toBe(rawOf(everything));
});

test('an answer larger than its budget is refused, and releases its bytes', async () => {
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

test('a waiting client receives keep-alives that reveal nothing of the answer', async () => {
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

test('an answer that its client received only in part counts as broken off', async () => {
  const said = [...Array.from({ length: 400 }, () => long).flat(), end];
  const opened = await streamedCall({ fire: allow, said, settings: {} }).open();
  if (opened.kind !== 'stream') throw new Error('it was refused');
  await opened.chunks.next();
  await opened.chunks.return?.();
  expect(await opened.report).toMatchObject({ outcome: 'aborted', decisions: [{ verdict: 'allow' }] });
});

const forever = () => new Promise<never>(() => {});

test('a client that disconnects ends a silent upstream', async () => {
  const gone = new AbortController();
  const call = streamedCall({ fire: allow, said: [...long, forever], signal: gone.signal });
  const opened = call.open();
  setTimeout(() => gone.abort(new Error('gone')), 10);
  await expect(opened).rejects.toThrow('gone');
  expect(call.isAbandoned()).toBe(true);
  expect(call.heldBytes.held).toBe(0);
});

test('a reader that cancels ends a silent hook', async () => {
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

test('a client that disconnects midway ends a silent hook', async () => {
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
