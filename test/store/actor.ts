import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RuntimeError } from '../../src/base/errors.ts';
import { Json } from '../../src/base/json/json.ts';
import { openResultStore } from '../../src/store/open-result-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { newCall, newResult, newResultRun, newRun } from './examples.ts';

// Runs one store role in a separate process: `node actor.ts ROLE FILE …`. Each line is written synchronously.

// An import would print a warning on Node 22.
const { DatabaseSync } = loadSqlite();

const [role = '', file = '', ...rest] = process.argv.slice(2);

function say(word: unknown): void {
  writeSync(1, `${typeof word === 'string' ? word : JSON.stringify(word)}\n`);
}

async function waitForGo(): Promise<void> {
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.pause();
}

async function withStore(work: (store: Store) => Promise<unknown>): Promise<void> {
  const store =
    process.env['STORE_WRITER'] === 'own'
      ? await openSqliteStore(file, { writer: 'own' })
      : await openPlace(file);
  await work(store);
  await store.close();
}

async function openPlace(place: string): Promise<Store> {
  return await openStore(...placeOf(place));
}

function placeOf(place: string): Parameters<typeof openStore> {
  if (!place.startsWith('postgres:')) return [{ type: 'sqlite', file: place }];
  return [{ type: 'postgres', urlEnv: 'PLACE', folder: '/nowhere' }, { PLACE: place }];
}

