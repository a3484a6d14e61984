import { unspacedScripts } from '../../text/words.ts';
import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { entropyOf } from './entropy.ts';

/** Values assigned to names of secrets: any password, PINs, and keys or tokens that look random. */
export function* findSecrets({ text, digits: scanned }: ScannedText): Generator<Finding> {
  for (const match of text.matchAll(assignment)) {
    const [whole, name = '', purpose = '', assigned = ''] = match;
    if (isInsideWord(text, match.index, name)) continue;
    const at = match.index + whole.length;
    const isPassword = passwordName.test(name);
    const value = valueAt(text, at, isPassword);
    if (value === undefined || value.text.length < MIN_LENGTH || isPlaceholder(value.text)) continue;
    if (isPassword ? !isPasswordValue(value.text, { name, purpose, assigned }) : !isRandom(value.text))
      continue;
    const { start } = value;
    yield { entity: 'SECRET', start, end: start + value.text.length, isConfirmed: true };
  }
  if (scanned.starts.length === 0) return;
  for (const { 0: whole, 1: digits = '', index } of text.matchAll(pin)) {
    const end = index + whole.length;
    // India's postal codes are called PIN codes.
    if (digits.length === 6 && /code|कोड|पिन ?\d/i.test(whole)) continue;
    yield { entity: 'SECRET', start: end - digits.length, end, isConfirmed: true };
  }
}

/** What passwords are called, for certain; a sentence does not put a colon behind these but in front of one. */
const passwordNames =
  'password|passwd|passphrase|passcode|pwd|kennwort|passwort|passphrase|contraseña|mot de passe|mdp|phrase secrète|senha|wachtwoord|' +
  'lösenord|hasło|пароль|密码|密碼|口令|パスワード|パスフレーズ|비밀번호|암호|पासवर्ड|कूटशब्द|पासवर्ड';
/** What is also called so that is none. */
const looseNames = "pass|pw|clave|code (?:secret|wifi|d['’]accès)|código (?:secreto|de acceso)|暗号";
const keyNames =
  'secret|token|api[_ -]?key|access[_ -]?key|secret[_ -]?key|auth[_ -]?key|client[_ -]?secret|credential|signature|accountkey|sharedaccesskey';

/** Whether a text, such as the key of a JSON value, ends with a label for passwords. */
export function isPasswordLabel(words: string): boolean {
  return passwordLabel.test(words.slice(-LONGEST_LABEL));
}

const LONGEST_LABEL = 200;
const passwordLabel = new RegExp(
  `(?:^|[^A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff])(?:${passwordNames})[^\\p{L}\\p{N}]*$`,
  'iu',
);

/** Whether the value of such a key can be one: in several words the first must be as long as a password is. */
export function isWholePassword(value: string): boolean {
  const [first = ''] = value.split(/\s/);
  return first.length >= MIN_LENGTH && value.length <= MAX_LENGTH && !isPlaceholder(value);
}

const MIN_LENGTH = 6;
const MAX_LENGTH = 512;

const details =
  '(?:wifi|wlan|del? wifi|du wifi|temporal|temporaire|provisoire|provisional|nueva|nuevo|new|neues|initial|inicial|actual|maestra|maître|admin|root)';
/** "for the router", "del wifi": what a password is for. */
const purposes =
  "(?: (?:for|of|to|on|from|vom|von|für|zu[mr]?|des|der|du|de|del|pour|para|do|da|di)(?: [\\p{L}'’-]{1,15}){1,3})";
const isWords = "is|was|ist|lautet|heißt|war|est|était|c['’]est|es|era|è|é|to";
/** A name, and what assigns its value: a sign, a verb, or for passwords nothing but a space. */
const assignment = new RegExp(
  `(${passwordNames}|${looseNames}|${keyNames})(?:['’]?s)?(?: ${details})?(${purposes}?)\\\\{0,3}["']?` +
    `(\\s{0,3}(?::=|=>|[:=]|(?<![A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff])(?:${isWords})(?![A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff]) ?:?|是|为|為|は|が|を|改成|改为|设为|设置为|重置为|है ?:?|था|[은는] )\\s{0,3}| {1,2}(?=[!-~]))`,
  'giu',
);
const passwordName = new RegExp(`^(?:${passwordNames}|${looseNames})$`, 'iu');
const looseName = new RegExp(`^(?:${looseNames})$`, 'iu');

const pin =
  /(?:(?<![\p{L}\p{N}])(?:pin(?:[ -]?(?:code|number|nummer|no\.?|nr\.?)| (?:de|del|der|vom|of|for|du)(?: [\p{L}]{1,12}){1,2})?|code pin|código pin|code secret|passcode)["']?(?: ?(?:is|ist|lautet|est|es|:|=|#) ?){1,2}|(?:pin ?码|支付密码|取款密码|暗証番号|(?<![\u0900-\u097f])पिन(?: (?:नंबर|कोड))?) ?(?:是|为|は|है|[:=])? ?)["']?(\d{4,8})(?![A-Za-z\u00c0-\u024f\u1e00-\u1eff\d]|[.,-]\d)/giu;

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
  const text = ownScript(run)
    .replace(nextAssignment, '')
    .replace(/(?:[.,;:?)}\]>"'`]|\\+["'])+$/, '');
  return { start, text };
}

/** `&user=`, `;Server=`, `, "user":`, and a tag. */
const nextAssignment =
  /(?:\\*["'])?(?:[;,&]\s?\\*["']?[\p{L}_][\p{L}\p{N}_.-]{0,40}\\*["']?[=:]|<\/?[a-z]).*$/iu;

/** What is typed in ASCII ends where Chinese or Japanese goes on without a space. */
function ownScript(run: string): string {
  return /^[!-~]/.test(run) ? run.replace(otherScript, '') : run;
}

const otherScript = new RegExp(`[${unspacedScripts}\\p{sc=Hang}\\u3000-\\u303f].*$`, 'su');

/** `compass` ends in a telling word too; `dbPassword`, `db_password` and German compounds end in a name. */
function isInsideWord(text: string, at: number, name: string): boolean {
  if (/^(?:passwort|kennwort)/i.test(name)) return false;
  const [before = '', first = ''] = text.slice(Math.max(0, at - 1), at + 1).padStart(2);
  if (!/[A-Za-z\u00c0-\u024f\u1e00-\u1eff]/u.test(first)) return /[\u0900-\u097f]/u.test(before);
  return /\p{L}/u.test(before) && !(/\p{Ll}/u.test(before) && /\p{Lu}/u.test(first));
}

/** A sentence about passwords ("the password is required") must not pass for one. */
interface Assignment {
  readonly name: string;
  /** What it is for: " of the router". */
  readonly purpose: string;
  readonly assigned: string;
}

function isPasswordValue(value: string, { name, purpose, assigned }: Assignment): boolean {
  const isAssigned = purpose === '' && /[:=]/.test(assigned);
  if (!/[!-~]/.test(value)) return false;
  if (isAssigned && !looseName.test(name)) return true;
  const isTyped =
    /[\p{L}]/u.test(value) && /\d|[!#$%&*+=?@^_~]/.test(value.replace(/[?!]+$/, (end) => end.slice(1)));
  if (assigned.trim() === '')
    return isTyped && /^[!-~]+$/.test(value) && !/^(?:https?:|www\.|\d+\p{L}+$)/iu.test(value);
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
