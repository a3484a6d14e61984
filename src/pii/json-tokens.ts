/** A key, string or number of a JSON text, with its position and the key that it belongs to. */
export interface JsonToken {
  readonly kind: 'key' | 'string' | 'number';
  readonly start: number;
  readonly end: number;
  /** The key whose value it is, directly or as an element of a list; the empty string at the top and for keys. */
  readonly name: string;
}

/**
 * Every key, string and number of a text, in order. The text must already have passed `JSON.parse`. One pass
 * without recursion: a text may be nested as deeply as it likes.
 */
export function* scanJsonTokens(text: string): Generator<JsonToken> {
  const open: { readonly isObject: boolean; awaitsKey: boolean; name: string }[] = [];
  const token = /["[\]{},]|-?\d[\d.eE+-]*/g;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [written] = match;
    const inner = open.at(-1);
    const start = match.index;
    const end = written === '"' ? endOfString(text, start) : start + written.length;
    token.lastIndex = end;
    switch (written) {
      case '{':
      case '[':
        open.push({ isObject: written === '{', awaitsKey: written === '{', name: inner?.name ?? '' });
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (inner?.isObject) inner.awaitsKey = true;
        break;
      case '"':
        if (inner?.awaitsKey) {
          inner.awaitsKey = false;
          inner.name = String(JSON.parse(text.slice(start, end)));
          yield { kind: 'key', start, end, name: '' };
        } else yield { kind: 'string', start, end, name: inner?.name ?? '' };
        break;
      default:
        yield { kind: 'number', start, end, name: inner?.name ?? '' };
    }
  }
}

/** The position after the string that starts there. */
function endOfString(text: string, start: number): number {
  const delimiter = /["\\]/g;
  delimiter.lastIndex = start + 1;
  for (let match = delimiter.exec(text); match !== null; match = delimiter.exec(text)) {
    if (match[0] === '"') return match.index + 1;
    delimiter.lastIndex = match.index + 2;
  }
  return text.length;
}

/** Whether a text is a JSON object or list, and no plain text that merely begins like one. */
export function isJsonContainer(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
