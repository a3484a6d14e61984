import { isObject } from '../json/json.ts';

/** Whether a JSON Schema refers to itself, so that validation may take very long. */
export function isRecursive(schema: unknown): boolean {
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

/** The targets of the references of a node; the whole schema for one that cannot be resolved. */
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
