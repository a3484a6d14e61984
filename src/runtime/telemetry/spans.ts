import type { Attributes, Context, HrTime, Span, Tracer } from '@opentelemetry/api';
import type { KeepCall } from '../../contract/decision.ts';
import type {
  Emit,
  HookAbout,
  HookOutcome,
  HookSpan,
  OperationFinished,
  OperationStarted,
  RuntimeEvent,
} from '../../contract/event.ts';
import { currentTrace, trackedOperation } from '../../contract/operation.ts';
import type { TraceContext } from '../../contract/trace.ts';
import {
  endpointOperation,
  evaluationRows,
  type HookFacts,
  hookRule,
  operationRules,
  providerName,
  type Row,
  type Seen,
} from './attributes.ts';
import { addExchange, addToolContent } from './content.ts';
import { guardrailRows } from './guardrails.ts';

export interface Spans extends Pick<Emit, 'keepContent'> {
  readonly types: readonly RuntimeEvent['type'][];
  take(event: RuntimeEvent): void;
  readonly traceOf: NonNullable<Emit['traceOf']>;
  readonly startHook: NonNullable<Emit['startHook']>;
  /** Absent, as `keepContent`, unless content is exported. */
  readonly keepCall?: KeepCall | undefined;
  /** Ends the spans of operations that have not finished. */
  close(): void;
}

export interface SpansOptions {
  readonly tracer: Tracer;
  readonly api: Pick<typeof import('@opentelemetry/api'), 'context' | 'trace' | 'createTraceState'>;
  /** Removes secrets and shortens. */
  readonly text: (value: string) => string;
  readonly content: boolean;
  readonly names: { readonly providers: ReadonlyMap<string, string> };
  readonly isOptedIn: boolean;
}

/** A place in a trace: a span, or what its parts continue if it is not sampled or belongs to another library. */
interface Place {
  readonly span?: Span;
  readonly context: Context;
  readonly trace: TraceContext | undefined;
  /** If false, its parts have no spans either. */
  readonly isSampled: boolean;
  /** The time of `performance.now() === 0` by the clock of the root, so that no part begins before its whole. */
  readonly epochMs: number;
}

/** Makes spans from the events of operations, and of hooks. No method throws. */
export function openSpans({ tracer, api, text, content, names, isOptedIn }: SpansOptions): Spans {
  const open = new Map<string, Place>();
  const providerOf = (id: string) => providerName(names.providers.get(id) ?? id);
  const hookEnds = isOptedIn ? [...hookRule.end, ...guardrailRows] : hookRule.end;

  const attributesOf = <Facts>(rows: readonly Row<Facts>[], facts: Facts): Attributes => {
    const attributes: Attributes = {};
    for (const { name, read, isWord } of rows) {
      const value = read(facts, providerOf);
      if (typeof value === 'string') attributes[name] = isWord ? value : text(value);
      else if (Array.isArray(value)) attributes[name] = value.map((each) => text(String(each)));
      else if (value !== undefined) attributes[name] = value;
    }
    return attributes;
  };
  const add = <Facts>(span: Span, rows: readonly Row<Facts>[], facts: Facts) =>
    span.setAttributes(attributesOf(rows, facts));
  const timeAt = ({ epochMs }: Place) => toHrTime(epochMs + performance.now());

  /** The place of the operation; else of the caller's trace, or of the host's span. */
  const placeOf = (operation: string | undefined): Place => {
    const known = operation === undefined ? undefined : open.get(operation);
    if (known !== undefined) return known;
    const trace = currentTrace();
    const active = api.context.active();
    const context = trace === undefined ? active : continueTrace(trace, active);
    return { context, trace, isSampled: true, epochMs: Date.now() - performance.now() };
  };
  const continueTrace = ({ traceparent, tracestate }: TraceContext, around: Context) => {
    const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
    return api.trace.setSpanContext(around, {
      ...{ traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true },
      // The state goes into every span.
      ...(tracestate !== undefined &&
        text(tracestate) === tracestate && { traceState: api.createTraceState(tracestate) }),
    });
  };
  const place = (span: Span, around: Place): Place => {
    const context = api.trace.setSpan(around.context, span);
    return {
      span,
      context,
      trace: traceOfSpan(span),
      isSampled: span.isRecording(),
      epochMs: around.epochMs,
    };
  };

  const begin = (event: OperationStarted) => {
    const around = placeOf(event.parent);
    if (!around.isSampled) {
      open.set(event.id, around);
      return;
    }
    if (isOfAiSdk(event)) {
      const { epochMs } = around;
      const context = api.context.active();
      const active = api.trace.getSpan(context);
      open.set(event.id, { context, trace: active && traceOfSpan(active), isSampled: true, epochMs });
      return;
    }
    const { start } = operationRules[event.operation];
    const span = tracer.startSpan(
      nameOf(event, text),
      {
        kind: kinds[event.operation],
        attributes: attributesOf<Seen>(start, event),
        startTime: timeAt(around),
      },
      around.context,
    );
    open.set(event.id, place(span, around));
  };
  const finish = (event: OperationFinished) => {
    const known = open.get(event.id);
    open.delete(event.id);
    if (known?.span === undefined || !known.isSampled) return;
    const { span } = known;
    if (event.operation === 'gateway') span.updateName(nameOf(event, text));
    if (event.operation === 'eval')
      span.addEvent('gen_ai.evaluation.result', attributesOf<Seen>(evaluationRows, event));
    add<Seen>(span, operationRules[event.operation].end, event);
    const message = content && event.error ? { message: text(event.error.message) } : {};
    if (event.status === 'failed') span.setStatus({ code: ERROR, ...message });
    span.end(timeAt(known));
  };
  const startHook = (about: HookAbout): HookSpan | undefined => {
    const around = placeOf(trackedOperation()?.id);
    if (!around.isSampled) return undefined;
    const options = {
      kind: about.isStatic ? INTERNAL : CLIENT,
      attributes: attributesOf<HookFacts>(hookRule.start, about),
      startTime: timeAt(around),
    };
    const span = tracer.startSpan('signalbox.hook', options, around.context);
    if (!span.isRecording()) return undefined;
    const endHook = (outcome: HookOutcome = {}) => {
      add(span, hookEnds, { ...about, ...outcome });
      if (outcome.error !== undefined) span.setStatus({ code: ERROR });
      span.end(timeAt(around));
    };
    return { trace: traceOfSpan(span), end: safely(endHook) };
  };

  const sampledSpan = (operation = '') => {
    const known = open.get(operation);
    return known?.isSampled ? known.span : undefined;
  };
  return {
    types: ['operation.started', 'operation.finished'],
    take: safely((event) => {
      if (event.type === 'operation.started') begin(event);
      else if (event.type === 'operation.finished') finish(event);
    }),
    traceOf: (operation) => open.get(operation)?.trace,
    startHook: safely(startHook),
    ...(content && {
      keepCall: safely((exchange) => {
        const span = sampledSpan(exchange.origin.operation);
        if (span !== undefined) addExchange(span, exchange, text);
      }),
      keepContent: safely((operation, kept) => {
        const span = sampledSpan(operation);
        if (span !== undefined) addToolContent(span, kept, text);
      }),
    }),
    close: safely(() => {
      for (const each of new Set(open.values())) if (each.isSampled) each.span?.end(timeAt(each));
      open.clear();
    }),
  };
}

