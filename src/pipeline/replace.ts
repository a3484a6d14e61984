import type { HookEvent } from '../contract/hook.ts';
import { isObject, Json } from '../json.ts';
import { findDuplicateKey, scanElements, scanMembers } from '../json-text.ts';
import { parseMessage } from './message.ts';
import { reconcileMessages } from './reconcile.ts';

/** An event with parts of it replaced, and the text of those parts as they now stand in it. */
export interface Replaced {
  readonly event: HookEvent;
  readonly parts: ReadonlyMap<string, Json>;
}

/**
 * Puts what a filter replaced into its event. Throws Error when the changes contradict each other, or when
 * two readers could read them differently.
 */
export function applyReplace(event: HookEvent, replace: Json): Replaced {
  const parts = membersOf(replace);
  switch (event.phase) {
    case 'before_call': {
      const prompt = parts.get('system_prompt');
      const given = parseMessages(parts.get('messages'));
      const messages = given && reconcileMessages(event.request.messages, given);
      if (messages?.some((message, index) => message !== given?.[index])) {
        parts.set('messages', Json.from(messages));
      }
      const changes = {
        ...(messages && { messages }),
        ...(prompt && { system_prompt: String(prompt.value) }),
      };
      return { event: { ...event, request: { ...event.request, ...changes } }, parts };
    }
    case 'after_call': {
      const given = parseMessages(parts.get('message'));
      const [message] = reconcileMessages([event.response.message], given ?? []);
      if (message === undefined) return { event, parts };
      if (message !== given?.[0]) parts.set('message', Json.from(message));
      return { event: { ...event, response: { ...event.response, message } }, parts };
    }
    case 'before_execution': {
      const args = parts.get('args');
      if (args === undefined) return { event, parts };
      const twice = findDuplicateKey(args.text);
      if (twice !== undefined) throw new Error(`the replaced argument "${twice}" stands twice`);
      return { event: { ...event, request: { ...event.request, args } }, parts };
    }
    case 'after_execution': {
      const content = parts.get('content');
      if (content === undefined) return { event, parts };
      const response = { ...event.response, content: String(content.value) };
      return { event: { ...event, response }, parts };
    }
    default:
      return { event, parts };
  }
}

/** The members of several objects in one, later ones winning, each with the text it had. */
export function mergeObjects(objects: readonly Json[]): Json {
  const merged = objects.filter(({ value }) => isObject(value)).flatMap((json) => [...membersOf(json)]);
  return Json.from(Object.fromEntries(merged));
}

/** The members of an object, of each key the last. */
function membersOf({ text }: Json): Map<string, Json> {
  return new Map(scanMembers(text).map(({ key, start, end }) => [key, new Json(text.slice(start, end))]));
}

/** One message, or those of a list. */
function parseMessages(given: Json | undefined) {
  if (given === undefined) return undefined;
  if (isObject(given.value)) return [parseMessage(given.text)];
  return scanElements(given.text).map(({ start, end }) => parseMessage(given.text.slice(start, end)));
}
