import { extname } from 'node:path';
import { isObject } from '../../../json/json.ts';
import type { Notes } from '../../suite-import/notes.ts';
import { type SourceFiles, textOfFile } from '../../suite-import/source-files.ts';
import { numberSettings, settingOf } from '../providers/chat-options.ts';
import { isNamedFile, readFilePrompts } from './prompt-files.ts';
import { type ImportedPrompt, leaveOut, type PromptPlace, type UnnumberedPrompt } from './prompt-model.ts';
import { promptOfMessages, promptOfText } from './prompt-text.ts';

/** The prompts of a config, and how many there are with those that are left out, which are noted. */
export interface ImportedPrompts {
  readonly prompts: readonly ImportedPrompt[];
  readonly count: number;
}

/** Reads the prompts of a config; nothing of them is filled in or run. */
export async function readPrompts(
  given: unknown,
  files: SourceFiles,
  notes: Notes,
): Promise<ImportedPrompts> {
  const prompts: ImportedPrompt[] = [];
  let count = 0;
  for (const { value, at } of listed(given)) {
    const found = await readPrompt(value, { at, files, notes });
    for (const [index, each] of found.entries()) prompts.push({ ...each, number: count + index + 1 });
    // What is left out has a column in promptfoo’s results all the same.
    count += Math.max(1, found.length);
  }
  return { prompts, count };
}

function listed(given: unknown): readonly { readonly value: unknown; readonly at: ImportedPrompt['at'] }[] {
  // An older form: files and their labels.
  if (isObject(given) && Object.values(given).every((label) => typeof label === 'string'))
    return Object.entries(given).map(([id, label]) => ({
      value: { id: `file://${id}`, label },
      at: ['prompts', id],
    }));
  const list: readonly unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  return list.map((value, index) => ({ value, at: ['prompts', index] }));
}

async function readPrompt(given: unknown, place: PromptPlace): Promise<readonly UnnumberedPrompt[]> {
  noteOtherKeys(given, place);
  if (isObject(given) && Array.isArray(given['messages']))
    return readMessages(given, given['messages'], place).map((prompt) => ({
      ...prompt,
      ...chatOf(given, place),
    }));
  const raw = isObject(given) ? (given['raw'] ?? given['id'] ?? given['content']) : given;
  const chat = chatOf(given, place);
  const label = isObject(given) && typeof given['label'] === 'string' ? given['label'] : undefined;
  if (typeof raw !== 'string') return leaveOut(place, 'a prompt that is no text is left out');
  if (!isNamedFile(raw))
    return promptOfText(raw, label ?? raw, place).map((prompt) => ({ ...prompt, ...chat }));
  const found: UnnumberedPrompt[] = [];
  for (const name of matched(raw, place)) found.push(...(await readFilePrompts(name, label, place)));
  return found.map((prompt) => ({ ...prompt, source: raw, ...chat }));
}

/** Settings of a model that hold for this prompt. */
function chatOf(given: unknown, { at, files, notes }: PromptPlace): Pick<UnnumberedPrompt, 'chat'> {
  const config = isObject(given) && isObject(given['config']) ? given['config'] : {};
  let chat: Readonly<Record<string, unknown>> = {};
  for (const [key, value] of Object.entries(config)) {
    const name = numberSettings[key];
    const found =
      name !== undefined && typeof value === 'number'
        ? { chat: { [name]: value } }
        : settingOf(key, value, files);
    chat = { ...chat, ...found?.chat };
    if (found === undefined || found.entry !== undefined)
      notes.add('error', [...at, 'config', key], `the setting \`${key}\` of a prompt is not carried`);
    else if (found.warning !== undefined) notes.add('warning', [...at, 'config', key], found.warning);
  }
  return Object.keys(chat).length > 0 ? { chat } : {};
}

/** A prompt that stands in the config as its messages, of which a text may be a file. */
function readMessages(
  given: Readonly<Record<string, unknown>>,
  list: readonly unknown[],
  place: PromptPlace,
): readonly UnnumberedPrompt[] {
  const label = typeof given['label'] === 'string' ? given['label'] : 'messages';
  const messages: unknown[] = [];
  for (const [index, each] of list.entries()) {
    for (const key of isObject(each) ? Object.keys(each) : [])
      if (key !== 'role' && key !== 'content')
        place.notes.add(
          'error',
          [...place.at, 'messages', index, key],
          `\`${key}\` of a message is not carried`,
        );
    const content = isObject(each) ? each['content'] : undefined;
    const loaded =
      typeof content === 'string' && content.startsWith('file://') ? readPart(content, place) : content;
    if (loaded === undefined) return [];
    messages.push({ role: isObject(each) ? each['role'] : undefined, content: loaded });
  }
  return promptOfMessages(messages, label, place);
}

function readPart(name: string, place: PromptPlace): string | undefined {
  const found = place.files.find(name);
  const isText = ['.txt', '.md', '.j2'].includes(extname(name));
  const text = 'fault' in found ? found : isText ? textOfFile(found.file) : { fault: `${name} is no text` };
  if (typeof text === 'string') return text.trim();
  leaveOut(place, `${text.fault}; the prompt is left out`);
  return undefined;
}

function matched(pattern: string, { at, files, notes }: PromptPlace): readonly string[] {
  const names = files.match(pattern);
  if (names.length === 0) notes.add('error', at, `no file is called ${pattern}`);
  return names;
}

function noteOtherKeys(given: unknown, { at, notes }: PromptPlace): void {
  const known = ['id', 'label', 'raw', 'content', 'messages', 'display', 'config'];
  for (const key of isObject(given) ? Object.keys(given).filter((name) => !known.includes(name)) : [])
    notes.add('error', [...at, key], `\`${key}\` of a prompt is not carried`);
  const label = isObject(given) ? given['label'] : undefined;
  if (label !== undefined)
    notes.add(
      'note',
      [...at, 'label'],
      `the label ${JSON.stringify(label)} is not carried: a variant is called by the number of its prompt`,
    );
}
