import type { HookContext } from '../../contract/turn.ts';
import type { RuntimeError } from '../../errors.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';
import { invalidPayload } from '../invalid-payload.ts';
import { contextMembers } from './context-members.ts';
import { type FieldKind, requirePoint } from './points.ts';

/**
 * A payload from the host, with defaults filled in; members that the point does not have stay. Throws
 * EVENT_INVALID, which names the member that is missing or wrong.
 */
export function complete(point: string, given: Payload, hookContext: HookContext): Payload {
  const { fields } = requirePoint(point);
  const contextValues = contextMembers(hookContext);
  const derived = deriveMembers(given);
  const members = Object.entries(fields).flatMap(([key, field]) => {
    const value = given[key] ?? (field.isFromContext ? contextValues[key] : (derived[key] ?? field.fallback));
    if (value === undefined && field.isOptional) return [];
    if (value === undefined) throw invalid(point, key, 'is missing');
    if (!kindTests[field.kind](Json.from(value))) throw invalid(point, key, `is no ${kindWords[field.kind]}`);
    return [[key, value] as const];
  });
  return { ...given, ...Object.fromEntries(members) };
}

/** The members that are derived from others: lengths of `content`, `original_prompt`, `final_output`. */
function deriveMembers({ prompt, content, output }: Payload): Payload {
  const text = plainText(content);
  return {
    ...(prompt !== undefined && { original_prompt: prompt }),
    ...(output !== undefined && { final_output: output }),
    ...(text !== undefined && {
      char_count: [...text].length,
      line_count: text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0),
      output_size: Buffer.byteLength(text),
    }),
  };
}

function plainText(value: unknown): string | undefined {
  const plain = value instanceof Json ? value.value : value;
  return typeof plain === 'string' ? plain : undefined;
}

const isText = ({ value }: Json): boolean => typeof value === 'string';
const isCount = ({ text }: Json): boolean => /^\d+$/.test(text);

const kindTests: Readonly<Record<FieldKind, (json: Json) => boolean>> = {
  text: isText,
  'text?': (json) => isText(json) || json.value === null,
  count: isCount,
  'number?': ({ value }) => typeof value === 'number' || value === null,
  flag: ({ value }) => typeof value === 'boolean',
  object: ({ value }) => isObject(value),
  list: ({ value }) => Array.isArray(value),
  any: () => true,
};

const kindWords: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  'text?': 'text, nor null',
  count: 'whole number from 0',
  'number?': 'number, nor null',
  flag: 'boolean',
  object: 'object',
  list: 'list',
  any: 'value',
};

function invalid(point: string, key: string, problem: string): RuntimeError {
  return invalidPayload(`the payload of ${point}: \`${key}\` ${problem}`);
}
