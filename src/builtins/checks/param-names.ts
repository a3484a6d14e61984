import { isObject } from '../../base/json/json.ts';
import { findNearest } from '../../base/text/suggest.ts';
import type { Check, Params } from './check.ts';

export interface ParamFinding {
  /** The path within the params; for a missing param, the key that should exist. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint?: string;
}

export interface NamedParams {
  readonly params: Params;
  readonly written: ReadonlyMap<string, string>;
  readonly findings: readonly ParamFinding[];
}

/** Resolves names and aliases of params. Reports unknown, duplicate and missing ones. */
export function nameParams(check: Check, tree: unknown): NamedParams {
  if (!isObject(tree)) {
    return { params: {}, written: new Map(), findings: [{ path: [], message: 'must be a mapping' }] };
  }
  const written = new Map<string, string>();
  const params: [string, unknown][] = [];
  const findings: ParamFinding[] = [];
  for (const [key, value] of Object.entries(tree)) {
    const name = nameOf(check, key);
    const other = name === undefined ? undefined : written.get(name);
    if (name === undefined) findings.push(unknownParam(check, key));
    else if (other !== undefined) findings.push(duplicateParam(key, other));
    else {
      written.set(name, key);
      params.push([name, value]);
    }
  }
  findings.push(...findMissing(check, written, findings));
  return { params: Object.fromEntries(params), written, findings };
}

function nameOf(check: Check, key: string): string | undefined {
  if (Object.hasOwn(check.params, key)) return key;
  return Object.entries(check.params).find(([, { aliases }]) => aliases?.includes(key))?.[0];
}

function unknownParam(check: Check, key: string): ParamFinding {
  const nearest = findNearest(key, allNames(check));
  const known = Object.keys(check.params);
  const hint =
    nearest !== undefined
      ? `did you mean \`${nearest}\`?`
      : known.length > 0
        ? `params of ${check.type}: ${known.join(', ')}`
        : `${check.type} takes no params`;
  return { path: [key], message: 'unknown param', hint };
}

function duplicateParam(key: string, other: string): ParamFinding {
  return {
    path: [key],
    message: `is another name of \`${other}\`, which is also given`,
    hint: 'Remove one of them.',
  };
}

/** A misspelt param counts as given, since its finding is at the misspelt key. */
function findMissing(
  check: Check,
  written: ReadonlyMap<string, string>,
  findings: readonly ParamFinding[],
): ParamFinding[] {
  const suggestions = findings.map(({ path }) => findNearest(String(path[0]), allNames(check)));
  const isMisspelt = (name: string) =>
    suggestions.some((word) => word !== undefined && nameOf(check, word) === name);
  const isGiven = (name: string) => written.has(name) || isMisspelt(name);
  const required = Object.entries(check.params)
    .filter(([name, spec]) => spec.required && !isGiven(name))
    .map(([name]) => ({ path: [name], message: 'is required' }));
  const groups = (check.anyOf ?? [])
    .filter((group) => !group.some(isGiven))
    .map((group) => ({ path: [], message: `needs one of: ${group.join(', ')}` }));
  return [...required, ...groups];
}

function allNames(check: Check): string[] {
  return Object.entries(check.params).flatMap(([name, { aliases }]) => [name, ...(aliases ?? [])]);
}
