import { omitUndefined } from '../../../yaml/present.ts';
import { findApi } from './apis.ts';
import { settingOf } from './chat-options.ts';
import { credentialOf, isCleanUrl } from './connection.ts';
import type { GivenProvider, ProviderContext } from './provider-model.ts';

/** What those words may not be followed by: other APIs of the same maker. */
const otherApis =
  /^(openai:(embeddings?|completion|assistant|image|moderation|realtime|transcription|video|agents|codex|chatkit|speech|tts)|anthropic:(completion|[a-z]+-agent-sdk)|google:(live|image|video|embedding)|\w+:(embeddings?|image|video|completion):)/;

type Mapping = Readonly<Record<string, unknown>>;

/** The entry of `spec.providers`, and options of its chats; undefined where the id means no API that is known, `left out`, with a note, where its requests could go elsewhere. */
export function chatProviderOf(
  given: GivenProvider,
  name: string,
  context: ProviderContext,
): { readonly entry: Mapping; readonly chat?: Mapping } | 'left out' | undefined {
  if (otherApis.test(given.id)) return undefined;
  const found = findApi(given.id);
  if (found === undefined) return undefined;
  const { key, ...entry } = found.api;
  const model = found.rest.replace(entry.base_url === undefined ? '' : /^chat:/, '');
  if (model === '') return undefined;
  const own = settingsOf(given, context);
  if (own.isElsewhere) return 'left out';
  const written = omitUndefined({
    id: name,
    model,
    ...entry,
    ...(own.base_url !== undefined && { base_url: own.base_url }),
    credential: credentialOf(given, key),
    defaults: Object.keys(own.defaults).length > 0 ? own.defaults : undefined,
    ...own.entry,
  });
  return { entry: written, ...(Object.keys(own.chat).length > 0 && { chat: own.chat }) };
}

interface Settings {
  readonly base_url: string | undefined;
  readonly defaults: Readonly<Record<string, number>>;
  readonly entry: Mapping;
  readonly chat: Mapping;
  /** Whether a setting is not carried that may say where requests go, or with whose rights. */
  readonly isElsewhere: boolean;
}

function settingsOf({ config }: GivenProvider, { files }: ProviderContext): Settings {
  let [entry, chat, defaults]: readonly [Mapping, Mapping, Settings['defaults']] = [{}, {}, {}];
  let base: string | undefined;
  let isElsewhere = false;
  const nested = config.at('generationConfig').members();
  const plain = config
    .members()
    .filter(([key, { kind }]) => key !== 'generationConfig' || kind !== 'mapping');
  for (const [key, setting] of [...nested, ...plain]) {
    if (key === 'apiKey' || key === 'apiKeyEnvar') continue;
    const address = key === 'apiBaseUrl' ? setting.text() : undefined;
    const isAddress = address !== undefined && isCleanUrl(address);
    if (isAddress) base = address;
    const found = isAddress ? {} : settingOf(key, setting, files);
    if (found === undefined && !answerSettings.has(key)) {
      isElsewhere = true;
      setting.leave(
        `a provider with the setting \`${key}\` is left out: its requests could go elsewhere`,
        'Declare it in the runtime, and name it in the subject of the suite.',
      );
    } else if (found === undefined) setting.leave(`the setting \`${key}\` of a provider is not carried`);
    entry = { ...entry, ...found?.entry };
    chat = { ...chat, ...found?.chat };
    defaults = { ...defaults, ...found?.defaults };
    if (found?.warning !== undefined) setting.note('warning', found.warning);
  }
  return { base_url: base, defaults, entry, chat, isElsewhere };
}

/** What shapes an answer and cannot change where a request goes. Whatever is not listed might. */
const answerSettings: ReadonlySet<string> = new Set([
  ...'audio best_of functions function_call functionToolCallbacks include inputCost instructions logit_bias logprobs max_tool_calls metadata modalities n outputCost parallel_tool_calls presence_penalty frequency_penalty reasoning reasoning_effort reasoningEffort response_format responseMimeType responseSchema safetySettings seed showThinking stop stop_sequences stopSequences store systemInstruction temperature top_p topP max_tokens maxTokens max_output_tokens maxOutputTokens max_completion_tokens thinking thinkingConfig tool_choice toolConfig tools top_k topK top_logprobs truncation user verbosity cost candidateCount'.split(
    ' ',
  ),
]);
