import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { exactValueAt, itemsAt, valueAt } from '../../base/yaml/read.ts';
import { describePath } from '../../base/yaml/schema-path.ts';
import { findParamProblems } from '../../builtins/checks/params.ts';
import { checkTypes } from '../../builtins/checks/registry.ts';
import { suggestEval } from '../../builtins/checks/suggest-eval.ts';
import { findUnaskable } from '../../pipelines/file/validate-names.ts';
import { suiteReducerPath } from '../file/read-eval.ts';
import { readReduction } from '../file/reduction.ts';
import { suiteSchema } from '../schema/suite-schema.ts';
import { findReductionProblem } from '../stats/epoch-reduction.ts';
import type { SuiteRuntime } from '../suite-runtime.ts';
import { casePath, checksIn, evalIds, evalsPath, subjectPath } from './suite-paths.ts';

export function findRepeatedIds(document: YamlDocument): Finding[] {
  const ids = evalIds(document);
  return ids
    .filter(({ id }, index) => ids.findIndex((other) => other.id === id) < index)
    .map(({ path, id }) => ({
      path,
      message: `another eval of this suite has the id ${id} already`,
      hint: 'Give each eval an id of its own.',
    }));
}

/**
 * Finds types that neither the config declares nor are built in, and params that a built-in check does not
 * have.
 */
export function findBadChecks(document: YamlDocument, config: SuiteRuntime | undefined): Finding[] {
  // Without the config it is unknown whether an entry replaces the built-in.
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
  // The schema says what is wrong with anything else.
  if (!isObject(params)) return [];
  return findParamProblems(type, params).map(({ path: inParams, message, hint }) => ({
    path: [...path, 'params', ...inParams],
    message,
    ...(hint === undefined ? {} : { hint }),
  }));
}

/** Finds a mapping without `content` where some check needs it: an empty text would pass many checks. */
export function findMissingContent(document: YamlDocument): Finding[] {
  const mapping = valueAt(document, casePath);
  if (!isObject(mapping) || 'content' in mapping) return [];
  if (valueAt(document, subjectPath) !== undefined || hasMessages(mapping['context'])) return [];
  const withoutContent = checksIn(document).find((path) => {
    const check = valueAt(document, path);
    return isObject(check) && !('content' in check);
  });
  if (withoutContent === undefined) return [];
  const message = `is required: ${describePath(withoutContent, suiteSchema)} has no content of its own`;
  return [{ path: [...casePath, 'content'], message }];
}

/**
 * Whether a context has messages, whose last answer is the default content; an expression may have some.
 */
function hasMessages(context: unknown): boolean {
  return typeof context === 'string' || (isObject(context) && 'messages' in context);
}

/** Finds unknown reducers, and those that need more epochs than are run. */
export function findBadReducers(document: YamlDocument): Finding[] {
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
    const hint = 'Set repeat.epochs; --repeat sets it too.';
    return message === undefined ? [] : [{ path, message, hint, severity: 'warning' }];
  });
}
