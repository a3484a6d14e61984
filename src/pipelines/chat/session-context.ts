import { findRecord, journalStep } from '../state/record.ts';
import type { RunContext, Session } from '../state/run-context.ts';
import { contextRecord, type TakenContext } from '../state/turn-record.ts';

/** Takes the context of session start hooks that the model has not been given yet, and empties the list. */
export function takeContext({ context }: Session): TakenContext {
  const taken = context.splice(0);
  return { texts: taken.flatMap(({ texts }) => texts), from: taken.map(({ from }) => from) };
}

/** Drops the context that the model was given in an earlier execution, as the journal says. */
export function dropContext({ context }: Session, from: readonly string[]): void {
  const remaining = context.filter((each) => !from.includes(each.from));
  context.splice(0, context.length, ...remaining);
}

/**
 * The extra context for the model call at `path`: that of session start hooks and late texts of background
 * hooks. Journaled, so that a resumed run gives the model the same texts.
 */
export async function takeExtraContext(run: RunContext, path: string): Promise<readonly string[]> {
  const { journal, session } = run;
  const name = `${path}/beside`;
  const known = findRecord(journal, name, contextRecord);
  // The call was made without any.
  if (known === undefined && journal.find(path) !== undefined) return [];
  const late = known === undefined ? run.takeLateContext(session.id) : [];
  if (known === undefined && late.length === 0 && session.context.length === 0) return [];
  const { texts, from } =
    known ??
    (await journalStep(journal, { name, kind: contextRecord }, async () => {
      const taken = takeContext(session);
      return { ...taken, texts: [...taken.texts, ...late] };
    }));
  dropContext(session, from);
  return texts;
}
