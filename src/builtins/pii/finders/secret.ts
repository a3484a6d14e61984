import { unspacedScripts } from '../../../base/text/words.ts';
import type { Finding } from '../finding.ts';
import { type ScannedText, textBefore, unaccent } from '../scanned-text.ts';
import { counterBehind, tellingWords } from './context.ts';
import { entropyOf, isTechnicalTerm, type Typed, typedKind } from './typed.ts';

/** Unambiguous names of passwords. In a sentence, a colon after one precedes its value. */
const passwordNames =
  'pass ?words?|passwd|passphrase|passcode|pwd|pswd|*passwort|*passworter|*kennwort|losungswort|zugangscode|contrasenas?|clave de acceso|mots? de passe|mdp|' +
  'phrase (?:secrete|de passe)|senha|wachtwoord|losenord|hasło|haslo|пароль|пароля|密码|密碼|口令|パスワード|パスフレーズ|合言葉|비밀번호|암호|पासवर्ड|कूटशब्द|गुप्त शब्द';
/** Ambiguous names of passwords. */
const looseNames =
  "pw|psw|(?:la|mi|tu) contra|clave|code (?:secret|wifi|d['’]acces|confidentiel)|codigo (?:secreto|de acceso)|暗号|सीक्रेट कोड|गुप्त कोड";
const assignedNames = 'pass|パス';
const keyNames =
  'secret|token|api key|access key|secret key|auth key|client secret|credential|signature|accountkey|sharedaccesskey';
const phraseNames =
  'passphrase|losungswort|phrase (?:secrete|de passe)|clave de acceso|合言葉|パスフレーズ|कूटशब्द|गुप्त शब्द';
const accessNames =
  'credentials|login|logins|zugangsdaten|anmeldedaten|logindaten|identifiants|credenciales|datos de acceso|ログイン情報|ログイン|账密|登录信息|लॉगिन';
const pinNames =
  'pin|pins|pin (?:code|number|nummer|no|nr)|(?:m|upi |atm )pin|passcode|otp|one-time (?:code|passcode|pin)|*geheimzahl|*geheimnummer|*geheimcode|' +
  "code (?:pin|secret|confidentiel|d['’]acces|d['’]entree|de (?:la |ma |ta |sa )?(?:carte|porte|alarme))|digicode|nip|(?<!palabras? )clave|codigo (?:pin|secreto|de acceso)|(?:numero|clave) secret[oa]|" +
  'pin ?码|pin ?碼|验证码|驗證碼|暗証番号|暗証|認証コード|ワンタイムパスワード|pin ?コード|pin ?番号|(?:यूपीआई|एटीएम|कार्ड|upi|atm) पिन|पिन|पिन (?:नंबर|नम्बर|कोड)|ओटीपी|गुप्त कोड|सीक्रेट कोड|인증번호|핀번호';

const links =
  "is|it['’]s|that['’]s|was|as|are|remains|to|be|=|ist|war|lautet|heißt|als|auf|bleibt|est|etait|comme|en|c['’]est|es|era|como|a|por|e|foi|" +
  '是|为|為|作为|作為|当|當|做|就是|改成|改为|设为|设置为|は|が|を|も|で|って|だった|है|था|को|यही|hai|은|는|이|가';
const around =
  'the|my|your|his|her|our|their|this|that|new|still|now|just|also|for|of|das|mein|dein|sein|unser|ihr|neues?|jetzt|noch|immer|nun|le|la|mon|ton|son|ma|notre|votre|nouveau|toujours|always|siempre|' +
  'el|mi|tu|su|nuestra|nueva|nuevo|una?|ein|eine|une|同じ|私の|この|その|的|我的|这个|मेरा|मेरी|अपना|अपनी|नया|ही|इसका|उसका|वही|यह|ye|mera|हमेशा|いつも|ずっと|一直|总是';
const little = `[ \\t'’"“”„«»「」『』(:：>→,=#-]|${tellingWords(`${links}|${around}`).source}`;

const owner =
  '(?<!\\p{L})(?:of|for|to|on|de|del|du|des|der|vom|von|fur|furs|zu[mr])(?: (?:the|my|la|le|las|los|el|mi|ma|mon|die|das|den|dem|der|meine?[mnr]?))? \\p{L}{2,15}(?!\\p{L})';
const betweenNameAndValue = `(?:${little}){0,8}|(?:${little}){0,3}(?:${owner} ?){1,2}(?:${little}){0,4}?(?:[:=]|${tellingWords(links).source})(?:${little}){0,4}`;
const link = tellingWords(links);
const linkedBehind = (nameWords: string) =>
  new RegExp(
    `^(?:${little}){0,4}?${tellingWords(links).source}(?:${little}){0,5}${tellingWords(nameWords).source}`,
    'iu',
  );

