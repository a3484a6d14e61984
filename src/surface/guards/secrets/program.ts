import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { openKeyFile } from '../../../files/key-file.ts';
import { answer } from '../../../guards/answer.ts';
import { origins } from '../../../guards/guard.ts';
import { readAllowList } from '../../../guards/program/allow-list.ts';
import { type Options, oneOf, readOptions } from '../../../guards/program/options.ts';
import { type Invocation, runProgram } from '../../../guards/program/program.ts';
import {
  createSecretRules,
  type SecretAction,
  type SecretKind,
  type SecretSettings,
  secretActions,
  secretKindNames,
} from '../../../guards/secrets/rules.ts';
import { help } from './help.ts';

const name = 'signalbox-secrets';

/** Answers what stdin asks, on stdout. Resolves to the exit code. */
export async function main(invocation: Invocation): Promise<0 | 1 | 2> {
  return await runProgram({ name, help, open }, invocation);
}

function open(argv: Invocation['argv'], env: Invocation['env']) {
  const rules = createSecretRules(readSettings(argv, env));
  return { answer: (payload: unknown) => answer(payload, rules) };
}

type Given = Options<'kinds' | 'action' | 'allow' | 'scan' | 'key-file'>;

/** Throws USAGE. */
function readSettings(argv: Invocation['argv'], env: Invocation['env']): SecretSettings {
  const options: Given = readOptions(
    { program: name, argv, env },
    { kinds: 'list', action: 'list', allow: 'lines', scan: 'list', 'key-file': 'text' },
  );
  const scanned = options.list('scan').map((word) => oneOf('origin', word, origins));
  return {
    kinds: readKinds(options),
    actions: readActions(options),
    scans: (origin) => scanned.length === 0 || scanned.includes(origin),
    isAllowed: readAllowList(options.list('allow')),
    key: readKey(options, env),
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
function readKey(options: Given, env: Invocation['env']): Uint8Array {
  const file = options.text('key-file') ?? '';
  if (file !== '') return openKeyFile(resolve(file));
  const text = env['SIGNALBOX_SECRETS_KEY'] ?? '';
  return text === '' ? randomBytes(32) : Buffer.from(text);
}
