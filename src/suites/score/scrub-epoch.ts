import { type Scrubber, scrubMembers, scrubMessages } from '../../contract/scrub.ts';
import type { EpochRecord } from '../record.ts';

/**
 * The record without secrets, for reports and stores: known values are hidden in every text, and messages,
 * hints and details of faults are scrubbed of credentials, too.
 */
export function scrubEpoch(record: EpochRecord, scrubber: Scrubber): EpochRecord {
  const hidden = scrubMembers(record, (text) => scrubber.values(text));
  const { subject, results } = hidden;
  return {
    ...hidden,
    ...(subject && { subject: scrubMessages(subject, scrubber) }),
    results: results.map((result) => scrubMessages(result, scrubber)),
  };
}
