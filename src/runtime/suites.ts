import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { HostEnv } from '../binding/env.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { HookEvent } from '../contract/hook.ts';
import type { Scrubber } from '../contract/scrub.ts';
import { RuntimeError } from '../errors.ts';
import type { Link } from '../hooks/gate.ts';
import type { Equipment } from '../pipeline/state/run-context.ts';
import type { ResultRun, ResultStore } from '../store/results.ts';
import { countRows } from '../suite/dataset/count.ts';
import { requireSuite } from '../suite/file/load.ts';
import { type Suite, withDataset } from '../suite/file/model.ts';
import { readReduction } from '../suite/file/reduction.ts';
import { openFire } from '../suite/guard/fire.ts';
import { toHeader } from '../suite/run/header.ts';
import { openStoredRun, readHeader } from '../suite/run/journal.ts';
import { keepRun, openToKeep, requireRun } from '../suite/run/keep-run.ts';
import type { RunHeader } from '../suite/run/record.ts';
import { type EpochJournal, runSuite } from '../suite/run/run-suite.ts';
import { retryFaults } from '../suite/score/retry.ts';
import { scrubEpoch } from '../suite/score/scrub-epoch.ts';
import { watchRepeats } from '../suite/select/repeats.ts';
import { compileSelection } from '../suite/select/select.ts';
import { watchTags } from '../suite/select/tag-watch.ts';
import { findReductionProblem } from '../suite/stats/epochs.ts';
import { openSubject } from '../suite/subject/open-subject.ts';
import type { Runtime, SuiteRunInfo, SuiteRunOptions } from './api.ts';

export interface SuitesContext {
  readonly config: RuntimeConfig;
  readonly links: readonly Link[];
  /** Says what is wrong with arguments that a filter has changed. */
  readonly check: (event: HookEvent) => string | undefined;
  readonly equipment: Equipment;
  readonly env: HostEnv;
  /** The recording that answers in the place of models. */
  readonly replay: string | undefined;
  /** The results of the state store. Throws STORE_FAILED. */
  readonly results: () => Promise<ResultStore>;
  /** What is kept of answers would not be in the recording. */
  readonly isRecording: boolean;
  /** What is reported and kept passes it. */
  readonly scrubber: Scrubber;
  /** How many requests a recording did not have, since the runtime was opened. */
  readonly misses: () => number;
  /** Processes at once. */
  readonly concurrency: number;
  /** Cases in flight at most. */
  readonly window: number;
  /** Throws RUNTIME_CLOSED. */
  readonly requireOpen: () => void;
}

export type Suites = Pick<Runtime['evals'], 'run' | 'runs'>;

/** Runs suites on a runtime, and keeps what they came to. */
export function openSuites(context: SuitesContext): Suites {
  const { config, equipment, requireOpen } = context;
  const fire = openFire(context);
  const results = async () => {
    requireOpen();
    return await context.results();
  };
  /** The cache is the store's, also where the run itself is kept nowhere. */
  const subjectOf = async ({ subject, retries }: Suite, { cache }: SuiteRunOptions) => {
    if (subject === undefined) return undefined;
    const isCached = cache ?? subject.cache ?? false;
    const { env, replay, isRecording } = context;
    const means = { config, equipment, env, replay, retries };
    return openSubject(subject, { ...means, cache: isCached && !isRecording ? await results() : undefined });
  };
  return {
    run: async (file, options = {}) => {
      requireOpen();
      const suite = applyOptions(requireSuite(toPath(file), config), options);
      const tags = watchTags();
      const select = options.select && compileSelection(options.select, tags);
      const tellRepeats = watchRepeats((id) => equipment.emit(noteOfRepeat(suite, id)));
      const total = select === undefined ? await countRows(suite.dataset, options.signal ?? never) : null;
      const work = async (header: RunHeader, journal: EpochJournal | undefined) => {
        options.onStart?.(header);
        const missesBefore = context.misses();
        const { signal = never, bail, keepGoing, reporter, onProgress } = options;
        return await runSuite(suite, {
          ...{ header, journal, signal, bail, keepGoing, reporter, onProgress },
          scrub: (record) => scrubEpoch(record, context.scrubber),
          select: (candidates) => tellRepeats(select === undefined ? candidates : select(candidates)),
          window: context.window,
          turns: context.concurrency,
          subject: await subjectOf(suite, options),
          score: async (evaluation, within) =>
            await retryFaults(suite.retries, within, async () => {
              return await equipment.score({ ...evaluation, signal: within });
            }),
          fire,
          findFault: () =>
            tags.findFault(options.select?.tags ?? []) ?? findMisses(context.misses() - missesBefore),
        });
      };
      if (options.keep === false) {
        if (options.resume !== undefined) throw usage('a run that is kept nowhere cannot be resumed');
        return await work(toHeader(suite, randomUUID(), new Date(), total), undefined);
      }
      const { resume } = options;
      const wanted = namedOptions(options, context.replay);
      return await keepRun(await openToKeep(results), { suite, config, wanted, resume, total }, work);
    },
    runs: {
      list: async ({ limit } = {}) => {
        const store = await results();
        return store.listRuns({ limit }).map((run) => toInfo(store, run));
      },
      open: async (id) => {
        const store = await results();
        return openStoredRun(store, requireRun(store, id));
      },
      prune: async ({ olderThanMs }) => (await results()).prune(Date.now() - olderThanMs),
    },
  };
}

