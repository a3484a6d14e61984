import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import { type GateOptions, type Link, passGate } from '../../../src/calls/hooks/gate.ts';
import { decisionOf } from '../../../src/calls/hooks/hook-chain.ts';
import type { Decision, NativeEvent } from '../../../src/contract/hook.ts';
import { answers } from '../../../src/contract/hook.ts';
import { onTransports, type Transport } from '../../cite.ts';
import {
  answering,
  type Bench,
  eventually,
  type HookEntry,
  newRecord,
  openBench,
} from '../capability/bench.ts';

const event = readEvent({
  hook: 'tool',
  phase: 'before_execution',
  request: { name: 'w', args: new Json('{"note":"a"}'), call_id: 'call_1' },
});

function pass(links: readonly Link[], options: Partial<GateOptions> = {}, given: NativeEvent = event) {
  return passGate(links, given, { call: 'c', ...options });
}

function openMeeting(bench: Bench, on: Transport) {
  const { env, lines } = newRecord();
  /** A filter that replies once all these marks exist. */
  const filter = (name: string, marks: string, reply: string, more: Partial<HookEntry> = {}) =>
    bench.links.filter({ on, runs: ['meets', name, marks, reply], name, env, modifies: false, ...more });
  return { filter, marks: lines };
}

const allowing = '{"allow": true}';
const denying = (reason: string) =>
  `{"allow": false, "reason": "${reason}", "metadata": {"by": "${reason}"}}`;

function decisionsOf({ events }: Bench): string[] {
  return events.flatMap((each) => (each.type === 'decision' ? [`${each.hook} ${each.verdict}`] : []));
}

const on = (cites: string) => onTransports([{ title: 'over', cites }]);

test.each(on('DS-HOOK-06@both'))('all filters run concurrently $title', async ({ on }) => {
  const bench = openBench();
  const { filter, marks } = openMeeting(bench, on);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const all = names.map((name) => `+${name}`).join();
  const { decision, event: left } = await pass(names.map((name) => filter(name, all, allowing)));
  expect(decision).toMatchObject({ verdict: 'allow', hook: null });
  expect(left).toBe(event);
  expect(marks().slice(0, 6).sort()).toEqual(names.map((name) => `+${name}`));
  expect(marks().slice(6).sort()).toEqual(names.map((name) => `-${name}`));
  expect(decisionsOf(bench).sort()).toEqual(names.map((name) => `${name} allow`));
});

test.each(on('DS-HOOK-07@both'))(
  'the first in the file decides, whichever answers first $title',
  async ({ on }) => {
    const bench = openBench();
    const { filter, marks } = openMeeting(bench, on);
    const links = [
      filter('a', '-b', '{"allow": true, "metadata": {"a": 1}}'),
      filter('b', '-c', denying('b')),
      filter('c', '-d', denying('c')),
      filter('d', '', 'exit'),
    ];
    const { decision } = await pass(links);
    expect(decision).toMatchObject({
      verdict: 'deny',
      hook: 'b',
      reason: 'b',
      metadata: { text: '{"by": "b"}' },
    });
    expect(decision).not.toHaveProperty('error');
    expect(marks().filter((mark) => mark.startsWith('-'))).toEqual(['-d', '-c', '-b', '-a']);
  },
);

test.each(on('DS-HOOK-07@both'))('a fault decides when all before it allow $title', async ({ on }) => {
  const bench = openBench();
  const { filter } = openMeeting(bench, on);
  const { decision } = await pass([
    filter('a', '-b', allowing),
    filter('b', '-c', 'exit'),
    filter('c', '', denying('c')),
  ]);
  expect(decision).toMatchObject({ verdict: 'deny', hook: 'b', error: { code: expect.any(String) } });
});

test.each(on('DS-HOOK-08@both'))('filters after a denial are withdrawn $title', async ({ on }) => {
  const bench = openBench();
  const { filter } = openMeeting(bench, on);
  const links = [filter('a', '+b,+c', denying('a')), filter('b', '', 'hang'), filter('c', '', 'hang')];
  const { decision } = await pass(links);
  expect(decision).toMatchObject({ verdict: 'deny', hook: 'a', reason: 'a' });
  const notes = () =>
    bench.events.flatMap((each) => (each.type === 'note' ? [`${each.level} ${each.message}`] : []));
  const withdrawn = 'debug its event before_execution was cancelled, because an earlier hook has decided';
  expect(await eventually(notes, 2)).toEqual([withdrawn, withdrawn]);
  expect(decisionsOf(bench)).toEqual(['a deny']);
  const ended = () => bench.events.filter(({ type }) => type === 'process.ended');
  // A one-shot process is killed; a server goes on.
  if (on === 'oneshot') await eventually(ended, 3);
  expect(ended()).toHaveLength(on === 'oneshot' ? 3 : 0);
});

