import type { Finding } from '../finding.ts';
import { libraries } from '../lazy-libraries.ts';
import type { ScannedText } from '../scanned-text.ts';

/**
 * Email addresses, international ones too, under a top-level domain that exists or is reserved for private use.
 * In a URL the @ may be written as %40.
 */
export function* findEmails({ text }: ScannedText): Generator<Finding> {
  for (const { index: at, 0: sign } of text.matchAll(/@|%40/g)) {
    const start = startOfLocal(text, at);
    if (start === at || isLogin(text, start, at)) continue;
    const end = endOfDomain(text, at + sign.length);
    if (end !== undefined) yield { entity: 'EMAIL_ADDRESS', start, end, isConfirmed: true };
  }
}

const longestLocal = 64;
const longestDomain = 253;

function startOfLocal(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - longestLocal), at);
  const local = /[\p{L}\p{N}\p{M}._%+'-]*$/u.exec(before)?.[0] ?? '';
  return at - local.replace(/^[.'%-]+/, '').length;
}

/** The end of the longest domain that exists: a sentence may go on behind it without a space. */
function endOfDomain(text: string, start: number): number | undefined {
  const after = text.slice(start, start + longestDomain);
  const labels = (/^[\p{L}\p{N}\p{M}.-]+/u.exec(after)?.[0] ?? '').split('.');
  for (let count = Math.min(labels.length, 10); count >= 2; count--) {
    const name = labels.slice(0, count).join('.');
    if (!name.includes('..') && isDomain(name)) return start + name.replace(/-+$/, '').length;
  }
  return undefined;
}

/** Whether a host of that name can receive mail. */
export function isDomain(name: string): boolean {
  const labels = name.replace(/-+$/, '').toLowerCase().split('.');
  if (labels.some((label) => label === '' || label.startsWith('-') || label.length > 63)) return false;
  if (privateTops.has(labels.at(-1) ?? '')) return true;
  const { isIcann, isPrivate, publicSuffix, isIp } = libraries.domains().parse(labels.join('.'), {
    allowPrivateDomains: true,
  });
  return isIp !== true && (isIcann === true || isPrivate === true) && publicSuffix !== labels.join('.');
}

/** Names that RFC 2606, 6761 and 6762 set apart, and those that offices use inside; people have addresses there. */
const privateTops = new Set(
  'example invalid test localhost local localdomain internal intranet corp home lan'.split(' '),
);

/** `git@host` names a service; in `https://user:pass@host` the part before the @ is a password. */
function isLogin(text: string, start: number, at: number): boolean {
  if (text.slice(start, at) === 'git') return true;
  if (!/[:@]/.test(text[start - 1] ?? '')) return false;
  return /:\/\/[^\s/]*:[^\s/]*$/.test(text.slice(Math.max(0, start - 204), start));
}
