import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type { PendingDecision } from './approval.ts';
import type { EventKind, HookMode, Verdict } from './hook.ts';
import type { RunStatus, StepDocument } from './run.ts';

export type Capability = 'tool' | 'eval' | 'hook';

/** The events of a runtime, in chronological order. Durations are in milliseconds. */
export type RuntimeEvent =
  | CallStarted
  | CallFinished
  | DecisionMade
  | PluginHookFired
  | ProcessStarted
  | ProcessEnded
  | ProcessRestarted
  | CircuitOpened
  | Dropped
  | StderrLine
  | NoteTaken
  | PendingOpened
  | PendingDecided
  | StepStarted
  | StepWaiting
  | StepFinished
  | TextReleased
  | RunStarted
  | RunFinished;

export type RunEvent =
  | RunStarted
  | StepStarted
  | StepWaiting
  | StepFinished
  | TextReleased
  | PendingOpened
  | PendingDecided
  | RunFinished
  | EventsDropped;

/** A slow reader of a run's events missed `count` of them. */
export interface EventsDropped {
  readonly type: 'events.dropped';
  readonly run: string;
  readonly count: number;
}

export interface CallStarted {
  readonly type: 'call.started';
  readonly capability: Capability;
  readonly name: string;
  /** Pairs a start with its end. */
  readonly call: string;
}

export interface CallFinished {
  readonly type: 'call.finished';
  readonly capability: Capability;
  readonly name: string;
  readonly call: string;
  /** The outcome: ok, failed, pending, denied, scored, unscored, allow, modify, deny, told or untold. */
  readonly status: string;
  /** Excludes the time in the queue. */
  readonly durationMs: number;
  /** The wait for a slot of the pool. */
  readonly queueMs: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** One hook's verdict, which has no effect in shadow mode. */
export interface DecisionMade {
  readonly type: 'decision';
  readonly hook: string;
  /** Identifies the event; all hooks that decide on it receive the same id. */
  readonly call: string;
  readonly dialect: string;
  /** The event's kind; `host` if a host fired a dialect's own point. */
  readonly kind: EventKind | 'host';
  /** The event's phase, or the point that a host fired. */
  readonly phase: string;
  /** The dialect's own name of the phase, for a foreign hook. */
  readonly point?: string;
  readonly mode: HookMode;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly metadata: Json;
  /** Excludes the time in the queue. */
  readonly durationMs: number;
  readonly queueMs: number;
  readonly error?: Fault;
}

/** A dialect's own event: at least one hook was selected at a point, and all selected hooks have run. */
export interface PluginHookFired {
  readonly type: 'plugin_hook_fired';
  readonly hook_name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ProcessStarted {
  readonly type: 'process.started';
  readonly name: string;
  readonly pid: number;
}

export interface ProcessEnded {
  readonly type: 'process.ended';
  readonly name: string;
  readonly pid: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** A server was restarted; `deaths` counts those since its last valid reply. */
export interface ProcessRestarted {
  readonly type: 'process.restarted';
  readonly name: string;
  readonly pid: number;
  readonly deaths: number;
}

/** A server died too often and is not used for `pauseMs`. */
export interface CircuitOpened {
  readonly type: 'circuit.opened';
  readonly name: string;
  readonly deaths: number;
  readonly pauseMs: number;
}

/** Unused process output, or an observer event that was not delivered. */
export interface Dropped {
  readonly type: 'dropped';
  readonly name: string;
  readonly what: 'noise' | 'late reply' | 'unknown reply' | 'server request' | 'observer event' | 'stderr';
  readonly detail: string;
}

export interface StderrLine {
  readonly type: 'stderr';
  readonly name: string;
  readonly pid: number;
  readonly line: string;
}

/** A log note without effect on the run. */
export interface NoteTaken {
  readonly type: 'note';
  readonly name: string;
  readonly level: 'debug' | 'info' | 'warn';
  readonly message: string;
}

export interface PendingOpened {
  readonly type: 'pending.opened';
  readonly id: string;
  readonly run: string;
  readonly step: string;
  readonly tool: string;
  readonly reason: string;
  readonly message: string;
}

export interface PendingDecided {
  readonly type: 'pending.decided';
  readonly id: string;
  readonly run: string;
  readonly step: string;
  readonly tool: string;
  readonly ruling: PendingDecision['kind'];
}

/** A step of a pipeline begins. Steps that the journal already contains emit no event. */
export interface StepStarted {
  readonly type: 'step.started';
  readonly run: string;
  readonly step: string;
  readonly kind: StepDocument['kind'];
}

/** A `wait` step waits in this process. */
export interface StepWaiting {
  readonly type: 'step.waiting';
  readonly run: string;
  readonly step: string;
  /** ISO 8601. */
  readonly until: string;
}

export interface StepFinished {
  readonly type: 'step.finished';
  readonly run: string;
  readonly step: string;
  readonly kind: StepDocument['kind'];
  readonly status: StepDocument['status'];
  readonly durationMs: number;
  readonly error?: Fault;
}

/** Text of a streamed answer that passed the guard. */
export interface TextReleased {
  readonly type: 'text';
  readonly run: string;
  readonly step: string;
  readonly text: string;
}

/** A run begins or resumes. */
export interface RunStarted {
  readonly type: 'run.started';
  readonly run: string;
  readonly name: string;
  readonly isResumed: boolean;
}

/** A run ended or waits. */
export interface RunFinished {
  readonly type: 'run.finished';
  readonly run: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly error?: Fault;
}

/** Must not throw. */
export interface Emit {
  (event: RuntimeEvent): void;
  /** Whether anything consumes events of that type; absent: yes. If not, they need no measurements. */
  readonly hears?: ((type: RuntimeEvent['type']) => boolean) | undefined;
}

export const emitNothing: Emit = Object.assign(() => {}, { hears: () => false });
