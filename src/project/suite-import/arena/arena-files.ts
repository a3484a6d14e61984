import { dirname, join, resolve } from 'node:path';
import { RuntimeError } from '../../../errors.ts';
import { isObject } from '../../../json/json.ts';
import { type Path, parseDocument, type YamlDocument } from '../../../yaml/document.ts';
import { requireLoaded } from '../../../yaml/problem.ts';
import type { Notes } from '../notes.ts';
import { openSourceFiles, type SourceFiles, textOfFile } from '../source-files.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** One file of an Arena: its kind, what it specifies, and where to say what is left of it. */
export interface ArenaFile {
  readonly kind: string;
  readonly name: string;
  readonly spec: Mapping;
  note(severity: 'error' | 'warning' | 'note', at: Path, message: string, hint?: string): void;
}

/** The files that a first one names, below its folder. */
export interface ArenaFiles {
  readonly first: ArenaFile;
  readonly files: SourceFiles;
  /** The files of a list of `{file}`; what cannot be read is noted at its place in the first one. */
  listed(key: string): readonly ArenaFile[];
}

/** Opens an Arena, or one of its scenarios. Throws FILE_UNREADABLE and CONFIG_INVALID of that file. */
export function openArena(file: string, output: string, notes: Notes): ArenaFiles {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const root = dirname(resolve(file));
  const document = parseDocument(file, text);
  const value = requireLoaded(file, document.value, document.problems);
  const first = toArenaFile(document, value, notes);
  const files = openSourceFiles(root, output);
  const open = (name: string, at: Path): ArenaFile[] => {
    const found = files.find(name);
    const body = 'fault' in found ? found : textOfFile(found.file);
    if (typeof body !== 'string') {
      first.note('error', at, body.fault);
      return [];
    }
    const inner = parseDocument(join(dirname(file), name), body);
    const [problem] = inner.problems;
    if (problem !== undefined) {
      notes.add('error', problem, problem.message);
      return [];
    }
    return [toArenaFile(inner, inner.value, notes)];
  };
  const listed = (key: string): readonly ArenaFile[] => {
    const list: unknown = first.spec[key];
    if (!Array.isArray(list)) return [];
    return list.flatMap((each: unknown, index) => {
      const name = isObject(each) ? each['file'] : each;
      const at = ['spec', key, index];
      if (typeof name === 'string') return open(name, at);
      first.note('error', at, `an entry of \`${key}\` without a file is left out`);
      return [];
    });
  };
  return { first, files, listed };
}

function toArenaFile(document: YamlDocument, value: unknown, notes: Notes): ArenaFile {
  const whole = isObject(value) ? value : {};
  const metadata = isObject(whole['metadata']) ? whole['metadata'] : {};
  const spec = isObject(whole['spec']) ? whole['spec'] : {};
  const { name } = metadata;
  return {
    kind: String(whole['kind'] ?? ''),
    name: typeof name === 'string' ? name : String(spec['id'] ?? 'arena'),
    spec,
    note: (severity, at, message, hint) => notes.add(severity, document.positionOf(at), message, hint),
  };
}
