import { splitTemplate } from '../../base/expression/template.ts';
import { isObject } from '../../base/json/json.ts';
import { findViolations, type Violation } from '../../base/yaml/violation.ts';
import type { EvalRequest } from '../../contract/eval.ts';
import type { Check, Params } from './check.ts';
import { schemaOf } from './check-schema.ts';
import { type NamedParams, nameParams, type ParamFinding } from './param-names.ts';
import { toPlainTree } from './plain-tree.ts';
import { findCheck } from './registry.ts';

/**
 * Returns the problems of params from a file, in which `${…}` stands for an unknown value. Empty for a type that is not
 * built in.
 */
export function findParamProblems(type: string, tree: unknown): readonly ParamFinding[] {
  const check = findCheck(type);
  if (check === undefined) return [];
  const known = replaceExpressions(tree === undefined || tree === null ? {} : tree);
  return known === UNKNOWN ? [] : findParamFindings(check, nameParams(check, known));
}

/** Returns the params of a request with canonical names, plain and complete. */
export function readParams(
  check: Check,
  tree: EvalRequest['params'],
): { readonly params: Params } | { readonly problems: readonly ParamFinding[] } {
  const named = nameParams(check, toPlainTree(tree));
  const problems = findParamFindings(check, named);
  return problems.length > 0 ? { problems } : { params: withDefaults(check, named.params) };
}

function findParamFindings(
  check: Check,
  { params, written, findings }: NamedParams,
): readonly ParamFinding[] {
  const violations = findViolations(params, schemaOf(check)).filter(
    ({ path, keyword }) => !dependsOnUnknown(valueAt(params, path), keyword),
  );
  const asWritten = ({ path: [name, ...rest], message, hint }: Violation): ParamFinding => ({
    path: [written.get(String(name)) ?? String(name), ...rest],
    message,
    ...(hint !== undefined && { hint }),
  });
  const problems = [...findings, ...violations.map(asWritten)];
  if (problems.length > 0 || containsUnknown(params)) return problems;
  const others = check.findProblems?.(withDefaults(check, params)) ?? [];
  return others.map(({ param, message }) => ({ path: [written.get(param) ?? param], message }));
}

function withDefaults(check: Check, params: Params): Params {
  const defaults = Object.entries(check.params).filter(([, spec]) => spec.default !== undefined);
  return { ...Object.fromEntries(defaults.map(([name, spec]) => [name, spec.default])), ...params };
}

const UNKNOWN = Symbol('unknown');

/** Replaces each text with an expression by `UNKNOWN`, and `$${` by `${`. */
function replaceExpressions(tree: unknown): unknown {
  if (typeof tree === 'string') return tree.includes('${') ? replaceInText(tree) : tree;
  if (Array.isArray(tree)) return tree.map(replaceExpressions);
  if (!isObject(tree)) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, replaceExpressions(value)]));
}

function replaceInText(text: string): unknown {
  try {
    const parts = splitTemplate(text, []);
    return parts.some((part) => typeof part !== 'string') ? UNKNOWN : parts.join('');
  } catch {
    return UNKNOWN; // No closing brace: reported when the expression is compiled.
  }
}

function dependsOnUnknown(value: unknown, keyword: string): boolean {
  if (value === UNKNOWN) return true;
  return !shapeKeywords.has(keyword) && containsUnknown(value);
}

const shapeKeywords: ReadonlySet<string> = new Set([
  'type',
  'required',
  'additionalProperties',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
]);

function containsUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  if (Array.isArray(value)) return value.some(containsUnknown);
  return isObject(value) && Object.values(value).some(containsUnknown);
}

function valueAt(tree: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, segment) : undefined,
    tree,
  );
}