test('a server whose request was withdrawn answers the next one, in the same life', async () => {
  const bench = openBench();
  const { env, lines } = newRecord();
  const late = bench.links.filter({
    ...{ on: 'server', runs: ['server', 'late', '300'], name: 'late', modifies: false },
    restart: { firstDelayMs: 1, maxDelayMs: 5, circuitDeaths: 1, circuitPauseMs: 60_000 },
  });
  const deny = bench.links.filter({
    ...answering('server', '{"allow": false}'),
    name: 'no',
    env,
    modifies: false,
  });
  expect((await pass([deny, late])).decision).toMatchObject({ verdict: 'deny', hook: 'no' });
  expect(lines()).toHaveLength(1);
  expect((await pass([late])).decision).toMatchObject({ verdict: 'allow' });
  expect(bench.events.filter(({ type }) => /ended|restarted|circuit/.test(type))).toEqual([]);
});

/** Each set of three replies is given by concurrent and by sequential filters. */
const replies = [
  allowing,
  '{"allow": true, "reason": "fine", "metadata": {"id": 12345678901234567890}}',
  '{"allow": false, "reason": "no", "enforced": true, "metadata": {"rule": 1.0}}',
  '{"allow": false, "ask": true, "reason": "may it?"}',
  '{"ack": true}',
];

test('every chain of three decides as if its filters ran in turn [DS-HOOK-07@server]', async () => {
  const bench = openBench();
  // One server for each reply and position, both concurrent and sequential.
  const open = (modifies: boolean) =>
    [0, 1, 2].map((place) =>
      replies.map((reply) =>
        bench.links.filter({
          ...answering('server', reply),
          name: `${reply} ${place}`,
          timeoutMs: 60_000,
          modifies,
        }),
      ),
    );
  const ways = [open(false), open(true)];
  const chains = replies.flatMap((_, a) => replies.flatMap((__, b) => replies.map((___, c) => [a, b, c])));
  const decide = async (chain: readonly number[]): Promise<readonly Decision[]> =>
    await Promise.all(
      ways.map(async (way) => {
        const links = chain.flatMap((reply, place) => way[place]?.[reply] ?? []);
        expect(links).toHaveLength(3);
        return (await pass(links)).decision;
      }),
    );
  for (const chain of chains) {
    const [together, inTurn] = await decide(chain);
    expect(together).toEqual(inTurn);
  }
});

test.each(on('DS-HOOK-09@both'))(
  'one that replaces denies, alone and beside others $title',
  async ({ on }) => {
    const bench = openBench();
    const replacing = '{"allow": true, "replace": {"args": {"note": "b"}}}';
    const filter = (name: string, reply: string) =>
      bench.links.filter({ ...answering(on, reply), name, modifies: false });
    const [rogue, fine] = [filter('rogue', replacing), filter('fine', allowing)];
    for (const links of [[rogue], [rogue, fine], [fine, rogue], [fine, rogue, filter('no', denying('no'))]]) {
      const { decision, event: left } = await pass(links);
      expect(decision).toMatchObject({
        verdict: 'deny',
        hook: 'rogue',
        replace: null,
        reason: 'the hook failed: The reply is not the one JSON object that the dialect requires.',
        error: { code: 'REPLY_MALFORMED' },
      });
      expect(left).toBe(event);
    }
  },
);

test('modifying filters run before and after, and those between see the last change [DS-HOOK-06@oneshot]', async () => {
  const bench = openBench();
  const record = newRecord();
  const { filter, marks } = openMeeting(bench, 'oneshot');
  const mark = (word: string) => bench.links.filter({ runs: ['modify-before-execution', word], name: word });
  const read = (name: string) =>
    bench.links.filter({ ...answering('oneshot', allowing), name, env: record.env, modifies: false });
  const { decision, event: left } = await pass([
    ...[mark('one'), read('b'), read('c'), filter('d', '+e', allowing), filter('e', '+d', allowing)],
    ...[mark('two'), read('f')],
  ]);
  expect(decision).toMatchObject({ verdict: 'modify', hook: 'two' });
  expect(left).toMatchObject({ request: { args: { text: '{"note": "a one two"}' } } });
  expect(record.lines().map((line) => JSON.parse(line).request.args.note)).toEqual([
    'a one',
    'a one',
    'a one two',
  ]);
  expect(marks()).toHaveLength(4);
  expect(bench.started().slice(-2)).toEqual(['two', 'f']);
});

