import { applyEdits } from '../pii/edit.ts';
import { rewriteMessage } from '../pii/message-rewrite.ts';
import {
  invalidEventError,
  type JsonObject,
  requireList,
  requireObject,
  requireText,
} from '../pii/payload.ts';
import { editText, rewriteTree } from '../pii/text-rewrite.ts';
import { conversationOf } from './conversation.ts';
import type { GuardRules, Origin } from './guard.ts';
import { Review } from './review.ts';

/** What a hook's payload comes to before anybody is asked: the review, and what is to be replaced. */
export interface ReviewedEvent {
  readonly review: Review;
  /** What the reason speaks of: `the request`. */
  readonly what: string;
  readonly replace: JsonObject;
}

/** Reviews the payload of a provider or tool hook of the native dialect. Throws EVENT_INVALID for any other. */
export function reviewEvent(payload: JsonObject, rules: GuardRules): ReviewedEvent {
  const request = requireObject(payload['request'], 'request');
  const response = () => requireObject(payload['response'], 'response');
  switch (`${payload['hook']} ${payload['phase']}`) {
    case 'provider before_call':
      return beforeCall(request, rules);
    case 'provider after_call':
      return afterCall(request, response(), rules);
    case 'tool before_execution':
      return beforeExecution(request, rules);
    case 'tool after_execution':
      return afterExecution(response(), rules);
    default:
      throw invalidEventError('its hook and phase are not those of a provider or tool hook');
  }
}

function beforeCall(request: JsonObject, rules: GuardRules): ReviewedEvent {
  if (request['messages'] === undefined) throw invalidEventError('request has no messages');
  const review = new Review(rules, () => conversationOf(request));
  const prompt = requireText(request['system_prompt'], 'system_prompt');
  const promptEdits = editText(prompt, review.at('system'));
  // Definitions of tools and all else of a body that came over HTTP: the client's words.
  const other = rewriteTree(request['other'], review.at('user'));
  const given = requireList(request['messages'], 'messages');
  const messages = given.map((message) => {
    const origin = originOf(requireObject(message, 'a message')['role']);
    return rewriteMessage(message, { texts: review.at(origin), args: review.at(origin) });
  });
  const replace = {
    ...(messages.some((message, index) => message !== given[index]) && { messages }),
    ...(promptEdits.length > 0 && { system_prompt: applyEdits(prompt, promptEdits) }),
    ...(other !== request['other'] && { other }),
  };
  return { review, what: 'the request', replace };
}

function afterCall(request: JsonObject, response: JsonObject, rules: GuardRules): ReviewedEvent {
  const review = new Review(rules, () => conversationOf(request));
  const message = requireObject(response['message'], 'response.message');
  const changed = rewriteMessage(message, { texts: review.at('assistant'), args: review.at('args', true) });
  // A replaced message must have both.
  const whole = { ...changed, role: changed['role'] ?? 'assistant', content: changed['content'] ?? '' };
  return { review, what: 'the answer', replace: changed === message ? {} : { message: whole } };
}

function beforeExecution(request: JsonObject, rules: GuardRules): ReviewedEvent {
  const review = new Review(rules);
  const given = requireObject(request['args'] ?? {}, 'args');
  const args = rewriteTree(given, review.at('args', true));
  return { review, what: 'the arguments', replace: args === given ? {} : { args } };
}

function afterExecution(response: JsonObject, rules: GuardRules): ReviewedEvent {
  const review = new Review(rules);
  const content = requireText(response['content'], 'response.content');
  const edits = editText(content, review.at('tool'));
  return {
    review,
    what: 'the result',
    replace: edits.length === 0 ? {} : { content: applyEdits(content, edits) },
  };
}

/** A role that nobody has told of is treated as a person's. */
function originOf(role: unknown): Origin {
  if (role === 'assistant' || role === 'tool' || role === 'system') return role;
  return role === 'developer' ? 'system' : role === 'function' ? 'tool' : 'user';
}
