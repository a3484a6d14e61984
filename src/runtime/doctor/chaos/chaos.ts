import { availableParallelism } from 'node:os';
import { toRuntimeError } from '../../../base/errors.ts';
import { Json } from '../../../base/json/json.ts';
import { startStopwatch, wholeMs } from '../../../base/time/stopwatch.ts';
import type { DecisionDocument } from '../../../contract/document.ts';
import type { Reply } from '../../../contract/exchange.ts';
import type { Trial } from '../../../dialects/foreign-dialect.ts';
import { failedOpenIn } from '../../../dialects/metadata.ts';
import { mapConcurrently } from '../../../pipelines/run/loops.ts';
import type { Binding } from '../../../process/binding.ts';
import type { Cassette } from '../../../process/cassette/cassette.ts';
import { acquireWatcher } from '../../../process/launch/process-groups.ts';
import type { Transport } from '../../../process/transport.ts';
import type { RuntimeOptions } from '../../api-options.ts';
import type { ForeignEntry } from '../../foreign-links.ts';
import { composeRuntime } from '../../open-runtime.ts';
import { assumePlugins } from '../../plugins.ts';
import { type LoadedRuntime, loadRuntime } from '../../stages/load.ts';
import { type Entries, resolveEntries } from '../../stages/resolve.ts';
import {
  type FailingEndpoint,
  type Fault,
  faults,
  faultsOf,
  type HookForm,
  openFailingEndpoint,
  openPrograms,
  type Programs,
  type Speech,
  type StandIn,
} from './faults.ts';
import type { ChaosCell, ChaosReport, UntriedHook } from './report.ts';
import { findSubjects, loadTrials, type Moment, pointAt, type Subject } from './subjects.ts';

export { writeChaosJunit } from './report.ts';

