import { basename } from 'node:path';
import { compileExpressions } from '../base/expression/expression.ts';
import { isObject } from '../base/json/json.ts';
import { checkSchema } from '../base/yaml/check.ts';
import { readDocument, type YamlDocument } from '../base/yaml/document.ts';
import { readFields } from '../base/yaml/fields.ts';
import type { Problem } from '../base/yaml/problem.ts';
import { requireLoaded, sortProblems } from '../base/yaml/problem.ts';
import { exactValueAt, itemsAt, textAt } from '../base/yaml/read.ts';
import { omitUndefined } from '../base/yaml/wording.ts';
import { isRemote } from './dataset/remote/address.ts';
import type { CaseMapping, Dataset, InlineRow, Suite } from './file/model.ts';
import { besideFile, rowVariables, toEval, variablesOf } from './file/read-eval.ts';
import { datasetSchema, gateSchema, limitKeys, repeatSchema, suiteSchema } from './file/schema.ts';
import { readSubjects } from './subject/read-variants.ts';
import type { SuiteRuntime } from './suite-runtime.ts';
import { validateSuite } from './validate/validate.ts';

/** `suite` is undefined if one of the problems is an error. `problems` are in file order. */
export interface LoadedSuite {
  readonly suite: Suite | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Reads and checks an EvalSuite. Without the runtime's `config`, references to it are not checked. Throws
 * FILE_UNREADABLE.
 */
export function loadSuite(file: string, config: SuiteRuntime | undefined): LoadedSuite {
  const document = readDocument(file);
  const shape = [...document.problems, ...checkSchema(document, suiteSchema)];
  const semantic = document.value === undefined ? [] : validateSuite(document, config);
  const problems = sortProblems([...shape, ...semantic]);
  const hasErrors = problems.some(({ severity }) => severity === 'error');
  return { suite: hasErrors ? undefined : toSuite(document, config), problems };
}

/** Throws FILE_UNREADABLE, and CONFIG_INVALID with `details.problems`. */
export function requireSuite(file: string, config: SuiteRuntime | undefined): Suite {
  const { suite, problems } = loadSuite(file, config);
  return requireLoaded(file, suite, problems);
}

function toSuite(document: YamlDocument, config: SuiteRuntime | undefined): Suite {
  const { file } = document;
  const runtime = textAt(document, ['spec', 'runtime']);
  return {
    file,
    name: textAt(document, ['metadata', 'name']) ?? basename(file).replace(/(\.suite)?\.(ya?ml|json)$/, ''),
    dataset: { ...toDataset(document), ...(config && { privateHosts: config.privateHosts }) },
    mapping: toMapping(document),
    evals: itemsAt(document, ['spec', 'evals']).map((path) => toEval(document, path)),
    gates: itemsAt(document, ['spec', 'gates']).map((path) =>
      readFields(document, path, gateSchema.properties),
    ),
    ...readFields(document, ['spec', 'repeat'], repeatSchema.properties),
    ...readFields(document, ['spec'], limitKeys),
    ...readSubjects(document, ['spec', 'subject']),
    ...omitUndefined({ runtime: runtime && besideFile(file, runtime) }),
  };
}

function toDataset(document: YamlDocument): Dataset {
  const { path, ...dataset } = readFields(document, ['spec', 'dataset'], datasetSchema.properties);
  if (path !== undefined) {
    const isOwn = path !== '-' && !isRemote(path);
    return { kind: 'file', path: isOwn ? besideFile(document.file, path) : path, ...dataset };
  }
  const rows = itemsAt(document, ['spec', 'cases']).flatMap((item): InlineRow[] => {
    const value = exactValueAt(document, item);
    return isObject(value) ? [{ line: document.positionOf(item).line, value }] : [];
  });
  return { kind: 'inline', file: document.file, rows };
}

function toMapping(document: YamlDocument): CaseMapping {
  const tree = exactValueAt(document, ['spec', 'case']);
  if (!isObject(tree)) {
    const row = { evaluate: ({ case: value }: Readonly<Record<string, unknown>>) => value };
    return { identity: row, body: row };
  }
  const { id, tags, ...body } = tree;
  return {
    identity: compileExpressions({ id, tags }, rowVariables),
    body: compileExpressions(body, variablesOf(document)),
    ...(tags === undefined ? {} : { tagsLine: document.positionOf(['spec', 'case', 'tags']).line }),
  };
}