/**
 * Finds values assigned to names of secrets, or typed near a word for passwords: passwords, PINs, and random-looking
 * keys.
 */
export function* findSecrets(scan: ScannedText): Generator<Finding> {
  const found = ({ start, text }: Value): Finding => ({
    entity: 'SECRET',
    start,
    end: start + text.length,
    isConfirmed: true,
  });
  if (!anyName.test(scan.plain)) return;
  const assigned = new Set<number>();
  for (const { at, value } of findAssigned(scan)) {
    assigned.add(at);
    yield found(value);
  }
  for (const { 0: name, index } of scan.plain.matchAll(passwordWord)) {
    if (assigned.has(index)) continue;
    const value = typedBehind(scan, index + name.length) ?? typedBefore(scan, index);
    if (value !== undefined) yield found(value);
  }
  if (scan.digits.starts.length > 0) for (const value of findPins(scan)) yield found(value);
  for (const { start, end, head } of scan.cells) {
    const text = scan.text.slice(start, end);
    if (passwordHead.test(head) && isWholePassword(text) && /[^-:]/.test(text)) yield found({ start, text });
  }
}

interface Value {
  readonly start: number;
  readonly text: string;
}

function* findAssigned({ text, plain }: ScannedText): Generator<{ at: number; value: Value }> {
  for (const match of plain.matchAll(assignment)) {
    const [whole, name = '', purpose = '', assigned = ''] = match;
    if (isInsideWord(text, match.index, name)) continue;
    const isPassword = passwordName.test(name);
    const value = valueAt(text, match.index + whole.length, isPassword);
    if (value === undefined || value.text.length < MIN_LENGTH || isPlaceholder(value.text)) continue;
    if (isPassword ? !isPasswordValue(value, { name, purpose, assigned }) : !isRandom(value.text)) continue;
    yield { at: match.index, value };
  }
}

/** Whether a text, such as a JSON key, ends with a label for passwords. */
export function isPasswordLabel(words: string): boolean {
  return passwordLabel.test(unaccent(words.slice(-LONGEST_LABEL)));
}

const LONGEST_LABEL = 200;
const passwordWord = new RegExp(tellingWords(`${passwordNames}|${looseNames}|${accessNames}`).source, 'giu');
const passwordLabel = tellingWords(passwordNames, '[^\\p{L}\\p{N}]*$');
const passwordHead = new RegExp(
  `^[^\\p{L}\\p{N}]*${tellingWords(`${passwordNames}|${pinNames}`).source}[^\\p{L}\\p{N}]*$`,
  'iu',
);

/** If the value has several words, the first must be as long as a password. */
export function isWholePassword(value: string): boolean {
  const [first = ''] = value.split(/\s/);
  return first.length >= MIN_LENGTH && value.length <= MAX_LENGTH && !isPlaceholder(value);
}

const MIN_LENGTH = 6;
const MAX_LENGTH = 512;

const anywhere = (list: string) => unaccent(list).replaceAll('*', '').replaceAll(' ', '[ _-]?');
const anyName = new RegExp(
  anywhere(`${passwordNames}|${looseNames}|${assignedNames}|${accessNames}|${keyNames}|${pinNames}`),
  'iu',
);
const details =
  '(?:wifi|wlan|del? wifi|du wifi|temporal|temporaire|provisoire|provisional|nueva|nuevo|new|neues|initial|inicial|actual|maestra|maitre|admin|root)';
const purposes =
  "(?: (?:for|of|to|on|from|vom|von|furs?|zu[mr]?|des|der|beim?|du|de|del|pour|para|do|da|di)(?: [\\p{L}'’-]{1,15}){1,3})";
const isWords = "is|was|ist|lautet|heißt|war|est|etait|c['’]est|es|era|e|to|hai|tha";
/** A name and its assignment: a sign, a verb, or for passwords only a space or a quote. */
const assignment = new RegExp(
  `(${anywhere(`${passwordNames}|${looseNames}|${assignedNames}|${keyNames}`)})(?:['’]?s)?(?: ${details})?(${purposes}?)\\\\{0,3}["']?` +
    `(\\s{0,3}(?::=|=>|[:=]|(?<![A-Za-z])(?:${isWords})(?![A-Za-z]) ?:?|是|为|為|は|が|を|改成|改为|设为|设置为|重置为|है ?:?|था|[은는] )\\s{0,3}| {1,2}(?=[!-~“„«‹「『])|(?=[“„«‹「『]))`,
  'giu',
);
const passwordName = new RegExp(`^(?:${anywhere(`${passwordNames}|${looseNames}|${assignedNames}`)})$`, 'iu');
const looseName = new RegExp(`^(?:${anywhere(`${looseNames}|${assignedNames}`)})$`, 'iu');
const phraseName = new RegExp(`^(?:${anywhere(phraseNames)})$`, 'iu');

