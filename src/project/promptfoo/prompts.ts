import { extname } from 'node:path';
import { isObject } from '../../json/json.ts';
import { tryParse } from '../../json/try-parse.ts';
import { type Path, parseDocument } from '../../yaml/document.ts';
import type { Notes } from '../suite-import/notes.ts';
import { type SourceFiles, textOfFile } from '../suite-import/source-files.ts';
import { toExpressionText, variablesOf } from './template.ts';

/** A prompt in the words of a suite: messages whose texts may hold `${…}`. */
export interface ImportedPrompt {
  readonly label: string;
  /** What the config has in its place. */
  readonly source: string;
  /** One message of the user, for a prompt that is a plain text. */
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly isText: boolean;
  readonly variables: readonly string[];
}

/** The prompts of a config; what is no plain template is noted. */
export function readPrompts(given: unknown, files: SourceFiles, notes: Notes): readonly ImportedPrompt[] {
  // An older form: files and their labels.
  if (isObject(given) && Object.values(given).every((label) => typeof label === 'string'))
    return Object.entries(given).flatMap(([id, label]) =>
      readPrompt({ id: `file://${id}`, label }, { at: ['prompts', id], files, notes }),
    );
  const list: readonly unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  return list.flatMap((each, index) => readPrompt(each, { at: ['prompts', index], files, notes }));
}

interface Place {
  readonly at: Path;
  readonly files: SourceFiles;
  readonly notes: Notes;
}

function readPrompt(given: unknown, place: Place): ImportedPrompt[] {
  if (isObject(given) && Array.isArray(given['messages']))
    return readMessages(given, given['messages'], place);
  const raw = isObject(given) ? (given['raw'] ?? given['id'] ?? given['content']) : given;
  noteOtherKeys(given, place);
  const label = isObject(given) && typeof given['label'] === 'string' ? given['label'] : undefined;
  if (typeof raw !== 'string') return leftOut(place, 'a prompt that is no text is left out');
  const found = namesFile(raw)
    ? matched(raw, place).flatMap((name) => readFilePrompts(name, label, place))
    : toPrompt(raw, label ?? raw, place);
  return found.map((prompt) => ({ ...prompt, source: raw }));
}

/** A prompt that stands in the config as its messages, of which a text may be a file. */
function readMessages(
  given: Readonly<Record<string, unknown>>,
  list: readonly unknown[],
  place: Place,
): ImportedPrompt[] {
  const label = typeof given['label'] === 'string' ? given['label'] : 'messages';
  const messages: unknown[] = [];
  for (const each of list) {
    const content = isObject(each) ? each['content'] : undefined;
    const loaded =
      typeof content === 'string' && content.startsWith('file://') ? readPart(content, place) : content;
    if (loaded === undefined) return [];
    messages.push({ role: isObject(each) ? each['role'] : undefined, content: loaded });
  }
  return toMessages(messages, label, place);
}

function readPart(name: string, place: Place): string | undefined {
  const found = place.files.find(name);
  const isText = ['.txt', '.md', '.j2'].includes(extname(name));
  const text = 'fault' in found ? found : isText ? textOfFile(found.file) : { fault: `${name} is no text` };
  if (typeof text === 'string') return text.trim();
  place.notes.add('error', place.at, `${text.fault}; the prompt is left out`);
  return undefined;
}

function matched(pattern: string, { at, files, notes }: Place): readonly string[] {
  const names = files.match(pattern);
  if (names.length === 0) notes.add('error', at, `no file is called ${pattern}`);
  return names;
}

function noteOtherKeys(given: unknown, { at, notes }: Place): void {
  const known = ['id', 'label', 'raw', 'content', 'messages', 'display'];
  for (const key of isObject(given) ? Object.keys(given).filter((name) => !known.includes(name)) : [])
    notes.add('error', [...at, key], `\`${key}\` of a prompt is not carried`);
}

function namesFile(raw: string): boolean {
  return (
    raw.startsWith('file://') ||
    (!raw.includes('\n') && /\.(txt|md|j2|json|yaml|yml|js|cjs|mjs|ts|py|csv)(:\w+)?$/.test(raw))
  );
}

function readFilePrompts(name: string, label: string | undefined, place: Place): ImportedPrompt[] {
  if (!['.txt', '.md', '.j2', '.json', '.jsonl', '.yaml', '.yml'].includes(extname(name)))
    return leftOut(
      place,
      `the prompt ${name} is made by a program, or stands in a table`,
      'Write it as a template.',
    );
  const found = place.files.find(name);
  if ('fault' in found) return leftOut(place, found.fault);
  const text = textOfFile(found.file);
  if (typeof text !== 'string') return leftOut(place, text.fault);
  if (/\.ya?ml$/.test(name)) {
    const { value } = parseDocument(found.file, text);
    if (Array.isArray(value)) return toMessages(value, label ?? name, place);
  }
  // Only plain texts hold several prompts, parted by lines of `---`, and JSON Lines one in each.
  const border = { '.txt': /^---\s*$/m, '.jsonl': /\n/ }[extname(name)];
  const parts = border === undefined ? [text] : text.split(border);
  const named = parts.map((part) => part.trim()).filter((part) => part !== '');
  return named.flatMap((part) => toPrompt(part, label ?? name, place));
}

function toPrompt(template: string, label: string, place: Place): ImportedPrompt[] {
  const messages = template.trimStart().startsWith('[') ? tryParse(template) : undefined;
  if (Array.isArray(messages) && messages.some((each) => isObject(each) && 'role' in each))
    return toMessages(messages, label, place);
  return translate([{ role: 'user', content: template }], { label, isText: true }, place);
}

function toMessages(list: readonly unknown[], label: string, place: Place): ImportedPrompt[] {
  const texts = list.flatMap((each) => {
    if (!isObject(each)) return [];
    const { role, content } = each;
    return typeof role === 'string' && typeof content === 'string' ? [{ role, content }] : [];
  });
  if (texts.length < list.length || list.length === 0)
    return leftOut(place, 'a prompt with messages that hold more than texts is left out');
  return translate(texts, { label, isText: false }, place);
}

function translate(
  texts: readonly { readonly role: string; readonly content: string }[],
  { label, isText }: Pick<ImportedPrompt, 'label' | 'isText'>,
  place: Place,
): ImportedPrompt[] {
  const isKnown = texts.every(({ role }) => ['system', 'user', 'assistant'].includes(role));
  if (!isKnown)
    return leftOut(
      place,
      'a prompt with messages of other roles than system, user and assistant is left out',
    );
  const translated = texts.map(({ role, content }) => ({ role, content: toExpressionText(content) }));
  const plain = translated.flatMap(({ role, content }) => (content === undefined ? [] : [{ role, content }]));
  if (plain.length < texts.length)
    return leftOut(place, notPlain, 'Write it with {{name}} alone, or a pipeline.');
  const variables = texts.flatMap(({ content }) => variablesOf(content) ?? []);
  return [{ label, source: label, messages: plain, isText, variables }];
}

const notPlain = 'a prompt whose template has filters, conditions, loops or `env` is left out';

function leftOut({ at, notes }: Place, message: string, hint?: string): ImportedPrompt[] {
  notes.add('error', at, message, hint);
  return [];
}
