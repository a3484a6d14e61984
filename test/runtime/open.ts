import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Json, openRuntime, type Runtime, type RuntimeEvent, type RuntimeOptions } from '../../src/index.ts';
import { config, fixture, folderOf } from '../workspace.ts';

/**
 * Writes a runtime.yaml with that `spec` into a new folder. `$bin` and `$folder` stand for the fixtures and that
 * folder.
 */
export function write(spec: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = folderOf(files);
  const file = join(folder, 'runtime.yaml');
  writeFileSync(file, config(spec.replaceAll('$bin', fixture('.')).replaceAll('$folder', folder)));
  return file;
}

export interface Opened {
  readonly runtime: Runtime;
  readonly events: readonly RuntimeEvent[];
  readonly folder: string;
}

export async function open(
  spec: string,
  options: RuntimeOptions = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Opened> {
  const file = write(spec, files);
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(file, { log: false, onEvent: (event) => events.push(event), ...options });
  onTestFinished(() => runtime.close());
  return { runtime, events, folder: join(file, '..') };
}

/**
 * Events in a reproducible form, without those of operations. Processes and calls are numbered, durations and the
 * operation are left out, and metadata is text.
 */
export function story(events: readonly RuntimeEvent[]): Readonly<Record<string, unknown>>[] {
  const pids: number[] = [];
  const calls: string[] = [];
  const others = events.filter(({ type }) => !type.startsWith('operation.'));
  return others.map((event) =>
    Object.fromEntries(
      Object.entries(event).flatMap(([key, value]): [string, unknown][] => {
        if (key === 'durationMs' || key === 'queueMs' || key.startsWith('operation')) return [];
        if (key === 'pid') return [[key, numberOf(pids, value)]];
        if (key === 'call') return [[key, numberOf(calls, value)]];
        return [[key, value instanceof Json ? value.text : value]];
      }),
    ),
  );
}

function numberOf<Item>(known: Item[], item: Item): number {
  if (!known.includes(item)) known.push(item);
  return known.indexOf(item) + 1;
}

/** The events that the observer `record-event` has received. */
export function recorded(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
