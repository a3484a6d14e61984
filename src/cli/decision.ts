import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { escapeInvisibleLine } from '../base/text/escape-invisible.ts';
import type { PendingDocument } from '../contract/approval.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { CommandContext } from './command.ts';
import { executeRun, type RunFlags } from './execute-run.ts';
import type { ExitCode } from './exit-code.ts';
import { nextCommands } from './next-command.ts';
import { approvalsText, resumeText } from './show/pending.ts';
import { type IdQuery, openForId, resolveId } from './show/state-stores.ts';
import type { Terminal } from './terminal.ts';

/** The options of every command that decides. */
export interface DecisionFlags extends RunFlags {
  readonly by?: string;
  readonly reason?: string;
  readonly resume?: true;
}

/** Makes a decision about the pending call of that id, and stores it. */
export type MakeDecision = (
  runtime: Runtime,
  id: string,
  decider: { readonly by: string; readonly reason: string | undefined },
) => Promise<PendingDocument>;

/**
 * Decides about a pending call, and with --resume resumes its run. Throws what `makeDecision` and the run
 * throw; an error after the decision carries it in `details.decision`.
 */
export async function decidePending(
  context: CommandContext,
  { given, own }: { readonly given: string; readonly own: DecisionFlags },
  makeDecision: MakeDecision,
): Promise<ExitCode> {
  const { invocation, options, terminal } = context;
  const decider = { by: own.by ?? invocation.userName(), reason: own.reason };
  const query = { kind: 'pending', given } as const;
  if (own.resume) {
    const decide = async (runtime: Runtime) =>
      makeDecision(runtime, await resolveId(runtime, query), decider);
    return await decideAndResume(context, { wanted: query, own, decide });
  }
  const { runtime, id } = await openForId(context, query);
  const document = await makeDecision(runtime, id, decider);
  if (options.json) terminal.printJson(document);
  else if (document.status === 'open') {
    const count = approvalsText(document.quorum, document.approvals);
    terminal.print(`approved by ${count}; ${document.id} (tool "${document.tool}") still waits`);
  } else {
    terminal.print(
      `${document.status}: ${document.id} (tool "${document.tool}") by ${escapeInvisibleLine(decider.by)}`,
    );
    terminal.printStderr(
      (await isOfAgent(runtime, document))
        ? 'go on:    the agent makes the same call, or sends the same request, again'
        : resumeText(runToResume(document), nextCommands(invocation, runtime, own), { isLast: false }),
    );
  }
  return 0;
}

/** The run that goes on with a decision. */
function runToResume({ run_id, root_run_id = run_id }: PendingDocument): string {
  return root_run_id;
}

/** A call that an agent makes itself is kept under the agent’s name, any other single call under its tool’s. */
async function isOfAgent(runtime: Runtime, { run_id, tool }: PendingDocument): Promise<boolean> {
  const { kind, name } = await runtime.runs.show(run_id);
  return kind === 'tool' && name !== tool;
}

/** A stored decision, and the command that resumes its run. */
interface KeptDecision {
  readonly document: PendingDocument;
  readonly resume: string;
}

async function decideAndResume(
  context: CommandContext,
  {
    wanted: query,
    own,
    decide,
  }: {
    readonly wanted: IdQuery;
    readonly own: DecisionFlags;
    readonly decide: (runtime: Runtime) => Promise<PendingDocument>;
  },
): Promise<ExitCode> {
  const { invocation, options, terminal } = context;
  let kept: KeptDecision | undefined;
  try {
    return await executeRun(context, {
      flags: own,
      open: async (more) => (await openForId(context, query, more)).runtime,
      start: async (runtime, runOptions) => {
        const document = await decide(runtime);
        const { resume } = nextCommands(invocation, runtime, own);
        kept = { document, resume: resume(runToResume(document)) };
        if (!options.json) terminal.printStderr(`${document.id}: ${document.status}`);
        return await runtime.runs.resume(runToResume(document), runOptions);
      },
    });
  } catch (error) {
    throw kept === undefined ? error : withDecision(error, kept, terminal);
  }
}

/** Prints that the decision is stored although the run failed, and adds it to the details of the error. */
function withDecision(
  thrown: unknown,
  { document, resume }: KeptDecision,
  { printStderr }: Terminal,
): RuntimeError {
  const error = toRuntimeError(thrown);
  const { code, message, hint, details } = error;
  const next =
    code === 'RUN_BUSY'
      ? `the process that executes ${runToResume(document)} goes by it; if that process ends before, use \`${resume}\``
      : `once the run can go on, use \`${resume}\``;
  printStderr(`the decision about ${document.id} has been kept (${document.status}): ${next}`);
  return new RuntimeError(code, message, { hint, details: { ...details, decision: document }, cause: error });
}
