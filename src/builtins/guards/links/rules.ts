import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { trimEndOf } from '../../../base/text/find.ts';
import { entropyOf } from '../../pii/finders/typed.ts';
import { fold } from '../../pii/fold.ts';
import { type Finding, type GuardRules, mergeFindings, type Origin, origins } from '../guard.ts';
import { findLinks, type Link } from './scan.ts';

const linkKinds = {
  TRICK: ['address that hides its target', 'addresses that hide their targets'],
  SCHEME: ['address that is not a web page', 'addresses that are not web pages'],
  DATA: ['address that carries data', 'addresses that carry data'],
  IMAGE: ['image of a host that is not on the list', 'images of hosts that are not on the list'],
  HOST: ['link to a host that is not on the list', 'links to hosts that are not on the list'],
} as const;
type LinkKind = keyof typeof linkKinds;

export const linkKindNames: readonly LinkKind[] = Object.keys(linkKinds).filter(isKind);

function isKind(kind: string): kind is LinkKind {
  return Object.hasOwn(linkKinds, kind);
}

export const linkActions = ['strip', 'block'] as const;
type LinkAction = (typeof linkActions)[number];

export const scannedOrigins: readonly Origin[] = origins.filter(
  (origin) => origin !== 'user' && origin !== 'system',
);

export interface LinkSettings {
  readonly kinds: ReadonlySet<LinkKind>;
  readonly action: LinkAction;
  readonly scans: (origin: Origin) => boolean;
  /** Hosts that may be linked to, `*.example.org` for subdomains. Empty: any host, but without data. */
  readonly allowed: readonly string[];
}

export function createLinkRules({ kinds, action, scans, allowed }: LinkSettings): GuardRules {
  const isAllowed = compileHosts(allowed);
  return {
    name: 'links',
    kinds: linkKinds,
    scans,
    find: (text, { conversation }) => {
      const judged = new Map<string, LinkKind | undefined>();
      const findings: Finding[] = [];
      for (const link of findLinks(text)) {
        const key = `${link.kind} ${link.label ?? ''} ${link.address}`;
        if (!judged.has(key)) {
          judged.set(key, judge(link, { isAllowed, hasList: allowed.length > 0, conversation }));
        }
        const kind = judged.get(key);
        if (kind !== undefined && kinds.has(kind)) findings.push({ kind, start: link.start, end: link.end });
      }
      return { findings: mergeFindings(findings, linkKindNames), confidence: findings.length > 0 ? 1 : 0 };
    },
    // Tool arguments are denied rather than changed, because the tool would fetch a different address.
    replace: ({ kind }, written, origin) =>
      action === 'block' || origin === 'args' ? undefined : strip(kind, written),
  };
}

interface JudgeContext {
  readonly isAllowed: (host: string) => boolean;
  readonly hasList: boolean;
  readonly conversation: () => readonly string[];
}

function judge(link: Link, { isAllowed, hasList, conversation }: JudgeContext): LinkKind | undefined {
  const { address, kind } = link;
  const target = readTarget(address);
  if (target.isTrick || shows(link, target)) return 'TRICK';
  if (isForeign(address, target)) return 'SCHEME';
  if (target.host === '') return undefined;
  if (isAllowed(target.host)) return undefined;
  if (carriesData(address, kind, conversation)) return 'DATA';
  if (!hasList) return undefined;
  return kind === 'image' ? 'IMAGE' : 'HOST';
}

/** Whether a browser runs the address or opens it in another program. `[a](b: c)` in program text is neither. */
function isForeign(address: string, { scheme }: Target): boolean {
  if (scheme === '' || webSchemes.has(scheme)) return false;
  if (/^(?:javascript|vbscript|data|blob|file):$/.test(scheme)) return !/:\s*$/.test(address);
  return /^[^:]*:\/\//.test(address);
}

