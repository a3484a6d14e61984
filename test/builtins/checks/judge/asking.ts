import type { Judge } from '../../../../src/builtins/checks/check.ts';
import { runCheck } from '../../../../src/builtins/checks/run-check.ts';
import type { EvalOutcome } from '../../../../src/contract/eval.ts';
import { type Asking, nobody } from '../asking.ts';

type Question = Parameters<Judge>[0];

export async function interview(
  type: string,
  { params = {}, content = '', context, judge = '{"score": 1}' }: Asking,
): Promise<{ readonly questions: readonly Question[]; readonly outcome: EvalOutcome }> {
  const questions: Question[] = [];
  const empty = { messages: [], turn_index: 0, tool_calls: [], variables: {}, metadata: {} };
  const outcome = await runCheck(
    type,
    { type, params, content, context: { ...empty, ...context } },
    {
      signal: new AbortController().signal,
      judge: async (question) => {
        questions.push(question);
        return judge;
      },
      embed: nobody,
    },
  );
  return { questions, outcome };
}

export async function questionOf(type: string, asking: Asking) {
  const { questions } = await interview(type, asking);
  const [question, other] = questions;
  if (question === undefined || other !== undefined) throw new Error(`${questions.length} questions`);
  const { provider, model, system, prompt } = question;
  return { provider, model, system, prompt, asked: JSON.parse(prompt) as unknown };
}
