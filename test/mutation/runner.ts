import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { declareClassPlugin, declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestRunner,
  TestStatus,
} from '@stryker-mutator/api/test-runner';
import { type Asked, type Told, toLine, withPlan } from './messages.ts';
import { reasonToIgnore } from './messages-only.ts';

/**
 * A test runner for Stryker that keeps one vitest worker with all tests loaded, so a mutant needs no start. The fastest
 * tests come first. A test that fails with a mutant must pass without it right after; otherwise the worker is replaced
 * and the mutant retried.
 */
class WarmTestRunner implements TestRunner {
  #worker: Worker | undefined;
  #timings: Record<string, number> | undefined;

  /** A mutant of import-time code needs a process that has not imported it. */
  capabilities() {
    return { reloadEnvironment: true };
  }

  async dryRun(): Promise<DryRunResult> {
    const timings = readTimings();
    const slowestMs = Number(process.env.MUTATION_SLOWEST_MS ?? 2_000);
    const told = await (await this.#open()).ask({ run: 'all', timings, slowestMs });
    if (!('results' in told)) return { status: DryRunStatus.Error, errorMessage: JSON.stringify(told) };
    for (const { id, ms } of told.results) timings[id] = ms;
    writeFileSync(timingsFile(), JSON.stringify(timings));
    const tests = told.results.map(({ id, ms, failure }) => {
      const result = { id, name: id, timeSpentMs: ms };
      return failure === undefined
        ? { ...result, status: TestStatus.Success as const }
        : { ...result, status: TestStatus.Failed as const, failureMessage: failure };
    });
    return { status: DryRunStatus.Complete, tests, mutantCoverage: told.coverage };
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, testFilter = [], hitLimit, reloadEnvironment, mutantActivation } = options;
    const isStatic = mutantActivation === 'static';
    const asked: Asked = {
      run: 'mutant',
      mutant: activeMutant.id,
      tests: testFilter,
      hitLimit,
      timings: this.#timingsOf(testFilter),
      budgetMs: Number(process.env.MUTATION_BUDGET_MS ?? 1_000),
    };
    if (reloadEnvironment || isStatic) await this.dispose();
    const first = await (await this.#open(isStatic ? activeMutant.id : undefined)).ask(asked);
    if (isStatic) await this.dispose();
    if (!('spoiled' in first)) return toResult(first);
    await this.dispose();
    return toResult(await (await this.#open()).ask(asked));
  }

  /** A new worker has no measurements of its own. */
  #timingsOf(ids: readonly string[]): Record<string, number> {
    this.#timings ??= readTimings();
    const known = Object.entries(this.#timings);
    const asked = new Set(ids);
    return Object.fromEntries(known.filter(([id]) => asked.has(id)));
  }

  async dispose(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.end();
  }

  async #open(activeMutant?: string): Promise<Worker> {
    this.#worker ??= await Worker.start(activeMutant);
    return this.#worker;
  }
}

const timingsFile = () => join(process.env.MUTATION_OUT ?? tmpdir(), 'timings.json');

function readTimings(): Record<string, number> {
  return existsSync(timingsFile()) ? JSON.parse(readFileSync(timingsFile(), 'utf8')) : {};
}

function toResult(told: Told): MutantRunResult {
  if ('killedBy' in told) {
    const { killedBy, failure, ran } = told;
    return { status: MutantRunStatus.Killed, killedBy: [killedBy], failureMessage: failure, nrOfTests: ran };
  }
  if ('ran' in told) return { status: MutantRunStatus.Survived, nrOfTests: told.ran };
  return { status: MutantRunStatus.Error, errorMessage: JSON.stringify(told) };
}

class Worker {
  readonly #vitest: ChildProcess;
  readonly #server: Server;
  readonly #socket: Socket;
  readonly #lines: AsyncIterator<string>;
  readonly #folder: string;

  private constructor(parts: { vitest: ChildProcess; server: Server; socket: Socket; folder: string }) {
    this.#vitest = parts.vitest;
    this.#server = parts.server;
    this.#socket = parts.socket;
    this.#folder = parts.folder;
    this.#lines = createInterface({ input: parts.socket })[Symbol.asyncIterator]();
  }

  static async start(activeMutant?: string): Promise<Worker> {
    const folder = mkdtempSync(join(tmpdir(), 'mutation-'));
    const address = join(folder, 'socket');
    const server = createServer().listen(address);
    const tests = (process.env.MUTATION_TESTS ?? '').split(',');
    const vitest = spawn(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutation/vitest.config.ts'],
      {
        env: { ...process.env, TMPDIR: folder, ...withPlan({ address, tests, activeMutant }) },
        stdio: process.env.MUTATION_DEBUG === undefined ? 'ignore' : 'inherit',
        detached: true,
      },
    );
    const [socket] = await once(server, 'connection');
    const worker = new Worker({ vitest, server, socket, folder });
    await worker.#hear();
    return worker;
  }

  async ask(asked: Asked): Promise<Told> {
    this.#socket.write(toLine(asked));
    return this.#hear();
  }

  async #hear(): Promise<Told> {
    const { value, done } = await this.#lines.next();
    return done === true ? { spoiled: 'the worker is gone' } : JSON.parse(value);
  }

  async end(): Promise<void> {
    this.#socket.destroy();
    this.#server.close();
    const { pid } = this.#vitest;
    if (pid !== undefined && this.#vitest.exitCode === null) {
      const ended = once(this.#vitest, 'exit');
      process.kill(-pid, 'SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.TestRunner, 'warm', WarmTestRunner),
  declareValuePlugin(PluginKind.Ignore, 'messages', { shouldIgnore: reasonToIgnore }),
];
