import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isLoopbackName } from '../../base/text/loopback-name.ts';
import type { Refusal } from './replies.ts';

/**
 * The secret of 192 bits that lets somebody in, made anew with each start. It stands in the fragment of the address that is
 * printed, which goes nowhere, and from then on in `Authorization`. Never in a cookie: browsers send those to all ports of a host.
 */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Why nothing is shown, whatever the token; undefined: it may be. Pages of other names that lead here do not get in. */
export function refuseName({ headers }: Request): Refusal | undefined {
  const host = headers.get('host');
  return host !== null && isLoopbackName(host) ? undefined : otherName;
}

/** Why nothing is shown to who has not the token; undefined: it is. */
export function refuseVisit({ headers }: Request, token: string): Refusal | undefined {
  const [, given = ''] = /^Bearer (\S+)$/i.exec(headers.get('authorization') ?? '') ?? [];
  return isSame(given, token) ? undefined : noEntry;
}

/** Why nothing is changed; undefined: it may be. Asked beside `refuseVisit`. */
export function refuseChange({ headers }: Request): Refusal | undefined {
  const origin = headers.get('origin');
  if (origin !== null && origin !== `http://${headers.get('host')}`) return foreign;
  if (!['same-origin', null].includes(headers.get('sec-fetch-site'))) return foreign;
  return /^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '') ? undefined : notJson;
}

/** Takes as long whatever is given. */
function isSame(given: string, secret: string): boolean {
  const [one, other] = [given, secret].map((each) => createHash('sha256').update(each).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

const otherName: Refusal = {
  status: 403,
  code: 'untrusted_host',
  message: 'This server is asked by a name that is not this machine’s own',
  hint: 'Open it as 127.0.0.1 or localhost.',
};
export const noEntry: Refusal = {
  status: 403,
  code: 'no_entry',
  message: 'Only the address that `signalbox eval view` has printed leads in',
  hint: 'Open that address, with its token; each start has another one.',
};
const foreign: Refusal = {
  status: 403,
  code: 'untrusted_origin',
  message: 'A page of another server cannot change anything here',
  hint: '',
};
const notJson: Refusal = {
  status: 415,
  code: 'not_json',
  message: 'What changes something is sent as application/json',
  hint: '',
};
