import { setTimeout as sleep } from 'node:timers/promises';
import { openRuntime, type PendingDocument, type Runtime, RuntimeError } from '../../src/index.ts';
import { openProject, type Project } from './project.ts';
import { startWorker, type WorkerProcess } from './worker-process.ts';

export interface StormOptions {
  readonly url: string;
  readonly runs: number;
  readonly workers: number;
  /** The number of SIGKILLs, and the time between them. */
  readonly kills: number;
  readonly killEveryMs: number;
  readonly concurrency?: number;
  /** Runs during the storm. */
  readonly meanwhile?: (storm: { readonly project: Project; readonly pids: () => number[] }) => Promise<void>;
  readonly store?: string;
  readonly workerArgs?: (index: number) => readonly string[];
}

/** `lost`, `twice` and `contested` are empty if every guarantee held. */
export interface Storm {
  readonly seconds: number;
  readonly kills: number;
  readonly runs: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly effects: number;
  /** Keys of missing effects that no person answered for. */
  readonly lost: readonly string[];
  /** Keys of repeated effects of tools that are not idempotent. */
  readonly twice: readonly string[];
  readonly pendings: number;
  readonly interrupted: number;
  readonly won: number;
  readonly conflicts: number;
  /** Ids of calls whose decision was won more than once, or never. */
  readonly contested: readonly string[];
}

const noted = (id: string, key = id) => `{id: ${id}, tool: note, args: {key: "\${input.n}-${key}"}}`;
const asked = (id: string, key = id) =>
  `{id: ${id}, tool: note_with_consent, args: {key: "\${input.n}-${key}"}}`;

const twenty = `  input: {type: object, required: [n], properties: {n: {type: string}}}
  steps:
    - ${noted('s1')}
    - ${noted('s2')}
    - ${noted('s3')}
    - ${asked('s4')}
    - {id: s5, chat: {provider: main, messages: "go on", tools: [look]}}
    - {id: s6, for_each: [1, 2, 3], tool: note, args: {key: "\${input.n}-s6-\${item}"}}
    - id: s7
      parallel:
        - ${noted('s8')}
        - ${asked('s9')}
        - ${noted('s10')}
    - ${noted('s11')}
    - {id: s12, chat: {provider: main, messages: "and further", tools: [look]}}
    - {id: s13, for_each: [1, 2], tool: note_with_consent, args: {key: "\${input.n}-s13-\${item}"}}
    - id: s14
      steps:
        - ${noted('s15')}
        - ${asked('s16')}
    - ${noted('s17')}
    - ${noted('s18')}
    - ${noted('s19')}
    - ${noted('s20')}
`;

const keys = [
  's1',
  's2',
  's3',
  's4',
  's6-1',
  's6-2',
  's6-3',
  's8',
  's9',
  's10',
  's11',
  's13-1',
  's13-2',
  's15',
  's16',
];
const allKeys = [...keys, 's17', 's18', 's19', 's20'];

// Each answer is given once, the last one repeatedly.
const asks = `{when: "round == 1", tool_calls: [{name: look, args: {}}]}`;
const spec = `  providers:
    - {id: main, type: mock, model: scripted, additional_config: {responses: [${Array.from({ length: 300 }, () => asks).join(', ')}, {text: done}]}}
`;
const look = `    look: {idempotent: true, exec: {command: sh, args: ["-c", "cat > /dev/null; echo '{\\"result\\": {\\"seen\\": true}}'"]}}\n`;

function openTwenty(store?: string): { readonly project: Project; readonly file: string } {
  const project = openProject({ spec, tools: look, ...(store !== undefined && { store }) });
  return { project, file: project.pipeline('twenty', twenty) };
}

/**
 * Workers continue many runs while SIGKILL hits one after another. Two people decide all pending calls concurrently.
 */
export async function storm(options: StormOptions): Promise<Storm> {
  const { url, runs, store } = options;
  const { project, file } = openTwenty(store);
  const env = { ...process.env, DATABASE_URL: url };
  const desks = await Promise.all([1, 2].map(() => openRuntime(project.config, { log: false, env })));
  const [desk] = desks;
  if (desk === undefined) throw new Error('nobody is there');
  const beganAt = performance.now();
  const crew = new Crew(project, options);
  const tally = { kills: 0, runs: 0, won: 0, conflicts: 0 };
  const winners = new Map<string, number>();
  const queue = async (count: number) => {
    for (let index = 0; index < count; index += 1) {
      tally.runs += 1;
      await desk.runs.queue(file, { n: `run${tally.runs}` });
    }
  };
  try {
    await queue(1);
    await Promise.all(Array.from({ length: options.workers }, () => crew.hire()));
    await queue(runs - 1);
    const meanwhile = options.meanwhile?.({ project, pids: () => crew.pids() });
    const killing = (async () => {
      while (tally.kills < options.kills) {
        await sleep(options.killEveryMs);
        if (crew.killOne()) tally.kills += 1;
      }
    })();
    for (;;) {
      await decideAll(desks, winners, tally);
      const open = await openRuns(desk);
      if (open === 0 && tally.kills >= options.kills) break;
      if (process.env['STORM_TELLS'] === '1')
        process.stdout.write(
          `${JSON.stringify({ ...tally, open, at: performance.now() - beganAt, effects: project.effects().length, log: crew.logs() })}\n`,
        );
      if (open < 20 && tally.kills < options.kills) await queue(20);
      await sleep(100);
    }
    await Promise.all([killing, meanwhile]);
    await crew.dismiss();
    const seconds = (performance.now() - beganAt) / 1_000;
    return { seconds, ...tally, ...(await check(desk, project, winners, tally.runs)) };
  } finally {
    await crew.dismiss();
    for (const each of desks) await each.close();
  }
}

