import type { Source } from '../../../yaml/source.ts';
import { type SourceFiles, valueOfFile } from '../../suite-import/source-files.ts';

export type Mapping = Readonly<Record<string, unknown>>;

/** The variables of a test, which may stand in a file. */
export function varsOf(test: Source, files: SourceFiles): readonly (readonly [string, Source])[] {
  const given = test.at('vars');
  const name = given.text();
  if (name === undefined) return given.members();
  const found = files.open(name);
  if (!('fault' in found) && found.kind === 'mapping') return found.members();
  given.leave('fault' in found ? found.fault : `${name} holds no variables`);
  if (!('fault' in found)) found.whole();
  return [];
}

/** A value with the files that it names, which a pattern makes a list of. */
export function loadVariable(source: Source, files: SourceFiles): unknown {
  const value = source.whole();
  if (typeof value !== 'string' || !value.startsWith('file://')) return value;
  // A pattern stands for a list of the files.
  if (/[*?{[]/.test(value)) {
    const names = files.match(value);
    if (names.length === 0) source.note('error', `no file is called ${value}`);
    return FileValues.from(names, (name) => loadFile(`file://${name}`, source, files));
  }
  return loadFile(value, source, files);
}

function loadFile(value: string, source: Source, files: SourceFiles): unknown {
  if (!/\.(txt|md|json|yaml|yml|html|xml|csv)$/.test(value)) {
    source.note('error', `the variable ${value} is no text and is left empty`);
    return '';
  }
  const found = files.find(value);
  const loaded = 'fault' in found ? found : valueOfFile(found.file);
  if ('value' in loaded) return loaded.value;
  source.note('error', `${loaded.fault}; the variable is left empty`);
  return '';
}

/** Beyond this nobody meant it. */
const mostCombinations = 100_000;

/** The variables of each case: one of every combination of the lists among them. */
export function combinations(entries: readonly (readonly [string, unknown])[], test: Source): Mapping[] {
  let all: Mapping[] = [{}];
  for (const [name, value] of entries) {
    const values = isListOfValues(value) ? value : [value];
    if (values.length === 0)
      test.note('note', `the list \`${name}\` is empty, so the test makes no case, there as here`);
    if (all.length * values.length > mostCombinations) {
      test.leave(`its lists of variables make more than ${mostCombinations} cases; the test is left out`);
      return [];
    }
    all = all.flatMap((known) => values.map((each) => ({ ...known, [name]: each })));
  }
  return all;
}

/** A list of texts, or of files that fit a pattern, makes a case of each; a list of anything else is one value. */
function isListOfValues(value: unknown): value is readonly unknown[] {
  return value instanceof FileValues || (Array.isArray(value) && typeof value[0] === 'string');
}

/** What the files of a pattern hold. */
class FileValues extends Array<unknown> {}
