import { isObject } from '../../base/json/json.ts';
import { compileDataSchema, isSchema202012 } from '../../base/yaml/data-schema.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { findScriptAt, scriptLanguages } from '../script.ts';

/** Why the command or script at `path` must never start; undefined if it may. */
export function whyRefused(document: YamlDocument, path: Path): string | undefined {
  const isScript = path[1] === 'evals' && findScriptAt(document, path) !== undefined;
  if (!isScript && nonEmptyTextAt(document, [...path, 'command']) === undefined)
    return 'its command is empty';
  return findNul(document, path) === undefined ? undefined : 'it contains a NUL character';
}

export function whyToolRefused(document: YamlDocument, path: Path): string | undefined {
  const mode = findWrongMode(document, path);
  if (mode !== undefined) return `its mode is ${mode}, but only exec runs its exec binding`;
  for (const key of schemaKeys) {
    const fault = findSchemaFault(document, [...path, key]);
    if (fault !== undefined) return `its ${key} cannot be used: ${fault}`;
  }
  return whyRefused(document, [...path, 'exec']);
}

export const schemaKeys = ['input_schema', 'output_schema'] as const;

export function findWrongMode(document: YamlDocument, path: Path): string | undefined {
  const mode = nonEmptyTextAt(document, [...path, 'mode']);
  return mode !== undefined && mode !== 'exec' && isObject(valueAt(document, [...path, 'exec']))
    ? mode
    : undefined;
}

export function findSchemaFault(document: YamlDocument, path: Path): string | undefined {
  const schema = valueAt(document, path);
  if (schema === undefined || schema === null) return undefined;
  if (typeof schema === 'boolean') return undefined;
  if (!isObject(schema)) return 'it is neither a mapping nor true or false';
  const known = faults.get(schema) ?? { fault: compileFault(schema) };
  faults.set(schema, known);
  return known.fault;
}

/** Caches results, since compiling is slow and both the checks and the builder need them. */
const faults = new WeakMap<object, { readonly fault: string | undefined }>();

function compileFault(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (isPlainSchema(schema)) return undefined;
  try {
    compileDataSchema(schema);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** The path of the first text with a NUL character, which no program can receive. */
export function findNul(document: YamlDocument, path: Path): Path | undefined {
  const lists = ['args', 'env'].flatMap((key) => itemsAt(document, [...path, key]));
  const scripts = scriptLanguages.map((language) => [...path, 'script', language]);
  const texts = [[...path, 'command'], [...path, 'cwd'], ...lists, ...scripts];
  return texts.find((text) => textAt(document, text)?.includes('\0'));
}

/**
 * Whether a schema is certainly usable: it fits the meta-schema of 2020-12 and has no references and no code. This
 * check avoids loading ajv. Other schemas may be usable too.
 */
export function isPlainSchema(schema: Readonly<Record<string, unknown>>): boolean {
  return hasPlainKeywords(schema) && isSchema202012(schema);
}

function hasPlainKeywords(schema: unknown): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (plain.has(keyword)) return true;
    if (keyword === 'items' || keyword === 'additionalProperties') return hasPlainKeywords(value);
    if (keyword === 'properties') return isObject(value) && Object.values(value).every(hasPlainKeywords);
    // ajv refuses an empty `enum`, which the meta-schema allows.
    return keyword === 'enum' && Array.isArray(value) && value.length > 0;
  });
}

const plain: ReadonlySet<string> = new Set(
  `title description default examples deprecated readOnly writeOnly type const required minProperties maxProperties
    minItems maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum`.split(/\s+/),
);
