import { isAbsolute, join } from 'node:path';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { HostEnv } from '../../binding/env.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { providerTypes } from '../../config/provider-types.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import { suggest } from '../../yaml/suggest.ts';
import type { Provider } from '../provider.ts';
import type { RateQueue } from '../rate/rate-queue.ts';
import type { CallRecorder } from '../recording/call-recorder.ts';
import { openRecording, type RecordingContext } from '../recording/call-replay.ts';
import { type Limits, withLimits } from './call-limits.ts';
import { unusableError } from './credential.ts';
import { withDefaults } from './defaults.ts';
import { openHttpModel } from './http-model.ts';
import { openMockModel } from './mock-model.ts';
import type { Peer } from './provider-error.ts';
import { providerKinds } from './provider-kinds.ts';
import { withWarnings } from './settings-not-taken.ts';
import { withStructuredOutput } from './structured-output.ts';

export interface ProviderContext {
  /** The environment in which keys are looked up. */
  readonly env: HostEnv;
  /** The config file's folder. */
  readonly folder: string;
  /** Records every call. */
  readonly recorder?: CallRecorder | undefined;
  /** The recording that answers every call: nothing is sent, and no key is needed. */
  readonly replay?: string | undefined;
  /** How recorded calls are looked up. */
  readonly replayContext?: RecordingContext | undefined;
  /** Receives API keys, and takes secrets out of error messages. */
  readonly scrubber?: Scrubber | undefined;
  /** What keeps its calls to the limits of its entry. */
  readonly rate?: RateQueue | undefined;
  /** Told of each setting that the API does not take, once. */
  readonly warn?: ((message: string) => void) | undefined;
  /** Ends every call that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens a declared provider; nothing is read, imported or sent before the first call of `model`. */
export function openProvider(config: ProviderConfig, context: ProviderContext): Provider {
  let opening: Promise<LanguageModelV4> | undefined;
  const model = () => {
    if (opening !== undefined) return opening;
    const attempt = openModel(config, context);
    opening = attempt;
    // A key that was missing may be there the next time.
    attempt.catch(() => {
      opening = undefined;
    });
    return attempt;
  };
  return { id: config.id, modelName: config.model, model };
}

async function openModel(config: ProviderConfig, context: ProviderContext): Promise<LanguageModelV4> {
  if (config.refused !== undefined) throw unusableError(config.id, config.refused);
  const { model, peer } = await openModelSource(config, context);
  const recorded = context.recorder?.wrap(model, peer) ?? model;
  const heard = context.warn === undefined ? recorded : withWarnings(recorded, context.warn);
  return withDefaults(heard, config.defaults, context.signal);
}

interface ModelSource {
  readonly model: LanguageModelV4;
  readonly peer: Peer;
}

async function openModelSource(config: ProviderConfig, context: ProviderContext): Promise<ModelSource> {
  const { id, type } = config;
  const peer = { id, secrets: [] };
  if (context.replay !== undefined) {
    return {
      model: (await openRecording(context.replay, context.replayContext)).model(id, config.model),
      peer,
    };
  }
  if (type === 'mock') {
    const mock = withLimits(openMockModel(config), readLimits(config, 0), peer, context.rate);
    return { model: withStructuredOutput(mock, config.structuredOutput), peer };
  }
  if (type === 'replay') return { model: await openReplayModel(config, context.folder), peer };
  const kind = providerKinds.get(type);
  if (kind === undefined) {
    const { hint } = suggest(type, providerTypes, 'types');
    throw unusableError(id, `the type ${JSON.stringify(type)} is not known`, hint);
  }
  const limits = readLimits(config, 2);
  const opened = await openHttpModel(config, kind, context);
  const { scrubber } = context;
  scrubber?.add(opened.peer.secrets);
  const called: Peer = { ...opened.peer, scrub: scrubber?.text };
  const limited = withLimits(opened.model, limits, called, context.rate);
  return { model: withStructuredOutput(limited, config.structuredOutput), peer: called };
}

async function openReplayModel({ id, model, additionalConfig }: ProviderConfig, folder: string) {
  const { file, provider = id, ...others } = additionalConfig;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) {
    const { hint } = suggest(unknown, ['file', 'provider'], 'keys');
    throw unusableError(id, `additional_config.${unknown}: unknown key`, hint);
  }
  if (typeof file !== 'string' || file === '')
    throw unusableError(id, 'additional_config.file: must name a recording');
  if (typeof provider !== 'string')
    throw unusableError(id, 'additional_config.provider: must be the id of a provider');
  const recording = await openRecording(isAbsolute(file) ? file : join(folder, file));
  return recording.model(provider, model);
}

/** The request timeout where the config gives none. */
const DEFAULT_TIMEOUT_MS = 300_000;

function readLimits(config: ProviderConfig, retries: number): Limits {
  return {
    timeoutMs: config.requestTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    retries: readCount(config, 'max_retries', { max: 10, fallback: retries }),
    retryBaseMs: readCount(config, 'retry_base_ms', { max: 60_000, fallback: 500 }),
  };
}

function readCount(
  { id, additionalConfig }: ProviderConfig,
  key: string,
  { max, fallback }: { readonly max: number; readonly fallback: number },
): number {
  const value = additionalConfig[key] ?? fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw unusableError(id, `additional_config.${key} must be a whole number from 0 to ${max}`);
}
