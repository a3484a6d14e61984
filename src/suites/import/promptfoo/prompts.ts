import { extname } from 'node:path';
import { isObject } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/parse.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { settingOf } from '../suite/models.ts';
import { type Code, javascriptEndings } from '../suite/programs.ts';
import { type Notes, readRows, type SourceFiles, textOfFile } from '../suite/source-files.ts';

/** The imported prompts, and the number of all prompts including those left out. */
interface ImportedPrompts {
  readonly prompts: readonly ImportedPrompt[];
  readonly count: number;
}

export async function readPrompts(
  given: Source,
  context: { readonly files: SourceFiles; readonly notes: Notes },
): Promise<ImportedPrompts> {
  const prompts: ImportedPrompt[] = [];
  let count = 0;
  const add = (found: readonly UnnumberedPrompt[]): void => {
    for (const [index, each] of found.entries()) prompts.push({ ...each, number: count + index + 1 });
    // promptfoo’s results have a column for each prompt, including those left out.
    count += Math.max(1, found.length);
  };
  // The older form maps files to labels.
  const labels = given.members();
  if (labels.length > 0 && labels.every(([, { kind }]) => kind === 'text'))
    for (const [id, label] of labels) {
      const text = noteLabel(label);
      add(await readNamed({ name: `file://${id}`, label: text }, { at: label, ...context }));
    }
  else
    for (const at of given.kind === 'list' ? given.items() : [given])
      add(await readPrompt({ at, ...context }));
  return { prompts, count };
}

async function readPrompt(place: PromptPlace): Promise<readonly UnnumberedPrompt[]> {
  const { at } = place;
  const label = noteLabel(at.at('label'));
  const messages = at.at('messages');
  const [first, ...others] = ['raw', 'id', 'content']
    .map((key) => at.at(key))
    .filter(({ isGiven }) => isGiven);
  // The first of several texts is the prompt.
  const unused = messages.kind === 'list' && first !== undefined ? [first, ...others] : others;
  for (const each of [at.at('display'), ...unused].filter(({ isGiven }) => isGiven))
    each.leave(
      `\`${String(each.path.at(-1))}\` of a prompt is left out: it changes no answer`,
      undefined,
      'note',
    );
  const chat = chatOf(place);
  if (messages.kind === 'list')
    return promptOfMessages(messages, label ?? 'messages', place).map((prompt) => ({ ...prompt, ...chat }));
  const raw = at.text() ?? first?.text();
  if (raw === undefined) return leaveOut(place, 'a prompt that is not text is left out');
  const found = isNamedFile(raw)
    ? await readNamed({ name: raw, label }, place)
    : promptOfText(raw, label ?? raw, place);
  return found.map((prompt) => ({ ...prompt, ...chat }));
}

async function readNamed(
  { name: pattern, label }: { readonly name: string; readonly label: string | undefined },
  place: PromptPlace,
): Promise<readonly UnnumberedPrompt[]> {
  const names = place.files.match(pattern);
  if (names.length === 0) place.at.note('error', `no file matches ${pattern}`);
  const found: UnnumberedPrompt[] = [];
  for (const name of names) found.push(...(await readFilePrompts(name, label, place)));
  return found.map((prompt) => ({ ...prompt, source: pattern }));
}

function chatOf({ at, files }: PromptPlace): Pick<UnnumberedPrompt, 'chat'> {
  let chat: Readonly<Record<string, unknown>> = {};
  for (const [key, setting] of at.at('config').members()) {
    const found = settingOf(key, setting, files);
    chat = { ...chat, ...found?.chat, ...found?.defaults };
    if (found === undefined || found.entry !== undefined)
      setting.leave(`the setting \`${key}\` of a prompt is left out`);
    else if (found.warning !== undefined) setting.note('warning', found.warning);
  }
  return Object.keys(chat).length > 0 ? { chat } : {};
}

function isNamedFile(raw: string): boolean {
  return (
    raw.startsWith('file://') ||
    (!raw.includes('\n') && /\.(txt|md|j2|json|yaml|yml|js|cjs|mjs|ts|py|csv)(:[\w.]+)?$/.test(raw))
  );
}

async function readFilePrompts(
  name: string,
  label: string | undefined,
  place: PromptPlace,
): Promise<readonly UnnumberedPrompt[]> {
  const [, path = name, ending = '', member = ''] = /^(.+?)(\.\w+)(?::([\w.]+))?$/.exec(name) ?? [];
  const language = languageOf(ending);
  if (language !== undefined) return programOf({ path: `${path}${ending}`, member, language }, label, place);
  if (!['.txt', '.md', '.j2', '.json', '.jsonl', '.yaml', '.yml', '.csv'].includes(extname(name)))
    return leaveOut(
      place,
      `the prompt ${name} comes from a program that Signalbox does not run`,
      'Write it as a template, or as a function in JavaScript or Python.',
    );
  const found = place.files.find(name);
  if ('fault' in found) return leaveOut(place, found.fault);
  const text = textOfFile(found.file);
  if (typeof text !== 'string') return leaveOut(place, text.fault);
  if (/\.ya?ml$/.test(name)) {
    const root = place.files.open(name);
    if (!('fault' in root) && root.kind === 'list') return promptOfMessages(root, label ?? name, place);
    if (!('fault' in root)) root.whole();
  }
  const parts =
    extname(name) === '.csv' ? await rowsOf(text, found.file, place.notes) : partsOf(text, extname(name));
  return parts.flatMap((part) => promptOfText(part.text, label ?? part.label ?? name, place));
}

function languageOf(ending: string): 'javascript' | 'python' | undefined {
  if (ending === '.py') return 'python';
  return javascriptEndings.includes(ending.slice(1)) ? 'javascript' : undefined;
}

