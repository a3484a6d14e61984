import type { WireRules } from '../../codec.ts';
import { unreadableReference } from '../../faults.ts';
import type { Place } from '../../place.ts';
import { RefusedCall } from '../../refusal.ts';

/**
 * Refuses a body that refers to what the upstream keeps, or that would have another model answer than the one it
 * names, unless the config lists the member. Throws RefusedCall (400).
 */
export function requireNoReferences(root: Place, { references }: WireRules): void {
  for (const key of ['container', 'thread', 'previous_message_id']) {
    if (isThere(root.at(key)) && !references.has(key)) throw unreadableReference(key);
  }
  if (references.has('fallbacks')) return;
  if (isThere(root.at('fallbacks'))) throw otherModel('fallbacks');
  for (const [index, tool] of (root.at('tools')?.items ?? []).entries()) {
    if (isThere(tool.at('model'))) throw otherModel(`tools[${index}].model`);
  }
}

function isThere(place: Place | undefined): boolean {
  return place !== undefined && place.kind !== 'null';
}

function otherModel(param: string): RefusedCall {
  const message = `${param} lets other models answer than \`model\`, which limits and prices go by; spec.gateway.references of the config may let it pass as "fallbacks"`;
  return new RefusedCall({ status: 400, code: 'unreadable_reference', message, param, isRetryable: false });
}
