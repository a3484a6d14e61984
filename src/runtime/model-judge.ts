import type { Judge } from '../builtins/checks/check.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { askedProvider } from '../config/provider-use.ts';
import type { Models } from './models.ts';

/**
 * The judge for model-graded checks: calls a declared provider through the guard. Throws PROVIDER_UNUSABLE,
 * DENIED, …
 */
export function openJudge({ providers }: RuntimeConfig, openModel: Models['model']): Judge {
  return async ({ provider = askedProvider('llm', providers), model: name, ...question }) => {
    const { repair } = question;
    const { model } = await openModel(provider, 'hold', { name });
    const options = {
      prompt: [
        { role: 'system' as const, content: question.system },
        user(question.prompt),
        ...(repair === undefined ? [] : [assistant(repair.answer), user(repair.complaint)]),
      ],
      responseFormat: { type: 'json' as const, schema: question.schema },
      abortSignal: question.signal,
    };
    const { callModel } = await import('../pipelines/chat/model-call.ts');
    const { message } = await callModel(model, { options, isStreamed: false, onText: () => {} });
    return message.content;
  };
}

function user(text: string) {
  return { role: 'user' as const, content: [{ type: 'text' as const, text }] };
}

function assistant(text: string) {
  return { role: 'assistant' as const, content: [{ type: 'text' as const, text }] };
}
