import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Runtime, RuntimeOptions } from '../../../src/index.ts';
import { open } from '../open.ts';

export interface Exported {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly events?: readonly { readonly name: string; readonly attributes: readonly Attribute[] }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Opens a runtime that exports to a receiver in its own process, and returns what came after the work. */
export async function exportsOf(
  { spec, telemetry = '{metrics: false}', files = {}, ...options }: Traced,
  act: (runtime: Runtime, folder: string) => Promise<unknown>,
): Promise<{ readonly spans: readonly Exported[]; readonly bytes: string; readonly folder: string }> {
  const receiver = spawn(process.execPath, [join(import.meta.dirname, 'receiver.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [port]: unknown[] = await once(receiver.stdout, 'data');
    const endpoint = `http://127.0.0.1:${String(port).trim()}`;
    const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...options.env };
    const traced = `telemetry: ${telemetry}\n${spec}`;
    const { runtime, folder } = await open(traced, { ownsTelemetry: true, ...options, env }, files);
    await act(runtime, folder);
    await runtime.close();
    const bytes = await (await fetch(endpoint)).text();
    const bodies = bytes.split('\n').filter((line) => line !== '');
    return { spans: bodies.flatMap((body) => spansIn(JSON.parse(body))), bytes, folder };
  } finally {
    receiver.kill();
  }
}

export interface Traced extends RuntimeOptions {
  readonly spec: string;
  readonly telemetry?: string;
  readonly files?: Readonly<Record<string, string>>;
}

interface Body {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Exported[] }[];
  }[];
}

function spansIn({ resourceSpans }: Body): readonly Exported[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** The attributes by name. */
export function valuesOf({ attributes }: Pick<Exported, 'attributes'>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Attribute['value']): unknown {
  const [only] = Object.values(value);
  if (typeof only !== 'object' || only === null || !('values' in only)) return only;
  return Array.isArray(only.values) ? only.values.map(plain) : only;
}

/** One line for each span, with two spaces for each level, in the order of the starts. */
export function treeOf(
  spans: readonly Exported[],
  describe = ({ name }: Exported) => name,
): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const sorted = spans.toSorted((a, b) =>
    BigInt(a.startTimeUnixNano) < BigInt(b.startTimeUnixNano) ? -1 : 1,
  );
  const under = (parent: string | undefined, depth: number): string[] =>
    sorted
      .filter(({ parentSpanId: id }) => (id !== undefined && ids.has(id) ? id : undefined) === parent)
      .flatMap((span) => ['  '.repeat(depth) + describe(span), ...under(span.spanId, depth + 1)]);
  return under(undefined, 0);
}
