import { isObject } from '../json/json.ts';

type Subschema = Readonly<Record<string, unknown>>;

/**
 * A path for messages: `hooks[guard].phases[0]`. User-chosen names (by the schema) and list indices are in brackets; a
 * leading `spec` is omitted.
 */
export function describePath(path: readonly (string | number)[], schema: object): string {
  let text = '';
  let candidates = rootOf(schema);
  for (const [depth, segment] of path.entries()) {
    const isName = typeof segment === 'number' || (!isKnown(candidates, segment) && takesNames(candidates));
    if (isName) text += `[${segment}]`;
    else if (depth > 0 || segment !== 'spec' || path.length === 1)
      text += text === '' ? segment : `.${segment}`;
    candidates = stepInto(candidates, segment, schema);
  }
  return text;
}

/** The keys that the schema lists for the mapping at `path`. */
export function knownKeys(path: readonly (string | number)[], schema: object): string[] {
  let candidates = rootOf(schema);
  for (const segment of path) candidates = stepInto(candidates, segment, schema);
  return [...new Set(candidates.flatMap((candidate) => Object.keys(propertiesOf(candidate))))];
}

export function typesAt(path: readonly (string | number)[], schema: object): ReadonlySet<string> {
  let candidates = rootOf(schema);
  for (const segment of path) candidates = stepInto(candidates, segment, schema);
  return new Set(
    candidates.flatMap(({ type, enum: words, const: word }) => {
      if (type !== undefined) return [type].flat().map(String);
      return [words ?? [], word ?? []].flat().map((each) => typeof each);
    }),
  );
}

function isKnown(candidates: readonly Subschema[], key: string): boolean {
  return candidates.some((candidate) => Object.hasOwn(propertiesOf(candidate), key));
}

function takesNames(candidates: readonly Subschema[]): boolean {
  return candidates.some(
    ({ additionalProperties, patternProperties }) =>
      isObject(additionalProperties) || isObject(patternProperties),
  );
}

function propertiesOf(candidate: Subschema): Readonly<Record<string, unknown>> {
  return isObject(candidate['properties']) ? candidate['properties'] : {};
}

function rootOf(schema: object): readonly Subschema[] {
  const known = roots.get(schema) ?? expand([schema], schema);
  roots.set(schema, known);
  return known;
}

function stepInto(
  candidates: readonly Subschema[],
  segment: string | number,
  root: object,
): readonly Subschema[] {
  // What no schema names, all of them treat alike.
  const place = typeof segment === 'number' || (isKnown(candidates, segment) && segment);
  const known = steps.get(candidates) ?? new Map<string | boolean, readonly Subschema[]>();
  steps.set(candidates, known);
  const inner = known.get(place) ?? expand(subschemasAt(candidates, segment), root);
  known.set(place, inner);
  return inner;
}

/** A file may have thousands of mistakes at places of the same kind. */
const roots = new WeakMap<object, readonly Subschema[]>();
const steps = new WeakMap<readonly Subschema[], Map<string | boolean, readonly Subschema[]>>();

function subschemasAt(candidates: readonly Subschema[], segment: string | number): unknown[] {
  return candidates.flatMap((candidate): unknown[] => {
    if (typeof segment === 'number') return [candidate['items']];
    const properties = propertiesOf(candidate);
    if (Object.hasOwn(properties, segment)) return [properties[segment]];
    const patterns = isObject(candidate['patternProperties'])
      ? Object.values(candidate['patternProperties'])
      : [];
    return [candidate['additionalProperties'], ...patterns];
  });
}

function expand(schemas: readonly unknown[], root: object, seen = new Set<unknown>()): Subschema[] {
  return schemas.flatMap((schema) => {
    if (!isObject(schema) || seen.has(schema)) return [];
    seen.add(schema);
    const lists = [schema['allOf'], schema['anyOf'], schema['oneOf']].flatMap((list) =>
      Array.isArray(list) ? list : [],
    );
    const more = [...lists, schema['then'], schema['else'], follow(schema['$ref'], root)];
    return [schema, ...expand(more, root, seen)];
  });
}

function follow(reference: unknown, root: object): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  let target: unknown = root;
  for (const part of reference.slice(1).split('/').filter(Boolean)) {
    target = isObject(target) ? target[part] : undefined;
  }
  return target;
}
