import type { ProviderRequest } from '../../contract/provider.ts';
import { Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import { nonNull } from '../body.ts';
import { isSame } from './json-parts.ts';
import { toNeutralMessages } from './neutral-messages.ts';
import type { NeutralReplacement } from './neutral-replacement.ts';
import { readMessages } from './wire/message.ts';
import { readToolDefs, toToolDef } from './wire/tool.ts';

type Parts = Readonly<Record<string, Json>>;

/** The members of a model call that the hooks changed, in neutral form. */
export function toNeutralRequest(
  request: ProviderRequest,
  { model, messages, tools, options }: Parts,
): NeutralReplacement {
  const given = messages && toNeutralMessages(request, readMessages(messages, '`messages`'));
  const replace = {
    ...given?.replace,
    ...(tools !== undefined && toNeutralTools(request, tools)),
    ...(model !== undefined && model.value !== request.model && { model }),
    ...(options !== undefined && toNeutralOptions(request, options)),
  };
  return { replace, droppedFiles: given?.droppedFiles ?? 0 };
}

/** The changed tools; a known tool keeps the members that a TOOLDEF does not have. */
function toNeutralTools({ tools = [] }: ProviderRequest, given: Json) {
  if (isSame(given, Json.from(tools.map(toToolDef)))) return {};
  const listings = readToolDefs(given, '`tools`').map(({ name, description, parameters }) => ({
    ...tools.find((tool) => tool.name === name),
    name,
    description,
    input_schema: parameters ?? { type: 'object' },
  }));
  return { tools: listings };
}

function toNeutralOptions({ options: { max_tokens, temperature } = {} }: ProviderRequest, given: Json) {
  const parts = membersOf(given);
  const tokens = nonNull(parts['max_tokens']);
  const heat = nonNull(parts['temperature']);
  if (tokens?.value === max_tokens && heat?.value === temperature) return {};
  return { options: { ...(tokens && { max_tokens: tokens }), ...(heat && { temperature: heat }) } };
}
