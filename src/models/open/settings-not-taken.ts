import type { LanguageModelV4, LanguageModelV4StreamPart, SharedV4Warning } from '@ai-sdk/provider';
import { wrapModel } from '../wrapped-model.ts';

/** Tells of each setting of a call that the API does not take, once for all calls of the model. */
export function withWarnings(model: LanguageModelV4, warn: (message: string) => void): LanguageModelV4 {
  const told = new Set<string>();
  const tell = (warnings: readonly SharedV4Warning[]) => {
    for (const warning of warnings) {
      const message = wordWarning(warning);
      if (message === undefined || told.has(message)) continue;
      told.add(message);
      warn(message);
    }
  };
  return wrapModel(model, {
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      tell(result.warnings);
      return result;
    },
    wrapStream: async ({ doStream }) => {
      const result = await doStream();
      const listen = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => {
          if (part.type === 'stream-start') tell(part.warnings);
          controller.enqueue(part);
        },
      });
      return { ...result, stream: result.stream.pipeThrough(listen) };
    },
  });
}

/** Undefined for what changes nothing in a call's meaning. */
function wordWarning(warning: SharedV4Warning): string | undefined {
  if (warning.type !== 'unsupported') return undefined;
  const name = settingNames.get(warning.feature) ?? warning.feature;
  const details = warning.details === undefined ? '' : `: ${warning.details}`;
  return `its API does not take ${name}, so the call goes without${details}`;
}

/** What the settings of the AI SDK are called in files. */
const settingNames: ReadonlyMap<string, string> = new Map([
  ['topP', 'top_p'],
  ['stopSequences', 'stop'],
  ['maxOutputTokens', 'max_tokens'],
  ['toolChoice', 'tool_choice'],
  ['responseFormat', 'output'],
]);
