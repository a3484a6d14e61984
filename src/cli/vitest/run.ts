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

export type AwaitedRow = PlannedRow & { readonly variant?: string };

export interface RunPlan {
  readonly file: string;
  readonly config: string;
  readonly options: DescribeSuiteOptions;
  readonly timeoutMs: number;
  readonly awaited: readonly AwaitedRow[];
  /** Runs only these rows. */
  readonly isPartial: boolean;
}

export interface SuiteRun {
  /** Waits until the row is judged or unusable. Throws the error that ended the run early. */
  outcomeOf(row: RowKey): Promise<RowOutcome>;
  report(): Promise<SuiteReport>;
  close(): Promise<void>;
}

type RowOutcome =
  | { readonly record: CaseRecord; readonly header: RunHeader }
  | { readonly problems: SuiteReport['problems'] };

/** Opens the runtime and starts the suite. Throws the errors of openRuntime. */
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
  // Prevents an unhandled rejection if no test awaits the end of the run.
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
  for (const { promise } of waiting.values()) promise.catch(() => {});
  return {
    async outcomeOf(row) {
      const entry = waiting.get(keyOf(row));
      if (entry === undefined)
        throw new RuntimeError('INTERNAL', `no test expected row ${row.number} to run`);
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
    message: 'the row existed when the tests were collected, but does not any more',
  };
}

/**
 * Calls `end` on SIGINT, SIGTERM and SIGHUP; returns a function that removes the listeners. Otherwise a signal kills
 * the vitest worker at once, and its child processes survive.
 */
function onStop(end: () => void): () => void {
  const stop = (): void => {
    end();
    // Makes vitest exit its worker as if its main process had died, so that exit listeners run.
    if (process.connected) process.disconnect();
  };
  for (const name of stopSignals) process.on(name, stop);
  return () => {
    for (const name of stopSignals) process.off(name, stop);
  };
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Options of `describeSuite`. */
export interface DescribeSuiteOptions
  extends Pick<SuiteRunOptions, 'epochs' | 'retries' | 'dataset' | 'cache'> {
  /** The cases that become tests. */
  readonly select?: Omit<Selection, 'rows'> | undefined;
  /** The RuntimeConfig. Default: the one that the suite names, or `runtime.yaml`. */
  readonly config?: string | undefined;
  /** Files that override the config, in this order. */
  readonly overlays?: readonly string[] | undefined;
  /** Milliseconds for the whole run; cases that are not judged by then fail. Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
}

/** In milliseconds. Throws USAGE. */
export function readTimeout({ timeoutMs = 600_000 }: DescribeSuiteOptions): number {
  if (Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= maxTimeoutMs) return timeoutMs;
  throw new RuntimeError(
    'USAGE',
    `timeoutMs must be a whole number from 1 to ${maxTimeoutMs}, not ${timeoutMs}`,
  );
}

const maxTimeoutMs = 2 ** 31 - 1;
