import { relative } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import type { Desk } from '../../console/remote.ts';
import type { PendingCheck, PendingDocument, PendingInfo, PendingUse } from '../../contract/approval.ts';
import type { PendingPageFilter } from '../../runtime/runtime.ts';
import { type CommandContext, command, type Flags, group, type Outcome } from '../command.ts';
import { executeRun, runOptionNames, runOptions } from '../execute-run.ts';
import type { ExitCode } from '../exit-code.ts';
import { shortIds } from '../id.ts';
import { readTime, readWhole } from '../input.ts';
import { nextCommands } from '../next-command.ts';
import { formatFields } from '../show/columns.ts';
import { exactText } from '../show/exact-text.ts';
import {
  approvalsText,
  choicesText,
  contextOf,
  jsonLine,
  questionOfDocument,
  questionText,
  resumeText,
} from '../show/pending.ts';
import { openDesks, openForId, pagedCalls, requireOneRuntime, resolveId } from '../show/state-stores.ts';
import type { Terminal } from '../terminal.ts';

const decisionOptions = {
  '--by <name>': 'who decides (default: your user name)',
  '--resume': 'resume the run at once; the options below apply to it',
  ...runOptions,
} as const;

const localDecisionOptions = ['--by', ...runOptionNames];

const decisionCodes = `
Exit codes: 0 decided, 1 somebody else decided before or the call expired, 2 wrong call or config; with --resume the exit
codes of \`signalbox run\`, and 1 if another process executes the run (RUN_BUSY). The decision is stored even if the run
cannot continue at that moment: \`signalbox runs resume\` tries again.`;

/** A record, so that the compiler finds a missing status. */
const statuses: { readonly [Status in PendingDocument['status']]: Status } = {
  open: 'open',
  approved: 'approved',
  rejected: 'rejected',
  responded: 'responded',
  expired: 'expired',
  cancelled: 'cancelled',
};

const useWords: { readonly [Use in PendingUse]: string } = {
  not_used: 'not used yet',
  used: 'used',
  expired: 'never used',
};

const list = command('list', {
  about: 'show the calls that wait for a person, oldest first',
  remote: ['--by'],
  options: {
    '--all': 'also show decided calls',
    '--status <status>': ['only calls with this status', { choices: Object.values(statuses) }],
    '--use <use>': [
      'only calls that were approved or answered, by whether the caller came back for them',
      { choices: Object.keys(useWords) },
    ],
    '--run <id>': 'only calls of this run and of the runs that its steps started',
    '--tool <name>': 'only calls of this tool; @ask for questions',
    '--by <name>': 'only calls about which this person may decide',
    '--since <time>':
      'only calls made at this time or later: a duration ago, such as 24h, or a time, such as 2026-01-31 or 2026-01-31T12:00Z',
    '--limit <number>': 'show at most this many, up to 1,000',
    '--after <place>': 'the next page: the value of `next` from the page before; needs --limit',
  },
  examples: `
Examples:
  signalbox pending list
  signalbox pending list --all --run run_51c0
  signalbox pending list --use not_used
  signalbox pending list --by mara --tool refund --since 24h
  signalbox pending list --limit 50 --after "$(signalbox pending list --limit 50 --json | jq -r .next)"
  signalbox pending list --json | jq '.pending[] | {id, tool, args}'`,
  run: async (context, { all, status, use, run, tool, by, since, limit, after }) => {
    const { options, terminal, invocation } = context;
    if (all === true && status !== undefined)
      throw new RuntimeError('USAGE', '--all and --status cannot be combined');
    if (after !== undefined && limit === undefined) throw new RuntimeError('USAGE', '--after needs --limit');
    const filter = {
      ...{ tool, by, use: use as PendingUse | undefined },
      status:
        all === true || (status === undefined && use !== undefined) ? ('all' as const) : (status ?? 'open'),
      since: since === undefined ? undefined : await readTime('--since', since),
    };
    const found: { readonly runtime: Desk; readonly filter: PendingPageFilter }[] = [];
    if (run === undefined) {
      for (const runtime of await openDesks(context)) found.push({ runtime, filter });
    } else {
      const { runtime, id } = await openForId(context, { kind: 'run', given: run });
      await runtime.runs.summary(id);
      found.push({ runtime, filter: { ...filter, run: id } });
    }
    let next: string | undefined;
    const size = readWhole('--limit', limit);
    const calls = async function* () {
      if (size === undefined) {
        for (const one of found)
          for await (const call of pagedCalls(one.runtime, one.filter)) yield { ...one, call };
        return;
      }
      requireOneRuntime(found.map(({ runtime }) => runtime));
      for (const one of found) {
        const page = await one.runtime.pending.page({ ...one.filter, limit: size, after });
        next = page.next;
        for (const call of page.pending) yield { ...one, call };
      }
    };
    if (options.json) {
      const { write } = terminal.stdout;
      let before = '{"pending":[';
      for await (const { call } of calls()) {
        await write(`${before}${terminal.jsonText(call)}`);
        before = ',';
      }
      const end = next === undefined ? ']}\n' : `],"next":${JSON.stringify(next)}}\n`;
      await write(before === ',' ? end : `${before}${end}`);
      return 0;
    }
    const isMixed = found.length > 1;
    const rows: string[][] = [];
    for await (const { runtime, call } of calls()) {
      const { id, run_id, status: now, created_at, quorum, approvals = [], message } = call;
      const isCounted = now === 'open' && quorum !== undefined;
      const count = isCounted ? ` (${approvals.length} of ${quorum} approve)` : '';
      const unused = call.use === null || call.use === 'used' ? '' : ` (${useWords[call.use]})`;
      const file = isMixed ? [relative(invocation.cwd, runtime.file)] : [];
      rows.push([
        id,
        run_id,
        call.tool,
        `${now}${count}${unused}`,
        created_at,
        ...file,
        escapeInvisibleLine(message),
      ]);
    }
    const short = shortIds(rows.flatMap(([id = '', runId = '']) => [id, runId]));
    return {
      document: {},
      table: {
        names: ['call', 'run', 'tool', 'status', 'asked', ...(isMixed ? ['config'] : []), 'question'],
        rows: rows.map(([id = '', runId = '', ...rest]) => [short(id), short(runId), ...rest]),
        none: 'no call waits for a person',
      },
      note: next === undefined ? undefined : `there are more: --after ${next}`,
    };
  },
});

