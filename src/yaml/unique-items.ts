import type { Ajv } from 'ajv';
import { isObject } from '../json/json.ts';

/** Gives a compiler a `uniqueItems` whose time grows with the list only, where ajv compares each item with every other. */
export function makeUniqueItemsLinear(compiler: Pick<Ajv, 'addKeyword' | 'removeKeyword'>): void {
  compiler.removeKeyword('uniqueItems');
  compiler.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: 'full',
    compile: (isAsked: boolean) => {
      const judge: Judge = (items) => {
        const twins = isAsked && items.length > 1 ? findTwins(items) : undefined;
        judge.errors = twins === undefined ? [] : [errorOf(twins)];
        return twins === undefined;
      };
      return judge;
    },
  });
}

interface Judge {
  (items: readonly unknown[]): boolean;
  errors?: Partial<ReturnType<typeof errorOf>>[];
}

interface Twins {
  readonly i: number;
  readonly j: number;
}

/** The last item that there was before, and where. */
function findTwins(items: readonly unknown[]): Twins | undefined {
  return items.length <= FEW && items.every(isScalar) ? findAmongFew(items) : findAmongMany(items);
}

/** So few scalars are compared sooner than looked up. */
const FEW = 16;

function findAmongFew(items: readonly unknown[]): Twins | undefined {
  for (let i = items.length - 1; i > 0; i--) {
    const j = items.lastIndexOf(items[i], i - 1);
    if (j !== -1) return { i, j };
  }
  return undefined;
}

function findAmongMany(items: readonly unknown[]): Twins | undefined {
  const scalars = new Map<unknown, number>();
  const composites = new Map<unknown, number>();
  let twins: Twins | undefined;
  for (const [i, item] of items.entries()) {
    const seen = isScalar(item) ? scalars : composites;
    const key = isScalar(item) ? item : textOf(item);
    const j = seen.get(key);
    if (j !== undefined) twins = { i, j };
    seen.set(key, i);
  }
  return twins;
}

function isScalar(item: unknown): boolean {
  return typeof item !== 'object' || item === null;
}

/** JSON text with the members of each object in one order. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${textOf(value[key])}`).join(',')}}`;
}

function errorOf({ i, j }: Twins) {
  return {
    keyword: 'uniqueItems',
    message: `must NOT have duplicate items (items ## ${j} and ${i} are identical)`,
    params: { i, j },
  };
}
