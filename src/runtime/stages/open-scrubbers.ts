import type { Scrubber } from '../../contract/scrub.ts';

const scrubbers = new Set<Scrubber>();

/** Makes the secrets of a runtime known to `scrubWithAll`, until the returned function is called. */
export function addScrubber(scrubber: Scrubber): () => void {
  scrubbers.add(scrubber);
  return () => void scrubbers.delete(scrubber);
}

/** The text without the secrets of any runtime that is open in this thread: for what no runtime takes part in, such as a crash. */
export function scrubWithAll(text: string): string {
  return [...scrubbers].reduce((scrubbed, scrubber) => scrubber.text(scrubbed), text);
}
