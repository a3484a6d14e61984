import type { ErrorObject } from 'ajv';
import { isObject } from '../json/json.ts';
import { findNearest, suggest } from '../text/suggest.ts';
import type { Path } from './document.ts';
import { knownKeys } from './schema-path.ts';
import { validatorOf } from './validator.ts';
import { wordError } from './wording.ts';

export interface Violation {
  /** `key`: an unknown key; `missing`: a missing key; `value`: a wrong value. */
  readonly kind: 'key' | 'missing' | 'value';
  readonly path: Path;
  readonly keyword: string;
  /** The keyword's parameters as ajv reports them, such as `{type: 'string'}`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Without the path. */
  readonly message: string;
  readonly hint?: string;
}

/** A compiled validator of ajv. */
interface Validate {
  (value: unknown): boolean;
  errors?: readonly ErrorObject[] | null;
}

/** Returns one violation per place and cause, none for a union's branches. Throws INTERNAL without a validator. */
export function findViolations(
  value: unknown,
  schema: object,
  validate: Validate = validatorOf(schema),
): Violation[] {
  if (validate(value)) return [];
  const errors = resolveUnions(validate.errors ?? []).filter(({ keyword }) => !derivedKeywords.has(keyword));
  const violations = withoutRepeats(errors.map((error) => toViolation(error, value, schema)));
  const otherKind = violations.find(isOtherKind);
  // For a file of another kind, report nothing else.
  return otherKind === undefined ? withoutMisspelt(violations, schema) : [otherKind];
}

/** Their failure only repeats that of a part. */
const derivedKeywords: ReadonlySet<string> = new Set(['if', 'propertyNames']);

function toViolation(error: ErrorObject, root: unknown, schema: object): Violation {
  const { keyword, params } = error;
  const { path, value } = walk(root, error.instancePath);
  const unknown = stringParam(error, 'additionalProperty') ?? stringParam(error, 'unevaluatedProperty');
  if (unknown !== undefined) {
    return {
      kind: 'key',
      path: [...path, unknown],
      keyword,
      params,
      message: 'unknown key',
      ...keyHint(unknown, path, schema),
    };
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
    ...colonHint(error, { path, value, schema }),
  };
}

function stringParam(error: ErrorObject, name: string): string | undefined {
  const param: unknown = error.params[name];
  return typeof param === 'string' ? param : undefined;
}

function keyHint(unknown: string, path: Path, schema: object): { hint?: string } {
  const known = knownKeys(path, schema);
  const [holder, other] = known.filter((key) => knownKeys([...path, key], schema).includes(unknown));
  if (holder === undefined || other !== undefined) return suggest(unknown, known, 'keys');
  return { hint: `It belongs under \`${holder}\`.` };
}

function formHint({ keyword, params }: ErrorObject, key: unknown, value: unknown): { hint?: string } {
  if (
    keyword === 'maximum' &&
    params['limit'] === 1 &&
    typeof value === 'number' &&
    value >= 10 &&
    value <= 100
  )
    return { hint: `The maximum is 1: write ${value / 100} for ${value} %.` };
  if (key === 'approval' && value === true) return { hint: 'Write `approval: required`.' };
  if (keyword !== 'type') return {};
  const [, amount, unit = ''] =
    /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(typeof value === 'string' ? value : '') ?? [];
  const ms = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit];
  if (typeof key === 'string' && key.endsWith('_ms') && ms !== undefined)
    return { hint: `The unit is milliseconds: write ${Math.round(Number(amount) * ms)}.` };
  if (key === 'threshold' && typeof value === 'number') return { hint: `Write {min_score: ${value}}.` };
  const types = [params['type']].flat();
  if (types.includes('array')) return listHint(key, value);
  const isNumeric = types.includes('integer') || types.includes('number');
  if (isNumeric && typeof value === 'string' && /^\d+(\.\d+)?$/.test(value))
    return { hint: `Write ${value}, without quotes.` };
  const isPlain = typeof value === 'boolean' || Number.isFinite(value);
  if (types.includes('string') && isPlain && (typeof value === 'number' || typeof value === 'boolean'))
    return { hint: stringHint(key, value) };
  if (types.includes('object') && Array.isArray(value))
    return { hint: 'Write each entry as its name and a colon, without `-`.' };
  return {};
}

function colonHint(
  { keyword, params }: ErrorObject,
  { path, value, schema }: { readonly path: Path; readonly value: unknown; readonly schema: object },
): { hint?: string } {
  const [, key = '', rest = ''] = /^(\w+) (\S.*)$/.exec(typeof value === 'string' ? value : '') ?? [];
  const isMapping = keyword === 'type' && [params['type']].flat().includes('object');
  if (isMapping && path.length === 0 && knownKeys(path, schema).includes('apiVersion'))
    return { hint: 'The file begins with keys: `apiVersion`, `kind`, `metadata` and `spec`.' };
  return isMapping && knownKeys(path, schema).includes(key)
    ? { hint: `A key needs a colon after it: \`${key}: ${rest}\`.` }
    : {};
}

function listHint(key: unknown, value: unknown): { hint?: string } {
  if (key === 'env' && isObject(value))
    return { hint: 'Write a list of NAME or NAME=value, such as [LANG=en].' };
  if (typeof value !== 'string' || value === '' || value.length > 60) return {};
  const words = key === 'args' ? value.split(/\s+/) : [value];
  const items = words.map((word) => (/^[\w./-]+$/.test(word) ? word : JSON.stringify(word)));
  return { hint: `Write [${items.join(', ')}].` };
}

