import { RuntimeError } from '../base/errors.ts';

/** The trace that a caller continues. Source: W3C Trace Context, level 1. */
export interface TraceContext {
  /** `00`, the ID of the trace, the ID of the caller's span and the flags, with `-` between them. */
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** Returns undefined if the values are invalid, as the standard wants it. An invalid `tracestate` alone is left out. */
export function readTrace(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (!isTraceparent(traceparent)) return undefined;
  return isTracestate(tracestate) ? { traceparent, tracestate } : { traceparent };
}

/** Throws USAGE if a value is invalid. */
export function requireTrace(given: TraceContext | undefined): TraceContext | undefined {
  if (given === undefined) return undefined;
  const { traceparent, tracestate } = given;
  const trace = readTrace(traceparent, tracestate);
  const invalid =
    trace === undefined ? 'traceparent' : tracestate === trace.tracestate ? undefined : 'tracestate';
  if (invalid === undefined) return trace;
  throw new RuntimeError('USAGE', `\`trace.${invalid}\` is not valid by W3C Trace Context`, {
    hint: 'Pass the headers traceparent and tracestate of the request unchanged, or no trace.',
  });
}

function isTraceparent(value: unknown): value is string {
  const fields = typeof value === 'string' ? pattern.exec(value)?.groups : undefined;
  if (fields === undefined) return false;
  const { version = '', trace = '', span = '', more } = fields;
  const isKnown = version === '00' ? more === undefined : version !== 'ff';
  return isKnown && /[^0]/.test(trace) && /[^0]/.test(span);
}

/** Later versions may add fields. */
const pattern =
  /^(?<version>[\da-f]{2})-(?<trace>[\da-f]{32})-(?<span>[\da-f]{16})-[\da-f]{2}(?<more>-[\x21-\x7e]*)?$/;

function isTracestate(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,512}$/.test(value);
}
