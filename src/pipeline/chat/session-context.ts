import { Json } from '../../json/json.ts';
import type { RunContext, Session } from '../state/run-context.ts';

/** Texts for the model, and the beginnings of the session at which they were said. */
export interface TakenContext {
  readonly texts: readonly string[];
  readonly from: readonly string[];
}

/** What hooks of the session's beginnings have said and the model has not been given yet. */
export function takeContext({ context }: Session): TakenContext {
  const taken = context.splice(0);
  return { texts: taken.flatMap(({ texts }) => texts), from: taken.map(({ from }) => from) };
}

/** The model was given these in an earlier execution of the run, as the journal says. */
export function forgetContext({ context }: Session, from: readonly string[]): void {
  const left = context.filter((each) => !from.includes(each.from));
  context.splice(0, context.length, ...left);
}

/**
 * Texts that the model is to be given with the call of that path, beside the conversation: those of the session's
 * beginnings, and late ones of hooks in the background. Kept with the run, so that it reads the same when it goes on.
 */
export async function takeBeside(run: RunContext, path: string): Promise<readonly string[]> {
  const { journal, session } = run;
  const name = `${path}/beside`;
  const known = journal.find(name);
  // The call was made without any.
  if (known === undefined && journal.find(path) !== undefined) return [];
  const late = known === undefined ? run.takeLate(session.id) : [];
  if (known === undefined && late.length === 0 && session.context.length === 0) return [];
  const entry =
    known ??
    (await journal.step(name, async () => {
      const { texts, from } = takeContext(session);
      return Json.from({ texts: [...texts, ...late], from });
    }));
  // What this function wrote.
  const { texts, from } = entry.value as TakenContext;
  forgetContext(session, from);
  return texts;
}
