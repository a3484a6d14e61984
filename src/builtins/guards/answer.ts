import { isObject, stringifyJson } from '../../base/json/json.ts';
import { applyEdits, type Edit } from '../pii/edit.ts';
import { rewriteMessage } from '../pii/message-rewrite.ts';
import {
  invalidEventError,
  type JsonObject,
  requireList,
  requireObject,
  requireText,
} from '../pii/payload.ts';
import type { TextChanger } from '../pii/text-changer.ts';
import { editText, type RewriteOptions, rewriteTree } from '../pii/text-rewrite.ts';
import { type GuardRules, type Judgement, type Origin, origins, type SaidText } from './guard.ts';

export type Reply = Readonly<Record<string, unknown>>;

/**
 * Answers one payload: of a provider or tool hook, of an eval (`{"type", "params", "content", …}`) or of a tool
 * (`{"args": {"text"}}`). A tool's reply is `{"result"}`. Synchronous unless the guard has a judge. Throws
 * EVENT_INVALID for an unknown payload.
 */
export function answer(payload: unknown, rules: GuardRules): Reply | Promise<Reply> {
  const given = requireObject(payload, 'the payload');
  if (given['hook'] !== undefined) {
    const { review, what, replace } = reviewEvent(given, rules);
    return judged(review, rules, () => hookReply(review, { rules, what, replace }));
  }
  const isEval = typeof given['type'] === 'string' && given['content'] !== undefined;
  if (!isEval && given['args'] === undefined) {
    throw invalidEventError('it has no hook, args or content to judge');
  }
  const args = requireObject(isEval ? (given['params'] ?? {}) : given['args'], isEval ? 'params' : 'args');
  const text = requireText(isEval ? given['content'] : args['text'], isEval ? 'content' : 'args.text');
  if (!isEval && typeof args['text'] !== 'string') throw invalidEventError('args.text is not text');
  const origin = readSource(args['source']);
  const review = new Review({ ...rules, scans: () => true });
  const changed = applyEdits(text, editText(text, review.at(origin)));
  return judged(review, rules, () =>
    isEval ? evalReply(review, rules) : { result: toolResult(review, changed) },
  );
}

function readSource(source: unknown): Origin {
  if (source === undefined || source === null) return 'user';
  const known = origins.find((origin) => origin === source);
  if (known !== undefined) return known;
  throw invalidEventError(`source is not one of ${origins.join(', ')}`);
}

function judged(review: Review, { judge }: GuardRules, reply: () => Reply): Reply | Promise<Reply> {
  if (judge === undefined || review.isBlocked) return reply();
  const { texts } = review;
  if (texts.every(({ text }) => text.trim() === '')) return reply();
  return judge(texts, review.confidence).then((judgement) => {
    review.hear(judgement);
    return reply();
  });
}

interface HookReplyParts {
  readonly rules: GuardRules;
  readonly what: string;
  readonly replace: JsonObject;
}

/** Reason and metadata contain counts, never findings. */
function hookReply(review: Review, { rules, what, replace }: HookReplyParts): Reply {
  const more = {
    confidence: review.confidence,
    ...(review.detail !== '' && { judge: review.detail }),
  };
  if (review.isBlocked) {
    const counts = review.counts('blocked');
    const verb = what === 'the arguments' ? 'hold' : 'holds';
    const reason = `${what} ${verb} ${describeCounts(counts, rules)}`;
    return { allow: false, reason, metadata: { [rules.name]: counts, ...more } };
  }
  const metadata = { [rules.name]: review.counts('changed'), ...more };
  return Object.keys(replace).length === 0 ? { allow: true, metadata } : { allow: true, replace, metadata };
}

/** 1 without findings; else 1 minus the confidence, at most 0.5. */
function evalReply(review: Review, rules: GuardRules): Reply {
  const counts = countsOf(review);
  const isClean = Object.keys(counts).length === 0;
  const score = isClean ? 1 : Math.min(0.5, 1 - review.confidence);
  const detail = isClean ? 'nothing was found' : `the text holds ${describeCounts(counts, rules)}`;
  const data = {
    [rules.name]: counts,
    confidence: review.confidence,
    ...(review.detail !== '' && { judge: review.detail }),
  };
  return { score, detail, data };
}

function toolResult(review: Review, text: string): Reply {
  const counts = countsOf(review);
  const flagged = Object.keys(counts).length > 0;
  // Omits the text of a blocked payload.
  return {
    flagged,
    findings: counts,
    confidence: review.confidence,
    ...(!review.isBlocked && { text }),
    ...(review.detail !== '' && { judge: review.detail }),
  };
}

