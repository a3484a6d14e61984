import { catalogue, RuntimeError } from '../errors.ts';
import { mapRow, type SuiteCase } from './case.ts';
import { type Row, readRows } from './dataset.ts';
import { type Ledger, newLedger } from './ledger.ts';
import type { Evaluation, Suite, SuiteProgress, SuiteReport, SuiteResult, Verdict } from './model.ts';
import { workThrough } from './window.ts';

export interface SuiteOptions {
  score(evaluation: Evaluation, signal: AbortSignal): Promise<Verdict>;
  /** Cases in flight at most. */
  readonly window: number;
  readonly signal: AbortSignal;
  /** Told after each row; must not throw. */
  onProgress?(progress: SuiteProgress): void;
  /** Told in the order in which results come in; must not throw. */
  onResult?(result: SuiteResult): void;
}

/**
 * Runs every case of a suite through its evals, in memory that does not grow with the number of cases.
 * Throws ABORTED once what was in flight has ended; FILE_UNREADABLE; and whatever `score` throws.
 */
export async function runSuite(suite: Suite, options: SuiteOptions): Promise<SuiteReport> {
  const { window, signal } = options;
  if (!Number.isSafeInteger(window) || window < 1) {
    throw new RuntimeError('USAGE', `the window of a suite run must be a whole number from 1, not ${window}`);
  }
  const started = performance.now();
  const ledger = newLedger(suite);
  try {
    await workThrough(
      (stopped) => readRows(suite.dataset, stopped),
      { window, signal },
      async (row) => {
        await runRow(suite, row, ledger, options);
        options.onProgress?.(ledger.progress());
      },
    );
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.aborted) throw new RuntimeError('ABORTED', `the run of suite "${suite.name}" was given up`);
  return ledger.report(performance.now() - started);
}

async function runRow(suite: Suite, row: Row, ledger: Ledger, options: SuiteOptions): Promise<void> {
  const mapped = mapOrRefuse(suite, row, ledger);
  if (mapped === undefined) return;
  const { id, tags, requests } = mapped;
  const results = await Promise.allSettled(
    requests.map(async ({ evaluation, request }, index) => {
      const { type, role, threshold } = evaluation;
      const verdict = await options.score({ id: evaluation.id, type, threshold, request }, options.signal);
      const place = { case: id, file: row.file, line: row.line, tags };
      const result: SuiteResult = { ...place, eval: evaluation.id, role, ...verdict };
      ledger.record(row, index, result);
      options.onResult?.(result);
    }),
  );
  const fault = results.find(({ status }) => status === 'rejected');
  if (fault?.status === 'rejected') throw fault.reason;
  ledger.endCase();
}

function mapOrRefuse(suite: Suite, row: Row, ledger: Ledger): SuiteCase | undefined {
  if (!row.content.usable) {
    ledger.refuse(row, row.content.problem);
    return undefined;
  }
  try {
    const mapped = mapRow(suite, row.content.value, row.number);
    ledger.admit(mapped.tags);
    return mapped;
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const { code, message, hint } = error;
    ledger.refuse(row, hint === catalogue[code].hint ? { message } : { message, hint });
    return undefined;
  }
}
