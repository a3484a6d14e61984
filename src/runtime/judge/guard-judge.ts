import { environmentOf, type HostEnv } from '../../binding/env.ts';
import { readVerdict } from '../../checks/judge/verdict.ts';
import { requireConfig } from '../../config/load.ts';
import { RuntimeError } from '../../errors.ts';
import { callModel } from '../../pipeline/chat/model-call.ts';
import { openProvider } from '../../provider/open/open-provider.ts';
import { unknownName } from '../../yaml/unknown-name.ts';

/** What a guard asks its judge. */
interface GuardQuestion {
  readonly system: string;
  readonly prompt: string;
  /** The text that the judge might quote a verdict from. */
  readonly judged: string;
  readonly signal: AbortSignal;
}

/** Resolves to the judge's score from 0 to 1. Throws PROVIDER_FAILED, PROVIDER_TIMEOUT, REPLY_MALFORMED, … */
export type GuardJudge = (question: GuardQuestion) => Promise<number>;

/**
 * A declared provider as the judge of a guard. No hook hears of its calls: the guard is one itself, and would ask about its own
 * question. Throws CONFIG_INVALID, FILE_UNREADABLE, NAME_UNKNOWN.
 */
export function openGuardJudge(file: string, provider: string, env: HostEnv): GuardJudge {
  const config = requireConfig(file, env['PATH'] ?? '', { env });
  const ids = config.providers.map(({ id }) => id);
  const declared =
    config.providers.find(({ id }) => id === provider) ?? unknownName('provider', provider, ids);
  const opened = openProvider(declared, { env: environmentOf(config, env), folder: config.folder });
  return async ({ system, prompt, judged, signal }) => {
    const options = {
      prompt: [
        { role: 'system' as const, content: system },
        { role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] },
      ],
      abortSignal: signal,
    };
    const { message } = await callModel(await opened.model(), {
      options,
      isStreamed: false,
      onText: () => {},
    });
    const outcome = readVerdict(message.content, judged);
    if (outcome.status === 'scored') return outcome.score;
    // What the judge has said may quote what it was asked about.
    throw new RuntimeError('REPLY_MALFORMED', 'the judge did not answer with one score');
  };
}
