import { isIPv4, isIPv6 } from 'node:net';
import type { Finding } from '../finding.ts';
import { type ScannedText, textBefore } from '../scanned-text.ts';

/** IPv4 and IPv6 addresses; a dotted number behind the word "version" is none. */
export function* findIpAddresses({ text }: ScannedText): Generator<Finding> {
  for (const { 0: written, index } of text.matchAll(/(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d]|\.\d)/g)) {
    if (!isIPv4(written) || isVersion(textBefore(text, index, 20))) continue;
    yield { entity: 'IP_ADDRESS', start: index, end: index + written.length, isConfirmed: true };
  }
  for (const { 0: run, index } of text.matchAll(/(?<![\p{L}\p{N}:.])[\da-fA-F:][\da-fA-F:.]+/gu)) {
    const written = run.replace(/(?<!:):?\.*$/, '').replace(/[.]+$/, '');
    if (!isAddress(written) || /[\p{L}\p{N}]/u.test(text[index + run.length] ?? '')) continue;
    yield { entity: 'IP_ADDRESS', start: index, end: index + written.length, isConfirmed: true };
  }
}

function isVersion(before: string): boolean {
  return /(?:\bv|version|release|rev)[ .:]*$/i.test(before);
}

/** What few characters spell, such as `::` or `a::b`, is more often code than an address. */
function isAddress(written: string): boolean {
  if (written.length > 45 || written.length < 3 || written.indexOf(':') === -1) return false;
  const isTelling = written === '::1' || (/\d/.test(written) && written.replaceAll(':', '').length >= 4);
  return isTelling && isIPv6(written);
}
