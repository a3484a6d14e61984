import { entropyOf } from '../../pii/finders/typed.ts';
import type { Link } from './scan.ts';

/**
 * Whether the parts of an address that its host is free to read carry something: text, an encoded value, what stands in the
 * conversation, or a place that waits to be filled in.
 */
export function carriesData(
  address: string,
  kind: Link['kind'],
  conversation: () => readonly string[],
): boolean {
  const parts = partsOf(address);
  if (parts === undefined) return address.length > LONGEST_PLAIN;
  const { labels, segments, values } = parts;
  if (values.some(isPayload) || labels.some(isEncoded) || segments.some(isEncoded)) return true;
  if (values.join('').length > LONGEST_PLAIN) return true;
  const carried = [...values, ...segments, ...labels];
  if (!carried.some((value) => value.length >= SHORTEST_SHARED)) return false;
  const spellings = carried.flatMap((value) => [...spellingsOf(value)]).map(toPlain);
  const telling = spellings.filter((value) => isTelling(value, kind));
  return sharesText(telling, address, conversation);
}

/** A query of so many characters is no page number. */
const LONGEST_PLAIN = 400;
const SHORTEST_SHARED = 6;

interface Parts {
  /** The names of the host below its last two. */
  readonly labels: readonly string[];
  /** The path, between its slashes. */
  readonly segments: readonly string[];
  /** The values of the query, and of the fragment. */
  readonly values: readonly string[];
}

function partsOf(address: string): Parts | undefined {
  const match = /^(?:[a-z][a-z0-9+.-]*:)?\/{0,2}([^/?#\\]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(address);
  if (match === null) return undefined;
  const [, host = '', path = '', query = '', fragment = ''] = match;
  const pairs = [query, fragment].flatMap((text) => text.split(/[&;]/));
  return {
    labels: host.replace(/^.*@/, '').split('.').slice(0, -2),
    segments: path
      .split('/')
      .map(decode)
      .filter((text) => text !== ''),
    values: pairs.map((pair) => decode(pair.replace(/^[\w.[\]-]{0,40}=/, ''))).filter((text) => text !== ''),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** A sentence, an address of a person, something encoded, or `{{what you know}}`. */
function isPayload(value: string): boolean {
  if (value.length < 4) return false;
  if (/\{\{[^{}]{2,80}\}\}|^<[a-z_ ]{3,60}>$|^\[[a-z_ ]{3,60}\]$/i.test(value)) return true;
  if (/[^\s@]{1,64}@[^\s@]{1,64}\.[a-z]{2}/i.test(value)) return true;
  const words = value.match(/\p{L}{2,}/gu) ?? [];
  if (/[\s,;|]/.test(value.trim()) && words.length >= MOST_SEARCHED) return true;
  return isEncoded(value);
}

/** Searches of the web have fewer words. */
const MOST_SEARCHED = 8;

/**
 * A run of base64 or hexadecimal digits that spells text. One that does not is an identifier, of a document or a checksum, unless it
 * is longer than those.
 */
function isEncoded(value: string): boolean {
  const run = value.replace(/=+$/, '');
  if (run.length < SHORTEST_ENCODED || !/^[A-Za-z0-9+/_-]+$/.test(run)) return false;
  if (/^(?:[0-9a-f]{2})+$/i.test(run) && isText(Buffer.from(run, 'hex'))) return true;
  if (isText(Buffer.from(run, 'base64'))) return true;
  return run.length >= LONGEST_IDENTIFIER && entropyOf(run) >= 4 && !/[a-z]{5}[-_][a-z]{3}/.test(run);
}

const SHORTEST_ENCODED = 16;
const LONGEST_IDENTIFIER = 128;

/** Bytes of UTF-8 without controls. */
function isText(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.length >= 8 && !/[^\P{Cc}\t\n\r]/u.test(text) && /[\p{L}\p{N}]{3}/u.test(text);
  } catch {
    return false;
  }
}

/** Whether what an address carries stands in the conversation other than as that address. */
function sharesText(
  spellings: readonly string[],
  address: string,
  conversation: () => readonly string[],
): boolean {
  if (spellings.length === 0) return false;
  // Written out by somebody else, it carries nothing that the answer has added.
  const texts = conversation()
    .filter((text) => !text.includes(address))
    .map(toPlain);
  return spellings.some((value) => texts.some((text) => text.includes(value)));
}

/**
 * Digits, or several words. A page about what somebody has asked for has the words of the question in its name; an image, which
 * is fetched without being asked for, has less reason to.
 */
function isTelling(plain: string, kind: Link['kind']): boolean {
  if (plain.length < SHORTEST_SHARED || plain.length > LONGEST_SHARED) return false;
  if ((plain.match(/\d/g)?.length ?? 0) >= SHORTEST_SHARED) return true;
  return plain.length >= (kind === 'image' ? 16 : 40);
}

const LONGEST_SHARED = 4000;

/** As it is, backwards, and what base64 or hexadecimal digits spell. */
function* spellingsOf(value: string): Generator<string> {
  yield value;
  yield [...value].toReversed().join('');
  if (/^[A-Za-z0-9+/_-]{8,}=*$/.test(value)) yield Buffer.from(value, 'base64').toString('utf8');
  if (/^(?:[0-9a-f]{2}){4,}$/i.test(value)) yield Buffer.from(value, 'hex').toString('utf8');
}

/** Letters and digits alone, so that separators and letter case make no difference. */
function toPlain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
