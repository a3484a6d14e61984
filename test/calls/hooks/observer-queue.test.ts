import { closeSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import { passGate } from '../../../src/calls/hooks/gate.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { NativeEvent } from '../../../src/contract/hook.ts';
import { openLog } from '../../../src/runtime/log/log.ts';
import { onTransports, type Transport } from '../../cite.ts';
import { event } from '../../dialects/verdicts.ts';
import { answering, type Bench, type Entry, eventually, newRecord, openBench } from '../capability/bench.ts';

function sessionEvent(
  phase: 'session_start' | 'session_update' | 'session_end',
  turn_index = 0,
): NativeEvent {
  return readEvent({ hook: 'session', phase, event: { turn_index } });
}

/** The ends of calls so far, as `status CODE`. */
function endsOf({ events }: Bench): string[] {
  return events.flatMap((event) =>
    event.type === 'call.finished' ? [[event.status, event.error?.code].filter(Boolean).join(' ')] : [],
  );
}

function dropsOf({ events }: Bench): string[] {
  return events.flatMap((event) => (event.type === 'dropped' ? [event.detail] : []));
}

const on = (cites: string) => onTransports([{ title: 'over', cites }]);

test.each(on('PK-6-53@both PK-5-05@server'))(
  'a session hook receives start, update and end, whatever it replies $title',
  async ({ on }) => {
    const bench = openBench();
    const { env, lines } = newRecord();
    const observer = bench.observer({ ...answering(on, '{"allow": false, "error": "no"}'), env });
    const told = (['session_start', 'session_update', 'session_end'] as const).map((phase) =>
      sessionEvent(phase),
    );
    for (const each of told) observer.enqueue(each, 'c');
    await observer.close();
    expect(lines().map((line) => JSON.parse(line))).toEqual(
      told.map((each) => ({ ...each, event: 'event' in each && each.event })),
    );
    expect(endsOf(bench)).toEqual(['told', 'told', 'told']);
    expect(bench.events.filter(({ type }) => type === 'note' || type === 'decision')).toEqual([]);
  },
);

const useless: Record<Transport, readonly { title: string; entry: Entry; end: string }[]> = {
  oneshot: [
    { title: 'hangs', entry: { runs: ['hang.sh'], timeoutMs: 400 }, end: 'untold PROCESS_TIMEOUT' },
    { title: 'crashes', entry: { runs: ['crash.sh'] }, end: 'untold PROCESS_EXIT' },
    { title: 'is killed', entry: { runs: ['killed-after-reply.sh'] }, end: 'untold PROCESS_SIGNAL' },
    { title: 'denies', entry: { runs: ['deny.sh'] }, end: 'told' },
    { title: 'prints garbage', entry: { runs: ['garbage.sh'] }, end: 'told' },
    { title: 'is missing', entry: { runs: ['no-such-file'] }, end: 'untold PROCESS_START' },
  ],
  server: [
    {
      title: 'hangs',
      entry: { on: 'server', runs: ['hang.sh'], timeoutMs: 400 },
      end: 'untold PROCESS_TIMEOUT',
    },
    { title: 'crashes', entry: { on: 'server', runs: ['server', 'dies-during'] }, end: 'untold SERVER_EXIT' },
    { title: 'denies', entry: answering('server', '{"allow": false}'), end: 'told' },
    {
      title: 'answers with an error',
      entry: { on: 'server', runs: ['server-prints', '{"id":ID,"error":{"message":"no"}}'] },
      end: 'told',
    },
    { title: 'is missing', entry: { on: 'server', runs: ['no-such-file'] }, end: 'untold PROCESS_START' },
  ],
};

const uselessRows = onTransports([{ title: 'an observer', cites: 'PK-6-57@both' }]).flatMap((row) =>
  useless[row.on].map((observer) => ({ ...row, ...observer, title: `${row.title}: ${observer.title}` })),
);

test.each(uselessRows)('$title, which delays and changes nothing', async ({ entry, end }) => {
  const bench = openBench();
  const passed = await passGate([bench.links.observe(entry)], event, { call: 'c' });
  // The call is answered before its observer's end is reported.
  expect(endsOf(bench)).toEqual([]);
  expect(passed).toMatchObject({ decision: { verdict: 'allow', hook: null, reason: '' } });
  expect(passed.event).toBe(event);
  expect(await eventually(() => endsOf(bench))).toEqual([end]);
});

test.each(on('PK-6-57@both'))('a failing observer is logged at warn $title', async ({ on }) => {
  const bench = openBench();
  const observer = bench.observer({ on, runs: ['no-such-file'], name: 'audit' });
  observer.enqueue(event, 'c');
  await observer.close();
  expect(logged(bench.events).filter(({ level }) => level >= 40)).toMatchObject([
    { level: 40, msg: expect.stringContaining('audit: untold') },
  ]);
});

/** The lines of a log at its lowest level. */
function logged(events: readonly RuntimeEvent[]): { readonly level: number; readonly msg: string }[] {
  const file = join(tmpdir(), 'observer.log');
  const fd = openSync(file, 'w');
  const target = { fd, isTerminal: false, hasColour: false };
  const log = openLog({ logging: { level: 'trace', fields: {} }, name: '', secrets: [], target });
  for (const each of events) log(each);
  closeSync(fd);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test.each(on('DS-HOOK-03@both'))(
  'an observer receives one event after another, in order $title',
  async ({ on }) => {
    const bench = openBench();
    const { env, lines } = newRecord();
    const observer = bench.observer({ ...answering(on, '{}'), env });
    const turns = [1, 2, 3, 4, 5, 6, 7, 8];
    for (const turn of turns) observer.enqueue(sessionEvent('session_update', turn), `turn ${turn}`);
    await observer.close();
    expect(lines().map((line) => JSON.parse(line).event.turn_index)).toEqual(turns);
    const calls = bench.events.flatMap((event) =>
      event.type === 'call.started' || event.type === 'call.finished' ? [`${event.type} ${event.call}`] : [],
    );
    expect(calls).toEqual(
      turns.flatMap((turn) => [`call.started turn ${turn}`, `call.finished turn ${turn}`]),
    );
  },
);

test('a full queue drops new events, and reports it [DS-HOOK-04@oneshot]', async () => {
  const bench = openBench();
  const observer = bench.observer({ runs: ['hang.sh'], timeoutMs: 300 });
  // One is in progress and 1024 wait.
  for (let turn = 0; turn < 1025; turn++) observer.enqueue(sessionEvent('session_update', turn), 'c');
  expect(dropsOf(bench)).toEqual([]);
  observer.enqueue(sessionEvent('session_end'), 'c');
  observer.enqueue(sessionEvent('session_end'), 'c');
  const full = 'session_end: 1024 events are waiting already';
  expect(dropsOf(bench)).toEqual([full, full]);
  await observer.close();
  expect(dropsOf(bench).at(-1)).toMatch(/^10\d\d events still waiting when the runtime closed$/);
});

const late: Record<Transport, Entry> = {
  oneshot: { runs: ['slow-allow'], env: ['SLOW_MS=100'] },
  server: { on: 'server', runs: ['server', 'late', '100'] },
};

test.each(on('DS-HOOK-05@both'))('close() waits for an observer’s queued events $title', async ({ on }) => {
  const bench = openBench();
  const observer = bench.observer(late[on]);
  for (const turn of [1, 2, 3]) observer.enqueue(sessionEvent('session_update', turn), 'c');
  await observer.close();
  expect(endsOf(bench)).toEqual(['told', 'told', 'told']);
  expect(dropsOf(bench)).toEqual([]);
});

test.each(on('DS-HOOK-05@both'))('close() waits no longer than the timeout $title', async ({ on }) => {
  const bench = openBench();
  const observer = bench.observer({ on, runs: ['hang.sh'], timeoutMs: 300 });
  for (const turn of [1, 2, 3, 4, 5]) observer.enqueue(sessionEvent('session_update', turn), 'c');
  await observer.close();
  // Its own deadline and that of close() nearly coincide, so the second event may have begun.
  const [drop, ...more] = dropsOf(bench);
  const dropped = Number(/^(\d) events still waiting/.exec(drop ?? '')?.[1]);
  expect(more).toEqual([]);
  expect(dropped).toBeGreaterThanOrEqual(3);
  expect(endsOf(bench)).toHaveLength(5 - dropped);
  expect(endsOf(bench)).not.toContain('told');
});

test('an event that cannot be serialized is not sent, and does no harm', async () => {
  const bench = openBench();
  const { env, lines } = newRecord();
  const observer = bench.observer({ ...answering('oneshot', '{}'), env });
  const metadata: Record<string, unknown> = {};
  metadata['itself'] = metadata;
  const [first, second] = [sessionEvent('session_start'), sessionEvent('session_end')];
  observer.enqueue(
    { ...first, event: { ...('event' in first && first.event), metadata } } as NativeEvent,
    'c',
  );
  observer.enqueue(second, 'c');
  await observer.close();
  expect(endsOf(bench)).toEqual(['untold NESTING_TOO_DEEP', 'told']);
  expect(lines()).toHaveLength(1);
});

const shadows = onTransports([
  {
    title: 'a denial',
    cites: 'DS-HOOK-01@both',
    says: '{"allow": false, "reason": "not today", "metadata": {"big": 12345678901234567890}}',
    recorded: { verdict: 'deny', reason: 'not today', metadata: { text: '{"big": 12345678901234567890}' } },
  },
  {
    title: 'a modify',
    cites: 'DS-HOOK-01@both',
    says: '{"allow": true, "replace": {"args": {"amount": 1}}}',
    recorded: { verdict: 'modify', reason: '' },
  },
  {
    title: 'nonsense',
    cites: 'DS-HOOK-01@both',
    says: '{"ack": true}',
    recorded: {
      verdict: 'deny',
      reason: expect.stringMatching(/^hook "shade" gave no verdict: /),
      error: { code: 'REPLY_MALFORMED' },
    },
  },
]);

test.each(shadows)(
  'the verdict of a shadow is recorded and not obeyed: $title',
  async ({ on, says, recorded }) => {
    const bench = openBench();
    const link = bench.links.shadow({ ...answering(on, says), name: 'shade' });
    const { decision, event: left } = await passGate([link], event, { call: 'c' });
    expect(decision).toMatchObject({ verdict: 'allow', hook: null, metadata: { text: '{}' } });
    expect(left).toBe(event);
    const decisions = () => bench.events.filter(({ type }) => type === 'decision');
    expect(decisions()).toEqual([]);
    expect(await eventually(decisions)).toMatchObject([{ hook: 'shade', mode: 'shadow', ...recorded }]);
  },
);

test.each(on('DS-HOOK-01@both'))('nothing waits for a shadow $title', async ({ on }) => {
  const bench = openBench();
  const link = bench.links.shadow({ on, runs: ['hang.sh'], name: 'shade', timeoutMs: 400 });
  const { decision } = await passGate([link], event, { call: 'c' });
  expect(decision.verdict).toBe('allow');
  const decisions = () => bench.events.filter(({ type }) => type === 'decision');
  expect(decisions()).toEqual([]);
  expect(await eventually(decisions)).toMatchObject([
    { hook: 'shade', mode: 'shadow', verdict: 'deny', error: { code: 'PROCESS_TIMEOUT' } },
  ]);
});

test.each(on('DS-HOOK-03@both'))(
  'nothing is serialized for an observer in the turn of the event $title',
  async ({ on }) => {
    const bench = openBench();
    const { env, lines } = newRecord();
    const observer = bench.observer({ ...answering(on, '{}'), env });
    let reads = 0;
    const base = sessionEvent('session_start');
    const metadata = Object.defineProperty({}, 'seen', {
      enumerable: true,
      get: () => {
        reads += 1;
        return reads;
      },
    });
    observer.enqueue(
      { ...base, event: { ...('event' in base && base.event), metadata } } as NativeEvent,
      'c',
    );
    await Promise.resolve();
    expect([reads, bench.events]).toEqual([0, []]);
    await observer.close();
    expect(lines().map((line) => JSON.parse(line).event.metadata)).toEqual([{ seen: reads }]);
  },
);

test('a flooding observer receives what fits, in order, and every event is accounted for', async () => {
  const bench = openBench();
  const { env, lines } = newRecord();
  const observer = bench.observer({ ...answering('server', '{}'), env, timeoutMs: 60_000 });
  for (let turn = 0; turn < 20_000; turn++) observer.enqueue(sessionEvent('session_update', turn), 'c');
  await observer.close();
  const turns = lines().map((line) => JSON.parse(line).event.turn_index);
  // One is in progress and 1024 wait.
  expect(turns).toEqual(Array.from({ length: 1025 }, (_, turn) => turn));
  expect(dropsOf(bench).at(-1)).toBe('18975 events in all, while 1024 events were waiting already');
  expect(dropsOf(bench).length).toBeLessThan(30);
});
