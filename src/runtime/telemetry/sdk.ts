import http from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Tracer } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { versionOf } from '../../base/version.ts';
import { type HostEnv, withVariables } from '../../process/env.ts';
import { openHistograms } from './histograms.ts';
import type { Instruments } from './labels.ts';
import { type Api, findExporter, installCommand, type Signal } from './packages.ts';
import { shownUrl, type TelemetrySettings, type TraceSettings } from './variables.ts';

export interface MetricsText {
  readonly type: string;
  readonly text: string;
}

export interface Sdk {
  /** Absent, as `meter`, if the signal is off or its packages cannot be used. */
  readonly traced?: { readonly api: Api; readonly tracer: Tracer };
  readonly meter?: Instruments;
  readonly metrics?: () => Promise<MetricsText>;
  /** Why a signal that is on is not exported. */
  readonly fault?: RuntimeError;
  /** Sends what is left if no other runtime uses it. Takes at most three seconds, and never rejects. */
  close(): Promise<void>;
}

interface SdkOptions {
  readonly settings: TelemetrySettings;
  /** Of the config. */
  readonly folder: string;
  readonly env: HostEnv;
  /** Receives why spans are lost, once. */
  readonly report: (sentence: string) => void;
}

/** The runtimes of a process share their SDK, so that counters survive a reload. */
const open = new Map<string, { readonly sdk: Sdk; readonly reports: Set<SdkOptions['report']> }>();

/** The SDK of the command line. Never throws: telemetry does not stop a call. */
export function acquireSdk(options: SdkOptions): Sdk {
  const { settings, folder, report } = options;
  const key = JSON.stringify({ settings, folder });
  const reports = open.get(key)?.reports ?? new Set();
  const sdk = open.get(key)?.sdk ?? openSdk({ ...options, report: (text) => [...reports].at(-1)?.(text) });
  open.set(key, { sdk, reports });
  reports.add(report);
  const { close, ...parts } = sdk;
  return {
    ...parts,
    close: async () => {
      if (!reports.delete(report) || reports.size > 0) return;
      open.delete(key);
      reports.add(report);
      await close();
      reports.clear();
    },
  };
}

function openSdk({ settings, folder, env, report }: SdkOptions): Sdk {
  const { traces, metrics } = settings;
  const closers: (() => Promise<unknown>)[] = [];
  const faults: Error[] = [];
  const load = <Part>(signal: Signal, work: (near: NodeJS.Require) => Part) => {
    try {
      const { file } = findExporter(signal, folder);
      return withVariables('OTEL_', env, () => work(createRequire(file)));
    } catch (thrown) {
      faults.push(toRuntimeError(thrown));
      return undefined;
    }
  };
  const parts = {
    ...(traces && load('traces', (near) => openTraces(near, { traces, report, closers }))),
    ...(metrics && load('metrics', (near) => openMetrics(near, { report, closers }))),
  };
  const wanted = (['traces', 'metrics'] as const).filter((signal) => settings[signal] !== undefined);
  const message = `${faults.map(({ message }) => message).join(', and ')}. Run: ${installCommand(wanted)}`;
  return {
    ...parts,
    ...(faults[0] && { fault: new RuntimeError('USAGE', message, { cause: faults[0] }) }),
    close: async () => void (await Promise.allSettled(closers.map((close) => close()))),
  };
}

interface Opening {
  readonly report: SdkOptions['report'];
  readonly closers: (() => Promise<unknown>)[];
}

function openTraces(near: NodeJS.Require, { traces, report, closers }: Opening & { traces: TraceSettings }) {
  const api: Api = near('@opentelemetry/api');
  const sdk: typeof import('@opentelemetry/sdk-trace') = near('@opentelemetry/sdk-trace');
  reportFaults(api, report);
  const sender = openSender(near, traces.url, report);
  const processor = new sdk.BatchSpanProcessor({ exporter: sender, ...traces.batch });
  const provider = new sdk.TracerProvider({
    resource: resourceOf(createRequire(near.resolve('@opentelemetry/sdk-trace'))),
    sampler: samplerOf(sdk, traces),
    spanProcessors: [processor],
  });
  closers.push(async () => {
    sender.endWithin(FLUSH_MS);
    await provider.shutdown();
  });
  return { traced: { api, tracer: provider.getTracer('signalbox', versionOf()) } };
}

const FLUSH_MS = 3_000;

function samplerOf(
  sdk: typeof import('@opentelemetry/sdk-trace'),
  { sampler, ratio }: TraceSettings,
): Sampler {
  const root = sampler.endsWith('ratio')
    ? new sdk.TraceIdRatioBasedSampler(ratio)
    : new sdk[sampler.endsWith('on') ? 'AlwaysOnSampler' : 'AlwaysOffSampler']();
  return sampler.startsWith('parentbased') ? new sdk.ParentBasedSampler({ root }) : root;
}

function resourceOf(near: NodeJS.Require): Resource {
  const resources: typeof import('@opentelemetry/resources') = near('@opentelemetry/resources');
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const detected = detectResources({ detectors: [envDetector, resources.serviceInstanceIdDetector] });
  const own = resourceFromAttributes({ 'service.name': 'signalbox', 'service.version': versionOf() });
  return defaultResource().merge(own).merge(detected);
}

