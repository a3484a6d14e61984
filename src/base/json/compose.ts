import { isTextTooDeep, MAX_JSON_DEPTH } from './depth.ts';
import { exactFormOf, Json, stringifyJson } from './json.ts';
import { fillIn, fromSkeleton, LongJson, type LongText, markOf, PartedJson } from './parted.ts';

/** Longer texts, in characters, become separate parts. */
const LONG = 1_000;

export class FreshText implements LongText {
  readonly text: string;
  readonly string: string | undefined;

  constructor(text: string, string?: string) {
    this.text = text;
    this.string = string;
  }

  read(): string {
    return this.text;
  }

  isDeeperThan(levels: number): boolean {
    return isTextTooDeep(this.text, MAX_JSON_DEPTH - levels);
  }
}

/** Like `Json.from`, but keeps long texts as separate parts and does not read existing ones. */
export function composeJson(value: unknown): Json {
  const parts: LongText[] = [];
  return fromSkeleton(
    write(value, (part) => markOf(parts.push(part) - 1)),
    parts,
  );
}

function write(value: unknown, apart: (part: LongText) => string): string {
  if (value instanceof LongJson) return apart(value.long);
  if (value instanceof PartedJson) {
    const { skeleton, parts } = value;
    return fillIn(skeleton, (number) => {
      const part = parts[number];
      return part === undefined ? 'null' : apart(part);
    });
  }
  if (value instanceof Json) return value.text.length < LONG ? value.text : apart(new FreshText(value.text));
  if (typeof value === 'string') {
    const text = JSON.stringify(value);
    return text.length < LONG ? text : apart(new FreshText(text, value));
  }
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return stringifyJson(value);
  return writeTree(value, apart);
}

function writeTree(value: object, apart: (part: LongText) => string): string {
  const exact = exactFormOf(value);
  if (exact !== undefined) return write(exact, apart);
  if (Array.isArray(value)) return `[${value.map((element) => write(element, apart)).join(',')}]`;
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), apart);
  let members = '';
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined || typeof member === 'function') continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${write(member, apart)}`;
  }
  return `{${members}}`;
}
