import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRuntime } from '../../../src/index.ts';
import { compileCache } from '../../built.ts';
import { check, type Findings } from './check.ts';
import { openOffice } from './office.ts';
import type { Said } from './said.ts';

export interface StormOptions {
  /** The minimum number of calls. */
  readonly pendings: number;
  readonly processes: number;
  /** The interval between kills while there is work. */
  readonly killEveryMs: number;
  /** Calls are taken at least until this many kills. */
  readonly minKills: number;
  readonly onProgress?: (text: string) => void;
}

export interface Storm extends Findings {
  readonly seconds: number;
  readonly kills: number;
}

/**
 * Processes take, decide and continue calls over one state store while SIGKILL hits one after another. Then checks the
 * results.
 */
export async function storm(options: StormOptions): Promise<Storm> {
  const office = openOffice();
  const said: Said[] = [];
  const crew = new Crew(office.config, said);
  const began = performance.now();
  // The first runtime creates the store.
  const judge = await openRuntime(office.config, { log: false });
  try {
    for (let index = 0; index < options.processes; index += 1) crew.hire();
    await judge.pending.list();
    let kills = 0;
    for (let ended = false; !ended; ) {
      await sleep(options.killEveryMs);
      if (crew.killOne()) kills += 1;
      const taken = said.filter(({ what }) => what === 'took').length;
      if (taken >= options.pendings && kills >= options.minKills) crew.tellEnough();
      options.onProgress?.(`${taken} taken, ${said.length - taken} decisions told, ${kills} kills`);
      ended = crew.hasEnough && (await isDone(judge));
    }
    await crew.dismiss();
    const seconds = (performance.now() - began) / 1000;
    return { seconds, kills, ...(await check(office, said, judge)) };
  } finally {
    await crew.dismiss();
    await judge.close();
  }
}

async function isDone(judge: Awaited<ReturnType<typeof openRuntime>>): Promise<boolean> {
  for (const status of ['pending', 'running', 'cut_off'] as const)
    if ((await judge.runs.list({ status, limit: 1 })).length > 0) return false;
  return true;
}

class Crew {
  hasEnough = false;
  readonly #config: string;
  readonly #said: Said[];
  readonly #clerks: ChildProcess[] = [];
  /** Those that have written a line and have therefore started. */
  readonly #atWork = new Set<ChildProcess>();
  readonly #read: Promise<void>[] = [];
  #hired = 0;

  constructor(config: string, said: Said[]) {
    this.#config = config;
    this.#said = said;
  }

  hire(): void {
    this.#hired += 1;
    const clerk = spawn(
      process.execPath,
      [program, this.#config, `clerk${this.#hired}`, this.hasEnough ? 'enough' : ''],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
      },
    );
    // It may be killed before it reads `enough`.
    clerk.stdin.on('error', () => {});
    this.#clerks.push(clerk);
    this.#read.push(this.#listen(clerk));
  }

  async #listen(clerk: ChildProcess): Promise<void> {
    if (clerk.stdout === null) return;
    for await (const line of createInterface({ input: clerk.stdout })) {
      // The last line of a killed process may be cut off, so it was not reported.
      if (!line.endsWith('}')) continue;
      this.#said.push(JSON.parse(line));
      this.#atWork.add(clerk);
    }
  }

  /** Kills one during its work; false if all have just started. Throws if one failed by itself. */
  killOne(): boolean {
    if (this.#clerks.some(({ exitCode }) => exitCode !== null)) throw new Error('a clerk failed');
    const working = this.#clerks.filter((clerk) => this.#atWork.has(clerk));
    const clerk = working[Math.floor(Math.random() * working.length)];
    if (clerk === undefined) return false;
    this.#clerks.splice(this.#clerks.indexOf(clerk), 1);
    clerk.kill('SIGKILL');
    this.hire();
    return true;
  }

  tellEnough(): void {
    if (this.hasEnough) return;
    this.hasEnough = true;
    for (const clerk of this.#clerks) clerk.stdin?.write('enough\n');
  }

  async dismiss(): Promise<void> {
    for (const clerk of this.#clerks.splice(0)) {
      clerk.kill('SIGKILL');
      if (clerk.exitCode === null && clerk.signalCode === null) await once(clerk, 'exit');
    }
    await Promise.all(this.#read);
  }
}

const program = new URL('./clerk.ts', import.meta.url).pathname;
