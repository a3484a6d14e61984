import { decodePercent } from './url.ts';

/** One spelling of a secret: UTF-16 units, each matched plain or escaped. */
export interface SecretForm {
  readonly units: readonly SecretUnit[];
  /** Base64 and similar forms, which may contain line breaks. */
  readonly isEncoded: boolean;
}

export interface SecretUnit {
  readonly code: number;
  readonly percent: string;
}

/** Hiding shorter values, such as "on" or "1", would make the text unreadable. */
const SHORTEST_SECRET = 4;
/** Shorter lines and shorter encoded secrets would match by accident. */
const SHORTEST_PIECE = 8;

export function formsOf(secrets: Iterable<string>): SecretForm[] {
  const values = [...secrets].flatMap((secret) => [secret, secret.trim(), ...passwordIn(secret)]);
  const texts = new Set(
    [...new Set(values)]
      .filter(({ length }) => length >= SHORTEST_SECRET)
      .flatMap((value) => [value, ...linesOf(value)]),
  );
  const plain = new Set([...texts].flatMap(spellings));
  const encoded = new Set([...texts].flatMap(encodings));
  return [
    ...[...plain].map((text) => toForm(text, false)),
    ...[...encoded].filter((text) => !plain.has(text)).map((text) => toForm(text, true)),
  ];
}

/** Passwords in a URL such as `postgres://user:password@host/name?password=…`, raw and decoded. */
function passwordIn(secret: string): string[] {
  const written = passwordPlaces.map((place) => place.exec(secret)?.[1] ?? '');
  return written
    .filter(({ length }) => length >= SHORTEST_PIECE)
    .flatMap((password) => [password, decodePercent(password)]);
}

const passwordPlaces = [
  /^[a-z][\w+.-]*:\/\/[^\s/?#]*?:([^\s/?#]+)@[^\s@]+$/i,
  /^[a-z][\w+.-]*:\/\/[^\s?#]*\?(?:[^\s#]*&)?password=([^\s&#]+)/i,
];

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/).filter(({ length }) => length >= SHORTEST_PIECE);
  return lines.length === 1 && lines[0] === text ? [] : lines;
}

/** A text with escape characters also has JSON, URL and HTML forms. */
function spellings(text: string): string[] {
  if (!/[\\%&\ud800-\udfff]/.test(text)) return [text];
  const json = JSON.stringify(text).slice(1, -1);
  const html = text.replaceAll('&', '&amp;');
  return [text, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(text.toWellFormed()), html];
}

/** Base64 at each byte offset, hexadecimal, and UTF-8 bytes read as Latin-1. */
function encodings(secret: string): string[] {
  if (secret.length < SHORTEST_PIECE) return [];
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    // The first and last characters may contain bits of the text around the secret.
    const whole = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    const safe = whole.replaceAll('+', '-').replaceAll('/', '_');
    return [whole, safe, whole.slice(1), safe.slice(1)];
  });
  const hex = bytes.toString('hex');
  return [...shifted, hex, hex.toUpperCase(), bytes.toString('latin1')];
}

function toForm(text: string, isEncoded: boolean): SecretForm {
  const units = Array.from({ length: text.length }, (_, at) => toUnit(text.charCodeAt(at)));
  return { units, isEncoded };
}

function toUnit(code: number): SecretUnit {
  if (code >= 0xd800 && code <= 0xdfff) return { code, percent: '' };
  const bytes = Buffer.from(String.fromCharCode(code));
  return { code, percent: bytes.toString('hex').replaceAll(/../g, '%$&') };
}
