import { toRuntimeError } from '../../base/errors.ts';
import type { KeepCall } from '../../contract/decision.ts';
import { type Emit, emitNothing, type RuntimeEvent } from '../../contract/event.ts';
import { type Scrubber, scrubMessages } from '../../contract/scrub.ts';
import { hostEnv } from '../../process/env.ts';
import type { ResultStore } from '../../store/result-store.ts';
import type { Runtime, RuntimeOptions } from '../api.ts';
import type { DecisionRecorder } from '../decision-recorder.ts';
import type { LazyDecisions, LazyStore } from '../lazy-store.ts';
import { openShadowRecorder, type ShadowRecorder } from '../shadow-recorder.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { LoadedRuntime } from './load.ts';

export interface RuntimeEvents {
  readonly emit: Emit;
  /** Undefined unless messages of model calls are recorded. */
  readonly keepCall: KeepCall | undefined;
  readonly telemetry: Runtime['telemetry'];
  close(): Promise<void>;
}

interface EventSink {
  hears(type: RuntimeEvent['type']): boolean;
  wants(event: RuntimeEvent): boolean;
  take(event: RuntimeEvent): void;
}

export async function openEvents(
  loaded: LoadedRuntime,
  stores: {
    readonly results: () => Promise<ResultStore>;
    readonly decisions: LazyDecisions;
    readonly state: LazyStore;
  },
  options: RuntimeOptions,
): Promise<RuntimeEvents> {
  const { config, scrubber, events } = loaded;
  const sinks: EventSink[] = [];
  if (options.onEvent !== undefined) sinks.push(listenerSink(options.onEvent));
  if (options.log !== false) sinks.push(await openLogOf({ config, scrubber }, options));
  const notify = (event: RuntimeEvent) => {
    for (const sink of sinks) if (sink.wants(event)) notifySink(sink, event);
  };
  const shadows = openShadowRecorder(config, stores.results, notify);
  if (shadows.isRecording) sinks.push(shadowSink(shadows));
  const recorder = await openRecorder({ config, scrubber }, stores, notify);
  if (recorder !== undefined) sinks.push(decisionSink(recorder));
  const telemetry = await openTelemetryOf(loaded, stores.state, options, (event) =>
    notify(scrubEvent(event, scrubber)),
  );
  const { spans, measures } = telemetry ?? {};
  if (spans !== undefined) sinks.push(spanSink(spans));
  const close = async () => {
    await Promise.all([shadows.close(), recorder?.close()]);
    await telemetry?.close();
  };
  const keepCall = bothOf(recorder?.keepCall, spans?.keepCall);
  const opened = { keepCall, telemetry: telemetry?.endpoint ?? {}, close };
  if (sinks.length === 0 && measures === undefined) return { emit: emitNothing, ...opened };
  const take = (given: RuntimeEvent) => {
    if (sinks.some((sink) => sink.wants(given))) notify(scrubEvent(given, scrubber));
  };
  const { traceOf, startHook, keepContent } = spans ?? {};
  const emit = Object.assign(take, {
    hears: (type: RuntimeEvent['type']) => sinks.some((sink) => sink.hears(type)),
    ...{ hasListener: options.onEvent !== undefined, traceOf, startHook, keepContent, measures },
  });
  for (const event of events) emit(event);
  return { emit, ...opened };
}

function bothOf(one: KeepCall | undefined, other: KeepCall | undefined): KeepCall | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (...given) => {
    one(...given);
    other(...given);
  };
}

async function openTelemetryOf(
  loaded: LoadedRuntime,
  store: LazyStore,
  { ownsTelemetry }: RuntimeOptions,
  emit: Emit,
): Promise<Telemetry | undefined> {
  const { telemetry, name } = loaded.config;
  if (telemetry === undefined) return undefined;
  const { openTelemetry } = await import('../telemetry/telemetry.ts');
  const note = (level: 'info' | 'warn', message: string) => emit({ type: 'note', name, level, message });
  try {
    return await openTelemetry(loaded, { telemetry, store, owns: ownsTelemetry, note });
  } catch (thrown) {
    // Such as a fault of the SDK that the host has registered.
    note('warn', `telemetry: nothing is exported: ${toRuntimeError(thrown).message}`);
    return undefined;
  }
}

function spanSink({ types, take }: NonNullable<Telemetry['spans']>): EventSink {
  const heard = new Set(types);
  return { hears: (type) => heard.has(type), wants: ({ type }) => heard.has(type), take };
}

function listenerSink(listener: NonNullable<RuntimeOptions['onEvent']>): EventSink {
  if (typeof listener === 'function') return { hears: () => true, wants: () => true, take: listener };
  const types: ReadonlySet<string> = new Set(listener.types);
  const { take } = listener;
  return { hears: (type) => types.has(type), wants: ({ type }) => types.has(type), take };
}

function shadowSink({ listen }: ShadowRecorder): EventSink {
  return {
    hears: (type) => type === 'decision',
    wants: (event) => event.type === 'decision' && event.mode === 'shadow',
    take: (event) => event.type === 'decision' && listen(event),
  };
}

async function openRecorder(
  { config, scrubber }: Pick<LoadedRuntime, 'config' | 'scrubber'>,
  { decisions: store, state }: { readonly decisions: LazyDecisions; readonly state: LazyStore },
  emit: Emit,
): Promise<DecisionRecorder | undefined> {
  const { name, decisions } = config;
  if (decisions === undefined) return undefined;
  const { openDecisionRecorder } = await import('../decision-recorder.ts');
  return openDecisionRecorder({ config: { name, decisions }, store, openState: state.open, emit, scrubber });
}

function decisionSink({ listen }: DecisionRecorder): EventSink {
  return {
    // Decisions name their operations only if something hears of these.
    hears: (type) => type === 'decision' || type === 'operation.started',
    wants: ({ type }) => type === 'decision',
    take: (event) => event.type === 'decision' && listen(event),
  };
}

async function openLogOf(
  { config, scrubber }: Pick<LoadedRuntime, 'config' | 'scrubber'>,
  options: RuntimeOptions,
): Promise<EventSink> {
  const { openLog } = await import('../log/log.ts');
  const { fd = 2, write, isTerminal = process.stderr.isTTY } = options.log || {};
  const { hasColour = isTerminal && (hostEnv()['NO_COLOR'] ?? '') === '' } = options.log || {};
  const target = { fd, ...(write && { write }), isTerminal, hasColour };
  const log = openLog({ logging: config.logging, name: config.name, scrubber, target });
  return { hears: log.hears, wants: log.wants, take: log };
}

function notifySink(sink: EventSink, event: RuntimeEvent): void {
  try {
    sink.take(event);
  } catch (error) {
    process.emitWarning(`an event listener threw an error: ${toRuntimeError(error).message}`);
  }
}

/** Redacts secrets in messages. The text of a model is data and stays unchanged. */
export function scrubEvent<Event extends RuntimeEvent>(event: Event, scrubber: Scrubber): Event;
export function scrubEvent(event: RuntimeEvent, scrubber: Scrubber): RuntimeEvent {
  switch (event.type) {
    case 'text':
      return event;
    case 'stderr':
      return { ...event, line: scrubber.text(event.line) };
    case 'call.finished':
    case 'operation.finished': {
      const { error } = event;
      return error === undefined
        ? event
        : { ...event, error: { ...error, message: scrubber.text(error.message) } };
    }
    default:
      return scrubMessages(event, scrubber);
  }
}
