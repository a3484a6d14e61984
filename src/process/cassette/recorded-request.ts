import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { Redact } from '../../contract/scrub.ts';
import type { Binding } from '../binding.ts';
import type { Message } from '../transport.ts';
import { withoutVolatileFields } from './volatile-fields.ts';

/** The members of a binding that identify an entry in a cassette. */
export type Entry = Pick<Binding, 'name' | 'capability' | 'dialect' | 'mode' | 'volatileFields'>;

/** A request as a cassette may keep it: without secrets. */
export interface RecordedRequest extends Entry {
  readonly method: string;
  readonly body: string;
  /** The variables of this exchange that belong to its identity; null: one that is removed. */
  readonly env?: Readonly<Record<string, string | null>>;
}

export function describeRequest(
  { name, capability, dialect, mode, volatileFields }: Entry,
  { method, body, env }: Message,
  redact: Redact,
): RecordedRequest {
  const relevantEnv = env && findRelevantEnv(env, redact);
  // What is sent is UTF-8, which has no lone surrogates.
  const request = {
    ...{ capability, name, dialect, mode, volatileFields, method },
    body: redact(body.toWellFormed()),
  };
  return relevantEnv === undefined ? request : { ...request, env: relevantEnv };
}

/** Leaves out absolute paths, which differ from machine to machine; undefined when nothing is left. */
function findRelevantEnv(
  env: Readonly<Record<string, string | undefined>>,
  redact: Redact,
): Readonly<Record<string, string | null>> | undefined {
  const relevant = Object.entries(env)
    .filter(([, value]) => value === undefined || !isAbsolute(value))
    .map(([key, value]) => [key, value === undefined ? null : redact(value.toWellFormed())] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return relevant.length === 0 ? undefined : Object.fromEntries(relevant);
}

/**
 * SHA-256 in hexadecimal of entry, method, variables and body without volatile fields: the key of an
 * exchange.
 */
export function digestRequest({
  capability,
  name,
  dialect,
  mode,
  volatileFields,
  method,
  body,
  env,
}: RecordedRequest): string {
  const about = [capability, name, dialect, mode, method, ...(env === undefined ? [] : [env])];
  return createHash('sha256')
    .update(`${JSON.stringify(about)}\n`)
    .update(withoutVolatileFields(body, volatileFields))
    .digest('hex');
}
