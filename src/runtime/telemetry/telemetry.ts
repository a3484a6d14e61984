import { createRequire } from 'node:module';
import type { Tracer } from '@opentelemetry/api';
import { RuntimeError } from '../../base/errors.ts';
import { redactedMark } from '../../base/text/hide-secrets.ts';
import { versionOf } from '../../base/version.ts';
import { findApiKeys, mayHoldApiKey } from '../../builtins/pii/finders/api-key.ts';
import type { RuntimeConfig, TelemetryConfig } from '../../config/config.ts';
import type { Measures } from '../../contract/event.ts';
import type { HostEnv } from '../../process/env.ts';
import type { Runtime, RuntimeOptions } from '../api.ts';
import type { LazyStore } from '../lazy-store.ts';
import type { RuntimeScrubber } from '../log/scrub.ts';
import type { Instruments } from './labels.ts';
import { type ConfigNames, openMetrics, readPendings } from './metrics.ts';
import { type Api, canSee, findApis, registeredApi, type Signal } from './packages.ts';
import { acquireSdk } from './sdk.ts';
import { openSpans, type Spans } from './spans.ts';
import { readSettings, type TelemetrySettings } from './variables.ts';

export interface Telemetry {
  /** Absent unless traces are exported. */
  readonly spans?: Spans | undefined;
  /** Absent unless metrics are exported. */
  readonly measures?: Measures | undefined;
  readonly endpoint: Runtime['telemetry'];
  /** Sends what is left. Takes at most three seconds, and never rejects. */
  close(): Promise<void>;
}

interface Loaded {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
  readonly scrubber: RuntimeScrubber;
}

interface TelemetryOptions {
  readonly telemetry: TelemetryConfig;
  readonly store: LazyStore;
  readonly owns: RuntimeOptions['ownsTelemetry'];
  readonly note: (level: 'info' | 'warn', message: string) => void;
}

/** Throws what an SDK throws that the host has registered. */
export async function openTelemetry(
  { config, host, scrubber }: Loaded,
  { telemetry, store, owns, note }: TelemetryOptions,
): Promise<Telemetry> {
  const { folder } = config;
  const warn = reportOnce((sentence: string) => note('warn', `telemetry: ${sentence}`));
  const ignored: string[] = [];
  const settings = readSettings(telemetry, host, (sentence) => ignored.push(sentence));
  const registered = findRegistered(settings, folder, warn);
  const left = (['traces', 'metrics'] as const).filter(
    (signal) => settings[signal] !== undefined && !registered.signals.includes(signal),
  );
  const ours = left.filter((signal) => owns === true || (owns && signal === 'traces'));
  // An SDK of the host may know values that ours does not, such as other exporters.
  if (ours.length > 0) ignored.forEach(warn);
  const flushMs = owns === 'hook' ? HOOK_FLUSH_MS : undefined;
  const own = acquireSdk({ settings, signals: ours, folder, env: host, report: warn, flushMs });
  if (own.fault !== undefined) warn(own.fault.message);
  else if (!owns && left.length > 0 && registered.signals.length === 0)
    note('info', `telemetry: ${unregistered}, so nothing is exported`);
  const names = namesOf(config);
  const text = textOf(scrubber);
  const traced = registered.traced ?? own.traced;
  const spans = traced && openSpans({ ...traced, names, ...settings, text });
  const meter = registered.meter ?? own.meter;
  const pendings = async () => await readPendings(config.stateStore, store);
  const metrics = meter && openMetrics({ meter, text, names, pendings });
  const reason = left.includes('metrics') ? unregistered : 'the SDK of this process exports its metrics';
  const fault = own.fault ?? new RuntimeError('USAGE', reason);
  return {
    spans,
    measures: metrics?.measures,
    endpoint: {
      ...(settings.metrics && {
        metrics: own.metrics ?? (() => Promise.reject(fault)),
        listen: settings.metrics.listen,
      }),
      ...(own.fault && { fault: own.fault.message }),
    },
    close: async () => {
      spans?.close();
      metrics?.close();
      await own.close();
    },
  };
}

/** Every text that is exported passes this. */
function textOf({ text, storedText }: RuntimeScrubber): (value: string) => string {
  return (value) => {
    const shown = hideKeys(/^\s*["[{]/.test(value) ? storedText(value) : text(value));
    return shown.length > MAX_CHARACTERS ? `${shown.slice(0, MAX_CHARACTERS)}…` : shown;
  };
}

const MAX_CHARACTERS = 64 * 1024;

/** An agent waits for the end of the process of its hook. */
const HOOK_FLUSH_MS = 500;

/** Hides keys that only their form betrays, in place: the text of a JSON string stays one. */
function hideKeys(text: string): string {
  if (!isLong.test(text) || !(mayHoldApiKey(text) || text.includes('PRIVATE KEY'))) return text;
  let [shown, end] = ['', 0];
  for (const found of [...findApiKeys({ text })].toSorted((a, b) => a.start - b.start)) {
    if (found.start >= end) shown += text.slice(end, found.start) + redactedMark;
    end = Math.max(end, found.end);
  }
  return (shown + text.slice(end)).replace(privateKey, redactedMark);
}

/** Every form of a key has at least so many characters without a space. */
const isLong = /[\w.~+/=:-]{16}/;

/** To the end of the text if its end is missing. Line breaks may be those of JSON in JSON. */
const privateKey = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\\+[nr]|[\s\w+/=:,.-])*/g;

const unregistered = 'no OpenTelemetry SDK is registered in this process';

/** Sentences that differ in their figures alone count as one. */
function reportOnce(report: (sentence: string) => void): (sentence: string) => void {
  const reported = new Set<string>();
  return (sentence) => {
    const form = sentence.replaceAll(/\d+/g, '0');
    if (!reported.has(form)) report(sentence);
    reported.add(form);
  };
}

interface Registered {
  readonly traced?: { readonly api: Api; readonly tracer: Tracer };
  readonly meter?: Instruments;
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
      `${signals.join(' and ')} are lost: the SDK of this process was registered by @opentelemetry/api ${global.version}${where}, and Signalbox ${ours}. Run: npm install @opentelemetry/api@${global.version}`,
    );
    return { signals };
  }
  const api: Api = createRequire(usable.file)(usable.file);
  return {
    signals,
    ...(signals.includes('traces') && {
      traced: { api, tracer: api.trace.getTracer('signalbox', versionOf()) },
    }),
    ...(signals.includes('metrics') && { meter: api.metrics.getMeter('signalbox', versionOf()) }),
  };
}

function namesOf(config: RuntimeConfig): ConfigNames {
  const { tools, hooks, foreign, evals, providers, mcpServers = [], gateway } = config;
  const offered = (gateway.models ?? []).flatMap(({ name, model }) => [name, model]);
  const names = (entries: readonly { readonly name: string }[]) => new Set(entries.map(({ name }) => name));
  return {
    tools: names(tools),
    hooks: names([...hooks, ...foreign]),
    evals: names(evals),
    providers: new Map(providers.map(({ id, type }) => [id, type])),
    models: new Set([...providers.flatMap(({ model }) => model ?? []), ...offered]),
    servers: names(mcpServers),
  };
}
