import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { isObject } from '../../base/json/json.ts';
import type { ModelOptions, ToolListing } from '../../contract/provider.ts';

export function toFunctionTool({
  name,
  description,
  input_schema,
}: ToolListing): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name,
    ...(description !== '' && { description }),
    // A schema that is true or absent accepts any object.
    inputSchema: isObject(input_schema) ? input_schema : { type: 'object' },
  };
}

export function listTools({ tools = [] }: Pick<LanguageModelV4CallOptions, 'tools'>): ToolListing[] {
  return tools.flatMap((tool) =>
    tool.type === 'function'
      ? [{ name: tool.name, description: tool.description ?? '', input_schema: tool.inputSchema }]
      : [],
  );
}

/** Unchanged tools and provider tools stay as they were. */
export function replaceTools(
  { tools = [] }: Pick<LanguageModelV4CallOptions, 'tools'>,
  filtered: readonly ToolListing[],
): NonNullable<LanguageModelV4CallOptions['tools']> {
  const own = tools.filter(({ type }) => type !== 'function');
  const before = new Map(
    tools.flatMap((tool) => (tool.type === 'function' ? [[tool.name, tool] as const] : [])),
  );
  const functions = filtered.map((listing) => {
    const known = before.get(listing.name);
    const isSame =
      known !== undefined &&
      JSON.stringify(toFunctionTool(listing)) ===
        JSON.stringify(toFunctionTool(listTools({ tools: [known] })[0] ?? listing));
    return isSame ? known : toFunctionTool(listing);
  });
  return [...functions, ...own];
}

export function toModelOptions({ maxOutputTokens, temperature }: LanguageModelV4CallOptions): ModelOptions {
  return {
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
  };
}
