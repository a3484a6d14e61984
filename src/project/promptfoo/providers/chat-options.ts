import { isObject } from '../../../json/json.ts';
import type { Source } from '../../../yaml/source.ts';
import type { SourceFiles } from '../../suite-import/source-files.ts';

/** What a setting of a model is here: options of a chat, or members of its entry. */
interface FoundSetting {
  /** Numbers of `defaults`. */
  readonly defaults?: Readonly<Record<string, number>>;
  readonly chat?: Mapping;
  readonly entry?: Mapping;
  /** What it means beyond what it meant. */
  readonly warning?: string;
}

type Mapping = Readonly<Record<string, unknown>>;

/** A setting; undefined where nothing here is like it. */
export function settingOf(key: string, given: Source, files: SourceFiles): FoundSetting | undefined {
  if (Object.hasOwn(numberSettings, key)) {
    const value = given.number();
    return value === undefined ? undefined : { defaults: { [numberSettings[key] ?? key]: value } };
  }
  switch (key) {
    case 'stop':
    case 'stop_sequences':
    case 'stopSequences':
      return stopsOf(given);
    case 'seed': {
      const seed = given.number();
      return Number.isSafeInteger(seed) ? { chat: { seed } } : undefined;
    }
    case 'response_format':
      return formatOf(given, files);
    case 'cost': {
      const cost = given.number();
      return cost !== undefined && cost >= 0 ? { entry: { pricing: pricingOf(cost, cost) } } : undefined;
    }
    // What is so anyway.
    case 'presence_penalty':
    case 'frequency_penalty':
      return given.number() === 0 ? {} : undefined;
    case 'n':
      return given.number() === 1 ? {} : undefined;
    default:
      return undefined;
  }
}

/** Of the US dollars for one token. */
function pricingOf(input: number, output: number): Mapping {
  return { input_cost_per_1k: input * 1000, output_cost_per_1k: output * 1000 };
}

function stopsOf(given: Source): FoundSetting | undefined {
  const only = given.text();
  const stops = only === undefined ? given.texts() : [only];
  return stops !== undefined && stops.length > 0 && !stops.includes('')
    ? { chat: { stop: stops } }
    : undefined;
}

function formatOf(given: Source, files: SourceFiles): FoundSetting | undefined {
  const format = loaded(given, files);
  const type = format?.at('type').text();
  if (type === 'text') return {};
  const warning =
    'an answer that does not fit `response_format` is asked for once more, and is then no answer; there it is judged';
  if (type === 'json_object') return { chat: { output: { schema: { type: 'object' } } }, warning };
  const named = format?.at('json_schema');
  for (const key of ['name', 'strict', 'description'])
    if (named?.at(key).isGiven)
      named.at(key).leave(`\`${key}\` of a schema is not carried: it changes no verdict`, undefined, 'note');
  const schema = loaded(named?.isGiven ? named.at('schema') : format?.at('schema'), files)?.mapping();
  if (type !== 'json_schema' || !isObject(schema) || schema['type'] !== 'object') return undefined;
  return { chat: { output: { schema } }, warning };
}

function loaded(given: Source | undefined, files: SourceFiles): Source | undefined {
  const name = given?.text();
  if (name?.startsWith('file://') !== true) return given;
  const found = files.open(name);
  return 'fault' in found ? undefined : found;
}

/** What the APIs call a setting, and its name here. */
const numberSettings: Readonly<Record<string, string | undefined>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  topP: 'top_p',
  max_tokens: 'max_tokens',
  maxTokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  maxOutputTokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
};
