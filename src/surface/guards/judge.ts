import { resolve } from 'node:path';
import type { ScoreText } from '../../guards/judge/ask-judge.ts';
import type { Invocation } from '../../guards/program/program.ts';
import type { ConfigFiles } from '../../runtime/judge/own-model.ts';

/** A provider of a runtime file, and of those laid over it, as a judge; the runtime is loaded with the first question. */
export function lazyJudge(config: readonly string[], provider: string, env: Invocation['env']): ScoreText {
  let opened: Promise<ScoreText> | undefined;
  const open = async () => {
    const { openGuardJudge } = await import('../../runtime/judge/guard-judge.ts');
    return openGuardJudge(configFiles(config), provider, env);
  };
  return async (question) => {
    opened ??= open();
    return await (await opened)(question);
  };
}

/** The files of `--config`, absolute; without one `runtime.yaml`. */
export function configFiles([file = 'runtime.yaml', ...overlays]: readonly string[]): ConfigFiles {
  return [resolve(file), ...overlays.map((each) => resolve(each))];
}
