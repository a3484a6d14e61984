import type { Source } from '../../../yaml/source.ts';
import type { Notes } from '../../suite-import/notes.ts';
import type { SourceFiles } from '../../suite-import/source-files.ts';
import { settingOf } from '../providers/chat-options.ts';
import { isNamedFile, readFilePrompts } from './prompt-files.ts';
import {
  type ImportedPrompt,
  leaveOut,
  noteLabel,
  type PromptPlace,
  type UnnumberedPrompt,
} from './prompt-model.ts';
import { promptOfMessages, promptOfText } from './prompt-text.ts';

/** The prompts of a config, and how many there are with those that are left out, which are noted. */
export interface ImportedPrompts {
  readonly prompts: readonly ImportedPrompt[];
  readonly count: number;
}

/** Reads the prompts of a config; nothing of them is filled in or run. */
export async function readPrompts(
  given: Source,
  context: { readonly files: SourceFiles; readonly notes: Notes },
): Promise<ImportedPrompts> {
  const prompts: ImportedPrompt[] = [];
  let count = 0;
  const add = (found: readonly UnnumberedPrompt[]): void => {
    for (const [index, each] of found.entries()) prompts.push({ ...each, number: count + index + 1 });
    // What is left out has a column in promptfoo’s results all the same.
    count += Math.max(1, found.length);
  };
  // An older form: files and their labels.
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
  // Of several texts the first is the prompt.
  const unused = messages.kind === 'list' && first !== undefined ? [first, ...others] : others;
  for (const each of [at.at('display'), ...unused].filter(({ isGiven }) => isGiven))
    each.leave(
      `\`${String(each.path.at(-1))}\` of a prompt is not carried: it changes no answer`,
      undefined,
      'note',
    );
  const chat = chatOf(place);
  if (messages.kind === 'list')
    return promptOfMessages(messages, label ?? 'messages', place).map((prompt) => ({ ...prompt, ...chat }));
  const raw = at.text() ?? first?.text();
  if (raw === undefined) return leaveOut(place, 'a prompt that is no text is left out');
  const found = isNamedFile(raw)
    ? await readNamed({ name: raw, label }, place)
    : promptOfText(raw, label ?? raw, place);
  return found.map((prompt) => ({ ...prompt, ...chat }));
}

/** The prompts of a file, or of those that fit a pattern. */
async function readNamed(
  { name: pattern, label }: { readonly name: string; readonly label: string | undefined },
  place: PromptPlace,
): Promise<readonly UnnumberedPrompt[]> {
  const names = place.files.match(pattern);
  if (names.length === 0) place.at.note('error', `no file is called ${pattern}`);
  const found: UnnumberedPrompt[] = [];
  for (const name of names) found.push(...(await readFilePrompts(name, label, place)));
  return found.map((prompt) => ({ ...prompt, source: pattern }));
}

/** Settings of a model that hold for this prompt. */
function chatOf({ at, files }: PromptPlace): Pick<UnnumberedPrompt, 'chat'> {
  let chat: Readonly<Record<string, unknown>> = {};
  for (const [key, setting] of at.at('config').members()) {
    const found = settingOf(key, setting, files);
    chat = { ...chat, ...found?.chat, ...found?.defaults };
    if (found === undefined || found.entry !== undefined)
      setting.leave(`the setting \`${key}\` of a prompt is not carried`);
    else if (found.warning !== undefined) setting.note('warning', found.warning);
  }
  return Object.keys(chat).length > 0 ? { chat } : {};
}
