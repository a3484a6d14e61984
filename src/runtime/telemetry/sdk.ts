import http from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Tracer } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { once } from '../../base/time/async.ts';
import { versionOf } from '../../base/version.ts';
import { type HostEnv, withVariables } from '../../process/env.ts';
import type { Runtime } from '../api.ts';
import { openHistograms } from './histograms.ts';
import type { Instruments } from './labels.ts';
import { type Api, findExporter, installCommand, registeredApi, type Signal } from './packages.ts';
import { shownUrl, type TelemetrySettings, type TraceSettings } from './variables.ts';

type Report = (sentence: string) => void;

interface Sdk {
  /** Absent, as `meter`, if the signal is not asked for or its packages cannot be used. */
  readonly traced?: { readonly api: Api; readonly tracer: Tracer };
  readonly meter?: Instruments;
  readonly metrics?: Runtime['telemetry']['metrics'];
  /** Why a signal is not exported. */
  readonly fault?: RuntimeError;
  /** Sends what is left if no other runtime uses it. Takes at most three seconds, and never rejects. */
  close(): Promise<void>;
}

interface SdkOptions {
  readonly settings: TelemetrySettings;
  readonly signals: readonly Signal[];
  /** Of the config. */
  readonly folder: string;
  readonly env: HostEnv;
  /** Receives why spans are lost. */
  readonly report: Report;
  /** How long the last spans may take. Default: three seconds. */
  readonly flushMs?: number | undefined;
}

/** The SDK of the command line. Never throws: telemetry does not stop a call. */
export function acquireSdk({ signals, folder, ...rest }: SdkOptions): Sdk {
  const closers: (() => Promise<void>)[] = [];
  const faults: Error[] = [];
  const load = <Part extends Closable>(signal: Signal, acquire: Acquire<Part>): Part | undefined => {
    if (!signals.includes(signal)) return undefined;
    try {
      const part = acquire({ file: findExporter(signal, folder).file, ...rest });
      closers.push(part.close);
      return part;
    } catch (thrown) {
      faults.push(toRuntimeError(thrown));
      return undefined;
    }
  };
  const parts = { ...load('traces', acquireTraces), ...load('metrics', acquireMetrics) };
  const message = `${faults.map(({ message }) => message).join(', and ')}. Run: ${installCommand(signals)}`;
  return {
    ...parts,
    ...(faults[0] && { fault: new RuntimeError('USAGE', message, { cause: faults[0] }) }),
    close: async () => void (await Promise.allSettled(closers.map((close) => close()))),
  };
}

interface Closable {
  close(flushMs?: number): Promise<void>;
}

type Acquire<Part> = (
  from: Pick<SdkOptions, 'settings' | 'env' | 'report' | 'flushMs'> & { readonly file: string },
) => Part;

const acquireTraces = shared('traces', openTraces);
const acquireMetrics = shared('metrics', openMetrics);

/** Runtimes with the same settings and variables share a part, so that counters survive a reload. */
function shared<Name extends Signal, Part extends Closable>(
  signal: Name,
  open: (near: NodeJS.Require, report: Report, settings: NonNullable<TelemetrySettings[Name]>) => Part,
): Acquire<Part> {
  const known = new Map<string, { readonly part: Part; readonly reports: Set<Report> }>();
  return ({ file, settings: { [signal]: settings }, env, report, flushMs }) => {
    if (settings === undefined) throw new RuntimeError('INTERNAL', `${signal} are off`);
    const variables = Object.entries(env).filter(([name]) => name.startsWith('OTEL_'));
    const key = JSON.stringify({ file, settings, variables });
    const reports = known.get(key)?.reports ?? new Set();
    const newest: Report = (sentence) => [...reports].at(-1)?.(sentence);
    reports.add(report);
    const start = () => open(createRequire(file), newest, settings);
    const part = known.get(key)?.part ?? withVariables('OTEL_', env, start);
    known.set(key, { part, reports });
    const close = once(async () => {
      if (reports.size === 1) {
        known.delete(key);
        await part.close(flushMs);
      }
      reports.delete(report);
    });
    return { ...part, close: close.open };
  };
}

