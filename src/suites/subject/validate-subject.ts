import { toRuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { type ExpressionField, findBadExpressionsAt } from '../../base/yaml/expressions.ts';
import { type Finding, findInfiniteNumbers } from '../../base/yaml/finding.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import { formatProblem } from '../../base/yaml/problem.ts';
import { itemsAt, nonEmptyTextAt, valueAt } from '../../base/yaml/read.ts';
import { loadPipeline } from '../../pipelines/file/load.ts';
import { findWrongArgs } from '../../pipelines/file/validate-args.ts';
import { findWrongNames } from '../../pipelines/file/validate-names.ts';
import { findWrongChecks } from '../../pipelines/file/validate-shape.ts';
import type { StepNode } from '../../pipelines/file/validate-tree.ts';
import { besideFile } from '../file/paths.ts';
import type { SuiteRuntime } from '../suite-runtime.ts';
import { subjectVariables } from './read-subject.ts';

/** What is wrong with the subject at `path` beyond its shape; `config` is that of its runtime, if it is known. */
export function findSubjectProblems(
  document: YamlDocument,
  path: Path,
  config: SuiteRuntime | undefined,
): Finding[] {
  const value = valueAt(document, path);
  if (!isObject(value)) return [];
  const step = toStep(path, value);
  return [
    ...findMisplacedKeys(step),
    ...[
      ...findWrongNames(document, [step], config),
      ...findWrongArgs(step.kind === 'tool' ? [step] : [], config),
      ...findWrongChecks(document, step),
    ].map(({ path: place, message, hint }) => ({ path: place, message, ...omitUndefined({ hint }) })),
    ...subjectFieldsOf(document, path).flatMap((field) => [
      ...findBadExpressionsAt(document, field, ({ hint }) => hint ?? variablesHint),
      ...findInfiniteNumbers(document, field.path),
    ]),
    ...findBadPipeline(document, [...path, 'pipeline'], config),
  ];
}

/** A subject has the keys of a pipeline step, so it is checked as one. */
function toStep(path: Path, value: StepNode['value']): StepNode {
  const [kind, ...others] = kindsOf(value);
  const place = {
    id: undefined,
    parent: undefined,
    slot: 'spec',
    index: 0,
    loops: false,
    collect: 'all',
  } as const;
  return { ...place, path, value, kind: others.length > 0 || kind === 'pipeline' ? undefined : kind };
}

/** The kinds that the subject has keys of: exactly one in a valid file. */
function kindsOf(value: StepNode['value']) {
  return (['tool', 'chat', 'pipeline'] as const).filter((key) => Object.hasOwn(value, key));
}

function findMisplacedKeys({ path, value }: StepNode): Finding[] {
  const [kind, ...others] = kindsOf(value);
  if (kind === undefined || others.length > 0) return [];
  return Object.entries({ args: 'tool', input: 'pipeline' }).flatMap(([key, owner]) => {
    if (!Object.hasOwn(value, key) || kind === owner) return [];
    const message = `belongs to a subject with \`${owner}\`, and this one has \`${kind}\``;
    return [{ path: [...path, key], message }];
  });
}

export const variablesHint = 'Expressions see the row as `case`, and the number of its run as `epoch`.';

/** Every tree of the subject at `path` whose strings are expressions. */
export function subjectFieldsOf(document: YamlDocument, path: Path): ExpressionField[] {
  const chat = [...path, 'chat'];
  const guardrails = itemsAt(document, [...chat, 'guardrails']);
  const variables = subjectVariables;
  return [
    { path: [...path, 'args'], variables, wanted: 'map' },
    { path: [...path, 'input'], variables },
    { path: [...chat, 'system'], variables },
    { path: [...chat, 'messages'], variables },
    ...guardrails.map((item) => ({ path: [...item, 'params'], variables, wanted: 'map' as const })),
  ];
}

/** The errors of the pipeline file of the subject, each with its own position in the message. */
function findBadPipeline(document: YamlDocument, path: Path, config: SuiteRuntime | undefined): Finding[] {
  const named = nonEmptyTextAt(document, path);
  if (named === undefined) return [];
  try {
    const { problems } = loadPipeline(besideFile(document.file, named), config);
    return problems
      .filter(({ severity }) => severity === 'error')
      .map(({ hint, ...problem }) => ({ path, message: formatProblem(problem), ...omitUndefined({ hint }) }));
  } catch (error) {
    return [
      { path, message: toRuntimeError(error).message, hint: 'The path starts at the folder of this file.' },
    ];
  }
}