function stringHint(key: unknown, value: number | boolean): string {
  return typeof value === 'number' && /timeout|delay|window|expires|every|keep$/.test(String(key))
    ? `Name the unit: ${value}s, ${value}m or ${value}h.`
    : `Write "${value}", with quotes.`;
}

function choiceHint(error: ErrorObject, value: unknown): { hint?: string } {
  if (error.keyword === 'const' && error.instancePath === '/kind' && typeof value === 'string') {
    const use = uses[value];
    return use === undefined ? suggest(value, [String(error.params['allowedValue'])]) : { hint: use };
  }
  const allowed: unknown = error.params['allowedValues'];
  if (error.keyword !== 'enum' || !Array.isArray(allowed) || typeof value !== 'string') return {};
  return suggest(
    value,
    allowed.map(String).filter((word) => word !== ''),
  );
}

const uses: Readonly<Record<string, string>> = {
  RuntimeConfig: 'Name a config with --config; `signalbox validate` checks it.',
  EvalSuite: 'Run a suite with `signalbox eval run FILE`.',
  Pipeline: 'Run a pipeline with `signalbox run FILE`.',
};

function isOtherKind({ path, hint }: Violation): boolean {
  return path.length === 1 && path[0] === 'kind' && Object.values(uses).includes(hint ?? '');
}

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

/** Keeps one violation per path, preferring the `enum` or `const` with the fewest choices. */
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

/** Drops a missing key or choice if an unknown key beside it is probably a misspelling. */
function withoutMisspelt(violations: readonly Violation[], schema: object): Violation[] {
  const unknown = Map.groupBy(
    violations.filter(({ kind }) => kind === 'key'),
    ({ path }) => parentOf(path),
  );
  return violations.filter(({ kind, path, params }) => {
    const choices = Array.isArray(params['choices']) ? params['choices'].map(String) : [];
    const missing = kind === 'missing' ? [path] : choices.map((choice) => [...path, choice]);
    return !missing.some((each) =>
      unknown.get(parentOf(each))?.some((other) => isMeantBy(each, other.path, schema)),
    );
  });
}

/** Whether an unknown key is probably a misspelling of the key at `meant`, or belongs below it. */
export function isMeantBy(meant: Path, unknown: Path, schema: object): boolean {
  if (parentOf(unknown) !== parentOf(meant)) return false;
  const word = String(unknown.at(-1));
  return findNearest(word, [String(meant.at(-1))]) !== undefined || knownKeys(meant, schema).includes(word);
}

function parentOf(path: Path): string {
  return JSON.stringify(path.slice(0, -1));
}

/** Replaces a union's errors by those of the branch that was probably meant. */
function resolveUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.flatMap((error) => (isUnion(error) ? resolveUnion(error) : [error]));
}

type UnionError = ErrorObject<
  'anyOf' | 'oneOf',
  {
    readonly failures: readonly ErrorObject[][];
    readonly passed: number;
    readonly choices: readonly string[];
  }
>;

function isUnion(error: ErrorObject): error is UnionError {
  return error.keyword === 'anyOf' || error.keyword === 'oneOf';
}

function resolveUnion({ instancePath, params }: UnionError): ErrorObject[] {
  const { failures, passed, choices } = params;
  return passed > 1
    ? [sentence(instancePath, describeAmbiguity(choices))]
    : chooseBranch(instancePath, failures.map(resolveUnions));
}

/** Chooses the branch that fits the value's type and has the fewest errors. */
function chooseBranch(place: string, failures: readonly ErrorObject[][]): ErrorObject[] {
  const isAboutType = (error: ErrorObject) => error.keyword === 'type' && error.instancePath === place;
  const fitting = failures.filter((errors) => !errors.some(isAboutType));
  if (fitting.length === 0) {
    const types = failures
      .flat()
      .filter(isAboutType)
      .flatMap(({ params }) => params['type']);
    return [{ ...sentence(place, ''), keyword: 'type', params: { type: [...new Set(types)] } }];
  }
  const required = fitting.map((errors) => onlyMissing(place, errors));
  if (required.length > 1 && required.every((key) => key !== undefined)) {
    return [sentence(place, `needs one of: ${required.join(', ')}`, required)];
  }
  const choices = fitting.map((errors) => onlyChoices(place, errors));
  if (choices.length > 1 && choices.every((list) => list !== undefined)) {
    return [{ ...sentence(place, ''), keyword: 'enum', params: { allowedValues: choices.flat() } }];
  }
  return fitting.reduce((best, errors) => (errors.length < best.length ? errors : best));
}

function onlyMissing(place: string, [error, ...others]: readonly ErrorObject[]): string | undefined {
  return others.length === 0 && error?.keyword === 'required' && error.instancePath === place
    ? String(error.params['missingProperty'])
    : undefined;
}

function onlyChoices(place: string, [error, ...others]: readonly ErrorObject[]): string[] | undefined {
  if (others.length > 0 || error?.instancePath !== place) return undefined;
  if (error.keyword === 'const') return [String(error.params['allowedValue'])];
  const allowed: unknown = error.params['allowedValues'];
  return error.keyword === 'enum' && Array.isArray(allowed) ? allowed.map(String) : undefined;
}

function describeAmbiguity(choices: readonly string[]): string {
  return choices.length > 1
    ? `accepts only one of: ${[...new Set(choices)].join(', ')}`
    : 'fits more than one of the allowed forms';
}

function sentence(instancePath: string, text: string, choices: readonly string[] = []): ErrorObject {
  return { keyword: 'union', instancePath, schemaPath: '', params: { sentence: text, choices } };
}
