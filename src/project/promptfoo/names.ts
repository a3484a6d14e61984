import type { ImportedPrompt } from './prompts/prompt-model.ts';
import type { ImportedProvider } from './providers/providers.ts';

/** Whether one of the names is asked for: all are where none is; `*` and `name:` stand for what begins so. */
export function isNamed(asked: readonly string[] | undefined, names: readonly string[]): boolean {
  if (asked === undefined) return true;
  return asked.some((each) =>
    names.some(
      (name) => name === each || name.startsWith(each.endsWith('*') ? each.slice(0, -1) : `${each}:`),
    ),
  );
}

/** The names that no provider or prompt of these has. */
export function unknownNames(
  asked: readonly string[],
  known: readonly (ImportedProvider | ImportedPrompt)[],
): readonly string[] {
  const namesOf = (each: ImportedProvider | ImportedPrompt) =>
    'source' in each ? [each.label, each.source] : [each.name, each.label, each.id];
  return asked.filter((name) => !known.some((each) => isNamed([name], namesOf(each))));
}
