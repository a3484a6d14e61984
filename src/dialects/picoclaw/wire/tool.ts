import type { ToolHookResponse } from '../../../contract/hook.ts';
import type { ToolListing } from '../../../contract/provider.ts';
import { isObject, type Json } from '../../../json/json.ts';
import { membersOf } from '../../../json/scan.ts';
import { malformed, nonNull } from '../../body.ts';
import { foldObject, requireList } from '../json-parts.ts';

/** TOOLDEF. */
export function toToolDef({ name, description, input_schema }: ToolListing) {
  return { type: 'function', function: { name, description, parameters: input_schema ?? {} } };
}

/** A TOOLDEF that a hook wrote, taken apart. */
export interface ReadTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json | undefined;
}

/** The TOOLDEFs of a list. Throws REPLY_MALFORMED where one cannot be a tool. */
export function readToolDefs(list: Json, what: string): ReadTool[] {
  return requireList(list, what).map((tool, index) => readToolDef(tool, `${what}[${index}]`));
}

function readToolDef(json: Json, what: string): ReadTool {
  const own = nonNull(foldObject(json, what, ['function']).get('function'));
  if (own === undefined) throw malformed(`${what} has no \`function\``);
  const body = foldObject(own, `\`function\` of ${what}`, ['name', 'description', 'parameters']);
  const name = body.get('name')?.value;
  const description = nonNull(body.get('description'))?.value ?? '';
  const parameters = nonNull(body.get('parameters'));
  if (typeof name !== 'string' || name === '') throw malformed(`${what} has no name`);
  if (typeof description !== 'string') throw malformed(`the description of ${what} is not a string`);
  if (parameters !== undefined && !isObject(parameters.value)) {
    throw malformed(`the parameters of ${what} are not an object`);
  }
  return { name, description, parameters };
}

/** The members of a TOOLRESULT beside `for_llm`, with their defaults. */
export const defaultResult = {
  for_user: '',
  silent: false,
  is_error: false,
  async: false,
  media: [],
  artifact_tags: [],
  response_handled: false,
} as const;

/** The members of TOOLRESULT. */
export const resultKeys: readonly string[] = ['for_llm', ...Object.keys(defaultResult)];

/** A TOOLRESULT with its text. Throws REPLY_MALFORMED where it has none. */
export function readResultObject(json: Json, what: string): { readonly text: Json; readonly others: Parts } {
  const { for_llm: text, ...others } = membersOf(foldObject(json, what, resultKeys).json);
  if (typeof text?.value !== 'string') throw malformed(`\`for_llm\` of ${what} is not a string`);
  return { text, others };
}

type Parts = Readonly<Record<string, Json>>;

/** TOOLRESULT: `for_llm` is what the model would see. */
export function toToolResult({ content, error }: ToolHookResponse) {
  return { for_llm: content, ...defaultResult, is_error: error !== '' };
}
