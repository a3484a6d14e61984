import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { fold } from '../../pii/fold.ts';

/** Where an address leads. */
export interface Target {
  /** In small letters, with its colon; empty for an address within the same site. */
  readonly scheme: string;
  /** In small letters and ASCII; empty without one. */
  readonly host: string;
  /** Whether it is written so that a reader, or a filter, takes it for another. */
  readonly isTrick: boolean;
}

/** Reads an address as browsers do: they drop tabs and line breaks, take `\` for `/`, and read numbers as hosts. */
export function readTarget(address: string): Target {
  const folded = fold(address).text;
  const plain = folded.replaceAll(/[\t\r\n]/g, '').trim();
  const hasHidden = /[\p{Cf}\p{Cc}\p{DI}]/u.test(address) || plain !== folded.trim();
  const scheme = /^([a-z][a-z0-9+.-]{0,30}):/i.exec(plain)?.[0].toLowerCase() ?? '';
  const isHier = /^(?:https?|wss?|ftp):/i.test(scheme) || /^[\\/]{2}/.test(plain);
  if (!isHier) return { scheme, host: '', isTrick: hasHidden };
  const authority =
    plain
      .slice(scheme.length)
      .replace(/^[\\/]+/, '')
      .split(/[/\\?#]/, 1)[0] ?? '';
  const written = authority.replace(/^.*@/s, '').replace(/:\d*$/, '');
  const host = toAscii(scheme, written);
  const isTrick =
    hasHidden ||
    authority.includes('@') ||
    plain.slice(scheme.length).startsWith('\\') ||
    /%[0-9a-f]{2}/i.test(written) ||
    /^[^/?#]*[\\/]{2}[^/?#\\]*[\uff01-\uff5e\u3002\uff0e\uff61]/.test(address) ||
    (host !== undefined && isDisguised(written, host));
  // A browser opens no address whose host it refuses.
  return { scheme, host: host ?? '', isTrick };
}

/** The host as the resolver gets it; undefined for one that browsers refuse. */
function toAscii(scheme: string, host: string): string | undefined {
  try {
    const { hostname } = new URL(`${scheme === '' ? 'https:' : scheme}//${host}/`);
    return hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}

/** Numbers that become an address, full-width letters, and letters of one script among those of another. */
function isDisguised(written: string, host: string): boolean {
  const isNumber = isIP(host) === 4 && written.replace(/\.$/, '') !== host;
  if (isNumber) return true;
  return written.split('.').some(mixesScripts) || host.split('.').some(imitates);
}

function mixesScripts(label: string): boolean {
  const hasLatin = /\p{Script=Latin}/u.test(label);
  return (
    hasLatin && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(label)
  );
}

/** A name all of whose letters look like Latin ones: `аррӏе` in Cyrillic. */
function imitates(label: string): boolean {
  if (!label.startsWith('xn--')) return false;
  const letters = domainToUnicode(label);
  return (
    letters !== '' &&
    /^[\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u04bb\u04cf\u0455\u0501\u051b\u051d\u03bf\u03b1\u03bd\u03c1\d-]+$/u.test(
      letters,
    )
  );
}
