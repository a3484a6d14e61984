import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type { PendingDecision } from './approval.ts';
import type { EventKind, HookMode, Verdict } from './hook.ts';
import type { RunStatus, StepDocument } from './run.ts';

export type Capability = 'tool' | 'eval' | 'hook';

/** The events of a runtime, in the order in which they happened. Durations are milliseconds. */
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

/** What happens in one run, in its order. */
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

/** A reader of a run's events was so slow that so many of them are gone. */
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
  /** Without the time in the queue. */
  readonly durationMs: number;
  /** Time spent waiting for a slot of the pool. */
  readonly queueMs: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** One hook's verdict; in shadow mode it had no effect. */
export interface DecisionMade {
  readonly type: 'decision';
  readonly hook: string;
  /** Names the event that was decided on, to all hooks that are asked about it. */
  readonly call: string;
  readonly dialect: string;
  /** What the event is about; `host` when a host fired a dialect's own point. */
  readonly kind: EventKind | 'host';
  /** The event's phase, or the point if a host fired it. */
  readonly phase: string;
  /** The dialect's own name for it, of a foreign one. */
  readonly point?: string;
  readonly mode: HookMode;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly metadata: Json;
  /** Without the time in the queue. */
  readonly durationMs: number;
  /** Time spent waiting for a slot of the pool. */
  readonly queueMs: number;
  readonly error?: Fault;
}

/** A dialect's own event: a round of its hooks at one point is over, and at least one of them was selected. */
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

/** A server was started again; `deaths` counts those since its last good reply. */
export interface ProcessRestarted {
  readonly type: 'process.restarted';
  readonly name: string;
  readonly pid: number;
  readonly deaths: number;
}

/** A server died too often and is left alone for `pauseMs`. */
export interface CircuitOpened {
  readonly type: 'circuit.opened';
  readonly name: string;
  readonly deaths: number;
  readonly pauseMs: number;
}

/** Output of a process that was not used, or an observer event that was not delivered. */
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

/** A pending call has been stored. */
export interface PendingOpened {
  readonly type: 'pending.opened';
  readonly id: string;
  readonly run: string;
  readonly step: string;
  readonly tool: string;
  readonly reason: string;
  readonly message: string;
}

/** A pending call has been decided, and the run continues with the decision. */
export interface PendingDecided {
  readonly type: 'pending.decided';
  readonly id: string;
  readonly run: string;
  readonly step: string;
  readonly tool: string;
  readonly ruling: PendingDecision['kind'];
}

/** A step of a pipeline begins; steps that the journal has already emit no event. */
export interface StepStarted {
  readonly type: 'step.started';
  readonly run: string;
  /** The step's path. */
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

/** Text of a streamed answer that has passed the guard. */
export interface TextReleased {
  readonly type: 'text';
  readonly run: string;
  readonly step: string;
  readonly text: string;
}

/** A run begins or is resumed. */
export interface RunStarted {
  readonly type: 'run.started';
  readonly run: string;
  readonly name: string;
  readonly isResumed: boolean;
}

/** A run has ended, or waits. */
export interface RunFinished {
  readonly type: 'run.finished';
  readonly run: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly error?: Fault;
}

/** Takes an event; must not throw. */
export interface Emit {
  (event: RuntimeEvent): void;
  /** Whether anybody would take events of that type; absent: somebody would. What only they need is not measured else. */
  readonly hears?: ((type: RuntimeEvent['type']) => boolean) | undefined;
}

/** Takes events that nobody listens to. */
export const emitNothing: Emit = Object.assign(() => {}, { hears: () => false });