const webSchemes: ReadonlySet<string> = new Set([
  'http:',
  'https:',
  'ws:',
  'wss:',
  'ftp:',
  'mailto:',
  'tel:',
  'sms:',
  'cid:',
]);

/** Whether the label names another host than the target, or has no visible text. */
function shows({ kind, label }: Link, { host }: Target): boolean {
  if (label === undefined || kind === 'image' || host === '') return false;
  const shown = hostInLabel
    .exec(label)
    ?.slice(1)
    .find((found) => found !== undefined);
  return shown !== undefined && !isSameSite(shown.toLowerCase(), host);
}

/** Any host with a scheme or `www.`, else one whose top-level name is not a file extension. */
const hostInLabel =
  /^\s*(?:(?:https?:\/\/|www\.)([a-z0-9.-]{3,200})|((?:[a-z0-9-]{1,63}\.){1,5}(?:com|org|net|edu|gov|mil|int|info|biz|bank|app|io|ai|co|eu|de|fr|uk|nl|es|it|ch|at|jp|cn|ru|br|in|au|ca|us)))(?:[/:?#]\S*)?\s*$/i;

function isSameSite(one: string, other: string): boolean {
  const bare = [one, other].map((host) => host.replace(/^www\./, ''));
  const [first = '', second = ''] = bare;
  return first === second || first.endsWith(`.${second}`) || second.endsWith(`.${first}`);
}

function compileHosts(allowed: readonly string[]): (host: string) => boolean {
  const rules = allowed.map((rule) => rule.toLowerCase());
  const exact = new Set(rules.filter((rule) => !rule.startsWith('*.')));
  const below = rules.filter((rule) => rule.startsWith('*.')).map((rule) => rule.slice(1));
  return (host) => exact.has(host) || below.some((suffix) => host.endsWith(suffix));
}

function strip(kind: string, written: string): string {
  const label = /^\[([^\][\n]{1,200})\]\(/.exec(written)?.[1] ?? '';
  const isPlain = label !== '' && !/[:/]|\.[a-z]{2}/i.test(label);
  const what = written.startsWith('!') || kind === 'IMAGE' ? 'image' : 'link';
  return isPlain ? `${label} [${what} removed]` : `[${what} removed]`;
}

interface Target {
  readonly scheme: string;
  /** In lower case and ASCII; empty without a host. */
  readonly host: string;
  /** Whether its spelling makes a reader or a filter mistake it for another address. */
  readonly isTrick: boolean;
}

/** Follows browsers: drops tabs and line breaks, reads `\` as `/` and numbers as hosts. */
function readTarget(address: string): Target {
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
  // A browser refuses an address with an invalid host.
  return { scheme, host: host ?? '', isTrick };
}

/** Undefined for a host that browsers refuse. */
function toAscii(scheme: string, host: string): string | undefined {
  try {
    const { hostname } = new URL(`${scheme === '' ? 'https:' : scheme}//${host}/`);
    return hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}

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

/** Detects names whose letters all look Latin, such as `аррӏе` in Cyrillic. */
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

/**
 * Whether parts of an address that its host can read contain text, an encoded value, text of the conversation or a
 * placeholder.
 */
function carriesData(address: string, kind: Link['kind'], conversation: () => readonly string[]): boolean {
  const parts = partsOf(address);
  if (parts === undefined) return address.length > LONGEST_PLAIN;
  const { labels, segments, values } = parts;
  if (values.some(isPayload) || labels.some(isEncoded) || segments.some(isEncoded)) return true;
  if (values.join('').length > LONGEST_PLAIN) return true;
  const carried = [...values, ...segments, ...labels];
  if (!carried.some((value) => value.length >= SHORTEST_SHARED)) return false;
  const spellings = carried.flatMap((value) => [...spellingsOf(value)]).map(toPlain);
  const telling = spellings.filter((value) => isTelling(value, kind));
  return sharesText(telling, address, conversation);
}

const LONGEST_PLAIN = 400;
const SHORTEST_SHARED = 6;

interface Parts {
  readonly labels: readonly string[];
  readonly segments: readonly string[];
  readonly values: readonly string[];
}

function partsOf(address: string): Parts | undefined {
  const match = /^(?:[a-z][a-z0-9+.-]*:)?\/{0,2}([^/?#\\]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(address);
  if (match === null) return undefined;
  const [, host = '', path = '', query = '', fragment = ''] = match;
  const pairs = [query, fragment].flatMap((text) => text.split(/[&;]/));
  return {
    labels: host.replace(/^.*@/, '').split('.').slice(0, -2),
    segments: path
      .split('/')
      .map(decode)
      .filter((text) => text !== ''),
    values: pairs.map((pair) => decode(pair.replace(/^[\w.[\]-]{0,40}=/, ''))).filter((text) => text !== ''),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function isPayload(value: string): boolean {
  if (value.length < 4) return false;
  if (/\{\{[^{}]{2,80}\}\}|^<[a-z_ ]{3,60}>$|^\[[a-z_ ]{3,60}\]$/i.test(value)) return true;
  if (/[^\s@]{1,64}@[^\s@]{1,64}\.[a-z]{2}/i.test(value)) return true;
  const words = value.match(/\p{L}{2,}/gu) ?? [];
  if (/[\s,;|]/.test(value.trim()) && words.length >= MOST_SEARCHED) return true;
  return isEncoded(value);
}

/** Web searches have fewer words. */
const MOST_SEARCHED = 8;

/**
 * Detects base64 or hexadecimal runs that spell text. Other runs are identifiers or checksums, unless they are too
 * long.
 */
function isEncoded(value: string): boolean {
  const run = trimEndOf(value, '=');
  if (run.length < SHORTEST_ENCODED || !/^[A-Za-z0-9+/_-]+$/.test(run)) return false;
  if (/^(?:[0-9a-f]{2})+$/i.test(run) && isText(Buffer.from(run, 'hex'))) return true;
  if (isText(Buffer.from(run, 'base64'))) return true;
  return run.length >= LONGEST_IDENTIFIER && entropyOf(run) >= 4 && !/[a-z]{5}[-_][a-z]{3}/.test(run);
}

const SHORTEST_ENCODED = 16;
const LONGEST_IDENTIFIER = 128;

function isText(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.length >= 8 && !/[^\P{Cc}\t\n\r]/u.test(text) && /[\p{L}\p{N}]{3}/u.test(text);
  } catch {
    return false;
  }
}

/** Whether the carried text also occurs in the conversation outside that address. */
function sharesText(
  spellings: readonly string[],
  address: string,
  conversation: () => readonly string[],
): boolean {
  if (spellings.length === 0) return false;
  // If someone else wrote the whole address, the answer has added nothing.
  const texts = conversation()
    .filter((text) => !text.includes(address))
    .map(toPlain);
  return spellings.some((value) => texts.some((text) => text.includes(value)));
}

/**
 * Requires digits or several words. A page's name may repeat words of the question; an image, which loads unrequested,
 * has less reason to.
 */
function isTelling(plain: string, kind: Link['kind']): boolean {
  if (plain.length < SHORTEST_SHARED || plain.length > LONGEST_SHARED) return false;
  if ((plain.match(/\d/g)?.length ?? 0) >= SHORTEST_SHARED) return true;
  return plain.length >= (kind === 'image' ? 16 : 40);
}

const LONGEST_SHARED = 4000;

function* spellingsOf(value: string): Generator<string> {
  yield value;
  yield [...value].toReversed().join('');
  if (/^[A-Za-z0-9+/_-]{8,}=*$/.test(value)) yield Buffer.from(value, 'base64').toString('utf8');
  if (/^(?:[0-9a-f]{2}){4,}$/i.test(value)) yield Buffer.from(value, 'hex').toString('utf8');
}

function toPlain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
