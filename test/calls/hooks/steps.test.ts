import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { isFiltered, type Link, passGate } from '../../../src/calls/hooks/gate.ts';
import { allowed, decisionOf } from '../../../src/calls/hooks/hook-chain.ts';
import { handles, isHeard, stepsAt } from '../../../src/calls/hooks/links.ts';
import { answers, type NativeEvent } from '../../../src/contract/hook.ts';
import type { Point } from '../../../src/dialects/foreign-dialect.ts';
import { beforeExecution, openPlayed } from './played.ts';

const still = { modifies: false };
const allow = answers.allow();
const elsewhere = { phases: ['after_execution'] } as const;
const point: Point = { order: 'serial', isFilter: false, composition: { verdict: 'first' } };
const denied = { verdict: 'deny', hook: 'd', reason: 'no' };

const pass = (links: readonly Link[], more: Partial<Parameters<typeof passGate>[2]> = {}) =>
  passGate(links, beforeExecution, { call: 'c', ...more });

test('an event without a hook passes unchanged', async () => {
  const nothing = { event: beforeExecution, respond: undefined, forcedBy: [] };
  expect(await pass([])).toEqual({ decision: allowed, ...nothing });
});

test('the steps of a phase are planned once for each list of links', () => {
  const { filter, follower } = openPlayed();
  const links = [filter('a', allow), follower('o'), filter('z', allow, elsewhere)];
  const steps = stepsAt(links, 'before_execution');
  expect(steps).toEqual(links.slice(0, 2));
  expect(stepsAt(links, 'before_execution')).toBe(steps);
  expect(stepsAt(links, 'after_execution')).toEqual(links);
  expect(stepsAt(links, 'after_execution')).toBe(stepsAt(links, 'after_execution'));
  expect(stepsAt([], 'after_execution')).toEqual([]);
});

test('filters that change nothing form one step with their observers; a group or another filter separates them', () => {
  const { filter, follower, group } = openPlayed();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => filter(name, allow, still));
  const [changes, o, p] = [filter('m', allow), follower('o'), follower('p')];
  const foreign = group('g', allow, {});
  if (a === undefined || b === undefined || c === undefined || d === undefined) return;
  const at = (...links: Link[]) => stepsAt(links, 'before_execution');
  expect(at(a, o, b)).toEqual([{ batch: [a, o, b] }]);
  expect(at(a, o, p)).toEqual([a, o, p]);
  expect(at(o, p)).toEqual([o, p]);
  expect(at(a, b, changes, c, d)).toEqual([{ batch: [a, b] }, changes, { batch: [c, d] }]);
  expect(at(a, foreign, b)).toEqual([a, foreign, b]);
  expect(at(foreign)).toEqual([foreign]);
});

test('a phase is covered, and an event filtered, if a hook has it', () => {
  const { filter, follower, group } = openPlayed();
  const asks = (isFilter: boolean) => group('g', allow, { P: { ...point, isFilter }, Q: { ...point } });
  const heardAndFiltered = (...links: Link[]) => [
    isHeard(links, 'before_execution'),
    isFiltered(links, beforeExecution),
  ];
  expect(heardAndFiltered()).toEqual([false, false]);
  expect(heardAndFiltered(filter('z', allow, elsewhere))).toEqual([false, false]);
  expect(heardAndFiltered(follower('o'))).toEqual([true, false]);
  expect(heardAndFiltered(filter('a', allow))).toEqual([true, true]);
  expect(heardAndFiltered(filter('a', allow, still), filter('b', allow, still))).toEqual([true, true]);
  expect(heardAndFiltered(asks(true))).toEqual([true, true]);
  expect(heardAndFiltered(asks(false))).toEqual([true, false]);
  expect(heardAndFiltered(asks(false), filter('a', allow))).toEqual([true, true]);
  const unknown = group('g', allow, {});
  const misled = { group: { ...unknown.group, pointsAt: () => ['unknown'] } };
  expect(heardAndFiltered(misled)).toEqual([true, false]);
});

test.each([
  { kind: 'tool', phases: ['before_execution'], is: true },
  { kind: 'tool', phases: ['after_execution'], is: false },
  { kind: 'provider', phases: ['before_execution'], is: false },
  { kind: 'session', phases: ['before_execution'], is: false },
] as const)('a hook of $kind at $phases handles a call before it is made: $is', async ({ is, ...place }) => {
  const { filter, follower, heard } = openPlayed();
  const links = [filter('a', allow, place), follower('o', place)];
  expect(handles(filter('a', allow, place), beforeExecution)).toBe(is);
  await pass(links);
  expect(heard).toEqual(is ? ['a', 'o of c'] : []);
});

test('an event of another kind at a phase of the same name runs no hook', async () => {
  const { filter, follower, heard } = openPlayed();
  const other: NativeEvent = JSON.parse(JSON.stringify({ ...beforeExecution, hook: 'provider' }));
  const links = [filter('a', allow), follower('o')];
  expect(handles(filter('a', allow), other)).toBe(false);
  const { decision } = await passGate(links, other, { call: 'c' });
  expect([decision.verdict, heard]).toEqual(['allow', []]);
  await passGate([filter('a', allow, still), filter('b', allow, still)], other, { call: 'c' });
  expect(heard).toEqual([]);
});

