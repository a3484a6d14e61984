import { resolve } from 'node:path';
import { openKeyFile } from '../../base/files/key-file.ts';
import type { ScoreText } from '../../builtins/guards/judge/ask-judge.ts';
import type { GuardHost } from '../../builtins/guards/program/options.ts';
import type { Invocation } from '../../builtins/guards/program/program.ts';
import type { ConfigFiles } from '../../runtime/judge/own-model.ts';

/** What a guard of this process reads its settings with. */
export function guardHost(env: Invocation['env']): GuardHost {
  return {
    env,
    openKey: (file) => openKeyFile(resolve(file)),
    openJudge: (config, provider) => lazyJudge(config, provider, env),
  };
}

/** The runtime is loaded with the first question. */
function lazyJudge(config: readonly string[], provider: string, env: Invocation['env']): ScoreText {
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
