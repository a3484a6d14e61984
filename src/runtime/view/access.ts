import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { tokenHeader } from '../../suite/report/html/served.ts';
import { isLoopbackName } from '../../text/loopback-name.ts';
import type { Refusal } from './replies.ts';

/** What lets somebody in: made anew with each start. */
export interface Access {
  /** In the address that is printed, and then in a cookie. */
  readonly entry: string;
  /** In pages, for what changes something. */
  readonly change: string;
  /** Of this server alone: browsers give a host’s cookies to all its ports. */
  readonly cookie: string;
}

/** Two secrets of 192 bits. `port` is where the server listens. */
export function newAccess(port: number): Access {
  return { entry: newSecret(), change: newSecret(), cookie: `signalbox_view_${port}` };
}

function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** Why nothing is shown; undefined: it is. Pages of other names that lead here do not get in, and neither does who lacks the cookie. */
export function refuseVisit({ headers }: Request, access: Access): Refusal | undefined {
  return (
    refuseName(headers) ?? (isSame(cookieOf(headers, access.cookie), access.entry) ? undefined : noEntry)
  );
}

/** A visit by the address that was printed. */
export function isEntry(request: Request, { entry }: Access): boolean {
  return refuseName(request.headers) === undefined && isSame(tokenIn(request), entry);
}

/** Whether an address has a token, right or wrong. */
export function hasToken(request: Request): boolean {
  return tokenIn(request) !== null;
}

/** Why nothing is changed; undefined: it may be. Asked beside `refuseVisit`. */
export function refuseChange({ headers }: Request, { change }: Access): Refusal | undefined {
  const origin = headers.get('origin');
  if (origin !== null && origin !== `http://${headers.get('host')}`) return foreign;
  if (!['same-origin', null].includes(headers.get('sec-fetch-site'))) return foreign;
  if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) return notJson;
  return isSame(headers.get(tokenHeader), change) ? undefined : noToken;
}

function refuseName(headers: Headers): Refusal | undefined {
  const host = headers.get('host');
  return host !== null && isLoopbackName(host) ? undefined : otherName;
}

function tokenIn({ url }: Request): string | null {
  return new URL(url).searchParams.get('token');
}

function cookieOf(headers: Headers, name: string): string | null {
  const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

/** Takes as long whatever is given. */
function isSame(given: string | null, secret: string): boolean {
  const [one, other] = [given ?? '', secret].map((each) => createHash('sha256').update(each).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

const otherName: Refusal = {
  status: 403,
  code: 'untrusted_host',
  message: 'This server is asked by a name that is not this machine’s own',
  hint: 'Open it as 127.0.0.1 or localhost.',
};
const noEntry: Refusal = {
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
const noToken: Refusal = {
  status: 403,
  code: 'no_token',
  message: 'The page is of an earlier start of the server',
  hint: 'Load it again.',
};
