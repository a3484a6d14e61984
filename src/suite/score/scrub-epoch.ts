import { type Scrubber, scrubMembers, scrubSaid } from '../../contract/scrub.ts';
import type { EpochRecord } from '../run/record.ts';

/**
 * The record as reports and stores may have it: known secrets are hidden everywhere, also in what was judged, and what is
 * said about it is scrubbed as every text about something is.
 */
export function scrubEpoch(record: EpochRecord, scrubber: Scrubber): EpochRecord {
  const hidden = scrubMembers(record, (text) => scrubber.values(text));
  const { subject, results } = hidden;
  return {
    ...hidden,
    ...(subject && { subject: scrubSaid(subject, scrubber) }),
    results: results.map((result) => scrubSaid(result, scrubber)),
  };
}
