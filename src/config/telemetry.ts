import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { type Fields, read, readFields, usual, usually } from '../base/yaml/fields.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { nonEmptyTextAt, valueAt } from '../base/yaml/read.ts';
import { checkListen, listenPattern } from './listen.ts';

const traceKeys = {
  endpoint: {
    type: 'string',
    pattern: '^https?://',
    description:
      'URL of the collector, to which `/v1/traces` is added. Default: http://localhost:4318. OTEL_EXPORTER_OTLP_ENDPOINT wins.',
  },
  sample: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description:
      'Fraction of the traces that start here to export. A trace that a caller started is exported if the caller does. Default: 1. OTEL_TRACES_SAMPLER wins.',
  },
} as const;

const metricKeys = {
  listen: {
    type: 'string',
    pattern: listenPattern,
    description:
      'HOST:PORT of a listener of its own for /metrics, such as 127.0.0.1:9464. Default: only `signalbox serve` serves /metrics. OTEL_EXPORTER_PROMETHEUS_HOST and OTEL_EXPORTER_PROMETHEUS_PORT win.',
  },
} as const;

/** A signal is true, false or a mapping, which turns it on. */
function signal<const Keys extends object>(properties: Keys, description: string) {
  return {
    type: ['boolean', 'object'],
    description: `${description} Default: true.`,
    additionalProperties: false,
    properties,
    [usual]: {},
    [read]: (document: YamlDocument, path: Path): Fields<Keys> | false | undefined => {
      const value = valueAt(document, path);
      if (value === undefined || typeof value === 'boolean') return value === false ? false : undefined;
      return readFields(document, path, properties);
    },
  } as const;
}

export const telemetrySchema = {
  type: ['object', 'null'],
  description:
    'Exports spans and metrics with OpenTelemetry; docs/guides/observe-with-opentelemetry.md has the packages to install. Without this section, nothing is measured or exported.',
  additionalProperties: false,
  properties: {
    traces: signal(traceKeys, 'Export a span for each call, hook and run.'),
    metrics: signal(metricKeys, 'Serve metrics to Prometheus at /metrics.'),
    content: usually(false, {
      type: 'boolean',
      description: 'Add messages, arguments and results to spans, as the hooks left them.',
    }),
  },
} as const;

/** `false`: the signal is off. */
export type TelemetryConfig = Fields<typeof telemetrySchema.properties>;

export function checkTelemetry(document: YamlDocument): Finding[] {
  const endpoint = ['spec', 'telemetry', 'traces', 'endpoint'];
  const text = nonEmptyTextAt(document, endpoint);
  const isUrl = text === undefined || URL.canParse(text);
  const message = 'it is not a URL';
  const hint = 'Write it like http://localhost:4318.';
  return [
    ...(isUrl ? [] : [{ severity: 'error', path: endpoint, message, hint } as const]),
    ...checkListen(document, ['spec', 'telemetry', 'metrics', 'listen']),
  ];
}