const show = command('show <id>', {
  about: 'show one call: the tool, its arguments, who asks, and the decision',
  remote: [],
  examples: `
Examples:
  signalbox pending show pending_3f2a
  signalbox pending show pending_3f2a --json | jq .args`,
  run: async (context, _flags, given) => {
    const { runtime, id } = await openForId(context, { kind: 'pending', given });
    const document = await runtime.pending.show(id);
    const below =
      document.status === 'open'
        ? choicesText(document.id, nextCommands(context.invocation, runtime), document.choices)
        : decisionText(document);
    const question = { ...questionOfDocument(document), context: contextOf(document) };
    return { document, text: `${questionText(question)}\n${below}` };
  },
});

const check = command('check <id>', {
  about: 'say what `pending approve` would do, and decide nothing',
  remote: ['--by'],
  options: {
    '--args <json>': 'other arguments for the call: a JSON object, @FILE, or - for stdin',
    '--by <name>': 'who would approve (default: anyone who may)',
  },
  examples: `
Examples:
  signalbox pending check pending_3f2a
  signalbox pending check pending_3f2a --args '{"order": "A-17", "amount": 20}' --by mara
  signalbox pending check pending_3f2a --json | jq -r .outcome

Exit codes: 0 \`approve\` would be stored, 1 the call is decided or expired, 2 the approval would be refused or no such call
exists.`,
  run: async (context, own, given) => {
    const args = own.args === undefined ? undefined : await context.input.text('--args', own.args);
    const { runtime, id } = await openForId(context, { kind: 'pending', given });
    const document = await runtime.pending.check(id, { args, by: own.by });
    const { outcome, approvals, error } = document;
    const counted =
      approvals === undefined || approvals.needed === 1
        ? ''
        : ` (approved by ${approvals.given} of ${approvals.needed})`;
    const why = error === undefined ? '' : `: ${escapeInvisibleLine(error.message)}`;
    if (context.options.json) context.terminal.printJson(document);
    else context.terminal.print(`${outcomeWords[outcome]}${counted}${why}`);
    return checkCodes[outcome];
  },
});

const outcomeWords: Readonly<Record<PendingCheck['outcome'], string>> = {
  resumes: 'approve would let the call continue',
  needs_approvals: 'approve would be stored, and the call would still wait for others',
  args_invalid: 'approve would refuse these arguments',
  refused: 'approve would be refused',
  decided: 'the call is decided',
  expired: 'the call has expired',
  unknown: 'there is no such call',
};

const checkCodes: Readonly<Record<PendingCheck['outcome'], ExitCode>> = {
  ...{ resumes: 0, needs_approvals: 0, decided: 1, expired: 1 },
  ...{ args_invalid: 2, refused: 2, unknown: 2 },
};

const approve = command('approve <id>', {
  about: 'approve a call, with its own or other arguments',
  remote: localDecisionOptions,
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
  remote: localDecisionOptions,
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
  remote: localDecisionOptions,
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
  remote: localDecisionOptions,
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
  commands: [list, show, check, approve, reject, respond, answer],
});

function decisionText(document: PendingInfo): string {
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
    ...(document.use === null ? [] : [['use', useTexts[document.use]] as const]),
  ]);
}

const useTexts: { readonly [Use in PendingUse]: string } = {
  not_used: `${useWords.not_used}: the run has not continued, or the caller has not come back for the call`,
  used: useWords.used,
  expired: `${useWords.expired}: the run has ended, or the time for the call is over`,
};

/** Stores a decision and, with --resume, resumes the run. A later error has the decision in `details.decision`. */
async function decide(
  context: CommandContext,
  {
    given,
    own,
  }: { readonly given: string; readonly own: Flags<typeof decisionOptions> & { readonly reason?: string } },
  make: (
    runtime: Desk,
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
    const { kind, name } = await runtime.runs.summary(document.run_id);
    const note =
      kind === 'tool' && name !== tool
        ? 'next:     the agent makes the same call, or sends the same request, again'
        : resumeText(runToResume(document), nextCommands(invocation, runtime, own), { isLast: false });
    return {
      document,
      text: `${status}: ${document.id} (tool "${tool}") by ${escapeInvisibleLine(document.by ?? by)}`,
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
