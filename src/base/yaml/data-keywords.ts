import type { Ajv } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { canonicalNumber, compareDecimals, isMultipleOf } from '../json/decimal.ts';
import type { ExactValue } from '../json/exact-value.ts';
import { isObject } from '../json/json.ts';

/** Runs the work with the keywords below reading the exact numbers of the compiled schema. */
export function compilingExactly<Result>(schema: ExactValue, work: () => Result): Result {
  const before = compiled;
  compiled = schema;
  try {
    return work();
  } finally {
    compiled = before;
  }
}

/** Runs the work with the keywords below reading the exact numbers of the validated data. */
export function validatingExactly<Result>(data: ExactValue, work: () => Result): Result {
  const before = validated;
  validated = data;
  try {
    return work();
  } finally {
    validated = before;
  }
}

// ajv gives keywords no context object. Compilation and validation are synchronous here.
let compiled: ExactValue | undefined;
let validated: ExactValue | undefined;

/** Replaces keywords for which ajv rounds numbers, looks up inherited names, or compares every pair of items. */
export function replaceKeywords(compiler: Ajv): void {
  for (const [keyword, { type, create }] of Object.entries(keywords)) {
    compiler.removeKeyword(keyword);
    compiler.addKeyword({
      keyword,
      ...(type !== undefined && { type }),
      compile: (schema: unknown, parent: object) => {
        const { findMisfit, message, params } = create(schema, { in: parent, digits: compiled?.digits });
        const fits: Fits = (data, context) => {
          const misfit = findMisfit(data, placeOf(context));
          fits.errors = misfit === undefined ? [] : [{ keyword, message, params, ...misfit }];
          return misfit === undefined;
        };
        return fits;
      },
    });
  }
}

interface Fits {
  (data: unknown, context?: DataValidationCxt): boolean;
  errors?: Partial<Misfit & { keyword: string }>[];
}

interface Misfit {
  readonly message: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Place {
  readonly in: object | undefined;
  readonly key?: string;
  readonly digits: ExactValue['digits'];
  readonly own?: string | undefined;
}

function placeOf(context: DataValidationCxt | undefined): Place {
  const parent: object | undefined = context?.parentData;
  const { digits, own } = validated ?? {};
  if (parent === undefined) return { in: undefined, digits, own };
  return { in: parent, key: String(context?.parentDataProperty), digits };
}

function exactNumber(number: number, { in: parent, key = '', digits, own }: Place): number | string {
  if (parent === undefined) return own ?? number;
  return digits?.get(parent)?.get(key) ?? number;
}

interface Rule extends Misfit {
  findMisfit(data: unknown, place: Place): Partial<Misfit> | undefined;
}

interface Keyword {
  readonly type?: 'number' | 'array';
  create(schema: unknown, place: Place): Rule;
}

const keywords: Readonly<Record<string, Keyword>> = {
  maximum: limit('maximum', '<=', (sign) => sign <= 0),
  minimum: limit('minimum', '>=', (sign) => sign >= 0),
  exclusiveMaximum: limit('exclusiveMaximum', '<', (sign) => sign < 0),
  exclusiveMinimum: limit('exclusiveMinimum', '>', (sign) => sign > 0),
  multipleOf: {
    type: 'number',
    create(schema, place) {
      const divisor = exactNumber(Number(schema), { ...place, key: 'multipleOf' });
      return {
        ...{ message: `must be multiple of ${divisor}`, params: { multipleOf: schema } },
        findMisfit: (data, at) => (isMultipleOf(exactNumber(Number(data), at), divisor) ? undefined : {}),
      };
    },
  },
  const: {
    create(schema, place) {
      const wanted = spell(schema, { ...place, key: 'const' });
      return {
        ...{ message: 'must be equal to constant', params: { allowedValue: schema } },
        findMisfit: (data, at) =>
          isScalar(data) === isScalar(schema) && spell(data, at) === wanted ? undefined : {},
      };
    },
  },
  enum: {
    create(schema, place) {
      const values: readonly unknown[] = Array.isArray(schema) ? schema : [];
      const wanted = new Set(
        values.map((each, index) => spell(each, { ...place, in: values, key: String(index) })),
      );
      const isDeep = values.some((each) => !isScalar(each));
      return {
        ...{ message: 'must be equal to one of the allowed values', params: { allowedValues: schema } },
        findMisfit: (data, at) =>
          (isDeep || isScalar(data)) && wanted.has(spell(data, at)) ? undefined : {},
      };
    },
  },
  uniqueItems: {
    type: 'array',
    create: (schema) => ({
      ...{ message: 'must NOT have duplicate items', params: {} },
      findMisfit(data, { digits }) {
        const pair = schema === true && Array.isArray(data) ? findDuplicates(data, digits) : undefined;
        return (
          pair && {
            message: `must NOT have duplicate items (items ## ${pair.j} and ${pair.i} are identical)`,
            params: pair,
          }
        );
      },
    }),
  },
};

function limit(keyword: string, comparison: string, isMet: (sign: number) => boolean): Keyword {
  return {
    type: 'number',
    create(schema, place) {
      const bound = exactNumber(Number(schema), { ...place, key: keyword });
      return {
        ...{ message: `must be ${comparison} ${bound}`, params: { comparison, limit: schema } },
        findMisfit: (data, at) =>
          isMet(compareDecimals(exactNumber(Number(data), at), bound)) ? undefined : {},
      };
    },
  };
}

function findDuplicates(items: readonly unknown[], digits: ExactValue['digits']) {
  const seen = new Map<string, number>();
  let pair: { readonly i: number; readonly j: number } | undefined;
  for (const [i, item] of items.entries()) {
    const text = spell(item, { in: items, key: String(i), digits });
    const j = seen.get(text);
    if (j !== undefined) pair = { i, j };
    seen.set(text, i);
  }
  return pair;
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** One text for all equal JSON values, with numbers by their digits and members in one order. */
function spell(value: unknown, place: Place): string {
  if (typeof value === 'number') {
    const number = exactNumber(value, place);
    // Integers of this size are equal only if their doubles are.
    return Number.isSafeInteger(number) ? String(Number(number) + 0) : canonicalNumber(number);
  }
  const { digits } = place;
  if (Array.isArray(value))
    return `[${value.map((each, index) => spell(each, { in: value, key: String(index), digits })).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${spell(value[key], { in: value, key, digits })}`);
  return `{${members.join(',')}}`;
}
