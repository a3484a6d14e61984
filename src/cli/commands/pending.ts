import { relative } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import type { PendingDocument } from '../../contract/approval.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type CommandContext, command, type Flags, group, type Outcome } from '../command.ts';
import { executeRun, runOptions } from '../execute-run.ts';
import type { ExitCode } from '../exit-code.ts';
import { shortIds } from '../id.ts';
import { nextCommands } from '../next-command.ts';
import { formatFields } from '../show/columns.ts';
import { exactText } from '../show/exact-text.ts';
import {
  approvalsText,
  choicesText,
  jsonLine,
  questionOfDocument,
  questionText,
  resumeText,
} from '../show/pending.ts';
import { openAllRuntimes, openForId, resolveId } from '../show/state-stores.ts';
import type { Terminal } from '../terminal.ts';

const decisionOptions = {
  '--by <name>': 'who decides (default: your user name)',
  '--resume': 'resume the run at once; the options below apply to it',
  ...runOptions,
} as const;

const decisionCodes = `
Exit codes: 0 decided, 1 somebody else decided before or the call expired, 2 wrong call or config; with --resume the exit
codes of \`signalbox run\`, and 1 if another process executes the run (RUN_BUSY). The decision is stored even if the run
cannot continue at that moment: \`signalbox runs resume\` tries again.`;

const list = command('list', {
  about: 'show the calls that wait for a person, oldest first',
  options: { '--all': 'also show decided calls', '--run <id>': 'only calls of this run' },
  examples: `
Examples:
  signalbox pending list
  signalbox pending list --all --run run_51c0
  signalbox pending list --json | jq '.pending[] | {id, tool, args}'`,
  run: async (context, { all, run }) => {
    const { cwd } = context.invocation;
    const lists: { runtime: Runtime; calls: PendingDocument[] }[] = [];
    if (run === undefined) {
      for (const runtime of await openAllRuntimes(context))
        lists.push({ runtime, calls: await runtime.pending.list({ all }) });
    } else {
      const { runtime, id: runId } = await openForId(context, { kind: 'run', given: run });
      await runtime.runs.show(runId);
      lists.push({ runtime, calls: await runtime.pending.list({ all, runId }) });
    }
    const pending = lists.flatMap(({ calls }) => calls);
    const short = shortIds(pending.flatMap(({ id, run_id }) => [id, run_id]));
    const isMixed = lists.length > 1;
    return {
      document: { pending },
      table: {
        names: ['call', 'run', 'tool', 'status', 'asked', ...(isMixed ? ['config'] : []), 'question'],
        rows: lists.flatMap(({ runtime, calls }) =>
          calls.map(({ id, run_id, tool, status, created_at, quorum, approvals = [], message }) => {
            const isCounted = status === 'open' && quorum !== undefined;
            const count = isCounted ? ` (${approvals.length} of ${quorum} approve)` : '';
            return [
              ...[short(id), short(run_id), tool, `${status}${count}`, created_at],
              ...(isMixed ? [relative(cwd, runtime.file)] : []),
              escapeInvisibleLine(message),
            ];
          }),
        ),
        none: 'no call waits for a person',
      },
    };
  },
});

const show = command('show <id>', {
  about: 'show one call: the tool, its arguments, who asks, and the decision',
  examples: `
Examples:
  signalbox pending show pending_3f2a
  signalbox pending show pending_3f2a --json | jq .args`,
  run: async (context, _flags, given) => {
    const { runtime, id } = await openForId(context, { kind: 'pending', given });
    const document = await runtime.pending.show(id);
    const below =
      document.status === 'open'
        ? choicesText(document.id, nextCommands(context.invocation, runtime), document.tool)
        : decisionText(document);
    return { document, text: `${questionText(questionOfDocument(document))}\n${below}` };
  },
});

const approve = command('approve <id>', {
  about: 'approve a call, with its own or other arguments',
  options: {
    '--args <json>': 'other arguments for the call: a JSON object, @FILE, or - for stdin',
    '--reason <text>': 'why',
    ...decisionOptions,
  },
  examples: `
Examples:
  signalbox pending approve pending_3f2a
  signalbox pending approve pending_3f2a --args '{"order": "A-17", "amount": 20}' --reason "shipping only"
  signalbox pending approve pending_3f2a --by ada --resume
${decisionCodes}`,
  run: async (context, own, given) => {
    const args = own.args === undefined ? undefined : await context.input.text('--args', own.args);
    return await decide(context, { given, own }, (runtime, id, decider) =>
      runtime.pending.approve(id, { ...decider, args }),
    );
  },
});

const reject = command('reject <id>', {
  about: 'reject a call, with a reason',
  options: {
    '--reason <text>': ['the reason; the caller receives it', { isRequired: true }],
    ...decisionOptions,
  },
  examples: `
Examples:
  signalbox pending reject pending_3f2a --reason "not refundable"
  signalbox pending reject pending_3f2a --reason "not refundable" --resume --json
${decisionCodes}`,
  run: async (context, own, given) =>
    await decide(context, { given, own }, (runtime, id, decider) => runtime.pending.reject(id, decider)),
});

