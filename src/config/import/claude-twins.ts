import { stringifyJson } from '../../json/json.ts';
import type { ClaudeDraft } from './draft.ts';

/** What two handlers share that are the same one; a plugin’s copy is never another’s twin. */
export function twinKeyOf(draft: ClaudeDraft): string | undefined {
  if (draft.isPlugin) return undefined;
  const { event, matcher, condition, isAsync, timeoutMs, run, place } = draft;
  return stringifyJson([
    event,
    matcher ?? '',
    condition ?? '',
    isAsync,
    timeoutMs ?? 0,
    run,
    place.projectDir,
  ]);
}