function typedBehind({ text }: ScannedText, at: number): Value | undefined {
  const line = text.slice(at, at + NEAR).split('\n', 1)[0] ?? '';
  let previous = '';
  for (const { 0: token, index } of line.matchAll(/\S+/g)) {
    const value = trimValue(token, at + index);
    const kind = /[:=]$/.test(token) ? undefined : typedKind(value.text);
    if (isTyped(kind, givesValue.test(previous)) && !isOwner.test(previous)) return value;
    if (/[.!?;。！？；]["'”»)]*$/.test(token)) return undefined;
    previous = token;
  }
  return undefined;
}

const NEAR = 80;
const givesValue = /^(?:is|to|ist|lautet|auf|als|est|pour|par|en|es|a|por|como|hai|=|:|→)?[:=]?$/iu;
const isOwner =
  /^(?:for|of|user(?:name)?|account|login|id|f(?:ü|u)r|von|vom|benutzer|nutzer|konto|de|du|utilisateur|compte|del|usuario|cuenta|用户名?|账号|ユーザー|यूज़?र)[:=]?$/iu;

const isTyped = (kind: Typed, isGiven: boolean) => kind === 'strong' || (kind === 'weak' && isGiven);

/** Handles "is the password", "als Passwort", "がパスワード"; in Hindi, directly before the word. */
function typedBefore({ text, plain }: ScannedText, at: number): Value | undefined {
  const before = textBefore(text, at, NEAR);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const from = at - line.length;
  for (const { 0: token, index } of line.matchAll(/\S+/g)) {
    const value = trimValue(token, from + index);
    const kind = typedKind(value.text);
    if (kind === undefined) continue;
    const end = value.start + value.text.length;
    const isLinked =
      linkedPassword.test(plain.slice(end, at + 40)) ||
      (kind === 'strong' && at - end <= 25 && link.test(plain.slice(end, at)));
    const isBeside = kind === 'strong' && end + 1 === at && /[\u0900-\u097f]/.test(plain[at] ?? '');
    if (isLinked || isBeside) return value;
  }
  return undefined;
}

const linkedPassword = linkedBehind(passwordNames);

function trimValue(token: string, start: number): Value {
  const lead = opening.exec(token)?.[0].length ?? 0;
  return { start: start + lead, text: withoutClosing(ownScript(token.slice(lead))) };
}

const opening = new RegExp(`^(?:.*[${unspacedScripts}\\p{sc=Hang}][,:、。])?["'\`“„«‹「『(<[]*`, 'u');
const closing = '.,;:?)}]>"\'`”“»›」』';

function withoutClosing(text: string): string {
  let end = text.length;
  while (end > 0 && closing.includes(text.charAt(end - 1))) {
    const isQuote = /["']/.test(text.charAt(end - 1));
    end -= 1;
    while (isQuote && text.charAt(end - 1) === '\\') end -= 1;
  }
  return text.slice(0, end);
}

function* findPins({ plain }: ScannedText): Generator<Value> {
  for (const { 0: whole, 1: name = '', 2: between = '', 3: digits = '', index } of plain.matchAll(pin)) {
    // India's postal codes are called PIN codes.
    if (digits.length === 6 && /^(?:pin[ -]?code|पिन(?: ?कोड)?)$/iu.test(name)) continue;
    const isLinked = /[:=]|\p{L}/u.test(between);
    if (!isLinked && (/^(?:19\d|20[0-4])\d$/.test(digits) || /^(?:Pin|clave)$/.test(name))) continue;
    if (counterBehind.test(plain.slice(index + whole.length, index + whole.length + 5))) continue;
    yield { start: index + whole.length - digits.length, text: digits };
  }
  for (const { 0: digits, index } of plain.matchAll(anyPin)) {
    const end = index + digits.length;
    if (linkedPin.test(plain.slice(end, end + 50))) yield { start: index, text: digits };
  }
}

const noUnit =
  '(?![\\d_]|[A-Za-z\\u00c0-\\u024f]|[.,:/-]\\d| ?(?:अंक|%|€|\\$|[a-z-]*(?:digit|char|caract|stell|ziffer|zeichen|cifra|chiffre|users|times|min|sec|ms\\b)))';
const pin = new RegExp(
  `(${tellingWords(`${pinNames}|${passwordNames}`).source})(${betweenNameAndValue})(\\d{4,8})${noUnit}`,
  'giu',
);
const anyPin = /(?<![\p{L}\p{N}_.,:/+-])\d{4,8}(?![\d_]|[.,:/-]\d)/gu;
const linkedPin = linkedBehind(pinNames);

function valueAt(text: string, at: number, isPassword: boolean): QuotedValue | undefined {
  const rest = text.slice(at, at + MAX_LENGTH + 8);
  const [opener] = /^\\{0,3}["'`]|^[“„«‹「『]\s?/.exec(rest) ?? [];
  if (opener === undefined) return unquotedValue(rest, at, isPassword);
  const inner = rest.slice(opener.length);
  const closer = closers[opener.trim()] ?? opener;
  const quoted = closer.length === 1 ? quotedBy(inner, closer) : untilText(inner, closer);
  if (quoted === undefined) return unquotedValue(inner, at + opener.length, isPassword);
  return { start: at + opener.length, text: quoted.trimEnd(), isQuoted: true };
}

interface QuotedValue extends Value {
  readonly isQuoted?: boolean;
}

const closers: Readonly<Record<string, string>> = {
  '“': '”',
  '„': '“',
  '«': '»',
  '‹': '›',
  '「': '」',
  '『': '』',
};

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
 * A password may contain anything but white space. Excludes closing punctuation and the next assignment. Other secrets
 * contain no quotes, commas or brackets.
 */
function unquotedValue(rest: string, start: number, isPassword: boolean): Value | undefined {
  if (!isPassword) {
    const text = /^[^\s"'`,;<>(){}[\]\\]{6,512}/.exec(rest)?.[0].replace(/[.,]+$/, '') ?? '';
    return rest[text.length] === '(' ? undefined : { start, text };
  }
  const run = /^\S{6,512}/.exec(rest)?.[0] ?? '';
  // Excludes code (`password: z.string()`) and placeholders (`<hidden>`, `{{password}}`).
  if (/^[\w$]+(?:\.[\w$]+)*\((?:.*\))?[;,)}]*$/.test(run)) return undefined;
  if (/^(?:<.*>|\{.*\}|\[.*\]|\(.*\))[.,;:!?]*$/.test(run)) return undefined;
  const text = withoutClosing(ownScript(run).replace(nextAssignment, ''));
  return { start, text };
}

const nextAssignment =
  /(?:\\*["'])?(?:[;,&]\s?\\*["']?[\p{L}_][\p{L}\p{N}_.-]{0,40}\\*["']?[=:]|<\/?[a-z]).*$/iu;

/** An ASCII value ends where Chinese or Japanese continues without a space. */
function ownScript(run: string): string {
  return /^[!-~]/.test(run) ? run.replace(otherScript, '') : run;
}

const otherScript = new RegExp(`[${unspacedScripts}\\p{sc=Hang}\\u3000-\\u303f].*$`, 'su');

/** Rejects `compass`, but accepts `dbPassword`, `db_password` and German compounds. */
function isInsideWord(text: string, at: number, name: string): boolean {
  if (/^(?:passwort|kennwort)/i.test(name)) return false;
  const [before = '', first = ''] = text.slice(Math.max(0, at - 1), at + 1).padStart(2);
  if (!/[A-Za-z\u00c0-\u024f\u1e00-\u1eff]/u.test(first)) return /[\u0900-\u097f]/u.test(before);
  return /\p{L}/u.test(before) && !(/\p{Ll}/u.test(before) && /\p{Lu}/u.test(first));
}

/** Separates a password from a sentence about passwords ("the password is required"). */
interface Assignment {
  readonly name: string;
  readonly purpose: string;
  readonly assigned: string;
}

function isPasswordValue(
  { text: value, isQuoted }: QuotedValue,
  { name, purpose, assigned }: Assignment,
): boolean {
  const isAssigned = purpose === '' && /[:=]/.test(assigned);
  if (!/[!-~]/.test(value)) return false;
  if (isAssigned && !looseName.test(name)) return true;
  const isTyped =
    /[\p{L}]/u.test(value) && /\d|[!#$%&*+=?@^_~]/.test(value.replace(/[?!]+$/, (end) => end.slice(1)));
  if (isQuoted === true && phraseName.test(name) && /\S\s+\S/.test(value)) return true;
  if (isQuoted === true && assigned.trim() === '') return isTyped;
  const kind = typedKind(value);
  if (assigned.trim() === '') return kind === 'strong' || (kind === 'weak' && purpose === '');
  if (isTechnicalTerm(value)) return false;
  return /\d/.test(value) || /[^\p{L}\p{N}-]/u.test(value) || /\p{Ll}\p{Lu}/u.test(value);
}

function isRandom(value: string): boolean {
  if (value.length < 12) return false;
  if (!/\d/.test(value) && value.length < 32) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(value)).length;
  return kinds >= 2 && entropyOf(value) >= 3;
}

function isPlaceholder(value: string): boolean {
  if (/^\$\{?[A-Z_][A-Z0-9_]*\}?$|^%[A-Z_]+%$/.test(value)) return true;
  return /^(?:(?:process\.env|os\.environ|env|config)\..*|(?:your|my)[_-].*|null|none|undefined|true|false|required|optional|hidden|redacted|changeme|string|\*+|x+|\.+)$/i.test(
    value,
  );
}
