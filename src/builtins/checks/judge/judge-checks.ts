import { isObject, Json } from '../../../base/json/json.ts';
import {
  type EvalContext,
  type EvalOutcome,
  type EvalToolCall,
  scored,
  unscored,
} from '../../../contract/eval.ts';
import type { Check, CheckInput } from '../check.ts';
import { textsOf, textsParam } from '../text/text-params.ts';
import { findAnswerObject, unreadableAnswer } from './answer-object.ts';
import { groundingChecks } from './grounding.ts';
import { askJudge, askModel, listTexts } from './judge-call.ts';
import { findScaleProblems, judgeParams, requiredJudgeParams } from './judge-params.ts';
import { answerSchema, writeTask } from './judge-prompt.ts';

const text = { type: 'string', pattern: '\\S' };
const part = { type: 'number', minimum: 0, maximum: 1 };

/** Source of the five cases: https://github.com/openai/evals/blob/main/evals/registry/modelgraded/fact.yaml */
const factuality: Check = {
  type: 'factuality',
  aliases: [],
  family: 'judge',
  summary:
    'How the facts of the content and of an expected answer relate, by a model that chooses one of five: openai/evals’ fact. A: the content states some of the facts, B: more, C: the same, D: it contradicts one, E: they differ in something that is no fact.',
  range: '0..1',
  params: {
    expected: { schema: text, aliases: ['reference'], required: true, description: 'The expected answer.' },
    question: { schema: text, description: 'The question.' },
    scores: {
      schema: {
        type: 'object',
        properties: { A: part, B: part, C: part, D: part, E: part },
        additionalProperties: false,
      },
      default: {},
      description: 'The score of each choice, if not 1 (A, B, C, E) or 0 (D).',
    },
    provider: judgeParams.provider,
    model: judgeParams.model,
  },
  example: {
    params: { expected: 'Oslo, since 1814.', question: 'What is the capital of Norway?', scores: { A: 0.4 } },
    content: 'Oslo.',
    judge: '{"choice": "A", "reasoning": "The year is missing."}',
    score: 0.4,
  },
  run: (input) => {
    const { expected, question } = input.params;
    const evidence = { ...(question !== undefined && { question }), expected, answer: input.request.content };
    const judged = listTexts(evidence);
    if (judged.length > MAX_LENGTH) return unscored('the texts are too long to judge');
    return askModel(input, writeTask(evidence, instruction), (answer) => readChoice(answer, judged, input));
  },
};

/** About 250,000 tokens, more than most models take. */
const MAX_LENGTH = 1_000_000;

const instruction = {
  task: `Compare the facts that \`answer\` states with those that \`expected\` states. Style, grammar and punctuation do not count. Choose:
A: every fact of \`answer\` is one of \`expected\`, which states more.
B: every fact of \`expected\` is one of \`answer\`, which states more and contradicts none.
C: both state the same facts.
D: they contradict each other.
E: they differ, but in nothing that matters for whether they are true.`,
  form: '{"choice": "LETTER", "reasoning": "TEXT"}',
  schema: answerSchema({
    choice: { type: 'string', enum: ['A', 'B', 'C', 'D', 'E'] },
    reasoning: { type: 'string' },
  }),
};

const wanted = { key: 'choice', form: '{"choice": "A" to "E", "reasoning": "…"}' };

const usual: Readonly<Record<string, number>> = { A: 1, B: 1, C: 1, D: 0, E: 1 };

function readChoice(answer: string, judged: string, { params }: CheckInput): EvalOutcome {
  const found = findAnswerObject(answer, wanted, judged);
  if ('status' in found) return found;
  const { choice, reasoning } = found.value;
  const letter = typeof choice === 'string' ? choice.trim().replace(/^\((.)\)$/, '$1') : '';
  if (!Object.hasOwn(usual, letter))
    return unreadableAnswer('has a `choice` that is not one of A to E', answer, wanted);
  const given = isObject(params['scores']) ? params['scores'][letter] : undefined;
  const why = typeof reasoning === 'string' ? `: ${reasoning}` : '';
  return scored(Number(given ?? usual[letter]), `${letter}${why}`, new Json(found.text));
}

