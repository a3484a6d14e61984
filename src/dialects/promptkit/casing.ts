import type { EvalToolCall } from '../../contract/eval.ts';
import type { SessionEvent, ToolHookRequest, ToolHookResponse } from '../../contract/hook.ts';
import type { ProviderRequest, ProviderResponse } from '../../contract/provider.ts';
import { withTextParts } from '../text-parts.ts';

type Payload = Readonly<Record<string, unknown>>;

export interface Casing {
  providerRequest(request: ProviderRequest): Payload;
  providerResponse(response: ProviderResponse): Payload;
  toolRequest(request: ToolHookRequest): Payload;
  readonly toolRequestKeys: Readonly<Record<'name' | 'args' | 'call_id', string>>;
  toolResponse(response: ToolHookResponse): Payload;
  sessionEvent(event: SessionEvent): Payload;
  evalToolCall(call: EvalToolCall): Payload;
}

/** snake_case, as PromptKit first published its payloads. The neutral types already have these names. */
export const snakeCase: Casing = {
  providerRequest: ({ provider_id, model, messages, system_prompt, round, metadata, other }) => ({
    provider_id,
    model,
    messages: messages.map(withTextParts),
    system_prompt,
    round,
    metadata,
    ...(other && { other }),
  }),
  providerResponse: ({ provider_id, model, message, round, latency_ms }) => ({
    provider_id,
    model,
    message: withTextParts(message),
    round,
    latency_ms,
  }),
  toolRequest: ({ name, args, call_id }) => ({ name, args, call_id }),
  toolRequestKeys: { name: 'name', args: 'args', call_id: 'call_id' },
  toolResponse: ({ name, call_id, content, error, latency_ms }) => ({
    name,
    call_id,
    content,
    error,
    latency_ms,
  }),
  sessionEvent: ({ session_id, conversation_id, messages, turn_index, metadata }) => ({
    session_id,
    conversation_id,
    messages: messages.map(withTextParts),
    turn_index,
    metadata,
  }),
  evalToolCall: ({ name, args, result, error, index }) => ({ name, args, result, error, index }),
};

/** The format of PromptKit's Go structs: an empty map is nil and prints null. */
export const goCase: Casing = {
  providerRequest: (request) => ({
    ProviderID: request.provider_id,
    Model: request.model,
    Messages: request.messages.map(withTextParts),
    SystemPrompt: request.system_prompt,
    Round: request.round,
    Metadata: nullIfEmpty(request.metadata),
    Replacement: '',
    ...(request.other && { Other: request.other }),
  }),
  providerResponse: (response) => ({
    ProviderID: response.provider_id,
    Model: response.model,
    Message: withTextParts(response.message),
    Round: response.round,
    LatencyMs: response.latency_ms,
  }),
  toolRequest: (request) => ({ Name: request.name, Args: request.args, CallID: request.call_id }),
  toolRequestKeys: { name: 'Name', args: 'Args', call_id: 'CallID' },
  toolResponse: (response) => ({
    Name: response.name,
    CallID: response.call_id,
    Content: response.content,
    Error: response.error,
    LatencyMs: response.latency_ms,
  }),
  sessionEvent: (event) => ({
    SessionID: event.session_id,
    ConversationID: event.conversation_id,
    Messages: event.messages.map(withTextParts),
    TurnIndex: event.turn_index,
    Metadata: nullIfEmpty(event.metadata),
  }),
  evalToolCall: (call) => ({
    Name: call.name,
    Args: call.args,
    Result: call.result,
    Error: call.error,
    Index: call.index,
  }),
};

function nullIfEmpty(map: Payload): Payload | null {
  return Object.keys(map).length === 0 ? null : map;
}
