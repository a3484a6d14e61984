import { isObject } from '../../../json/json.ts';
import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import { valueOfFile } from '../../suite-import/source-files.ts';
import { type Mapping, mappingAt } from './mapping.ts';
import type { GivenTest, TestContext } from './tests.ts';

/** The variables of a test, which may stand in a file. */
export function varsOf(test: Mapping, at: Path | SourceLocation, { files, notes }: TestContext): Mapping {
  const given = test['vars'];
  if (typeof given !== 'string') return mappingAt(test, 'vars');
  const found = files.find(given);
  const loaded = 'fault' in found ? found : valueOfFile(found.file);
  if ('value' in loaded && isObject(loaded.value)) return loaded.value;
  notes.add('error', at, 'fault' in loaded ? loaded.fault : `${given} holds no variables`);
  return {};
}

/** A value with the files that it names, which a pattern makes a list of. */
export function loadVariable(value: unknown, { at }: GivenTest, { files, notes }: TestContext): unknown {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || !value.startsWith('file://')) return value;
  // A pattern stands for a list of the files.
  if (/[*?{[]/.test(value)) {
    const names = files.match(value);
    if (names.length === 0) notes.add('error', at, `no file is called ${value}`);
    return FileValues.from(names, (name) => loadFile(`file://${name}`, at, { files, notes }));
  }
  return loadFile(value, at, { files, notes });
}

function loadFile(value: string, at: GivenTest['at'], { files, notes }: TestContext): unknown {
  if (!/\.(txt|md|json|yaml|yml|html|xml|csv)$/.test(value)) {
    notes.add('error', at, `the variable ${value} is no text and is left empty`);
    return '';
  }
  const found = files.find(value);
  const loaded = 'fault' in found ? found : valueOfFile(found.file);
  if ('value' in loaded) return loaded.value;
  notes.add('error', at, `${loaded.fault}; the variable is left empty`);
  return '';
}

/** Beyond this nobody meant it. */
const mostCombinations = 100_000;

/** The variables of each case: one of every combination of the lists among them. */
export function combinations(
  entries: readonly (readonly [string, unknown])[],
  { at }: GivenTest,
  { notes }: TestContext,
): Mapping[] {
  let all: Mapping[] = [{}];
  for (const [name, value] of entries) {
    const values = isListOfValues(value) ? value : [value];
    if (values.length === 0)
      notes.add('note', at, `the list \`${name}\` is empty, so the test makes no case, there as here`);
    if (all.length * values.length > mostCombinations) {
      notes.add(
        'error',
        at,
        `its lists of variables make more than ${mostCombinations} cases; the test is left out`,
      );
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