function openTraces(near: NodeJS.Require, report: Report, traces: TraceSettings) {
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
  return {
    traced: { api, tracer: provider.getTracer('signalbox', versionOf()) },
    close: async (flushMs = FLUSH_MS) => {
      sender.endWithin(flushMs);
      await provider.shutdown();
    },
  };
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
function reportFaults({ diag, DiagLogLevel }: Api, report: Report): void {
  const ignore = () => {};
  const take = (message: string) => report(messageOf(message).slice(0, MAX_CHARACTERS));
  if (registeredApi()?.diag && !hasLogger) return;
  hasLogger = true;
  const logger = { error: take, warn: take, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** A logger of the host stays. */
let hasLogger = false;

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
function openSender(near: NodeJS.Require, url: string, report: Report) {
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
      // At the end, tries once more at once.
      const until = AbortSignal.any([signal, closing.signal]);
      await sleep(waitMs, undefined, { ref: false, signal: until }).catch(() => {});
    }
  };
  const sending = new Set<Promise<void>>();
  const exporter: SpanExporter = {
    export: (spans, done) => {
      const sendParts = async () => {
        for (const part of partsOf(spans)) await send(JsonTraceSerializer.serializeRequest(part));
      };
      const sent = sendParts()
        .catch((thrown: unknown) =>
          report(`spans cannot be sent to ${shownUrl(url)}: ${toRuntimeError(thrown).message}`),
        )
        .finally(() => {
          sending.delete(sent);
          // The processor would report a failure once more, with a stack.
          done({ code: 0 });
        });
      sending.add(sent);
    },
    shutdown: async () => {
      await Promise.all(sending);
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

/** Collectors limit the size of a request, which spans with content would exceed. */
function* partsOf(spans: readonly ReadableSpan[]): Generator<readonly ReadableSpan[]> {
  let [from, characters] = [0, 0];
  for (const [index, { attributes }] of spans.entries()) {
    const texts = Object.values(attributes).filter((value) => typeof value === 'string');
    const size = texts.reduce((sum, { length }) => sum + length, 0);
    if (index > from && characters + size > MAX_PART_CHARACTERS) {
      yield spans.slice(from, index);
      [from, characters] = [index, 0];
    }
    characters += size;
  }
  yield spans.slice(from);
}

const MAX_PART_CHARACTERS = 1024 * 1024;

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

function openMetrics(near: NodeJS.Require, report: Report) {
  const api: Api = near('@opentelemetry/api');
  const { PrometheusExporter, PrometheusSerializer }: typeof import('@opentelemetry/exporter-prometheus') =
    near('@opentelemetry/exporter-prometheus');
  const sdk: typeof import('@opentelemetry/sdk-metrics') = near('@opentelemetry/sdk-metrics');
  reportFaults(api, report);
  const scope = { name: 'signalbox', version: versionOf() };
  const { createHistogram, producer } = openHistograms(scope);
  const reader = new PrometheusExporter({ preventServerStart: true, metricProducers: [producer] });
  const provider = new sdk.MeterProvider({ resource: resourceOf(near), readers: [reader] });
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  const meter = provider.getMeter(scope.name, scope.version);
  const instruments: Instruments = {
    createHistogram,
    createCounter: (...given) => meter.createCounter(...given),
    createObservableGauge: (...given) => meter.createObservableGauge(...given),
  };
  return {
    meter: instruments,
    close: async () => await provider.shutdown(),
    metrics: async () => {
      const { resourceMetrics, errors } = await reader.collect();
      for (const error of errors) report(toRuntimeError(error).message);
      return {
        type: 'text/plain; version=0.0.4; charset=utf-8',
        text: serializer.serialize(resourceMetrics),
      };
    },
  };
}
