import type { Finding } from '../finding.ts';
import type { Scan } from '../scan.ts';
import { entropyOf } from './entropy.ts';

/** What is assigned to a name that promises a secret: a password of any kind, a key or token that looks random. */
export function* findSecrets({ text }: Scan): Generator<Finding> {
  for (const match of text.matchAll(assignment)) {
    const [whole, name = '', assigned = '', quote = '', bare = ''] = match;
    const value = bare.replace(/[.,]+$/, '');
    if (isPlaceholder(value) || isInsideWord(text, match.index)) continue;
    // A name in a program: `password: z.string()`.
    if (quote === '' && text[match.index + whole.length] === '(') continue;
    const isSecret = isPasswordName(name) ? isPassword(value, `${name} ${assigned}`) : isRandom(value);
    if (!isSecret) continue;
    const start = match.index + whole.length - bare.length;
    const end = quote === '' ? start + value.length : start + bare.length;
    yield { entity: 'SECRET', start, end, isConfirmed: true };
  }
}

const assignment =
  /(password|passwd|passphrase|passcode|pwd|pass|kennwort|passwort|contraseña|mot de passe|secret|token|api[_ -]?key|access[_ -]?key|secret[_ -]?key|auth[_ -]?key|client[_ -]?secret|credential|signature|accountkey|sharedaccesskey)s?\\?["']?\s{0,3}(:=|=>|[:=]|\bis\b)\s{0,3}\\?(["'`]?)([^\s"'`,;<>(){}[\]\\]{6,512})/giu;

/** `compass` ends in a telling word too; `dbPassword` and `db_password` begin one. */
function isInsideWord(text: string, at: number): boolean {
  const [before = '', first = ''] = text.slice(Math.max(0, at - 1), at + 1).padStart(2);
  return /\p{L}/u.test(before) && !(/\p{Ll}/u.test(before) && /\p{Lu}/u.test(first));
}

function isPasswordName(name: string): boolean {
  return /^(?:pass|pwd|kennwort|contraseña|mot de passe)/i.test(name);
}

/** A sentence about passwords ("the password is required") must not pass for one. */
function isPassword(value: string, words: string): boolean {
  if (!/^pass |is$/i.test(words)) return true;
  return /\d/.test(value) || /[^\p{L}\p{N}-]/u.test(value) || /\p{Ll}\p{Lu}/u.test(value);
}

function isRandom(value: string): boolean {
  if (value.length < 12) return false;
  // Without a digit it is more often a name in a program.
  if (!/\d/.test(value) && value.length < 32) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(value)).length;
  return kinds >= 2 && entropyOf(value) >= 3;
}

/** Variables, examples and states that stand where a secret would. */
function isPlaceholder(value: string): boolean {
  if (/^\$\{?[A-Z_][A-Z0-9_]*\}?$|^%[A-Z_]+%$/.test(value)) return true;
  return /^(?:(?:process\.env|os\.environ|env|config)\..*|(?:your|my)[_-].*|null|none|undefined|true|false|required|optional|hidden|redacted|changeme|string|\*+|x+|\.+)$/i.test(
    value,
  );
}