async function openRuns(desk: Runtime): Promise<number> {
  // One query, because a run that changes its status between two queries could be missed.
  const all = await desk.runs.list();
  return all.filter(({ status }) => ['queued', 'running', 'cut_off', 'pending'].includes(status)).length;
}

interface Tally {
  won: number;
  conflicts: number;
}

async function decideAll(
  desks: readonly Runtime[],
  winners: Map<string, number>,
  tally: Tally,
): Promise<void> {
  const open = (await desks[0]?.pending.list()) ?? [];
  // Leaves some for the next round, so that runs wait for a while.
  for (const pending of open.filter(() => Math.random() < 0.8)) {
    const said = await Promise.allSettled(desks.map((desk, seat) => decide(desk, pending, `seat ${seat}`)));
    for (const each of said) {
      if (each.status === 'fulfilled') winners.set(pending.id, (winners.get(pending.id) ?? 0) + 1);
      else if (!(each.reason instanceof RuntimeError) || each.reason.code !== 'PENDING_DECIDED')
        throw each.reason;
    }
    tally.won += said.filter(({ status }) => status === 'fulfilled').length;
    tally.conflicts += said.filter(({ status }) => status === 'rejected').length;
  }
}

/** Confirms an interrupted call: one that is not idempotent is never repeated. */
async function decide(desk: Runtime, { id, origin }: PendingDocument, by: string): Promise<unknown> {
  if (origin === 'interrupted') return await desk.pending.respond(id, { by, result: { noted: true } });
  return await desk.pending.approve(id, { by });
}

async function check(
  desk: Runtime,
  project: Project,
  winners: ReadonlyMap<string, number>,
  count: number,
): Promise<Omit<Storm, 'seconds' | 'kills' | 'runs' | 'won' | 'conflicts'>> {
  const runs = await desk.runs.list();
  const byStatus: Record<string, number> = {};
  for (const { status } of runs) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const pendings = await desk.pending.list({ all: true });
  const interrupted = pendings.filter(({ origin }) => origin === 'interrupted');
  const answered = new Set(interrupted.map(({ args }) => keyOf(args)));
  const effects = project.effects();
  const seen = new Set(effects);
  const wanted = Array.from({ length: count }, (_, index) =>
    allKeys.map((key) => `run${index + 1}-${key}`),
  ).flat();
  return {
    byStatus,
    effects: effects.length,
    lost: wanted.filter((key) => !seen.has(key) && !answered.has(key)),
    twice: effects.filter((key, index) => effects.indexOf(key) !== index),
    pendings: pendings.length,
    interrupted: interrupted.length,
    contested: pendings.filter(({ id }) => winners.get(id) !== 1).map(({ id }) => id),
  };
}

function keyOf(args: unknown): string {
  return typeof args === 'object' && args !== null && 'key' in args ? String(args.key) : '';
}

class Crew {
  readonly #project: Project;
  readonly #options: StormOptions;
  readonly #workers = new Set<WorkerProcess>();
  #hired = 0;
  #isOver = false;

  constructor(project: Project, options: StormOptions) {
    this.#project = project;
    this.#options = options;
  }

  async hire(): Promise<void> {
    if (this.#isOver) return;
    const { url, concurrency = 8, workerArgs } = this.#options;
    const more = workerArgs?.(this.#hired) ?? [];
    this.#hired += 1;
    const args = ['--concurrency', `${concurrency}`, '--drain', '20s', ...more];
    const worker = await startWorker(this.#project.config, { url, args });
    if (this.#isOver) worker.child.kill('SIGKILL');
    else this.#workers.add(worker);
  }

  logs(): string[] {
    return [...this.#workers].map((worker) => worker.log().slice(-300));
  }

  pids(): number[] {
    return [...this.#workers].flatMap(({ child }) => child.pid ?? []);
  }

  /** Kills and replaces one that has worked on a run. False if there is none yet. */
  killOne(): boolean {
    const there = [...this.#workers].filter((worker) => worker.log().includes('run run_'));
    const worker = there[Math.floor(Math.random() * there.length)];
    if (worker === undefined) return false;
    const { exitCode } = worker.child;
    if (exitCode !== null)
      throw new Error(`a worker ended by itself with ${exitCode}: ${worker.log().slice(-2_000)}`);
    this.#workers.delete(worker);
    worker.child.kill('SIGKILL');
    // Not awaited, because others are killed while it starts.
    this.hire().catch((error: unknown) => {
      throw error;
    });
    return true;
  }

  async dismiss(): Promise<void> {
    this.#isOver = true;
    for (const { child } of this.#workers) child.kill('SIGTERM');
    await Promise.all([...this.#workers].map(({ ended }) => ended));
    this.#workers.clear();
  }
}
