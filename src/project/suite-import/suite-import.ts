import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { makeTempFolder, removeTempFolder } from '../../files/temp-folder.ts';
import { writeInside } from '../../files/write-inside.ts';
import { isObject } from '../../json/json.ts';
import { readDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { readConfig } from '../read-config.ts';
import { validatePipeline, validateSuite } from '../validate-with-runtime.ts';

/** A file that an import writes, by its name in the output folder. */
export interface ImportedFile {
  readonly name: string;
  readonly text: string;
}

/** What became of a file of another system. */
export interface SuiteImport {
  /** `whole`: nothing was left out; `partly`: something was; `none`: nothing is left to run. */
  readonly status: 'whole' | 'partly' | 'none';
  readonly files: readonly ImportedFile[];
  /** Those of `files` that are suites. */
  readonly suites: readonly string[];
  /** Those of `files` that are runs, as `eval run --reporter jsonl` writes them. */
  readonly runs: readonly string[];
  readonly cases: number;
  readonly problems: readonly Problem[];
}

/** An import of these files; without any, nothing was left to run. */
export function toSuiteImport(
  files: readonly ImportedFile[],
  cases: number,
  problems: readonly Problem[],
): SuiteImport {
  const named = (ending: string) => files.flatMap(({ name }) => (name.endsWith(ending) ? [name] : []));
  const isWhole = problems.every(({ severity }) => severity !== 'error');
  return {
    status: files.length === 0 ? 'none' : isWhole ? 'whole' : 'partly',
    files,
    suites: named('.suite.yaml'),
    runs: named('.run.jsonl'),
    cases,
    problems,
  };
}

/** The import with what is wrong with its files, which are validated in a temporary folder: one that is not valid is not whole. */
export async function validateImport(output: string, found: SuiteImport): Promise<SuiteImport> {
  if (found.files.length === 0) return found;
  const folder = realpathSync(makeTempFolder('import'));
  const inOutput = (text: string): string => text.replaceAll(folder, () => output);
  const invalid: Problem[] = [];
  // Programs of the other system may be on another machine.
  const read = { ignoresPrograms: true };
  const runtime = join(folder, 'runtime.yaml');
  try {
    writeInside(folder, found.files, false);
    for (const { name } of found.files.filter((file) => file.name.endsWith('.yaml'))) {
      const file = join(folder, name);
      const problems = name.endsWith('.suite.yaml')
        ? validateSuite(readDocument(file), runtime, read)
        : name.endsWith('.pipeline.yaml')
          ? validatePipeline(readDocument(file), runtime, read)
          : readConfig(file, read).problems;
      for (const each of problems)
        if (each.severity === 'error')
          invalid.push({
            ...each,
            file: inOutput(each.file),
            message: `what is written is not valid: ${inOutput(each.message)}`,
          });
    }
  } finally {
    removeTempFolder(folder);
  }
  return invalid.length === 0
    ? found
    : { ...found, status: 'partly', problems: [...found.problems, ...invalid] };
}

/** Writes the files of an import. Throws USAGE where a file is there already, cannot be written, or would go through a link. */
export function writeImport(output: string, { files }: SuiteImport, force: boolean): void {
  writeInside(output, files, force);
}

/** A value as YAML, without anchors and broken lines. */
export function yamlOf(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** A RuntimeConfig as YAML, in which no text of another system reads a variable of the environment. */
export function runtimeYamlOf(value: object): string {
  return yamlOf(withoutReferences(value));
}

function withoutReferences<Value>(value: Value): Value;
function withoutReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${env:', () => '$${env:');
  if (Array.isArray(value)) return value.map((item: unknown) => withoutReferences(item));
  if (!isObject(value)) return value;
  // Nothing is filled into schemas.
  const entries = Object.entries(value).map(([key, member]) =>
    /^(?:input|output)_schema$/.test(key) ? [key, member] : [key, withoutReferences(member)],
  );
  return Object.fromEntries(entries);
}