test('observers may be anywhere in between, and run once', async () => {
  const bench = openBench();
  const record = newRecord();
  const { filter } = openMeeting(bench, 'oneshot');
  const told = bench.links.observe({ ...answering('oneshot', '{}'), name: 'told', env: record.env });
  const heard: string[] = [];
  const links = [filter('a', '+b', allowing), told, filter('b', '+a', denying('b'))];
  const { decision } = await pass(links, { onHear: (name) => heard.push(name) });
  expect(decision).toMatchObject({ verdict: 'deny', hook: 'b' });
  expect(heard.toSorted()).toEqual(['a', 'b', 'told']);
  expect(await eventually(record.lines)).toHaveLength(1);
});

const asking = '{"allow": false, "ask": true, "reason": "may it?"}';

test('a question that was approved lets the others decide', async () => {
  const bench = openBench();
  const { filter } = openMeeting(bench, 'oneshot');
  const isApproved = (hook: string) => hook === 'b';
  const links = [filter('a', '+b', allowing), filter('b', '+c', asking), filter('c', '', allowing)];
  expect((await pass(links, { isApproved })).decision).toMatchObject({ verdict: 'allow' });
  const denied = [...links.slice(0, 2), filter('d', '', denying('d'))];
  expect((await pass(denied, { isApproved })).decision).toMatchObject({ verdict: 'deny', hook: 'd' });
});

test('a question for a person ends the chain, and the filters after it are withdrawn', async () => {
  const bench = openBench();
  const { filter } = openMeeting(bench, 'oneshot');
  const links = [filter('a', '+b', asking), filter('b', '', 'hang')];
  expect((await pass(links)).decision).toMatchObject({ verdict: 'ask', hook: 'a', reason: 'may it?' });
  expect(decisionsOf(bench)).toEqual(['a ask']);
});

test('an answer with other arguments reruns the filters after it with these', async () => {
  const bench = openBench();
  const { env, lines } = newRecord();
  const filter = (name: string, reply: string) =>
    bench.links.filter({ ...answering('oneshot', reply), name, env, modifies: false });
  const changed = answers.modify({ args: { note: 'changed' } });
  const onAsk = async () => decisionOf({ hook: 'person', dialect: 'claude' }, changed);
  const links = [filter('a', asking), filter('b', allowing), filter('c', denying('c'))];
  const { decision } = await pass(links, { onAsk });
  expect(decision).toMatchObject({ verdict: 'deny', hook: 'c' });
  const notes = lines().map((line) => JSON.parse(line).request.args.note);
  expect(notes.slice(-2)).toEqual(['changed', 'changed']);
});

test('a caller that aborts ends all of them, and none has denied', async () => {
  const bench = openBench();
  const { filter, marks } = openMeeting(bench, 'oneshot');
  const giveUp = new AbortController();
  const passing = pass(
    ['a', 'b', 'c'].map((name) => filter(name, '', 'hang')),
    { signal: giveUp.signal },
  );
  await eventually(marks, 3);
  giveUp.abort();
  expect((await passing).decision).toMatchObject({ verdict: 'deny', error: { code: 'ABORTED' } });
  expect(
    (await pass([filter('d', '', allowing), filter('e', '', allowing)], { signal: giveUp.signal })).decision,
  ).toMatchObject({ verdict: 'deny', hook: 'd', error: { code: 'ABORTED' } });
});

test('durations are reported in the order of the file, of the filters that judged', async () => {
  const bench = openBench();
  const { filter } = openMeeting(bench, 'oneshot');
  const told: string[] = [];
  const onAnswer: GateOptions['onAnswer'] = (hook, verdict) => told.push(`${hook} ${verdict}`);
  const links = [filter('a', '-c', allowing), filter('b', '', denying('b')), filter('c', '', denying('c'))];
  await pass(links, { onAnswer });
  expect(told).toEqual(['a allow', 'b deny']);
});
