import type { HookEvent } from '../contract/hook.ts';
import { isObject, Json, memberOf, parseLossless, scanMembers } from '../json.ts';
import { reconcileMessages } from './reconcile.ts';

/** The event with the parts that a filter replaced; throws Error when its changes contradict each other. */
export function applyReplace(event: HookEvent, replace: Json): HookEvent {
  const members = scanMembers(replace.text);
  const part = (key: string) => memberOf(replace.text, members, key);
  switch (event.phase) {
    case 'before_call': {
      const messages = part('messages');
      const systemPrompt = part('system_prompt');
      const request = {
        ...event.request,
        ...(messages && {
          messages: reconcileMessages(event.request.messages, parseLossless(messages.text)),
        }),
        ...(systemPrompt && { system_prompt: String(systemPrompt.value) }),
      };
      return { ...event, request };
    }
    case 'after_call': {
      const message = part('message');
      if (message === undefined) return event;
      const [reconciled] = reconcileMessages([event.response.message], [parseLossless(message.text)]);
      return reconciled === undefined
        ? event
        : { ...event, response: { ...event.response, message: reconciled } };
    }
    case 'before_execution': {
      const args = part('args');
      return args === undefined ? event : { ...event, request: { ...event.request, args } };
    }
    case 'after_execution': {
      const content = part('content');
      return content === undefined
        ? event
        : { ...event, response: { ...event.response, content: String(content.value) } };
    }
    default:
      return event;
  }
}

/** The parts of `event` that a chain's replacements speak of, as they stand at its end. */
export function currentReplace(event: HookEvent, keys: ReadonlySet<string>): Json {
  const parts: Readonly<Record<string, unknown>> =
    event.hook === 'provider' && event.phase === 'before_call'
      ? { messages: event.request.messages, system_prompt: event.request.system_prompt }
      : event.phase === 'after_call'
        ? { message: event.response.message }
        : event.phase === 'before_execution'
          ? { args: event.request.args }
          : event.phase === 'after_execution'
            ? { content: event.response.content }
            : {};
  return Json.from(Object.fromEntries(Object.entries(parts).filter(([key]) => keys.has(key))));
}

/** The members of several objects in one, later ones winning, each with the text it had. */
export function mergeObjects(objects: readonly Json[]): Json {
  const merged = new Map<string, Json>();
  for (const { text, value } of objects) {
    if (!isObject(value)) continue;
    for (const { key, start, end } of scanMembers(text)) merged.set(key, new Json(text.slice(start, end)));
  }
  return Json.from(Object.fromEntries(merged));
}
