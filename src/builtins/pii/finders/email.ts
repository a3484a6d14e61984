import { trimEndOf } from '../../../base/text/find.ts';
import { wordJoints } from '../../../base/text/words.ts';
import type { Finding } from '../finding.ts';
import { libraries } from '../lazy-libraries.ts';
import type { ScannedText } from '../scanned-text.ts';

/** Addresses, also international ones, under an existing or a private top-level domain. URLs may write the @ as %40. */
export function* findEmails({ text, joints }: ScannedText): Generator<Finding> {
  for (const { index: at, 0: sign } of text.matchAll(/@|%40/g)) {
    const domain = at + sign.length;
    const end = endOfDomain(text, domain, joints);
    if (end === undefined) continue;
    // Words before a Latin address are not part of it; an international address may mix scripts.
    const isInternational = /[^\0-\u024f]/.test(text.slice(domain, end));
    const start = startOfLocal(text, at, isInternational ? joints : none);
    if (start === at || isLogin(text, start, at)) continue;
    yield { entity: 'EMAIL_ADDRESS', start, end, isConfirmed: true };
  }
}

const none: ReadonlySet<number> = new Set();

const longestLocal = 64;
const longestDomain = 253;

/** The local part may contain spaces that folding added. */
function startOfLocal(text: string, at: number, joints: ReadonlySet<number>): number {
  let start = at;
  let first = at;
  for (;;) {
    const before = text.slice(Math.max(0, at - longestLocal), start);
    const local = /[\p{L}\p{N}\p{M}._%+'-]*$/u.exec(before)?.[0] ?? '';
    if (local === '') return first;
    start -= local.length;
    first = start + (/^[.'%-]+/.exec(local)?.[0].length ?? 0);
    if (!joints.has(start - 1)) return first;
    start -= 1;
  }
}

/**
 * Returns the end of the longest existing domain. A sentence may continue without a space, with a capital or in another
 * script, where a dictionary separates the words. A label of two scripts has spaces that folding added.
 */
function endOfDomain(text: string, start: number, joints: ReadonlySet<number>): number | undefined {
  const limit = start + longestDomain;
  const ends: number[] = [];
  let at = start;
  do {
    const run = /^[\p{L}\p{N}\p{M}.-]+/u.exec(text.slice(at, limit))?.[0] ?? '';
    for (const { index } of run.matchAll(/\.|(?<=\p{Ll})(?=\p{Lu})/gu)) ends.push(at + index);
    for (const joint of wordJoints(run)) ends.push(at + joint);
    at += run.length;
    ends.push(at);
    at += 1;
  } while (joints.has(at - 1) && at < limit);
  ends.sort((one, other) => one - other);
  for (const end of ends.slice(0, mostEnds).toReversed()) {
    const name = trimEndOf(text.slice(start, end).replaceAll(' ', ''), '-');
    if (name.includes('.') && !name.includes('..') && isDomain(name))
      return start + trimEndOf(text.slice(start, end), '-').length;
  }
  return undefined;
}

const mostEnds = 20;

export function isDomain(name: string): boolean {
  const labels = trimEndOf(name, '-').toLowerCase().split('.');
  if (labels.some((label) => label === '' || label.startsWith('-') || label.length > 63)) return false;
  if (privateTops.has(labels.at(-1) ?? '')) return true;
  const { isIcann, isPrivate, publicSuffix, isIp } = libraries.domains().parse(labels.join('.'), {
    allowPrivateDomains: true,
  });
  return isIp !== true && (isIcann === true || isPrivate === true) && publicSuffix !== undefined;
}

/** Names reserved by RFC 2606, 6761 and 6762, and names of internal networks. */
const privateTops = new Set(
  'example invalid test localhost local localdomain internal intranet corp home lan'.split(' '),
);

/** `git@host` names a service; in `https://user:pass@host` the part before the @ is a password. */
function isLogin(text: string, start: number, at: number): boolean {
  if (text.slice(start, at) === 'git') return true;
  if (!/[:@]/.test(text[start - 1] ?? '')) return false;
  return /:\/\/[^\s/]*:[^\s/]*$/.test(text.slice(Math.max(0, start - 204), start));
}
