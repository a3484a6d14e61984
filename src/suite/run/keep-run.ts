import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RuntimeConfig } from '../../config/config.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { ResultRun, ResultStore } from '../../store/results.ts';
import type { Suite } from '../file/model.ts';
import { findChanges, fingerprintOf } from './fingerprint.ts';
import { toHeader } from './header.ts';
import { isCutOff, openJournal, readHeader } from './journal.ts';
import type { RunHeader, SuiteReport } from './record.ts';
import type { EpochJournal } from './run-suite.ts';

/** A run that is to be kept. */
export interface Keeping {
  /** Cases that there will be, as far as is known. */
  readonly total: number | null;
  readonly suite: Suite;
  readonly config: RuntimeConfig;
  /** What is wanted beside what the suite says, as JSON values under the names of their options. */
  readonly wanted: Readonly<Record<string, unknown>>;
  /** Goes on with the run of that id, or with the last one of the suite that was begun alike and did not come to its end. */
  readonly resume: true | string | undefined;
}

/** Does the work of a run that the store keeps: a new one, or one that was cut off. Throws STORE_FAILED. */
export async function keepRun(
  store: ResultStore,
  keeping: Keeping,
  work: (header: RunHeader, journal: EpochJournal) => Promise<SuiteReport>,
): Promise<SuiteReport> {
  const fingerprint = fingerprintOfRun(keeping);
  const known = keeping.resume && findToResume(store, keeping, fingerprint);
  const header = known ? readHeader(known) : toHeader(keeping.suite, randomUUID(), new Date(), keeping.total);
  const { run_id: id } = header;
  const claim = await store.claimRun(id);
  if (claim === undefined) throw new RuntimeError('RUN_BUSY', `another process works on run ${id}`);
  try {
    // Whoever had the run may have come to its end before it was claimed.
    if (known) requireCutOff(requireRun(store, id));
    else store.createRun(newRun(keeping.suite, header, fingerprint));
    return await workOn(store, id, async () => {
      if (known) store.setRunEnd(id, { status: 'running', report: null });
      return await work(header, openJournal(store, id, known !== undefined));
    });
  } finally {
    await claim.release();
  }
}

/** A run that fails is one that was cut off. */
async function workOn<Result>(store: ResultStore, id: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    endEarly(store, id);
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

/** A store that fails now has failed before, and that is what is told. */
function endEarly(store: ResultStore, id: string): void {
  try {
    store.setRunEnd(id, { status: 'interrupted', report: null });
  } catch {
    // The run counts as cut off anyway.
  }
}

/** What must not have changed when a run goes on: the files that say what is judged how, and what was asked for. */
function fingerprintOfRun({ suite, config, wanted }: Keeping): string {
  const { subject, epochs, evals, retries, timeoutMs } = suite;
  return fingerprintOf({
    [suiteFile]: readFileSync(suite.file, 'utf8'),
    'the config': readFileSync(config.file, 'utf8'),
    ...(subject?.kind === 'pipeline' ? { 'the pipeline': readFileSync(subject.file, 'utf8') } : {}),
    '--repeat': epochs,
    '--retries': retries,
    '--timeout': timeoutMs,
    '--reducer': evals.map(({ reducer }) => reducer),
    ...wanted,
  });
}

const suiteFile = 'the suite file';
/** What the suite says where the options do not. */
const alsoInSuite = ['--repeat', '--retries', '--timeout', '--reducer'];

/** Why the run does not go on. */
function wordChanges({ id, fingerprint }: ResultRun, now: string): string {
  const changes = findChanges(fingerprint, now);
  if (changes === undefined) return `run ${id} was begun with another suite file, config or other options`;
  const told = changes.includes(suiteFile) ? changes.filter((name) => !alsoInSuite.includes(name)) : changes;
  const words = told.map((name) => (name.startsWith('--') ? `${name} differs` : `${name} has changed`));
  return `run ${id} was begun otherwise: ${words.join(', ')}`;
}

function findToResume(
  store: ResultStore,
  { suite, config, resume }: Keeping,
  fingerprint: string,
): ResultRun {
  if (config.stateStore.type === 'memory') {
    const hint = 'Set `state_store: {type: sqlite}` in the config to have runs that can be resumed.';
    throw new RuntimeError(
      'RUN_UNKNOWN',
      `the state store of ${config.file} is in memory, which keeps no run`,
      { hint },
    );
  }
  const runs = store.listRuns({ name: suite.name, kind: 'suite' });
  const own = runs.filter(({ file, status }) => file === resolve(suite.file) && isCutOff(status));
  const newest = own.find((run) => run.fingerprint === fingerprint) ?? own[0];
  const found = typeof resume === 'string' ? requireRun(store, resume) : newest;
  if (found === undefined) {
    const hint = '`signalbox eval list` shows the runs that there are; run the suite without --resume.';
    throw new RuntimeError('RUN_UNKNOWN', `no run of suite "${suite.name}" waits to be resumed`, { hint });
  }
  requireCutOff(found);
  if (found.fingerprint !== fingerprint) {
    const hint = 'A run goes on with the same suite, config and options; start a new one without --resume.';
    throw new RuntimeError('USAGE', wordChanges(found, fingerprint), { hint });
  }
  return found;
}

/** Throws RUN_ENDED. */
function requireCutOff({ id, status }: ResultRun): void {
  if (!isCutOff(status)) throw new RuntimeError('RUN_ENDED', `run ${id} has come to its end: ${status}`);
}

/** A run by its id. Throws RUN_UNKNOWN. */
export function requireRun(store: ResultStore, id: string): ResultRun {
  const run = store.findRun(id);
  if (run !== undefined) return run;
  const hint = '`signalbox eval list` shows the runs that there are.';
  throw new RuntimeError('RUN_UNKNOWN', `${store.place} keeps no suite run ${id}`, { hint });
}

/** A store that cannot be used keeps nobody from judging. */
export async function openToKeep(open: () => Promise<ResultStore>): Promise<ResultStore> {
  try {
    return await open();
  } catch (thrown) {
    const { code, message, hint, details } = toRuntimeError(thrown);
    if (code !== 'STORE_FAILED') throw thrown;
    const more = `${hint} A run with --no-store is kept nowhere and needs no store.`;
    throw new RuntimeError(code, message, { hint: more, details, cause: thrown });
  }
}
