import { createSecretHider, redactedMark } from '../../base/text/hide-secrets.ts';
import type { Redact } from '../../contract/scrub.ts';

export { isCredentialName } from '../../base/text/credential-name.ts';

/** Hides these values wherever they stand, and what follows the names of credentials. */
export function createRedact(secrets: Iterable<string>): Redact {
  const hider = createSecretHider(secrets);
  return (text) => hideCredentials(hider.text(text));
}

/** What a quoted value looks like, in JSON inside JSON too. Each alternative is linear in what it reads. */
const quoted = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\{1,3}"[^"]*"`;
const between = String.raw`(\\{0,3}["']?\s{0,8}[:=]\s{0,8})`;

/** `api_key=…`, `"password": "…"`, as they stand in a line of text. */
const credentialText = new RegExp(
  `((?:api|access|private|secret)[-_]?key|token|secret|passw(?:or)?d|passphrase)${between}(?:${quoted}|[^\\s,;"'}]+)`,
  'gi',
);

/** `Authorization: Digest …, …` and `Cookie: …; …`: without quotes they end where the line does. */
const headerText = new RegExp(`(authorization|cookie)${between}(?:${quoted}|[^\\r\\n]+)`, 'gi');

/** A scheme and what follows it, without the name of its header. */
const bearerText = /\b((?:bearer|basic)\s{1,8})[\w.~+/=-]{16,}/gi;

/** The password in `scheme://user:password@host`. */
const addressText = /(:\/\/[^\s/?#:@"'<>]{0,200}:)[^\s/?#"'<>@]{1,500}(?=@)/g;

/** What stands in every text in which one of these expressions finds something. */
const mayHoldCredentials = /[:=]|bearer|basic/i;

/** Hides what follows the names of credentials, and the password in the address of a server. */
export function hideCredentials(text: string): string {
  if (!mayHoldCredentials.test(text)) return text;
  return text
    .replace(headerText, `$1$2${redactedMark}`)
    .replace(credentialText, `$1$2${redactedMark}`)
    .replace(bearerText, `$1${redactedMark}`)
    .replace(addressText, `$1${redactedMark}`);
}
