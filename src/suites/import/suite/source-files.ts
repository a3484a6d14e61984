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
  /** Its path from the folder of the config, in which programs run. */
  readonly fromFolder: string;
}

/** Why a file, or what is in it, is not taken. */
export interface Fault {
  readonly fault: string;
}

/** Files that a config names, inside its own folder. */
export interface SourceFiles {
  /** The way from the folder that the import writes to, to that of the config. */
  readonly folderFromOutput: string;
  /** The way back, for the programs that the import writes. */
  readonly outputFromFolder: string;
  find(name: string): FoundFile | Fault;
  text(name: string): string | Fault;
  /** What a text file stands for: YAML and JSON their value, all others their text. */
  value(name: string): { readonly value: unknown } | Fault;
  /** The value with each key at its place. */
  open(name: string): Source | Fault;
  /** The files of a glob pattern; a name that is no pattern is itself. */
  match(pattern: string): readonly string[];
}

/** Bytes of one file: more than a data set that is read as a whole should have. */
const largestFile = 64 * 1024 * 1024;

/** Files below the folder of a config, for files written to `output`. */
export function openSourceFiles(configFolder: string, output: string, notes: Notes): SourceFiles {
  const folder = realpathSync(configFolder);
  const opened = new Map<string, Source | Fault>();
  const find = (name: string): FoundFile | Fault => findWithin(folder, name);
  const match = (pattern: string): readonly string[] => {
    const plain = plainName(pattern);
    // A pattern that could walk the whole disk is left a name, which is not there.
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
    if (leadsOut(within)) return { fault: `${name} leads out of the folder of the config` };
    const stat = statSync(file);
    if (!stat.isFile()) return { fault: `${name} is no file` };
    return stat.size > largestFile ? { fault: `${name} has more than 64 MiB` } : { file, fromFolder: within };
  } catch (thrown) {
    return { fault: `${name} ${whyUnreadable(thrown)}` };
  }
}

function plainName(name: string): string {
  // No file is called so, and the system refuses to look.
  return name.replace(/^file:\/\//, '').replaceAll('\0', '\uFFFD');
}

function leadsOut(within: string): boolean {
  return within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within);
}

/** The text of a file, whichever of UTF-8, UTF-16 and Latin-1 it is in, or why it cannot be read. */
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

/** The same with each key at its place, as long as the file is not so large that places take too long. */
export function openText(file: string, text: string, notes: Notes): Source | Fault {
  const isPlaced = isStructured(file) && text.length <= largestWithPlaces;
  const document = isPlaced ? parseDocument(file, text) : undefined;
  const keyPositionOf = document?.keyPositionOf ?? (() => ({ file, line: 1, column: 1 }));
  if (document?.problems.length === 0) return notes.open(document.value, keyPositionOf);
  const found = valueOfText(file, text);
  if ('fault' in found) return found;
  // JSON that has a key twice is JSON, of which something is lost all the same.
  for (const problem of document?.problems ?? []) notes.add('error', problem, problem.message);
  return notes.open(found.value, keyPositionOf);
}

/** Characters of a file in which every key has its line. */
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

/** What an import has to say: `error` was left out, `warning` was carried but differs, `note` changes no verdict. */
export interface Notes {
  readonly add: Add;
  /** A value of a file of the other system: whatever of it no reader takes is one of the problems. */
  open(value: unknown, keyPositionOf: (path: Path) => SourceLocation): Source;
  /** The same of a row of a table, where many rows say the same: of equal messages of one file the first is kept. */
  openRow(value: unknown, keyPositionOf: (path: Path) => SourceLocation): Source;
  /** The items of a list as rows of that kind; what is no mapping is left out, with a note. */
  openItems(list: Source): readonly Source[];
  /** Each once, in the order of the files, with what no reader has taken until now. */
  all(): readonly Problem[];
}

/** Collects notes; `lost` is how severe it is that a value is not carried. */
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
        if (value === undefined) item.leave('what is no mapping is left out');
        return value === undefined ? [] : [openRow(value, (path) => item.locationOf(path))];
      }),
    all: () => {
      for (const source of opened.splice(0)) source.reportUntaken(lost);
      return sortProblems([...found.values()]);
    },
  };
}

/** The rows of a table or of JSON Lines, each at its line; what is no row is a problem. */
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
