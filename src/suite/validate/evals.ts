import { findParamProblems } from '../../checks/params.ts';
import { checkTypes } from '../../checks/registry.ts';
import { suggestEval } from '../../checks/suggest-eval.ts';
import { isObject } from '../../json/json.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { exactAt, itemsAt, valueAt } from '../../yaml/read.ts';
import { describePath } from '../../yaml/schema-path.ts';
import { suiteReducer } from '../file/read-eval.ts';
import { readReduction } from '../file/reduction.ts';
import { suiteSchema } from '../schema/suite-schema.ts';
import { findReductionProblem } from '../stats/epochs.ts';
import type { Finding } from './finding.ts';
import type { SuiteRuntime } from './runtime.ts';
import { casePath, checksIn, evalIds, evalsPath, subjectPath } from './tree.ts';

export function findRepeatedIds(document: YamlDocument): Finding[] {
  const ids = evalIds(document);
  return ids
    .filter(({ id }, index) => ids.findIndex((other) => other.id === id) < index)
    .map(({ path, id }) => ({ path, message: `another eval of this suite has the id ${id} already` }));
}

/** Types that nobody declares, and params that a built-in check does not take. */
export function findBadChecks(document: YamlDocument, config: SuiteRuntime | undefined): Finding[] {
  const declared = config?.evals.map(({ name }) => name);
  return checksIn(document).flatMap((path) => {
    const type = valueAt(document, [...path, 'type']);
    if (typeof type !== 'string' || type === '') return [];
    // Without its config nobody can tell whether an entry stands in the place of the built-in.
    if (declared === undefined || declared.includes(type)) return [];
    if (checkTypes().includes(type)) return findBadParams(document, path, type);
    const message = `no eval named ${type} is declared`;
    return [{ path: [...path, 'type'], message, hint: suggestEval(type, declared) }];
  });
}

function findBadParams(document: YamlDocument, path: Path, type: string): Finding[] {
  const params = exactAt(document, [...path, 'params']) ?? {};
  // The schema says what is wrong with anything else.
  if (!isObject(params)) return [];
  return findParamProblems(type, params).map(({ path: inParams, message, hint }) => ({
    path: [...path, 'params', ...inParams],
    message,
    ...(hint === undefined ? {} : { hint }),
  }));
}

/** An eval that judges an empty text by mistake would pass many a check. */
export function findMissingContent(document: YamlDocument): Finding[] {
  const mapping = valueAt(document, casePath);
  if (!isObject(mapping) || 'content' in mapping) return [];
  if (valueAt(document, subjectPath) !== undefined || hasMessages(mapping['context'])) return [];
  const needy = checksIn(document).find((path) => {
    const check = valueAt(document, path);
    return isObject(check) && !('content' in check);
  });
  if (needy === undefined) return [];
  const message = `is required: ${describePath(needy, suiteSchema)} has no content of its own`;
  return [{ path: [...casePath, 'content'], message }];
}

/** The last answer of the messages is then what is judged; a context that is an expression may have some. */
function hasMessages(context: unknown): boolean {
  return typeof context === 'string' || (isObject(context) && 'messages' in context);
}

/** Reducers that there are not, and those that want more epochs than are run. */
export function findBadReducers(document: YamlDocument): Finding[] {
  const epochs = valueAt(document, ['spec', 'repeat', 'epochs']) ?? 1;
  const places = [suiteReducer, ...itemsAt(document, evalsPath).map((item) => [...item, 'reducer'])];
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
