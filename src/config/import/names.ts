import type { HookDraft } from '../../dialects/foreign-files.ts';

/** A name that no hook has yet, which is then taken: the hook’s own, or `<event>-<n>` counted from 1. */
export function nameHook(draft: HookDraft, taken: Set<string>): string {
  const name = draft.name ?? firstFreeName(draft.event ?? draft.dialect, taken);
  taken.add(name);
  return name;
}

/** The first `<stem>-<n>` that is not taken. */
export function firstFreeName(stem: string, taken: ReadonlySet<string>): string {
  let count = 1;
  while (taken.has(`${stem}-${count}`)) count += 1;
  return `${stem}-${count}`;
}
