import { type CutLimits, cutValue } from '../../../json/cut-value.ts';
import type { CaseRecord } from '../../run/record.ts';
import { embedJson } from './embed.ts';

/** The details of a case as the page has them, as JSON; empty when they are nested too deeply to be written, or cannot be cut enough. */
export function detailOf(record: CaseRecord): string {
  try {
    return boundedDetail(record);
  } catch (thrown) {
    if (thrown instanceof RangeError) return '';
    throw thrown;
  }
}

/** Long texts and lists are cut, the more of them the larger the case is. */
function boundedDetail(record: CaseRecord): string {
  for (const limits of CUTS) {
    const { value, cuts } = cutValue(record, limits);
    const json = embedJson(cuts.length === 0 ? value : { ...value, page_cuts: cuts.slice(0, 100) });
    if (json.length <= LARGEST_DETAIL) return json;
  }
  return '';
}

/** Characters of the details of one case. */
const LARGEST_DETAIL = 8 * 1024 * 1024;

/** How a case is cut: each limit is tried where the one before leaves too much. */
const CUTS: readonly CutLimits[] = [
  { characters: 6_000_000, items: 50_000 },
  { characters: 1_000_000, items: 10_000 },
  { characters: 100_000, items: 1_000 },
  { characters: 10_000, items: 100 },
  { characters: 1_000, items: 20 },
];
