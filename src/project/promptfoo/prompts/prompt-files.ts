import { extname } from 'node:path';
import { readers } from '../../../suite/dataset/readers.ts';
import { textOfFile } from '../../suite-import/source-files.ts';
import { javascriptEndings } from '../code.ts';
import { leaveOut, noteLabel, type PromptPlace, type UnnumberedPrompt } from './prompt-model.ts';
import { promptOfMessages, promptOfText } from './prompt-text.ts';

/** Whether a prompt of the config is the name of a file. */
export function isNamedFile(raw: string): boolean {
  return (
    raw.startsWith('file://') ||
    (!raw.includes('\n') && /\.(txt|md|j2|json|yaml|yml|js|cjs|mjs|ts|py|csv)(:[\w.]+)?$/.test(raw))
  );
}

/** The prompts of one file; what cannot be read is noted. */
export async function readFilePrompts(
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
      `the prompt ${name} is made by a program that is not run here`,
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

/** Only plain texts hold several prompts, parted by lines of `---`, and JSON Lines one in each. */
function partsOf(text: string, ending: string): readonly Part[] {
  const border = { '.txt': /^---\s*$/m, '.jsonl': /\n/ }[ending];
  const parts = border === undefined ? [text] : text.split(border);
  return parts.flatMap((part) => (part.trim() === '' ? [] : [{ text: part.trim() }]));
}

/** A table with the columns `prompt` and `label`; without a comma each line is a prompt. */
async function rowsOf(text: string, file: string, notes: PromptPlace['notes']): Promise<readonly Part[]> {
  if (!text.includes(',')) {
    const lines = text.split(/\r?\n/).map((line) => line.trim().replace(/^"([^"]*)"$/, '$1'));
    return lines.flatMap((line, index) =>
      line === '' || (index === 0 && line === 'prompt') ? [] : [{ text: line }],
    );
  }
  const parts: Part[] = [];
  for await (const { line, content } of readers.csv(bytesOf(text), file)) {
    const place = { file, line, column: 1 };
    if (!content.usable) notes.add('error', place, content.problem.message, content.problem.hint);
    const row = notes.openRow(content.usable ? content.value : {}, () => place);
    const prompt = row.at('prompt').text()?.trim() ?? '';
    const label = noteLabel(row.at('label'))?.trim() ?? '';
    if (prompt !== '') parts.push({ text: prompt, ...(label !== '' && { label }) });
  }
  return parts;
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from(text));
}
