import { dirname, join, resolve } from 'node:path';
import { RuntimeError } from '../../../errors.ts';
import { isObject } from '../../../json/json.ts';
import { parseDocument, type YamlDocument } from '../../../yaml/document.ts';
import { requireLoaded } from '../../../yaml/problem.ts';
import type { Source } from '../../../yaml/source.ts';
import type { Notes } from '../notes.ts';
import { openSourceFiles, type SourceFiles, textOfFile } from '../source-files.ts';

/** One file of an Arena: its kind, and what it specifies. */
export interface ArenaFile {
  readonly kind: string;
  readonly name: string;
  readonly root: Source;
  readonly spec: Source;
}

/** The files that a first one names, below its folder. */
export interface ArenaFiles {
  readonly first: ArenaFile;
  readonly files: SourceFiles;
  /** The files of a list of `{file}`; what cannot be read is noted at its place in the first one. */
  listed(key: keyof typeof kindsOf): readonly ArenaFile[];
}

/** Opens an Arena, or one of its scenarios. Throws FILE_UNREADABLE and CONFIG_INVALID of that file. */
export function openArena(file: string, output: string, notes: Notes): ArenaFiles {
  const text = textOfFile(file);
  if (typeof text !== 'string') throw new RuntimeError('FILE_UNREADABLE', text.fault);
  const document = parseDocument(file, text);
  const toArenaFile = (parsed: YamlDocument, value: unknown): ArenaFile => {
    const root = notes.open(value, parsed.keyPositionOf);
    return { ...headOf(root), root, spec: root.at('spec') };
  };
  const first = toArenaFile(document, requireLoaded(file, document.value, document.problems));
  const files = openSourceFiles(dirname(resolve(file)), output, notes);
  const open = (entry: Source, name: string, kind: string): readonly ArenaFile[] => {
    const found = files.find(name);
    const body = 'fault' in found ? found : textOfFile(found.file);
    if (typeof body !== 'string') {
      entry.leave(body.fault);
      return [];
    }
    const inner = parseDocument(join(dirname(file), name), body);
    const [problem] = inner.problems;
    if (problem !== undefined || !isObject(inner.value)) {
      notes.add(
        'error',
        problem ?? inner.positionOf([]),
        problem?.message ?? 'it is no mapping, and is left out',
      );
      return [];
    }
    const made = toArenaFile(inner, inner.value);
    if (made.kind === kind) return [made];
    made.root.leave(`a file of kind ${made.kind}, where a ${kind} is named, is left out`);
    return [];
  };
  const listed = (key: keyof typeof kindsOf): readonly ArenaFile[] =>
    first.spec
      .at(key)
      .items()
      .flatMap((entry) => {
        const name = entry.text() ?? entry.at('file').text();
        // What else an entry of prompts has is the name that scenarios know them by.
        entry.at('id').text();
        if (name !== undefined) return open(entry, name, kindsOf[key]);
        entry.leave(`an entry of \`${key}\` without a file is left out`);
        return [];
      });
  return { first, files, listed };
}

/** The kind of file that each list of an Arena names. */
const kindsOf = {
  prompt_configs: 'PromptConfig',
  providers: 'Provider',
  scenarios: 'Scenario',
  tools: 'Tool',
} as const;

/** What every file of PromptKit's has around its `spec`. */
function headOf(root: Source): Pick<ArenaFile, 'kind' | 'name'> {
  root.at('apiVersion').scalar();
  root.at('$schema').text();
  for (const [key, member] of root.at('metadata').members())
    if (key !== 'name')
      member.leave(`\`metadata.${key}\` is not carried, and changes nothing`, undefined, 'note');
  const name = root.at('metadata').at('name').scalar();
  const spec = root.at('spec');
  return { kind: root.at('kind').text() ?? '', name: name ?? spec.at('id').text() ?? 'arena' };
}

/** Says of these members that they change no answer and no verdict. */
export function leaveIdle(spec: Source, keys: readonly string[]): void {
  for (const key of keys.filter((each) => spec.at(each).isGiven))
    spec.at(key).leave(`\`${key}\` is not carried, and changes nothing`, undefined, 'note');
}
