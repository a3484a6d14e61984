import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { canonicalJson, isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject } from '../../base/json/json.ts';
import { parseFilePart, withFileText } from './media.ts';
import { type BodyPart, describeBody, describeBodyPart } from './message-description.ts';

/** A replaced message, or a part of one, as plain values that keep their digits. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Finds the file that was sent as this description; undefined when none was. */
export type FindFile = (part: PlainObject) => LanguageModelV4FilePart | undefined;

export interface BodyOrigin {
  /** The parts that were sent in this message. */
  readonly body: readonly BodyPart[];
  readonly findFile: FindFile;
  /** Whether a changed text keeps its provider options: a person's may, a model's can refer to the old text. */
  readonly keepsOptions: boolean;
}

/**
 * The text and files of a replaced message; the same parts when nothing has changed. Throws REPLY_MALFORMED.
 */
export function rebuildBody(message: PlainObject, origin: BodyOrigin): readonly BodyPart[] {
  const { content, parts } = message;
  const given = requireParts(parts);
  const text = typeof content === 'string' ? content : '';
  const sent = describeBody(origin.body);
  if (text === sent.content && isSameToTheDigit(given ?? [], sent.parts ?? [])) return origin.body;
  if (given === undefined) return textBody(text, origin);
  const built = given.map((part, index) => rebuildPart(part, index, origin));
  const texts = given.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []));
  if (texts.length === 0) return [...textBody(text, origin), ...built];
  if (text === texts.join('') || text === texts.join('\n')) return built;
  throw new RuntimeError(
    'REPLY_MALFORMED',
    'a replaced message says one thing in `content`, another in `parts`',
  );
}

/** Finds files by the description that hooks were sent; it is built when the first one is looked for. */
export function createFileFinder(files: () => readonly LanguageModelV4FilePart[]): FindFile {
  let known: ReadonlyMap<string, LanguageModelV4FilePart> | undefined;
  return (part) => {
    known ??= new Map(files().map((file) => [keyOf(describeBodyPart(file)), file]));
    return known.get(keyOf(part));
  };
}

/** Text is left out: a filter may change it, and the file is still the same. */
function keyOf({ text: _, ...file }: PlainObject): string {
  return canonicalJson(file);
}

function requireParts(parts: unknown): readonly PlainObject[] | undefined {
  if (parts === undefined || parts === null) return undefined;
  if (Array.isArray(parts) && parts.every(isObject)) return parts;
  throw new RuntimeError('REPLY_MALFORMED', 'the `parts` of a replaced message are not a list of objects');
}

function textBody(text: string, { body, keepsOptions }: BodyOrigin): readonly BodyPart[] {
  if (text === '') return [];
  const [only, ...others] = body.filter((part) => part.type === 'text');
  if (only === undefined || others.length > 0 || !keepsOptions) return [{ type: 'text', text }];
  return [{ ...only, text }];
}

function rebuildPart(
  part: PlainObject,
  index: number,
  { body, findFile, keepsOptions }: BodyOrigin,
): BodyPart {
  const { type, text } = part;
  if (type === 'text') {
    if (typeof text !== 'string') {
      throw new RuntimeError('REPLY_MALFORMED', 'a text part of a replaced message has no text');
    }
    const sent = body[index];
    return sent?.type === 'text' && keepsOptions ? { ...sent, text } : { type: 'text', text };
  }
  const file = findFile(part);
  if (file === undefined) return { type: 'file', ...parseFilePart(part) };
  if (text === describeBodyPart(file).text) return file;
  if (typeof text === 'string') return withFileText(file, text);
  throw new RuntimeError('REPLY_MALFORMED', 'a document of a replaced message has lost its text');
}