function countsOf(review: Review): Readonly<Record<string, number>> {
  return { ...review.counts('changed'), ...review.counts('blocked') };
}

function describeCounts(counts: Readonly<Record<string, number>>, { kinds }: GuardRules): string {
  const parts = Object.entries(counts).map(([kind, count]) => {
    const [singular, plural] = kinds[kind] ?? [kind, kind];
    return `${count} ${count === 1 ? singular : plural}`;
  });
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(parts);
}

interface ReviewedEvent {
  readonly review: Review;
  readonly what: string;
  readonly replace: JsonObject;
}

/** Throws EVENT_INVALID unless the payload is a provider or tool hook of the native dialect. */
function reviewEvent(payload: JsonObject, rules: GuardRules): ReviewedEvent {
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
      throw invalidEventError('its hook and phase do not belong to a provider or tool hook');
  }
}

function beforeCall(request: JsonObject, rules: GuardRules): ReviewedEvent {
  if (request['messages'] === undefined) throw invalidEventError('request has no messages');
  const review = new Review(rules, () => conversationOf(request));
  const prompt = requireText(request['system_prompt'], 'system_prompt');
  const promptEdits = editText(prompt, review.at('system'));
  // Tool definitions and other members of an HTTP body come from the client.
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

function originOf(role: unknown): Origin {
  if (role === 'assistant' || role === 'tool' || role === 'system') return role;
  return role === 'developer' ? 'system' : role === 'function' ? 'tool' : 'user';
}

/** Every text of a request, which an answer could leak. */
function conversationOf(request: JsonObject): readonly string[] {
  const messages = requireList(request['messages'], 'messages').filter(isObject);
  const texts = [request['system_prompt'], ...messages.flatMap(textsOf)];
  return texts.filter((text): text is string => typeof text === 'string' && text !== '');
}

function textsOf({ content, parts, tool_result }: JsonObject): readonly unknown[] {
  const rest = [parts, tool_result].filter((value) => value !== undefined && value !== null);
  return [content, ...rest.map((value) => stringifyJson(value))];
}

class Review {
  readonly #rules: GuardRules;
  readonly #conversation: () => readonly string[];
  readonly #texts: SaidText[] = [];
  readonly #changed = new Map<string, number>();
  readonly #blocked = new Map<string, number>();
  #confidence = 0;
  #detail = '';

  constructor(rules: GuardRules, conversation: () => readonly string[] = () => []) {
    this.#rules = rules;
    this.#conversation = conversation;
  }

  at(origin: Origin, isExecuted = false): RewriteOptions {
    const changer: TextChanger = {
      edit: (text, _source, prefix = '') => this.#edit(text, origin, prefix),
      blockAll: (text, _source, prefix) => this.#blockAll(text, origin, prefix),
    };
    return { changer, textSource: 'original', isExecuted };
  }

  get isBlocked(): boolean {
    return this.#blocked.size > 0;
  }

  get confidence(): number {
    return this.#confidence;
  }

  get detail(): string {
    return this.#detail;
  }

  get texts(): readonly SaidText[] {
    return [...new Map(this.#texts.map((said) => [said.text, said])).values()];
  }

  counts(which: 'blocked' | 'changed'): Readonly<Record<string, number>> {
    return Object.fromEntries(which === 'blocked' ? this.#blocked : this.#changed);
  }

  hear({ kind, confidence, detail }: Judgement): void {
    if (kind !== undefined) count(this.#blocked, kind);
    this.#confidence = confidence;
    this.#detail = detail;
  }

  #edit(text: string, origin: Origin, prefix: string): Edit[] {
    return this.#find(text, origin, prefix).flatMap((finding) => {
      const written = text.slice(finding.start, finding.end);
      const replacement = this.#rules.replace(finding, written, origin);
      count(replacement === undefined ? this.#blocked : this.#changed, finding.kind);
      return replacement === undefined ? [] : [{ start: finding.start, end: finding.end, text: replacement }];
    });
  }

  #blockAll(text: string, origin: Origin, prefix: string): boolean {
    const found = this.#find(text, origin, prefix);
    for (const { kind } of found) count(this.#blocked, kind);
    return found.length > 0;
  }

  #find(text: string, origin: Origin, prefix: string) {
    if (!this.#rules.scans(origin)) return [];
    this.#texts.push({ origin, text });
    const { findings, confidence } = this.#rules.find(text, {
      origin,
      prefix,
      conversation: this.#conversation,
    });
    this.#confidence = Math.max(this.#confidence, confidence);
    return findings;
  }
}

function count(counts: Map<string, number>, kind: string): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}
