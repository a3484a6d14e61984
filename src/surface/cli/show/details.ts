import type { RunDetails, TimelineEntry } from '../../../contract/run.ts';
import { escapeInvisible, escapeInvisibleLine } from '../../../text/escape-invisible.ts';
import { exactText } from '../exact-text.ts';
import { formatFields } from '../fields.ts';
import type { NextCommands } from '../next-command.ts';
import type { Terminal } from '../terminal.ts';
import { choicesText, headline, jsonLine, resumeText } from './pending.ts';

/** Prints a run: summary, timeline, pending calls and the commands for them. */
export async function printDetails(
  details: RunDetails,
  commands: NextCommands,
  { print, printColumns }: Pick<Terminal, 'print' | 'printColumns'>,
): Promise<void> {
  const { formatDuration } = await import('../../../runtime/runtime.ts');
  print(summary(details));
  print('');
  printColumns(toRows(details.timeline, formatDuration));
  for (const pending of details.pendings) {
    print('');
    print(headline(pending));
    print(choicesText(pending.id, commands));
  }
  if (details.status === 'running' || details.status === 'pending') {
    print(`\n${resumeText(details.run_id, commands, { isLast: details.pendings.length > 0 })}`);
  }
}

function summary(details: RunDetails): string {
  const { run_id, kind, name, file, status, error, output } = details;
  return formatFields([
    ['run', run_id],
    [kind, `${escapeInvisibleLine(name)}${file === null ? '' : ` (${escapeInvisibleLine(file)})`}`],
    ['status', status],
    ['input', jsonLine(exactText(details, 'input'))],
    ...(status === 'completed' || output !== null
      ? [['output', jsonLine(exactText(details, 'output'))] as const]
      : []),
    ...(error === null ? [] : [['error', `[${error.code}] ${escapeInvisible(error.message)}`] as const]),
  ]);
}

/** Rows of the timeline: time, offset from the start, event, step, duration, detail. */
function toRows(timeline: readonly TimelineEntry[], formatDuration: (ms: number) => string): string[][] {
  const [first] = timeline;
  const begins = new Map<string, string>();
  return timeline.map((entry) => {
    const { at, what, step, detail } = entry;
    const key = pairOf(entry);
    const began = begins.get(key);
    if (what === 'step began' || what === 'pending') begins.set(key, at);
    const isEnd = what === 'step ended' || what === 'decided';
    const took = isEnd && began !== undefined ? formatDuration(between(began, at)) : '';
    const after = first === undefined ? '' : `+${formatDuration(between(first.at, at))}`;
    return [
      at,
      after,
      what,
      step === null ? '' : escapeInvisibleLine(step),
      took,
      escapeInvisibleLine(detail),
    ];
  });
}

/** What a beginning and its end have in common: the step, or the pending call whose id leads the detail. */
function pairOf({ what, step, detail }: TimelineEntry): string {
  const isCall = what === 'pending' || what === 'decided';
  return isCall ? (detail.split(':')[0] ?? '') : `${step}`;
}

function between(from: string, to: string): number {
  // Not negative when the clock was set back meanwhile.
  return Math.max(0, Date.parse(to) - Date.parse(from));
}
