import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { fencedBy } from '../../base/time/fence.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { ResultRun, ResultStore } from '../../store/result-store.ts';
import { nameReduction, type Suite, subjectsOf } from '../file/model.ts';
import { isCutOff, numbersToJudge, openJournal, readHeader } from '../journal.ts';
import type { JudgeAgain, RunHeader, SuiteReport } from '../record.ts';
import type { EpochJournal } from '../suite-run.ts';
import { findChanges, fingerprintOf, isUnchanged } from './fingerprint.ts';

interface KeepOptions {
  readonly total: number | null;
  readonly suite: Suite;
  readonly config: RuntimeConfig;
  readonly programs: Readonly<Record<string, string>>;
  readonly wanted: Readonly<Record<string, unknown>>;
  /** The id of the run to resume; true resumes the last unfinished run of the suite with the same fingerprint. */
  readonly resume: true | string | undefined;
  /** Judges cases of a stored run again, instead of `resume`. */
  readonly again?: JudgeAgain | undefined;
}

/**
 * Claims a new, resumed or reopened run in the store and calls `work`. Throws RUN_BUSY, RUN_UNKNOWN, RUN_ENDED,
 * STORE_FAILED, and USAGE if the suite has changed. Rethrows errors of `work`.
 */
export async function keepRun(
  store: ResultStore,
  options: KeepOptions,
  work: (header: RunHeader, journal: EpochJournal) => Promise<SuiteReport>,
): Promise<SuiteReport> {
  const fingerprint = fingerprintOfRun(options);
  const kept = await findKept(store, options, fingerprint);
  const header = kept ? readHeader(kept) : toHeader(options.suite, randomUUID(), new Date(), options.total);
  const { run_id: id } = header;
  const claim = await store.claimRun(id);
  if (claim === undefined) throw new RuntimeError('RUN_BUSY', `another process is working on run ${id}`);
  try {
    if (!kept) await store.createRun(newRun(options.suite, header, fingerprint));
    else if (options.again) await reopen(store, await requireRun(store, id), options.again);
    else requireCutOff(await requireRun(store, id));
    return await runOrInterrupt(store, id, async () => {
      if (kept) await store.setRunEnd(id, { status: 'running', report: null });
      return await fencedBy(claim, () => work(header, openJournal(store, id, kept !== undefined)));
    });
  } finally {
    await claim.release();
  }
}

/**
 * Sets aside the records to judge again, so that they are missing as in a cut-off run. If the reopening was itself cut
 * off, keeps the records judged since.
 */
async function reopen(store: ResultStore, run: ResultRun, { cases }: JudgeAgain): Promise<void> {
  const last = (await store.reopenings(run.id)).at(-1);
  if (isCutOff(run.status) && last?.scope === cases) return;
  const next = { number: (last?.number ?? 0) + 1, scope: cases, at: Date.now() };
  await store.reopenRun(run.id, next, await numbersToJudge(store, run, cases));
}

async function runOrInterrupt<Result>(
  store: ResultStore,
  id: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await endEarly(store, id);
    throw error;
  }
}

function newRun(suite: Suite, header: RunHeader, fingerprint: string) {
  return {
    id: header.run_id,
    kind: 'suite' as const,
    name: suite.name,
    file: resolve(suite.file),
    fingerprint,
    createdAt: Date.parse(header.started_at),
    header: JSON.stringify(header),
  };
}

/** Ignores store errors, because `work` has already thrown. */
async function endEarly(store: ResultStore, id: string): Promise<void> {
  try {
    await store.setRunEnd(id, { status: 'interrupted', report: null });
  } catch {}
}

function fingerprintOfRun({ suite, config, programs, wanted }: KeepOptions): string {
  const { epochs, evals, retries, timeoutMs } = suite;
  const pipelines = subjectsOf(suite).flatMap((each) => (each.kind === 'pipeline' ? [each.file] : []));
  return fingerprintOf({
    [suiteFile]: readFileSync(suite.file, 'utf8'),
    'the config': textsOf([config.file, ...(config.overlays ?? [])]),
    ...Object.fromEntries(Object.entries(programs).map(([name, digest]) => [`the program ${name}`, digest])),
    ...(pipelines.length === 0 ? {} : { 'the pipeline': textsOf(pipelines) }),
    '--repeat': epochs,
    '--retries': retries,
    '--timeout': timeoutMs,
    '--reducer': evals.map(({ reducer }) => reducer),
    ...wanted,
  });
}

