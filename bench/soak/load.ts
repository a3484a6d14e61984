import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '../../src/index.ts';

/** Concurrent calls of one tool until they are stopped. */
export interface Load {
  readonly tool: string;
  readonly atOnce: number;
  /** Target calls per second. A load that is ahead waits while another is behind. */
  readonly goal: number;
  /** Error codes that the soak test provokes. */
  readonly expected: readonly string[];
}

/** Totals of all loads so far. */
export interface Counts {
  readonly calls: Record<string, number>;
  readonly errors: Record<string, number>;
  /** Errors that the soak test does not provoke. */
  readonly unexpected: string[];
}

/** Makes calls until `signal` is aborted. Resolves when the last call has ended. */
export async function runLoads(
  runtime: Runtime,
  loads: readonly Load[],
  counts: Counts,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  const progressOf = ({ tool, goal }: Load) =>
    (counts.calls[tool] ?? 0) / goal - (performance.now() - startedAt) / 1000;
  const isAhead = (load: Load) =>
    progressOf(load) > 0.5 && loads.some((other) => other !== load && progressOf(other) < 0);
  const pause = openPause();
  await Promise.all(
    loads.flatMap((load) =>
      Array.from({ length: load.atOnce }, async () => {
        while (!signal.aborted) {
          if (isAhead(load)) await pause();
          else await callOnce(runtime, load, counts);
        }
      }),
    ),
  );
}

/** One timer for all waiting loads, so that the soak test's own timers do not count as handles. */
function openPause(): () => Promise<void> {
  let under: Promise<void> | undefined;
  return () => {
    under ??= sleep(5).then(() => {
      under = undefined;
    });
    return under;
  };
}

async function callOnce(runtime: Runtime, load: Load, { calls, errors, unexpected }: Counts): Promise<void> {
  const document = await runtime.tools.call(load.tool, { city: 'Oslo' });
  calls[load.tool] = (calls[load.tool] ?? 0) + 1;
  if (document.status === 'ok' && document.result !== null) return;
  const code = document.status === 'failed' ? document.error.code : document.status;
  errors[code] = (errors[code] ?? 0) + 1;
  const isExpected = document.status === 'failed' && load.expected.includes(code);
  if (!isExpected && unexpected.length < 20) unexpected.push(`${load.tool}: ${JSON.stringify(document)}`);
}