interface Program {
  readonly path: string;
  readonly member: string;
  readonly language: 'javascript' | 'python';
}

function programOf(
  { path, member, language }: Program,
  label: string | undefined,
  place: PromptPlace,
): readonly UnnumberedPrompt[] {
  const found = place.files.find(path);
  if ('fault' in found) return leaveOut(place, found.fault);
  const code = { file: found.fromFolder, member };
  const name = member === '' ? path : `${path}:${member}`;
  return [{ label: label ?? name, source: name, at: place.at, body: { kind: 'program', language, code } }];
}

interface Part {
  readonly text: string;
  readonly label?: string;
}

/** Plain text files hold several prompts separated by `---` lines; JSON Lines hold one per line. */
function partsOf(text: string, ending: string): readonly Part[] {
  const border = { '.txt': /^---\s*$/m, '.jsonl': /\n/ }[ending];
  const parts = border === undefined ? [text] : text.split(border);
  return parts.flatMap((part) => (part.trim() === '' ? [] : [{ text: part.trim() }]));
}

/** Reads a table with the columns `prompt` and `label`; without a comma, each line is a prompt. */
async function rowsOf(text: string, file: string, notes: PromptPlace['notes']): Promise<readonly Part[]> {
  if (!text.includes(',')) {
    const lines = text.split(/\r?\n/).map((line) => line.trim().replace(/^"([^"]*)"$/, '$1'));
    return lines.flatMap((line, index) =>
      line === '' || (index === 0 && line === 'prompt') ? [] : [{ text: line }],
    );
  }
  const parts: Part[] = [];
  for await (const { value, at } of readRows({ file, text, format: 'csv' }, notes)) {
    const row = notes.openRow(value, () => at);
    const prompt = row.at('prompt').text()?.trim() ?? '';
    const label = noteLabel(row.at('label'))?.trim() ?? '';
    if (prompt !== '') parts.push({ text: prompt, ...(label !== '' && { label }) });
  }
  return parts;
}

function promptOfText(template: string, label: string, place: PromptPlace): readonly UnnumberedPrompt[] {
  const start = template.trimStart();
  const value = /^[[{"]/.test(start) ? tryParse(template) : undefined;
  if (Array.isArray(value) && value.some((each) => isObject(each) && 'role' in each))
    return promptOfMessages(
      place.notes.open(value, () => place.at.location),
      label,
      place,
    );
  const common = { label, source: label, at: place.at };
  if (value !== undefined) return [{ ...common, body: { kind: 'whole', template, isJson: true } }];
  if (/^(?:\[|\{%|- role:|\{(?![{#]))/.test(start))
    return [{ ...common, body: { kind: 'whole', template, isJson: false } }];
  const messages = [{ role: 'user', content: template }];
  return [{ ...common, body: { kind: 'messages', messages, isText: true } }];
}

function promptOfMessages(list: Source, label: string, place: PromptPlace): readonly UnnumberedPrompt[] {
  const items = list.items();
  const messages = items.flatMap((each) => {
    const [role, content] = [each.at('role').text(), contentOf(each.at('content'), place)];
    return role !== undefined && content !== undefined ? [{ role, content }] : [];
  });
  if (messages.length < items.length || items.length === 0) {
    list.whole();
    return leaveOut(place, 'a prompt with messages that hold more than text is left out');
  }
  if (!messages.every(({ role }) => knownRoles.includes(role)))
    return leaveOut(place, 'a prompt with roles other than system, user and assistant is left out');
  return [{ label, source: label, at: place.at, body: { kind: 'messages', messages, isText: false } }];
}

function contentOf(given: Source, { files }: PromptPlace): string | undefined {
  const text = given.text();
  if (text?.startsWith('file://') !== true) return text;
  const found = files.find(text);
  const isText = ['.txt', '.md', '.j2'].includes(extname(text));
  const read = 'fault' in found ? found : isText ? textOfFile(found.file) : { fault: `${text} is not text` };
  if (typeof read === 'string') return read.trim();
  given.leave(read.fault);
  return undefined;
}

export const knownRoles: readonly string[] = ['system', 'user', 'assistant'];

export interface TemplateMessage {
  readonly role: string;
  readonly content: string;
}

export type PromptBody =
  /** A plain text prompt is one user message. */
  | { readonly kind: 'messages'; readonly messages: readonly TemplateMessage[]; readonly isText: boolean }
  /** A template that may render to a conversation. JSON is rendered string by string. */
  | { readonly kind: 'whole'; readonly template: string; readonly isJson: boolean }
  /** A program that makes the prompt while the suite runs. */
  | { readonly kind: 'program'; readonly language: 'javascript' | 'python'; readonly code: Code };

export interface ImportedPrompt {
  readonly label: string;
  readonly source: string;
  /** The position among all prompts of the config, from 1, including those left out. */
  readonly number: number;
  readonly body: PromptBody;
  readonly chat?: Readonly<Record<string, unknown>>;
  readonly at: Source;
}

type UnnumberedPrompt = Omit<ImportedPrompt, 'number'>;

interface PromptPlace {
  readonly at: Source;
  readonly files: SourceFiles;
  readonly notes: Notes;
}

export function promptName({ number }: Pick<ImportedPrompt, 'number'>): string {
  return `prompt-${number}`;
}

function leaveOut({ at }: PromptPlace, message: string, hint?: string): readonly [] {
  at.leave(message, hint);
  return [];
}

function noteLabel(given: Source): string | undefined {
  const label = given.text();
  if (label !== undefined && label.trim() !== '')
    given.note(
      'note',
      `the label ${JSON.stringify(label)} is left out: the name of a variant is the number of its prompt`,
    );
  return label;
}
