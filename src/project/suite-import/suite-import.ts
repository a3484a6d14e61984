import { join } from 'node:path';
import { stringify } from 'yaml';
import { writeInside } from '../../files/write-inside.ts';
import { isObject } from '../../json/json.ts';
import type { Problem } from '../../yaml/problem.ts';
import { validateFile } from '../validate-file.ts';

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

/**
 * Writes the files of an import and validates them: what is not valid is one more problem, and the import is not whole. Throws
 * USAGE where a file is there already, cannot be written, or would go through a link.
 */
export async function writeImport(output: string, found: SuiteImport, force: boolean): Promise<SuiteImport> {
  writeInside(output, found.files, force);
  const invalid: Problem[] = [];
  for (const { name } of found.files.filter((file) => file.name.endsWith('.yaml'))) {
    const problems = await validateFile(join(output, name), join(output, 'runtime.yaml'));
    invalid.push(...problems.filter(({ severity }) => severity === 'error'));
  }
  if (invalid.length === 0) return found;
  const told = invalid.map((each) => ({
    ...each,
    message: `what was written is not valid: ${each.message}`,
  }));
  return { ...found, status: 'partly', problems: [...found.problems, ...told] };
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
