import { origins } from '../guard.ts';
import { type GuardHost, oneOf, readOptions, usageError } from '../program/options.ts';
import { type LinkSettings, linkActions, linkKindNames, scannedOrigins } from './rules.ts';

/** Throws USAGE. */
export function readSettings(argv: readonly string[], host: GuardHost): LinkSettings {
  const options = readOptions(
    { program: 'signalbox-links', argv, env: host.env },
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
