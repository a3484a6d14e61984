import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import { nonNull } from '../body.ts';
import type { Question } from '../foreign-dialect.ts';
import { isSame } from './json-parts.ts';
import { type NeutralReplacement, toNeutralMessages } from './neutral-messages.ts';
import { countFiles, readMessages } from './wire/message.ts';
import { readResponseObject } from './wire/response.ts';
import { readToolDefs, toToolDef } from './wire/tool.ts';

/**
 * The composed answer in neutral form: `replace` has the members of the event's phase. Throws
 * REPLY_MALFORMED.
 */
export function toNeutralAnswer(event: HookEvent, _question: Question, answer: Answer): Answer {
  if (answer.verdict !== 'modify') return answer;
  const { replace, droppedFiles } = toNeutralReplace(event, answer.replace);
  const { reason, context = [] } = answer;
  const metadata = withDroppedFiles(answer.metadata, droppedFiles);
  if (Object.keys(replace).length === 0) return answers.allow({ reason, metadata, context });
  return answers.modify(replace, { reason, metadata, context });
}

function toNeutralReplace(event: HookEvent, replace: Json): NeutralReplacement {
  const parts = membersOf(replace);
  switch (event.phase) {
    case 'before_call':
      return toNeutralRequest(event.request, parts);
    case 'after_call':
      return toNeutralMessage(event.response.message, parts['response'] ?? new Json('{}'));
    default:
      return { replace: parts, droppedFiles: 0 };
  }
}

function withDroppedFiles(metadata: Json, droppedFiles: number): Json {
  if (droppedFiles === 0) return metadata;
  const members = membersOf(metadata);
  const own = membersOf(members['picoclaw'] ?? new Json('{}'));
  return Json.from({ ...members, picoclaw: { ...own, dropped_files: droppedFiles } });
}

/** A model's answer after the hooks, in neutral form; tool calls that they did not repeat are gone. */
function toNeutralMessage(original: ChatMessage, response: Json): NeutralReplacement {
  const { content, reasoning, calls } = readResponseObject(response, 'the answer');
  const { parts, tool_calls: _calls, reasoning: _reasoning, ...others } = original;
  const keepsText = content === original.content;
  const message = {
    ...others,
    role: 'assistant',
    content,
    ...(keepsText && parts !== undefined && { parts }),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { replace: { message }, droppedFiles: keepsText ? 0 : countFiles(original) };
}

type Parts = Readonly<Record<string, Json>>;

/** The members of a model call that the hooks changed, in neutral form. */
function toNeutralRequest(
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
