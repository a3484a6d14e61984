import type { Fault } from '../../base/errors.ts';
import { object } from '../../base/json/record.ts';
import { number, optional, text } from '../../base/json/shape.ts';
import type { CallableTool } from '../../calls/tool-call/callable-tool.ts';

/** A fault of a model's API or of a server that may go away. */
export interface TransientFault {
  /** The journal path to repeat. */
  readonly at: string;
  /** The wait that the API asks for, in ms. */
  readonly retry_after_ms?: number;
}

export const transientFault = object({ at: text, retry_after_ms: optional(number) });

/** Returns undefined for a permanent fault. Retries and fallbacks of the provider have already failed. */
export function transientOfModel({ code, details }: Fault, at: string): TransientFault | undefined {
  if (code !== 'PROVIDER_TIMEOUT' && !(code === 'PROVIDER_FAILED' && details?.['retryable'] === true))
    return undefined;
  const retryAfterMs = details?.['retry_after_ms'];
  return { at, ...(typeof retryAfterMs === 'number' && { retry_after_ms: retryAfterMs }) };
}

export function transientOfTool(
  { code }: Fault,
  { port }: Pick<CallableTool, 'port'>,
  at: string,
): TransientFault | undefined {
  const isServer = port?.binding.mode === 'server';
  return isServer && serverFaults.has(code) ? { at } : undefined;
}

/** Error replies and failed starts are not transient. */
const serverFaults: ReadonlySet<Fault['code']> = new Set([
  'SERVER_EXIT',
  'SERVER_CIRCUIT_OPEN',
  'SERVER_BUSY',
  'PROCESS_TIMEOUT',
]);
