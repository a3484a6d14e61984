import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type { Timing, TimingDetails } from '../base/time/stopwatch.ts';
import type { PendingDecision } from './approval.ts';
import type { EventKind, HookMode, Verdict } from './hook.ts';
import type { RunStatus, StepDocument } from './run.ts';
import type { TraceContext } from './trace.ts';

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
  | RunFinished
  | OperationStarted
  | OperationFinished;

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

const runEventTypes: ReadonlySet<string> = new Set<RunEvent['type']>([
  ...(['run.started', 'run.finished', 'step.started', 'step.waiting', 'step.finished', 'text'] as const),
  ...(['pending.opened', 'pending.decided', 'events.dropped'] as const),
]);

export function isRunEventType(type: RuntimeEvent['type']): boolean {
  return runEventTypes.has(type);
}

export function isRunEvent(event: RuntimeEvent): event is Exclude<RunEvent, EventsDropped> {
  return isRunEventType(event.type);
}

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
  /** The ID of the operation that made the call, if operations are tracked. */
  readonly operation?: string;
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
  readonly operation?: string;
}

/** One hook's verdict, which has no effect in shadow mode. */
export interface DecisionMade extends OperationContext {
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

/** The operation that an event belongs to. Empty if there is none, or if operations are not tracked. */
export interface OperationContext {
  readonly operation?: string;
  readonly operationKind?: OperationAbout['operation'];
  /** The run and its step in which the operation happens. */
  readonly run?: string;
  readonly step?: string;
}

/** A kind of operation, and what is known at its start. */
export type OperationAbout =
  /** A tool call with its hooks: `name` is the tool. */
  | { readonly operation: 'tool'; readonly name: string; readonly call: string }
  /** A model call with its hooks: `name` is the model. */
  | {
      readonly operation: 'model';
      readonly name: string;
      readonly provider: string;
      readonly isStreamed: boolean;
      /** The host calls the model, behind `runtime.guard()`. */
      readonly isGuarded?: true;
    }
  /** The score of one answer: `name` is the type of the eval, and `eval` its ID. */
  | { readonly operation: 'eval'; readonly name: string; readonly eval: string }
  /** A request of a client: `name` is the endpoint. */
  | { readonly operation: 'gateway'; readonly name: string; readonly call: string }
  /** One epoch of a case: `name` is the suite. */
  | {
      readonly operation: 'case';
      readonly name: string;
      readonly case: string;
      readonly epoch: number;
      readonly variant?: string | undefined;
    }
  /** A pipeline, from its start or its continuation until it ends or waits. */
  | {
      readonly operation: 'pipeline';
      readonly name: string;
      readonly run: string;
      readonly isResumed: boolean;
    };

export interface OperationPlace extends Omit<OperationContext, 'operation' | 'operationKind'> {
  /** Pairs a start with its end, and is unique across processes. */
  readonly id: string;
  /** The ID of the operation that this one is a part of. */
  readonly parent?: string;
  /** The time of the start, in milliseconds since 1970. */
  readonly at: number;
  /** The trace of the caller, for an operation without a parent. */
  readonly trace?: TraceContext;
}

/** A whole tool call, model call, eval, gateway request, suite case or pipeline begins, also one that is then denied. */
export type OperationStarted = { readonly type: 'operation.started' } & OperationAbout & OperationPlace;

/** Each operation that started has exactly one end. */
export type OperationFinished = { readonly type: 'operation.finished' } & OperationAbout &
  OperationPlace &
  OperationEnd & {
    /** Excludes the time in queues. */
    readonly durationMs: number;
    /** The wait for slots of the pool, while no part of the operation had one. */
    readonly queueMs: number;
  };

export interface OperationEnd extends OperationFacts {
  /** `pending` waits for a person, `suspended` for a time or a retry. `cancelled`: the caller or the close ended it. */
  readonly status: 'ok' | 'failed' | 'denied' | 'pending' | 'suspended' | 'cancelled';
  /** A code of the catalogue; of `gateway`, the code that the client gets. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** What is known at the end, by kind. */
export interface OperationFacts {
  /** model, gateway: the provider and the model that answered. */
  readonly answeredBy?: { readonly provider: string; readonly model: string } | undefined;
  /** model, gateway: tokens as the API counted them. Cached ones are part of the input. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  /** model, gateway: US dollars; null if the price or the usage is unknown. */
  readonly costUsd?: number | null | undefined;
  /** model: why the answer ended, such as `stop`, `length` or `tool-calls`. */
  readonly finishReason?: string | undefined;
  /** model, gateway: the time from the start to the first part of a streamed answer of the provider. */
  readonly firstChunkMs?: number | undefined;
  /** eval, case: absent if there is no score. */
  readonly score?: number | undefined;
  /** eval, case: whether it met its threshold. */
  readonly passed?: boolean | undefined;
  /** gateway: the HTTP status, the model that the client named, and whether it asked for a stream. */
  readonly httpStatus?: number | undefined;
  readonly model?: string | undefined;
  readonly isStreamed?: boolean;
}

/** Must not throw. */
export interface Emit {
  (event: RuntimeEvent): void;
  /** Whether anything consumes events of that type; absent: yes. If not, they need no measurements. */
  readonly hears?: ((type: RuntimeEvent['type']) => boolean) | undefined;
  /** A host listens, which may look at its own async context. Absent: no. */
  readonly hasListener?: boolean | undefined;
  /** The trace that the parts of an operation continue instead of the caller's. Absent unless traces are exported. */
  readonly traceOf?: ((operation: string) => TraceContext | undefined) | undefined;
  /** Begins the span of a hook. Undefined if it is not sampled; absent unless traces are exported. */
  readonly startHook?: ((about: HookAbout) => HookSpan | undefined) | undefined;
  /** Takes what a tool call sent and returned, as its hooks left it. Absent unless content is exported. */
  readonly keepContent?: ((operation: string, content: ToolContent) => void) | undefined;
  /** Absent unless metrics are exported. */
  readonly measures?: Measures | undefined;
}

/** Takes figures without an event for each, which would cost several times as much. No method throws. */
export interface Measures {
  /** A process has answered, or did not. `entry` is the tool, eval or hook, or the MCP server. */
  exchange(entry: string, status: ExchangeStatus, took: Timing): void;
  hook(
    about: Omit<HookAbout, 'isStatic'>,
    outcome: { readonly verdict: Verdict } & Pick<HookOutcome, 'error'> & Timing,
  ): void;
  /** `parent` is the operation that this one is a part of. */
  operation(about: OperationAbout, end: MeasuredEnd, parent: OperationAbout | undefined): void;
}

/** `failed`: an error, an exit code other than 0, or no answer. What the answer means makes no difference. */
export type ExchangeStatus = 'ok' | 'failed' | 'cancelled';

/** `ownMs` is the time in which no part of the operation waited for a slot, for a process or for an upstream. */
export type MeasuredEnd = OperationEnd & TimingDetails;

/** An `Emit` that does something else with the events, and is otherwise the given one. */
export function wrapEmit(
  { hears, hasListener, traceOf, startHook, keepContent, measures }: Emit,
  take: (event: RuntimeEvent) => void,
  doesHear = hears,
): Emit {
  return Object.assign((event: RuntimeEvent) => take(event), {
    ...{ hears: doesHear, hasListener, traceOf, startHook, keepContent, measures },
  });
}

export interface HookAbout extends Pick<DecisionMade, 'hook' | 'kind' | 'phase' | 'mode'> {
  /** Whether the hook answers without a process. */
  readonly isStatic?: boolean;
}

/** A hook that is asked. No method throws. */
export interface HookSpan {
  /** The trace that its process continues. */
  readonly trace: TraceContext;
  /** Without an outcome, the hook was cancelled, or was only notified. */
  end(outcome?: HookOutcome): void;
}

export type HookOutcome = Partial<Pick<DecisionMade, 'verdict' | 'durationMs' | 'queueMs'>> & {
  readonly error?: { readonly code: string; readonly message: string } | undefined;
};

export interface ToolContent {
  readonly args: Json;
  /** Absent if the call failed, or if a hook withheld the result. */
  readonly result?: Json | undefined;
}

export const emitNothing: Emit = Object.assign(() => {}, { hears: () => false });