// Values of the enums of @opentelemetry/api, which may be absent.
const [INTERNAL, CLIENT, ERROR, SAMPLED] = [0, 2, 2, 1] as const;

const kinds: Readonly<Record<Seen['operation'], typeof INTERNAL | typeof CLIENT>> = {
  ...{ pipeline: INTERNAL, tool: INTERNAL, case: INTERNAL },
  ...{ model: CLIENT, gateway: CLIENT, eval: CLIENT },
};

function nameOf(event: OperationStarted | OperationFinished, text: (value: string) => string): string {
  const { operation, name } = event;
  if (operation === 'eval' || operation === 'case') return `signalbox.${operation}`;
  if (operation !== 'gateway') return `${verbs[operation]} ${text(name).slice(0, LONGEST_NAME)}`;
  // Any other name is a text of the client.
  const model = event.type === 'operation.finished' ? event.model : undefined;
  return `${endpointOperation(name)} ${model === undefined ? 'other' : text(model).slice(0, LONGEST_NAME)}`;
}

const verbs = { pipeline: 'invoke_agent', model: 'chat', tool: 'execute_tool' } as const;
const LONGEST_NAME = 200;

function traceOfSpan(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const tracestate = traceState?.serialize();
  const traceparent = `00-${traceId}-${spanId}-${traceFlags & SAMPLED ? '01' : '00'}`;
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

/** Integers, so that the SDK converts nothing. */
export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.trunc((ms - seconds * 1000) * 1e6)];
}

/** The AI SDK has a span of its own for the call of a guarded model. Models of pipelines are not called through it. */
function isOfAiSdk(event: OperationStarted): boolean {
  if (event.operation !== 'model' || event.isGuarded !== true) return false;
  const integrations: unknown = Reflect.get(globalThis, 'AI_SDK_TELEMETRY_INTEGRATIONS');
  return Array.isArray(integrations) && integrations.length > 0;
}

/** A fault of an SDK stops no call. */
function safely<Args extends readonly unknown[], Result>(work: (...args: Args) => Result | undefined) {
  return (...args: Args): Result | undefined => {
    try {
      return work(...args);
    } catch {
      return undefined;
    }
  };
}
