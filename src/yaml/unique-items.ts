import type { Ajv } from 'ajv';
import { isObject } from '../json/json.ts';

/** Gives a compiler a `uniqueItems` whose time grows with the list only, where ajv compares each item with every other. */
export function makeUniqueItemsLinear(compiler: Ajv): void {
  compiler.removeKeyword('uniqueItems');
  compiler.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: 'full',
    compile: (isAsked: boolean) => {
      const validateItems: UniqueItemsValidator = (items) => {
        const duplicates = isAsked && items.length > 1 ? findDuplicatePair(items) : undefined;
        validateItems.errors = duplicates === undefined ? [] : [toValidationError(duplicates)];
        return duplicates === undefined;
      };
      return validateItems;
    },
  });
}

interface UniqueItemsValidator {
  (items: readonly unknown[]): boolean;
  errors?: Partial<ReturnType<typeof toValidationError>>[];
}

interface DuplicatePair {
  readonly i: number;
  readonly j: number;
}

/** The indices of the last item that equals an earlier one, and of that one; undefined when all differ. */
function findDuplicatePair(items: readonly unknown[]): DuplicatePair | undefined {
  return items.length <= MAX_SCANNED && items.every(isScalar) ? findAmongFew(items) : findAmongMany(items);
}

/** The longest list of scalars for which scanning is faster than a map. */
const MAX_SCANNED = 16;

function findAmongFew(items: readonly unknown[]): DuplicatePair | undefined {
  for (let i = items.length - 1; i > 0; i--) {
    const j = items.lastIndexOf(items[i], i - 1);
    if (j !== -1) return { i, j };
  }
  return undefined;
}

function findAmongMany(items: readonly unknown[]): DuplicatePair | undefined {
  const scalars = new Map<unknown, number>();
  const composites = new Map<unknown, number>();
  let duplicates: DuplicatePair | undefined;
  for (const [i, item] of items.entries()) {
    const seen = isScalar(item) ? scalars : composites;
    const key = isScalar(item) ? item : canonicalText(item);
    const j = seen.get(key);
    if (j !== undefined) duplicates = { i, j };
    seen.set(key, i);
  }
  return duplicates;
}

function isScalar(item: unknown): boolean {
  return typeof item !== 'object' || item === null;
}

/** JSON text with the members of each object in one order. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`).join(',')}}`;
}

function toValidationError({ i, j }: DuplicatePair) {
  return {
    keyword: 'uniqueItems',
    message: `must NOT have duplicate items (items ## ${j} and ${i} are identical)`,
    params: { i, j },
  };
}