function textsOf(files: readonly string[]): string {
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

const suiteFile = 'the suite file';
const alsoInSuite = ['--repeat', '--retries', '--timeout', '--reducer'];

function describeChanges({ id, fingerprint }: ResultRun, now: string): string {
  const changes = findChanges(fingerprint, now);
  const reported = changes.includes(suiteFile)
    ? changes.filter((name) => !alsoInSuite.includes(name))
    : changes;
  const words = reported.map((name) => (name.startsWith('--') ? `${name} differs` : `${name} has changed`));
  return `cannot resume run ${id}: ${words.join(', ')}`;
}

async function findKept(
  store: ResultStore,
  options: KeepOptions,
  fingerprint: string,
): Promise<ResultRun | undefined> {
  const { config, resume, again } = options;
  if (resume === undefined && again === undefined) return undefined;
  if (config.stateStore.type === 'memory') {
    const hint = 'Set `state_store: {type: sqlite}` in the config, so that runs can be resumed.';
    throw new RuntimeError(
      'RUN_UNKNOWN',
      `the state store of ${config.file} is in memory, which stores no runs`,
      { hint },
    );
  }
  const found =
    again === undefined
      ? await findToResume(store, options, fingerprint)
      : await requireRun(store, again.run);
  if (!isUnchanged(found.fingerprint, fingerprint)) {
    const hint =
      'Resume a run with the same suite, config, programs and options; start a new one without ' +
      `${again === undefined ? '--resume' : '--again'}.`;
    throw new RuntimeError('USAGE', describeChanges(found, fingerprint), { hint });
  }
  return found;
}

async function findToResume(
  store: ResultStore,
  { suite, resume }: KeepOptions,
  fingerprint: string,
): Promise<ResultRun> {
  const runs = await store.listRuns({ name: suite.name, kind: 'suite' });
  const own = runs.filter(({ file, status }) => file === resolve(suite.file) && isCutOff(status));
  const newest = own.find((run) => isUnchanged(run.fingerprint, fingerprint)) ?? own[0];
  const found = typeof resume === 'string' ? await requireRun(store, resume) : newest;
  if (found === undefined) {
    const hint = '`signalbox eval list` lists the runs; run the suite without --resume.';
    throw new RuntimeError('RUN_UNKNOWN', `no run of suite "${suite.name}" can be resumed`, { hint });
  }
  requireCutOff(found);
  return found;
}

function requireCutOff({ id, status }: ResultRun): void {
  if (!isCutOff(status)) throw new RuntimeError('RUN_ENDED', `run ${id} has ended: ${status}`);
}

export async function requireRun(store: ResultStore, id: string): Promise<ResultRun> {
  const run = await store.findRun(id);
  if (run !== undefined) return run;
  const hint = '`signalbox eval list` lists the runs.';
  throw new RuntimeError('RUN_UNKNOWN', `${store.location} has no suite run ${id}`, { hint });
}

/** Adds the hint about --no-store to a STORE_FAILED error. Rethrows all errors of `open`. */
export async function openRequiredStore(open: () => Promise<ResultStore>): Promise<ResultStore> {
  try {
    return await open();
  } catch (thrown) {
    const { code, message, hint, details } = toRuntimeError(thrown);
    if (code !== 'STORE_FAILED') throw thrown;
    const more = `${hint} A run with --no-store is not stored and needs no store.`;
    throw new RuntimeError(code, message, { hint: more, details, cause: thrown });
  }
}

export function toHeader(suite: Suite, runId: string, startedAt: Date, rows: number | null): RunHeader {
  const { variants } = suite;
  return {
    run_id: runId,
    suite: suite.name,
    file: suite.file,
    started_at: startedAt.toISOString(),
    epochs: suite.epochs,
    evals: suite.evals.map(({ id, role, weight, reducer, check }) => ({
      id,
      type: check.kind === 'check' ? check.type : check.kind,
      role,
      weight,
      reducer: nameReduction(reducer),
    })),
    total: rows === null ? null : rows * (variants?.length ?? 1),
    ...(variants && { variants: variants.map(({ subject: _subject, ...named }) => named) }),
  };
}
