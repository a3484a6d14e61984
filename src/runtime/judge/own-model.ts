import { unknownName } from '../../base/yaml/wording.ts';
import { environmentOf } from '../../config/environment/read.ts';
import { requireConfig } from '../../config/load.ts';
import { openProvider } from '../../models/open/open-provider.ts';
import { callModel } from '../../pipelines/chat/model-call.ts';
import type { HostEnv } from '../../process/env.ts';

type AskModel = (question: {
  readonly system: string;
  readonly prompt: string;
  readonly signal: AbortSignal;
}) => Promise<string>;

export type ConfigFiles = readonly [string, ...string[]];

/**
 * Opens a declared provider for a hook. No hooks run on its calls. Throws CONFIG_INVALID, FILE_UNREADABLE,
 * NAME_UNKNOWN.
 */
export function openOwnModel(files: ConfigFiles, provider: string, env: HostEnv): AskModel {
  const [file, ...overlays] = files;
  const config = requireConfig(file, env['PATH'] ?? '', { env, overlays });
  const ids = config.providers.map(({ id }) => id);
  const declared =
    config.providers.find(({ id }) => id === provider) ?? unknownName('provider', provider, ids);
  const opened = openProvider(declared, { env: environmentOf(config, env), folder: config.folder });
  return async ({ system, prompt, signal }) => {
    const options = {
      prompt: [
        { role: 'system' as const, content: system },
        { role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] },
      ],
      abortSignal: signal,
    };
    const call = { options, isStreamed: false, onText: () => {} };
    const { message } = await callModel(await opened.model(), call);
    return message.content;
  };
}
