import { endOfString, endOfValue, skipSpace } from '../json-text.ts';
import { createHide, createRedact, isCredentialName, type Redact } from './redact.ts';

/**
 * Hides what no log shows, also where it is encoded, in texts that are kept to be used again: JSON stays JSON, and
 * what of it is no secret stays as it was written.
 */
export function createScrub(secrets: Iterable<string>): Redact {
  const all = [...secrets].flatMap((secret) => [secret, ...encodings(secret)]);
  const redact = orNothing(createRedact(all));
  const hide = createHide(all);
  return (text) => {
    if (!isJson(text)) return redact(text);
    const scrubbed = scrubJson(text, redact);
    // A secret that is itself JSON may stand there as several tokens.
    const hidden = hide(scrubbed);
    return hidden === scrubbed || isJson(hidden) ? hidden : nothing;
  };
}

const mark = '[redacted]';
const nothing = JSON.stringify(mark);

/** Text that is too much for the patterns is not shown at all. */
function orNothing(redact: Redact): Redact {
  return (text) => {
    try {
      return redact(text);
    } catch (thrown) {
      if (thrown instanceof RangeError) return mark;
      throw thrown;
    }
  };
}

/** Secrets of fewer characters would be found encoded where they are not. */
const SHORTEST_ENCODED = 8;

/** The secret as Base64, wherever in the encoded bytes it begins, as hexadecimal digits, and as bytes that are taken for Latin-1. */
function encodings(secret: string): string[] {
  if (secret.length < SHORTEST_ENCODED) return [];
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    // Of the first and the last character some bits may belong to what stands around the secret.
    const whole = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = bytes.toString('hex');
  return [...shifted, hex, hex.toUpperCase(), bytes.toString('latin1')];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(withoutMark(text));
    return true;
  } catch {
    return false;
  }
}

/** Some programs begin their output with a byte order mark, which is no JSON. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function scrubJson(text: string, redact: Redact): string {
  const parts: string[] = [];
  let kept = 0;
  const put = (start: number, end: number, token: string) => {
    parts.push(text.slice(kept, start), token);
    kept = end;
  };
  for (let at = 0; at < text.length; ) {
    const isString = text[at] === '"';
    if (!isString && !startsNumber(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = isString ? endOfString(text, at) : endOfValue(text, at);
    const token = text.slice(at, end);
    const shown = isString ? scrubString(token, redact) : redact(token) === token ? token : nothing;
    if (shown !== token) put(at, end, shown);
    const colon = skipSpace(text, end);
    const isKey = isString && text[colon] === ':';
    at = isKey ? skipSpace(text, colon + 1) : end;
    if (!isKey || !isCredentialName(decode(token)) || /[tfn]/.test(text[at] ?? '')) continue;
    // Whatever a credential is made of; true, false and null only say whether there is one.
    const after = endOfValue(text, at);
    put(at, after, nothing);
    at = after;
  }
  return parts.join('') + text.slice(kept);
}

function startsNumber(code: number): boolean {
  return code === 0x2d || (code >= 0x30 && code <= 0x39);
}

function scrubString(token: string, redact: Redact): string {
  const text = decode(token);
  const shown = redact(text);
  return shown === text ? token : JSON.stringify(shown);
}

function decode(token: string): string {
  return token.includes('\\') ? String(JSON.parse(token)) : token.slice(1, -1);
}