const roles: Readonly<Record<string, () => Promise<unknown>>> = {
  /** change FILE WHAT COUNT: adds calls of the run "r1", runs, or runs of a suite. */
  change: async () => {
    const [what = '', count = '1'] = rest;
    const place = placeOf(file);
    const results = what === 'suites' ? await openResultStore(...place) : undefined;
    const store = await openStore(...place);
    const add = async (id: string) => {
      if (what === 'pendings') await store.addPending(newCall(id, 'r1'));
      if (what === 'runs') await store.createRun(newRun(id));
      await results?.createRun(newResultRun(id));
    };
    await waitForGo();
    const from = Date.now();
    for (let index = 0; index < Number(count); index++) await add(`${what}-${from}-${index}`);
    await store.close();
    await results?.close();
    say('done');
  },

  /** decide FILE ID WHO */
  decide: () =>
    withStore(async (store) => {
      const [id = '', by = ''] = rest;
      await waitForGo();
      const decided = await store.decide(id, { kind: 'approved', args: null, by, reason: '' }, 3_000);
      say({ by, won: decided?.isAccepted, ruling: decided?.record.ruling });
    }),

  /** pin FILE WHO [DIGEST]: pins a text of its own, at first or in place of another. */
  pin: () =>
    withStore(async (store) => {
      const [by = '', instead] = rest;
      const text = instead === undefined ? `first by ${by}` : `by ${by}`;
      await waitForGo();
      const pin =
        instead === undefined
          ? await store.addPin({ server: 's', text, at: 1 })
          : await store.acceptPin({ server: 's', text, by, at: 2, instead });
      say({ by, pin: pin?.text ?? null });
    }),

  /** begin FILE RUN: opens a new store and uses it at once. */
  begin: async () => {
    const [id = ''] = rest;
    await waitForGo();
    await withStore((store) => store.createRun(newRun(id)));
    say('done');
  },

  /** storm FILE: writes forever and prints what was kept. */
  storm: () =>
    withStore(async (store) => {
      const [name = ''] = rest;
      const write = async (lane: number) => {
        for (let index = 0; ; index++) {
          const id = `${name}-${lane}-${index}`;
          await store.beginStep('r1', id, index);
          await store.endStep('r1', id, new Json(JSON.stringify(id.repeat(20))), index);
          say(`step ${id}`);
          await store.addPending(newCall(id, 'r1'));
          say(`pending ${id}`);
        }
      };
      await Promise.all([0, 1, 2].map(write));
    }),

  /** fill FILE: writes until it fails; prints the kept writes, the error and what can still be read. */
  fill: () =>
    withStore(async (store) => {
      await store.createRun(newRun('r1'));
      for (let index = 0; ; index++) {
        try {
          await store.endStep('r1', `s${index}`, new Json(JSON.stringify('x'.repeat(3_000))), index);
          say(`step s${index}`);
        } catch (error) {
          if (!(error instanceof RuntimeError)) throw error;
          say({ failed: error.code, message: error.message, hint: error.hint });
          break;
        }
      }
      say({ readable: (await store.listSteps('r1')).length });
    }),

  /** read-full FILE: prints which run can be read and how a write fails. */
  'read-full': () =>
    withStore(async (store) => {
      say({ readable: (await store.listRuns())[0]?.id });
      try {
        await store.endStep('r1', 'a', new Json(JSON.stringify('x'.repeat(30_000))), 1);
        say({ failed: null });
      } catch (error) {
        if (!(error instanceof RuntimeError)) throw error;
        say({ failed: error.code, message: error.message });
      }
    }),

  /** claim FILE RUN: claims the run, leaves a child that outlives it, and waits. */
  claim: () =>
    withStore(async (store) => {
      const claim = await store.claimRun(rest[0] ?? '');
      const sleeper = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
      sleeper.unref();
      say({ claimed: claim !== undefined, sleeper: sleeper.pid });
      await new Promise(() => setInterval(() => {}, 60_000));
    }),

  /** hold-run PLACE RUN: claims the run and writes until a write is refused. */
  'hold-run': async () => {
    const store = await openPlace(file);
    await store.claimRun(rest[0] ?? '');
    say('claimed');
    try {
      for (let index = 0; ; index++) {
        await store.beginStep(rest[0] ?? '', `s${index}`, index);
        await sleep(50);
      }
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      say({ failed: error.code, message: error.message });
    }
    await store.close();
  },

  /** forget FILE RUN: claims the run, drops the claim and allows garbage collection. */
  forget: async () => {
    await openPlace(file).then((store) => store.claimRun(rest[0] ?? ''));
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    for (let round = 0; round < 5 && typeof collect === 'function'; round++) {
      await sleep(10);
      collect();
    }
    say('collected');
    await sleep(60_000);
  },

  /** contend FILE RUN TIMES: claims the run that often, prunes meanwhile, and reports two simultaneous claims. */
  contend: () =>
    withStore(async (store) => {
      const [run = '', times = '', proofFile = `${file}.proof`] = rest;
      const proof = new DatabaseSync(proofFile);
      proof.exec('PRAGMA busy_timeout = 10000');
      const change = proof.prepare('UPDATE inside SET count = count + ? RETURNING count');
      await waitForGo();
      for (let taken = 0; taken < Number(times); ) {
        const claim = await store.claimRun(run);
        if (claim === undefined) {
          await store.prune(0);
          await sleep(Math.random() * 3);
          continue;
        }
        taken += 1;
        if (change.get(1)?.['count'] !== 1) say('two at once');
        await sleep(1);
        change.get(-1);
        await claim.release();
      }
      proof.close();
      say('done');
    }),

  /** hold FILE MS: blocks all other writers. */
  hold: async () => {
    const database = new DatabaseSync(file);
    database.exec('BEGIN IMMEDIATE');
    say('holding');
    await sleep(Number(rest[0]));
    database.exec('ROLLBACK');
    database.close();
    say('let go');
  },

  /** results FILE: stores results forever and prints what was kept. */
  results: async () => {
    const results = await openResultStore({ type: 'sqlite', file });
    await results.createRun(newResultRun('r1'));
    for (let number = 1; ; number++) {
      await results.put(newResult('r1', { number, text: JSON.stringify(`${number} `.repeat(100)) }));
      say(number);
    }
  },

  /** fill-results FILE: stores results until it fails; prints their number, the error and what can be read. */
  'fill-results': async () => {
    const results = await openResultStore({ type: 'sqlite', file });
    await results.createRun(newResultRun('r1'));
    let kept = 0;
    try {
      for (;;) {
        await results.put(newResult('r1', { number: kept + 1, text: JSON.stringify('x'.repeat(3_000)) }));
        kept += 1;
      }
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      say({ kept, failed: error.code, message: error.message });
    }
    say({ readable: (await Array.fromAsync(results.records('r1'))).length });
  },

  /** claim-results FILE RUN: claims a suite run and waits. */
  'claim-results': async () => {
    const results = await openResultStore({ type: 'sqlite', file });
    const claim = await results.claimRun(rest[0] ?? '');
    say({ claimed: claim !== undefined });
    await new Promise(() => setInterval(() => {}, 60_000));
  },

  /** open FILE: prints whether a store opens there. */
  open: async () => {
    try {
      await withStore(async () => {});
      say('opened');
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      say({ failed: error.code, message: error.message, hint: error.hint });
    }
  },
};

await roles[role]?.();