/** Nobody is kept from it, but much goes by ids. */
function noteOfRepeat({ file }: Suite, id: string) {
  const message = `case id "${id}" stands for several rows: comparisons, shards and reports go by ids`;
  return { type: 'note', name: file, level: 'warn', message } as const;
}

/** What picks and bounds the cases, by the names under which people know it. */
function namedOptions(options: SuiteRunOptions, replay: string | undefined) {
  const { select: { filter, tags, sample, shard, maxCases, rows } = {}, dataset, bail, keepGoing } = options;
  return {
    '--dataset': dataset,
    '--filter': filter,
    '--tag': tags,
    '--sample': sample?.size,
    '--seed': sample?.seed,
    '--shard': shard && [shard.index, shard.count],
    '--max-cases': maxCases,
    'the choice of rows': rows,
    '--bail': bail,
    '--keep-going': keepGoing,
    '--replay': replay,
  };
}

/** A replay that lacks something has proved nothing, however good it looks. */
function findMisses(count: number) {
  if (count === 0) return undefined;
  const requests = count === 1 ? 'a request is' : `${count} requests are`;
  return {
    message: `${requests} not in the cassette`,
    hint: 'Record it again with --record FILE, or run what has changed with --live NAME.',
  };
}

/** For those who never give up. */
const never = new AbortController().signal;

function toPath(file: string | URL): string {
  return file instanceof URL ? fileURLToPath(file) : file;
}

function usage(message: string): RuntimeError {
  return new RuntimeError('USAGE', message);
}

/** The suite as this run wants it. Throws USAGE. */
function applyOptions(suite: Suite, options: SuiteRunOptions): Suite {
  const { dataset, epochs = suite.epochs, reducer, retries = suite.retries, timeoutMs, bail } = options;
  requireWhole('the number of epochs', epochs, 1);
  requireWhole('the number of retries', retries, 0);
  if (bail !== undefined) requireWhole('the number of failures to bail at', bail, 1);
  if (timeoutMs !== undefined) requireWhole('the timeout in milliseconds', timeoutMs, 1);
  const reduction = reducer === undefined ? undefined : readReduction(reducer);
  if (reducer !== undefined && reduction === undefined) {
    throw usage(`a reducer is mean, median, mode, max, pass@K or at_least_K, not ${reducer}`);
  }
  const evals = suite.evals.map((each) => (reduction === undefined ? each : { ...each, reducer: reduction }));
  for (const { id, reducer: own } of evals) {
    const problem = findReductionProblem(own, epochs);
    if (problem !== undefined) {
      const hint = 'Repeat each case more often: --repeat N, or repeat.epochs of the suite.';
      throw new RuntimeError('USAGE', `eval "${id}": ${problem}`, { hint });
    }
  }
  return {
    ...withDataset(suite, dataset),
    evals,
    epochs,
    retries,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

function requireWhole(what: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw usage(`${what} is a whole number from ${least}, not ${value}`);
}

function toInfo(store: ResultStore, run: ResultRun): SuiteRunInfo {
  const header = readHeader(run);
  return {
    id: run.id,
    kind: run.kind,
    suite: run.name,
    status: run.status,
    started_at: header.started_at,
    cases: Math.floor(store.countRecords(run.id) / header.epochs),
    pass_rate: openStoredRun(store, run).report?.overall.pass_rate ?? null,
  };
}
