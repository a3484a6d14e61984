import { stringifyJson } from '../../json/json.ts';
import type { ClaudeDraft } from './draft.ts';

/** A key that equal handlers share; undefined for those of plugins, which are never merged. */
export function duplicateKeyOf(draft: ClaudeDraft): string | undefined {
  if (draft.isPlugin) return undefined;
  const { event, matcher, condition, isAsync, timeoutMs, run, folders } = draft;
  return stringifyJson([
    event,
    matcher ?? '',
    condition ?? '',
    isAsync,
    timeoutMs ?? 0,
    run,
    folders.projectDir,
  ]);
}
