import { hasExactForm } from './json.ts';

/**
 * What `stringifyJson` writes of a tree of nothing but plain data, at a fraction of its cost; such a text is that of an
 * object or list without duplicate keys. Undefined for any other tree, which may be as good.
 */
export function plainText(tree: object): string | undefined {
  return isPlain(tree, MAX_LEVELS) ? JSON.stringify(tree) : undefined;
}

/** Deeper trees are left to code that says what is wrong with them. */
const MAX_LEVELS = 100;

function isPlain(value: unknown, levels: number): boolean {
  if (typeof value !== 'object') return plainTypes.has(typeof value);
  if (value === null) return true;
  if (levels === 0 || 'toJSON' in value || hasExactForm(value)) return false;
  if (Array.isArray(value)) return areElementsPlain(value, levels);
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const key in value) {
    if (!isPlain(Reflect.get(value, key), levels - 1)) return false;
  }
  return true;
}

function areElementsPlain(list: readonly unknown[], levels: number): boolean {
  for (const element of list) {
    // So is a hole, which JSON cannot have.
    if (element === undefined || !isPlain(element, levels - 1)) return false;
  }
  return true;
}

const plainTypes: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'undefined']);
