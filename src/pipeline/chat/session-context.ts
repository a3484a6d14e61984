import { Json } from '../../json/json.ts';
import type { RunContext, Session } from '../state/run-context.ts';

/** Context texts for the model, and the journal names of the session starts that gave them. */
export interface TakenContext {
  readonly texts: readonly string[];
  readonly from: readonly string[];
}

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
  const known = journal.find(name);
  // The call was made without any.
  if (known === undefined && journal.find(path) !== undefined) return [];
  const late = known === undefined ? run.takeLateContext(session.id) : [];
  if (known === undefined && late.length === 0 && session.context.length === 0) return [];
  const entry =
    known ??
    (await journal.step(name, async () => {
      const { texts, from } = takeContext(session);
      return Json.from({ texts: [...texts, ...late], from });
    }));
  // What this function wrote.
  const { texts, from } = entry.value as TakenContext;
  dropContext(session, from);
  return texts;
}
