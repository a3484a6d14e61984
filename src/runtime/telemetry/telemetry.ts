import { createRequire } from 'node:module';
import type { Meter, Tracer } from '@opentelemetry/api';
import { RuntimeError } from '../../base/errors.ts';
import { versionOf } from '../../base/version.ts';
import type { RuntimeConfig, TelemetryConfig } from '../../config/config.ts';
import type { KeepCall } from '../../contract/decision.ts';
import type { Emit, RuntimeEvent } from '../../contract/event.ts';
import type { HostEnv } from '../../process/env.ts';
import type { Runtime } from '../api.ts';
import { type Api, canSee, findApis, registeredApi, type Signal } from './packages.ts';
import { acquireSdk } from './sdk.ts';
import { readSettings, type TelemetrySettings } from './variables.ts';

/** The names of a config, which names of spans and labels of metrics may be. */
export interface ConfigNames {
  readonly tools: ReadonlySet<string>;
  readonly hooks: ReadonlySet<string>;
  readonly evals: ReadonlySet<string>;
  /** The type of each provider, by its ID. */
  readonly providers: ReadonlyMap<string, string>;
  readonly models: ReadonlySet<string>;
  /** The servers of `spec.mcp_servers`. */
  readonly servers: ReadonlySet<string>;
}

export interface Telemetry extends Pick<Emit, 'traceOf' | 'startHook' | 'keepContent'> {
  /** Receives the events of these types, synchronously. */
  readonly types: ReadonlySet<RuntimeEvent['type']>;
  take(event: RuntimeEvent): void;
  readonly keepCall?: KeepCall | undefined;
  readonly endpoint: Runtime['telemetry'];
  /** Sends what is left. Takes at most three seconds, and never rejects. */
  close(): Promise<void>;
}

interface TelemetryOptions {
  readonly telemetry: TelemetryConfig;
  /** Whether a signal for which this process has no SDK gets one of ours. */
  readonly ownsSdk: boolean;
  readonly note: (level: 'info' | 'warn', message: string) => void;
}

/** Never throws: a fault of telemetry stops no call. */
export async function openTelemetry(
  { config, host }: { readonly config: RuntimeConfig; readonly host: HostEnv },
  { telemetry, ownsSdk, note }: TelemetryOptions,
): Promise<Telemetry> {
  const { folder } = config;
  const warn = once((sentence: string) => note('warn', `telemetry: ${sentence}`));
  const settings = readSettings(telemetry, host, warn);
  const registered = findRegistered(settings, folder, warn);
  const left = without(settings, registered.signals);
  const own = ownsSdk ? acquireSdk({ settings: left, folder, env: host, report: warn }) : undefined;
  const isOn = settings.traces !== undefined || settings.metrics !== undefined;
  if (own?.fault !== undefined) warn(own.fault.message);
  else if (!ownsSdk && isOn && registered.signals.length === 0)
    note('info', 'telemetry: no OpenTelemetry SDK is registered in this process, so nothing is exported');
  const fault =
    own?.fault ?? new RuntimeError('USAGE', 'the metrics go to the SDK that this process has registered');
  return {
    types: new Set(),
    take: () => {},
    endpoint: {
      ...(settings.metrics && {
        metrics: own?.metrics ?? (() => Promise.reject(fault)),
        listen: settings.metrics.listen,
      }),
      ...(own?.fault && { fault: own.fault.message }),
    },
    close: async () => await own?.close(),
  };
}

function once(report: (sentence: string) => void): (sentence: string) => void {
  const reported = new Set<string>();
  return (sentence) => {
    if (reported.has(sentence)) return;
    reported.add(sentence);
    report(sentence);
  };
}

interface Registered {
  readonly api?: Api;
  readonly tracer?: Tracer;
  readonly meter?: Meter;
  /** Those that the host exports, also if this program cannot reach its SDK. */
  readonly signals: readonly Signal[];
}

/** What the host, or a module of `node --import`, has registered. */
function findRegistered(
  settings: TelemetrySettings,
  folder: string,
  warn: (sentence: string) => void,
): Registered {
  const global = registeredApi();
  const signals = (['traces', 'metrics'] as const).filter((signal) => settings[signal] && global?.[signal]);
  if (global === undefined || signals.length === 0) return { signals };
  const copies = findApis(folder);
  const [own] = copies;
  const usable = copies.find(({ version }) => canSee(version, global.version));
  if (usable === undefined) {
    const theirs = copies.find(({ version }) => version === global.version);
    const where = theirs === undefined ? '' : ` (${theirs.file})`;
    const ours =
      own === undefined ? 'finds no copy' : `uses ${own.version} (${own.file}), which cannot see it`;
    warn(
      `spans and metrics are lost: the SDK of this process was registered by @opentelemetry/api ${global.version}${where}, and Signalbox ${ours}. Run: npm install @opentelemetry/api@${global.version}`,
    );
    return { signals };
  }
  const api: Api = createRequire(usable.file)(usable.file);
  return {
    ...{ api, signals },
    ...(signals.includes('traces') && { tracer: api.trace.getTracer('signalbox', versionOf()) }),
    ...(signals.includes('metrics') && { meter: api.metrics.getMeter('signalbox', versionOf()) }),
  };
}

function without(settings: TelemetrySettings, signals: readonly Signal[]): TelemetrySettings {
  return { ...settings, ...Object.fromEntries(signals.map((signal) => [signal, undefined])) };
}

export function namesOf({
  tools,
  hooks,
  foreign,
  evals,
  providers,
  mcpServers = [],
}: RuntimeConfig): ConfigNames {
  const names = (entries: readonly { readonly name: string }[]) => new Set(entries.map(({ name }) => name));
  return {
    tools: names(tools),
    hooks: names([...hooks, ...foreign]),
    evals: names(evals),
    providers: new Map(providers.map(({ id, type }) => [id, type])),
    models: new Set(providers.flatMap(({ model }) => (model === undefined ? [] : [model]))),
    servers: names(mcpServers),
  };
}
