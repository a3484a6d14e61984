import type { Judge } from '../checks/check.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { RuntimeError } from '../errors.ts';
import type { Models } from './models.ts';

/**
 * The judge for model-graded checks: calls a declared provider through the guard. Throws PROVIDER_UNUSABLE,
 * DENIED, …
 */
export function openJudge({ providers }: RuntimeConfig, openModel: Models['model']): Judge {
  return async ({ provider = judgingProvider(providers), model: name, system, prompt, signal }) => {
    const { model } = await openModel(provider, 'hold', { name });
    const options = {
      prompt: [
        { role: 'system' as const, content: system },
        { role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] },
      ],
      abortSignal: signal,
    };
    const { callModel } = await import('../pipeline/chat/model-call.ts');
    const { message } = await callModel(model, { options, isStreamed: false, onText: () => {} });
    return message.content;
  };
}

/** The provider named `judge`, or the only one. Throws PROVIDER_UNUSABLE. */
function judgingProvider(declared: RuntimeConfig['providers']): string {
  const providers = declared.filter(({ role }) => role !== 'embedding');
  const [only, other] = providers;
  const judge = providers.find(({ id }) => id === 'judge') ?? (other === undefined ? only : undefined);
  if (judge !== undefined) return judge.id;
  const message = only === undefined ? 'no provider is declared' : 'several providers are declared';
  const hint = 'Name one in the param `provider`, or declare one with the id `judge` in spec.providers.';
  throw new RuntimeError('PROVIDER_UNUSABLE', `no model can judge: ${message}`, { hint });
}
