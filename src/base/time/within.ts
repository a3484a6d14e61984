import { whenAborted } from './when-aborted.ts';

/** Resolves with the work, or after so many ms. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** Resolves when the signal is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => void whenAborted(signal, resolve));
}
