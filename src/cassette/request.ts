import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { Binding } from '../binding/binding.ts';
import type { Message } from '../transport/transport.ts';
import { withoutChance } from './volatile.ts';

/** What of a binding its replies depend on. */
export type Entry = Pick<Binding, 'name' | 'capability' | 'dialect' | 'mode'>;

/** A request as a cassette may keep it: without secrets. */
export interface Request extends Entry {
  readonly method: string;
  readonly body: string;
  /** Variables of this exchange alone that say what is asked; null: one that is taken away. */
  readonly env?: Readonly<Record<string, string | null>>;
}

/** Takes what nobody may read out of a text; JSON stays JSON. */
export type Redact = (text: string) => string;

export function describeRequest(
  { name, capability, dialect, mode }: Entry,
  { method, body, env }: Message,
  redact: Redact,
): Request {
  const telling = env && findTelling(env, redact);
  // What is sent is UTF-8, which has no lone surrogates.
  const request = { capability, name, dialect, mode, method, body: redact(body.toWellFormed()) };
  return telling === undefined ? request : { ...request, env: telling };
}

/** Where things lie on a machine is no part of the question. */
function findTelling(
  env: Readonly<Record<string, string | undefined>>,
  redact: Redact,
): Readonly<Record<string, string | null>> | undefined {
  const telling = Object.entries(env)
    .filter(([, value]) => value === undefined || !isAbsolute(value))
    .map(([key, value]) => [key, value === undefined ? null : redact(value.toWellFormed())] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return telling.length === 0 ? undefined : Object.fromEntries(telling);
}

/** The same for requests that ask the same of the same entry: SHA-256, in hexadecimal. */
export function digestRequest({ capability, name, dialect, mode, method, body, env }: Request): string {
  const about = [capability, name, dialect, mode, method, ...(env === undefined ? [] : [env])];
  return createHash('sha256')
    .update(`${JSON.stringify(about)}\n`)
    .update(withoutChance(body, dialect))
    .digest('hex');
}
