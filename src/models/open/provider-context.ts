import { suggest } from '../../base/text/suggest.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { providerTypes } from '../../config/provider-types.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import type { HostEnv } from '../../process/env.ts';
import type { EmbedByTool } from '../embedding/embed-by-tool.ts';
import type { Peer } from '../provider-error.ts';
import type { RateQueue } from '../rate/rate-queue.ts';
import type { StreamLimits } from '../rate/stream-limits.ts';
import type { CallRecorder } from '../recording/call-recorder.ts';
import type { RecordingContext } from '../recording/call-replay.ts';
import { unusableError } from './credential.ts';
import { type ProviderKind, providerKinds } from './provider-kinds.ts';

/** What a declared provider is opened with. */
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
  /** What keeps its streams to theirs. */
  readonly streams?: StreamLimits | undefined;
  /** Asks a tool of the runtime for vectors; absent: none can be called. */
  readonly embedByTool?: EmbedByTool | undefined;
  /** What the model is opened for; undefined: to answer. */
  readonly role?: ProviderConfig['role'] | undefined;
  /** Told of each setting that the API does not take, once. */
  readonly warn?: ((message: string) => void) | undefined;
  /** Ends every call that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** The kind of API of a provider. Throws PROVIDER_UNUSABLE. */
export function requireKind({ id, type }: ProviderConfig): ProviderKind {
  const kind = providerKinds.get(type);
  if (kind !== undefined) return kind;
  const { hint } = suggest(type, providerTypes, 'types');
  throw unusableError(id, `the type ${JSON.stringify(type)} is not known`, hint);
}

/** The API, whose secrets no error shows. */
export function toPeer(peer: Peer, { scrubber }: ProviderContext): Peer {
  scrubber?.add(peer.secrets);
  return { ...peer, scrub: scrubber?.text };
}
