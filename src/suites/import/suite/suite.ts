import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { makeTempFolder, removeTempFolder } from '../../../base/files/temp-folder.ts';
import { writeInside } from '../../../base/files/write-inside.ts';
import { isObject, stringifyJson } from '../../../base/json/json.ts';
import { readDocument } from '../../../base/yaml/document.ts';
import type { Problem } from '../../../base/yaml/problem.ts';
import { readConfig } from '../../../config/load.ts';
import { validatePipeline, validateSuite } from '../../validate/with-runtime.ts';
import type { ImportedProvider } from './providers.ts';
import { escapeText } from './template.ts';

export interface ImportedFile {
  readonly name: string;
  readonly text: string;
}

export interface SuiteImport {
  /** `whole`: everything was imported. `partly`: something was left out. `none`: nothing can be run. */
  readonly status: 'whole' | 'partly' | 'none';
  readonly files: readonly ImportedFile[];
  readonly suites: readonly string[];
  readonly runs: readonly string[];
  readonly cases: number;
  readonly problems: readonly Problem[];
}

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

/** Validates the files in a temporary folder and adds their problems. Invalid files make the import `partly`. */
export async function validateImport(output: string, found: SuiteImport): Promise<SuiteImport> {
  if (found.files.length === 0) return found;
  const folder = realpathSync(makeTempFolder('import'));
  const inOutput = (text: string): string => text.replaceAll(folder, () => output);
  const invalid: Problem[] = [];
  // The programs may exist only on another machine.
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
            message: `the imported suite is not valid: ${inOutput(each.message)}`,
          });
    }
  } finally {
    removeTempFolder(folder);
  }
  return invalid.length === 0
    ? found
    : { ...found, status: 'partly', problems: [...found.problems, ...invalid] };
}

/** Throws USAGE if a file exists, cannot be written or would be written through a link. */
export function writeImport(output: string, { files }: SuiteImport, force: boolean): void {
  writeInside(output, files, force);
}

export function runtimeFile({
  name,
  providers,
  graders = [],
  tools = {},
  evals = {},
}: ImportedRuntime): ImportedFile {
  const models = [...providers.filter(({ kind }) => kind !== 'tool').map(({ entry }) => entry), ...graders];
  const spec = {
    ...(models.length > 0 && { providers: models }),
    ...(Object.keys(tools).length > 0 && { tools }),
    ...(Object.keys(evals).length > 0 && { evals }),
  };
  const runtime = { apiVersion: 'signalbox/v1', kind: 'RuntimeConfig', metadata: { name }, spec };
  return { name: 'runtime.yaml', text: yamlOf(withoutReferences(runtime)) };
}

interface ImportedRuntime {
  readonly name: string;
  readonly providers: readonly ImportedProvider[];
  readonly graders?: readonly Mapping[];
  readonly tools?: Mapping;
  readonly evals?: Mapping;
}

export function programsOf(providers: readonly ImportedProvider[]): Mapping {
  return Object.fromEntries(
    providers.flatMap(({ kind, name, entry }) => (kind === 'tool' ? [[name, entry] as const] : [])),
  );
}

export function datasetFile(name: string, rows: readonly object[]): ImportedFile {
  return { name, text: rows.map((row) => `${stringifyJson(row)}\n`).join('') };
}

/** Makes a suite for the runtime and dataset in the same folder. */
export function suiteFile(file: string, name: string, { dataset, ...spec }: ImportedSpec): ImportedFile {
  const suite = {
    apiVersion: 'signalbox/v1',
    kind: 'EvalSuite',
    metadata: { name },
    spec: { runtime: './runtime.yaml', dataset: { path: dataset }, ...spec },
  };
  return { name: `${file}.suite.yaml`, text: yamlOf(suite) };
}

interface ImportedSpec {
  readonly dataset: string;
  readonly subject?: Mapping;
  readonly case: Mapping;
  readonly evals: readonly object[];
  readonly repeat?: Mapping;
}

/** The subject that sends the question of a case to a provider, and the location of a program's text. */
export function askedProvider(
  { kind, name }: ImportedProvider,
  chat: Mapping,
): {
  readonly subject: Mapping;
  readonly content?: string;
} {
  return kind === 'tool'
    ? {
        subject: { tool: name, args: { prompt: '${case.question}', vars: {} } },
        content: '${subject.result.text}',
      }
    : { subject: { chat: { provider: name, ...chat } } };
}

