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
  /** How many calls are told to wait, at least. */
  readonly pendings: number;
  readonly processes: number;
  /** One of the processes is killed so often, as long as there is work. */
  readonly killEveryMs: number;
  /** Taking calls ends no earlier. */
  readonly minKills: number;
  /** Hears how far it is. */
  readonly onProgress?: (text: string) => void;
}

export interface Storm extends Findings {
  readonly seconds: number;
  readonly kills: number;
}

/**
 * Lets processes take calls that wait for a person, decide about them and go on with them, all over one state store,
 * while one of them after another gets SIGKILL and is replaced; and then looks at what is left.
 */
export async function storm(options: StormOptions): Promise<Storm> {
  const office = openOffice();
  const said: Said[] = [];
  const crew = new Crew(office.config, said);
  const began = performance.now();
  // The first makes the store.
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

/** The processes that are at work. */
class Crew {
  hasEnough = false;
  readonly #config: string;
  readonly #said: Said[];
  readonly #clerks: ChildProcess[] = [];
  /** Those that have said something, and so are past their start. */
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
    // It may be killed before it has read that it is enough.
    clerk.stdin.on('error', () => {});
    this.#clerks.push(clerk);
    this.#read.push(this.#listen(clerk));
  }

  async #listen(clerk: ChildProcess): Promise<void> {
    if (clerk.stdout === null) return;
    for await (const line of createInterface({ input: clerk.stdout })) {
      // The last line of a killed process may be cut off; nobody was told it.
      if (!line.endsWith('}')) continue;
      this.#said.push(JSON.parse(line));
      this.#atWork.add(clerk);
    }
  }

  /** Kills one in the midst of its work; false when all have only begun. Throws when one has failed by itself. */
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
