import { globSync, realpathSync, statSync } from 'node:fs';
import { extname, isAbsolute, relative, resolve, sep } from 'node:path';
import { whyUnreadable } from '../../../base/files/file-error.ts';
import { followLinks } from '../../../base/files/paths.ts';
import { readBounded } from '../../../base/files/read-bounded.ts';
import { tryParse } from '../../../base/json/parse.ts';
import { readText } from '../../../base/text/encoding/decode.ts';
import { shorten } from '../../../base/text/phrases.ts';
import { type Path, parseDocument } from '../../../base/yaml/document.ts';
import { type Problem, type SourceLocation, sortProblems } from '../../../base/yaml/problem.ts';
import { Source } from '../../../base/yaml/source.ts';
import { readers } from '../../dataset/readers.ts';

interface FoundFile {
  readonly file: string;
  readonly fromFolder: string;
}

export interface Fault {
  readonly fault: string;
}

/** Access is limited to the folder of the config. */
export interface SourceFiles {
  /** The relative path from the output folder to the config folder. */
  readonly folderFromOutput: string;
  /** The reverse path, for programs that the import writes. */
  readonly outputFromFolder: string;
  find(name: string): FoundFile | Fault;
  text(name: string): string | Fault;
  /** The parsed value of a YAML or JSON file, or the text of any other. */
  value(name: string): { readonly value: unknown } | Fault;
  /** Like `value`, with the position of each key. */
  open(name: string): Source | Fault;
  /** Returns the matches of a glob pattern, or the name itself if it is not a pattern. */
  match(pattern: string): readonly string[];
}

/** In bytes. A dataset that is read as a whole should be smaller. */
const largestFile = 64 * 1024 * 1024;

