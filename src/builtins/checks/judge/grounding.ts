import { isObject, Json } from '../../../base/json/json.ts';
import { formatCount, shorten } from '../../../base/text/phrases.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput, ParamSpec } from '../check.ts';
import { findAnswerObject, unreadableAnswer } from './answer-object.ts';
import { askModel, listTexts } from './judge-call.ts';
import { judgeParams } from './judge-params.ts';
import { answerSchema, type Evidence, writeTask } from './judge-prompt.ts';

const text = { type: 'string', pattern: '\\S' };

const contextParam: ParamSpec = {
  schema: { anyOf: [text, { type: 'array', items: text, minItems: 1 }] },
  aliases: ['contexts', 'retrieved_contexts'],
  required: true,
  description: 'The retrieved text, or several.',
};

const questionParam: ParamSpec = {
  schema: text,
  description: 'The question; the judge reads the claims as answers to it.',
};

const { provider, model } = judgeParams;

/** Source: Es et al. 2023, https://arxiv.org/abs/2309.15217; https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/faithfulness/ */
const faithfulness: Check = {
  type: 'faithfulness',
  aliases: ['context_faithfulness'],
  family: 'judge',
  summary:
    'The share of the content’s claims that follow from the context, as a model lists and judges them: Ragas’ faithfulness, in one call. Content without a claim has no score.',
  range: 'ratio',
  params: { context: contextParam, question: questionParam, provider, model },
  example: {
    params: { context: ['Einstein was born in Germany on 14 March 1879.'] },
    content: 'Einstein was born in Germany on 20 March 1879.',
    judge:
      '{"claims": [{"claim": "Einstein was born in Germany.", "supported": true}, {"claim": "Einstein was born on 20 March 1879.", "supported": false}]}',
    score: 0.5,
  },
  run: (input) => {
    const { context, question } = input.params;
    const evidence = { ...(question !== undefined && { question }), context, answer: input.request.content };
    return countSupported(input, evidence, 'answer');
  },
};

/** Source: https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/context_recall/ */
const contextRecall: Check = {
  type: 'context_recall',
  aliases: [],
  family: 'judge',
  summary:
    'The share of the expected answer’s claims that follow from the context, as a model lists and judges them: Ragas’ context recall. The check does not judge the content.',
  range: 'ratio',
  params: {
    context: contextParam,
    expected: { schema: text, aliases: ['reference'], required: true, description: 'The expected answer.' },
    question: questionParam,
    provider,
    model,
  },
  example: {
    params: { context: 'Paris is the capital of France.', expected: 'The Eiffel Tower is in Paris.' },
    judge: '{"claims": [{"claim": "The Eiffel Tower is in Paris.", "supported": false}]}',
    score: 0,
  },
  run: (input) => {
    const { context, question, expected } = input.params;
    return countSupported(
      input,
      { ...(question !== undefined && { question }), context, expected },
      'expected',
    );
  },
};

export const groundingChecks: readonly Check[] = [faithfulness, contextRecall];

const wanted = { key: 'claims', form: '{"claims": [{"claim": "…", "supported": true|false}, …]}' };

function countSupported(
  input: CheckInput,
  evidence: Evidence,
  name: 'answer' | 'expected',
): EvalOutcome | Promise<EvalOutcome> {
  const judged = listTexts(evidence);
  if (judged.length > MAX_LENGTH) return unscored('the texts are too long to judge');
  if (String(evidence[name]).trim() === '') return unscored('there is no text with claims');
  const task = writeTask(evidence, {
    task: `Take \`${name}\` apart into its claims: short sentences that can be understood by themselves, each with one fact, all facts that it states and no others.
Of each claim judge whether it follows from \`context\` alone. What you know otherwise does not count, and what merely could be true is not supported.`,
    form: '{"claims": [{"claim": "TEXT", "supported": true or false}, …]}, with an empty list where there is no claim',
    schema: answerSchema({
      claims: {
        type: 'array',
        items: answerSchema({ claim: { type: 'string' }, supported: { type: 'boolean' } }),
      },
    }),
  });
  return askModel(input, task, (answer) => readClaims(answer, judged));
}

/** About 250,000 tokens, more than most models take. */
const MAX_LENGTH = 1_000_000;

function readClaims(answer: string, judged: string): EvalOutcome {
  const found = findAnswerObject(answer, wanted, judged);
  if ('status' in found) return found;
  const { claims } = found.value;
  if (!Array.isArray(claims) || !claims.every(isClaim))
    return unreadableAnswer('has a claim without `supported`', answer, wanted);
  if (claims.length === 0) return unscored('the judge found no claim');
  const unsupported = claims.filter(({ supported }) => !supported);
  const followed = claims.length - unsupported.length;
  const detail = `${followed} of ${formatCount(claims.length, 'claim')}`;
  const first = unsupported[0]?.claim;
  return scored(
    followed / claims.length,
    typeof first === 'string' ? `${detail}; not: ${shorten(first, 200)}` : detail,
    new Json(found.text),
  );
}

interface Claim {
  readonly supported: boolean;
  readonly claim?: unknown;
}

function isClaim(value: unknown): value is Claim {
  return isObject(value) && typeof value['supported'] === 'boolean';
}
