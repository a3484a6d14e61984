import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Detector } from './detector.ts';
import type { Finding } from './finding.ts';

/** A shorter text is looked through again sooner than its digest is made. */
const SHORTEST = 256;
const MOST = 5_000;

/**
 * A detector that looks through a text once: each request of a conversation has all of the one before. What it remembers
 * are digests and places, no text.
 */
export function rememberFindings(detect: Detector): Detector {
  const known = new LRUCache<string, readonly Finding[]>({ max: MOST });
  return (text) => {
    if (text.length < SHORTEST) return detect(text);
    const digest = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('base64');
    let findings = known.get(digest);
    if (findings === undefined) {
      findings = detect(text);
      known.set(digest, findings);
    }
    return findings;
  };
}