test('observers run at their place, also after a denial, and not at all if only filters run', async () => {
  const { filter, follower, heard } = openPlayed();
  const links = [follower('o'), filter('d', answers.deny('no')), filter('b', allow), follower('p')];
  expect((await pass(links)).decision).toMatchObject(denied);
  expect(heard.splice(0)).toEqual(['o of c', 'd', 'p of c']);
  await pass(links, { filtersOnly: true });
  expect(heard.splice(0)).toEqual(['d']);
  const together = [filter('a', allow, still), follower('o'), filter('b', allow, still)];
  await pass(together);
  expect(heard.splice(0).sort()).toEqual(['a', 'b', 'o of c']);
  await pass(together, { filtersOnly: true });
  expect(heard.sort()).toEqual(['a', 'b']);
});

test('the hooks to run are named first, and each verdict when it arrives', async () => {
  const { filter, follower } = openPlayed();
  const said: string[] = [];
  const onHear = (hook: string) => void said.push(`${hook}?`);
  const onAnswer = (hook: string, verdict: string) => void said.push(`${hook} ${verdict}`);
  const links = [filter('a', allow), follower('o'), filter('d', answers.deny('no'))];
  await pass(links, { onHear, onAnswer });
  expect(said.splice(0)).toEqual(['a?', 'a allow', 'o?', 'd?', 'd deny']);
  await pass(links, { onHear });
  expect(said.splice(0)).toEqual(['a?', 'o?', 'd?']);
  await pass([filter('a', allow, still), filter('b', allow, still)], { onHear, onAnswer });
  expect(said).toEqual(['a?', 'b?', 'a allow', 'b allow']);
});

test('a group filters at its filtering points, and is informed at others, until the chain is stopped', async () => {
  const { filter, group, heard } = openPlayed();
  const points = { P: { ...point, isFilter: true }, Q: { ...point, isFilter: false } };
  const links = [group('g', answers.deny('foreign'), points), filter('a', allow), group('h', allow, points)];
  const { decision } = await pass(links);
  expect(decision).toMatchObject({ verdict: 'deny', hook: 'g', dialect: 'claude', reason: 'foreign' });
  expect(heard.splice(0)).toEqual(['g at P', 'g told at Q of c', 'h told at Q of c']);
  await pass(links, { filtersOnly: true });
  expect(heard).toEqual(['g at P']);
});

const city = (name: string) => new Json(`{"city":"${name}"}`);

test('concurrent filters count in order, and those after a denial are withdrawn', async () => {
  const { filter, follower, heard } = openPlayed();
  const ended: unknown[] = [];
  const waits = filter(
    'w',
    (signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          ended.push(signal.reason);
          reject(new Error('withdrawn'));
        });
      }),
    still,
  );
  const links = [filter('a', allow, still), filter('d', answers.deny('no'), still), waits, follower('o')];
  expect((await pass(links)).decision).toMatchObject(denied);
  expect(ended).toHaveLength(1);
  expect(heard).toEqual(['a', 'd', 'w', 'o of c']);
});

test('a caller that aborts ends concurrent filters, with its reason', async () => {
  const { filter } = openPlayed();
  const ended: unknown[] = [];
  const waits = (name: string) =>
    filter(
      name,
      (signal) =>
        new Promise((_, reject) => {
          const end = () => {
            ended.push(signal?.reason);
            reject(new Error('given up'));
          };
          if (signal?.aborted) end();
          signal?.addEventListener('abort', end);
        }),
      still,
    );
  const caller = new AbortController();
  const passing = pass([waits('a'), waits('b')], { signal: caller.signal });
  caller.abort('enough');
  expect((await passing).decision).toMatchObject({ verdict: 'deny', hook: 'a' });
  expect(ended.slice(0, 2)).toEqual(['enough', 'enough']);
  expect((await pass([waits('a'), waits('b')], { signal: caller.signal })).decision.verdict).toBe('deny');
  expect(ended[2]).toBe('enough');
});

test('finished filters are not affected by a later abort', async () => {
  const { filter } = openPlayed();
  const signals: (AbortSignal | undefined)[] = [];
  const keeps = (name: string) =>
    filter(
      name,
      async (signal) => {
        signals.push(signal);
        return allow;
      },
      still,
    );
  const caller = new AbortController();
  await pass([keeps('a'), keeps('b')], { signal: caller.signal });
  caller.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
});

test('if a concurrent filter’s question is answered with other arguments, those after it run again', async () => {
  const { filter, follower, heard, events } = openPlayed();
  const asks = filter('q', answers.ask('where?'), still);
  const onAsk = async () =>
    decisionOf({ hook: 'desk', dialect: 'x' }, answers.modify({ args: { city: 'Rome' } }));
  const links = [follower('o'), asks, follower('p'), filter('b', allow, still)];
  const { decision } = await pass(links, { onAsk });
  expect(decision).toMatchObject({ verdict: 'modify', hook: 'desk' });
  expect(heard).toEqual(['q', 'b', 'o of c', 'b', 'p of c']);
  const cities = events.map((event) => event.phase === 'before_execution' && event.request.args);
  expect(cities).toEqual([...Array(3).fill(city('NYC')), ...Array(2).fill(city('Rome'))]);
});

test('members beside an allow of a concurrent filter are kept', async () => {
  const { filter } = openPlayed();
  const says = (name: string) => answers.allow({ reason: name, context: [name] });
  const { decision, event } = await pass([
    filter('a', says('a'), still),
    filter('b', says('b'), still),
    filter('c', answers.allow({ metadata: new Json('{"c":1}') }), { modifies: false, ...elsewhere }),
  ]);
  expect(decision).toMatchObject({ verdict: 'allow', hook: null, reason: 'b', context: ['a', 'b'] });
  expect(event).toBe(beforeExecution);
});
