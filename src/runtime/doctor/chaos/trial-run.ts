import { toRuntimeError } from '../../../base/errors.ts';
import { startStopwatch, wholeMs } from '../../../base/time/stopwatch.ts';
import type { DecisionDocument } from '../../../contract/document.ts';
import type { Trial } from '../../../dialects/foreign-dialect.ts';
import type { Binding } from '../../../process/binding.ts';
import { composeRuntime } from '../../open-runtime.ts';
import type { LoadedRuntime } from '../../stages/load.ts';
import type { Entries } from '../../stages/resolve.ts';
import { chainAround, consentingNeighbours, nativeConsent, type Replacement } from './chain.ts';
import type { Fault } from './faults.ts';
import type { FailingEndpoint } from './http-faults.ts';
import { judge } from './judge.ts';
import type { Moment } from './moments.ts';
import type { Programs, Speech, StandIn } from './programs.ts';
import type { ChaosCell } from './report.ts';
import type { Subject } from './subjects.ts';

/** What every trial is made with. */
export interface TrialContext {
  readonly loaded: LoadedRuntime;
  readonly entries: Entries;
  readonly trials: ReadonlyMap<string, Trial>;
  readonly programs: Programs;
  /** Absent where no hook is an endpoint. */
  readonly endpoint: FailingEndpoint | undefined;
  readonly signal: AbortSignal | undefined;
}

/** For a fault that shows by itself, and for a consent: a machine may be busy. */
const PATIENT_MS = 10_000;
/** For a fault that nobody learns of but by waiting. */
const SILENT_MS = 300;
const GRACE_MS = 200;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Fires the moment while the program of the subject fails so. Throws when nothing could be fired. */
export async function tryFault(
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

/** Why trials of the subject at that moment would prove nothing; undefined when the event passes while it consents. */
export async function whyUnproven(
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
    if (!isHeard) return `is not asked at ${moment.name}`;
    if (verdict !== 'deny' && verdict !== 'abort') return undefined;
    return `is stopped at ${moment.name} even by an answer that lets pass: ${reason}`;
  } catch (thrown) {
    context.signal?.throwIfAborted();
    return `could not be asked at ${moment.name}: ${toRuntimeError(thrown).message}`;
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

/** The binding with less patience, its own ways of starting left out: they would start other programs than ours. */
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
  /** Called after a first event; the decision is then that about a second one. */
  readonly between?: (() => void) | undefined;
}

interface Fired {
  readonly decision: DecisionDocument;
  /** Whether the subject was asked. */
  readonly isHeard: boolean;
}

/** Fires the moment through a runtime of its own. */
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