/** Writes YAML without anchors and line folding. */
export function yamlOf(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Prevents imported texts in a RuntimeConfig from reading environment variables. */
function withoutReferences<Value>(value: Value): Value;
function withoutReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${env:', () => '$${env:');
  if (Array.isArray(value)) return value.map((item: unknown) => withoutReferences(item));
  if (!isObject(value)) return value;
  // Schemas are not interpolated.
  const entries = Object.entries(value).map(([key, member]) =>
    /^(?:input|output)_schema$/.test(key) ? [key, member] : [key, withoutReferences(member)],
  );
  return Object.fromEntries(entries);
}

type Mapping = Readonly<Record<string, unknown>>;

export type Check =
  | {
      readonly type: string;
      readonly params: Readonly<Record<string, unknown>>;
      readonly threshold?: { readonly min_score: number };
    }
  | { readonly not: Check }
  | { readonly all_of: readonly Check[] }
  | { readonly any_of: readonly Check[] };

export interface ImportedAssertion {
  readonly name: string;
  readonly check: Check;
  readonly weight: number;
}

interface Judged {
  readonly assertions: readonly ImportedAssertion[];
}

export interface EvalPlan {
  readonly evals: readonly Mapping[];
  readonly checks: readonly Mapping[];
}

interface Slot {
  readonly id: string;
  readonly assertion: ImportedAssertion;
  readonly rows: Map<number, readonly unknown[]>;
  readonly first: string;
  isConstant: boolean;
}

/**
 * Assertions of one form share an eval, so that 10^5 tests do not make 10^5 evals. Equal params go into the eval,
 * others into the rows.
 */
export function planEvals(cases: readonly Judged[]): EvalPlan {
  const slots = collectSlots(cases);
  const checks: Record<string, unknown>[] = cases.map(() => ({}));
  const evals = slots.map((slot) => {
    const isEverywhere = slot.rows.size === cases.length;
    if (!slot.isConstant || !isEverywhere) {
      for (const [index, params] of slot.rows) {
        const row = checks[index];
        if (row !== undefined) row[slot.id] = slot.isConstant ? true : params;
      }
    }
    return evalOf(slot, isEverywhere);
  });
  return { evals: evals.length > 0 ? evals : [answered], checks };
}

/** The eval of a test without assertions: requires only an answer. */
export const answered = { id: 'answered', type: 'regex', params: { pattern: '^' } };

function collectSlots(cases: readonly Judged[]): readonly Slot[] {
  const slots = new Map<string, Slot>();
  const ids = new Set<string>();
  for (const [index, { assertions }] of cases.entries()) {
    const seen = new Map<string, number>();
    for (const assertion of assertions) {
      const form = stringifyJson([assertion.name, assertion.weight, shapeOf(assertion.check)]);
      const count = (seen.get(form) ?? 0) + 1;
      seen.set(form, count);
      const key = `${count} ${form}`;
      const params = paramsOf(assertion.check);
      const text = stringifyJson(params);
      const slot = slots.get(key) ?? {
        id: freeId(assertion.name, ids),
        assertion,
        rows: new Map(),
        first: text,
        isConstant: true,
      };
      slots.set(key, slot);
      slot.rows.set(index, params);
      if (text !== slot.first) slot.isConstant = false;
    }
  }
  return [...slots.values()];
}

function freeId(name: string, taken: Set<string>): string {
  const base = nameOf(name);
  let id = base;
  for (let count = 2; taken.has(id); count += 1) id = `${base}-${count}`;
  taken.add(id);
  return id;
}

export function nameOf(name: string): string {
  // Two leading underscores could collide with members of every object, such as `__proto__`.
  return name.slice(0, 100).replaceAll(/[^\p{L}\p{N}_ .-]|^_+/gu, '-');
}

function shapeOf(check: Check): unknown {
  if ('not' in check) return { not: shapeOf(check.not) };
  if ('all_of' in check) return { all_of: check.all_of.map(shapeOf) };
  if ('any_of' in check) return { any_of: check.any_of.map(shapeOf) };
  return { type: check.type, threshold: check.threshold };
}

function paramsOf(check: Check): readonly Mapping[] {
  if ('not' in check) return paramsOf(check.not);
  if ('all_of' in check) return check.all_of.flatMap(paramsOf);
  if ('any_of' in check) return check.any_of.flatMap(paramsOf);
  return [check.params];
}

function evalOf({ id, assertion, isConstant }: Slot, isEverywhere: boolean): Mapping {
  const { check, weight } = assertion;
  const name = JSON.stringify(id);
  let part = 0;
  const paramsFor = (params: Mapping): unknown => {
    const value = isConstant ? escapeAll(params) : `\${case.checks[${name}][${part}]}`;
    part += 1;
    return value;
  };
  return {
    id,
    ...(!isEverywhere && { if: `\${${name} in case.checks}` }),
    ...written(check, paramsFor, true),
    // promptfoo ignores a weight of 0; here the eval becomes a metric.
    ...(weight === 0 ? { role: 'metric' } : weight !== 1 && { weight }),
  };
}

function written(check: Check, paramsFor: (params: Mapping) => unknown, isWhole: boolean): Mapping {
  if ('not' in check) return { not: written(judged(check.not), paramsFor, false) };
  if ('all_of' in check) return { all_of: check.all_of.map((each) => written(each, paramsFor, false)) };
  if ('any_of' in check) return { any_of: check.any_of.map((each) => written(each, paramsFor, false)) };
  const { type, params, threshold } = check;
  const bound = threshold ?? (isWhole ? undefined : { min_score: 1 });
  return { type, params: paramsFor(params), ...(bound !== undefined && { threshold: bound }) };
}

/** An inverted check scores 0 or 1, never a share. */
export function judged(check: Check): Check {
  return 'type' in check && check.threshold === undefined ? { ...check, threshold: { min_score: 1 } } : check;
}

function escapeAll(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (Array.isArray(value)) return value.map(escapeAll);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escapeAll(member)]));
}
