import { isObject } from '../json/json.ts';

type Subschema = Readonly<Record<string, unknown>>;

/**
 * A path for messages: `hooks[guard].phases[0]`. User-chosen names (by the schema) and list indices are in brackets; a
 * leading `spec` is omitted.
 */
export function describePath(path: readonly (string | number)[], schema: object): string {
  let text = '';
  let candidates = expand([schema], schema);
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
  let candidates = expand([schema], schema);
  for (const segment of path) candidates = stepInto(candidates, segment, schema);
  return [...new Set(candidates.flatMap((candidate) => Object.keys(propertiesOf(candidate))))];
}

export function typesAt(path: readonly (string | number)[], schema: object): ReadonlySet<string> {
  let candidates = expand([schema], schema);
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

function stepInto(candidates: readonly Subschema[], segment: string | number, root: object): Subschema[] {
  const inner = candidates.flatMap((candidate): unknown[] => {
    if (typeof segment === 'number') return [candidate['items']];
    const properties = propertiesOf(candidate);
    if (Object.hasOwn(properties, segment)) return [properties[segment]];
    const patterns = isObject(candidate['patternProperties'])
      ? Object.values(candidate['patternProperties'])
      : [];
    return [candidate['additionalProperties'], ...patterns];
  });
  return expand(inner, root);
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
