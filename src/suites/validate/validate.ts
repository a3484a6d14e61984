import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { nearFileHint } from '../../base/files/paths.ts';
import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import { locateFindings } from '../../base/yaml/check.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { findUnevaluatedExpressions } from '../../base/yaml/expressions.ts';
import { type Finding, findCrossedBounds, findInfiniteNumbers } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { exactValueAt, itemsAt, valueAt } from '../../base/yaml/read.ts';
import { describePath } from '../../base/yaml/schema-path.ts';
import { findParamProblems } from '../../builtins/checks/params.ts';
import { checkTypes } from '../../builtins/checks/registry.ts';
import { suggestEval } from '../../builtins/checks/suggest-eval.ts';
import { readEvent } from '../../calls/hooks/event-input.ts';
import { type NativeEvent, phasesOf } from '../../contract/hook.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import { findUnaskable } from '../../pipelines/file/validate-names.ts';
import { isPattern } from '../dataset/files.ts';
import { isRemote, remoteName, whyUnusable } from '../dataset/remote/address.ts';
import { readReduction } from '../file/model.ts';
import { besideFile, suiteReducerPath } from '../file/read-eval.ts';
import { suiteSchema } from '../file/schema.ts';
import { findReductionProblem } from '../stats/epoch-reduction.ts';
import { fieldsOfSubjects, findSubjectsProblems } from '../subject/validate-variants.ts';
import type { SuiteRuntime } from '../suite-runtime.ts';
import {
  casePath,
  checksIn,
  evalIds,
  evalsPath,
  expressionFields,
  findBadExpressions,
  gatesPath,
  subjectPath,
  thresholdsIn,
} from './expressions.ts';
import { findBadGates } from './gates.ts';

export function validateSuite(document: YamlDocument, config: SuiteRuntime | undefined): Problem[] {
  const findings = [
    ...findRepeatedIds(document),
    ...findBadChecks(document, config),
    ...findBadGuards(document, config),
    ...findBadReducers(document),
    ...findAllCrossedBounds(document),
    ...findBadGates(document),
    ...findBadExpressions(document),
    ...findNumbersThatJsonLacks(document),
    ...findMissingContent(document),
    ...findMissingFiles(document),
    ...findSubjectsProblems(document, subjectPath, config),
  ];
  return locateFindings(document, findings, suiteSchema);
}

/** Finds expressions in fields that are not evaluated. Only `validate` reports them, because the suite still runs. */
export function findUnevaluatedInSuite(document: YamlDocument): Problem[] {
  const fields = [...expressionFields(document), ...fieldsOfSubjects(document, subjectPath)];
  const evaluated = fields.map(({ path }) => path);
  const findings = findUnevaluatedExpressions(document, {
    evaluated,
    data: [['spec', 'cases']],
    root: 'case',
  });
  return locateFindings(document, findings, suiteSchema);
}

function findAllCrossedBounds(document: YamlDocument): Finding[] {
  return [
    ...thresholdsIn(document).flatMap((path) =>
      findCrossedBounds(document, path, ['min_score', 'max_score']),
    ),
    ...itemsAt(document, gatesPath).flatMap((path) => findCrossedBounds(document, path, ['min', 'max'])),
  ];
}

function findNumbersThatJsonLacks(document: YamlDocument): Finding[] {
  const places = [casePath, ['spec', 'cases'], ...checksIn(document).map((path) => [...path, 'params'])];
  return places.flatMap((path) => findInfiniteNumbers(document, path));
}

/** Only warnings: the file may be created before the run, or another runtime may be used. */
function findMissingFiles(document: YamlDocument): Finding[] {
  const paths: Path[] = [
    ['spec', 'runtime'],
    ['spec', 'dataset', 'path'],
  ];
  return paths.flatMap((path) => {
    const named = valueAt(document, path);
    if (typeof named !== 'string' || named === '' || named === '-') return [];
    if (isRemote(named)) return findUnusable(path, named);
    if (isPattern(named)) return [];
    const file = besideFile(document.file, named);
    return existsSync(file)
      ? []
      : [
          {
            path,
            message: `${file} does not exist`,
            hint:
              nearFileHint(named, dirname(document.file)) ??
              sameNameHint(named, dirname(document.file)) ??
              'Correct the path; it is relative to the folder of this file.',
            severity: 'warning' as const,
            about: 'file' as const,
          },
        ];
  });
}

function sameNameHint(named: string, folder: string): string | undefined {
  const name = basename(named);
  return existsSync(join(folder, name))
    ? `did you mean \`${name}\`? Paths are relative to the folder of this file.`
    : undefined;
}

