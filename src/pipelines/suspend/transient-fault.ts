import type { Fault } from '../../base/errors.ts';
import { object } from '../../base/json/record.ts';
import { number, optional, text } from '../../base/json/shape.ts';
import type { CallableTool } from '../../calls/tool-call/callable-tool.ts';

/** A fault of a model's API or of a server, which may be gone later, that a step failed with. */
export interface TransientFault {
  /** What is to be done again: a path of the journal. */
  readonly at: string;
  /** How long the API asks to wait, in ms. */
  readonly retry_after_ms?: number;
}

/** As the outcome of a step has it. */
export const transientFault = object({ at: text, retry_after_ms: optional(number) });

/** The fault of a model call, if it may be gone later: after the retries of the provider and its fallbacks. */
export function transientOfModel({ code, details }: Fault, at: string): TransientFault | undefined {
  if (code !== 'PROVIDER_TIMEOUT' && !(code === 'PROVIDER_FAILED' && details?.['retryable'] === true))
    return undefined;
  const retryAfterMs = details?.['retry_after_ms'];
  return { at, ...(typeof retryAfterMs === 'number' && { retry_after_ms: retryAfterMs }) };
}

/** The fault of a call of a tool that is a server, if it may be gone later. */
export function transientOfTool(
  { code }: Fault,
  { port }: Pick<CallableTool, 'port'>,
  at: string,
): TransientFault | undefined {
  const isServer = port?.binding.mode === 'server';
  return isServer && serverFaults.has(code) ? { at } : undefined;
}

/** Not what it answers, nor that it cannot be started at all. */
const serverFaults: ReadonlySet<Fault['code']> = new Set([
  'SERVER_EXIT',
  'SERVER_CIRCUIT_OPEN',
  'SERVER_BUSY',
  'PROCESS_TIMEOUT',
]);
