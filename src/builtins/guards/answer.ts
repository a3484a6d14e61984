import { applyEdits } from '../pii/edit.ts';
import { invalidEventError, type JsonObject, requireObject, requireText } from '../pii/payload.ts';
import { editText } from '../pii/text-rewrite.ts';
import { reviewEvent } from './answer-hook.ts';
import { type GuardRules, type Origin, origins } from './guard.ts';
import { Review } from './review.ts';

/** A reply in the native dialect. */
export type Reply = Readonly<Record<string, unknown>>;

/**
 * Answers one payload: of a provider or tool hook, of an eval (`{"type", "params", "content", …}`) or of a tool
 * (`{"args": {"text"}}`). A tool's reply is `{"result"}`. At once, unless the guard has a judge. Throws EVENT_INVALID for a
 * payload that it does not know.
 */
export function answer(payload: unknown, rules: GuardRules): Reply | Promise<Reply> {
  const given = requireObject(payload, 'the payload');
  if (given['hook'] !== undefined) {
    const { review, what, replace } = reviewEvent(given, rules);
    return judged(review, rules, () => hookReply(review, { rules, what, replace }));
  }
  const isEval = typeof given['type'] === 'string' && given['content'] !== undefined;
  if (!isEval && given['args'] === undefined) {
    throw invalidEventError('it has no hook, no args and no content to judge');
  }
  const args = requireObject(isEval ? (given['params'] ?? {}) : given['args'], isEval ? 'params' : 'args');
  const text = requireText(isEval ? given['content'] : args['text'], isEval ? 'content' : 'args.text');
  if (!isEval && typeof args['text'] !== 'string') throw invalidEventError('args.text is not a text');
  const origin = readSource(args['source']);
  const review = new Review({ ...rules, scans: () => true });
  const changed = applyEdits(text, editText(text, review.at(origin)));
  return judged(review, rules, () =>
    isEval ? evalReply(review, rules) : { result: toolResult(review, changed) },
  );
}

/** Whose the text is: the param `source`, a person's by default. */
function readSource(source: unknown): Origin {
  if (source === undefined || source === null) return 'user';
  const known = origins.find((origin) => origin === source);
  if (known !== undefined) return known;
  throw invalidEventError(`source is none of ${origins.join(', ')}`);
}

/** The reply once the judge, if there is one, has been heard. */
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

/** Reason and metadata hold counts, never what was found. */
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

/** 1 where the guard objects to nothing; else how far it is from sure. */
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
  // What would be denied is not given back in any form.
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

/** "2 API keys and 1 private key". */
function describeCounts(counts: Readonly<Record<string, number>>, { kinds }: GuardRules): string {
  const parts = Object.entries(counts).map(([kind, count]) => {
    const [singular, plural] = kinds[kind] ?? [kind, kind];
    return `${count} ${count === 1 ? singular : plural}`;
  });
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(parts);
}
