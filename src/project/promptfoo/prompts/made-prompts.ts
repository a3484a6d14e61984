import type { ImportedCase } from '../cases/cases.ts';
import type { Templates } from '../nunjucks/templates.ts';
import { type ImportedPrompt, promptName } from './prompt-model.ts';
import { isInRows, promptInRow } from './prompt-rows.ts';

interface MadePrompts {
  /** Those that can be made of some case. */
  readonly prompts: readonly ImportedPrompt[];
  /** By the position of the case: what rows hold, by the names of the prompts. */
  readonly made: readonly Readonly<Record<string, unknown>>[];
}

/** Fills in the prompts that no expression says, for every case; what cannot be filled in is noted. */
export function makePrompts(
  prompts: readonly ImportedPrompt[],
  cases: readonly ImportedCase[],
  nunjucks: Templates,
): MadePrompts {
  const made: Record<string, unknown>[] = cases.map(() => ({}));
  const kept = prompts.filter((prompt) => {
    if (!isInRows(prompt)) return true;
    const faults = new Set<string>();
    let count = 0;
    for (const [index, { vars }] of cases.entries()) {
      const filled = promptInRow(prompt, vars, nunjucks);
      const row = made[index];
      if ('fault' in filled) faults.add(filled.fault);
      else if (row !== undefined) row[promptName(prompt)] = filled.value;
      count += 'fault' in filled ? 0 : 1;
    }
    const [fault] = faults;
    if (count > 0 && fault !== undefined)
      prompt.at.note('warning', `the template of a prompt ${fault}: such cases have no answer`);
    else if (fault !== undefined)
      prompt.at.leave(`a prompt whose template ${fault} is left out`, 'Write it as a pipeline.');
    return count > 0 || cases.length === 0;
  });
  return { prompts: kept, made };
}
