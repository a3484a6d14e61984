import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type {
  CaseRecord,
  PlannedRow,
  RunHeader,
  Runtime,
  Selection,
  SuiteReport,
  SuiteRunOptions,
} from '../../runtime/runtime.ts';

/** A row whose outcome a test waits for, in a matrix that of one variant. */
export type AwaitedRow = PlannedRow & { readonly variant?: string };

/** The suite, the config and the rows of a run. */
export interface RunPlan {
  readonly file: string;
  readonly config: string;
  readonly options: DescribeSuiteOptions;
  readonly timeoutMs: number;
  /** The rows whose outcome will be asked for. */
  readonly awaited: readonly AwaitedRow[];
  /** Nothing but these rows is run. */
  readonly isPartial: boolean;
}

/** A run that goes on while tests wait for parts of it. */
export interface SuiteRun {
  /** Waits until the row is judged or found unusable. Throws the error that ended the run before. */
  outcomeOf(row: RowKey): Promise<RowOutcome>;
  /** Waits for the end of the run. Throws what ended it early. */
  report(): Promise<SuiteReport>;
  /** Aborts what still runs, and closes the runtime. */
  close(): Promise<void>;
}

type RowOutcome =
  | { readonly record: CaseRecord; readonly header: RunHeader }
  | { readonly problems: SuiteReport['problems'] };

/** Opens the runtime and begins to run the suite on it. Throws what openRuntime throws. */
export async function startRun(plan: RunPlan): Promise<SuiteRun> {
  const { openRuntime } = await import('../../runtime/runtime.ts');
  const stop = new AbortController();
  const { signal } = stop;
  const release = onStop(() => stop.abort());
  try {
    const runtime = await openRuntime(plan.config, {
      ...{ signal, logLevel: 'warn', overlays: plan.options.overlays },
    });
    return trackRun(plan, runtime, { stop, release });
  } catch (error) {
    release();
    throw error;
  }
}

interface StopHandle {
  readonly stop: AbortController;
  readonly release: () => void;
}

function trackRun(plan: RunPlan, runtime: Runtime, { stop, release }: StopHandle): SuiteRun {
  const outcomes = newRowOutcomes(plan.awaited);
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    stop.abort();
  }, plan.timeoutMs);
  const running = run(plan, { runtime, outcomes, signal: stop.signal })
    .catch((thrown: unknown) => {
      const error = isTimedOut ? timeoutError(plan) : toRuntimeError(thrown);
      outcomes.rejectAll(error);
      throw error;
    })
    .finally(() => clearTimeout(timer));
  // Nobody may be waiting for the end of the run.
  running.catch(() => {});
  return {
    outcomeOf: outcomes.outcomeOf,
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
  readonly outcomes: RowOutcomes;
  readonly signal: AbortSignal;
}

async function run(plan: RunPlan, { runtime, outcomes, signal }: Running): Promise<SuiteReport> {
  const { select, epochs, retries, dataset, cache } = plan.options;
  const rows = plan.isPartial ? { rows: [...new Set(plan.awaited.map(({ number }) => number))] } : {};
  const problems: SuiteReport['problems'][number][] = [];
  let header: RunHeader | undefined;
  const report = await runtime.evals.run(plan.file, {
    ...{ epochs, retries, dataset, cache, signal },
    select: { ...select, ...rows },
    keep: false,
    reporter: {
      begin: async (runHeader) => {
        header = runHeader;
      },
      onCase: async (record) => {
        if (header !== undefined) outcomes.resolve(record, { record, header });
      },
      onProblem: async (problem) => {
        if (outcomes.isAwaited(problem)) problems.push(problem);
      },
      end: async () => {},
    },
  });
  outcomes.resolveRest(problems);
  return report;
}

function timeoutError({ timeoutMs }: RunPlan): RuntimeError {
  return new RuntimeError('STEP_TIMEOUT', `the run of the suite took longer than ${timeoutMs} ms`, {
    hint: 'Raise timeoutMs, or run fewer cases with select.',
  });
}

type SourceLocation = Pick<SuiteReport['problems'][number], 'file' | 'line'>;

interface RowOutcomes {
  outcomeOf(row: RowKey): Promise<RowOutcome>;
  resolve(row: RowKey, outcome: RowOutcome): void;
  isAwaited(place: SourceLocation): boolean;
  /** Resolves every row without an outcome with its problems. */
  resolveRest(problems: SuiteReport['problems']): void;
  rejectAll(error: RuntimeError): void;
}

type RowKey = Pick<AwaitedRow, 'number' | 'variant'>;

function keyOf({ number, variant }: RowKey): string {
  return JSON.stringify([number, variant]);
}

function newRowOutcomes(rows: readonly AwaitedRow[]): RowOutcomes {
  const waiting = new Map(rows.map((row) => [keyOf(row), { row, ...Promise.withResolvers<RowOutcome>() }]));
  const lines = new Set(rows.map(({ file, line }) => `${file}:${line}`));
  // A test that waits for it may never be run.
  for (const { promise } of waiting.values()) promise.catch(() => {});
  return {
    async outcomeOf(row) {
      const entry = waiting.get(keyOf(row));
      if (entry === undefined)
        throw new RuntimeError('INTERNAL', `nobody said that row ${row.number} would be run`);
      return await entry.promise;
    },
    resolve: (row, outcome) => waiting.get(keyOf(row))?.resolve(outcome),
    isAwaited: ({ file, line }) => lines.has(`${file}:${line}`),
    resolveRest(problems) {
      for (const { row, resolve } of waiting.values()) {
        const own = problems.filter(
          ({ file, line, variant = row.variant }) =>
            file === row.file && line === row.line && variant === row.variant,
        );
        resolve({ problems: own.length > 0 ? own : [missingRow(row)] });
      }
    },
    rejectAll(error) {
      for (const { reject } of waiting.values()) reject(error);
    },
  };
}

function missingRow({ file, line }: PlannedRow) {
  return {
    file,
    line,
    column: 1,
    message: 'the row was there when the tests were collected, and is no longer',
  };
}

/**
 * Calls `end` on SIGINT, SIGTERM and SIGHUP; the returned function removes the listeners. Without it a
 * signal kills the worker of vitest at once, and the processes that it has started live on.
 */
function onStop(end: () => void): () => void {
  const stop = (): void => {
    end();
    // Vitest then exits its worker as if its main process had died, so that exit listeners run.
    if (process.connected) process.disconnect();
  };
  for (const name of stopSignals) process.on(name, stop);
  return () => {
    for (const name of stopSignals) process.off(name, stop);
  };
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How a suite becomes tests. */
export interface DescribeSuiteOptions
  extends Pick<SuiteRunOptions, 'epochs' | 'retries' | 'dataset' | 'cache'> {
  /** Which of the cases become tests. */
  readonly select?: Omit<Selection, 'rows'> | undefined;
  /** The RuntimeConfig. Default: the one that the suite names, or `runtime.yaml`. */
  readonly config?: string | undefined;
  /** Files that are laid over it, in this order: what they say wins. */
  readonly overlays?: readonly string[] | undefined;
  /** Milliseconds for the whole run; cases that are not judged by then fail. Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
}

/** Reads the time that a run has, in milliseconds. Throws USAGE. */
export function readTimeout({ timeoutMs = 600_000 }: DescribeSuiteOptions): number {
  if (Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= maxTimeoutMs) return timeoutMs;
  throw new RuntimeError('USAGE', `timeoutMs is a whole number from 1 to ${maxTimeoutMs}, not ${timeoutMs}`);
}

/** The greatest delay of a timer of Node. */
const maxTimeoutMs = 2 ** 31 - 1;