interface ChaosOptions extends Pick<RuntimeOptions, 'env' | 'launcher' | 'overlays' | 'signal'> {
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Replaces the program of each filter in turn by one that fails in every way possible for its form, and fires its
 * events. Starts no command and calls no endpoint of the config. Throws CONFIG_INVALID, FILE_UNREADABLE,
 * PLATFORM_UNSUPPORTED, ABORTED.
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

/**
 * Returns why there is no cell if the trial itself fails, for instance because no more processes can start. Throws
 * ABORTED.
 */
async function tryOrTell(
  { subject, moment, fault }: Job,
  context: TrialContext,
): Promise<ChaosCell | UntriedHook> {
  try {
    return await tryFault(subject, moment, { fault, context });
  } catch (thrown) {
    context.signal?.throwIfAborted();
    const why = `could not be called at ${moment.name} (${fault.name}): ${toRuntimeError(thrown).message}`;
    return { hook: subject.name, why, state: 'unproven' };
  }
}

interface TrialContext {
  readonly loaded: LoadedRuntime;
  readonly entries: Entries;
  readonly trials: ReadonlyMap<string, Trial>;
  readonly programs: Programs;
  readonly endpoint: FailingEndpoint | undefined;
  readonly signal: AbortSignal | undefined;
}

const PATIENT_MS = 10_000;
const SILENT_MS = 300;
const GRACE_MS = 200;
const MAX_OUTPUT_BYTES = 1024 * 1024;

async function tryFault(
  subject: Subject,
  moment: Moment,
  { fault, context }: { readonly fault: Fault; readonly context: TrialContext },
): Promise<ChaosCell> {
  const isSilent = fault.isSilentFor?.includes(subject.form) === true;
  const timeoutMs = isSilent ? SILENT_MS : PATIENT_MS;
  const greetingMs = fault.isUngreeted === true ? SILENT_MS : PATIENT_MS;
  const standIn =
    subject.form === 'http'
      ? undefined
      : context.programs.failing(fault, subject.form, speechOf(subject, moment));
  const url = fault.http && context.endpoint?.urlOf(fault.http);
  const replacement = { ...replacementOf(standIn, timeoutMs), ...(url && { url }), timeoutMs, greetingMs };
  const watch = startStopwatch();
  const fired = await fire(subject, moment, { replacement, context, between: standIn?.remove });
  const { name: hook, dialect, trial } = subject;
  const { name: point } = moment;
  return {
    ...{ hook, dialect, moment: point, fault: fault.name, title: fault.title },
    verdict: fired.decision.verdict,
    ...judge(fired.decision, { hook, point, fault, trial }),
    ms: wholeMs(watch.read()).durationMs,
  };
}

async function whyUnproven(
  subject: Subject,
  moment: Moment,
  context: TrialContext,
): Promise<string | undefined> {
  const limits = { timeoutMs: PATIENT_MS, greetingMs: PATIENT_MS };
  const standIn =
    subject.form === 'http'
      ? undefined
      : context.programs.consenting(subject.form, speechOf(subject, moment));
  const url = context.endpoint?.urlOf(subject.native === undefined ? 'consent' : 'allow');
  const replacement = { ...replacementOf(standIn, PATIENT_MS), ...(url && { url }), ...limits };
  try {
    const { decision, isHeard } = await fire(subject, moment, { replacement, context });
    const { verdict, reason } = decision;
    if (!isHeard) return `is not called at ${moment.name}`;
    if (verdict !== 'deny' && verdict !== 'abort') return undefined;
    return `denies at ${moment.name} even with an answer that allows: ${reason}`;
  } catch (thrown) {
    context.signal?.throwIfAborted();
    return `could not be called at ${moment.name}: ${toRuntimeError(thrown).message}`;
  }
}

function speechOf({ form, trial }: Subject, moment: Moment): Speech {
  const consent = trial?.consentAt(moment.name) ?? nativeConsent;
  return { consent, greeting: form === 'server' ? trial?.greeting : undefined };
}

function replacementOf(standIn: StandIn | undefined, timeoutMs: number): Pick<Replacement, 'binding'> {
  if (standIn === undefined) return {};
  const { command, args } = standIn;
  return { binding: (binding) => ({ ...binding, ...hurried(binding), command, args, timeoutMs }) };
}

/** Shortens the limits. Removes ways of starting that would not start the replacement. */
function hurried({ graceMs, maxOutputBytes }: Binding): Partial<Binding> {
  return {
    graceMs: Math.min(graceMs, GRACE_MS),
    maxOutputBytes: Math.min(maxOutputBytes, MAX_OUTPUT_BYTES),
    ...{ warm: false, spares: 0, isForked: false, instances: 1, leftovers: 'kill' },
    ...{ sandbox: null, refused: null },
  };
}

interface Firing {
  readonly replacement: Replacement;
  readonly context: TrialContext;
  readonly between?: (() => void) | undefined;
}

interface Fired {
  readonly decision: DecisionDocument;
  readonly isHeard: boolean;
}

async function fire(
  subject: Subject,
  moment: Moment,
  { replacement, context, between }: Firing,
): Promise<Fired> {
  const { loaded, signal } = context;
  signal?.throwIfAborted();
  const { entries, consents } = chainAround(subject, moment, { ...context, replacement });
  const { config } = loaded;
  const hooks = entries.hooks.map((entry) => entry.config);
  const foreign = entries.foreign.map((entry) => entry.config);
  const alone = { ...config, hooks, foreign, tools: [], evals: [], imports: [], stateStore };
  const cassette = consentingNeighbours(consents);
  const runtime = await composeRuntime(
    { ...loaded, config: alone, events: [] },
    entries,
    { log: false },
    cassette,
  );
  try {
    if (between !== undefined) {
      await runtime.hooks.fire(moment.event, { signal });
      between();
    }
    let isHeard = false;
    const onHear = (name: string) => {
      isHeard ||= name === subject.name;
    };
    return { decision: await runtime.hooks.fire(moment.event, { signal, onHear }), isHeard };
  } finally {
    await runtime.close();
  }
}

const stateStore = { type: 'memory' } as const;

interface Judged {
  readonly hook: string;
  readonly point: string;
  readonly fault: Pick<Fault, 'says'>;
  /** Absent for a native hook, which never fails open by a rule. */
  readonly trial?: Pick<Trial, 'failsOpenBy' | 'passesAt'> | undefined;
}

/**
 * Whether the decision stops the event. If not, `rule` is the documented rule by which it passes: the rule in the
 * decision, else the rule for an answer that its system accepts; null if there is none.
 */
export function judge(
  { verdict, metadata }: Pick<DecisionDocument, 'verdict' | 'metadata'>,
  { hook, point, fault, trial }: Judged,
): Pick<ChaosCell, 'isClosed' | 'rule'> {
  if (stops(verdict)) return { isClosed: true, rule: null };
  const named = failedOpenIn(Json.from(metadata)).find((each) => each.hook === hook)?.cause;
  if (named !== undefined) {
    return { isClosed: false, rule: trial?.failsOpenBy.includes(named) === true ? named : null };
  }
  const { says } = fault;
  return { isClosed: false, rule: (says && trial?.passesAt(point)[says]) ?? null };
}

/** `ask` stops the event until a person has answered. */
function stops(verdict: DecisionDocument['verdict']): boolean {
  return verdict === 'deny' || verdict === 'abort' || verdict === 'ask';
}

interface Chain {
  readonly entries: Entries;
  readonly consents: ReadonlyMap<string, string>;
}

interface Replacement {
  readonly binding?: (binding: Binding) => Binding;
  readonly url?: string;
  readonly timeoutMs: number;
  readonly greetingMs: number;
}

/** Source: docs/guides/write-hooks.md, "What a filter answers". */
const nativeConsent = '{"allow": true}';

const NEIGHBOURS = 16;

function chainAround(subject: Subject, moment: Moment, { entries, trials, replacement }: ChainParts): Chain {
  const consents = new Map<string, string>();
  const hooks = entries.hooks.flatMap((entry) => {
    if (entry === subject.native) return [heard(withBinding(entry, replacement))];
    const { name, mode, hook, phases } = entry.config;
    const isAsked = hook === moment.native?.hook && phases.some((phase) => phase === moment.native?.phase);
    if (mode !== 'filter' || !isAsked || name === subject.name) return [];
    consents.set(name, nativeConsent);
    return [heard(entry)];
  });
  const foreign = entries.foreign.flatMap((entry) => {
    if (entry === subject.foreign) return [atPoint(entry, { point: moment.name, replacement, trials })];
    const { name, dialect } = entry.config;
    const point = pointAt(moment, entry);
    if (point === undefined || name === subject.name) return [];
    consents.set(name, trials.get(dialect)?.consentAt(point) ?? '');
    return [atPoint(entry, { point, trials })];
  });
  const near = nearest(subject, { hooks, foreign });
  return { entries: { ...near, tools: [], evals: [], all: [] }, consents };
}

interface ChainParts {
  readonly entries: Entries;
  readonly trials: ReadonlyMap<string, Trial>;
  readonly replacement: Replacement;
}

function withBinding(
  entry: Entries['hooks'][number],
  { binding: change = (own) => own, url, timeoutMs }: Replacement,
): Entries['hooks'][number] {
  const { resolved } = entry;
  const { endpoint, ...own } = change(resolved.binding);
  // The replacement speaks plain HTTP, so the certificate of the endpoint does not apply.
  const other =
    endpoint && url !== undefined ? { endpoint: { ...endpoint, url, ca: null }, timeoutMs } : { endpoint };
  return { ...entry, resolved: { ...resolved, binding: { ...own, ...other } } };
}

function heard(entry: Entries['hooks'][number]): Entries['hooks'][number] {
  const { match: _match, ...config } = entry.config;
  return { ...entry, config };
}

interface Placing {
  readonly point: string;
  readonly trials: ReadonlyMap<string, Trial>;
  readonly replacement?: Replacement;
}

function atPoint({ config, resolved }: ForeignEntry, { point, trials, replacement }: Placing): ForeignEntry {
  const { timeoutMs = 1000, greetingMs = 1000, binding, url } = replacement ?? {};
  const settings = trials.get(config.dialect)?.settingsAt(config.settings, { point, timeoutMs, greetingMs });
  return {
    config: { ...config, settings },
    resolved: {
      ...resolved,
      ...(resolved.binding && binding && { binding: binding(resolved.binding) }),
      ...(resolved.http && url !== undefined && { http: { ...resolved.http, url, timeoutMs } }),
    },
  };
}

type Hooks = Pick<Entries, 'hooks' | 'foreign'>;

function nearest({ name }: Subject, { hooks, foreign }: Hooks): Hooks {
  if (hooks.length + foreign.length <= 2 * NEIGHBOURS + 1) return { hooks, foreign };
  const order = [...hooks, ...foreign].toSorted(
    (one, other) => one.config.fileIndex - other.config.fileIndex,
  );
  const at = order.findIndex(({ config }) => config.name === name);
  const kept = new Set<unknown>(order.slice(Math.max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1));
  return {
    hooks: hooks.filter((entry) => kept.has(entry)),
    foreign: foreign.filter((entry) => kept.has(entry)),
  };
}

function consentingNeighbours(consents: ReadonlyMap<string, string>): Cassette {
  return {
    wrap: ({ name, mode }, open) => {
      const consent = consents.get(name);
      return consent === undefined ? open() : saying(mode, consent);
    },
    isLive: () => true,
    redact: (text) => text,
    onMiss: () => {},
    findRecordingFault: async () => undefined,
    misses: () => 0,
    close: async () => {},
  };
}

function saying(mode: HookForm, text: string): Transport {
  const reply: Reply =
    mode === 'server'
      ? { via: 'rpc', result: new Json(text) }
      : { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(text), stderr: '' };
  return { exchange: async () => reply, notify: async () => {}, warm: () => {}, close: async () => {} };
}
