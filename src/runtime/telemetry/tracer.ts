import type {
  Attributes,
  AttributeValue,
  Context,
  HrTime,
  SpanContext,
  SpanStatus,
} from '@opentelemetry/api';
import type { IdGenerator, ReadableSpan, Sampler } from '@opentelemetry/sdk-trace';
import type { Api } from './packages.ts';

interface SpanStart {
  readonly kind: ReadableSpan['kind'];
  readonly attributes: Attributes;
  readonly startTime: HrTime;
}

/** What is used of a `Tracer` of the API. */
export interface SpanTracer {
  startSpan(name: string, start: SpanStart, context: Context): TracedSpan;
}

/** What is used of a `Span` of the API. */
export interface TracedSpan {
  spanContext(): SpanContext;
  isRecording(): boolean;
  setAttribute(name: string, value: AttributeValue): unknown;
  setAttributes(attributes: Attributes): unknown;
  addEvent(name: string, attributes: Attributes, time: HrTime): unknown;
  setStatus(status: SpanStatus): unknown;
  updateName(name: string): unknown;
  end(time: HrTime): void;
}

interface TracerOptions extends Pick<ReadableSpan, 'resource' | 'instrumentationScope'> {
  readonly api: Pick<Api, 'trace'>;
  readonly sampler: Sampler;
  readonly ids: IdGenerator;
  readonly processor: { onEnd(span: ReadableSpan): void };
}

/** The SDK's own tracer checks and copies every attribute, which doubles the cost of a span. Ours are valid. */
export function openTracer(options: TracerOptions): SpanTracer {
  const { api, sampler, ids } = options;
  return {
    startSpan: (name, start, context) => {
      const parent = api.trace.getSpanContext(context);
      const traceId = parent?.traceId ?? ids.generateTraceId();
      const { kind, attributes } = start;
      const sampled = sampler.shouldSample(context, traceId, name, kind, attributes, none);
      const { decision, traceState = parent?.traceState } = sampled;
      const traceFlags = decision === RECORD_AND_SAMPLED ? 1 : 0;
      const own = { traceId, spanId: ids.generateSpanId(), traceFlags, ...(traceState && { traceState }) };
      if (traceFlags === 0) return api.trace.wrapSpanContext(own);
      return new RecordedSpan(name, { start, own, parent, options });
    },
  };
}

/** A value of an enum of the SDK. */
const RECORD_AND_SAMPLED = 2;
const none: [] = [];

interface Started {
  readonly start: SpanStart;
  readonly own: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly options: TracerOptions;
}

class RecordedSpan implements TracedSpan, ReadableSpan {
  name: string;
  endTime: HrTime;
  status: SpanStatus = { code: 0 };
  ended = false;
  readonly kind: ReadableSpan['kind'];
  readonly attributes: Attributes;
  readonly startTime: HrTime;
  readonly duration: HrTime = [0, 0];
  readonly events: ReadableSpan['events'] = [];
  readonly links = none;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly resource: ReadableSpan['resource'];
  readonly instrumentationScope: ReadableSpan['instrumentationScope'];
  readonly spanContext: () => SpanContext;
  declare readonly parentSpanContext?: SpanContext;
  readonly #processor: TracerOptions['processor'];

  constructor(name: string, { start, own, parent, options }: Started) {
    this.name = name;
    this.kind = start.kind;
    this.attributes = start.attributes;
    this.startTime = this.endTime = start.startTime;
    this.resource = options.resource;
    this.instrumentationScope = options.instrumentationScope;
    this.spanContext = () => own;
    if (parent !== undefined) this.parentSpanContext = parent;
    this.#processor = options.processor;
  }

  isRecording() {
    return !this.ended;
  }
  setAttribute(name: string, value: AttributeValue) {
    this.attributes[name] = value;
  }
  setAttributes(attributes: Attributes) {
    Object.assign(this.attributes, attributes);
  }
  addEvent(name: string, attributes: Attributes, time: HrTime) {
    this.events.push({ name, attributes, time });
  }
  setStatus(status: SpanStatus) {
    this.status = status;
  }
  updateName(name: string) {
    this.name = name;
  }
  end(time: HrTime) {
    if (this.ended) return;
    this.ended = true;
    this.endTime = time;
    this.#processor.onEnd(this);
  }
}
