import { randomBytes } from 'node:crypto';
import { answer } from '../answer.ts';
import { origins } from '../guard.ts';
import { defineGuard, type Options, oneOf, readAllowList, readScan } from '../program/options.ts';
import {
  createSecretRules,
  type SecretAction,
  type SecretKind,
  secretActions,
  secretKindNames,
} from './rules.ts';

export const guard = defineGuard({
  program: 'signalbox-secrets',
  about: `Finds and removes keys, tokens and passwords in model and tool calls. Works as a provider or tool hook, as an eval or as
a tool. Reads one JSON object from stdin and answers on stdout. If the first line is JSON-RPC, it runs as a server.`,
  columns: [18, 28],
  options: {
    kinds: ['list', 'LIST', 'which kinds to look for (default: all)'],
    action: [
      'list',
      'LIST',
      `${secretActions.join(', ')};\nfor one kind: HIGH_ENTROPY=block (default: redact)`,
    ],
    allow: [
      'lines',
      'VALUE',
      'an allowed value, or a /pattern/ that matches whole values; may be\nrepeated; one per line in the variable',
    ],
    scan: ['list', 'LIST', `which texts to check: ${origins.join(', ')} (default: all)`],
    'key-file': ['text', 'FILE', 'file with the key of hashes; created if it does not exist'],
    key: ['variable', '', 'the key itself; without one, each process creates its own'],
    help: ['flag', '', 'show this help'],
  },
  notes: () => `Kinds: ${secretKindNames.join(', ')}

In runtime.yaml:
  hooks:
    secrets: {command: signalbox-secrets, args: [--action, block], hook: provider, runtime: server}
  evals:
    no_secrets: {command: signalbox-secrets, runtime: server}

By hand:
  echo '{"args": {"text": "token ghp_16C7e42F292c6912E7710c838347Ae178B4a"}}' | signalbox-secrets
`,
  read: (options, host) => {
    const kinds = options.list('kinds').map((word) => oneOf('kind', word, secretKindNames));
    const [file = '', key] = [options.text('key-file'), options.text('key')];
    return {
      scans: readScan(options),
      kinds: new Set(kinds.length === 0 ? secretKindNames : kinds),
      actions: readActions(options),
      isAllowed: readAllowList(options.list('allow')),
      key: file !== '' ? host.openKey(file) : key === undefined ? randomBytes(32) : Buffer.from(key),
    };
  },
  open: (settings) => {
    const rules = createSecretRules(settings);
    return { answer: (payload) => answer(payload, rules) };
  },
});

/** `redact`, or `API_KEY=mask`; a bare action applies to every other kind. */
function readActions(options: Options<'action'>): Readonly<Record<SecretKind, SecretAction>> {
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
