import { randomBytes } from 'node:crypto';
import { origins } from '../guard.ts';
import { readAllowList } from '../program/allow-list.ts';
import { type GuardHost, type Options, oneOf, readOptions } from '../program/options.ts';
import {
  type SecretAction,
  type SecretKind,
  type SecretSettings,
  secretActions,
  secretKindNames,
} from './rules.ts';

type Given = Options<'kinds' | 'action' | 'allow' | 'scan' | 'key-file'>;

/** Throws USAGE. */
export function readSettings(argv: readonly string[], host: GuardHost): SecretSettings {
  const options: Given = readOptions(
    { program: 'signalbox-secrets', argv, env: host.env },
    { kinds: 'list', action: 'list', allow: 'lines', scan: 'list', 'key-file': 'text' },
  );
  const scanned = options.list('scan').map((word) => oneOf('origin', word, origins));
  return {
    kinds: readKinds(options),
    actions: readActions(options),
    scans: (origin) => scanned.length === 0 || scanned.includes(origin),
    isAllowed: readAllowList(options.list('allow')),
    key: readKey(options, host),
  };
}

function readKinds(options: Given): ReadonlySet<SecretKind> {
  const words = options.list('kinds').map((word) => oneOf('kind', word, secretKindNames));
  return new Set(words.length === 0 ? secretKindNames : words);
}

/** `redact`, or `API_KEY=mask`; a bare action holds for every kind that is not named. */
function readActions(options: Given): Readonly<Record<SecretKind, SecretAction>> {
  const overrides = new Map<SecretKind, SecretAction>();
  let fallback: SecretAction = 'redact';
  for (const word of options.list('action')) {
    const [left = '', right] = word.split('=', 2);
    if (right === undefined) fallback = oneOf('action', left, secretActions);
    else overrides.set(oneOf('kind', left, secretKindNames), oneOf('action', right, secretActions));
  }
  const rows = secretKindNames.map((kind) => [kind, overrides.get(kind) ?? fallback]);
  return Object.fromEntries(rows);
}

/** The key of hashes: of the environment, of a file, or of this process alone. */
function readKey(options: Given, { env, openKey }: GuardHost): Uint8Array {
  const file = options.text('key-file') ?? '';
  if (file !== '') return openKey(file);
  const text = env['SIGNALBOX_SECRETS_KEY'] ?? '';
  return text === '' ? randomBytes(32) : Buffer.from(text);
}
