import { trimEndOf } from '../../../base/text/find.ts';
import { hash, mask, redact } from '../../pii/action.ts';
import { Anonymizer } from '../../pii/anonymizer.ts';
import { createDetector } from '../../pii/detector.ts';
import { type Entity, entityNames } from '../../pii/entity.ts';
import { entropyOf } from '../../pii/finders/typed.ts';
import { fold } from '../../pii/fold.ts';
import { rememberFindings } from '../../pii/remembering-detector.ts';
import type { PiiSettings } from '../../pii/settings.ts';
import type { Finding, GuardRules, Origin } from '../guard.ts';
import { mergeFindings } from '../guard.ts';

const secretKinds = {
  API_KEY: ['API key', 'API keys'],
  PRIVATE_KEY: ['private key', 'private keys'],
  SECRET: ['secret', 'secrets'],
  URL_CREDENTIALS: ['login in a URL', 'logins in URLs'],
  HIGH_ENTROPY: ['text that looks like a key', 'texts that look like keys'],
} as const;
export type SecretKind = keyof typeof secretKinds;

export const secretActions = ['block', 'redact', 'mask', 'hash'] as const;
export type SecretAction = (typeof secretActions)[number];

export interface SecretSettings {
  readonly kinds: ReadonlySet<SecretKind>;
  readonly actions: Readonly<Record<SecretKind, SecretAction>>;
  readonly scans: (origin: Origin) => boolean;
  readonly isAllowed: (text: string) => boolean;
  readonly key: Uint8Array;
}

const shared = ['API_KEY', 'PRIVATE_KEY', 'SECRET', 'URL_CREDENTIALS'] as const satisfies readonly Entity[];

export function createSecretRules(settings: SecretSettings): GuardRules {
  const { kinds, actions, scans, isAllowed, key } = settings;
  const find = createFinder(settings);
  return {
    name: 'secrets',
    kinds: secretKinds,
    scans,
    find: (text, { prefix }) => {
      const findings = find(text, prefix).filter(
        ({ kind, start, end }) => isKind(kind) && kinds.has(kind) && !isAllowed(text.slice(start, end)),
      );
      return { findings, confidence: confidenceOf(findings) };
    },
    replace: ({ kind }, written) => {
      const action = isKind(kind) ? actions[kind] : 'block';
      // Kinds without a personal-data entity count as secrets.
      const entity = shared.find((name) => name === kind) ?? 'SECRET';
      if (action === 'block') return undefined;
      if (action === 'mask') return mask(entity, written);
      if (action === 'redact') return kind === entity ? redact(entity) : `[${kind}]`;
      return hash(entity, written, key).replace(entity, kind);
    },
  };
}

function createFinder({ kinds, isAllowed, key }: SecretSettings) {
  const entities = shared.filter((kind) => kinds.has(kind));
  const settings: PiiSettings = {
    entities,
    actions: allRedacted,
    regions: [],
    isAllowed,
    restore: new Set(),
    key,
  };
  const detect = rememberFindings(createDetector(settings));
  const anonymizer = new Anonymizer({ settings, detect, pseudonyms: undefined, resolver: undefined });
  return (text: string, prefix: string): Finding[] => {
    const known = anonymizer
      .findings(text, 'original', prefix)
      .map(({ entity: kind, start, end }) => ({ kind, start, end }));
    const folded = fold(text);
    const more = [...findUnnamed(folded.text)].map((finding) => ({
      kind: finding.kind,
      start: folded.toOriginal(finding.start),
      end: folded.toOriginal(finding.end),
    }));
    return mergeFindings([...known, ...more], secretKindNames);
  };
}

const rows = entityNames.map((entity) => [entity, 'redact']);
const allRedacted: PiiSettings['actions'] = Object.fromEntries(rows);

function* findUnnamed(text: string): Generator<Finding> {
  for (const found of findRandom(text)) yield { kind: 'HIGH_ENTROPY', ...found };
}

export const secretKindNames: readonly SecretKind[] = Object.keys(secretKinds).filter(isKind);

function isKind(kind: string): kind is SecretKind {
  return Object.hasOwn(secretKinds, kind);
}

function confidenceOf(findings: readonly Finding[]): number {
  if (findings.length === 0) return 0;
  return findings.every(({ kind }) => kind === 'HIGH_ENTROPY') ? 0.7 : 1;
}

const run = /[A-Za-z0-9+/_=-]{20,}/g;
const LONGEST = 256;

/** Finds unlabelled keys: letters of both cases and digits without an order. */
function* findRandom(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (const { 0: written, index } of text.matchAll(run)) {
    const end = index + written.length;
    if (written.length > LONGEST || isPartOfAddress(text, index)) continue;
    // A path or a list: its pieces may be keys, the whole is not.
    let at = index;
    for (const piece of written.split(/(?<==)(?!=)|[/=](?=[A-Za-z0-9_-]{20})/)) {
      const start = text.indexOf(piece, at);
      if (isRandom(piece)) yield { start, end: Math.min(end, start + piece.length) };
      at = start + piece.length;
    }
  }
}

/** Program names change case only at word starts; random text changes its character class throughout. */
function isRandom(written: string): boolean {
  const value = trimEndOf(written, '=');
  if (value.length < 24 || value.length > 128) return false;
  if (!/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false;
  const digits = value.match(/\d/g)?.length ?? 0;
  if (digits / value.length > 0.5) return false;
  // Program names consist of words, keys do not.
  const inWords = (value.match(/[a-z]{3,}/g) ?? []).join('').length;
  if (digits < 3 || inWords > value.length * 0.4) return false;
  // Separators split words, and a checksum after its algorithm's name is public.
  if ((value.match(/[-_/+]/g)?.length ?? 0) > value.length / 10) return false;
  if (/^sha\d|^md5/i.test(value)) return false;
  return changesOfKind(value) / value.length >= 0.4 && entropyOf(value) >= 3.9;
}

function changesOfKind(value: string): number {
  const kinds = [...value].map((character) =>
    /[a-z]/.test(character) ? 0 : /[A-Z]/.test(character) ? 1 : /\d/.test(character) ? 2 : 3,
  );
  return kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
}

function isPartOfAddress(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 80), at);
  return /;base64,$|sha\d{3}-$|:\/\/[^\s"'<>]*$/i.test(before);
}
