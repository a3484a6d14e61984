import { basename } from 'node:path';
import { checkSchema } from '../config/check.ts';
import type { Problem } from '../config/config.ts';
import { type Path, readDocument, type YamlDocument } from '../config/document.ts';
import { sortProblems } from '../config/problem.ts';
import { choiceAt, exactAt, itemsAt, valueAt } from '../config/read.ts';
import { RuntimeError } from '../errors.ts';
import { compileExpressions, type Expression } from '../expression.ts';
import { isObject } from '../json.ts';
import type { Dataset, Gate, InlineRow, Suite, SuiteEval } from './model.ts';
import { besideFile } from './paths.ts';
import { suiteSchema } from './schema.ts';
import { validateSuite } from './validate.ts';

/** A suite, unless one of its problems is an error. */
export interface LoadedSuite {
  readonly suite: Suite | undefined;
  /** In the order of the file. */
  readonly problems: readonly Problem[];
}

/**
 * Reads and checks an EvalSuite. `evalTypes` are the evals of its runtime; undefined leaves the types of its
 * evals unchecked. Throws FILE_UNREADABLE.
 */
export function loadSuite(file: string, evalTypes: readonly string[] | undefined): LoadedSuite {
  const document = readDocument(file);
  const shape = [...document.problems, ...checkSchema(document, suiteSchema)];
  const meaning = document.value === undefined ? [] : validateSuite(document, evalTypes);
  const problems = sortProblems([...shape, ...meaning]);
  const broken = problems.some(({ severity }) => severity === 'error');
  return { suite: broken ? undefined : toSuite(document), problems };
}

/** The suite that the file holds. Throws CONFIG_INVALID with `details.problems`, and FILE_UNREADABLE. */
export function requireSuite(file: string, evalTypes: readonly string[] | undefined): Suite {
  const { suite, problems } = loadSuite(file, evalTypes);
  if (suite !== undefined) return suite;
  const errors = problems.filter(({ severity }) => severity === 'error');
  const count = errors.length === 1 ? 'a problem' : `${errors.length} problems`;
  throw new RuntimeError('CONFIG_INVALID', `${file} has ${count}`, { details: { problems } });
}

function toSuite(document: YamlDocument): Suite {
  const { file } = document;
  const runtime = textAt(document, ['spec', 'runtime']);
  return {
    file,
    name: textAt(document, ['metadata', 'name']) ?? basename(file).replace(/(\.suite)?\.(ya?ml|json)$/, ''),
    ...(runtime === undefined ? {} : { runtime: besideFile(file, runtime) }),
    dataset: toDataset(document),
    mapping: expressionAt(document, ['spec', 'case']) ?? { evaluate: ({ case: row }) => row },
    evals: itemsAt(document, ['spec', 'evals']).map((path) => toEval(document, path)),
    gates: itemsAt(document, ['spec', 'gates']).map((path) => toGate(document, path)),
  };
}

function toDataset(document: YamlDocument): Dataset {
  const path = textAt(document, ['spec', 'dataset', 'path']);
  if (path === '-') return { kind: 'file', path };
  if (path !== undefined) return { kind: 'file', path: besideFile(document.file, path) };
  const rows = itemsAt(document, ['spec', 'cases']).flatMap((item): InlineRow[] => {
    const value = exactAt(document, item);
    return isObject(value) ? [{ line: document.positionOf(item).line, value }] : [];
  });
  return { kind: 'inline', file: document.file, rows };
}

function toEval(document: YamlDocument, path: Path): SuiteEval {
  const content = expressionAt(document, [...path, 'content']);
  const bounds = [...path, 'threshold'];
  return {
    id: textAt(document, [...path, 'id']) ?? '',
    type: textAt(document, [...path, 'type']) ?? '',
    role: choiceAt(document, [...path, 'role'], ['assertion', 'guardrail', 'metric']) ?? 'assertion',
    threshold: {
      ...numberAt(document, bounds, 'min_score'),
      ...numberAt(document, bounds, 'max_score'),
    },
    params: expressionAt(document, [...path, 'params']) ?? compileExpressions({}, []),
    ...(content === undefined ? {} : { content }),
  };
}

function toGate(document: YamlDocument, path: Path): Gate {
  const tag = textAt(document, [...path, 'tag']);
  return {
    eval: textAt(document, [...path, 'eval']) ?? '',
    metric: choiceAt(document, [...path, 'metric'], ['pass_rate', 'mean']) ?? 'pass_rate',
    ...(tag === undefined ? {} : { tag }),
    ...numberAt(document, path, 'min'),
    ...numberAt(document, path, 'max'),
  };
}

function textAt(document: YamlDocument, path: Path): string | undefined {
  const value = valueAt(document, path);
  return typeof value === 'string' ? value : undefined;
}

function numberAt<Key extends string>(document: YamlDocument, path: Path, key: Key): { [K in Key]?: number } {
  const value = valueAt(document, [...path, key]);
  const found: { [K in Key]?: number } = {};
  if (typeof value === 'number') found[key] = value;
  return found;
}

function expressionAt(document: YamlDocument, path: Path): Expression | undefined {
  const tree = exactAt(document, path);
  return tree === undefined ? undefined : compileExpressions(tree, ['case']);
}