/** The packages report what they cannot do, such as an invalid variable, to a logger of the process. */
function reportFaults({ diag, DiagLogLevel }: Api, report: Opening['report']): void {
  const ignore = () => {};
  const take = (message: string) => report(messageOf(message).slice(0, MAX_CHARACTERS));
  const logger = { error: take, warn: take, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Errors come as JSON with a stack. */
function messageOf(text: string): string {
  try {
    return String(JSON.parse(text).message);
  } catch {
    return text;
  }
}

const MAX_CHARACTERS = 500;

interface Target {
  readonly url: string;
  readonly timeoutMillis: number;
  readonly compression: string;
  headers(): Promise<Readonly<Record<string, string>>>;
  agentFactory(protocol: string): Promise<http.Agent> | http.Agent;
}

/**
 * Sends spans as OTLP in JSON. The exporter of the package also does, but its retries and connections would keep the
 * process alive; the variables and the format are those of the package.
 */
function openSender(near: NodeJS.Require, url: string, report: Opening['report']) {
  const { convertLegacyHttpOptions } = createRequire(near.resolve('@opentelemetry/otlp-exporter-base'))(
    '@opentelemetry/otlp-exporter-base/node-http',
  );
  const { JsonTraceSerializer } = near('@opentelemetry/otlp-transformer');
  const type = { 'Content-Type': 'application/json' };
  const target: Target = convertLegacyHttpOptions({ url }, 'TRACES', 'v1/traces', type);
  const agent = Promise.resolve(target.agentFactory(new URL(url).protocol));
  const closing = new AbortController();
  const ended = new AbortController();
  const send = async (body: Uint8Array) => {
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(target.timeoutMillis)]);
    for (let waitMs = 1_000; ; waitMs *= 2) {
      const fault = await post(body, { target, agent: await agent, signal });
      if (fault === undefined) return;
      if (!fault.isTemporary || signal.aborted || closing.signal.aborted) throw new Error(fault.message);
      await sleep(waitMs, undefined, { ref: false, signal: AbortSignal.any([signal, closing.signal]) });
    }
  };
  const exporter: SpanExporter = {
    export: (spans, done) => {
      const body: Uint8Array | undefined = JsonTraceSerializer.serializeRequest(spans);
      send(body ?? new Uint8Array()).then(
        () => done({ code: 0 }),
        (thrown: unknown) => {
          report(`spans cannot be sent to ${shownUrl(url)}: ${toRuntimeError(thrown).message}`);
          // The processor would report a failure once more, with a stack.
          done({ code: 0 });
        },
      );
    },
    shutdown: async () => {
      ended.abort();
      (await agent).destroy();
    },
  };
  return {
    ...exporter,
    /** From now on a batch is tried once. */
    endWithin: (ms: number) => {
      closing.abort();
      setTimeout(() => ended.abort(), ms).unref();
    },
  };
}

/** Resolves to why the collector did not accept the body. */
async function post(
  body: Uint8Array,
  { target, agent, signal }: { target: Target; agent: http.Agent; signal: AbortSignal },
): Promise<{ readonly message: string; readonly isTemporary: boolean } | undefined> {
  const isPacked = target.compression === 'gzip';
  const headers = { ...(await target.headers()), ...(isPacked && { 'Content-Encoding': 'gzip' }) };
  const { request } = target.url.startsWith('https:') ? https : http;
  return await new Promise((resolve) => {
    const failed = ({ message }: Error) =>
      resolve({ message: signal.aborted ? 'it did not answer in time' : message, isTemporary: true });
    const outgoing = request(target.url, { method: 'POST', agent, headers, signal }, (incoming) => {
      const { statusCode: status = 0 } = incoming;
      let size = 0;
      incoming.on('data', ({ length }: Buffer) => {
        size += length;
        if (size > MAX_ANSWER_BYTES) incoming.destroy();
      });
      incoming.on('error', failed);
      incoming.on('close', () =>
        resolve(
          status < 300
            ? undefined
            : { message: `it answered with status ${status}`, isTemporary: temporary.has(status) },
        ),
      );
    });
    outgoing.on('error', failed);
    outgoing.end(isPacked ? gzipSync(body) : body);
  });
}

const MAX_ANSWER_BYTES = 64 * 1024;
/** Source: OTLP, "Failures". */
const temporary: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function openMetrics(near: NodeJS.Require, { report, closers }: Opening) {
  const api: Api = near('@opentelemetry/api');
  const { PrometheusExporter, PrometheusSerializer }: typeof import('@opentelemetry/exporter-prometheus') =
    near('@opentelemetry/exporter-prometheus');
  const sdk: typeof import('@opentelemetry/sdk-metrics') = near('@opentelemetry/sdk-metrics');
  reportFaults(api, report);
  const scope = { name: 'signalbox', version: versionOf() };
  const { createHistogram, producer } = openHistograms(scope);
  const reader = new PrometheusExporter({ preventServerStart: true, metricProducers: [producer] });
  const provider = new sdk.MeterProvider({ resource: resourceOf(near), readers: [reader] });
  closers.push(async () => await provider.shutdown());
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  const meter = provider.getMeter(scope.name, scope.version);
  const instruments: Instruments = {
    createHistogram,
    createCounter: (...given) => meter.createCounter(...given),
    createObservableGauge: (...given) => meter.createObservableGauge(...given),
  };
  return {
    meter: instruments,
    metrics: async (): Promise<MetricsText> => {
      const { resourceMetrics, errors } = await reader.collect();
      for (const error of errors) report(toRuntimeError(error).message);
      return {
        type: 'text/plain; version=0.0.4; charset=utf-8',
        text: serializer.serialize(resourceMetrics),
      };
    },
  };
}
