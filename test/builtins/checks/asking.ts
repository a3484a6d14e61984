import type { Embed } from '../../../src/builtins/checks/check.ts';
import { runCheck } from '../../../src/builtins/checks/run-check.ts';
import type { EvalOutcome, EvalRequest } from '../../../src/contract/eval.ts';

/** What is asked of a check; the rest of the request is empty. */
export interface Asking {
  readonly params?: EvalRequest['params'];
  readonly content?: string;
  readonly context?: Partial<EvalRequest['context']>;
  /** What the judge answers; without it nobody can judge. */
  readonly judge?: string | undefined;
  /** The embeddings of texts; without it nobody can embed. */
  readonly embeddings?: Readonly<Record<string, readonly number[]>> | undefined;
  readonly signal?: AbortSignal;
}

/** Asks a built-in check as the runtime does. */
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

/** The score; of an unscored outcome its reason, which equals no score. */
export async function scoreOf(type: string, asking: Asking): Promise<number | string> {
  const outcome = await ask(type, asking);
  return outcome.status === 'scored' ? outcome.score : outcome.reason;
}

/** Where a check should ask neither a judge nor an embedder. */
export const nobody = (): Promise<never> => Promise.reject(new Error('nobody is there to judge'));

function embedFrom(embeddings: NonNullable<Asking['embeddings']>): Embed {
  return async ({ texts }) => {
    const vectors = texts.map((text) => embeddings[text] ?? []);
    return { vectors, provider: 'embed', model: 'scripted' };
  };
}
