import type { ErrorObject, ValidateFunction } from 'ajv';
import { toRuntimeError } from '../errors.ts';
import { measure } from '../json/measure.ts';
import { withinLimit } from '../time/time-limit.ts';
import { compileDataSchema } from './data-schema.ts';
import { isRecursive } from './recursive-schema.ts';

/** Says what is wrong with a value, violation by violation; empty when it fits. Never throws. */
export type Check = (value: unknown) => readonly string[];

/** The check of a tool's JSON Schema; what cannot be checked, or takes too long, does not fit. */
export function compileSchema(schema: Readonly<Record<string, unknown>> | boolean | undefined): Check {
  if (schema === undefined) return () => [];
  let judge: Judge | undefined;
  return (value) => {
    try {
      // Compiled on first use: a config may declare many tools, and a run may call one.
      judge ??= openJudge(schema);
      return describeAll(judge(value));
    } catch (error) {
      // Such as a value that is nested too deeply for a schema that refers to itself.
      return [`it cannot be checked: ${toRuntimeError(error).message}`];
    }
  };
}

type Judge = (value: unknown) => readonly ErrorObject[];

function openJudge(schema: Readonly<Record<string, unknown>> | boolean): Judge {
  const isRisky = isRecursive(schema);
  const fits = compileDataSchema(schema, { isFirstOnly: true });
  let thorough: ValidateFunction | undefined;
  const compare = (value: unknown): readonly ErrorObject[] => {
    if (fits(value)) return [];
    const first = fits.errors ?? [];
    // Each of a million items may have a violation of its own.
    if (measure(value, MANY_PARTS).isLarge) return first;
    thorough ??= compileDataSchema(schema);
    return thorough(value) ? first : (thorough.errors ?? first);
  };
  if (!isRisky) return compare;
  return (value) => {
    const { isLarge, depth } = measure(value, MANY_PARTS);
    return !isLarge && depth <= FEW_LEVELS
      ? compare(value)
      : withinLimit('comparing it with the schema', () => compare(value));
  };
}

const MANY_PARTS = 10_000;
/** A schema that tries three ways at each level has tried thousands at this one. */
const FEW_LEVELS = 8;

function describeAll(errors: readonly ErrorObject[]): readonly string[] {
  const told = errors.slice(0, MOST_TOLD).map(describe);
  return errors.length > told.length ? [...told, `and ${errors.length - told.length} more`] : told;
}

const MOST_TOLD = 20;

function describe({ instancePath, message, params, keyword }: ErrorObject): string {
  const where = instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')}: `;
  const more =
    keyword === 'additionalProperties' && 'additionalProperty' in params
      ? ` (${shorten(String(params['additionalProperty']))})`
      : keyword === 'enum' && 'allowedValues' in params
        ? ` (${JSON.stringify(params['allowedValues'])})`
        : '';
  return `${shorten(where)}${message ?? keyword}${more}`;
}

/** A key may be as long as the whole value. */
function shorten(text: string): string {
  return text.length <= MOST_OF_A_KEY ? text : `${text.slice(0, MOST_OF_A_KEY)}… `;
}

const MOST_OF_A_KEY = 300;
