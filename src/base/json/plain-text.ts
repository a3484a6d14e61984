import { hasExactForm } from './json.ts';

/**
 * The text that `stringifyJson` writes, at a fraction of the cost, for a tree of plain data. It has no duplicate keys.
 * Undefined for any other tree.
 */
export function plainText(tree: object): string | undefined {
  return isPlain(tree, MAX_LEVELS) ? JSON.stringify(tree) : undefined;
}

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
    // Also refuses holes, which JSON cannot represent.
    if (element === undefined || !isPlain(element, levels - 1)) return false;
  }
  return true;
}

const plainTypes: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'undefined']);
