import { JsonTokens } from './tokens.ts';

type Revive = (key: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * `JSON.parse` for texts of others. Throws SyntaxError.
 *
 * V8 13.6 reads an escaped key as the key of an earlier object that begins with the escaped text itself: after
 * `{"\\u0064escri": 1}`, it reads `{"\u0064escription": 1}` as that key again. Keys are therefore unescaped before.
 */
export function parseJson(text: string, revive?: Revive): unknown {
  return JSON.parse(withPlainKeys(text), revive);
}

function withPlainKeys(text: string): string {
  if (!text.includes('\\') || !mayEscapeKey.test(text)) return text;
  const tokens = new JsonTokens(text);
  let plain = '';
  let from = 0;
  while (tokens.next()) {
    if (!tokens.isKey || !text.slice(tokens.start, tokens.end).includes('\\')) continue;
    plain += text.slice(from, tokens.start) + JSON.stringify(tokens.name);
    from = tokens.end;
  }
  return plain + text.slice(from);
}

/** Also matches some values, which costs only time. */
const mayEscapeKey = /[{,]\s*"[^"\\]*\\/;
