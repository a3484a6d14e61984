/** Replaces what must not be read: whole text in, whole text out. */
export type Redact = (text: string) => string;

/** Shorter values are left: hiding every "on" or "1" would hide the log itself. */
const SHORTEST_SECRET = 4;
const SHORTEST_LINE = 8;
const mark = '[redacted]';

/** Hides these values wherever they stand, and what follows the names of credentials. */
export function createRedact(secrets: Iterable<string>): Redact {
  const hide = createHide(secrets);
  return (text) => hideCredentials(hide(text));
}

/** Hides these values wherever they stand. */
export function createHide(secrets: Iterable<string>): Redact {
  const values = [...new Set(secrets)].filter((secret) => secret.length >= SHORTEST_SECRET);
  // Longest first, so that a secret inside another does not leave the other's rest behind.
  const forms = [...new Set(values.flatMap(writtenForms))].sort((one, other) => other.length - one.length);
  const known = forms.length === 0 ? undefined : new RegExp(forms.map(escapePattern).join('|'), 'g');
  return (text) => (known === undefined ? text : text.replace(known, mark));
}

/** Whether a member of that name holds a credential, such as `Authorization`, `api_key` or `accessToken`. */
export function isCredentialName(name: string): boolean {
  return credentialName.test(name);
}

const credentialName =
  /^(?:proxy[-_]?)?authorization$|^(?:set[-_]?)?cookie$|(?:api|access|private|secret)[-_]?key$|token$|secret$|passw(?:or)?d$|passphrase$|credentials?$/i;

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
const bearerText = /\b(bearer\s{1,8})[\w.~+/=-]{16,}/gi;

function hideCredentials(text: string): string {
  return text
    .replace(headerText, `$1$2${mark}`)
    .replace(credentialText, `$1$2${mark}`)
    .replace(bearerText, `$1${mark}`);
}

/** A value as it may stand in a line: as it is, escaped in JSON or in a URL, and line by line. */
function writtenForms(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE);
  return [secret, ...lines].flatMap((text) => {
    const escaped = JSON.stringify(text).slice(1, -1);
    return [text, escaped, toAscii(escaped), encodeURIComponent(text.toWellFormed())];
  });
}

/** JSON text as Python writes it. */
function toAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
