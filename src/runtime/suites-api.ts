import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RuntimeError } from '../base/errors.ts';
import { unknownName } from '../base/yaml/wording.ts';
import type { Link } from '../calls/hooks/gate.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { HookEvent } from '../contract/hook.ts';
import { type Scrubber, scrubMembers } from '../contract/scrub.ts';
import { clearResponseCache } from '../models/responses/response-cache.ts';
import type { Services } from '../pipelines/state/run-context.ts';
import type { HostEnv } from '../process/env.ts';
import type { ResultRun, ResultStore } from '../store/result-store.ts';
import type { Announce } from '../store/shared-work.ts';
import { countRows } from '../suites/dataset/rows.ts';
import type { Subject, Suite } from '../suites/file/model.ts';
import { openGuardFire } from '../suites/guard/fire-guard.ts';
import { openStoredRun, readHeader } from '../suites/journal.ts';
import { requireSuite } from '../suites/load.ts';
import { requireFewCases } from '../suites/matrix/cells.ts';
import { openSubject } from '../suites/open-subject.ts';
import { keepRating, removeRating } from '../suites/rating/ratings.ts';
import type { RunHeader } from '../suites/record.ts';
import { keepRun, openRequiredStore, requireRun, toHeader } from '../suites/run/keep-run.ts';
import { windowOf } from '../suites/run/window.ts';
import { scrubEpoch } from '../suites/score/epoch.ts';
import { retryFaults } from '../suites/score/retry.ts';
import { watchRepeatedIds } from '../suites/select/repeated-ids.ts';
import { type CaseCandidate, compileSelection } from '../suites/select/select.ts';
import { watchTags } from '../suites/select/tag-watch.ts';
import type { SubjectRunner } from '../suites/subject/adapter.ts';
import { type EpochJournal, runSuite } from '../suites/suite-run.ts';
import type { Runtime, SuiteRunInfo, SuiteRunOptions } from './api.ts';
import { readPageSize, requireTexts } from './cursor.ts';
import { applyOptions, namedOptions, usage } from './suite-options.ts';
import { requireColumns, requireStartable } from './suite-run/require-startable.ts';
import { openSpending, responseFolderOf } from './suite-run/spending.ts';
import { type Judging, openSharedSuites, type SharedSuites } from './suites-shared/shared-suites.ts';
import type { BuildOf } from './worker/build.ts';

export interface SuitesContext {
  readonly config: RuntimeConfig;
  readonly links: readonly Link[];
  readonly check: (event: HookEvent) => string | undefined;
  readonly services: Services;
  readonly env: HostEnv;
  readonly replay: string | undefined;
  readonly results: () => Promise<ResultStore>;
  /** Whether model calls are recorded. Then cached answers are not used, because the recording would lack them. */
  readonly isRecording: boolean;
  readonly scrubber: Scrubber;
  readonly misses: () => number;
  readonly findRecordingFault: () => Promise<Error | undefined>;
  readonly concurrency: number;
  readonly batchSizeOf: (type: string) => number;
  readonly announce: Announce;
  readonly buildOf: BuildOf;
  readonly requireOpen: () => void;
}

export interface Suites extends Pick<Runtime['evals'], 'run' | 'runs' | 'clearCache' | 'history'> {
  readonly shared: Pick<SharedSuites, 'findBuilds' | 'judge'>;
}

