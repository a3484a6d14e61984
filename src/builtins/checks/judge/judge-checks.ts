import { type EvalContext, type EvalToolCall, unscored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { textsOf, textsParam } from '../text/text-params.ts';
import { factuality } from './factuality.ts';
import { groundingChecks } from './grounding.ts';
import { askJudge } from './judge-call.ts';
import { findScaleProblems, judgeParams, requiredJudgeParams } from './judge-params.ts';

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
    tools: { schema: textsParam, description: 'The tools whose calls are judged. Default: every tool.' },
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

/** Checks that ask a model. */
export const judgeChecks: readonly Check[] = [
  llmJudge,
  llmJudgeSession,
  llmJudgeToolCalls,
  ...groundingChecks,
  factuality,
];

/**
 * The texts of user and assistant; without instructions, and without results, which stand with their calls.
 */
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
