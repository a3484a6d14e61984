import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { RuntimeEvent } from '../../src/index.ts';
import type { Runtime } from '../../src/runtime/api.ts';
import { suite } from '../workspace.ts';
import { open } from './open.ts';

const noting = `#!/bin/sh
request=$(cat)
printf '%s\\n' "$request" | sed 's/.*"case":"\\([^"]*\\)".*/\\1/' >> graded
printf '{"score": %s}' "$(printf '%s' "$request" | sed 's/.*"score":\\([0-9.]*\\).*/\\1/')"
`;

export const runtimeSpec =
  'concurrency: 2\nevals:\n  grade: {command: sh, args: [grade.sh], grace_ms: 100}\n';

const suiteSpec = `dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: x}
evals: [{id: grade, type: grade, params: {case: "\${case.id}", score: "\${case.score}", big: "\${case.big}"}}]
`;

const rowsOf = (scores: readonly number[]) =>
  scores
    .map((score, index) => `{"id":"c${index + 1}","score":${score},"big":1234567890123456789${index % 10}}\n`)
    .join('');

export interface Bench {
  readonly runtime: Runtime;
  readonly folder: string;
  readonly suite: string;
  graded(): string[];
  replace(file: string, from: string, to: string): void;
  /** Waits until all processes of cancelled cases have ended. */
  settle(): Promise<void>;
}

export interface BenchOptions {
  readonly spec?: string;
  readonly runtime?: string;
  readonly grade?: string;
  readonly files?: Readonly<Record<string, string>>;
}

/** Writes rows `c1`, `c2`, … with these scores, the suite and the runtime, and opens it. */
export async function openBench(
  scores: readonly number[],
  { spec = suiteSpec, runtime = runtimeSpec, grade = noting, files: more = {} }: BenchOptions = {},
): Promise<Bench> {
  const files = {
    ...more,
    'grade.sh': grade,
    'rows.jsonl': rowsOf(scores),
    'demo.suite.yaml': suite(spec),
    graded: '',
  };
  const opened = await open(runtime, {}, files);
  const { folder, events } = opened;
  const count = (type: RuntimeEvent['type']) => events.filter((event) => event.type === type).length;
  return {
    ...{ runtime: opened.runtime, folder, suite: join(folder, 'demo.suite.yaml') },
    settle: async () => {
      let started = -1;
      const isCalm = () => {
        // A start in progress at the cancellation is reported later.
        const [before, ended] = [started, count('process.ended')];
        started = count('process.started');
        expect([started, ended]).toEqual([before, before]);
      };
      await vi.waitFor(isCalm, { timeout: 20_000, interval: 300 });
    },
    graded: () => readFileSync(join(folder, 'graded'), 'utf8').split('\n').filter(Boolean),
    replace: (file, from, to) => {
      const path = join(folder, file);
      writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
    },
  };
}
