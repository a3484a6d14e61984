import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { CaseRecord, PlannedRow, RunHeader, Runtime, SuiteReport } from '../../runtime/open-runtime.ts';
import type { DescribeSuiteOptions } from './options.ts';
import { onStop } from './signals.ts';

/** What is run, and with what. */
export interface RunPlan {
  readonly file: string;
  readonly config: string;
  readonly options: DescribeSuiteOptions;
  readonly timeoutMs: number;
  /** The rows whose outcome will be asked for. */
  readonly awaited: readonly PlannedRow[];
  /** Nothing but these rows is run. */
  readonly isPartial: boolean;
}

/** A run that goes on while tests wait for parts of it. */
export interface SuiteRun {
  /** Waits until the case of that row is judged, or is found to be none. Throws what ended the run before. */
  outcomeOf(number: number): Promise<Outcome>;
  /** Waits for the end of the run. Throws what ended it early. */
  report(): Promise<SuiteReport>;
  /** Gives up what still runs, and ends every process. */
  close(): Promise<void>;
}

export type Outcome =
  | { readonly record: CaseRecord; readonly header: RunHeader }
  | { readonly problems: SuiteReport['problems'] };

/** Opens the runtime and begins to run the suite on it. Throws what openRuntime throws. */
export async function startRun(plan: RunPlan): Promise<SuiteRun> {
  const { openRuntime } = await import('../../runtime/open-runtime.ts');
  const stop = new AbortController();
  const { signal } = stop;
  const release = onStop(() => stop.abort());
  try {
    const runtime = await openRuntime(plan.config, { signal, logLevel: 'warn' });
    return watch(plan, runtime, { stop, release });
  } catch (error) {
    release();
    throw error;
  }
}

interface Stopping {
  readonly stop: AbortController;
  readonly release: () => void;
}

function watch(plan: RunPlan, runtime: Runtime, { stop, release }: Stopping): SuiteRun {
  const board = newBoard(plan.awaited);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop.abort();
  }, plan.timeoutMs);
  const running = run(plan, { runtime, board, signal: stop.signal })
    .catch((thrown: unknown) => {
      const error = isLate ? tooLate(plan) : toRuntimeError(thrown);
      board.fail(error);
      throw error;
    })
    .finally(() => clearTimeout(timer));
  // Nobody may be waiting for the end of the run.
  running.catch(() => {});
  return {
    outcomeOf: board.outcomeOf,
    report: () => running,
    async close() {
      stop.abort();
      await running.catch(() => {});
      await runtime.close();
      release();
    },
  };
}

interface Running {
  readonly runtime: Runtime;
  readonly board: Board;
  readonly signal: AbortSignal;
}

async function run(plan: RunPlan, { runtime, board, signal }: Running): Promise<SuiteReport> {
  const { select, epochs, retries, dataset, cache } = plan.options;
  const rows = plan.isPartial ? { rows: plan.awaited.map(({ number }) => number) } : {};
  const problems: SuiteReport['problems'][number][] = [];
  let header: RunHeader | undefined;
  const report = await runtime.evals.run(plan.file, {
    ...{ epochs, retries, dataset, cache, signal },
    select: { ...select, ...rows },
    keep: false,
    reporter: {
      begin: async (begun) => {
        header = begun;
      },
      onCase: async (record) => {
        if (header !== undefined) board.settle(record.number, { record, header });
      },
      onProblem: async (problem) => {
        if (board.isAwaited(problem)) problems.push(problem);
      },
      end: async () => {},
    },
  });
  board.end(problems);
  return report;
}

function tooLate({ timeoutMs }: RunPlan): RuntimeError {
  return new RuntimeError('STEP_TIMEOUT', `the run of the suite took longer than ${timeoutMs} ms`, {
    hint: 'Raise timeoutMs, or run fewer cases with select.',
  });
}

type Place = Pick<SuiteReport['problems'][number], 'file' | 'line'>;

/** Where outcomes are put up, and waited for. */
interface Board {
  outcomeOf(number: number): Promise<Outcome>;
  settle(number: number, outcome: Outcome): void;
  isAwaited(place: Place): boolean;
  /** What has no outcome by now has one of these problems. */
  end(problems: SuiteReport['problems']): void;
  fail(error: RuntimeError): void;
}

function newBoard(rows: readonly PlannedRow[]): Board {
  const waiting = new Map(rows.map((row) => [row.number, { row, ...Promise.withResolvers<Outcome>() }]));
  const lines = new Set(rows.map(({ file, line }) => `${file}:${line}`));
  // A test that waits for it may never be run.
  for (const { promise } of waiting.values()) promise.catch(() => {});
  return {
    async outcomeOf(number) {
      const entry = waiting.get(number);
      if (entry === undefined)
        throw new RuntimeError('INTERNAL', `nobody said that row ${number} would be run`);
      return await entry.promise;
    },
    settle: (number, outcome) => waiting.get(number)?.resolve(outcome),
    isAwaited: ({ file, line }) => lines.has(`${file}:${line}`),
    end(problems) {
      for (const { row, resolve } of waiting.values()) {
        const own = problems.filter(({ file, line }) => file === row.file && line === row.line);
        resolve({ problems: own.length > 0 ? own : [isGone(row)] });
      }
    },
    fail(error) {
      for (const { reject } of waiting.values()) reject(error);
    },
  };
}

function isGone({ file, line }: PlannedRow) {
  return {
    file,
    line,
    column: 1,
    message: 'the row was there when the tests were collected, and is no longer',
  };
}
