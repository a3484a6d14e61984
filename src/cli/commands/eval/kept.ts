import { relative } from 'node:path';
import { RuntimeError } from '../../../base/errors.ts';
import { escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import { type CommandContext, command, type Flags, type Outcome } from '../../command.ts';
import { shortIds } from '../../id.ts';
import { readAge, readNumber, readWhole } from '../../input.ts';
import { caseName, ratingText } from '../../show/case.ts';
import { requireOneRuntime } from '../../show/state-stores.ts';
import { isRunFile, listStoredRuns, openRunFinder, openRunStores } from './find-run.ts';

export const listCommand = command('list', {
  about: 'show stored suite runs, newest first',
  options: { '--limit <number>': 'show at most this many' },
  examples: `
Examples:
  signalbox eval list --limit 10
  signalbox eval list --json | jq -r '.runs[] | select(.status == "failed") | .id'

A run of kind \`shadow\` has the decisions that a hook in shadow mode would have made. A run that was interrupted, such as
by a crash, has the status \`running\` until you resume it: \`signalbox eval run SUITE --resume ID\`.

Exit codes: 0 done, 2 wrong call or config, or a store or stdout that fails.`,
  run: async (context, flags) => {
    const limit = readWhole('--limit', flags.limit);
    const runtimes = await openRunStores(context);
    const kept = await listStoredRuns(runtimes, limit);
    const isMixed = runtimes.length > 1;
    const runs = kept.map(({ run }) => run);
    const short = shortIds(runs.map(({ id }) => id));
    const { formatPercent } = await import('../../../runtime/runtime.ts');
    const names = ['run', 'started', 'status', 'kind', 'suite', 'cases', 'passed'];
    return {
      document: { runs },
      table: {
        names: isMixed ? [...names, 'config'] : names,
        rows: kept.map(({ run, runtime }) => [
          ...[short(run.id), run.started_at],
          ...[run.kind === 'shadow' ? '' : run.status, run.kind, escapeInvisibleLine(run.suite)],
          ...[String(run.cases), run.pass_rate === null ? '' : formatPercent(run.pass_rate)],
          ...(isMixed ? [relative(context.invocation.cwd, runtime.file)] : []),
        ]),
        none: 'no runs are stored',
      },
    };
  },
});

export const htmlCommand = command('html <run>', {
  about: 'write a run as one HTML page that shows every case',
  options: { '--output <file>': 'the page; - for stdout (default RUN.html)' },
  examples: `
The run is a file of \`eval run --reporter jsonl=FILE\`, the id of a stored run (see \`eval list\`), \`last\` or \`last~1\`.
The page needs no other file: you can store it as an artifact of a CI job, or send it.

Examples:
  signalbox eval html last --output report.html
  signalbox eval html report.jsonl --output - > report.html

Exit codes: 0 written, 2 wrong call, no such run, a store that fails, or the page cannot be written.`,
  run: async (context, { output }, given) => {
    const source = await openRunFinder(context).open(given);
    const { loadResults } = await import('../../../runtime/runtime.ts');
    const { openDelivery, replayReport } = await loadResults();
    const file = output ?? `${source.header.run_id}.html`;
    const place = file === '-' ? {} : { file };
    const delivery = await openDelivery([{ name: 'html', ...place }], {
      stdout: context.terminal.stdout,
      inputs: isRunFile(given) ? [{ file: given, what: 'the run to show' }] : [],
    });
    try {
      await replayReport(source, delivery.reporter);
      await delivery.close();
    } catch (error) {
      await delivery.abort();
      throw error;
    }
    return file === '-' ? 0 : { document: { file }, text: file };
  },
});

const rateOptions = {
  '--case <id>': 'the case',
  '--variant <name>': 'the variant, in a run of several models or prompts',
  '--eval <id>': 'rate the result of this eval, not the case as a whole',
  '--score <number>': 'from 0 to 1',
  '--label <text>': 'a word of your own, such as good or refusal',
  '--comment <text>': 'the reason, @FILE, or - for stdin',
  '--by <name>': 'the name of the person who rates (default: your user name)',
  '--remove': 'remove your rating',
  '--list': 'show the ratings of the run, or of the case',
} as const;

export const rateCommand = command('rate <run>', {
  about: "store a person's rating of a case with its run",
  options: rateOptions,
  examples: `
The run is the id of a stored run (see \`eval list\`), \`last\` or \`last~1\`. A person has one rating for a case, and one for
each of its evals; a new rating replaces the old one. In a run of several variants, --variant names one.
\`eval show RUN --case ID\` and \`eval html RUN\` show the ratings. They are removed with the run.

Examples:
  signalbox eval rate last --case refund-17 --score 0 --label wrong --comment "it refunds twice"
  signalbox eval rate last --case refund-17 --eval polite --score 1 --by mara
  signalbox eval rate last --case refund-17 --variant large/plain --score 0.5
  signalbox eval rate last --case refund-17 --remove
  signalbox eval rate last --list --json | jq '.ratings[] | [.case, .by, .score]'

Exit codes: 0 stored, removed or listed; 2 wrong call, no such run, case, variant, eval or rating, or a store that fails.`,
  run: async (context, own, given) => {
    const { score, ...says } = await readRating(own, context);
    if (own.list === true) return await listRatings(given, own, context);
    if (own.case === undefined) {
      throw new RuntimeError('USAGE', '--case is missing', {
        hint: 'Give --case ID, or --list to show the ratings.',
      });
    }
    const { case: id, variant, eval: evalId, by = context.invocation.userName() } = own;
    const place = { case: id, variant, eval: evalId, by };
    const run = await openRunFinder(context).locate(given);
    if (own.remove !== true) {
      const rating = await run.runtime.evals.runs.rate(run.id, { ...place, ...says, score });
      return { document: { run_id: run.id, rating }, text: ratingText(rating) };
    }
    await run.runtime.evals.runs.unrate(run.id, place);
    const removed = { case: id, by, ...(variant !== undefined && { variant }), eval: evalId ?? null };
    return {
      document: { run_id: run.id, removed },
      text: `removed the rating of ${caseName(place)} by ${escapeInvisibleLine(by)}`,
    };
  },
});

export const agreementCommand = command('agreement <run>', {
  about: 'show how far evals agree with the people who rated a run, and these with each other',
  options: {
    '--variant <name>': 'only this variant of a run',
    '--eval <id>': 'only this eval',
    '--by <name>': ['only this person; may be repeated', { isMany: true }],
    '--min-score <number>': 'the lowest score of a person that counts as passed (default: 0.5)',
  },
  examples: `
The run is the id of a stored run (see \`eval list\`), \`last\` or \`last~1\`, or a file of \`eval run --reporter jsonl=FILE\`.
Ratings of an eval (\`eval rate --eval\`) are compared with the verdict of the eval, other ratings with whether the case
passed. A label that is a verdict (pass, fail, yes, no, good, bad, true, false, 1, 0) takes precedence over a score. In a
run of several variants, each variant is compared, and all together.

Examples:
  signalbox eval agreement last
  signalbox eval agreement last --eval polite --by mara --by ada
  signalbox eval agreement last --variant large/plain
  signalbox eval agreement last --json | jq '.evals.polite.people[].agreement.kappa'

Exit codes: 0 shown, even if there is nothing to compare; 2 wrong call, no such run, variant, eval or person,
or a store that fails.`,
  run: async (context, { variant, eval: id, by, ...flags }, given) => {
    const minScore = readNumber('--min-score', flags.minScore);
    const source = await openRunFinder(context).open(given);
    const { loadResults } = await import('../../../runtime/runtime.ts');
    const { measureRatings, renderAgreement } = await loadResults();
    const agreement = await measureRatings(source, { variant, eval: id, by, minScore });
    const text = renderAgreement(agreement, context.terminal.stdout.columns);
    const none = 'there are no ratings to compare; add some with `signalbox eval rate`';
    return { document: agreement, ...(text === '' ? { note: none } : { text }) };
  },
});

export const pruneCommand = command('prune', {
  about: 'remove old suite runs and cached answers',
  options: {
    '--older-than <duration>': [
      'the least age since the start of a run, such as 12h or 30d; 0s for all',
      { default: '30d' },
    ],
  },
  examples: `
Decisions of hooks in shadow mode are stored as runs too. Runs that are in progress stay.

Examples:
  signalbox eval prune --older-than 90d

Exit codes: 0 done, 2 wrong call or config, or a store or stdout that fails.`,
  run: async (context, flags) => {
    const olderThanMs = await readAge('--older-than', flags.olderThan);
    const runtime = requireOneRuntime(await openRunStores(context));
    const pruned = await runtime.evals.runs.prune({ olderThanMs });
    return { document: { pruned }, text: `removed ${formatCount(pruned, 'run')}` };
  },
});

async function readRating(
  { score, label, comment, remove, list }: Flags<typeof rateOptions>,
  { input }: CommandContext,
) {
  const isRating = score !== undefined || label !== undefined || comment !== undefined;
  if ((remove === true && list === true) || (isRating && (remove === true || list === true))) {
    throw new RuntimeError('USAGE', '--remove, --list and a rating exclude each other', {
      hint: 'Give --score, --label and --comment to rate, or --remove, or --list.',
    });
  }
  return {
    score: readNumber('--score', score),
    label,
    comment: comment === undefined ? undefined : (await input.text('--comment', comment)).trimEnd(),
  };
}

async function listRatings(
  given: string,
  { case: id, variant }: Flags<typeof rateOptions>,
  context: CommandContext,
): Promise<Outcome> {
  const run = await openRunFinder(context).locate(given);
  const source = await run.runtime.evals.runs.open(run.id);
  const { loadResults } = await import('../../../runtime/runtime.ts');
  const { requireVariant } = await loadResults();
  if (variant !== undefined) requireVariant(source.header, variant);
  const ratings = (await Array.fromAsync(source.ratings?.(id) ?? []))
    .filter((each) => variant === undefined || each.variant === variant)
    .toSorted((one, other) => one.at.localeCompare(other.at));
  const text = ratings.map(ratingText).join('\n');
  return {
    document: { run_id: run.id, ratings },
    ...(text === '' ? { note: 'there are no ratings' } : { text }),
  };
}
