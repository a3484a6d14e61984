import type { AssertionContext, Check, FoundCheck, GivenAssertion } from './assertion-model.ts';

/** Assertions that compare what texts mean. */
export function embeddingAssertion(given: GivenAssertion, context: AssertionContext): FoundCheck {
  const { type, transforms } = given;
  const [name, metric = 'cosine'] = type.split(':');
  const isSimilar = name === 'similar';
  if (!isSimilar && type !== 'answer-relevance') return undefined;
  if (isSimilar && metric !== 'cosine')
    return { fault: `\`${type}\` is left out: similarity is the cosine, and no other measure` };
  if (transforms.length > 0) return { fault: `\`${type}\` of what code has changed is left out` };
  return isSimilar ? similarity(given, context) : relevance(given, context);
}

/** Near to one of the texts; what is turned round is far from one of them, as there. */
function similarity(given: GivenAssertion, { embedders }: AssertionContext): FoundCheck {
  const texts: readonly unknown[] = Array.isArray(given.value) ? given.value : [given.value];
  if (texts.length === 0 || !texts.every(isText)) return { fault: '`similar` without a text is left out' };
  const provider = embedders.use(given.judge);
  if (provider === undefined)
    return { fault: '`similar` whose embeddings provider is not carried is left out' };
  const [only] = texts;
  const near = (expected: unknown): Check => ({
    type: 'similarity',
    params: { expected, provider },
    threshold: { min_score: given.own.at('threshold').number() ?? 0.75 },
  });
  if (texts.length === 1) return near(only);
  return given.isInverse ? { all_of: texts.map(near) } : near(texts);
}

function isText(value: unknown): boolean {
  return (
    (typeof value === 'string' && value.trim() !== '') ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  );
}

/** To the question of the test; else to the prompt, which is in the messages of a chat. */
function relevance(given: GivenAssertion, context: AssertionContext): FoundCheck {
  const { query } = context.vars;
  const provider = context.judges.use(given.judge);
  if (provider === undefined) return { fault: '`answer-relevance` whose judge is not carried is left out' };
  const embedder = context.embedders.use(given.judge);
  if (embedder === undefined)
    return { fault: '`answer-relevance` whose embeddings provider is not carried is left out' };
  const hasQuestion = typeof query === 'string' && query.trim() !== '';
  given.own.note(
    'warning',
    hasQuestion
      ? '`answer-relevance` is judged by answer_relevance, whose prompt is Signalbox’s own'
      : '`answer-relevance` is judged by answer_relevance, whose prompt is Signalbox’s own; the question is the prompt, which programs leave unscored',
  );
  return {
    type: 'answer_relevance',
    params: { ...(hasQuestion && { question: query }), provider, embedding_provider: embedder },
    threshold: { min_score: given.own.at('threshold').number() ?? 0 },
  };
}
