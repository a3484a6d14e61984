import { isObject } from '../src/base/json/json.ts';

/**
 * The same JSON Schema with each mapping that it describes as a definition of its own, which becomes a function that is
 * read by the JavaScript engine when the first value for it comes; without what only people read.
 */
export function split(schema: object): object {
  const names = new Map<object, string>();
  const definitions: Record<string, unknown> = {};
  const reduce = (node: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(node).flatMap(([key, value]) => (notes.has(key) ? [] : [[key, reduceMember(key, value)]])),
    );
  const reduceMember = (key: string, value: unknown): unknown => {
    if (key === '$defs' && isObject(value)) return mapValues(value, (part) => (isObject(part) ? reduce(part) : part));
    if (key === 'properties' && isObject(value)) return mapValues(value, reduceSchema);
    if (unions.has(key) && Array.isArray(value)) return value.map(reduceSchema);
    return key === 'items' || key === 'additionalProperties' ? reduceSchema(value) : value;
  };
  const reduceSchema = (node: unknown): unknown => {
    if (!isObject(node)) return node;
    if (!('properties' in node)) return reduce(node);
    const name = names.get(node) ?? `part${names.size}`;
    if (!names.has(node)) {
      names.set(node, name);
      definitions[name] = reduce(node);
    }
    return { $ref: `#/$defs/${name}` };
  };
  const { $defs = {}, ...whole } = reduce(schema);
  return { ...whole, $defs: { ...(isObject($defs) && $defs), ...definitions } };
}

const notes: ReadonlySet<string> = new Set(['title', 'description']);
const unions: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf']);

function mapValues(
  record: Readonly<Record<string, unknown>>,
  change: (value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