/** Makes no network request. */
function findUnusable(path: Path, address: string): Finding[] {
  const isDataset = path.at(-1) === 'path';
  const reason = isDataset ? whyUnusable(address) : 'is an address, but a runtime must be a file';
  return reason === undefined ? [] : [{ path, message: `${remoteName(address)} ${reason}` }];
}

function findRepeatedIds(document: YamlDocument): Finding[] {
  const ids = evalIds(document);
  return ids
    .filter(({ id }, index) => ids.findIndex((other) => other.id === id) < index)
    .map(({ path, id }) => ({
      path,
      message: `another eval of this suite already has the id ${id}`,
      hint: 'Give each eval its own id.',
    }));
}

function findBadChecks(document: YamlDocument, config: SuiteRuntime | undefined): Finding[] {
  // Without the config, an entry might replace the built-in.
  if (config === undefined) return [];
  const declared = config.evals.map(({ name }) => name);
  return checksIn(document).flatMap((path) => {
    const type = valueAt(document, [...path, 'type']);
    if (typeof type !== 'string' || type === '') return [];
    if (declared.includes(type)) return [];
    if (checkTypes().includes(type))
      return [...findBadParams(document, path, type), ...findUnaskable(document, [...path, 'type'], config)];
    const message = `no eval named ${type} is declared`;
    return [{ path: [...path, 'type'], message, hint: suggestEval(type, declared) }];
  });
}

function findBadParams(document: YamlDocument, path: Path, type: string): Finding[] {
  const params = exactValueAt(document, [...path, 'params']) ?? {};
  if (!isObject(params)) return [];
  return findParamProblems(type, params).map(({ path: inParams, message, hint }) => ({
    path: [...path, 'params', ...inParams],
    message,
    ...(hint === undefined ? {} : { hint }),
  }));
}

/** Finds a mapping without `content` that a check needs. An empty text would pass many checks. */
function findMissingContent(document: YamlDocument): Finding[] {
  const mapping = valueAt(document, casePath);
  if (!isObject(mapping) || 'content' in mapping) return [];
  if (valueAt(document, subjectPath) !== undefined || hasMessages(mapping['context'])) return [];
  const withoutContent = checksIn(document).find((path) => {
    const check = valueAt(document, path);
    return isObject(check) && !('content' in check);
  });
  if (withoutContent === undefined) return [];
  const message = `is required: ${describePath(withoutContent, suiteSchema)} has no content`;
  return [{ path: [...casePath, 'content'], message }];
}

/** The last answer of the messages is the default content. An expression may yield messages. */
function hasMessages(context: unknown): boolean {
  return typeof context === 'string' || (isObject(context) && 'messages' in context);
}

function findBadReducers(document: YamlDocument): Finding[] {
  const epochs = valueAt(document, ['spec', 'repeat', 'epochs']) ?? 1;
  const places = [suiteReducerPath, ...itemsAt(document, evalsPath).map((item) => [...item, 'reducer'])];
  return places.flatMap((path): Finding[] => {
    const text = valueAt(document, path);
    if (typeof text !== 'string') return [];
    const reduction = readReduction(text);
    if (reduction === undefined) {
      return [{ path, message: `must be mean, median, mode, max, pass@K or at_least_K (got: ${text})` }];
    }
    const message = typeof epochs === 'number' ? findReductionProblem(reduction, epochs) : undefined;
    const hint = 'Set repeat.epochs, or use --repeat.';
    return message === undefined ? [] : [{ path, message, hint, severity: 'warning' }];
  });
}

function findBadGuards(document: YamlDocument, config: SuiteRuntime | undefined): Finding[] {
  return itemsAt(document, evalsPath).flatMap((path): Finding[] => {
    const item = valueAt(document, path);
    if (!isObject(item)) return [];
    if (!('guard' in item)) return findStrayLabel(path, item);
    return [
      ...findMissingLabel(path, item),
      ...findMisplacedMembers(path, item),
      ...findBadEvent([...path, 'guard'], item['guard'], config),
    ];
  });
}

type Members = Readonly<Record<string, unknown>>;

function findStrayLabel(path: Path, item: Members): Finding[] {
  if (!('expected' in item)) return [];
  const hint = 'Write the value that a check compares with into its params.';
  return [
    { path: [...path, 'expected'], message: 'applies only to guards, and this eval is not a guard', hint },
  ];
}

