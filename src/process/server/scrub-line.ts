import type { Scrubber } from '../../contract/scrub.ts';
import { readLine } from './json-rpc.ts';
import type { ServerLine } from './server-line.ts';

/** A reply with a known id that cannot be used. */
export type Malformed = Extract<ServerLine, { kind: 'malformed' }>;

/** The line without secrets, of which an excerpt may be cut; the same bytes if there are none in it. */
export function scrubLine(bytes: Uint8Array, scrubber: Scrubber): Uint8Array {
  const text = Buffer.from(bytes).toString();
  const shown = scrubber.text(text);
  return shown === text ? bytes : Buffer.from(shown);
}

/** What is wrong with the line, without secrets of it. */
export function scrubMalformed(line: Malformed, bytes: Uint8Array, scrubber: Scrubber): Malformed {
  const clean = scrubLine(bytes, scrubber);
  if (clean === bytes) return line;
  const again = readLine(clean);
  const { why, text } = again.kind === 'malformed' ? again : { why: scrubber.text(line.why) };
  return {
    kind: line.kind,
    id: line.id,
    why,
    ...(line.hint && { hint: line.hint }),
    ...(text !== undefined && { text }),
    ...(line.problem && { problem: line.problem }),
  };
}