export function openSuites(context: SuitesContext): Suites {
  const { config, services, requireOpen } = context;
  const fire = openGuardFire(context);
  const results = async () => {
    requireOpen();
    return await context.results();
  };
  /** Caches answers in the store even if the run itself is not stored. */
  const open = async (subject: Subject, { retries }: Suite, { cache }: SuiteRunOptions) => {
    const isCached = (cache ?? subject.cache ?? false) !== false;
    const { env, replay, isRecording } = context;
    const subjectContext = { config, services: services, env, replay, retries };
    return openSubject(subject, {
      ...subjectContext,
      cache: isCached && !isRecording ? await results() : undefined,
    });
  };
  const subjectsOf = async (suite: Suite, options: SuiteRunOptions) => {
    const { subject, variants } = suite;
    if (subject !== undefined) return { subject: await open(subject, suite, options) };
    if (variants === undefined) return { subject: undefined };
    const runners = new Map<string, SubjectRunner>();
    for (const each of variants) runners.set(each.name, await open(each.subject, suite, options));
    return { subject: undefined, variants: runners };
  };
  const judgingOf = async (suite: Suite, options: SuiteRunOptions): Promise<Judging> => {
    const window = windowOf(suite, context);
    return {
      emit: services.emit,
      ...{ keepGoing: options.keepGoing, window: window.cases, epochConcurrency: window.epochs, fire },
      ...openSpending(suite, options, {
        ...{ config, scrubber: context.scrubber, isReplaying: context.replay !== undefined },
        usesRecording: context.isRecording || context.replay !== undefined,
        warn: (message) => services.emit({ type: 'note', name: 'cache', level: 'warn', message }),
      }),
      scrub: (record) => scrubEpoch(record, context.scrubber),
      scrubRow: (row) => scrubMembers(row, (text) => context.scrubber.values(text)),
      ...(await subjectsOf(suite, options)),
      score: async (evaluation, within) =>
        await retryFaults(suite.retries, within, async (attempt) => {
          // Cases that failed together are retried one by one, so that one case does not fail the others again.
          const batch = attempt === 1 ? 'together' : 'alone';
          return await services.score({ ...evaluation, signal: within, batch });
        }),
    };
  };
  const shared = openSharedSuites({
    ...{ config, results, judgingOf, announce: context.announce, buildOf: context.buildOf },
    ...{ emit: services.emit, concurrency: context.concurrency },
    usesRecording: context.isRecording || context.replay !== undefined,
  });
  const ratedRun = async (id: string) => {
    const store = await results();
    return { store, header: readHeader(await requireRun(store, id)) };
  };
  return {
    shared,
    run: async (file, options = {}) => {
      requireOpen();
      requireProviders(options, config);
      if (options.resume !== undefined && options.again !== undefined)
        throw usage('a run cannot be resumed and judged again at once');
      const suite = applyOptions(requireSuite(toPath(file), config), options);
      if (options.workers === true) {
        if ((options.maxCostUsd ?? suite.maxCost?.total) !== undefined) throw workersHaveNoBudget();
        return await shared.run(suite, options);
      }
      await requireStartable(suite, options, context);
      await requireColumns(suite, options.signal ?? neverAborted);
      const tags = watchTags();
      const select = options.select && compileSelection(options.select, tags);
      const noteRepeats = watchRepeatedIds((candidate) => services.emit(duplicateIdNote(suite, candidate)));
      const total =
        select === undefined ? await countRows(suite.dataset, options.signal ?? neverAborted) : null;
      if (suite.variants !== undefined)
        requireFewCases((total ?? 0) * suite.variants.length, suite.variants.length);
      const work = async (header: RunHeader, journal: EpochJournal | undefined) => {
        options.onStart?.(header);
        const missesBefore = context.misses();
        const { signal = neverAborted, bail, reporter, onProgress } = options;
        return await runSuite(suite, {
          ...(await judgingOf(suite, options)),
          ...{ header, journal, signal, bail, reporter, onProgress },
          select: (candidates) => noteRepeats(select === undefined ? candidates : select(candidates)),
          findFault: async () =>
            tags.findFault(options.select?.tags ?? []) ??
            cassetteMissFault(context.misses() - missesBefore) ??
            recordingFault(await context.findRecordingFault()),
        });
      };
      if (options.keep === false) {
        if (options.resume !== undefined || options.again !== undefined)
          throw usage('a run that is not stored cannot be resumed');
        return await work(toHeader(suite, randomUUID(), new Date(), total), undefined);
      }
      const { resume, again } = options;
      const identityOptions = namedOptions(options, context.replay);
      return await keepRun(
        await openRequiredStore(results),
        {
          suite,
          config,
          programs: context.buildOf.programs(),
          wanted: identityOptions,
          resume,
          again,
          total,
        },
        work,
      );
    },
    clearCache: async (folder) => {
      requireOpen();
      const where = folder === undefined ? responseFolderOf(config) : resolve(folder);
      return { folder: where, removed: await clearResponseCache(where) };
    },
    history: async ({ suite, limit } = {}) => {
      requireTexts({ suite });
      const store = await results();
      const runs = await store.listRuns({ kind: 'suite', name: suite, limit: readPageSize(limit) });
      return await Promise.all(
        runs.map(async (run) => {
          const { id: run_id, kind: _, ...info } = await toInfo(store, run);
          return { run_id, ...info, gates: openStoredRun(store, run).report?.gates ?? [] };
        }),
      );
    },
    runs: {
      list: async ({ limit, suite, after } = {}) => {
        const store = await results();
        const infos: SuiteRunInfo[] = [];
        for (const run of await store.listRuns({ limit, name: suite, after }))
          infos.push(await toInfo(store, run));
        return infos;
      },
      open: async (id) => {
        const store = await results();
        return openStoredRun(store, await requireRun(store, id));
      },
      rate: async (id, rating) => await keepRating(await ratedRun(id), rating, context.scrubber),
      unrate: async (id, rating) => await removeRating(await ratedRun(id), rating),
      prune: async ({ olderThanMs }) => await (await results()).prune(Date.now() - olderThanMs),
    },
  };
}

function requireProviders({ providers = [] }: SuiteRunOptions, config: RuntimeConfig): void {
  const known = config.providers.map(({ id }) => id);
  const unknown = providers.find((id) => id !== '' && !known.includes(id));
  if (unknown !== undefined) unknownName('provider', unknown, known);
}

function workersHaveNoBudget(): RuntimeError {
  const message = '--workers cannot keep a total budget: each worker knows only its own spending';
  return new RuntimeError('USAGE', message, {
    hint: 'Limit each case instead, with max_cost: {case: …} of the suite, or run the suite without --workers.',
  });
}

function duplicateIdNote({ file }: Suite, { id, row }: CaseCandidate) {
  const place = `${row.file}:${row.line}`;
  const message = `${place} case id "${id}" is also the id of an earlier row: comparisons, shards and reports need unique ids. Give each row its own id.`;
  return { type: 'note', name: file, level: 'warn', message } as const;
}

function cassetteMissFault(count: number) {
  if (count === 0) return undefined;
  const requests = count === 1 ? 'a request is' : `${count} requests are`;
  return {
    code: 'REPLAY_MISS' as const,
    message: `${requests} not in the cassette`,
    hint: 'Record it again with --record FILE, or run the changed entry with --live NAME.',
  };
}

function recordingFault(error: Error | undefined) {
  return (
    error && {
      code: 'FILE_UNREADABLE' as const,
      message: error.message,
      hint: 'Free some disk space, and record again.',
    }
  );
}

const neverAborted = new AbortController().signal;

function toPath(file: string | URL): string {
  return file instanceof URL ? fileURLToPath(file) : file;
}

async function toInfo(store: ResultStore, run: ResultRun): Promise<SuiteRunInfo> {
  const header = readHeader(run);
  return {
    id: run.id,
    kind: run.kind,
    suite: run.name,
    status: run.status,
    started_at: header.started_at,
    cases: Math.floor((await store.countRecords(run.id)) / header.epochs),
    pass_rate: openStoredRun(store, run).report?.overall.pass_rate ?? null,
  };
}
