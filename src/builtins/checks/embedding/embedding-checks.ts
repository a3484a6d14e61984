import { Json } from '../../../base/json/json.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput } from '../check.ts';
import { findAnswerObject, unreadableAnswer } from '../judge/answer-object.ts';
import { askModel } from '../judge/judge-call.ts';
import { judgeParams } from '../judge/judge-params.ts';
import { answerSchema, writeTask } from '../judge/judge-prompt.ts';
import { expectedOf, expectedParam } from '../reference/reference-params.ts';
import { compareToFirst } from './cosine.ts';
import { embedderParam, embedTexts } from './embed-texts.ts';

const MOST_QUESTIONS = 10;

/** Source: Es et al. 2023, https://arxiv.org/abs/2309.15217, section 3; https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/answer_relevance/ */
const answerRelevance: Check = {
  type: 'answer_relevance',
  aliases: ['answer_relevancy', 'response_relevancy'],
  family: 'embedding',
  summary:
    'Whether the content answers the question, and nothing else. A model writes questions that the content would answer. The score is the mean cosine between their embeddings and that of the question, 0 if it is negative. Noncommittal content scores 0.',
  range: '0..1',
  params: {
    question: {
      schema: { type: 'string', pattern: '\\S' },
      description: 'The question. Default: the last message of the user in `context.messages`.',
    },
    questions: {
      schema: { type: 'integer', minimum: 1, maximum: MOST_QUESTIONS },
      aliases: ['strictness'],
      default: 3,
      description: 'How many questions the judge writes.',
    },
    provider: judgeParams.provider,
    model: judgeParams.model,
    embedding_provider: embedderParam,
  },
  example: {
    params: { question: 'Where is France?', questions: 2 },
    content: 'France is in Western Europe.',
    judge: '{"questions": ["Where is France?", "In which part of Europe is France?"], "noncommittal": false}',
    embeddings: { 'Where is France?': [1, 0], 'In which part of Europe is France?': [4, 3] },
    score: 0.9,
  },
  run: scoreRelevance,
};

async function scoreRelevance(input: CheckInput): Promise<EvalOutcome> {
  const { content: answer } = input.request;
  const question = questionOf(input);
  if (question === undefined) return unscored('there is no question: give `question`, or user messages');
  if (answer.trim() === '') return unscored('there is no answer');
  if (answer.length > MAX_LENGTH) return unscored('the answer is too long to judge');
  return await askModel(input, writeTask({ answer }, taskOf(Number(input.params['questions']))), (said) =>
    readQuestions(said, input, question),
  );
}

/** About 250,000 tokens, more than most models take. */
const MAX_LENGTH = 1_000_000;

function questionOf({ params: { question }, request }: CheckInput): string | undefined {
  if (typeof question === 'string') return question;
  const asked = request.context.messages.findLast(({ role }) => role === 'user')?.content;
  return asked === undefined || asked.trim() === '' ? undefined : asked;
}

function taskOf(count: number) {
  return {
    task: `Write ${count === 1 ? 'a question' : `${count} different questions`} that somebody may have asked who was given \`answer\`, each such that all of \`answer\` answers it, in the language of \`answer\`.
Say too whether \`answer\` is noncommittal: evasive, vague or ambiguous, such as “I don’t know” or “I’m not sure”.`,
    form: '{"questions": ["TEXT", …], "noncommittal": true or false}',
    schema: answerSchema({
      questions: { type: 'array', items: { type: 'string' } },
      noncommittal: { type: 'boolean' },
    }),
  };
}

const wanted = { key: 'questions', form: '{"questions": ["…", …], "noncommittal": true|false}' };

async function readQuestions(said: string, input: CheckInput, question: string): Promise<EvalOutcome> {
  const found = findAnswerObject(said, wanted, input.request.content);
  if ('status' in found) return found;
  const { questions, noncommittal } = found.value;
  if (typeof noncommittal !== 'boolean')
    return unreadableAnswer('does not say whether it is `noncommittal`', said, wanted);
  if (!Array.isArray(questions) || !questions.every(isQuestion))
    return unreadableAnswer('has a question that is not text', said, wanted);
  const asked = questions.slice(0, Number(input.params['questions']));
  if (asked.length === 0) return unreadableAnswer('has no question', said, wanted);
  if (noncommittal) return scored(0, 'noncommittal', Json.from({ questions: asked, noncommittal }));
  return await compare(input, question, asked);
}

function isQuestion(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

async function compare(
  input: CheckInput,
  question: string,
  questions: readonly string[],
): Promise<EvalOutcome> {
  const embedded = await embedTexts(input, input.params['embedding_provider'], [question, ...questions]);
  if ('status' in embedded) return embedded;
  const { vectors, provider, model } = embedded;
  const similarities = compareToFirst(vectors);
  if ('status' in similarities) return similarities;
  const mean = similarities.reduce((sum, value) => sum + value, 0) / similarities.length;
  const data = Json.from({ questions, noncommittal: false, similarities, provider, model });
  return scored(Math.min(1, Math.max(0, mean)), `mean similarity ${mean.toFixed(4)}`, data);
}

/** Source: https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/semantic_similarity/ */
const similarity: Check = {
  type: 'similarity',
  aliases: ['semantic_similarity', 'answer_similarity'],
  family: 'embedding',
  summary:
    'How near the content is to an expected text in meaning: the cosine between their embeddings, 0 if it is negative. Content without text has no score.',
  range: '0..1',
  params: {
    expected: { ...expectedParam, aliases: ['references', 'reference', 'against'] },
    provider: { ...embedderParam, aliases: ['embedding_provider'] },
  },
  example: {
    params: { expected: ['The capital is Oslo.', 'It is Bergen.'] },
    content: 'Oslo is the capital.',
    embeddings: {
      'Oslo is the capital.': [3, 4],
      'The capital is Oslo.': [4, 3],
      'It is Bergen.': [4, -3],
    },
    score: 0.96,
  },
  run: scoreSimilarity,
};

async function scoreSimilarity(input: CheckInput): Promise<EvalOutcome> {
  const expected = expectedOf(input.params);
  const texts = [input.request.content, ...expected];
  const embedded = await embedTexts(input, input.params['provider'], texts);
  if ('status' in embedded) return embedded;
  const { vectors, provider, model } = embedded;
  const similarities = compareToFirst(vectors);
  if ('status' in similarities) return similarities;
  const best = similarities.reduce((most, value) => Math.max(most, value), -1);
  const which = similarities.length > 1 ? `, to expected[${similarities.indexOf(best)}]` : '';
  const data = Json.from({ similarity: best, similarities, provider, model });
  return scored(Math.max(0, best), `similarity ${best.toFixed(4)}${which}`, data);
}

export const embeddingChecks: readonly Check[] = [similarity, answerRelevance];
