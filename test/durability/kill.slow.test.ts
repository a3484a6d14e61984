import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime, type Runtime, RuntimeError } from '../../src/index.ts';
import { EFFECTS, openWorkshop, PENDINGS, type Workshop } from './workshop.ts';

const KILLS = Number(process.env['DURABILITY_KILLS'] ?? 200);
const LANES = 2;

interface Tally {
  kills: number;
  runs: number;
  resumes: number;
  effects: number;
  repeatedCalls: number;
  pendings: number;
  won: number;
  conflicts: number;
}

test(`${KILLS} times SIGKILL at random points of a pipeline of 20 steps: every effect once, every pending call decided once`, {
  timeout: 900_000,
}, async ({ annotate }) => {
  const tally: Tally = {
    kills: 0,
    runs: 0,
    resumes: 0,
    effects: 0,
    repeatedCalls: 0,
    pendings: 0,
    won: 0,
    conflicts: 0,
  };
  await Promise.all(Array.from({ length: LANES }, () => killUntilEnough(tally)));
  await annotate(`tally: ${JSON.stringify(tally)}`);
  process.stdout.write(`${tallyText(tally)}\n`);
  expect(tally).toMatchObject({
    kills: expect.toSatisfy((kills: number) => kills >= KILLS),
    effects: tally.runs * EFFECTS,
    pendings: tally.runs * PENDINGS,
    won: tally.runs * PENDINGS,
    conflicts: tally.runs * PENDINGS,
  });
});

function tallyText({
  kills,
  runs,
  resumes,
  effects,
  repeatedCalls,
  pendings,
  won,
  conflicts,
}: Tally): string {
  return [
    `${kills} kills over ${runs} runs, ${resumes} resumes`,
    `${effects} effects of ${runs * EFFECTS}, each once; ${repeatedCalls} calls were repeated and recognised`,
    `${pendings} pendings of ${runs * PENDINGS}, each decided once; ${won} rulings won, ${conflicts} came second`,
  ].join('\n');
}

async function killUntilEnough(tally: Tally): Promise<void> {
  while (tally.kills < KILLS) {
    const workshop = openWorkshop();
    const document = await finish(workshop, tally);
    expect(document).toMatchObject({ status: 'completed', pending: [] });
    const effects = workshop.effects();
    expect(effects).toHaveLength(EFFECTS);
    tally.runs += 1;
    tally.effects += effects.length;
    tally.repeatedCalls += workshop.calls().length - EFFECTS - ASKING_TOOLS;
  }
}

/** Calls that tools answer with `pending`, which have no effect. */
const ASKING_TOOLS = 2;

async function finish(workshop: Workshop, tally: Tally): Promise<unknown> {
  const desks = await Promise.all([1, 2].map(() => openRuntime(workshop.config, { log: false })));
  try {
    for (;;) {
      // After enough kills, the run may end.
      const worked = await workOn(workshop, tally.kills < KILLS ? randomEnd() : undefined);
      const { document } = worked;
      if (worked.wasKilled) tally.kills += 1;
      tally.resumes += 1;
      if (document !== undefined && JSON.parse(document).status !== 'pending') {
        return JSON.parse(document);
      }
      await decideAll(desks, tally);
    }
  } finally {
    for (const desk of desks) await desk.close();
  }
}

/** A worker is killed after that many events and a short delay. */
interface End {
  readonly events: number;
  readonly delayMs: number;
}

function randomEnd(): End {
  return { events: Math.floor(Math.random() * 20), delayMs: Math.random() * 10 };
}

interface Worked {
  /** The worker's output; undefined if it was killed first. */
  readonly document: string | undefined;
  readonly wasKilled: boolean;
}

async function workOn(workshop: Workshop, end: End | undefined): Promise<Worked> {
  const child = spawn(process.execPath, [worker, workshop.config, workshop.pipeline], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let document: string | undefined;
  let happened = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'event') happened += 1;
    if (happened === end?.events) void killSoon(child, end.delayMs);
    if (line.startsWith('{')) document = line;
  }
  const [, signal] = await closed;
  return { document, wasKilled: signal === 'SIGKILL' };
}

async function killSoon(child: ChildProcess, delayMs: number): Promise<void> {
  await sleep(delayMs);
  child.kill('SIGKILL');
}

const worker = new URL('./worker.ts', import.meta.url).pathname;

async function decideAll(desks: readonly Runtime[], tally: Tally): Promise<void> {
  const [first] = desks;
  const open = (await first?.pending.list()) ?? [];
  tally.pendings += open.length;
  for (const { id } of open) {
    const said = await Promise.allSettled(
      desks.map((desk, seat) => desk.pending.approve(id, { by: `seat ${seat}` })),
    );
    tally.won += said.filter(({ status }) => status === 'fulfilled').length;
    tally.conflicts += said.filter(isConflict).length;
  }
}

function isConflict(said: PromiseSettledResult<unknown>): boolean {
  return (
    said.status === 'rejected' &&
    said.reason instanceof RuntimeError &&
    said.reason.code === 'PENDING_DECIDED'
  );
}
