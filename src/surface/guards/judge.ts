import { resolve } from 'node:path';
import type { ScoreText } from '../../guards/judge/ask-judge.ts';
import type { Invocation } from '../../guards/program/program.ts';

/** A provider of a runtime file as a judge; the runtime is loaded with the first question. */
export function lazyJudge(config: string, provider: string, env: Invocation['env']): ScoreText {
  let opened: Promise<ScoreText> | undefined;
  const open = async () => {
    const { openGuardJudge } = await import('../../runtime/judge/guard-judge.ts');
    return openGuardJudge(resolve(config), provider, env);
  };
  return async (question) => {
    opened ??= open();
    return await (await opened)(question);
  };
}
