import type { EvalRequest } from '../../../contract/eval.ts';
import type { ParamSpec, Params } from '../check.ts';

/** The param that selects which texts of a conversation are judged. */
export const scopeParam: ParamSpec = {
  schema: { enum: ['conversation', 'content'] },
  default: 'conversation',
  description:
    'Whether every answer of the model in `context.messages` is judged beside the content, or the content alone.',
};

/** The content, and the other answers of the model when they are wanted too. */
export function judgedTexts({ content, context }: EvalRequest, params: Params): readonly string[] {
  if (params['scope'] === 'content') return [content];
  const answers = context.messages
    .filter(({ role }) => role === 'assistant')
    .map((message) => message.content);
  return [...new Set([content, ...answers])];
}
