import { setTimeout as sleep } from 'node:timers/promises';
import { Json } from '../../../src/base/json/json.ts';
import { cancelRun, type RunsContext, resumeRun, startRun } from '../../../src/pipelines/run/runs.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Happening, History } from './histories.ts';
import { type Owner, openOwner, pipeline } from './owner.ts';
import { codeOf, World } from './world.ts';

export interface ModelStore {
  readonly store: Store;
  cut(): void;
  freeze(): void;
  thaw(): void;
}

/** Two stores on one database, and its disk. */
export interface Place {
  readonly stores: readonly [ModelStore, ModelStore];
  /** Starts or stops refusing writes of a run, as a full disk does. */
  fill(runId: string): Promise<void>;
  free(runId: string): Promise<void>;
}

export interface Played {
  readonly wrong: readonly string[];
  readonly starts: number;
  readonly refused: number;
  readonly takeovers: number;
  readonly status: string | undefined;
}

/** Longer than any wait for a connection on a busy machine. */
const LONGEST_MS = 120_000;

export async function play({ stores, fill, free }: Place, runId: string, history: History): Promise<Played> {
  const world = new World();
  const owners = stores.map(({ store }, index) => openOwner(`owner ${index}`, world, store));
  const under = new Set<Promise<unknown>>();
  const aborts = [new AbortController(), new AbortController()];
  const execute = (work: Promise<unknown>) => {
    const done: Promise<unknown> = work
      .catch((error: unknown) => {
        if (!expected.has(String(codeOf(error)))) world.wrong.push(`an execution ends with ${String(error)}`);
      })
      .finally(() => under.delete(done));
    under.add(done);
  };
  const go = (index: number) => {
    const { context } = ownerOf(owners, index);
    const { signal } = aborts[index] ?? new AbortController();
    execute(resumeAsWorker(context, runId, signal));
  };
  const thaw = (index: number) => {
    stores[index]?.thaw();
    owners[index]?.thaw();
  };
  const thaws: number[] = [];
  const thawDue = () => {
    for (const index of stores.keys()) if ((thaws[index] ?? 0) <= performance.now()) thaw(index);
  };
  const thawing = setInterval(thawDue, 2);
  const apply = async (happening: Happening): Promise<void> => {
    switch (happening.what) {
      case 'freeze':
        stores[happening.owner]?.freeze();
        owners[happening.owner]?.freeze();
        thaws[happening.owner] = Math.max(thaws[happening.owner] ?? 0, performance.now() + happening.ms);
        return;
      case 'cut':
        return stores[happening.owner]?.cut();
      case 'resume':
        return go(happening.owner);
      case 'abort':
        aborts[happening.owner]?.abort();
        aborts[happening.owner] = new AbortController();
        return;
      case 'cancel':
        return execute(
          cancelRun(ownerOf(owners, happening.owner).context, runId, { by: 'ann', reason: 'stop' }),
        );
      case 'fill':
        return await fill(runId);
      case 'free':
        return await free(runId);
      case 'expire':
        return execute(expire(ownerOf(owners, 0)));
      case 'approve':
      case 'reject':
        return execute(decide(ownerOf(owners, happening.owner), happening.what, { runId, world }));
    }
  };
  execute(
    startRun(ownerOf(owners, 0).context, pipeline, {
      input: new Json('{}'),
      id: runId,
      ...aborted(aborts[0]),
    }),
  );
  for (const { afterMs, happening } of history) {
    if (afterMs > 0) await sleep(afterMs);
    await apply(happening);
  }
  await sleep(30);
  await free(runId);
  const until = performance.now() + LONGEST_MS;
  while (under.size > 0 && performance.now() < until) await Promise.race([...under, sleep(50)]);
  clearInterval(thawing);
  if (under.size > 0) world.wrong.push(`${under.size} executions never end`);
  const status = await stores[0].store.findRunStatus(runId).catch(() => undefined);
  const { wrong, starts, refused, takeovers } = world;
  return { wrong, starts: starts.length, refused, takeovers, status };
}

async function resumeAsWorker(context: RunsContext, id: string, signal: AbortSignal): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return void (await resumeRun(context, { id, toPipeline: () => pipeline }, { signal }));
    } catch (error) {
      if (codeOf(error) !== 'RUN_BUSY' || tries === 14) throw error;
      await sleep(25);
    }
  }
}

function aborted(controller: AbortController | undefined) {
  return controller === undefined ? {} : { signal: controller.signal };
}

const expected: ReadonlySet<string> = new Set([
  ...[
    'STORE_FAILED',
    'RUN_ENDED',
    'RUN_BUSY',
    'RUN_UNKNOWN',
    'ABORTED',
    'PENDING_DECIDED',
    'PENDING_EXPIRED',
  ],
]);

function ownerOf(owners: readonly Owner[], index: number): Owner {
  const owner = owners[index];
  if (owner === undefined) throw new Error(`there is no owner ${index}`);
  return owner;
}

async function decide(
  { context: { store } }: Owner,
  what: 'approve' | 'reject',
  { runId, world }: { readonly runId: string; readonly world: World },
): Promise<void> {
  const open = await store.listPendings({ runId, open: true }, Date.now());
  for (const { id, step, tool, args } of open) {
    const ruling =
      what === 'approve'
        ? ({ kind: 'approved', args: null, by: 'ann', reason: '' } as const)
        : ({ kind: 'rejected', by: 'ann', reason: 'no' } as const);
    const decided = await store.decide(id, ruling, Date.now());
    const i = /"i":\s*(\d+)/.exec(args.text)?.[1];
    if (decided?.isAccepted === true && what === 'approve' && step.startsWith('loop'))
      world.allowAgain(`${tool}-${i}`);
  }
}

async function expire({ context: { store } }: Owner): Promise<void> {
  await store.listExpired(Date.now());
}
