import { RuntimeError } from '../../base/errors.ts';
import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { phasesOf } from '../../contract/hook.ts';
import { type CommandContext, command, launcherOf } from '../command.ts';
import { readDuration } from '../input.ts';

const kinds = ['tool', 'filter', 'observer', 'eval'] as const;
const phases = Object.values(phasesOf).flat();

export const conformCommand = command('conform <script> [args...]', {
  about: 'ask a script what the contract of a tool, hook or eval asks, and show what it breaks',
  options: {
    '--kind <kind>': ['what the script is; default: what the config declares', { choices: kinds }],
    '--phase <phase>': [
      'the phase of the hook (default: before_execution, for an observer after_execution)',
      { choices: phases },
    ],
    '--server': 'the script keeps running and answers lines (runtime: server)',
    '--forked': 'the script is forked (runtime: fork)',
    '--request <json>': 'a request of your own, as the script reads it: a JSON object, @FILE, or - for stdin',
    '--env <name>': ['a variable that the script gets, or NAME=value; may be repeated', { isMany: true }],
    '--timeout <duration>': 'the time for an answer (default: that of the kind or the entry)',
    '--junit <file>': 'also write the results as JUnit',
  },
  givesVerdict: true,
  examples: `
The script runs as Signalbox runs it: without a shell, with a closed environment, and with limits. A name, or a script
that the config declares, gets the settings of its entry. Filters and evals get made-up requests. Tools and observers
act: they get the one of --request again and again, or made-up ones after a question at the terminal.

Checks of all scripts: start, stdout, in-time, shape, unknown-members, unicode, escapes, line-ends, large, broken
(filters and evals); of one process for each call: exit-code, no-newline, at-once; of a server: silence, reply-id,
stays, half-characters, in-flight, survives, sigterm, stdin-end.

Examples:
  signalbox conform ./guard.py --kind filter
  signalbox conform ./redact.py --kind filter --phase before_call --server
  signalbox conform ./grade.sh --kind eval --junit conform.xml
  signalbox conform ./refund.py --kind tool --request '{"args": {"amount": 5, "dry_run": true}}'
  signalbox conform guard

More: docs/guides/check-a-script.md

Exit codes: 0 every check passed, 1 a check failed, 2 wrong call or config, 130 interrupted.`,
  run: async (context, flags, script, args) => {
    const { invocation, options, terminal, input, signal } = context;
    const { kind, phase, server, forked, request, timeout, junit, env } = flags;
    if (server && forked) throw new RuntimeError('USAGE', '--server and --forked exclude each other');
    const { loadConform } = await import('../../runtime/runtime.ts');
    const { runConform, writeConformJunit } = await loadConform();
    const { openPercent } = await import('../show/doctor.ts');
    const progress = openPercent(terminal, 'checks');
    const report = await runConform(
      { command: script, args, env },
      {
        ...{ kind, phase, config: options.config, folder: invocation.cwd, signal },
        ...{ env: invocation.env, launcher: launcherOf(invocation), overlays: options.overlays },
        mode: server ? 'server' : forked ? 'fork' : undefined,
        timeoutMs:
          timeout === undefined ? undefined : await readDuration('--timeout', timeout, '500ms or 10s'),
        request: request === undefined ? undefined : (await input.json('--request', request)).text,
        confirm: (question) => confirm(context, question),
        onProgress: progress.update,
      },
    ).finally(progress.end);
    if (junit !== undefined) await writeConformJunit(report, junit);
    const count = (status: string) => report.rows.filter((row) => row.status === status).length;
    const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
    const { renderConform } = await import('../show/conform.ts');
    const { name, mode, rows: checks } = report;
    return {
      document: { name, kind: report.kind, mode, ...counts, checks },
      text: renderConform(report, counts, terminal).join('\n'),
      exitCode: counts.failed === 0 ? 0 : 1,
    };
  },
});

/** Asks only a person: a pipe answers no. */
async function confirm(context: CommandContext, question: string): Promise<boolean> {
  if (context.invocation.stdin.isTTY !== true || !context.terminal.stderr.isTTY) return false;
  const { withAnswers } = await import('../prompt.ts');
  const ask = `${escapeInvisibleLine(question)} [y]es or [n]o: `;
  const answer = await withAnswers(context, (readAnswer) => readAnswer(ask));
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
