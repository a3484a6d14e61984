import { isAbsolute, join } from 'node:path';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { suggest } from '../../base/text/suggest.ts';
import type { ProviderConfig } from '../../config/config.ts';
import type { Provider } from '../provider.ts';
import type { Peer } from '../provider-error.ts';
import { openRecording } from '../recording/call-replay.ts';
import type { ApiAccess } from './api-packages.ts';
import { withLimits } from './call-limits.ts';
import { unusableError } from './credential.ts';
import { withDefaults } from './defaults.ts';
import { openHttpModel } from './http-model.ts';
import { openMockModel } from './mock-model.ts';
import { openEmbeddings } from './open-embeddings.ts';
import { type ProviderContext, requireKind, toPeer } from './provider-context.ts';
import { readLimits } from './read-limits.ts';
import { withWarnings } from './settings-not-taken.ts';
import { withStructuredOutput } from './structured-output.ts';

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
  requireUsable(config, context);
  const { model, peer } = await openModelSource(config, context);
  const recorded = context.recorder?.wrap(model, peer) ?? model;
  const heard = context.warn === undefined ? recorded : withWarnings(recorded, context.warn);
  return withDefaults(heard, config.defaults, context.signal);
}

/** Throws PROVIDER_UNUSABLE for a provider that the config refuses, or whose model does something else. */
function requireUsable(
  { id, refused, role }: ProviderConfig,
  { role: wanted }: Pick<ProviderContext, 'role'>,
): void {
  if (refused !== undefined) throw unusableError(id, refused);
  if (role === wanted) return;
  throw wanted === undefined
    ? unusableError(id, 'its role is embedding, so it cannot answer', 'Name a provider without that role.')
    : unusableError(
        id,
        'its role is not embedding',
        'Name a provider with `role: embedding`: a model that turns texts into vectors.',
      );
}

interface ModelSource {
  readonly model: LanguageModelV4;
  readonly peer: Peer;
}

async function openModelSource(config: ProviderConfig, context: ProviderContext): Promise<ModelSource> {
  const { id, type, role } = config;
  const peer = { id, secrets: [] };
  if (context.replay !== undefined) {
    return {
      model: (await openRecording(context.replay, context.replayContext)).model(id, config.model),
      peer,
    };
  }
  if (type === 'replay') return { model: await openReplayModel(config, context.folder), peer };
  if (role === 'embedding') return await openEmbeddings(config, context);
  if (type === 'mock') {
    const mock = withLimits(
      openMockModel(config),
      readLimits(config, 0, context.streams),
      peer,
      context.rate,
    );
    return { model: withStructuredOutput(mock, config.structuredOutput), peer };
  }
  const kind = requireKind(config);
  const limits = readLimits(config, 2, context.streams);
  const open = async (access: ApiAccess) => await kind.open(config, access);
  const opened = await openHttpModel(config, kind, { ...context, open });
  const called = toPeer(opened.peer, context);
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