export function openSourceFiles(configFolder: string, output: string, notes: Notes): SourceFiles {
  const folder = realpathSync(configFolder);
  const opened = new Map<string, Source | Fault>();
  const find = (name: string): FoundFile | Fault => findWithin(folder, name);
  const match = (pattern: string): readonly string[] => {
    const plain = plainName(pattern);
    // Patterns that leave the folder are treated as missing files; they could walk the whole disk.
    const isWithin = !isAbsolute(plain) && !plain.split(/[\\/]/).includes('..');
    return isWithin && /[*?{[]/.test(plain) ? globSync(plain, { cwd: folder }).toSorted() : [plain];
  };
  const open = (name: string): Source | Fault => {
    const found = find(name);
    if ('fault' in found) return found;
    const known = opened.get(found.file) ?? openFile(found.file, notes);
    opened.set(found.file, known);
    return known;
  };
  const text = (name: string): string | Fault => {
    const found = find(name);
    return 'fault' in found ? found : textOfFile(found.file);
  };
  const value = (name: string): { readonly value: unknown } | Fault => {
    const read = text(name);
    return typeof read === 'string' ? valueOfText(resolve(folder, plainName(name)), read) : read;
  };
  const target = followLinks(resolve(output));
  const ways = { folderFromOutput: relative(target, folder), outputFromFolder: relative(folder, target) };
  return { ...ways, find, text, value, open, match };
}

function findWithin(folder: string, name: string): FoundFile | Fault {
  const file = resolve(folder, plainName(name));
  try {
    const within = relative(folder, realpathSync(file));
    if (leadsOut(within)) return { fault: `${name} is outside the folder of the config` };
    const stat = statSync(file);
    if (!stat.isFile()) return { fault: `${name} is not a file` };
    return stat.size > largestFile
      ? { fault: `${name} is larger than 64 MiB` }
      : { file, fromFolder: within };
  } catch (thrown) {
    return { fault: `${name} ${whyUnreadable(thrown)}` };
  }
}

function plainName(name: string): string {
  // The file system rejects NUL in names.
  return name.replace(/^file:\/\//, '').replaceAll('\0', '\uFFFD');
}

function leadsOut(within: string): boolean {
  return within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within);
}

/** Decodes UTF-8, UTF-16 or Latin-1. Returns the reason if the file cannot be read. */
export function textOfFile(file: string, most = largestFile): string | Fault {
  try {
    const bytes = readBounded(file, most);
    return (readText(bytes, undefined)?.text ?? bytes.toString('latin1')).replace(/^\uFEFF/, '');
  } catch (thrown) {
    return { fault: `${file} ${whyUnreadable(thrown)}` };
  }
}

function openFile(file: string, notes: Notes): Source | Fault {
  const text = textOfFile(file);
  return typeof text === 'string' ? openText(file, text, notes) : text;
}

export function openText(file: string, text: string, notes: Notes): Source | Fault {
  const isPlaced = isStructured(file) && text.length <= largestWithPlaces;
  const document = isPlaced ? parseDocument(file, text) : undefined;
  const keyPositionOf = document?.keyPositionOf ?? (() => ({ file, line: 1, column: 1 }));
  if (document?.problems.length === 0) return notes.open(document.value, keyPositionOf);
  const found = valueOfText(file, text);
  if ('fault' in found) return found;
  // Duplicate keys are valid JSON, but lose data.
  for (const problem of document?.problems ?? []) notes.add('error', problem, problem.message);
  return notes.open(found.value, keyPositionOf);
}

/** The maximum number of characters in a file with key positions. */
export const largestWithPlaces = 4 * 1024 * 1024;

function isStructured(file: string): boolean {
  return ['.json', '.yaml', '.yml'].includes(extname(file));
}

function valueOfText(file: string, text: string): { readonly value: unknown } | Fault {
  if (!isStructured(file)) return { value: text.trim() };
  const known = extname(file) === '.json' ? tryParse(text) : undefined;
  if (known !== undefined) return { value: known };
  const { value, problems } = parseDocument(file, text);
  const [problem] = problems;
  return problem === undefined
    ? { value }
    : { fault: `${file}:${problem.line}:${problem.column} ${problem.message}` };
}

type Add = (severity: Problem['severity'], at: SourceLocation, message: string, hint?: string) => void;

/** `error`: left out. `warning`: imported, but different. `note`: no effect on verdicts. */
export interface Notes {
  readonly add: Add;
  /** Opens a value of the other system. Any part that no reader consumes becomes a problem. */
  open(value: unknown, keyPositionOf: (path: Path) => SourceLocation): Source;
  /** Opens a table row. Of equal messages from one file, only the first is kept. */
  openRow(value: unknown, keyPositionOf: (path: Path) => SourceLocation): Source;
  /** Opens list items as rows. Leaves out, with a note, items that are not mappings. */
  openItems(list: Source): readonly Source[];
  /** All problems without duplicates, in file order, including parts that no reader has consumed yet. */
  all(): readonly Problem[];
}

/** `lost` is the severity of a value that is not imported. */
export function collectNotes(lost: Problem['severity'] = 'error'): Notes {
  const found = new Map<string, Problem>();
  const opened: Source[] = [];
  const adder =
    (keyOf: (place: SourceLocation) => string): Add =>
    (severity, { file, line, column }, message, hint) => {
      const place = { file, line, column };
      const key = `${keyOf(place)} ${message}`;
      if (found.has(key)) return;
      const text = shorten(message, 500);
      found.set(key, { ...place, severity, message: text, ...(hint !== undefined && { hint }) });
    };
  const add = adder(({ file, line, column }) => `${file}:${line}:${column}`);
  const addOfRow = adder(({ file }) => file);
  const opener =
    (adding: Add): Notes['open'] =>
    (value, keyPositionOf) => {
      const source = new Source(value, { keyPositionOf, add: adding });
      opened.push(source);
      return source;
    };
  const openRow = opener(addOfRow);
  return {
    add,
    open: opener(add),
    openRow,
    openItems: (list) =>
      list.items().flatMap((item) => {
        const value = item.mapping();
        if (value === undefined) item.leave('an entry that is not a mapping is left out');
        return value === undefined ? [] : [openRow(value, (path) => item.locationOf(path))];
      }),
    all: () => {
      for (const source of opened.splice(0)) source.reportUntaken(lost);
      return sortProblems([...found.values()]);
    },
  };
}

/** Reads the rows of a table or of JSON Lines with their lines. Invalid rows become problems. */
export async function* readRows(
  {
    file,
    text,
    format,
  }: { readonly file: string; readonly text: string; readonly format: keyof typeof readers },
  notes: Notes,
): AsyncGenerator<{ readonly value: Readonly<Record<string, unknown>>; readonly at: SourceLocation }> {
  const bytes = async function* () {
    yield await Promise.resolve(Buffer.from(text));
  };
  for await (const { line, content } of readers[format](bytes(), file)) {
    const at = { file, line, column: 1 };
    if (content.usable) yield { value: content.value, at };
    else notes.add('error', at, content.problem.message, content.problem.hint);
  }
}
