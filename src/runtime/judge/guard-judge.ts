import { RuntimeError } from '../../base/errors.ts';
import { readVerdict } from '../../builtins/checks/judge/verdict.ts';
import type { HostEnv } from '../../process/env.ts';
import { type ConfigFiles, openOwnModel } from './own-model.ts';

interface GuardQuestion {
  readonly system: string;
  readonly prompt: string;
  readonly judged: string;
  readonly signal: AbortSignal;
}

/** Resolves to a score from 0 to 1. Throws PROVIDER_FAILED, PROVIDER_TIMEOUT, REPLY_MALFORMED, … */
export type GuardJudge = (question: GuardQuestion) => Promise<number>;

export function openGuardJudge(files: ConfigFiles, provider: string, env: HostEnv): GuardJudge {
  const ask = openOwnModel(files, provider, env);
  return async ({ judged, ...question }) => {
    const outcome = readVerdict(await ask(question), judged);
    if (outcome.status === 'scored') return outcome.score;
    // The message omits the answer, because it may quote the judged text.
    throw new RuntimeError('REPLY_MALFORMED', 'the judge did not answer with exactly one score');
  };
}
