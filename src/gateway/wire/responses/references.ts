import type { WireRules } from '../codec.ts';
import { unreadableReference } from '../faults.ts';
import type { Place } from '../place.ts';

/**
 * Refuses what stands for content that the upstream keeps, unless the config lets it pass by name: hooks could not read
 * it. `store: true` is none: it keeps a copy of what hooks have read. Throws RefusedCall (400).
 */
export function requireReadable(root: Place, { references }: WireRules): void {
  for (const key of ['previous_response_id', 'conversation', 'prompt']) {
    if (isGiven(root.at(key)) && !references.has(key)) throw unreadableReference(key);
  }
  const background = root.at('background');
  if (isGiven(background) && background?.value !== false && !references.has('background'))
    throw unreadableReference('background');
  for (const [index, item] of (root.at('input')?.items ?? []).entries()) {
    if (isReference(item) && !references.has('item_reference')) throw unreadableReference(`input[${index}]`);
  }
}

/** Whether an item stands for one that the upstream keeps; it may leave its `type` out. */
export function isReference(item: Place): boolean {
  const type = item.at('type');
  if (type !== undefined && type.kind !== 'null') return type.text === 'item_reference';
  return item.kind === 'object' && item.at('role') === undefined && item.at('id') !== undefined;
}

function isGiven(place: Place | undefined): boolean {
  return place !== undefined && place.kind !== 'null';
}
