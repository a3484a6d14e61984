import { isObject } from '../../json/json.ts';

/** How sure a hook says in its metadata that the event should be flagged: `confidence`, else `score`; null where neither is 0..1. */
export function readConfidence(metadata: unknown): number | null {
  if (!isObject(metadata)) return null;
  const { confidence, score } = metadata;
  for (const said of [confidence, score]) {
    if (typeof said === 'number' && said >= 0 && said <= 1) return said;
  }
  return null;
}
