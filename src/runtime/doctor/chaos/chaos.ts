import { availableParallelism } from 'node:os';
import { toRuntimeError } from '../../../base/errors.ts';
import { startStopwatch, wholeMs } from '../../../base/time/stopwatch.ts';
import { mapConcurrently } from '../../../pipelines/run/map-concurrently.ts';
import { acquireWatcher } from '../../../process/launch/process-groups.ts';
import type { RuntimeOptions } from '../../api-options.ts';
import { assumePlugins } from '../../plugins.ts';
import { loadRuntime } from '../../stages/load.ts';
import { resolveEntries } from '../../stages/resolve.ts';
import { type Fault, faults, faultsOf } from './faults.ts';
import { openFailingEndpoint } from './http-faults.ts';
import type { Moment } from './moments.ts';
import { openPrograms } from './programs.ts';
import type { ChaosCell, ChaosReport, UntriedHook } from './report.ts';
import { findSubjects, loadTrials, type Subject } from './subjects.ts';
import { type TrialContext, tryFault, whyUnproven } from './trial-run.ts';

export interface ChaosOptions extends Pick<RuntimeOptions, 'env' | 'launcher' | 'overlays' | 'signal'> {
  /** Called after each cell. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Puts a program that fails into the place of every filter's own, one filter at a time, in each way that its form can fail,
 * and fires the moments at which it is asked. No command or endpoint of the config is started or called. Throws
 * CONFIG_INVALID, FILE_UNREADABLE, PLATFORM_UNSUPPORTED, ABORTED.
 */
export async function runChaos(file: string, options: ChaosOptions): Promise<ChaosReport> {
  const watch = startStopwatch();
  const loaded = await loadRuntime(file, options, assumePlugins);
  const entries = resolveEntries(loaded.config, loaded.host);
  const trials = await loadTrials(entries.foreign);
  const { subjects, untried } = await findSubjects(entries);
  const programs = openPrograms();
  const isHttp = subjects.some(({ form }) => form === 'http');
  const endpoint = isHttp ? await openFailingEndpoint() : undefined;
  const releaseWatcher = acquireWatcher(() => {});
  try {
    const context = { loaded, entries, trials, programs, endpoint, signal: options.signal };
    const tried = await tryAll(subjects, context, options.onProgress);
    return {
      ...{ config: file, cells: tried.cells, untried: [...untried, ...tried.untried] },
      faults: faults.filter(({ name }) => tried.cells.some(({ fault }) => fault === name)),
      places: new Map(subjects.map(({ name, place }) => [name, place])),
      ms: wholeMs(watch.read()).durationMs,
    };
  } finally {
    await releaseWatcher();
    await endpoint?.close();
    programs.close();
  }
}

interface Job {
  readonly subject: Subject;
  readonly moment: Moment;
  readonly fault: Fault;
}

/** More than there are cores, since many of them wait for a time to run out. */
const concurrency = () => Math.max(8, 4 * availableParallelism());

async function tryAll(
  subjects: readonly Subject[],
  context: TrialContext,
  onProgress: ChaosOptions['onProgress'],
): Promise<{ readonly cells: readonly ChaosCell[]; readonly untried: readonly UntriedHook[] }> {
  const asked = subjects.flatMap((subject) => subject.moments.map((moment) => ({ subject, moment })));
  const controls = await mapConcurrently(asked, concurrency(), async ({ subject, moment }) => {
    return { subject, moment, why: await whyUnproven(subject, moment, context) };
  });
  const untried = controls.flatMap(({ subject, why }) =>
    why === undefined ? [] : [{ hook: subject.name, why, state: 'unproven' as const }],
  );
  const jobs = controls
    .filter(({ why }) => why === undefined)
    .flatMap(({ subject, moment }): Job[] =>
      faultsOf(subject.form, {
        isGreeted: subject.trial?.greeting !== undefined,
        isNative: subject.native !== undefined,
      }).map((fault) => ({
        subject,
        moment,
        fault,
      })),
    );
  let done = 0;
  const results = await mapConcurrently(jobs, concurrency(), async (job) => {
    const result = await tryOrTell(job, context);
    done += 1;
    onProgress?.(done, jobs.length);
    return result;
  });
  return {
    cells: results.flatMap((result) => ('why' in result ? [] : [result])),
    untried: [...untried, ...results.flatMap((result) => ('why' in result ? [result] : []))],
  };
}

/** The cell; or why there is none, for instance since this machine could not start one more process. Throws ABORTED. */
async function tryOrTell(
  { subject, moment, fault }: Job,
  context: TrialContext,
): Promise<ChaosCell | UntriedHook> {
  try {
    return await tryFault(subject, moment, { fault, context });
  } catch (thrown) {
    context.signal?.throwIfAborted();
    const why = `could not be asked at ${moment.name} (${fault.name}): ${toRuntimeError(thrown).message}`;
    return { hook: subject.name, why, state: 'unproven' };
  }
}