function findMissingLabel(path: Path, item: Members): Finding[] {
  if ('expected' in item) return [];
  const hint =
    'Write an expression that is true if the guard should flag the event, such as ${case.label == "bad"}.';
  return [
    { path: [...path, 'expected'], message: 'is required: whether the guard should flag the event', hint },
  ];
}

function findMisplacedMembers(path: Path, item: Members): Finding[] {
  return ['params', 'content'].flatMap((key) =>
    key in item
      ? [{ path: [...path, key], message: 'cannot be set for a guard, which has an event instead' }]
      : [],
  );
}

function findBadEvent(path: Path, guard: unknown, config: SuiteRuntime | undefined): Finding[] {
  if (!isObject(guard)) return [];
  const { hook, only } = guard;
  if (hook !== 'provider' && hook !== 'tool') return [];
  const phases: readonly string[] = phasesOf[hook];
  const { phase = phases[0] } = guard;
  if (typeof phase !== 'string') return [];
  if (!phases.includes(phase)) {
    const hint = `A ${hook} hook has ${phases.join(' and ')}.`;
    return [{ path: [...path, 'phase'], message: `a ${hook} hook has no phase ${phase}`, hint }];
  }
  return [
    ...findBadResponse(path, phase, 'response' in guard),
    ...(config === undefined ? [] : findUnheardEvent(path, { hook, phase, only }, config)),
  ];
}

function findBadResponse(path: Path, phase: string, isThere: boolean): Finding[] {
  const isAfter = phase.startsWith('after_');
  if (isAfter === isThere) return [];
  const place = [...path, 'response'];
  if (isAfter) return [{ path: place, message: `is required: ${phase} has a response` }];
  return [
    { path: place, message: `${phase} has no response yet`, hint: 'Set `phase`, or remove the response.' },
  ];
}

interface GuardTarget {
  readonly hook: string;
  readonly phase: string;
  readonly only: unknown;
}

/** Finds a guard that no hook, or not the hook in `only`, decides. Everything would pass it. */
function findUnheardEvent(path: Path, { hook, phase, only }: GuardTarget, config: SuiteRuntime): Finding[] {
  const { hooks, foreign } = config;
  const deciding = hooks.filter(({ mode }) => mode !== 'observe');
  const listening = deciding.filter((each) => each.hook === hook && each.phases.some((own) => own === phase));
  const names = listening.map(({ name }) => name);
  if (typeof only === 'string' && only !== '') {
    if (names.includes(only)) return [];
    const declared = hooks.find(({ name }) => name === only);
    const foreignHook = foreign.find(({ name }) => name === only);
    const message =
      foreignHook !== undefined && declared === undefined
        ? `hook ${only} is a hook of ${foreignHook.dialect}, which run only as a group`
        : declared === undefined
          ? `no hook named ${only} is declared`
          : declared.mode === 'observe'
            ? `hook ${only} is an observer, so it has no verdict`
            : `hook ${only} does not run at ${hook} ${phase}`;
    return [{ path: [...path, 'only'], message, ...suggest(only, names, 'hooks') }];
  }
  if (listening.some(({ mode }) => mode === 'filter') || isHeardByForeignHooks(phase, config)) return [];
  const hint =
    names.length === 0
      ? 'Declare one under `hooks` of the runtime.'
      : `To run a shadow, name it: only: ${names[0]}.`;
  return [{ path: [...path, 'hook'], message: `no filter runs at ${hook} ${phase}`, hint }];
}

function isHeardByForeignHooks(
  phase: string,
  { foreign, imports }: Pick<SuiteRuntime, 'foreign' | 'imports'>,
): boolean {
  const events = eventsOf(phase);
  return (
    imports.length > 0 ||
    foreign.some(({ dialect, settings }) => {
      const { points, pointsAt, declaredPoints } = foreignDialects[dialect];
      const own = declaredPoints(settings);
      const reached = events.flatMap((event) => pointsAt(event));
      return reached.some((point) => points[point]?.isFilter === true && (own?.includes(point) ?? true));
    })
  );
}

function eventsOf(phase: string): readonly NativeEvent[] {
  const request = { name: 'tool' };
  switch (phase) {
    case 'before_call':
      return [readEvent({ hook: 'provider', phase, request: {} })];
    case 'after_call':
      return [readEvent({ hook: 'provider', phase, request: {}, response: {} })];
    case 'before_execution':
      return [readEvent({ hook: 'tool', phase, request })];
    default:
      return ['', 'it failed'].map((error) =>
        readEvent({ hook: 'tool', phase: 'after_execution', request, response: { error } }),
      );
  }
}
