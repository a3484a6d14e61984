import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Path } from './document.ts';
import { knownKeys } from './schema-path.ts';
import { findNearest, suggest } from './suggest.ts';
import { resolveUnions } from './union-errors.ts';
import { validatorOf } from './validator.ts';
import { wordError } from './wording.ts';

/** One difference between a value and its schema. */
export interface Violation {
  /** `key`: a key that is not known; `missing`: one that is not there; `value`: a wrong value. */
  readonly kind: 'key' | 'missing' | 'value';
  /** Of the wrong value, the unknown key, or the missing key. */
  readonly path: Path;
  /** The JSON Schema keyword that failed. */
  readonly keyword: string;
  /** What the keyword asked for, in ajv’s terms, such as `{type: 'string'}`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Without the path. */
  readonly message: string;
  readonly hint?: string;
}

/**
 * Checks a plain value against one of this package's own JSON Schemas: one violation per place and cause, none for a
 * union's branches. Throws INTERNAL when the schema was not compiled.
 */
export function findViolations(
  value: unknown,
  schema: object,
  validate: ValidateFunction = validatorOf(schema),
): Violation[] {
  if (validate(value)) return [];
  const errors = resolveUnions(validate.errors ?? []).filter(({ keyword }) => !derivedKeywords.has(keyword));
  return withoutMisspelt(withoutRepeats(errors.map((error) => toViolation(error, value, schema))));
}

/** Keywords whose failure only repeats that of a part. */
const derivedKeywords: ReadonlySet<string> = new Set(['if', 'propertyNames']);

function toViolation(error: ErrorObject, root: unknown, schema: object): Violation {
  const { keyword, params } = error;
  const { path, value } = walk(root, error.instancePath);
  const unknown = stringParam(error, 'additionalProperty') ?? stringParam(error, 'unevaluatedProperty');
  if (unknown !== undefined) {
    const hint = suggest(unknown, knownKeys(path, schema), 'keys');
    return { kind: 'key', path: [...path, unknown], keyword, params, message: 'unknown key', ...hint };
  }
  const missing = keyword === 'required' ? stringParam(error, 'missingProperty') : undefined;
  if (missing !== undefined)
    return { kind: 'missing', path: [...path, missing], keyword, params, message: 'is required' };
  if (error.propertyName !== undefined) {
    const message = `the name ${wordError(error, error.propertyName)}`;
    return { kind: 'key', path: [...path, error.propertyName], keyword, params, message };
  }
  return {
    kind: 'value',
    path,
    keyword,
    params,
    message: wordError(error, value),
    ...choiceHint(error, value),
    ...formHint(error, path.at(-1), value),
  };
}

function stringParam(error: ErrorObject, name: string): string | undefined {
  const param: unknown = error.params[name];
  return typeof param === 'string' ? param : undefined;
}

/** The form that a value of another form was meant to have. */
function formHint({ keyword }: ErrorObject, key: unknown, value: unknown): { hint?: string } {
  if (keyword !== 'type') return {};
  const [, amount, unit = ''] =
    /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(typeof value === 'string' ? value : '') ?? [];
  const ms = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit];
  if (typeof key === 'string' && key.endsWith('_ms') && ms !== undefined)
    return { hint: `It is in milliseconds: write ${Math.round(Number(amount) * ms)}.` };
  if (key === 'threshold' && typeof value === 'number') return { hint: `Write {min_score: ${value}}.` };
  return {};
}

function choiceHint(error: ErrorObject, value: unknown): { hint?: string } {
  const allowed: unknown = error.params['allowedValues'];
  if (error.keyword !== 'enum' || !Array.isArray(allowed) || typeof value !== 'string') return {};
  return suggest(
    value,
    allowed.map(String).filter((word) => word !== ''),
  );
}

/** Turns a JSON pointer into a path; list indices become numbers. */
function walk(root: unknown, pointer: string): { path: (string | number)[]; value: unknown } {
  const path: (string | number)[] = [];
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const segment = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      path.push(Number(segment));
      value = value[Number(segment)];
    } else {
      path.push(segment);
      value = typeof value === 'object' && value !== null ? Reflect.get(value, segment) : undefined;
    }
  }
  return { path, value };
}

/** Keeps one violation for each path: an `enum` or `const` first, the shortest list of choices of these. */
function withoutRepeats(violations: readonly Violation[]): Violation[] {
  const byPlace = new Map<string, Violation>();
  for (const violation of violations) {
    const place = JSON.stringify(violation.path);
    const known = byPlace.get(place);
    if (known === undefined || weigh(violation) < weigh(known)) byPlace.set(place, violation);
  }
  return [...byPlace.values()];
}

function weigh({ keyword, message }: Violation): number {
  return keyword === 'enum' || keyword === 'const' ? message.length : 1_000_000;
}

/** Drops a missing key where an unknown key beside it is probably its misspelling. */
function withoutMisspelt(violations: readonly Violation[]): Violation[] {
  return violations.filter(({ kind, path }) => {
    if (kind !== 'missing') return true;
    return !violations.some((other) => other.kind === 'key' && isMisspelling(other.path, path));
  });
}

function isMisspelling(path: Path, meant: Path): boolean {
  const parent = JSON.stringify(path.slice(0, -1));
  return (
    parent === JSON.stringify(meant.slice(0, -1)) &&
    findNearest(String(path.at(-1)), [String(meant.at(-1))]) !== undefined
  );
}
