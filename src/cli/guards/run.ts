import { resolve } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { openKeyFile } from '../../base/files/key-file.ts';
import { isObject } from '../../base/json/json.ts';
import { readAtMost } from '../../base/text/bytes.ts';
import { type GuardName, guards } from '../../builtins/guards/guards.ts';
import type { ScoreText } from '../../builtins/guards/judge/ask-judge.ts';
import type { GuardHost } from '../../builtins/guards/program/options.ts';
import { type Invocation, runProgram } from '../../builtins/guards/program/program.ts';
import type { ConfigFiles } from '../../runtime/judge/own-model.ts';

/** Resolves to the exit code. */
export async function runGuard(name: GuardName, invocation: Invocation): Promise<0 | 1 | 2> {
  const { argv, stdout, env } = invocation;
  const { guard } = await guards[name]();
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(guard.help());
    return 0;
  }
  const host: GuardHost = {
    env,
    openKey: (file) => openKeyFile(resolve(file)),
    openJudge: (config, provider) => lazyJudge(config, provider, env),
  };
  const { open } = guard;
  if (open === undefined) return await judgeEvent(invocation, host);
  return await runProgram(name, () => open(argv, host), invocation);
}

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

function configFiles([file = 'runtime.yaml', ...overlays]: readonly string[]): ConfigFiles {
  return [resolve(file), ...overlays.map((each) => resolve(each))];
}

/** signalbox-prompt: judges the event on stdin with a model. Exit code 0 allows it; everything else is 2. */
async function judgeEvent({ argv, stdin, printError, env }: Invocation, host: GuardHost): Promise<0 | 2> {
  try {
    const { guard } = await guards['signalbox-prompt']();
    const { prompt, config, provider, timeoutMs: allowedMs } = guard.readSettings(argv, host);
    const event = await readEvent(stdin);
    const { openPromptJudge } = await import('../../runtime/judge/prompt-judge.ts');
    const ask = openPromptJudge(configFiles(config), provider, env);
    // The caller's timeout began when the process started.
    const timeoutMs = Math.max(1, Math.floor(allowedMs - performance.now()));
    const reason = await ask({ prompt, event, timeoutMs });
    if (reason === undefined) return 0;
    printError(reason);
  } catch (error) {
    const { code, message, hint } = toRuntimeError(error);
    printError(`signalbox-prompt: [${code}] ${message}${hint === undefined ? '' : `. ${hint}`}`);
  }
  return 2;
}

const LONGEST = 1 << 20;

async function readEvent(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = await readAtMost(stdin, LONGEST);
  if (bytes === undefined)
    throw new RuntimeError('EVENT_INVALID', `the event has more than ${LONGEST} bytes`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (isObject(JSON.parse(text))) return text.trim();
  } catch {
    // The parser's error would quote the event.
  }
  throw new RuntimeError('EVENT_INVALID', 'stdin is not exactly one JSON object in UTF-8');
}
