import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { publishedKey } from './key-formats.ts';
import { entropyOf } from './typed.ts';

/** Keys and tokens that their makers mark with a prefix, JSON web tokens, and what follows `Bearer`. */
export function* findApiKeys({ text }: ScannedText): Generator<Finding> {
  const found = (start: number, end: number): Finding => ({
    entity: 'API_KEY',
    start,
    end,
    isConfirmed: true,
  });
  for (const { 0: written, index } of text.matchAll(publishedKey)) yield found(index, index + written.length);
  for (const { 0: head, index } of text.matchAll(/eyJ[\w-]+/g)) {
    const end = endOfWebToken(text, index + head.length);
    if (end !== undefined) yield found(index, end);
  }
  for (const match of text.matchAll(/\b(?:bearer|basic)[ \t]{1,4}([\w.~+/=-]{16,})/gi)) {
    const [whole, token = ''] = match;
    const end = match.index + whole.length;
    if (entropyOf(token) >= 3) yield found(end - token.length, end);
  }
}

/** The end of a token whose first part ends here: a payload of JSON, and a signature, which may be empty. */
function endOfWebToken(text: string, at: number): number | undefined {
  webTokenRest.lastIndex = at;
  const rest = webTokenRest.exec(text);
  return rest === null ? undefined : at + rest[0].length;
}

const webTokenRest = /\.(?:eyJ[\w-]+\.[\w-]*|\.[\w-]+\.[\w-]+\.[\w-]+|[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+)/y;
