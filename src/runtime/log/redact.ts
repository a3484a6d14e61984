import { createSecretHider, redactedMark } from '../../base/text/hide-secrets.ts';
import type { Redact } from '../../contract/scrub.ts';

export { isCredentialName } from '../../base/text/credential-name.ts';

export function createRedact(secrets: Iterable<string>): Redact {
  const hider = createSecretHider(secrets);
  return (text) => hideCredentials(hider.text(text));
}

/** Quoted values, also in JSON inside JSON. Each alternative takes linear time. */
const quoted = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\{1,3}"[^"]*"`;
const between = String.raw`(\\{0,3}["']?\s{0,8}[:=]\s{0,8})`;

const credentialText = new RegExp(
  `((?:api|access|private|secret)[-_]?key|token|secret|passw(?:or)?d|passphrase)${between}(?:${quoted}|[^\\s,;"'}]+)`,
  'gi',
);

/** `Authorization: Digest …, …` and `Cookie: …; …`: without quotes the value extends to the end of the line. */
const headerText = new RegExp(`(authorization|cookie)${between}(?:${quoted}|[^\\r\\n]+)`, 'gi');

const bearerText = /\b((?:bearer|basic)\s{1,8})[\w.~+/=-]{16,}/gi;

const addressText = /(:\/\/[^\s/?#:@"'<>]{0,200}:)[^\s/?#"'<>@]{1,500}(?=@)/g;

/** Matches every text in which one of these expressions finds something. */
const mayHoldCredentials = /[:=]|bearer|basic/i;

export function hideCredentials(text: string): string {
  if (!mayHoldCredentials.test(text)) return text;
  return text
    .replace(headerText, `$1$2${redactedMark}`)
    .replace(credentialText, `$1$2${redactedMark}`)
    .replace(bearerText, `$1${redactedMark}`)
    .replace(addressText, `$1${redactedMark}`);
}
