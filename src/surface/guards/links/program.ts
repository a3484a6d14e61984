import { answer } from '../../../guards/answer.ts';
import { origins } from '../../../guards/guard.ts';
import {
  createLinkRules,
  type LinkSettings,
  linkActions,
  linkKindNames,
  scannedOrigins,
} from '../../../guards/links/rules.ts';
import { oneOf, readOptions, usageError } from '../../../guards/program/options.ts';
import { type Invocation, runProgram } from '../../../guards/program/program.ts';
import { help } from './help.ts';

const name = 'signalbox-links';

/** Answers what stdin asks, on stdout. Resolves to the exit code. */
export async function main(invocation: Invocation): Promise<0 | 1 | 2> {
  return await runProgram({ name, help, open }, invocation);
}

function open(argv: Invocation['argv'], env: Invocation['env']) {
  const rules = createLinkRules(readSettings(argv, env));
  return { answer: (payload: unknown) => answer(payload, rules) };
}

/** Throws USAGE. */
function readSettings(argv: Invocation['argv'], env: Invocation['env']): LinkSettings {
  const options = readOptions(
    { program: name, argv, env },
    { kinds: 'list', action: 'text', 'allow-host': 'list', scan: 'list' },
  );
  const kinds = options.list('kinds').map((word) => oneOf('kind', word, linkKindNames));
  const scanned = options.list('scan').map((word) => oneOf('origin', word, origins));
  return {
    kinds: new Set(kinds.length === 0 ? linkKindNames : kinds),
    action: oneOf('action', options.text('action') ?? 'strip', linkActions),
    scans: (origin) => (scanned.length === 0 ? scannedOrigins : scanned).includes(origin),
    allowed: options.list('allow-host').map(requireHost),
  };
}

/** A host, or `*.` and a host. Throws USAGE. */
function requireHost(text: string): string {
  const host = text.replace(/^\*\./, '');
  if (/^[\p{L}\p{N}_.:[\]-]+$/u.test(host) && URL.canParse(`https://${host}/`)) {
    return text.replace(host, new URL(`https://${host}/`).hostname);
  }
  throw usageError(
    `"${text}" is no host`,
    'A host is a name such as example.org, or *.example.org for all below it.',
  );
}
