import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { entropyOf } from './entropy.ts';

/** Values assigned to names of secrets: any password, and keys or tokens that look random. */
export function* findSecrets({ text }: ScannedText): Generator<Finding> {
  for (const match of text.matchAll(assignment)) {
    const [whole, name = '', assigned = ''] = match;
    if (isInsideWord(text, match.index)) continue;
    const at = match.index + whole.length;
    const isPassword = isPasswordName(name);
    const value = valueAt(text, at, isPassword);
    if (value === undefined || value.text.length < MIN_LENGTH || isPlaceholder(value.text)) continue;
    if (isPassword ? !isPasswordValue(value.text, `${name} ${assigned}`) : !isRandom(value.text)) continue;
    const { start } = value;
    yield { entity: 'SECRET', start, end: start + value.text.length, isConfirmed: true };
  }
}

/** Whether a text, such as the key of a JSON value, ends with a label for passwords. */
export function isPasswordLabel(words: string): boolean {
  return /(?:^|[^\p{L}])(?:password|passwd|passphrase|passcode|pwd|kennwort|passwort|contraseña|mot de passe)\W*$/iu.test(
    words.slice(-LONGEST_LABEL),
  );
}

const LONGEST_LABEL = 200;

/** Whether the value of such a key can be one: in several words the first must be as long as a password is. */
export function isWholePassword(value: string): boolean {
  const [first = ''] = value.split(/\s/);
  return first.length >= MIN_LENGTH && value.length <= MAX_LENGTH && !isPlaceholder(value);
}

const MIN_LENGTH = 6;
const MAX_LENGTH = 512;

const assignment =
  /(password|passwd|passphrase|passcode|pwd|pass|kennwort|passwort|contraseña|mot de passe|secret|token|api[_ -]?key|access[_ -]?key|secret[_ -]?key|auth[_ -]?key|client[_ -]?secret|credential|signature|accountkey|sharedaccesskey)s?\\{0,3}["']?\s{0,3}(:=|=>|[:=]|\bis\b)\s{0,3}/giu;

/** The value that begins there: in quotes all that they hold, otherwise as far as it goes. */
function valueAt(text: string, at: number, isPassword: boolean): { start: number; text: string } | undefined {
  const rest = text.slice(at, at + MAX_LENGTH + 8);
  const [opener] = /^\\{0,3}["'`]/.exec(rest) ?? [];
  if (opener === undefined) return unquotedValue(rest, at, isPassword);
  const inner = rest.slice(opener.length);
  const quoted = opener.length === 1 ? quotedBy(inner, opener) : untilText(inner, opener);
  if (quoted === undefined) return unquotedValue(inner, at + opener.length, isPassword);
  return { start: at + opener.length, text: quoted };
}

/** Up to the quote that is not escaped; undefined where there is none in the line. */
function quotedBy(text: string, quote: string): string | undefined {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return text.slice(0, at);
    else if (text[at] === '\n') return undefined;
  }
  return undefined;
}

function untilText(text: string, closer: string): string | undefined {
  const end = text.indexOf(closer);
  return end === -1 || text.slice(0, end).includes('\n') ? undefined : text.slice(0, end);
}

/**
 * A password may hold any sign but white space; what closes a sentence or a list behind it, and what is assigned next, is
 * none of it. Other secrets hold no quotes, commas or brackets.
 */
function unquotedValue(rest: string, start: number, isPassword: boolean) {
  if (!isPassword) {
    const text = /^[^\s"'`,;<>(){}[\]\\]{6,512}/.exec(rest)?.[0].replace(/[.,]+$/, '') ?? '';
    return rest[text.length] === '(' ? undefined : { start, text };
  }
  const run = /^\S{6,512}/.exec(rest)?.[0] ?? '';
  // A name in a program: `password: z.string()`; what stands for a value: `<hidden>`, `{{password}}`.
  if (/^[\w$]+(?:\.[\w$]+)*\((?:.*\))?[;,)}]*$/.test(run)) return undefined;
  if (/^(?:<.*>|\{.*\}|\[.*\]|\(.*\))[.,;:!?]*$/.test(run)) return undefined;
  const text = run.replace(nextAssignment, '').replace(/(?:[.,;:?)}\]>"'`]|\\+["'])+$/, '');
  return { start, text };
}

/** `&user=`, `;Server=`, `, "user":`, and a tag. */
const nextAssignment =
  /(?:\\*["'])?(?:[;,&]\s?\\*["']?[\p{L}_][\p{L}\p{N}_.-]{0,40}\\*["']?[=:]|<\/?[a-z]).*$/iu;

/** `compass` ends in a telling word too; `dbPassword` and `db_password` begin one. */
function isInsideWord(text: string, at: number): boolean {
  const [before = '', first = ''] = text.slice(Math.max(0, at - 1), at + 1).padStart(2);
  return /\p{L}/u.test(before) && !(/\p{Ll}/u.test(before) && /\p{Lu}/u.test(first));
}

function isPasswordName(name: string): boolean {
  return /^(?:pass|pwd|kennwort|contraseña|mot de passe)/i.test(name);
}

/** A sentence about passwords ("the password is required") must not pass for one. */
function isPasswordValue(value: string, words: string): boolean {
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
