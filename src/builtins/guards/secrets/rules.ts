import { hash, mask, redact } from '../../pii/action.ts';
import { Anonymizer } from '../../pii/anonymizer.ts';
import { createDetector } from '../../pii/detector.ts';
import { type Entity, entityNames } from '../../pii/entity.ts';
import { fold } from '../../pii/fold.ts';
import { rememberFindings } from '../../pii/remembering-detector.ts';
import type { PiiSettings } from '../../pii/settings.ts';
import type { Finding, GuardRules, Origin } from '../guard.ts';
import { mergeFindings } from '../merge-findings.ts';
import { findRandom } from './random.ts';

/** What signalbox-secrets finds, and how it is called in a sentence. */
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
  /** Of the hashes. */
  readonly key: Uint8Array;
}

/** The kinds that are found as personal data are. */
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
      // A kind that personal data does not have is treated as a secret.
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
/** Of the findings only the places count here. */
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
