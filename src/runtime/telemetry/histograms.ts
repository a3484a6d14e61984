import type { Attributes } from '@opentelemetry/api';
import type { DataPoint, HistogramMetricData, MetricProducer } from '@opentelemetry/sdk-metrics';
import type { Instruments } from './labels.ts';
import { toHrTime } from './spans.ts';

/**
 * Histograms for the scrapes of this process. Those of the SDK turn the attributes of each value into JSON to find
 * their series, which takes up to a microsecond. Histograms of one name are the same, so that they survive a reload.
 */
export function openHistograms(scope: { readonly name: string; readonly version: string }): {
  readonly createHistogram: Instruments['createHistogram'];
  readonly producer: MetricProducer;
} {
  const startTime = toHrTime(Date.now());
  const known = new Map<string, Series>();
  return {
    createHistogram: (name, options) => {
      const series = known.get(name) ?? new Series(name, options);
      known.set(name, series);
      return series;
    },
    producer: {
      collect: async () => {
        const times = { startTime, endTime: toHrTime(Date.now()) };
        const metrics = [...known.values()].flatMap((series) => series.collect(times));
        // The exporter takes the resource of the SDK.
        const resource = { attributes: {}, merge: () => resource, getRawAttributes: () => [] };
        return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] };
      },
    },
  };
}

interface Counts {
  readonly attributes: Attributes;
  readonly counts: number[];
  sum: number;
  count: number;
}

type Times = Pick<DataPoint<unknown>, 'startTime' | 'endTime'>;

class Series {
  readonly #descriptor: HistogramMetricData['descriptor'];
  readonly #boundaries: number[];
  readonly #all = new Map<string, Counts>();

  constructor(
    name: string,
    { description = '', unit = '', advice }: Parameters<Instruments['createHistogram']>[1],
  ) {
    // Prometheus has the unit in the name. https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/
    const suffix = unit === 's' && !name.endsWith('_seconds') ? '_seconds' : '';
    this.#descriptor = { name: name + suffix, description, unit, valueType: 1 };
    this.#boundaries = advice?.explicitBucketBoundaries ?? [];
  }

  record(value: number, attributes: Attributes = {}): void {
    this.bind(attributes)(value);
  }

  bind(attributes: Attributes): (value: number) => void {
    const boundaries = this.#boundaries;
    let found: Counts | undefined;
    return (value) => {
      found ??= this.#find(attributes);
      let bucket = 0;
      while (bucket < boundaries.length && value > (boundaries[bucket] ?? 0)) bucket++;
      found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
      found.sum += value;
      found.count += 1;
    };
  }

  /** None before the first value, as the SDK does. */
  collect(times: Times): HistogramMetricData[] {
    if (this.#all.size === 0) return [];
    const dataPoints = [...this.#all.values()].map(({ attributes, counts, sum, count }) => {
      const buckets = { boundaries: this.#boundaries, counts: [...counts] };
      return { attributes, ...times, value: { buckets, sum, count } };
    });
    // 1: cumulative; 0: a histogram.
    return [{ descriptor: this.#descriptor, aggregationTemporality: 1, dataPointType: 0, dataPoints }];
  }

  #find(given: Attributes): Counts {
    const isFull = this.#all.size >= MAX_SERIES && !this.#all.has(JSON.stringify(given));
    const attributes = isFull ? { 'otel.metric.overflow': true } : given;
    const key = JSON.stringify(attributes);
    const counts = [...this.#boundaries, 0].fill(0);
    const found = this.#all.get(key) ?? { attributes, counts, sum: 0, count: 0 };
    this.#all.set(key, found);
    return found;
  }
}

/** As in the SDK. https://opentelemetry.io/docs/specs/otel/metrics/sdk/#cardinality-limits */
const MAX_SERIES = 1_999;
