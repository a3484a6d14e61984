import type { Scrubber } from '../../contract/scrub.ts';

const scrubbers = new Set<Scrubber>();

export function addScrubber(scrubber: Scrubber): () => void {
  scrubbers.add(scrubber);
  return () => void scrubbers.delete(scrubber);
}

/** Redacts the secrets of all open runtimes in this thread; for texts outside any runtime, such as a crash. */
export function scrubWithAll(text: string): string {
  return [...scrubbers].reduce((scrubbed, scrubber) => scrubber.text(scrubbed), text);
}
