import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import type { HookEvent, ToolHookResponse } from '../../contract/hook.ts';
import type { ProviderRequest } from '../../contract/provider.ts';
import { resultFrom } from './call-result.ts';
import { parseMessage } from './message.ts';
import { reconcileMessages } from './reconcile-messages.ts';
import { applyToTurn, readModelChanges } from './replace-turn.ts';

/** An event with parts of it replaced, and the replaced parts as JSON. */
export interface Replaced {
  readonly event: HookEvent;
  readonly parts: ReadonlyMap<string, Json>;
}

/**
 * Puts what a filter replaced into its event. Throws Error when the changes contradict each other, or when
 * two readers could read them differently.
 */
export function applyReplace(event: HookEvent, replace: Json): Replaced {
  const parts = new Map(exactMembers(replace));
  switch (event.phase) {
    case 'request': {
      const changes = changeRequest(event.turn, parts);
      return { event: { ...event, turn: { ...event.turn, ...changes } }, parts };
    }
    case 'before_call': {
      const changes = { ...changeRequest(event.request, parts), ...changeOther(event.request, parts) };
      return { event: { ...event, request: { ...event.request, ...changes } }, parts };
    }
    case 'after_call': {
      const given = parseMessages(parts.get('message'));
      const [message] = reconcileMessages([event.response.message], given ?? []);
      if (message === undefined) return { event, parts };
      if (message !== given?.[0]) parts.set('message', Json.from(message));
      return { event: { ...event, response: { ...event.response, message } }, parts };
    }
    case 'before_execution':
    case 'approval': {
      const args = parts.get('args');
      const name = parts.get('name')?.value;
      const duplicate = args === undefined ? undefined : findDuplicateKey(args.text);
      if (duplicate !== undefined) throw new Error(`the replaced argument "${duplicate}" stands twice`);
      const changes = { ...(args && { args }), ...(typeof name === 'string' && { name }) };
      return { event: { ...event, request: { ...event.request, ...changes } }, parts };
    }
    case 'blocked':
    case 'after_execution': {
      const content = parts.get('content');
      if (content === undefined) return { event, parts };
      return { event: { ...event, response: withText(event.response, String(content.value)) }, parts };
    }
    default:
      return { event: event.hook === 'turn' ? applyToTurn(event, parts) : event, parts };
  }
}

/** The response with the new content; its result is derived from that content, not kept. */
function withText({ result, ...response }: ToolHookResponse, content: string): ToolHookResponse {
  if (result === undefined) return { ...response, content };
  return { ...response, content, result: resultFrom(result, content) };
}

/** The changes of a filter to a model call. Reconciled messages are written back to `parts`. */
function changeRequest({ messages: sent }: Pick<ProviderRequest, 'messages'>, parts: Map<string, Json>) {
  const prompt = parts.get('system_prompt');
  const given = parseMessages(parts.get('messages'));
  const messages = given && reconcileMessages(sent, given);
  if (messages?.some((message, index) => message !== given?.[index])) {
    parts.set('messages', Json.from(messages));
  }
  return {
    ...(messages && { messages }),
    ...(prompt && { system_prompt: String(prompt.value) }),
    ...readModelChanges(parts),
  };
}

/** The rest of a body as a filter left it. Throws Error where there is none. */
function changeOther({ other: sent }: ProviderRequest, parts: ReadonlyMap<string, Json>) {
  const other = parts.get('other');
  if (other === undefined) return {};
  if (sent === undefined) throw new Error('this request has no `other` that could be replaced');
  const duplicate = findDuplicateKey(other.text);
  if (duplicate !== undefined) throw new Error(`the replaced \`other\` has "${duplicate}" twice`);
  return { other };
}

/** One message, or those of a list. */
function parseMessages(given: Json | undefined) {
  if (given === undefined) return undefined;
  if (isObject(given.value)) return [parseMessage(given.text)];
  return elementsOf(given).map(({ text }) => parseMessage(text));
}
