import type { ErrorObject } from 'ajv';
import { toRuntimeError } from '../errors.ts';
import { isObject, Json } from '../json/json.ts';
import { measureValue } from '../json/measure.ts';
import { shorten } from '../text/phrases.ts';
import { withinLimit } from '../time/time-limit.ts';
import { compileDataSchema, type DataValidator } from './data-schema.ts';

/** Describes each violation of a value or a `Json`; empty if it fits. Never throws. */
export type SchemaCheck = (value: unknown) => readonly string[];

export const fitsAnything: SchemaCheck = () => [];

/** A value that cannot be checked in time gets a violation that says so. Checks are cached by schema. */
export function compileSchema(schema: Readonly<Record<string, unknown>> | boolean | undefined): SchemaCheck {
  if (schema === undefined) return fitsAnything;
  if (typeof schema === 'boolean') return createCheck(schema);
  const known = checks.get(schema) ?? createCheck(schema);
  checks.set(schema, known);
  return known;
}

const checks = new WeakMap<Readonly<Record<string, unknown>>, SchemaCheck>();

function createCheck(schema: Readonly<Record<string, unknown>> | boolean): SchemaCheck {
  let validate: Validator | undefined;
  return (value) => {
    try {
      // Compiled on first use: a config may declare many tools, and a run may call one.
      validate ??= createValidator(schema);
      return describeAll(validate(value));
    } catch (error) {
      return [`it cannot be checked: ${toRuntimeError(error).message}`];
    }
  };
}

type Validator = (value: unknown) => readonly ErrorObject[];

function createValidator(schema: Readonly<Record<string, unknown>> | boolean): Validator {
  const isRisky = isRecursive(schema);
  const fits = compileDataSchema(schema, { isFirstOnly: true });
  let thorough: DataValidator | undefined;
  const compare = (value: unknown): readonly ErrorObject[] => {
    if (fits(value)) return [];
    const first = fits.errors ?? [];
    // Each of a million items may have its own violation.
    if (measureValue(plainOf(value), MAX_PARTS).isLarge) return first;
    thorough ??= compileDataSchema(schema);
    return thorough(value) ? first : (thorough.errors ?? first);
  };
  if (!isRisky) return compare;
  return (value) => {
    const { isLarge, depth } = measureValue(plainOf(value), MAX_PARTS);
    return !isLarge && depth <= MAX_LEVELS
      ? compare(value)
      : withinLimit('comparing it with the schema', () => compare(value));
  };
}

function plainOf(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

const MAX_PARTS = 10_000;
/** A schema with three alternatives per level has thousands at this level. */
const MAX_LEVELS = 8;

function describeAll(errors: readonly ErrorObject[]): readonly string[] {
  if (errors.length === 0) return [];
  const listed = errors.slice(0, MAX_LISTED).map(describe);
  return errors.length > listed.length ? [...listed, `and ${errors.length - listed.length} more`] : listed;
}

const MAX_LISTED = 20;

function describe({ instancePath, message, params, keyword }: ErrorObject): string {
  const where = instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')}: `;
  const more =
    keyword === 'additionalProperties' && 'additionalProperty' in params
      ? ` (${shortKey(String(params['additionalProperty']))})`
      : keyword === 'enum' && 'allowedValues' in params
        ? ` (${JSON.stringify(params['allowedValues'])})`
        : '';
  return `${shortKey(where)}${message ?? keyword}${more}`;
}

function shortKey(text: string): string {
  return text.length <= MAX_KEY_LENGTH ? text : `${shorten(text, MAX_KEY_LENGTH)} `;
}

const MAX_KEY_LENGTH = 300;

function isRecursive(schema: unknown): boolean {
  const trail = new Set<unknown>();
  const done = new Set<unknown>();
  const visit = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null || done.has(node)) return false;
    if (trail.has(node)) return true;
    trail.add(node);
    const isBack = [...Object.values(node), ...targetsOf(node, schema)].some(visit);
    trail.delete(node);
    done.add(node);
    return isBack;
  };
  return visit(schema);
}

function targetsOf(node: object, root: unknown): unknown[] {
  if (!isObject(node)) return [];
  const { $ref, $dynamicRef, $recursiveRef } = node;
  const dynamic = [$dynamicRef, $recursiveRef].filter((ref) => typeof ref === 'string').map(() => root);
  return typeof $ref === 'string' ? [...dynamic, follow($ref, root)] : dynamic;
}

function follow(ref: string, root: unknown): unknown {
  if (!ref.startsWith('#/')) return root;
  const keys = ref.slice(2).split('/').map(readKey);
  const target = keys.reduce<unknown>(
    (node, key) => (typeof node === 'object' && node !== null ? Reflect.get(node, key) : undefined),
    root,
  );
  return target ?? root;
}

function readKey(key: string): string {
  try {
    return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return key;
  }
}
