import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { DecisionPage } from '../../contract/decision.ts';
import type { HookMode, Verdict } from '../../contract/hook.ts';
import { command, group } from '../command.ts';
import { shortIds } from '../id.ts';
import { readTime, readWhole } from '../input.ts';
import { openDesks, requireOneRuntime } from '../show/state-stores.ts';

/** A record, so that the compiler finds a missing verdict. */
const verdicts: { readonly [Each in Verdict]: Each } = {
  allow: 'allow',
  modify: 'modify',
  deny: 'deny',
  ask: 'ask',
  respond: 'respond',
  abort: 'abort',
};
const modes: readonly Exclude<HookMode, 'observe'>[] = ['filter', 'shadow'];

const list = command('list', {
  about: 'show decisions, newest first',
  remote: [],
  options: {
    '--hook <name>': 'only decisions of this hook',
    '--verdict <verdict>': ['only this verdict', { choices: Object.values(verdicts) }],
    '--mode <mode>': ['only decisions that counted, or only those of shadows', { choices: modes }],
    '--operation <kind>': 'only decisions in operations of this kind, such as tool, model or gateway',
    '--run <id>': 'only decisions of this run, by its whole id',
    '--since <time>': 'only decisions since then: a duration ago, such as 24h, or a time, such as 2026-01-31',
    '--limit <number>': ['show at most this many', { default: '50' }],
    '--after <place>': 'the next page: the value of `next` from the page before',
  },
  examples: `
Examples:
  signalbox decisions list
  signalbox decisions list --verdict deny --since 24h
  signalbox decisions list --hook pii --mode shadow --limit 10
  signalbox decisions list --after "$(signalbox decisions list --json | jq -r .next)"
  signalbox decisions list --json | jq -r '.decisions[] | select(.verdict == "deny") | .reason'

Decisions are recorded if the config has spec.decisions. They are in the order in which they were written, whatever the
clocks said. A gap says how many were dropped there, because they could not be stored in time.`,
  run: async (context, { hook, verdict, mode, operation, run, after, ...flags }) => {
    const runtime = requireOneRuntime(await openDesks(context));
    const since = flags.since === undefined ? undefined : await readTime('--since', flags.since);
    const limit = readWhole('--limit', flags.limit);
    const page = await runtime.decisions.page({ hook, verdict, mode, operation, run, after, since, limit });
    return {
      document: page,
      table: {
        names: ['time', 'hook', 'verdict', 'mode', 'phase', 'operation', 'run', 'reason'],
        rows: toRows(page),
        none: 'there are no such decisions; they are recorded if the config has spec.decisions',
      },
      note: page.next === undefined ? undefined : `there are more: --after ${page.next}`,
    };
  },
});

function toRows({ decisions }: DecisionPage): string[][] {
  const runs = decisions.flatMap((each) =>
    each.type === 'decision' && each.run_id !== null ? [each.run_id] : [],
  );
  const short = shortIds(runs);
  return decisions.map((each) => {
    const time = each.at.replace(/\.\d+Z$/, 'Z');
    if (each.type === 'gap') {
      const what = formatCount(each.dropped, each.what === 'decisions' ? 'decision' : 'model call');
      return [time, '', '', '', '', '', '', `gap: ${what} dropped`];
    }
    const { hook, verdict, mode, phase, operation, run_id: run, reason, error } = each;
    const why = error === null ? reason : `the hook failed with ${error}`;
    const place = [mode, phase, operation ?? '', run === null ? '' : short(run)];
    return [time, ...[hook, verdict, ...place, why].map(escapeInvisibleLine)];
  });
}

export const decisionsCommands = group('decisions', {
  about: 'show what hooks decided',
  examples: `
Examples:
  signalbox decisions list --verdict deny --since 24h`,
  commands: [list],
});
