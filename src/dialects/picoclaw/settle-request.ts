import type { ProviderRequest } from '../../contract/provider.ts';
import { Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import { present } from '../body.ts';
import { isSame } from './json-parts.ts';
import { settleMessages } from './settle-messages.ts';
import type { Settled } from './settled.ts';
import { readMessages } from './wire/message.ts';
import { readToolDefs, toToolDef } from './wire/tool.ts';

type Parts = Readonly<Record<string, Json>>;

/** A model call as the hooks left it; what they left as it was is no replacement. */
export function settleRequest(request: ProviderRequest, { model, messages, tools, options }: Parts): Settled {
  const given = messages && settleMessages(request, readMessages(messages, '`messages`'));
  const replace = {
    ...given?.replace,
    ...(tools !== undefined && settleTools(request, tools)),
    ...(model !== undefined && model.value !== request.model && { model }),
    ...(options !== undefined && settleOptions(request, options)),
  };
  return { replace, droppedFiles: given?.droppedFiles ?? 0 };
}

/** A tool that was offered before keeps what its TOOLDEF does not tell. */
function settleTools({ tools = [] }: ProviderRequest, given: Json) {
  if (isSame(given, Json.from(tools.map(toToolDef)))) return {};
  const listings = readToolDefs(given, '`tools`').map(({ name, description, parameters }) => ({
    ...tools.find((tool) => tool.name === name),
    name,
    description,
    input_schema: parameters ?? { type: 'object' },
  }));
  return { tools: listings };
}

function settleOptions({ options: { max_tokens, temperature } = {} }: ProviderRequest, given: Json) {
  const parts = partsOf(given);
  const tokens = present(parts['max_tokens']);
  const heat = present(parts['temperature']);
  if (tokens?.value === max_tokens && heat?.value === temperature) return {};
  return { options: { ...(tokens && { max_tokens: tokens }), ...(heat && { temperature: heat }) } };
}
