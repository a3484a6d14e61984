import { createHash } from 'node:crypto';
import type { Binding } from '../binding/binding.ts';
import type { Message } from '../transport/transport.ts';
import { withoutChance } from './chance.ts';

/** What of a binding its replies depend on. */
export type Entry = Pick<Binding, 'name' | 'capability' | 'dialect' | 'mode'>;

/** A request as a cassette may keep it: without secrets. */
export interface Request extends Entry {
  readonly method: string;
  readonly body: string;
}

/** Takes what nobody may read out of a text; JSON stays JSON. */
export type Redact = (text: string) => string;

export function describeRequest(
  { name, capability, dialect, mode }: Entry,
  { method, body }: Message,
  redact: Redact,
): Request {
  // What is sent is UTF-8, which has no lone surrogates.
  return { capability, name, dialect, mode, method, body: redact(body.toWellFormed()) };
}

/** The same for requests that ask the same of the same entry: SHA-256, in hexadecimal. */
export function digestRequest({ capability, name, dialect, mode, method, body }: Request): string {
  return createHash('sha256')
    .update(`${JSON.stringify([capability, name, dialect, mode, method])}\n`)
    .update(withoutChance(body))
    .digest('hex');
}
