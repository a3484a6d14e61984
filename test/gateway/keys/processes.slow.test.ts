import { cpSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Actor, mayMount, start as startActor, withDisk } from '../../store/processes.ts';
import { admit, enter, manage, newStore, refusalOf } from './open.ts';

const actorFile = new URL('actor.ts', import.meta.url).pathname;

function start(args: readonly string[], prefix?: readonly string[]): Actor {
  return startActor(args, prefix, actorFile);
}

async function restOf(actor: Actor): Promise<Said[]> {
  return (await actor.rest()).map((line) => JSON.parse(line));
}

interface Said {
  readonly began?: number;
  readonly ended?: number;
  readonly refused?: string;
}

function mostAtOnce(said: readonly Said[]): number {
  const moments = said
    .flatMap(({ began, ended }) => [
      ...(began === undefined ? [] : [{ at: began, by: 1 }]),
      ...(ended === undefined ? [] : [{ at: ended, by: -1 }]),
    ])
    .toSorted((one, other) => one.at - other.at || one.by - other.by);
  let now = 0;
  return Math.max(0, ...moments.map(({ by }) => (now += by)));
}

test('two concurrent processes share the places and the budget of one key', async () => {
  const store = newStore();
  const keys = await manage(store);
  const { key } = await keys.create({ name: 'team', concurrent: 5, budget: { total: 1 } });
  const actors = [0, 1].map(() => start(['spend', store.file, key, '8']));
  for (const actor of actors) await actor.next();
  for (const actor of actors) actor.go();
  const said = (await Promise.all(actors.map(restOf))).flat();
  expect(mostAtOnce(said)).toBeLessThanOrEqual(5);
  expect(mostAtOnce(said)).toBeGreaterThan(1);
  const [, , total] = (await keys.show('team')).usage;
  // A call needs the whole cent that it reserves; the last one begins at 0.99.
  expect(total?.cost).toBeCloseTo(0.995, 6);
  expect(total?.calls).toBe(199);
  expect(said.filter(({ ended }) => ended !== undefined)).toHaveLength(199);
  expect(new Set(said.flatMap(({ refused }) => refused ?? []))).toEqual(
    new Set(['429 insufficient_quota', '429 concurrency_limit_exceeded']),
  );
});

test('the places of a killed process are freed within about a second, and its reserved amount is counted', async () => {
  const store = newStore();
  const keys = await manage(store);
  const { key } = await keys.create({ name: 'team', concurrent: 3, budget: { total: 1 } });
  const admission = await admit(store);
  const holder = start(['hold', store.file, key, '3']);
  expect(await holder.next()).toBe('"held"');
  expect((await refusalOf(enter(admission, key))).code).toBe('concurrency_limit_exceeded');
  expect(await keys.show('team')).toMatchObject({ under_way: 3, usage: [{}, {}, { cost: 0, calls: 0 }] });
  holder.child.kill('SIGKILL');
  await holder.rest();
  await vi.waitFor(() => enter(admission, key), { timeout: 60_000, interval: 50 });
  expect(await keys.show('team')).toMatchObject({
    under_way: 1,
    usage: [{}, {}, { cost: 0.03, calls: 3, estimated: 3 }],
  });
});

test('a process that is only stopped keeps its places', async () => {
  const store = newStore();
  const keys = await manage(store);
  const { key } = await keys.create({ name: 'team', concurrent: 1 });
  const holder = start(['hold', store.file, key, '1']);
  expect(await holder.next()).toBe('"held"');
  holder.child.kill('SIGSTOP');
  // A new process sweeps at once.
  const admission = await admit(store);
  expect((await refusalOf(enter(admission, key))).code).toBe('concurrency_limit_exceeded');
  expect((await keys.show('team')).under_way).toBe(1);
});

test('SIGKILL at any moment leaves no call uncounted and no place taken', async () => {
  const store = newStore();
  const keys = await manage(store);
  const { key } = await keys.create({ name: 'team', concurrent: 50, budget: { total: 1000 } });
  let ended = 0;
  let began = 0;
  for (let round = 0; round < 6; round += 1) {
    const actor = start(['spend', store.file, key, '8']);
    await actor.next();
    actor.go();
    setTimeout(() => actor.child.kill('SIGKILL'), 30 + 25 * round);
    const said = await restOf(actor);
    began += said.filter((word) => word.began !== undefined).length;
    ended += said.filter((word) => word.ended !== undefined).length;
  }
  await admit(store);
  const { usage, under_way } = await keys.show('team');
  const total = usage[2];
  expect(under_way).toBe(0);
  expect(began).toBeGreaterThan(0);
  // Calls that were under way when a round ended cost their reservation: at most 8 for each round.
  expect(total?.calls).toBeGreaterThanOrEqual(began);
  expect(total?.calls).toBeLessThanOrEqual(began + 6 * 8);
  expect(total?.estimated).toBeLessThanOrEqual(6 * 8);
  expect(total?.cost).toBeGreaterThanOrEqual(ended * 0.005 - 1e-9);
  expect(total?.cost).toBeCloseTo(0.005 * ((total?.calls ?? 0) + (total?.estimated ?? 0)), 6);
});

test.runIf(mayMount)('a full disk refuses every call with 503, also for a key without limits', async () => {
  for (const limits of [{ concurrent: 5 }, {}]) {
    const store = newStore();
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'team', ...limits });
    await keys.close();
    const folder = dirname(store.file);
    cpSync(folder, `${folder}.kept`, { recursive: true });
    const disk = withDisk(folder, 'size=600k', 'cp -r "$folder.kept/." "$folder"');
    const fill = start(['fill', store.file, key], disk);
    expect(await fill.next()).toBe('"ready"');
    fill.go();
    expect(await fill.rest()).toEqual(['["503 store_failed"]']);
  }
});
