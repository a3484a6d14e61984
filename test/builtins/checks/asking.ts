import type { Embed } from '../../../src/builtins/checks/check.ts';
import { runCheck } from '../../../src/builtins/checks/run-check.ts';
import type { EvalOutcome, EvalRequest } from '../../../src/contract/eval.ts';

export interface Asking {
  readonly params?: EvalRequest['params'];
  readonly content?: string;
  readonly context?: Partial<EvalRequest['context']>;
  /** The judge's answer. Without it, a call of the judge rejects. */
  readonly judge?: string | undefined;
  /** Embeddings by text. Without them, a call of the embedder rejects. */
  readonly embeddings?: Readonly<Record<string, readonly number[]>> | undefined;
  readonly signal?: AbortSignal;
}

export function ask(type: string, asking: Asking): Promise<EvalOutcome> {
  const {
    params = {},
    content = '',
    context,
    judge,
    embeddings,
    signal = new AbortController().signal,
  } = asking;
  const empty = { messages: [], turn_index: 0, tool_calls: [], variables: {}, metadata: {} };
  const request: EvalRequest = { type, params, content, context: { ...empty, ...context } };
  return runCheck(type, request, {
    signal,
    judge: judge === undefined ? nobody : async () => judge,
    embed: embeddings === undefined ? nobody : embedFrom(embeddings),
  });
}

export async function scoreOf(type: string, asking: Asking): Promise<number | string> {
  const outcome = await ask(type, asking);
  return outcome.status === 'scored' ? outcome.score : outcome.reason;
}

export const nobody = (): Promise<never> => Promise.reject(new Error('nobody is there to judge'));

function embedFrom(embeddings: NonNullable<Asking['embeddings']>): Embed {
  return async ({ texts }) => {
    const vectors = texts.map((text) => embeddings[text] ?? []);
    return { vectors, provider: 'embed', model: 'scripted' };
  };
}
