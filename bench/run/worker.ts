import type { Contender, Told, Way } from './line.ts';
import { cpuSeconds, forgetPeak, peakMb } from './process-usage.ts';

// A process for one contender: opens it, runs it on request, and reports the cost of each run.

/** The cost of one run. */
export type Took = Required<Omit<Told, 'value'>> & Pick<Told, 'value'>;
export type Answer = { readonly took: Took } | { readonly failed: string } | { readonly ready: true };

const answer = (message: Answer) => process.send?.(message);
const tellFailure = (error: unknown) => answer({ failed: textOf(error) });

// The way is sent as a message because it can exceed the maximum length of an argument.
process.once('message', (way: Way) => {
  serve(way).catch(tellFailure);
});

async function serve(way: Way): Promise<void> {
  const ballast = Buffer.alloc((way.residentMb ?? 0) * 1_048_576, 1);
  const { open }: { open(options: unknown): Promise<Contender> } = await import(way.module);
  const contender = await open(way.options);
  process.on('message', (count: number | 'close') => {
    (count === 'close' ? close(contender, ballast) : measure(contender, count)).catch(tellFailure);
  });
  answer({ ready: true });
}

async function measure(contender: Contender, count: number): Promise<void> {
  globalThis.gc?.();
  forgetPeak();
  const before = cpuSeconds();
  const startedAt = performance.now();
  const told = await contender.run(count);
  const seconds = (performance.now() - startedAt) / 1000;
  const after = cpuSeconds();
  const seen = {
    seconds,
    cpuSeconds: after.own - before.own,
    childCpuSeconds: after.children - before.children,
    peakMb: peakMb(),
  };
  answer({ took: { ...seen, ...told } });
}

async function close(contender: Contender, ballast: Buffer): Promise<void> {
  await contender.close?.();
  // Read the ballast at the end, so that V8 does not collect it earlier.
  if (ballast.length < 0) throw new Error('there is no ballast');
  process.disconnect();
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
