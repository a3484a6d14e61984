import { toRuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { type ExpressionField, findBadExpressionsAt } from '../../base/yaml/expressions.ts';
import { type Finding, findInfiniteNumbers } from '../../base/yaml/finding.ts';
import { formatProblem } from '../../base/yaml/problem.ts';
import { itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { loadPipeline } from '../../pipelines/file/load.ts';
import { findWrongArgs } from '../../pipelines/file/validate-args.ts';
import { findWrongNames, findWrongProvider } from '../../pipelines/file/validate-names.ts';
import type { StepNode } from '../../pipelines/file/validate-scope.ts';
import { findWrongChecks } from '../../pipelines/file/validate-shape.ts';
import { besideFile } from '../file/read-eval.ts';
import { mostVariants } from '../file/schema.ts';
import type { SuiteRuntime } from '../suite-runtime.ts';
import { nameOfPair, providersAt, subjectVariables } from './read-variants.ts';

export function findSubjectsProblems(
  document: YamlDocument,
  path: Path,
  config: SuiteRuntime | undefined,
): Finding[] {
  const list = itemsAt(document, [...path, 'variants']);
  return [
    ...(list.length === 0 ? [path] : list).flatMap((place) => findSubjectProblems(document, place, config)),
    ...findStrayArguments(document, path),
    ...findUnknownProviders(document, path, config),
    ...findMissingMessages(document, path),
    ...findBadPrompts(document, path),
    ...findBadNames(document, path),
  ];
}

export function fieldsOfSubjects(document: YamlDocument, path: Path): ExpressionField[] {
  const list = itemsAt(document, [...path, 'variants']);
  return [
    ...(list.length === 0 ? [path] : list).flatMap((place) => subjectFieldsOf(document, place)),
    ...promptFieldsOf(document, path),
  ];
}

export function variantNamesAt(document: YamlDocument, path: Path): string[] {
  const list = itemsAt(document, [...path, 'variants']);
  if (list.length > 0) return list.flatMap((item) => textAt(document, [...item, 'name']) ?? []);
  const chat = [...path, 'chat'];
  const prompts = promptsOf(document, path).map((item) => textAt(document, [...item, 'name']) ?? '');
  if (!Array.isArray(valueAt(document, [...chat, 'provider'])) && prompts.length === 0) return [];
  const providers = providersAt(document, chat);
  return providers.flatMap((provider) =>
    (prompts.length === 0 ? [undefined] : prompts).map((prompt) =>
      nameOfPair({ provider, prompt }, providers.length),
    ),
  );
}

function promptsOf(document: YamlDocument, path: Path): Path[] {
  return itemsAt(document, [...path, 'chat', 'prompts']);
}

function promptFieldsOf(document: YamlDocument, path: Path): ExpressionField[] {
  return promptsOf(document, path).flatMap((item) =>
    ['system', 'messages'].map((key) => ({ path: [...item, key], variables: subjectVariables })),
  );
}

function findBadPrompts(document: YamlDocument, path: Path): Finding[] {
  return promptFieldsOf(document, path).flatMap((field) => [
    ...findBadExpressionsAt(document, field, ({ hint }) => hint ?? variablesHint),
    ...findInfiniteNumbers(document, field.path),
  ]);
}

function findStrayArguments(document: YamlDocument, path: Path): Finding[] {
  if (valueAt(document, [...path, 'variants']) === undefined) return [];
  return ['args', 'input'].flatMap((key) =>
    valueAt(document, [...path, key]) === undefined
      ? []
      : [{ path: [...path, key], message: 'must be inside the variants that it applies to', atKey: true }],
  );
}

function findUnknownProviders(
  document: YamlDocument,
  path: Path,
  config: SuiteRuntime | undefined,
): readonly Finding[] {
  if (config === undefined) return [];
  return itemsAt(document, [...path, 'chat', 'provider']).flatMap((item) =>
    findWrongProvider(document, item, config),
  );
}

function findMissingMessages(document: YamlDocument, path: Path): Finding[] {
  const chat = valueAt(document, [...path, 'chat']);
  if (!isObject(chat) || 'messages' in chat) return [];
  const prompts = promptsOf(document, path);
  const message = 'needs `messages`, here or in the chat: the messages for the model';
  if (prompts.length === 0) {
    return [{ path: [...path, 'chat', 'messages'], message: 'is required', atKey: true }];
  }
  return prompts
    .filter((item) => valueAt(document, [...item, 'messages']) === undefined)
    .map((item) => ({ path: item, message }));
}

function findBadNames(document: YamlDocument, path: Path): Finding[] {
  const names = variantNamesAt(document, path);
  const list = itemsAt(document, [...path, 'variants']);
  const places = list.length > 0 ? list : promptsOf(document, path);
  if (names.length > mostVariants) {
    const message = `makes ${names.length} variants of every case; the limit is ${mostVariants}`;
    return [{ path: [...path, 'chat'], message, hint: 'Compare fewer providers or prompts in one suite.' }];
  }
  const same = findRepeated(document, places);
  // Different pairs may have the same name, such as `a/b` with `c` and `a` with `b/c`.
  if (same.length > 0 || list.length > 0 || new Set(names).size === names.length) return same;
  const message = 'two pairs of a provider and a prompt have the same name: rename a prompt';
  return [{ path: [...path, 'chat'], message }];
}

function findRepeated(document: YamlDocument, places: readonly Path[]): Finding[] {
  const named = places.map((item) => textAt(document, [...item, 'name']));
  return places.flatMap((item, index) => {
    const name = named[index];
    if (name === undefined || named.indexOf(name) === index) return [];
    return [{ path: [...item, 'name'], message: `another variant of this suite is already named ${name}` }];
  });
}

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

/** A subject is checked as a pipeline step, because it has the same keys. */
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

function kindsOf(value: StepNode['value']) {
  return (['tool', 'chat', 'pipeline'] as const).filter((key) => Object.hasOwn(value, key));
}

function findMisplacedKeys({ path, value }: StepNode): Finding[] {
  const [kind, ...others] = kindsOf(value);
  if (kind === undefined || others.length > 0) return [];
  return Object.entries({ args: 'tool', input: 'pipeline' }).flatMap(([key, owner]) => {
    if (!Object.hasOwn(value, key) || kind === owner) return [];
    const message = `belongs to a subject with \`${owner}\`, but this one has \`${kind}\``;
    return [{ path: [...path, key], message }];
  });
}

const variablesHint = 'Expressions see the row as `case`, and the number of the epoch as `epoch`.';

function subjectFieldsOf(document: YamlDocument, path: Path): ExpressionField[] {
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

/** Each message contains the error's own position in the pipeline file. */
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
      {
        path,
        message: toRuntimeError(error).message,
        hint: 'The path is relative to the folder of this file.',
      },
    ];
  }
}