const respond = command('respond <id>', {
  about: 'give a result in place of the tool, which does not run',
  options: {
    '--result <json>': ['the result: JSON, @FILE, or - for stdin', { isRequired: true }],
    '--reason <text>': 'why',
    ...decisionOptions,
  },
  examples: `
Examples:
  signalbox pending respond pending_3f2a --result '{"refunded": 20}'
  signalbox pending respond pending_3f2a --result @result.json --reason "done by hand" --resume
${decisionCodes}`,
  run: async (context, own, given) => {
    const result = await context.input.json('--result', own.result);
    return await decide(context, { given, own }, (runtime, id, decider) =>
      runtime.pending.respond(id, { ...decider, result }),
    );
  },
});

const answer = command('answer <id>', {
  about: 'answer the question of an `ask` step',
  options: {
    '--value <json>': ['the answer: JSON that fits the schema, @FILE, or - for stdin', { isRequired: true }],
    '--reason <text>': 'why',
    ...decisionOptions,
  },
  examples: `
Examples:
  signalbox pending answer pending_3f2a --value '{"cents": 2000}'
  signalbox pending answer pending_3f2a --value '"yes"' --by mara --resume
${decisionCodes}`,
  run: async (context, own, given) => {
    const result = await context.input.json('--value', own.value);
    return await decide(context, { given, own }, (runtime, id, decider) =>
      runtime.pending.respond(id, { ...decider, result }),
    );
  },
});

export const pendingCommands = group('pending', {
  about: 'decide tool calls that wait for a person',
  examples: `
Examples:
  signalbox pending list
  signalbox pending show pending_3f2a
  signalbox pending approve pending_3f2a --resume

A unique prefix of an id is enough. Without --config and without a runtime.yaml in this folder, the state stores
(.signalbox/state.db) of all folders below are searched. More: docs/guides/ask-a-person.md`,
  commands: [list, show, approve, reject, respond, answer],
});

function decisionText(document: PendingDocument): string {
  const { status, by, decided_at, decision_reason } = document;
  const reason = decision_reason ?? '';
  return formatFields([
    [
      'decided',
      `${status}${by === null || by === '' ? '' : ` by ${escapeInvisibleLine(by)}`} at ${decided_at}`,
    ],
    ...(reason === '' ? [] : [['reason', escapeInvisibleLine(reason)] as const]),
    ...(document.edited_args === null
      ? []
      : [['arguments', jsonLine(exactText(document, 'edited_args'))] as const]),
    ...(status === 'responded' ? [['result', jsonLine(exactText(document, 'result'))] as const] : []),
  ]);
}

/** Stores a decision and, with --resume, resumes the run. A later error has the decision in `details.decision`. */
async function decide(
  context: CommandContext,
  {
    given,
    own,
  }: { readonly given: string; readonly own: Flags<typeof decisionOptions> & { readonly reason?: string } },
  make: (
    runtime: Runtime,
    id: string,
    decider: { readonly by: string; readonly reason: string | undefined },
  ) => Promise<PendingDocument>,
): Promise<Outcome | ExitCode> {
  const { invocation, options, terminal } = context;
  const { by = invocation.userName(), reason } = own;
  const query = { kind: 'pending', given } as const;
  if (!own.resume) {
    const { runtime, id } = await openForId(context, query);
    const document = await make(runtime, id, { by, reason });
    if (options.json) return { document };
    const { status, tool } = document;
    if (status === 'open') {
      const count = approvalsText(document.quorum, document.approvals);
      return { document, text: `approved by ${count}; ${document.id} (tool "${tool}") still waits` };
    }
    // An agent's own call is stored under the agent’s name, any other single call under its tool’s.
    const { kind, name } = await runtime.runs.show(document.run_id);
    const note =
      kind === 'tool' && name !== tool
        ? 'next:     the agent makes the same call, or sends the same request, again'
        : resumeText(runToResume(document), nextCommands(invocation, runtime, own), { isLast: false });
    return {
      document,
      text: `${status}: ${document.id} (tool "${tool}") by ${escapeInvisibleLine(by)}`,
      note,
    };
  }
  let kept: KeptDecision | undefined;
  try {
    return await executeRun(context, {
      flags: own,
      open: async (more) => (await openForId(context, query, more)).runtime,
      start: async (runtime, runOptions) => {
        const document = await make(runtime, await resolveId(runtime, query), { by, reason });
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

function runToResume({ run_id, root_run_id = run_id }: PendingDocument): string {
  return root_run_id;
}

interface KeptDecision {
  readonly document: PendingDocument;
  readonly resume: string;
}

function withDecision(
  thrown: unknown,
  { document, resume }: KeptDecision,
  { printStderr }: Terminal,
): RuntimeError {
  const error = toRuntimeError(thrown);
  const { code, message, hint, details } = error;
  const next =
    code === 'RUN_BUSY'
      ? `the process that executes ${runToResume(document)} uses it; if that process ends before, run \`${resume}\``
      : `when the run can continue, run \`${resume}\``;
  printStderr(`the decision about ${document.id} is stored (${document.status}): ${next}`);
  return new RuntimeError(code, message, { hint, details: { ...details, decision: document }, cause: error });
}
