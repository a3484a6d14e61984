import type { Attributes, Histogram, Meter, MetricOptions, ObservableGauge } from '@opentelemetry/api';

/** What metrics need of a Meter. */
export interface Instruments extends Pick<Meter, 'createCounter' | 'createObservableGauge'> {
  createHistogram(name: string, options: MetricOptions): HistogramLike;
}

/** `bind` returns what records values with these attributes, so that each value need not look for them. */
interface HistogramLike extends Pick<Histogram, 'record'> {
  bind?(attributes: Attributes): (value: number) => void;
}

/** The values that a label may have. Anything else is recorded as `other`. */
interface LabelValues {
  has(value: string): boolean;
}

interface About<Label extends string> {
  readonly name: string;
  readonly description: string;
  readonly unit?: string;
  /** The bounds of the buckets of a histogram. */
  readonly buckets?: readonly number[];
  readonly labels: Readonly<Record<Label, LabelValues>>;
  /** Labels of every series. */
  readonly always?: Attributes;
}

/** A label without a value is left out. */
type Labels<Label extends string> = { readonly [name in Label]?: string | undefined };
type RecordValue<Label extends string> = (value: number, labels: Labels<Label>) => void;

/**
 * The only way to record. An instrument has at most as many series as the product of the sizes of its label sets, each
 * plus one; attributes are created once for each series, and never for a value that is not in its set. `text` removes
 * secrets.
 */
export function boundedInstruments(meter: Instruments, text: (value: string) => string) {
  return {
    histogram: <Label extends string>(about: About<Label>): RecordValue<Label> => {
      const { name, description, unit = 's', buckets = [], always } = about;
      const advice = { explicitBucketBoundaries: [...buckets] };
      const histogram = meter.createHistogram(name, { description, unit, advice });
      const bind = (attributes: Attributes) =>
        histogram.bind?.(attributes) ?? ((value: number) => histogram.record(value, attributes));
      const find = seriesOf({ sets: about.labels, text, always }, bind);
      return (value, labels) => find(labels)(value);
    },
    counter: <Label extends string>(about: About<Label>): ((labels: Labels<Label>) => void) => {
      const counter = meter.createCounter(about.name, { description: about.description });
      const find = seriesOf({ sets: about.labels, text }, (attributes) => attributes);
      return (labels) => counter.add(1, find(labels));
    },
    gauge: <Label extends string>(
      { name, description, unit = '', labels }: About<Label>,
      read: (observe: RecordValue<Label>) => Promise<void>,
    ): { close(): void } => {
      const gauge: ObservableGauge = meter.createObservableGauge(name, { description, unit });
      const find = seriesOf({ sets: labels, text }, (attributes) => attributes);
      const observe = async (result: { observe(value: number, attributes: Attributes): void }) =>
        await read((value, given) => result.observe(value, find(given)));
      gauge.addCallback(observe);
      return { close: () => gauge.removeCallback(observe) };
    },
  };
}

/** Names of files, which no config lists: the first so many are values. */
export function firstNames(limit: number): LabelValues {
  const seen = new Set<string>();
  return { has: (name) => seen.has(name) || (seen.size < limit && seen.add(name).size > 0) };
}

interface Series<Kept> {
  readonly next: Map<string | undefined, Series<Kept>>;
  readonly attributes: Attributes;
  readonly kept: Kept;
}

interface SeriesOptions<Label extends string> {
  readonly sets: Readonly<Record<Label, LabelValues>>;
  readonly text: (value: string) => string;
  readonly always?: Attributes | undefined;
}

function seriesOf<Label extends string, Kept>(
  { sets, text, always = {} }: SeriesOptions<Label>,
  keep: (attributes: Attributes) => Kept,
): (labels: Labels<Label>) => Kept {
  const names = Object.keys(sets).filter((name): name is Label => Object.hasOwn(sets, name));
  const create = (attributes: Attributes): Series<Kept> => ({
    next: new Map(),
    attributes,
    kept: keep(attributes),
  });
  const grow = ({ next, attributes }: Series<Kept>, name: Label, given: string | undefined): Series<Kept> => {
    const value = given === undefined || sets[name].has(given) ? given : OTHER;
    const known = next.get(value);
    if (known !== undefined) return known;
    const series = create(value === undefined ? attributes : { ...attributes, [name]: shown(text(value)) });
    next.set(value, series);
    return series;
  };
  const first = create(always);
  return (labels) => {
    let series = first;
    for (const name of names) series = series.next.get(labels[name]) ?? grow(series, name, labels[name]);
    return series.kept;
  };
}

const OTHER = 'other';

/** A scrape is lines of UTF-8. */
function shown(value: string): string {
  return value
    .slice(0, MAX_CHARS)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed();
}

const MAX_CHARS = 128;