const llmJudge: Check = {
  type: 'llm_judge',
  aliases: [],
  family: 'judge',
  summary: 'The score that a model gives the content.',
  range: '0..1',
  params: judgeParams,
  anyOf: requiredJudgeParams,
  findProblems: findScaleProblems,
  example: {
    params: { criteria: 'The answer is polite.' },
    content: 'I would be glad to help.',
    judge: '{"score": 0.9, "reasoning": "Courteous throughout."}',
    score: 0.9,
  },
  run: (input) => askJudge(input, { content: input.request.content }),
};

const llmJudgeSession: Check = {
  type: 'llm_judge_session',
  aliases: ['llm_judge_conversation'],
  family: 'judge',
  summary:
    'The score that a model gives the whole conversation: the messages of user and assistant, all tool calls, and the content unless it is the last answer.',
  range: '0..1',
  params: judgeParams,
  anyOf: requiredJudgeParams,
  findProblems: findScaleProblems,
  example: {
    params: { criteria: 'The customer got what they asked for.' },
    context: {
      messages: [
        { role: 'user', content: 'Where is order 7?' },
        { role: 'assistant', content: 'It arrives on Monday.' },
      ],
    },
    judge: '```json\n{"score": 1, "reasoning": "The question is answered."}\n```',
    score: 1,
  },
  run: (input) => {
    const { content, context } = input.request;
    const conversation = toConversation(context, content);
    const tool_calls = context.tool_calls.map(toEvidence);
    if (conversation.length + tool_calls.length === 0) return unscored('there is no conversation to judge');
    return askJudge(input, { conversation, ...(tool_calls.length > 0 && { tool_calls }) });
  },
};

const llmJudgeToolCalls: Check = {
  type: 'llm_judge_tool_calls',
  aliases: [],
  family: 'judge',
  summary: 'The score that a model gives all tool calls of the context, with their arguments and results.',
  range: '0..1',
  params: {
    ...judgeParams,
    tools: {
      schema: textsParam,
      description: 'The tools whose calls the check judges. Default: every tool.',
    },
  },
  anyOf: requiredJudgeParams,
  findProblems: findScaleProblems,
  example: {
    params: { criteria: 'Every search is narrow.', tools: ['search'] },
    context: {
      tool_calls: [{ name: 'search', args: { query: '*' }, result: '8000 hits', error: '', index: 1 }],
    },
    judge: 'The query finds everything. {"score": 0, "reasoning": "A search for *."}',
    score: 0,
  },
  run: (input) => {
    const tools = textsOf(input.params, 'tools');
    const calls = input.request.context.tool_calls.filter(
      ({ name }) => tools.length === 0 || tools.includes(name),
    );
    if (calls.length === 0) return unscored('there are no tool calls to judge');
    return askJudge(input, { tool_calls: calls.map(toEvidence) });
  },
};

export const judgeChecks: readonly Check[] = [
  llmJudge,
  llmJudgeSession,
  llmJudgeToolCalls,
  ...groundingChecks,
  factuality,
];

/** Keeps texts of user and assistant. Omits instructions, and results, which are shown with their calls. */
function toConversation({ messages }: EvalContext, answer: string) {
  const spoken = messages
    .filter(({ role, content }) => (role === 'user' || role === 'assistant') && content !== '')
    .map(({ role, content }) => ({ role, content }));
  const last = spoken.findLast(({ role }) => role === 'assistant');
  return answer === '' || last?.content === answer
    ? spoken
    : [...spoken, { role: 'assistant', content: answer }];
}

function toEvidence({ name, args, result, error, index }: EvalToolCall) {
  return { name, args, result, ...(error !== '' && { error }), index };
}
