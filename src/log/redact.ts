/** Replaces what must not be read: whole text in, whole text out. */
export type Redact = (text: string) => string;

/** Shorter values are left: hiding every "on" or "1" would hide the log itself. */
const SHORTEST_SECRET = 4;
const mark = '[redacted]';

/** Hides these values wherever they stand, and what follows the names of credentials. */
export function createRedact(secrets: Iterable<string>): Redact {
  const values = [...new Set(secrets)].filter((secret) => secret.length >= SHORTEST_SECRET);
  // Longest first, so that a secret inside another does not leave the other's rest behind.
  const forms = values.flatMap(writtenForms).sort((one, other) => other.length - one.length);
  const known = forms.length === 0 ? undefined : new RegExp(forms.map(escapePattern).join('|'), 'g');
  return (text) => hideCredentials(known === undefined ? text : text.replace(known, mark));
}

/** Whether a member of that name holds a credential, such as `Authorization`, `api_key` or `accessToken`. */
export function isCredentialName(name: string): boolean {
  return credentialName.test(name);
}

const credentialName =
  /^(?:proxy[-_]?)?authorization$|^(?:set[-_]?)?cookie$|(?:api|access|private|secret)[-_]?key$|token$|secret$|passw(?:or)?d$|credentials?$/i;

/** `Authorization: Bearer …`, `api_key=…`, `"password": "…"`, as they stand in a line of text. */
const credentialText =
  /(authorization|cookie|(?:api|access|private|secret)[-_]?key|token|secret|passw(?:or)?d)(["']?\s{0,8}[:=]\s{0,8})("[^"]*"|'[^']*'|(?:(?:bearer|basic|token)\s{1,8})?[^\s,;"'}]+)/gi;

function hideCredentials(text: string): string {
  return text.replace(credentialText, (_whole, name: string, between: string) => `${name}${between}${mark}`);
}

/** A value stands in JSON text with its escapes. */
function writtenForms(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return escaped === secret ? [secret] : [secret, escaped];
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
