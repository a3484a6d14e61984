import { expect, test } from 'vitest';
import type { TelemetryConfig } from '../../../src/config/config.ts';
import { readSettings, shownUrl, type TelemetrySettings } from '../../../src/runtime/telemetry/variables.ts';

const config: TelemetryConfig = {
  traces: { endpoint: 'http://collector:4318/', sample: 0.1 },
  metrics: { listen: '127.0.0.1:9464' },
  content: false,
};

const fromConfig: TelemetrySettings = {
  traces: {
    url: 'http://collector:4318/v1/traces',
    sampler: 'parentbased_traceidratio',
    ratio: 0.1,
    batch: {},
  },
  metrics: { listen: '127.0.0.1:9464' },
  content: false,
  isOptedIn: false,
};

type Change = Partial<Omit<TelemetrySettings, 'traces'>> & { readonly traces?: object | undefined };

const valid: readonly { env: Readonly<Record<string, string>>; change: Change }[] = [
  { env: { OTEL_SDK_DISABLED: 'TRUE' }, change: { traces: undefined, metrics: undefined } },
  { env: { OTEL_SDK_DISABLED: 'false' }, change: {} },
  { env: { OTEL_TRACES_EXPORTER: 'none' }, change: { traces: undefined } },
  { env: { OTEL_TRACES_EXPORTER: 'otlp', OTEL_METRICS_EXPORTER: 'none' }, change: { metrics: undefined } },
  { env: { OTEL_METRICS_EXPORTER: 'prometheus' }, change: {} },
  {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://eu:1' },
    change: { traces: { url: 'https://eu:1/v1/traces' } },
  },
  {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:1/x/' },
    change: { traces: { url: 'http://a:1/x/v1/traces' } },
  },
  {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:1', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b:2/t' },
    change: { traces: { url: 'http://b:2/t' } },
  },
  { env: { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, change: {} },
  { env: { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic a==, b = c%20d' }, change: {} },
  { env: { OTEL_TRACES_SAMPLER: 'always_off' }, change: { traces: { sampler: 'always_off', ratio: 1 } } },
  {
    env: { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
    change: { traces: { sampler: 'traceidratio', ratio: 0.25 } },
  },
  { env: { OTEL_TRACES_SAMPLER: 'traceidratio' }, change: { traces: { sampler: 'traceidratio', ratio: 1 } } },
  {
    env: {
      ...{ OTEL_BSP_SCHEDULE_DELAY: '10', OTEL_BSP_EXPORT_TIMEOUT: '20' },
      ...{ OTEL_BSP_MAX_QUEUE_SIZE: '30', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '40' },
    },
    change: {
      traces: {
        batch: {
          scheduledDelayMillis: 10,
          exportTimeoutMillis: 20,
          maxQueueSize: 30,
          maxExportBatchSize: 40,
        },
      },
    },
  },
  { env: { OTEL_EXPORTER_PROMETHEUS_PORT: '9999' }, change: { metrics: { listen: '127.0.0.1:9999' } } },
  { env: { OTEL_EXPORTER_PROMETHEUS_HOST: '::1' }, change: { metrics: { listen: '[::1]:9464' } } },
  { env: { OTEL_EXPORTER_PROMETHEUS_HOST: '[::1]' }, change: { metrics: { listen: '[::1]:9464' } } },
  { env: { OTEL_SEMCONV_STABILITY_OPT_IN: 'http, gen_ai_latest_experimental' }, change: { isOptedIn: true } },
];

test.each(valid)('$env wins over the config', ({ env, change: { traces, ...change } }) => {
  const ignored: string[] = [];
  const settings = readSettings(config, env, (sentence) => ignored.push(sentence));
  const isOff = 'traces' in (valid.find((each) => each.env === env)?.change ?? {}) && traces === undefined;
  expect(settings).toEqual({
    ...{ ...fromConfig, ...change },
    traces: isOff ? undefined : { ...fromConfig.traces, ...traces },
  });
  expect(ignored).toEqual([]);
});

test.each([
  ['OTEL_SDK_DISABLED', 'yes'],
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_METRICS_EXPORTER', 'otlp'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'ftp://host/'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=b,c'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=%zz'],
  ['OTEL_BSP_SCHEDULE_DELAY', '-1'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
  ['OTEL_EXPORTER_PROMETHEUS_PORT', '70000'],
  ['OTEL_EXPORTER_PROMETHEUS_HOST', 'two words'],
  ['OTEL_EXPORTER_PROMETHEUS_HOST', 'one:2'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization: secret'],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=b,c'],
])('%s=%s is reported, and the config is used', (name, value) => {
  const ignored: string[] = [];
  const settings = readSettings(config, { [name]: value }, (sentence) => ignored.push(sentence));
  expect(settings).toEqual(fromConfig);
  expect(ignored).toEqual([expect.stringMatching(new RegExp(`^${name} is ignored: it is not `))]);
});

test('an invalid argument of a sampler counts as 1', () => {
  const ignored: string[] = [];
  const env = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' };
  const { traces } = readSettings(config, env, (sentence) => ignored.push(sentence));
  expect(traces).toMatchObject({ sampler: 'traceidratio', ratio: 1 });
  expect(ignored).toEqual(['OTEL_TRACES_SAMPLER_ARG is ignored: it is not a number from 0 to 1']);
});

test('signals that the config turns off can be turned on', () => {
  const off: TelemetryConfig = { traces: false, metrics: false, content: true };
  const none = { traces: undefined, metrics: undefined, content: true, isOptedIn: false };
  expect(readSettings(off, {})).toEqual(none);
  expect(readSettings(off, { OTEL_METRICS_EXPORTER: 'prometheus' })).toEqual({
    ...none,
    metrics: { listen: undefined },
  });
});

test('a URL is shown without parts that may be credentials', () => {
  expect(shownUrl('https://user:password@collector:4318/v1/traces?key=secret#secret')).toBe(
    'https://collector:4318/v1/traces',
  );
});
