import { isObject } from '../../../json/json.ts';
import { type SourceFiles, valueOfFile } from '../../suite-import/source-files.ts';

/** What a setting of a model is here: options of a chat, or members of its entry. */
interface FoundSetting {
  readonly chat?: Mapping;
  readonly entry?: Mapping;
  /** What it means beyond what it meant. */
  readonly warning?: string;
}

type Mapping = Readonly<Record<string, unknown>>;

/** A setting that is no number of `defaults`; undefined where nothing here is like it. */
export function settingOf(key: string, value: unknown, files: SourceFiles): FoundSetting | undefined {
  switch (key) {
    case 'stop':
    case 'stop_sequences':
    case 'stopSequences':
      return stopsOf(value);
    case 'seed':
      return typeof value === 'number' && Number.isSafeInteger(value) ? { chat: { seed: value } } : undefined;
    case 'response_format':
      return formatOf(value, files);
    case 'cost':
      return typeof value === 'number' && value >= 0
        ? { entry: { pricing: pricingOf(value, value) } }
        : undefined;
    // What is so anyway.
    case 'presence_penalty':
    case 'frequency_penalty':
      return value === 0 ? {} : undefined;
    case 'n':
      return value === 1 ? {} : undefined;
    default:
      return undefined;
  }
}

/** Of the US dollars for one token. */
function pricingOf(input: number, output: number): Mapping {
  return { input_cost_per_1k: input * 1000, output_cost_per_1k: output * 1000 };
}

function stopsOf(value: unknown): FoundSetting | undefined {
  const stops: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isGood = stops.length > 0 && stops.every((each) => typeof each === 'string' && each !== '');
  return isGood ? { chat: { stop: stops } } : undefined;
}

function formatOf(given: unknown, files: SourceFiles): FoundSetting | undefined {
  const value = loaded(given, files);
  if (!isObject(value)) return undefined;
  const type = value['type'];
  if (type === 'text') return {};
  const warning =
    'an answer that does not fit `response_format` is asked for once more, and is then no answer; there it is judged';
  if (type === 'json_object') return { chat: { output: { schema: { type: 'object' } } }, warning };
  const { json_schema: named } = value;
  const schema = loaded(isObject(named) ? named['schema'] : value['schema'], files);
  if (type !== 'json_schema' || !isObject(schema) || schema['type'] !== 'object') return undefined;
  return { chat: { output: { schema } }, warning };
}

function loaded(given: unknown, files: SourceFiles): unknown {
  if (typeof given !== 'string' || !given.startsWith('file://')) return given;
  const found = files.find(given);
  const read = 'fault' in found ? found : valueOfFile(found.file);
  return 'value' in read ? read.value : undefined;
}

/** What the APIs call a setting, and its name here. */
export const numberSettings: Readonly<Record<string, string | undefined>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  topP: 'top_p',
  max_tokens: 'max_tokens',
  maxTokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  maxOutputTokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
};
