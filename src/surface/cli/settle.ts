import type { PendingDocument } from '../../contract/approval.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { Runtime } from '../../runtime/open-runtime.ts';
import { visibleLine } from '../../text/escape-invisible.ts';
import type { Situation } from './command.ts';
import { carryOut, type RunFlags } from './execute-run.ts';
import type { ExitCode } from './exit-code.ts';
import { nextCommands } from './next-command.ts';
import { openFor, type Wanted, wholeId } from './show/locate.ts';
import { resumeText } from './show/pending.ts';
import type { Terminal } from './terminal.ts';
import { userName } from './user-name.ts';

/** What every decision takes. */
export interface DecisionFlags extends RunFlags {
  readonly by?: string;
  readonly reason?: string;
  readonly resume?: true;
}

/** Makes a decision about the call of that id, and has it kept. */
export type Rule = (
  runtime: Runtime,
  id: string,
  decider: { readonly by: string; readonly reason: string | undefined },
) => Promise<PendingDocument>;

/**
 * Decides, and goes on with the run where that is wanted. Throws what the rule and the run do; an error that comes after
 * the decision has it in `details.decision`.
 */
export async function settle(
  situation: Situation,
  { given, own }: { readonly given: string; readonly own: DecisionFlags },
  rule: Rule,
): Promise<ExitCode> {
  const { options, terminal } = situation;
  const decider = { by: own.by ?? userName(), reason: own.reason };
  const wanted = { kind: 'pending', given } as const;
  if (own.resume) {
    const decide = async (runtime: Runtime) => rule(runtime, await wholeId(runtime, wanted), decider);
    return await settleAndResume(situation, { wanted, own, decide });
  }
  const { runtime, id } = await openFor(situation, wanted);
  const document = await rule(runtime, id, decider);
  if (options.json) terminal.printJson(document);
  else {
    terminal.print(
      `${document.status}: ${document.id} (tool "${document.tool}") by ${visibleLine(decider.by)}`,
    );
    terminal.tell(resumeText(document.run_id, nextCommands(runtime.file, own), { isLast: false }));
  }
  return 0;
}

/** What stands when the run could not go on, and what goes on with it. */
interface Kept {
  readonly document: PendingDocument;
  readonly resume: string;
}

async function settleAndResume(
  situation: Situation,
  {
    wanted,
    own,
    decide,
  }: {
    readonly wanted: Wanted;
    readonly own: DecisionFlags;
    readonly decide: (runtime: Runtime) => Promise<PendingDocument>;
  },
): Promise<ExitCode> {
  const { options, terminal } = situation;
  let kept: Kept | undefined;
  try {
    return await carryOut(situation, {
      flags: own,
      open: async (more) => (await openFor(situation, wanted, more)).runtime,
      start: async (runtime, runOptions) => {
        const document = await decide(runtime);
        kept = { document, resume: nextCommands(runtime.file, own).resume(document.run_id) };
        if (!options.json) terminal.tell(`${document.id}: ${document.status}`);
        return await runtime.runs.resume(document.run_id, runOptions);
      },
    });
  } catch (error) {
    throw kept === undefined ? error : withDecision(error, kept, terminal);
  }
}

/** Tells that the decision stands all the same, and what to do; the error carries it for programs. */
function withDecision(thrown: unknown, { document, resume }: Kept, { tell }: Terminal): RuntimeError {
  const error = toRuntimeError(thrown);
  const { code, message, hint, details } = error;
  const next =
    code === 'RUN_BUSY'
      ? `the process that executes ${document.run_id} goes by it; if that process ends before, use \`${resume}\``
      : `once the run can go on, use \`${resume}\``;
  tell(`the decision about ${document.id} has been kept (${document.status}): ${next}`);
  return new RuntimeError(code, message, { hint, details: { ...details, decision: document }, cause: error });
}
