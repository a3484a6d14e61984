import type { TelemetryConfig } from '../../config/config.ts';
import { formatListen, parseListen } from '../../config/listen.ts';
import type { HostEnv } from '../../process/env.ts';

export interface TelemetrySettings {
  readonly traces: TraceSettings | undefined;
  readonly metrics: { readonly listen: string | undefined } | undefined;
  readonly content: boolean;
  /** Whether names that the conventions have not settled are exported too. */
  readonly isOptedIn: boolean;
}

export interface TraceSettings {
  readonly url: string;
  readonly sampler: (typeof samplers)[number];
  readonly ratio: number;
  /** Absent: the SDK's own default. */
  readonly batch: {
    readonly scheduledDelayMillis?: number;
    readonly exportTimeoutMillis?: number;
    readonly maxQueueSize?: number;
    readonly maxExportBatchSize?: number;
  };
}

const samplers = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

const batchVariables = {
  OTEL_BSP_SCHEDULE_DELAY: 'scheduledDelayMillis',
  OTEL_BSP_EXPORT_TIMEOUT: 'exportTimeoutMillis',
  OTEL_BSP_MAX_QUEUE_SIZE: 'maxQueueSize',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 'maxExportBatchSize',
} as const;

/**
 * The standard variables, and the config where there are none. Those of the exporter, such as
 * OTEL_EXPORTER_OTLP_HEADERS, are read by its package. `ignored` receives a sentence for each invalid value. Source:
 * OpenTelemetry, "Environment Variable Specification".
 */
export function readSettings(
  { traces, metrics, content }: TelemetryConfig,
  env: HostEnv,
  ignored: (sentence: string) => void = () => {},
): TelemetrySettings {
  const read = <Value>(name: string, wanted: string, parse: (text: string) => Value | undefined) => {
    const text = env[name]?.trim() ?? '';
    const value = text === '' ? undefined : parse(text);
    if (text !== '' && value === undefined) ignored(`${name} is ignored: it is not ${wanted}`);
    return value;
  };
  const oneOf =
    <Word extends string>(words: readonly Word[]) =>
    (text: string) =>
      words.find((word) => word === text);
  const isOn = (name: string, exporter: string, config: boolean) =>
    (read(name, `${exporter} or none`, oneOf([exporter, 'none'])) ?? (config ? exporter : 'none')) ===
    exporter;
  const isDisabled = read('OTEL_SDK_DISABLED', 'true or false', (text) =>
    oneOf(['true', 'false'])(text.toLowerCase()),
  );
  const readTraces = (given: Exclude<typeof traces, false>): TraceSettings => {
    const sampler = read('OTEL_TRACES_SAMPLER', `one of ${samplers.join(', ')}`, oneOf(samplers));
    const share = () => read('OTEL_TRACES_SAMPLER_ARG', 'a number from 0 to 1', toRatio) ?? 1;
    const batch = Object.entries(batchVariables).map(([name, member]) => [
      member,
      read(name, 'a positive whole number', toCount),
    ]);
    const own = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'a URL', toUrl);
    const base = read('OTEL_EXPORTER_OTLP_ENDPOINT', 'a URL', toUrl) ?? given.endpoint;
    for (const prefix of ['OTEL_EXPORTER_OTLP_TRACES', 'OTEL_EXPORTER_OTLP']) {
      read(`${prefix}_PROTOCOL`, 'http/json, which is always used', oneOf(['http/json']));
      read(`${prefix}_HEADERS`, 'a list of name=value', toHeaders);
    }
    return {
      url: own ?? `${(base ?? 'http://localhost:4318').replace(/\/$/, '')}/v1/traces`,
      sampler: sampler ?? 'parentbased_traceidratio',
      ratio: sampler === undefined ? (given.sample ?? 1) : sampler.endsWith('ratio') ? share() : 1,
      batch: Object.fromEntries(batch.filter(([, value]) => value !== undefined)),
    };
  };
  const readMetrics = ({ listen }: Exclude<typeof metrics, false>) => {
    const host = read('OTEL_EXPORTER_PROMETHEUS_HOST', 'a host', toHost);
    const port = read('OTEL_EXPORTER_PROMETHEUS_PORT', 'a port', (text) =>
      Number(text) <= 65_535 ? toCount(text) : undefined,
    );
    if (host === undefined && port === undefined) return { listen };
    const usual = parseListen(listen ?? '') ?? { host: 'localhost', port: 9464 };
    return { listen: formatListen({ host: host ?? usual.host, port: port ?? usual.port }) };
  };
  read('OTEL_RESOURCE_ATTRIBUTES', 'a list of key=value', (text) =>
    text.split(',').every((pair) => /^[^=]+=[^=]*$/.test(pair) && isEncoded(pair)) ? text : undefined,
  );
  const exportsTraces = isOn('OTEL_TRACES_EXPORTER', 'otlp', traces !== false);
  const exportsMetrics = isOn('OTEL_METRICS_EXPORTER', 'prometheus', metrics !== false);
  const optIns = env['OTEL_SEMCONV_STABILITY_OPT_IN']?.split(',').map((word) => word.trim()) ?? [];
  return {
    traces: exportsTraces && isDisabled !== 'true' ? readTraces(traces || {}) : undefined,
    metrics: exportsMetrics && isDisabled !== 'true' ? readMetrics(metrics || {}) : undefined,
    content,
    isOptedIn: optIns.includes('gen_ai_latest_experimental'),
  };
}

function toCount(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

/** An IPv6 address may have its brackets. */
function toHost(text: string): string | undefined {
  const host = text.replace(/^\[(.*)\]$/, '$1');
  return parseListen(formatListen({ host, port: 0 }))?.host;
}

function toRatio(text: string): number | undefined {
  const ratio = Number(text);
  return ratio >= 0 && ratio <= 1 ? ratio : undefined;
}

function toUrl(text: string): string | undefined {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : undefined;
}

/** The package that reads them leaves out any other part without a warning. */
function toHeaders(text: string): string | undefined {
  return text.split(',').every((pair) => /^\s*[^=\s]+\s*=\s*\S/.test(pair)) ? text : undefined;
}

function isEncoded(text: string): boolean {
  return !/%(?![\da-f]{2})/i.test(text);
}

/** The URL without parts that may be credentials. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
