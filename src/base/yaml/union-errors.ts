import type { ErrorObject } from 'ajv';

/** The same errors with, in place of each union's, those that are worth telling: of the branch that was probably meant. */
export function resolveUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.flatMap((error) => (isUnion(error) ? resolveUnion(error) : [error]));
}

/** What the keywords of schema/standalone.ts say of a union. */
type UnionError = ErrorObject<
  'anyOf' | 'oneOf',
  {
    /** The errors of each branch that does not fit. */
    readonly failures: readonly ErrorObject[][];
    readonly passed: number;
    /** The keys that the branches ask for. */
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

/** The errors of the branch that fits the value's type and fails least. */
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
    ? `takes only one of: ${[...new Set(choices)].join(', ')}`
    : 'fits more than one of the allowed forms';
}

/** `choices`: the keys of which one is missing. */
function sentence(instancePath: string, text: string, choices: readonly string[] = []): ErrorObject {
  return { keyword: 'union', instancePath, schemaPath: '', params: { sentence: text, choices } };
}
