import { type Finding, type GuardRules, type Origin, origins } from '../guard.ts';
import { mergeFindings } from '../merge-findings.ts';
import { carriesData } from './data.ts';
import { readTarget, type Target } from './host.ts';
import { findLinks, type Link } from './scan.ts';

/** What signalbox-links objects to, and how it is called in a sentence. */
const linkKinds = {
  TRICK: ['address that hides where it leads', 'addresses that hide where they lead'],
  SCHEME: ['address that is no page of the web', 'addresses that are no pages of the web'],
  DATA: ['address that carries data', 'addresses that carry data'],
  IMAGE: ['image of a host that is not on the list', 'images of hosts that are not on the list'],
  HOST: ['link to a host that is not on the list', 'links to hosts that are not on the list'],
} as const;
export type LinkKind = keyof typeof linkKinds;

export const linkKindNames: readonly LinkKind[] = Object.keys(linkKinds).filter(isKind);

function isKind(kind: string): kind is LinkKind {
  return Object.hasOwn(linkKinds, kind);
}

export const linkActions = ['strip', 'block'] as const;
type LinkAction = (typeof linkActions)[number];

/** Whose addresses are looked at: a person may send what they like. */
export const scannedOrigins: readonly Origin[] = origins.filter(
  (origin) => origin !== 'user' && origin !== 'system',
);

export interface LinkSettings {
  readonly kinds: ReadonlySet<LinkKind>;
  readonly action: LinkAction;
  readonly scans: (origin: Origin) => boolean;
  /** Hosts that may be linked to, `*.example.org` for those below one; empty: every host may, without data. */
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
    // What a tool is called with is not changed: it would fetch another address than it was asked to.
    replace: ({ kind }, written, origin) =>
      action === 'block' || origin === 'args' ? undefined : strip(kind, written),
  };
}

interface JudgeContext {
  readonly isAllowed: (host: string) => boolean;
  readonly hasList: boolean;
  readonly conversation: () => readonly string[];
}

/** What is wrong with a link; undefined: nothing. */
function judge(link: Link, { isAllowed, hasList, conversation }: JudgeContext): LinkKind | undefined {
  const { address, kind } = link;
  const target = readTarget(address);
  if (target.isTrick || shows(link, target)) return 'TRICK';
  if (isForeign(address, target)) return 'SCHEME';
  // An address within the same site, or of a person.
  if (target.host === '') return undefined;
  if (isAllowed(target.host)) return undefined;
  if (carriesData(address, kind, conversation)) return 'DATA';
  if (!hasList) return undefined;
  return kind === 'image' ? 'IMAGE' : 'HOST';
}

/** Whether it is run, or opened by some other program. `[a](b: c)` of a program's text is neither. */
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

/** Whether the label names another host than the one that it leads to, or nothing that can be seen. */
function shows({ kind, label }: Link, { host }: Target): boolean {
  if (label === undefined || kind === 'image' || host === '') return false;
  const shown = hostInLabel
    .exec(label)
    ?.slice(1)
    .find((found) => found !== undefined);
  return shown !== undefined && !isSameSite(shown.toLowerCase(), host);
}

/** With a scheme or `www.` any host, else one under a name that no file ends in. */
const hostInLabel =
  /^\s*(?:(?:https?:\/\/|www\.)([a-z0-9.-]{3,200})|((?:[a-z0-9-]{1,63}\.){1,5}(?:com|org|net|edu|gov|mil|int|info|biz|bank|app|io|ai|co|eu|de|fr|uk|nl|es|it|ch|at|jp|cn|ru|br|in|au|ca|us)))(?:[/:?#]\S*)?\s*$/i;

function isSameSite(one: string, other: string): boolean {
  const bare = [one, other].map((host) => host.replace(/^www\./, ''));
  const [first = '', second = ''] = bare;
  return first === second || first.endsWith(`.${second}`) || second.endsWith(`.${first}`);
}

/** Hosts, and `*.host` for all below one. */
function compileHosts(allowed: readonly string[]): (host: string) => boolean {
  const rules = allowed.map((rule) => rule.toLowerCase());
  const exact = new Set(rules.filter((rule) => !rule.startsWith('*.')));
  const below = rules.filter((rule) => rule.startsWith('*.')).map((rule) => rule.slice(1));
  return (host) => exact.has(host) || below.some((suffix) => host.endsWith(suffix));
}

/** What is left of a link: its label, if it has one that says nothing of an address. */
function strip(kind: string, written: string): string {
  const label = /^\[([^\][\n]{1,200})\]\(/.exec(written)?.[1] ?? '';
  const isPlain = label !== '' && !/[:/]|\.[a-z]{2}/i.test(label);
  const what = written.startsWith('!') || kind === 'IMAGE' ? 'image' : 'link';
  return isPlain ? `${label} [${what} removed]` : `[${what} removed]`;
}
